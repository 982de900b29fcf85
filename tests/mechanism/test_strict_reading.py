"""What is read is a distribution on the reports, whatever overflows on the way."""

import json
from dataclasses import replace

import numpy as np
import pytest

from skrldp import Mechanism

COLUMNS = [("ill", True), ("age", False)]


def document(matrix, secrets=("no", "yes"), values=(1,)):
    return json.loads(Mechanism.from_matrix(matrix, secrets, values).to_json())


def test_weights_whose_sum_wraps_round_are_refused():
    """Four weights of 2**62 sum to 2**64, which 64 bits take for 0: with 2**34 it looks right."""
    damaged = document(np.full((4, 2), 0.25))
    assert damaged["denominator_bits"] == 34
    for row in damaged["weights"]:
        row[0] = 2**62
    damaged["weights"][0][0] += 2**34
    with pytest.raises(ValueError, match="weights of column 0 do"):
        Mechanism.from_json(json.dumps(damaged))


@pytest.mark.parametrize("weight", [-(2**63) - 1, -(2**70), 2**63, -1])
def test_weights_that_no_integer_of_64_bits_holds_are_refused(weight):
    damaged = document([[0.5, 0.5], [0.5, 0.5]])
    damaged["weights"][0][0] = weight
    with pytest.raises(ValueError, match="mechanism is malformed"):
        Mechanism.from_json(json.dumps(damaged))


def test_negative_weights_are_not_written():
    mechanism = Mechanism.from_matrix([[0.5, 0.5], [0.5, 0.5]], ("no", "yes"), (1,))
    weights = mechanism.weights.copy()
    weights[:, 0] = 2**33 + 1, -1
    damaged = replace(mechanism, form=type(mechanism.form)(weights, mechanism.denominator_bits))
    with pytest.raises(ValueError, match="weights are negative"):
        damaged.to_json()


def test_a_truth_value_is_no_weight():
    """JSON's true equals 1 in Python, but a text of another meaning is another mechanism."""
    tiny = 2.0**-53
    mechanism = Mechanism.from_blocks((1 - 3 * tiny, tiny, tiny, tiny), ("no", "yes"), (1, 2))
    text = mechanism.to_json()
    assert Mechanism.from_json(text).to_json() == text
    damaged = json.loads(text)
    assert damaged["blocks"][1:] == [1, 1, 1]
    damaged["blocks"][1] = True
    with pytest.raises(ValueError, match="integers, got True"):
        Mechanism.from_json(json.dumps(damaged))


@pytest.mark.parametrize("part", ["secrets", "values"])
def test_a_single_column_has_no_tuples(part):
    """A category ("no",) of one column would never be found in a record."""
    mechanism = Mechanism.from_matrix(np.full((2, 4), 0.5), ("no", "yes"), ("a", "b"))
    damaged = json.loads(mechanism.named(None, COLUMNS).to_json())
    Mechanism.from_json(json.dumps(damaged))
    damaged[part] = [[name] for name in damaged[part]]
    with pytest.raises(ValueError, match=f"{part} must match the 1 column"):
        Mechanism.from_json(json.dumps(damaged))


DAMAGED = {
    "an empty tuple for no column": (
        {"columns": [["age", False]], "secrets": [[]]},
        "secrets must match the 0 columns",
    ),
    "others of values of several widths": (
        {"values": [["other", 1], "ab"], "other": [True, None]},
        "same number of columns",
    ),
    "a weight that no report has": ({"blocks": [2**32, 0, 10**30, 0]}, "too large"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_what_a_client_could_not_use_is_refused(damage):
    changes, message = DAMAGED[damage]
    damaged = {**document(np.ones((1, 1)), ("no",)), **changes}
    if "blocks" in changes:
        del damaged["symbols"], damaged["weights"]
    elif len(damaged["values"]) > 1:
        damaged["weights"][0] *= 2
    with pytest.raises(ValueError, match=message):
        Mechanism.from_json(json.dumps(damaged))


@pytest.mark.parametrize("n_values", [3, 127, 128, 254, 255, 256])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int64])
def test_every_secrets_code_is_that_of_its_value(n_values, dtype):
    """Where the secret is not seen: up to the last code that the dtype holds."""
    identity = np.eye(n_values)
    blind = Mechanism.from_matrix(identity, range(3), range(n_values), observe="nonsensitive")
    codes = np.arange(min(3 * n_values, np.iinfo(dtype).max + 1)).astype(dtype)
    reports = blind.sample(codes, 0)
    np.testing.assert_array_equal(reports, codes.astype(int) % n_values)
