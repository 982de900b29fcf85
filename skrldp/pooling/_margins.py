"""The margins of blocks as linear functions of common parameters."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import ReadOnly, read_only
from skrldp._typing import Floats

__all__ = ["BlockModel", "CommonMargins"]

_SECRET = -1  # stands for S among the numbers of columns


@dataclass(frozen=True, eq=False)
class BlockModel(ReadOnly):
    """The distribution of a block's cells as a linear function of parameters."""

    constant: Floats  # (a,), the distribution where all parameters are 0
    # (a, p), the distribution is ``constant + design @ parameters``; cells are in lexicographic
    # order of the secret and the block's columns
    design: Floats
    # (p_shared,), places, among the p parameters, of those that other blocks have too
    shared: NDArray[np.intp]
    numbers: NDArray[np.intp]  # (p_shared,), numbers of these among all shared parameters
    own: NDArray[np.intp]  # (p - p_shared,), places of the parameters that no other block has

    @cached_property
    def back(self) -> Floats:
        """The parameters of a distribution, less the constant, as functions of it: (p, a)."""
        return read_only(np.linalg.pinv(self.design))


@dataclass(frozen=True, eq=False)
class CommonMargins:
    """The parameters that the margins of several blocks have in common.

    A parameter is the probability of some categories of some columns together, none of them the
    last one of its column. Those of all sets of columns within a block determine its distribution.

    Examples
    --------
    >>> margins = CommonMargins.of(2, [3, 2], [(0,), (0, 1)])
    >>> margins.n_shared, [len(block.own) for block in margins.blocks]
    (5, [0, 6])
    """

    blocks: tuple[BlockModel, ...]
    n_shared: int  # number of parameters that several blocks have

    @staticmethod
    def of(
        n_secrets: int, n_categories: Sequence[int], blocks: Sequence[Sequence[int]]
    ) -> "CommonMargins":
        """Find the parameters of blocks, given by the numbers of their columns."""
        sizes = {_SECRET: n_secrets, **dict(enumerate(n_categories))}
        named = [_parameters([_SECRET, *block], sizes) for block in blocks]
        count: dict[tuple[tuple[int, int], ...], int] = {}
        for names in named:
            for name in names:
                count[name] = count.get(name, 0) + 1
        several = [name for name, number in count.items() if number > 1]
        number_of = {name: place for place, name in enumerate(several)}
        models = []
        for block, names in zip(blocks, named, strict=True):
            matrix: Floats = _one_column(n_secrets)
            for column in block:
                matrix = np.kron(matrix, _one_column(sizes[column])).astype(float)
            shared = [place for place, name in enumerate(names) if name in number_of]
            own = [place for place, name in enumerate(names) if name not in number_of]
            models.append(
                BlockModel(
                    matrix[:, 0],
                    matrix[:, 1:],
                    np.array(shared, dtype=np.intp),
                    np.array([number_of[names[place]] for place in shared], dtype=np.intp),
                    np.array(own, dtype=np.intp),
                )
            )
        return CommonMargins(tuple(models), len(several))


def _one_column(size: int) -> Floats:
    """Write the categories' probabilities by a constant and those of all but the last."""
    matrix = np.zeros((size, size))
    matrix[-1, 0] = 1.0
    matrix[:-1, 1:] = np.eye(size - 1)
    matrix[-1, 1:] = -1.0
    return matrix


def _parameters(columns: Sequence[int], sizes: dict[int, int]) -> list[tuple[tuple[int, int], ...]]:
    """Name the parameters of a block: pairs of a column and a category, in the columns' order."""
    names = []
    for codes in product(*(range(sizes[column]) for column in columns)):
        chosen = [(column, code) for column, code in zip(columns, codes, strict=True) if code]
        names.append(tuple(sorted(chosen)))
    return names[1:]  # the first has no column and is the constant
