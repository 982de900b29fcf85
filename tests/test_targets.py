"""Targets as linear functions of the distribution of X."""

from dataclasses import dataclass

import numpy as np
import pytest

from skrldp.targets import Linear, Marginal, Mean, functions_of


@dataclass(frozen=True)
class People:
    secrets: tuple = ("no", "yes")
    values: tuple = (("desk", 0), ("desk", 4), ("field", 0), ("field", None))
    columns: tuple = (("ill", True), ("job", False), ("visits", False))


DISTRIBUTION = np.array([[0.1, 0.2, 0.05, 0.15], [0.2, 0.05, 0.15, 0.1]])


def read(targets):
    return functions_of(targets, People(), DISTRIBUTION.ravel())


def test_marginals_are_the_shares_of_what_they_name():
    by_u = read("nonsensitive")
    assert by_u.names == tuple((("job", "visits"), value) for value in People().values)
    np.testing.assert_allclose(by_u.functions @ DISTRIBUTION.ravel(), DISTRIBUTION.sum(axis=0))
    by_s = read(Marginal(part="sensitive", weight=3.0))
    assert by_s.names == ((("ill",), "no"), (("ill",), "yes"))
    np.testing.assert_allclose(by_s.functions @ DISTRIBUTION.ravel(), DISTRIBUTION.sum(axis=1))
    np.testing.assert_array_equal(by_s.weights, [3.0, 3.0])
    np.testing.assert_array_equal(read("all").functions, np.eye(8))
    crossed = read(Marginal(["ill", "job"]))
    assert crossed.names[1] == (("ill", "job"), ("no", "field"))
    np.testing.assert_allclose(crossed.functions @ DISTRIBUTION.ravel(), [0.3, 0.2, 0.25, 0.25])


def test_a_mean_varies_as_the_ratio_of_two_estimates():
    """The derivative of sum/count at the distribution, missing numbers left out."""
    mean = read(Mean("visits", weight=0.5))
    assert mean.names == (("mean", "visits"),) and mean.weights.tolist() == [0.5]
    numbers, there = np.tile([0.0, 4.0, 0.0, 0.0], 2), np.tile([1.0, 1.0, 1.0, 0.0], 2)

    def of(distribution):
        return (distribution @ numbers) / (distribution @ there)

    for cell in range(8):
        step = 1e-6 * np.eye(8)[cell]
        slope = (of(DISTRIBUTION.ravel() + step) - of(DISTRIBUTION.ravel() - step)) / 2e-6
        assert mean.functions[0, cell] == pytest.approx(slope, abs=1e-8)


def test_several_targets_stand_in_their_order():
    several = np.arange(16.0).reshape(2, 2, 4)
    found = read([Linear(several, weight=2.0), "sensitive", Linear(several[0])])
    assert found.names[:2] == (("linear", 0), ("linear", 1)) and found.names[4] == ("linear", 0)
    np.testing.assert_array_equal(found.functions[:2], several.reshape(2, 8))
    np.testing.assert_array_equal(found.weights, [2.0, 2.0, 1.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ((), "targets is empty: name at least one"),
        ("job", r"targets contains 'job', .* such as Marginal\('job'\) for a column"),
        (Marginal("age"), r"column 'age'.*\['ill', 'job', 'visits'\]"),
        (Marginal("job", part="sensitive"), "cannot be combined"),
        (Marginal(part="both"), "part='both' must be one of"),
        (Mean("job"), "column 'job' is not numeric"),
        (Mean("visits", weight=0.0), "the weight of Mean.* must be a positive number"),
        (Linear(np.ones((4, 2))), r"of shape \(2, 4\).*they have shape \(4, 2\)"),
        (Linear(np.full((2, 4), np.nan)), "must be finite numbers"),
        (Linear(np.zeros((2, 4))), "nothing to estimate"),
        (Mean("visits", by="visits"), "is itself estimated"),
    ],
)
def test_bad_targets_are_refused(targets, message):
    with pytest.raises(ValueError, match=message):
        read(targets)
