"""Long alphabets, and tables that nobody can change after their weights were proven."""

import numpy as np
import pytest

from skrldp.sampling.draws import AliasTable, BlockTable


class Counting:
    """A stream that plays every number of eight bits once."""

    def fill(self, out):
        out[:] = np.arange(256, dtype=np.uint64) << np.uint64(56)


@pytest.mark.parametrize("shape", [(200, 1), (1, 200), (255, 1), (1, 256), (2, 100), (100, 2)])
def test_alphabets_whose_sums_need_another_byte(shape):
    """The numbers of two secrets, or of two values, are added: up to 2 x 199, more than a byte."""
    n_others = shape[0] * shape[1] - 1
    table = BlockTable(*shape, 256 - n_others, 1, 1, 1, bits=8)
    for cell in (0, 1, n_others // 2, n_others):
        reports = table.sample(np.full(256, cell), Counting())
        counts = np.bincount(reports, minlength=n_others + 1)
        expected = np.ones(n_others + 1)
        expected[cell] = 256 - n_others
        np.testing.assert_array_equal(counts, expected)


def test_a_table_cannot_be_changed():
    weights = np.array([[3, 1], [1, 3]]) << 31
    table = AliasTable.from_weights(weights, bits=33)
    for array in (table.thresholds, table.alias):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 0
