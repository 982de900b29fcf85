"""Sanitizers are fitted on lazy frames of any engine; records are reported at hand alone."""

import pickle

import polars as pl
import pytest
from lazy_frames import ENGINES, check_engine, check_same_fit, records

from skrldp import GRRSanitizer, IRSanitizer, RobustMSESanitizer


def day(X):
    return "day"


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine(engine):
    check_engine(ENGINES[engine])


@pytest.mark.parametrize(
    "sanitizer",
    [
        IRSanitizer(sensitive=["s", "flag"]),
        RobustMSESanitizer(sensitive=-1, observer_columns=day, eps_worst_case=4.0),
    ],
)
def test_every_sanitizer_takes_a_lazy_frame(sanitizer):
    eager = records()[["s", "day", "flag"]]
    found, expected = check_same_fit(eager.lazy(), eager, sanitizer)
    again = pickle.loads(pickle.dumps(found))
    assert again.mechanism_.digest == expected.mechanism_.digest
    assert found.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()


def test_records_are_reported_and_scored_at_hand_alone():
    """And a fit that fails leaves no trace."""
    lazy = records()[["s", "day"]].lazy()
    sanitizer = GRRSanitizer(sensitive="s")
    with pytest.raises(TypeError, match="its rows are needed"):
        sanitizer.fit_transform(lazy)
    with pytest.raises(ValueError, match="rows of a lazy frame, which have no order"):
        sanitizer.fit(lazy, sample_weight=[1, 2])
    with pytest.raises(RuntimeError, match="polars could not count the distinct values"):
        sanitizer.fit(lazy.with_columns(pl.col("s").cast(pl.Int64)))
    assert not hasattr(sanitizer, "_fitted") and not hasattr(sanitizer, "n_features_in_")
    sanitizer.fit(lazy)
    for use in (sanitizer.transform, sanitizer.score):
        with pytest.raises(TypeError, match=r"call \.collect\(\) on it, or.* skrldp\.batches"):
            use(lazy)
