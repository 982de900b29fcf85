"""What a user may get wrong without noticing: weights, the protected column, limits, names."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from conftest import few_iterations
from hypothesis import given, settings
from hypothesis import strategies as st
from regions import lower
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from skrldp import (
    AOptimalSanitizer,
    BlockSanitizer,
    GRRSanitizer,
    IRSanitizer,
    NonRobustSanitizer,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RobustMSESanitizer,
    SRRSanitizer,
)

SANITIZERS = [
    AOptimalSanitizer,
    GRRSanitizer,
    IRSanitizer,
    NonRobustSanitizer,
    PolyOptSanitizer,
    RobustMSESanitizer,
    SRRSanitizer,
]
ROWS = np.array([[s, u] for s in range(2) for u in range(3)])
COUNTS = [120, 60, 90, 50, 140, 80]
RECORDS = np.repeat(ROWS, COUNTS, axis=0)
FRAME = pd.DataFrame(RECORDS, columns=["race", "visits"])


# --- Weights are counts --------------------------------------------------------------------------


def test_survey_weights_are_refused():
    """As Adult's fnlwgt: records that repeat, and how many people each represents."""
    rng = np.random.default_rng(0)
    weights = rng.integers(12_285, 1_484_705, len(RECORDS))
    message = (
        rf"sample_weight sums to {weights.sum():,} for 540 rows, 534 of which repeat others, "
        "but must be counts of records. Give survey weights"
    )
    for table in (RECORDS, FRAME):
        sanitizer = IRSanitizer(sensitive=0)
        with pytest.raises(ValueError, match=message):
            sanitizer.fit(table, sample_weight=weights)
        assert not hasattr(sanitizer, "mechanism_")
    with pytest.raises(ValueError, match=r"sums to 54,000 for 540 rows"):  # one weight for all
        IRSanitizer(sensitive=0).fit(RECORDS, sample_weight=100)


@settings(max_examples=30)
@given(
    weights=st.lists(st.integers(0, 1000), min_size=12, max_size=12).filter(any),
    together=st.booleans(),
)
def test_added_up_or_few_weights_are_taken(weights, together):
    """Refused is what repeats rows and has over three records a row; added up, it is taken."""
    rows = np.vstack([ROWS, ROWS])
    added = np.add(weights[:6], weights[6:])
    repeated = any(a and b for a, b in zip(weights[:6], weights[6:], strict=True))
    if together:
        assert SRRSanitizer(sensitive=0).fit(ROWS, sample_weight=added).joint_.n == sum(weights)
    elif repeated and sum(weights) > 3 * np.count_nonzero(weights):
        with pytest.raises(ValueError, match="must be counts"):
            SRRSanitizer(sensitive=0).fit(rows, sample_weight=weights)
    else:
        counts = SRRSanitizer(sensitive=0).fit(rows, sample_weight=weights).joint_.counts
        assert counts.ravel().tolist() == added.tolist()


# --- Which column is protected -------------------------------------------------------------------


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_the_first_column_is_named_in_a_warning(output):
    """A ColumnTransformer puts the columns in an order of its own, and arrays have no names."""
    table = FRAME.assign(age=FRAME["visits"] % 2)
    private = make_pipeline(
        ColumnTransformer([("age", "passthrough", ["age"])], remainder="passthrough"),
        SRRSanitizer(eps=1.0),
    ).set_output(transform=output)
    first, others, name = {
        "default": ("0", "1 and 2", 0),
        "pandas": ("'age__age'", "'remainder__race' and 'remainder__visits'", "age__age"),
    }[output]
    with pytest.warns(PrivacyLeakWarning) as said:
        private.fit(table)
    assert [str(one.message) for one in said] == [
        f"sensitive is not given, so the first column, {first}, is protected; columns {others} "
        f"are NOT protected. Name the column to protect, such as sensitive={name!r}."
    ]
    assert private[-1].mechanism_.columns[0] == (name, True)


@pytest.mark.parametrize(
    ("cls", "table"),
    [
        *((cls, FRAME) for cls in (*SANITIZERS, partial(BlockSanitizer, base=GRRSanitizer()))),
        (SRRSanitizer, RECORDS),
        (SRRSanitizer, RECORDS.tolist()),
    ],
)
def test_who_says_it_is_not_warned(cls, table):
    quick = lower({}) if cls in (AOptimalSanitizer, PolyOptSanitizer) else {}
    for own, times in (({"sensitive": 0}, 0), ({}, 1)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", PrivacyLeakWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)  # of the limit, which is short
            with few_iterations():
                cls(**quick, **own).fit(table)
        said = [one for one in caught if "sensitive is not given" in str(one.message)]
        assert [one.filename for one in said] == [__file__] * times
        which = "column 'visits' is" if table is FRAME else "column 1 is"
        assert all(which in str(one.message) for one in said)


# --- The time limit ------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [PolyOptSanitizer, RobustMSESanitizer])
@pytest.mark.filterwarnings("ignore::skrldp.PrivacyLeakWarning")
def test_a_design_that_met_its_limit_says_so(cls):
    with pytest.warns(
        ConvergenceWarning, match="time limit.*at most .* the best possible.*time_limit"
    ) as caught:
        sanitizer = cls(time_limit=1e-9).fit(RECORDS)
    assert [w.filename for w in caught if w.category is ConvergenceWarning] == [__file__]
    assert sanitizer.solution_.status == "time_limit"
    assert sanitizer.certificate_.holds(1.0)
