"""Parameters are checked for what they are, bounds printed on the safe side, no record is shown."""

import math
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrldp import GRRSanitizer, audit, client
from skrldp._params import (
    at_least,
    at_most,
    check_beta,
    check_choice,
    check_eps,
    check_flag,
    check_positive,
    check_seed,
    is_finite,
    is_number,
    is_whole,
)
from skrldp.sampling.random_bits import RandomStream

NUMBERS = [1, 0.5, -3, np.float32(2), np.int8(1), Fraction(1, 3), 10**300]
OTHERS = [True, np.True_, None, "1", 1j, [1], np.array([1.0]), Decimal("0.5")]


def test_what_a_number_is():
    assert all(map(is_number, [*NUMBERS, np.inf, np.nan]))
    assert all(map(is_finite, NUMBERS))
    assert not any(map(is_number, OTHERS))
    assert not any(map(is_finite, [*OTHERS, np.inf, -np.inf, np.nan, 10**400]))
    assert all(map(is_whole, [0, -3, np.int8(1), 10**400]))
    assert not any(map(is_whole, [*OTHERS, 1.0, np.float32(2)]))


@pytest.mark.parametrize("value", [*OTHERS, 0, -1, np.inf, np.nan, 10**400])
def test_what_is_not_positive(value):
    with pytest.raises(ValueError, match=r"^eps=.* must be a positive finite number \(in nats\)\."):
        check_positive("eps", value, "in nats")


def test_a_beta_is_a_probability_below_one():
    for beta in (1e-300, 0.05, np.nextafter(1.0, 0.0)):
        assert check_beta("beta", beta) == beta
    for beta in (1, 1.0, 2.0, 9e-301, 0.0, True):
        with pytest.raises(ValueError, match=r"^beta=.* must be a (probability|positive)"):
            check_beta("beta", beta)


def test_choices_and_flags():
    check_choice("form", "a", iter("ab"))
    for value in ("c", None, 1, ["a"]):
        with pytest.raises(ValueError, match=r"^form=.* must be one of 'a', 'b'\."):
            check_choice("form", value, iter("ab"))
    check_flag("robust", np.False_)
    for value in (1, 0, None, "yes"):
        with pytest.raises(ValueError, match="must be True or False"):
            check_flag("robust", value)


def test_what_may_be_records_is_not_quoted():
    """Records in the place of a parameter, as the values in mechanism.sample(secrets, values)."""
    table = pd.DataFrame({"ill": ["secret"] * 100})
    checks = (check_seed, partial(check_flag, "robust"), partial(check_eps, "eps"))
    for records in (table, table.to_numpy(), table.to_numpy().tolist(), table.to_dict()):
        name = f"<{type(records).__name__}>"
        for check in checks:
            with pytest.raises(ValueError, match=f"={name} must be") as refused:
                check(records)
            assert "secret" not in str(refused.value)


@given(
    st.floats(-1e300, 1e300),
    st.sampled_from([".2g", ".3g", ".4g", ".6g", ".9g", ".4f", ".6f"]),
)
def test_the_text_is_on_the_right_side_and_near(value, spec):
    below, above = at_least(value, spec), at_most(value, spec)
    assert float(below) <= value <= float(above)
    nearest = (value, float(f"{value:{spec}}"))
    assert nearest[1] in (float(below), float(above)) or math.isclose(*nearest, rel_tol=1e-12)


ROWS = [["no", "a"], ["yes", "b"], ["no", "b"], ["yes", "a"]]


FITTED = GRRSanitizer(sensitive=0).fit(ROWS)
USES = {
    "stream": RandomStream,
    "mechanism": lambda seed: FITTED.mechanism_.sample([0, 1], seed),
    "client": lambda seed: client.load(FITTED.mechanism_.to_json(), random_state=seed),
    "fit": lambda seed: GRRSanitizer(random_state=seed, sensitive=0).fit(ROWS),
    "audit": lambda seed: audit(FITTED, n=500, random_state=seed),
}


@pytest.mark.parametrize("use", USES)
def test_a_truth_value_is_no_seed(use):
    """``random_state=False`` reads like "none", and would be the seed 0."""
    with pytest.raises(ValueError, match=r"random_state=False.*None"):
        USES[use](False)
    for seed in (None, np.int64(7), 2**200, np.random.default_rng(0)):
        USES[use](seed)
