"""Columns of reports are found by their names; numbers as names must be in their order."""

import numpy as np
import pandas as pd
import pytest

from skrldp import FrequencyEstimator, GRRSanitizer

RECORDS = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [10, 20, 30, 60], axis=0)


def reports(names, encode):
    """A sanitizer fitted on a frame, and its reports as a frame."""
    X = pd.DataFrame(RECORDS, columns=names)
    sanitizer = GRRSanitizer(sensitive=0, encode=encode, random_state=0).fit(X)
    return sanitizer, sanitizer.transform(X)


@pytest.mark.parametrize("encode", ["cells", "onehot"])
@pytest.mark.parametrize("said", [True, False])
def test_columns_in_another_order_are_found_by_name(encode, said):
    sanitizer, Y = reports(["s", "u"], encode)
    form = {"encode": encode} if said else {}
    expected = FrequencyEstimator(sanitizer, **form).fit(Y).counts_
    found = FrequencyEstimator(sanitizer, **form).fit(Y[Y.columns[::-1]]).counts_
    np.testing.assert_array_equal(found, expected)
    assert len(set(expected.tolist())) == 4


@pytest.mark.parametrize("encode", ["cells", "onehot"])
def test_numbers_as_names_in_another_order_are_refused(encode):
    """They may be names or places: neither reading is safe."""
    sanitizer, Y = reports([0, 1], encode)
    Y.columns = range(Y.shape[1])
    estimator = FrequencyEstimator(sanitizer, encode=encode).fit(Y)
    with pytest.raises(ValueError, match=r"same columns in another order.*\[0, 1"):
        estimator.fit(Y[Y.columns[::-1]])
    swapped = FrequencyEstimator(sanitizer, encode=encode).fit(Y.to_numpy())
    np.testing.assert_array_equal(swapped.counts_, estimator.counts_)
