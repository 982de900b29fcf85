"""The forms of a mechanism: a dense weight matrix, one that is blind to S, or four weights."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp._typing import Floats
from skrldp.information import block_information, mutual_information
from skrldp.mechanism._base import Mechanism
from skrldp.sampling import AliasTable, BlockTable, check_codes

__all__ = ["BlindMechanism", "BlockMechanism", "DenseMechanism"]


@dataclass(frozen=True, eq=False)
class DenseMechanism(Mechanism):
    """A mechanism that keeps its whole weight matrix."""

    table: NDArray[np.int64]

    @property
    def weights(self) -> NDArray[np.int64]:
        """Integer weights, shape (b, a)."""
        return self.table

    @cached_property
    def _sampler(self) -> AliasTable:
        return AliasTable.from_weights(self.table, self.denominator_bits)

    def mutual_information(self, law: ArrayLike) -> float:
        """Mutual information I(X; Y) at a law of X; see :class:`Mechanism`.

        Parameters
        ----------
        law : array of shape (a1, a2)
            Law of (S, U).

        Returns
        -------
        float
            In nats.
        """
        return mutual_information(self.matrix, np.asarray(law, dtype=float).ravel())

    def report_law(self, conditionals: ArrayLike) -> Floats:
        """Law of the report given each secret; see :class:`Mechanism`.

        Parameters
        ----------
        conditionals : array of shape (a1, a2)
            Conditionals of U given each secret.

        Returns
        -------
        array of shape (b, a1)
        """
        table = np.asarray(conditionals, dtype=float)
        return np.einsum("ysu,su->ys", self.matrix.reshape(-1, *table.shape), table)


@dataclass(frozen=True, eq=False)
class BlindMechanism(Mechanism):
    """A mechanism that does not see the secret: one column of weights for each value of U."""

    table: NDArray[np.int64]  # (b, a2)

    @property
    def observe(self) -> str:
        """What the mechanism has to know of a person: "nonsensitive", U alone."""
        return "nonsensitive"

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """Integer weights, shape (b, a): the columns of U, again for every secret."""
        weights = np.tile(self.table, (1, len(self.secrets)))
        weights.setflags(write=False)
        return weights

    @cached_property
    def _sampler(self) -> AliasTable:
        return AliasTable.from_weights(self.table, self.denominator_bits)

    def _places(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Columns of the sampler's table: the values of U that the cells have."""
        n_values = len(self.values)
        codes = check_codes(codes, self.shape[1])
        if codes.max(initial=0) < n_values:
            return codes
        return codes % codes.dtype.type(n_values)

    def mutual_information(self, law: ArrayLike) -> float:
        """Mutual information I(X; Y) = I(U; Y) at a law of X; see :class:`Mechanism`.

        Parameters
        ----------
        law : array of shape (a1, a2)
            Law of (S, U).

        Returns
        -------
        float
            In nats.
        """
        table = np.asarray(law, dtype=float).reshape(-1, len(self.values))
        probabilities = self.table * np.float64(2.0**-self.denominator_bits)
        return mutual_information(probabilities, table.sum(axis=0))

    def report_law(self, conditionals: ArrayLike) -> Floats:
        """Law of the report given each secret; see :class:`Mechanism`.

        Parameters
        ----------
        conditionals : array of shape (a1, a2)
            Conditionals of U given each secret.

        Returns
        -------
        array of shape (b, a1)
        """
        probabilities = self.table * np.float64(2.0**-self.denominator_bits)
        return np.einsum("yu,su->ys", probabilities, np.asarray(conditionals, dtype=float))


@dataclass(frozen=True, eq=False)
class BlockMechanism(Mechanism):
    """A mechanism given by four weights; its reports are cells."""

    table: BlockTable

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """Integer weights, shape (b, a); built when asked for."""
        a1, a2 = len(self.secrets), len(self.values)
        block = self.table
        own = np.full((a2, a2), block.same_secret, dtype=np.int64)
        np.fill_diagonal(own, block.same)
        foreign = np.full((a2, a2), block.other, dtype=np.int64)
        np.fill_diagonal(foreign, block.same_value)
        weights = np.tile(foreign, (a1, a1))
        for s in range(a1):
            weights[s * a2 : (s + 1) * a2, s * a2 : (s + 1) * a2] = own
        weights.setflags(write=False)
        return weights

    @property
    def probabilities(self) -> tuple[float, float, float, float]:
        """The exact probabilities (same, same_secret, same_value, other)."""
        block, unit = self.table, 2.0**-self.denominator_bits
        weights = block.same, block.same_secret, block.same_value, block.other
        return tuple(weight * unit for weight in weights)  # type: ignore[return-value]

    @cached_property
    def _sampler(self) -> AliasTable | BlockTable:
        return self.table

    def mutual_information(self, law: ArrayLike) -> float:
        """Mutual information I(X; Y) at a law of X; see :class:`Mechanism`.

        Parameters
        ----------
        law : array of shape (a1, a2)
            Law of (S, U).

        Returns
        -------
        float
            In nats.
        """
        return block_information(self.probabilities, np.asarray(law, dtype=float))

    def report_law(self, conditionals: ArrayLike) -> Floats:
        """Law of the report given each secret; see :class:`Mechanism`.

        Parameters
        ----------
        conditionals : array of shape (a1, a2)
            Conditionals of U given each secret.

        Returns
        -------
        array of shape (b, a1)
        """
        table = np.asarray(conditionals, dtype=float)
        a1, a2 = table.shape
        same, same_secret, same_value, other = self.probabilities
        mass = table.sum(axis=1)[:, None]
        own = same * table + same_secret * (mass - table)
        foreign = same_value * table + other * (mass - table)
        law = np.broadcast_to(foreign.T[None, :, :], (a1, a2, a1)).copy()
        diagonal = np.arange(a1)
        law[diagonal, :, diagonal] = own
        return law.reshape(a1 * a2, a1)
