"""Matrices of PRAM: original categories in rows, as in sdcMicro."""

import numpy as np
import pandas as pd
import pytest

from skrldp import AllDistributions, JointDistribution, RobustMSESanitizer, certify, pram

ROWS = [[s, u] for s in ("no", "yes") for u in ("low", "middle", "high")]
COUNTS = [300, 200, 100, 150, 250, 500]
TABLE = pd.DataFrame(
    [[0.8, 0.15, 0.05], [0.3, 0.6, 0.1], [0.0, 0.2, 0.8]], index=list("abc"), columns=list("abc")
)
TWICE = pd.DataFrame([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]])


@pytest.mark.filterwarnings("ignore:the values of U were learned")
def test_there_and_back():
    own = RobustMSESanitizer(1.0, observe="nonsensitive", invariant=True)
    own.fit(ROWS, sample_weight=COUNTS)
    matrix = pram.to_matrix(own.mechanism_)
    people = own.joint_.probabilities.sum(axis=0)
    np.testing.assert_allclose(people @ matrix.to_numpy(), people, atol=1e-8)  # PRAM's invariance
    again = pram.from_matrix(matrix, own.joint_.secrets, orientation="rows")
    np.testing.assert_allclose(pram.to_matrix(again), matrix, atol=1e-9)
    assert certify(again, own.uncertainty_, own.joint_).eps == pytest.approx(1.0, abs=1e-6)
    seeing = RobustMSESanitizer(1.0).fit(ROWS, sample_weight=COUNTS).mechanism_
    place = list(seeing.symbols).index("low")
    for s, secret in enumerate(seeing.secrets):
        of_secret = pram.to_matrix(seeing, secret)
        np.testing.assert_array_equal(of_secret["low"], seeing.matrix[place, 3 * s : 3 * s + 3])
    with pytest.raises(ValueError, match="the mechanism sees S, so that each secret has a matrix"):
        pram.to_matrix(seeing)


def test_orientation_and_order_of_names():
    mechanism = pram.from_matrix(TABLE, (0, 1))
    np.testing.assert_allclose(mechanism.matrix[:, :3], TABLE.to_numpy().T, atol=1e-9)
    for other in (TABLE.T, TABLE[["c", "a", "b"]], TABLE.T[["b", "c", "a"]]):
        found = pram.to_matrix(pram.from_matrix(other, (0, 1)))
        pd.testing.assert_frame_equal(found, TABLE, atol=1e-9, check_names=False)
    from_array = pram.from_matrix(TABLE.to_numpy(), (0, 1), "abc")
    assert from_array.digest == mechanism.digest
    as_rows, as_columns = (
        pram.from_matrix(TWICE, (0, 1), orientation=one) for one in ("rows", "columns")
    )
    np.testing.assert_allclose(as_rows.matrix[:, :3], TWICE.to_numpy().T, atol=1e-9)
    np.testing.assert_allclose(as_columns.matrix[:, :3], TWICE, atol=1e-9)


def test_eps_is_the_greatest_ratio_in_a_column():
    table = TABLE.loc[["a", "b"], ["a", "b"]].to_numpy()
    table = table / table.sum(axis=1, keepdims=True)
    joint = JointDistribution([[3, 4], [2, 5]], (0, 1), "ab")
    found = certify(pram.from_matrix(table, (0, 1), "ab"), AllDistributions(), joint).eps
    assert found == pytest.approx(np.log(table.max(axis=0) / table.min(axis=0)).max(), rel=1e-6)


@pytest.mark.parametrize(
    ("matrix", "options", "message"),
    [
        (TWICE, {}, "rows and columns of the matrix sum to 1: say where"),
        (TABLE, {"orientation": "columns"}, "the columns of the matrix must sum to 1"),
        (TABLE * 0.5, {}, "the rows or columns of the matrix must sum to 1"),
        (TABLE, {"orientation": "across"}, "orientation='across' must be one of"),
        (TABLE.rename(columns={"c": "d"}), {}, "must name the same categories.* 'c', 'd'"),
        (TABLE, {"values": "abc"}, "a frame names its categories"),
        (TABLE.to_numpy(), {}, "an array does not name its categories"),
        (TABLE.to_numpy(), {"values": "ab"}, "a row and a column for each of 2 categories"),
        (TABLE - 0.1, {}, "negative or non-finite"),
    ],
)
def test_what_is_no_matrix(matrix, options, message):
    with pytest.raises(ValueError, match=message):
        pram.from_matrix(matrix, (0, 1), **options)
