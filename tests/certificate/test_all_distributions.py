"""The leakage over all distributions, and to somebody who knows U: ratios of what is sampled."""

import itertools
import math
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skrldp import AllDistributions, JointDistribution, Mechanism, RenyiBall, certify
from skrldp.mechanism.all_distributions import leakage_over_all, times
from skrldp.mechanism.forms import BlockForm
from skrldp.sampling.draws import BlockTable

getcontext().prec = 60


def brute_force(weights, a1):
    """Greatest ratios over pairs of cells, exact; None where a zero faces a positive."""
    rows = [[int(w) for w in row] for row in weights]
    a2 = len(rows[0]) // a1
    found = [Fraction(1), Fraction(1)]
    for row, (s, t) in itertools.product(rows, itertools.permutations(range(a1), 2)):
        for u, v in itertools.product(range(a2), repeat=2):
            upper, lower = row[s * a2 + u], row[t * a2 + v]
            for which in (0, 1) if u == v else (0,):
                if upper > 0 and lower == 0:
                    found[which] = None
                elif upper > 0 and found[which] is not None:
                    found[which] = max(found[which], Fraction(upper, lower))
    return found


def is_just_above(bound, ratio):
    """Whether a float is the logarithm of a fraction or little more, and exactly 0 for 1."""
    if ratio is None:
        return bound == math.inf
    true = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
    slack = Decimal(0) if ratio == 1 else Decimal("2e-15") * (1 + true)
    return true <= Decimal(bound) <= true + slack


@st.composite
def mechanisms(draw):
    a1, a2, b = (draw(st.integers(1, 3)) for _ in range(3))
    entries = st.sampled_from([0, 0, 1, 2, 3, 5, 100, 2**20])
    table = draw(st.lists(st.lists(entries, min_size=b, max_size=b), min_size=a1 * a2, max_size=9))
    matrix = np.array(table[: a1 * a2], dtype=float).T
    matrix[0] += matrix.sum(axis=0) == 0
    return a1, a2, Mechanism.from_matrix(matrix / matrix.sum(axis=0), range(a1), range(a2))


@given(mechanisms())
def test_it_is_the_greatest_ratio_of_two_cells(drawn):
    a1, a2, mechanism = drawn
    joint = JointDistribution(np.ones((a1, a2), dtype=int))
    found = certify(mechanism, AllDistributions(), joint)
    over_all, given_u = brute_force(mechanism.weights, a1)
    assert is_just_above(found.eps_worst_case, over_all) and is_just_above(
        found.eps_given_u, given_u
    )
    assert found.eps_given_u <= found.eps_worst_case
    # the support functions over all distributions come to the same by another way
    assert (
        found.eps == pytest.approx(found.eps_worst_case, abs=1e-9)
        and found.eps <= found.eps_worst_case
    )
    ball = certify(mechanism, RenyiBall(radius=0.02), joint)
    assert (ball.eps_worst_case, ball.eps_given_u) == (found.eps_worst_case, found.eps_given_u)
    assert ball.eps <= ball.eps_worst_case
    floats = certify(mechanism.matrix, AllDistributions(), joint)
    assert floats.eps_worst_case == pytest.approx(found.eps_worst_case, abs=1e-14)
    assert floats.eps_given_u == pytest.approx(found.eps_given_u, abs=1e-14)


@example(3, 2, 3, 60, 1)  # the secrets that are told apart best are two that a report is not of
@given(*(st.integers(1, 4) for _ in range(2)), *(st.integers(0, 5) for _ in range(3)))
def test_four_weights_are_like_the_matrix(a1, a2, same_secret, same_value, other):
    rest = (a2 - 1) * same_secret + (a1 - 1) * (same_value + (a2 - 1) * other)
    table = BlockTable(a1, a2, 128 - rest, same_secret, same_value, other, 7)
    mechanism = Mechanism(
        tuple(range(a1)), tuple(range(a2)), tuple(range(a1 * a2)), (), BlockForm(table)
    )
    over_all, given_u = brute_force(mechanism.weights, a1)
    found = leakage_over_all(mechanism.form, a1)
    assert is_just_above(found[0], over_all) and is_just_above(found[1], given_u)
    dense = leakage_over_all(mechanism.weights / 128.0, a1)
    assert dense == pytest.approx(found, abs=1e-14)


def test_the_last_digits_are_rounded_upwards():
    rng = np.random.default_rng(0)
    for upper, lower in rng.integers(1, 2**53, (200, 2)).tolist():
        bound = leakage_over_all(np.array([[upper, lower]]), 2)[0]
        assert is_just_above(bound, Fraction(max(upper, lower), min(upper, lower)))
        for k in (2, 3, 7, 10**6):
            exact = k * Fraction(bound)
            assert exact <= Fraction(times(k, bound)) <= exact * (1 + Fraction(1, 2**48))
    assert times(1, 0.1) == 0.1 and times(10**400, 0.0) == 0.0 and times(10**400, 0.1) == math.inf
    tiny = np.array([[1.0, 5e-324]])
    assert leakage_over_all(tiny, 2)[0] == pytest.approx(1074 * math.log(2.0), rel=1e-14)


def test_the_worst_of_many_rows_is_found_wherever_it_is():
    """Rows are compared part by part."""
    rows = np.random.default_rng(0).integers(1, 50, (200_000, 12))
    for worst in (0, 100_000, 199_999):
        one = rows.copy()
        one[worst, 0] = 10**6
        assert leakage_over_all(one, 3) == leakage_over_all(one[worst : worst + 1], 3)
