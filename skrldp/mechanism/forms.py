"""The forms of a mechanism: a dense weight matrix, a matrix over values of U, or four weights.

A form holds numbers without names: weights over a power of two, how to sample them, and what can
be computed from them. The mechanism adds the alphabets.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp._arrays import ReadOnly
from skrldp._typing import Floats
from skrldp.information import (
    Blocks,
    block_information,
    block_information_by_secret,
    information_by_secret,
    mutual_information,
)
from skrldp.sampling.draws import AliasTable, BlockTable, check_codes


class Form(ReadOnly, ABC):
    """Weights of b reports in a cells, ``weights / 2**bits``; immutable.

    Attributes
    ----------
    bits : int
        Binary logarithm of the weights' denominator.
    """

    bits: int

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Numbers of reports and of cells, (b, a)."""

    @property
    @abstractmethod
    def weights(self) -> NDArray[np.int64]:
        """Integer weights, shape (b, a); each column sums to ``2**bits``. Read-only."""

    @property
    @abstractmethod
    def sampler(self) -> AliasTable | BlockTable:
        """Table that samples these weights exactly."""

    @abstractmethod
    def columns(self, cells: NDArray[Any]) -> Floats:
        """Probabilities of the reports in given cells, without the whole matrix.

        Shapes: `cells` (m,); returns (b, m).
        """

    @abstractmethod
    def mutual_information(self, joint: Floats) -> float:
        """Mutual information I(X; Y), in nats, at a distribution of (S, U), shape (a1, a2)."""

    @abstractmethod
    def information_by_secret(self, joint: Floats) -> Floats:
        """Information I(U; Y | S=s) for each secret, in nats: (a1, a2) to (a1,)."""

    @abstractmethod
    def report_distribution(self, conditionals: Floats) -> Floats:
        """Distribution of the report given each secret: (a1, a2) to (b, a1)."""

    @property
    def observe(self) -> str:
        """What the mechanism observes of a record: "all", or "nonsensitive" for U alone."""
        return "all"

    @property
    def blocks(self) -> Blocks | None:
        """The probabilities (same, same_secret, same_value, other) of a block form, else None."""
        return None

    @cached_property
    def matrix(self) -> Floats:
        """The weights as probabilities, shape (b, a): exact float64 values, read-only."""
        return _probabilities(self.weights, self.bits)

    def places(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Positions in the sampler's table for cell codes: (n,) to (n,)."""
        return codes


@dataclass(frozen=True, eq=False)
class DenseForm(Form):
    """The whole weight matrix."""

    table: NDArray[np.int64]  # (b, a), the weights
    bits: int  # binary logarithm of their denominator

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of reports and of cells, (b, a)."""
        n_reports, n_cells = self.table.shape
        return n_reports, n_cells

    @property
    def weights(self) -> NDArray[np.int64]:
        """Integer weights, shape (b, a)."""
        return self.table

    @cached_property
    def sampler(self) -> AliasTable:
        """Table that samples these weights exactly."""
        return AliasTable.from_weights(self.table, self.bits)

    def columns(self, cells: NDArray[Any]) -> Floats:
        """Return the probabilities of all reports in given cells: (m,) to (b, m)."""
        return self.matrix[:, cells]

    def mutual_information(self, joint: Floats) -> float:
        """Mutual information I(X; Y), in nats, at a distribution of (S, U), shape (a1, a2)."""
        return mutual_information(self.matrix, joint.ravel())

    def information_by_secret(self, joint: Floats) -> Floats:
        """Information I(U; Y | S=s) for each secret, in nats: (a1, a2) to (a1,)."""
        return information_by_secret(self.matrix, joint)

    def report_distribution(self, conditionals: Floats) -> Floats:
        """Distribution of the report given each secret: (a1, a2) to (b, a1)."""
        cells = self.matrix.reshape(-1, *conditionals.shape)
        return np.einsum("ysu,su->ys", cells, conditionals)


@dataclass(frozen=True, eq=False)
class ValuesForm(Form):
    """One column of weights for each value of U, because the secret is not observed."""

    table: NDArray[np.int64]  # (b, a2), the weights
    bits: int  # binary logarithm of their denominator
    n_secrets: int  # size a1 of the alphabet of S

    @property
    def observe(self) -> str:
        """What the mechanism observes of a record: "nonsensitive", that is, only U."""
        return "nonsensitive"

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of reports and of cells, (b, a)."""
        n_reports, n_values = self.table.shape
        return n_reports, n_values * self.n_secrets

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """Integer weights, shape (b, a): the columns of U, repeated for every secret."""
        weights = np.tile(self.table, (1, self.n_secrets))
        weights.setflags(write=False)
        return weights

    @cached_property
    def sampler(self) -> AliasTable:
        """Table that samples these weights exactly; its cells are the values of U."""
        return AliasTable.from_weights(self.table, self.bits)

    def places(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Positions in the sampler's table for codes of cells or of values of U: (n,) to (n,)."""
        n_values = self.table.shape[1]
        codes = check_codes(codes, self.shape[1])
        if np.iinfo(codes.dtype).max < n_values:  # codes of values are all below
            return codes
        # The same operations for all codes: a shortcut for the first secret would reveal it by its
        # time, and so would a remainder, which takes longer for larger numbers; NumPy's quotient
        # does not.
        divisor = codes.dtype.type(n_values)
        return codes - codes // divisor * divisor

    def columns(self, cells: NDArray[Any]) -> Floats:
        """Return the probabilities of all reports in given cells: (m,) to (b, m)."""
        return self._by_value[:, cells % self.table.shape[1]]

    def mutual_information(self, joint: Floats) -> float:
        """Mutual information I(X; Y) = I(U; Y), in nats, at a distribution of (S, U)."""
        by_value = joint.reshape(-1, self.table.shape[1]).sum(axis=0)
        return mutual_information(self._by_value, by_value)

    def information_by_secret(self, joint: Floats) -> Floats:
        """Information I(U; Y | S=s) for each secret, in nats: (a1, a2) to (a1,)."""
        return np.array([information_by_secret(self._by_value, row[None])[0] for row in joint])

    def report_distribution(self, conditionals: Floats) -> Floats:
        """Distribution of the report given each secret: (a1, a2) to (b, a1)."""
        return np.einsum("yu,su->ys", self._by_value, conditionals)

    @cached_property
    def _by_value(self) -> Floats:
        return _probabilities(self.table, self.bits)


@dataclass(frozen=True, eq=False)
class BlockForm(Form):
    """Four weights; the reports are cells, and no matrix is stored."""

    table: BlockTable  # the weights
    bits: int = field(init=False)

    def __post_init__(self) -> None:
        """Take the denominator from the table."""
        object.__setattr__(self, "bits", self.table.bits)

    @property
    def sampler(self) -> BlockTable:
        """The table itself."""
        return self.table

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of reports and of cells, (a, a)."""
        return self.table.n_cells, self.table.n_cells

    @property
    def blocks(self) -> Blocks:
        """The exact probabilities (same, same_secret, same_value, other)."""
        block, unit = self.table, 2.0**-self.bits
        return (
            block.same * unit,
            block.same_secret * unit,
            block.same_value * unit,
            block.other * unit,
        )

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """Integer weights, shape (a, a); built on first use."""
        block = self.table
        a1, a2 = block.n_secrets, block.n_values
        same = np.full((a2, a2), block.same_secret, dtype=np.int64)
        np.fill_diagonal(same, block.same)
        foreign = np.full((a2, a2), block.other, dtype=np.int64)
        np.fill_diagonal(foreign, block.same_value)
        weights = np.tile(foreign, (a1, a1))
        for s in range(a1):
            weights[s * a2 : (s + 1) * a2, s * a2 : (s + 1) * a2] = same
        weights.setflags(write=False)
        return weights

    def columns(self, cells: NDArray[Any]) -> Floats:
        """Probabilities of the reports in given cells: (m,) to (a, m)."""
        same, same_secret, same_value, different = self.blocks
        n_values = self.table.n_values
        reports = np.arange(self.shape[0])[:, None]
        is_same_secret = reports // n_values == cells // n_values
        is_same_value = reports % n_values == cells % n_values
        in_block = np.where(is_same_value, same, same_secret)
        return np.where(is_same_secret, in_block, np.where(is_same_value, same_value, different))

    def mutual_information(self, joint: Floats) -> float:
        """Mutual information I(X; Y), in nats, at a distribution of (S, U), shape (a1, a2)."""
        return block_information(self.blocks, joint)

    def information_by_secret(self, joint: Floats) -> Floats:
        """Information I(U; Y | S=s) for each secret, in nats: (a1, a2) to (a1,)."""
        return block_information_by_secret(self.blocks, joint)

    def report_distribution(self, conditionals: Floats) -> Floats:
        """Distribution of the report given each secret: (a1, a2) to (a, a1)."""
        a1, a2 = conditionals.shape
        same, same_secret, same_value, different = self.blocks
        mass = conditionals.sum(axis=1)[:, None]
        probabilities = same * conditionals + same_secret * (mass - conditionals)
        foreign = same_value * conditionals + different * (mass - conditionals)
        reports = np.broadcast_to(foreign.T[None, :, :], (a1, a2, a1)).copy()
        diagonal = np.arange(a1)
        reports[diagonal, :, diagonal] = probabilities
        return reports.reshape(a1 * a2, a1)


def _probabilities(weights: NDArray[np.int64], bits: int) -> Floats:
    probabilities: Floats = weights * np.float64(2.0**-bits)
    probabilities.setflags(write=False)
    return probabilities


def as_distribution(
    distribution: ArrayLike, secrets: Sequence[Any], values: Sequence[Any]
) -> Floats:
    """Return a distribution of (S, U) as an array; reject one of a different shape."""
    table, expected = np.asarray(distribution, dtype=float), (len(secrets), len(values))
    if table.shape != expected:
        raise ValueError(f"the distribution must have shape {expected}, got {table.shape}.")
    return table
