"""Mechanisms: what is sampled, to the last bit.

A mechanism's probabilities are integers over a power of two, so that the matrix that is certified
and the matrix that is sampled are the same. Two forms share one interface: dense (any matrix) and
block (the closed forms, whose matrix on thousands of cells nobody wants to store).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp.information import block_information, mutual_information
from skrldp.sampling import AliasTable, BlockTable, RandomStream

__all__ = ["BlockMechanism", "DenseMechanism", "Mechanism", "slot_bits"]

Floats = NDArray[np.float64]

_COLUMN_TOLERANCE = 1e-9
_BLOCK_BITS = 53  # block weights are exact as float64


def slot_bits(n_symbols: int) -> int:
    """Denominator bits of a dense mechanism: 32 bits of coin and the bits of an alias slot.

    Parameters
    ----------
    n_symbols : int
        Number of symbols b.

    Returns
    -------
    int

    Examples
    --------
    >>> slot_bits(16), slot_bits(17)
    (36, 37)
    """
    return 32 + (n_symbols - 1).bit_length()


@dataclass(frozen=True, eq=False)
class Mechanism(ABC):
    """A randomised map from cells x = (s, u) to reports y; immutable.

    Make one with :meth:`from_matrix`, :meth:`from_blocks` or :meth:`from_json`.

    Attributes
    ----------
    secrets, values : tuples of length a1 and a2
        The alphabets of S and of U; the cell of (s, u) has code ``s * a2 + u``.
    symbols : tuple of length b
        Names of the reports: cells where a report is a cell, integers otherwise.
    columns : tuple of (name, bool)
        The table's columns in their order and whether each is sensitive; empty if unknown.
    denominator_bits : int
        Probabilities are ``weights / 2**denominator_bits``.
    """

    secrets: tuple[Any, ...]
    values: tuple[Any, ...]
    symbols: tuple[Any, ...]
    columns: tuple[tuple[Any, bool], ...]
    denominator_bits: int

    # -- what the two forms answer each in its way ------------------------------------------------

    @property
    @abstractmethod
    def weights(self) -> NDArray[np.int64]:
        """Integer weights, shape (b, a); each column sums to ``2**denominator_bits``."""

    @property
    @abstractmethod
    def _sampler(self) -> AliasTable | BlockTable:
        """Table that samples these weights exactly."""

    @abstractmethod
    def mutual_information(self, law: ArrayLike) -> float:
        """Mutual information I(X; Y) at a law of X.

        Parameters
        ----------
        law : array of shape (a1, a2)
            Law of (S, U).

        Returns
        -------
        float
            In nats.
        """

    @abstractmethod
    def report_law(self, conditionals: ArrayLike) -> Floats:
        """Law of the report given each secret.

        Parameters
        ----------
        conditionals : array of shape (a1, a2)
            Conditionals of U given each secret.

        Returns
        -------
        array of shape (b, a1)
        """

    # -- common to both ---------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of symbols and of cells, (b, a)."""
        return len(self.symbols), len(self.secrets) * len(self.values)

    @property
    def cells(self) -> tuple[tuple[Any, Any], ...]:
        """The cells (secret, value) in the order of the matrix's columns."""
        return tuple((s, u) for s in self.secrets for u in self.values)

    @cached_property
    def matrix(self) -> Floats:
        """Probabilities actually sampled, shape (b, a): exact float64 values, read-only."""
        matrix = self.weights * 2.0**-self.denominator_bits
        matrix.setflags(write=False)
        return matrix

    def sample(self, codes: ArrayLike, random_state: object = None) -> NDArray[Any]:
        """Draw one report for each record.

        Parameters
        ----------
        codes : integer array of shape (n,)
            Cell codes ``s * a2 + u``; uint8 and uint16 are fastest.
        random_state : None, int, numpy Generator or RandomState
            None takes entropy from the operating system. An int makes the reports repeatable,
            for tests: whoever knows it can undo the privacy.

        Returns
        -------
        array of shape (n,)
            Symbol indices, in the smallest unsigned integer dtype.
        """
        return self._sampler.sample(np.asarray(codes), RandomStream(random_state))

    def leakage(self, law: ArrayLike) -> float:
        r"""Realised ε at a law: the greatest log-ratio of a report's odds between two secrets.

        :math:`\max_{y, s_1, s_2} \log P(y|s_1) / P(y|s_2)` (ISIT (32)), where 0/0 is 1. Secrets
        to which the law gives no mass are left out.

        Parameters
        ----------
        law : array of shape (a1, a2)
            Law of (S, U).

        Returns
        -------
        float
            In nats; infinite if a report rules a secret out.

        Examples
        --------
        >>> import numpy as np
        >>> mechanism = Mechanism.from_matrix(np.eye(2), secrets=("no", "yes"), values=("any",))
        >>> mechanism.leakage([[0.5], [0.5]])
        inf
        """
        table = np.asarray(law, dtype=float)
        expected = (len(self.secrets), len(self.values))
        if table.shape != expected:
            raise ValueError(f"the law must have shape {expected}, got {table.shape}.")
        marginal = table.sum(axis=1)
        seen = marginal > 0
        conditionals = np.where(seen[:, None], table / np.where(seen, marginal, 1.0)[:, None], 0.0)
        report = self.report_law(conditionals)[:, seen]
        most, least = report.max(axis=1), report.min(axis=1)
        if np.any((least <= 0) & (most > 0)):
            return float("inf")
        return float(np.log(np.where(most > 0, most / np.where(least > 0, least, 1.0), 1.0)).max())

    def named(
        self, symbols: Sequence[Any] | None, columns: Sequence[tuple[Any, bool]]
    ) -> "Mechanism":
        """Return a copy with other names for its reports and columns.

        Parameters
        ----------
        symbols : sequence of length b or None
            Names of the reports; None keeps them.
        columns : sequence of (name, bool)
            Column names in their order and whether each is sensitive.

        Returns
        -------
        Mechanism
        """
        names = self.symbols if symbols is None else tuple(symbols)
        return replace(self, symbols=names, columns=tuple(columns))

    def to_json(self) -> str:
        """Write all that a client needs to report, and nothing else.

        Returns
        -------
        str
            Alphabets, symbols and integer weights. No counts of public records.
        """
        from skrldp.serialization import dump

        return dump(self)

    @staticmethod
    def from_json(text: str) -> "Mechanism":
        """Read what :meth:`to_json` wrote.

        Parameters
        ----------
        text : str
            JSON.

        Returns
        -------
        Mechanism

        Raises
        ------
        ValueError
            If the text is not a mechanism, or its weights are not a distribution.
        """
        from skrldp.serialization import load

        return load(text)

    @staticmethod
    def from_matrix(
        matrix: ArrayLike,
        secrets: Sequence[Any],
        values: Sequence[Any],
        symbols: Sequence[Any] | None = None,
    ) -> "DenseMechanism":
        """Round a stochastic matrix to integer weights.

        Each probability moves by less than ``2**-denominator_bits`` and zeros stay zero. What the
        rounding does to privacy is for the certificate to say.

        Parameters
        ----------
        matrix : array of shape (b, a)
            Probabilities; columns sum to 1.
        secrets, values : sequences of length a1 and a2
            The alphabets, with ``a = a1 * a2``.
        symbols : sequence of length b, optional
            Names of the reports; 0, 1, ... if not given.

        Returns
        -------
        DenseMechanism

        Raises
        ------
        ValueError
            If the matrix is not a mechanism on these alphabets.
        """
        probabilities = _check_matrix(matrix, len(secrets) * len(values))
        bits = slot_bits(len(probabilities))
        weights = _round_columns(probabilities, bits)
        weights.setflags(write=False)
        names = tuple(range(len(weights))) if symbols is None else tuple(symbols)
        return DenseMechanism(tuple(secrets), tuple(values), names, (), bits, weights)

    @staticmethod
    def from_blocks(
        probabilities: tuple[float, float, float, float],
        secrets: Sequence[Any],
        values: Sequence[Any],
    ) -> "BlockMechanism":
        """Round a block mechanism, whose reports are cells, to integer weights.

        Parameters
        ----------
        probabilities : (same, same_secret, same_value, other)
            Probability of one report (s', u') given (s, u), by whether s' = s and u' = u.
        secrets, values : sequences of length a1 and a2
            The alphabets.

        Returns
        -------
        BlockMechanism
        """
        a1, a2 = len(secrets), len(values)
        unit = 2**_BLOCK_BITS
        _, same_secret, same_value, other = (int(p * unit) for p in probabilities)
        same = unit - (a2 - 1) * same_secret - (a1 - 1) * (same_value + (a2 - 1) * other)
        table = BlockTable(a1, a2, same, same_secret, same_value, other, _BLOCK_BITS)
        symbols = tuple((s, u) for s in secrets for u in values)
        return BlockMechanism(tuple(secrets), tuple(values), symbols, (), _BLOCK_BITS, table)


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


def _check_matrix(matrix: ArrayLike, n_cells: int) -> Floats:
    probabilities = np.asarray(matrix, dtype=float)
    if probabilities.ndim != 2 or probabilities.shape[1] != n_cells or len(probabilities) == 0:
        raise ValueError(
            f"the matrix must have shape (b, {n_cells}), one column for each cell, got "
            f"{probabilities.shape}."
        )
    if not np.all(np.isfinite(probabilities)) or np.any(probabilities < 0):
        raise ValueError("the matrix must hold probabilities, got negative or non-finite entries.")
    sums = probabilities.sum(axis=0)
    worst = int(np.abs(sums - 1.0).argmax())
    if abs(sums[worst] - 1.0) > _COLUMN_TOLERANCE:
        raise ValueError(
            f"the columns of a mechanism must sum to 1, but column {worst} sums to {sums[worst]}."
        )
    return probabilities


def _round_columns(probabilities: Floats, bits: int) -> NDArray[np.int64]:
    """Largest-remainder rounding of each column to integers that sum to 2**bits exactly."""
    unit = 2**bits
    scaled = probabilities / probabilities.sum(axis=0) * unit
    weights = np.floor(scaled).astype(np.int64)
    missing = unit - weights.sum(axis=0)
    remainder = np.where(scaled > 0, scaled - weights, -1.0)
    rank = np.argsort(np.argsort(-remainder, axis=0, kind="stable"), axis=0, kind="stable")
    weights += rank < missing
    # Rounding in the sums can leave a few units over or short: the largest entry takes them.
    columns = np.arange(weights.shape[1])
    weights[weights.argmax(axis=0), columns] += unit - weights.sum(axis=0)
    return weights
