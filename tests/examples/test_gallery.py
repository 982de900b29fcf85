"""Two quick pages of the gallery show what they say; the documentation's build runs them all."""

import numpy as np
import pytest


def test_several_reports_leak_at_most_what_the_page_shows(run_example):
    page = run_example("plot_asking_twice.py")
    eps, bounds = page["EPS"], page["told"]
    for name, values in bounds.items():
        assert values[0] <= eps, name
        assert np.all(np.diff(values) > 0), name
    for name in ("GRR", "SRR", "PolyOpt, all distributions"):  # k reports leak at most k eps
        assert np.all(bounds[name] <= eps * page["steps"]), name
    assert bounds["PolyOpt"][1] > 10 * 2 * eps  # not so near the public table alone
    # Two draws by another route: the mechanism of pairs of reports, at one of the distributions.
    mechanism, distribution = page["sanitizers"]["PolyOpt"].mechanism_, page["distribution"]
    pairs = (mechanism.matrix[:, None] * mechanism.matrix[None]).reshape(-1, mechanism.shape[1])
    both = type(mechanism).from_matrix(pairs, mechanism.secrets, mechanism.values)
    assert 2 * eps < both.leakage(distribution.probabilities) <= bounds["PolyOpt"][1] + 1e-6


def test_the_first_table_keeps_more_by_polyopt_and_reports_stay_in_the_band(run_example):
    pytest.importorskip("statsmodels")
    page = run_example("plot_first_table.py")
    assert page["sanitizer"].certificate_.holds(1.0)
    for column in ("married", "marriage"):  # about twenty standard deviations apart
        assert page["kept"].loc[column, "PolyOpt"] > page["kept"].loc[column, ["SRR", "GRR"]].max()
    low, high = page["limits"]
    assert np.all((low <= page["probability"]) & (page["probability"] <= high))
    assert page["by_value"].min() < low and page["by_value"].max() > high
