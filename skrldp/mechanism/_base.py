"""What every mechanism is and does, whatever its form."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp._typing import Floats
from skrldp.information import conditionals_of
from skrldp.mechanism._document import digest
from skrldp.mechanism._guarantee import Guarantee
from skrldp.mechanism._rounding import check_matrix, round_columns, slot_bits
from skrldp.sampling import AliasTable, BlockTable, RandomStream

if TYPE_CHECKING:
    from skrldp.mechanism._forms import BlindMechanism, BlockMechanism, DenseMechanism

__all__ = ["Mechanism"]


_BLOCK_BITS = 53  # block weights are exact as float64


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
    guarantee : Guarantee or None
        What was proven about it, in figures; None for mechanisms that no sanitizer made.
    """

    secrets: tuple[Any, ...]
    values: tuple[Any, ...]
    symbols: tuple[Any, ...]
    columns: tuple[tuple[Any, bool], ...]
    denominator_bits: int
    guarantee: Guarantee | None = field(default=None, kw_only=True)

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
    def observe(self) -> str:
        """What the mechanism has to know of a person: "all", or "nonsensitive", U alone."""
        return "all"

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
        matrix: Floats = self.weights * np.float64(2.0**-self.denominator_bits)
        matrix.setflags(write=False)
        return matrix

    def sample(self, codes: ArrayLike, random_state: Any = None) -> NDArray[Any]:
        """Draw one report for each record.

        Parameters
        ----------
        codes : integer array of shape (n,)
            Cell codes ``s * a2 + u``; uint8 and uint16 are fastest. If `observe` is
            "nonsensitive", they may be the codes of the values of U: s does not matter then.
        random_state : None, int, numpy Generator or RandomState
            None takes entropy from the operating system. An int makes the reports repeatable,
            for tests: whoever knows it can undo the privacy.

        Returns
        -------
        array of shape (n,)
            Symbol indices, in the smallest unsigned integer dtype.
        """
        return self._sampler.sample(self._places(np.asarray(codes)), RandomStream(random_state))

    def _places(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Columns of the sampler's table for cell codes."""
        return codes

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
        report = self.report_law(conditionals_of(table))[:, table.sum(axis=1) > 0]
        most, least = report.max(axis=1), report.min(axis=1)
        if np.any((least <= 0) & (most > 0)):
            return float("inf")
        return float(np.log(np.where(most > 0, most / np.where(least > 0, least, 1.0), 1.0)).max())

    def likely_cells(self, law: ArrayLike) -> NDArray[np.intp]:
        """Most probable cell given each report, at a law; the first of equals.

        Parameters
        ----------
        law : array of shape (a1, a2)
            Law of (S, U).

        Returns
        -------
        array of shape (b,)
            Cell codes.
        """
        return (self.matrix * np.asarray(law, dtype=float).ravel()).argmax(axis=1)

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
            Alphabets, symbols, integer weights and the guarantee's figures, in canonical form. No
            counts of public records but their total.

        Raises
        ------
        ValueError
            If a client could not use it: categories that repeat, or do not fit the columns.
        TypeError
            If a category is none of what JSON can hold.
        """
        from skrldp.mechanism._json import dump

        return dump(self)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of :meth:`to_json` in UTF-8, in hexadecimal: tells mechanisms apart."""
        return digest(self.to_json())

    @staticmethod
    def from_json(text: str | bytes) -> "Mechanism":
        """Read what :meth:`to_json` wrote.

        Parameters
        ----------
        text : str or bytes
            JSON; other blanks and another order of keys do not matter.

        Returns
        -------
        Mechanism

        Raises
        ------
        ValueError
            If the text is not a mechanism, or its weights are not a distribution.
        """
        from skrldp.mechanism._json import load

        return load(text)

    @staticmethod
    def from_matrix(
        matrix: ArrayLike,
        secrets: Sequence[Any],
        values: Sequence[Any],
        symbols: Sequence[Any] | None = None,
        *,
        blind: bool = False,
    ) -> "DenseMechanism | BlindMechanism":
        """Round a stochastic matrix to integer weights.

        Each probability moves by less than ``2**-denominator_bits`` and zeros stay zero. What the
        rounding does to privacy is for the certificate to say.

        Parameters
        ----------
        matrix : array of shape (b, a), or (b, a2) if blind
            Probabilities; columns sum to 1.
        secrets, values : sequences of length a1 and a2
            The alphabets, with ``a = a1 * a2``.
        symbols : sequence of length b, optional
            Names of the reports; 0, 1, ... if not given.
        blind : bool
            The mechanism does not see the secret: the columns are those of U's values, the same
            for every secret.

        Returns
        -------
        DenseMechanism or BlindMechanism

        Raises
        ------
        ValueError
            If the matrix is not a mechanism on these alphabets.
        """
        from skrldp.mechanism._forms import BlindMechanism, DenseMechanism

        probabilities = check_matrix(matrix, len(values) * (1 if blind else len(secrets)))
        bits = slot_bits(len(probabilities))
        weights = round_columns(probabilities, bits)
        weights.setflags(write=False)
        names = tuple(range(len(weights))) if symbols is None else tuple(symbols)
        form = BlindMechanism if blind else DenseMechanism
        return form(tuple(secrets), tuple(values), names, (), bits, weights)

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
        from skrldp.mechanism._forms import BlockMechanism

        a1, a2 = len(secrets), len(values)
        unit = 2**_BLOCK_BITS
        _, same_secret, same_value, other = (int(p * unit) for p in probabilities)
        same = unit - (a2 - 1) * same_secret - (a1 - 1) * (same_value + (a2 - 1) * other)
        table = BlockTable(a1, a2, same, same_secret, same_value, other, _BLOCK_BITS)
        symbols = tuple((s, u) for s in secrets for u in values)
        return BlockMechanism(tuple(secrets), tuple(values), symbols, (), _BLOCK_BITS, table)
