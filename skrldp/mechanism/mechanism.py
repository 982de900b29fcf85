"""A mechanism: the alphabets, and the weights that are sampled."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp._arrays import refuse_masked
from skrldp._pages import page
from skrldp._params import OBSERVED, at_least, check_choice
from skrldp._typing import Floats
from skrldp.alphabet.numbers import Knots, Numbers
from skrldp.claims import Claim, Claims
from skrldp.claims_in_words import bound_in_words
from skrldp.information import conditionals_of
from skrldp.mechanism import json_format
from skrldp.mechanism.all_distributions import inwards, leakage_over_all
from skrldp.mechanism.forms import (
    BlockForm,
    DenseForm,
    Form,
    ValuesForm,
    as_distribution,
)
from skrldp.mechanism.integer_weights import check_matrix, round_columns, slot_bits
from skrldp.mechanism.json_values import (
    Others,
    alphabet_of,
    check_columns,
    check_numbers_of,
    check_others,
    check_public_numbers,
    malformed,
    scalars,
)
from skrldp.mechanism.messages import claim, lines_of, sizes
from skrldp.public_summary import PublicNumbers, PublicSummary
from skrldp.sampling.draws import BlockTable
from skrldp.sampling.random_bits import RandomStream

_BLOCK_BITS = 53  # block weights are exact as float64


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A randomised map from cells x = (s, u) to reports y; immutable.

    Make one with :meth:`from_matrix`, :meth:`from_blocks` or :meth:`from_json`.

    Attributes
    ----------
    secrets, values : tuples of length a1 and a2
        The alphabets of S and of U; the cell of (s, u) has code ``s * a2 + u``.
    symbols : tuple of length b
        Names of the reports: cells if each report is a cell, integers otherwise.
    columns : tuple of (name, bool)
        The table's columns in their order and whether each is sensitive; empty if unknown.
    form : Form
        The weights, in one of three forms: the whole matrix, the columns of U's values alone, or
        four weights without a matrix (``form.blocks`` is then not None).
    claims : Claims or None
        The claims about its privacy; None for mechanisms that no sanitizer made. Check
        those of a mechanism from elsewhere with :func:`~skrldp.certificate.verify`.
    others : tuple or None
        For each column of U, the values that are reported as its value "other": True for all
        unknown values, a tuple of values, or None. None if no column has others.
    public : PublicSummary or None
        Counts of the public table, at which estimates have the smallest variance; reports do not
        depend on it. None if unknown.
    numbers : tuple or None
        For each column, the :class:`~skrldp.Bins` or :class:`~skrldp.Knots` that convert its
        numbers to categories, or None. None if no column has any.

    Raises
    ------
    ValueError
        If the alphabets and the names of the reports do not match the weights, `others` the values
        of U, the claims the columns, or the counts of `public` the cells.
    """

    secrets: tuple[Any, ...]
    values: tuple[Any, ...]
    symbols: tuple[Any, ...]
    columns: tuple[tuple[Any, bool], ...]
    form: Form
    claims: Claims | None = field(default=None, kw_only=True)
    others: tuple[Others, ...] | None = field(default=None, kw_only=True)
    public: PublicSummary | None = field(default=None, kw_only=True)
    numbers: tuple[Numbers | None, ...] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check that every report and every cell has exactly one name."""
        n_reports, n_cells = self.form.shape
        if len(self.symbols) != n_reports:
            raise ValueError(
                f"Expected one symbol for each of the {n_reports:,} reports, got "
                f"{len(self.symbols):,} symbols."
            )
        if len(self.secrets) * len(self.values) != n_cells:
            raise ValueError(
                f"Expected a cell for each of {len(self.secrets):,} secrets x "
                f"{len(self.values):,} values, got {n_cells:,} columns of the matrix."
            )
        if self.others is not None:
            check_others(self.others, self.values)
        if self.numbers is not None:
            check_numbers_of(self.numbers, self.columns, self.secrets, self.values, self.others)
        if self.claims is not None:
            self._check_claims(self.claims)
        shape = len(self.secrets), len(self.values)
        if self.public is not None and self.public.counts.shape != shape:
            raise malformed(
                f"public counts must have shape {shape}, got {self.public.counts.shape}"
            )
        if self.public is not None and self.public.numbers is not None:
            check_public_numbers(self.public.numbers, self.numbers)

    def _check_claims(self, claims: Claims) -> None:
        """Check that claims are about the columns, and not below the weights' own leakage."""
        sensitive = tuple(name for name, flag in self.columns if flag)
        nonsensitive = {name for name, flag in self.columns if not flag}
        for stated in claims:
            known = () if isinstance(stated.known, str) else stated.known
            if stated.secret != sensitive or not set(known) <= nonsensitive:
                raise malformed(
                    f"a claim has secret columns {list(stated.secret)} and known columns "
                    f"{list(known)}, but the sensitive columns are {list(sensitive)}"
                )
            if stated.reports != 1:
                raise malformed("a claim is about several reports, which follow from one report")
            if not stated.is_kept:
                raise malformed(f"a claim has eps={stated.eps!r}, more than asked={stated.asked!r}")
        for stated, proved in claims.below(self._shown_by_weights(claims, nonsensitive)):
            raise malformed(
                f"it claims {bound_in_words(stated)}, but its weights attain eps="
                f"{at_least(proved.eps)}: the claim is false"
            )

    def _shown_by_weights(self, claims: Claims, nonsensitive: set[Any]) -> Iterator[Claim]:
        """Yield the claims that depend on the weights alone, with leakage rounded downwards."""
        bound, given_u = map(inwards, leakage_over_all(self.form, len(self.secrets)))
        for stated in claims:
            if stated.known == "all" or (stated.known and {*stated.known} == nonsensitive):
                yield replace(stated, eps=given_u, attained=given_u)
            elif not stated.known and (stated.around.is_everything or len(self.values) == 1):
                yield replace(stated, eps=bound, attained=bound)

    @property
    def weights(self) -> NDArray[np.int64]:
        """Integer weights, shape (b, a); each column sums to ``2**denominator_bits``."""
        return self.form.weights

    @property
    def denominator_bits(self) -> int:
        """Binary logarithm d of the weights' denominator: probabilities are ``weights / 2**d``."""
        return self.form.bits

    @property
    def matrix(self) -> Floats:
        """The sampled probabilities, shape (b, a): exact float64 values, read-only."""
        return self.form.matrix

    @property
    def observe(self) -> str:
        """What the mechanism observes of a record: "all", or "nonsensitive" for U alone."""
        return self.form.observe

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of symbols and of cells, (b, a)."""
        return len(self.symbols), len(self.secrets) * len(self.values)

    @property
    def cells(self) -> tuple[tuple[Any, Any], ...]:
        """The cells (secret, value) in the order of the matrix's columns."""
        return tuple(product(self.secrets, self.values))

    @property
    def numbers_by_name(self) -> dict[Any, Numbers]:
        """The bins or knots of each column that has them."""
        stated = zip(self.columns, self.numbers or (), strict=False)
        return {name: numbers for (name, _), numbers in stated if numbers is not None}

    @property
    def public_numbers(self) -> dict[Any, PublicNumbers]:
        """Summary of the public records' numbers in each column with bins or knots."""
        stated = None if self.public is None else self.public.numbers
        named = zip(self.columns, stated or (), strict=False)
        return {name: numbers for (name, _), numbers in named if numbers is not None}

    @property
    def is_rounded(self) -> bool:
        """Whether a column has knots, so that two reports may round the record differently."""
        return any(isinstance(numbers, Knots) for numbers in self.numbers or ())

    def sample(self, codes: ArrayLike, random_state: Any = None) -> NDArray[Any]:
        """Draw one report for each record.

        Parameters
        ----------
        codes : integer array of shape (n,)
            Cell codes ``s * a2 + u``; uint8 and uint16 are fastest. If `observe` is "nonsensitive",
            they may be the codes of the values of U instead, because s does not matter.
        random_state : None, int, numpy Generator, RandomState or RandomStream
            None takes entropy from the operating system. An int makes the reports repeatable,
            for tests: whoever knows it can remove the noise, so there is no privacy. A stream
            continues from its current position.

        Returns
        -------
        array of shape (n,)
            Symbol indices, in the smallest unsigned integer dtype.
        """
        refuse_masked(codes, "codes")
        positions = self.form.places(np.asarray(codes))
        is_stream = isinstance(random_state, RandomStream)
        stream = random_state if is_stream else RandomStream(random_state)
        return self.form.sampler.sample(positions, stream)

    def mutual_information(self, distribution: ArrayLike) -> float:
        """Mutual information I(X; Y) at a distribution of X.

        Parameters
        ----------
        distribution : array of shape (a1, a2)
            Distribution of (S, U).

        Returns
        -------
        float
            In nats.
        """
        return self.form.mutual_information(np.asarray(distribution, dtype=float))

    def information_by_secret(self, distribution: ArrayLike) -> Floats:
        """Information I(U; Y | S=s) that the report has about U, for each secret.

        Parameters
        ----------
        distribution : array of shape (a1, a2)
            Distribution of (S, U).

        Returns
        -------
        array of shape (a1,)
            In nats, at most H(U | S=s); NaN for a secret of probability 0.
        """
        return self.form.information_by_secret(
            as_distribution(distribution, self.secrets, self.values)
        )

    def report_distribution(self, conditionals: ArrayLike) -> Floats:
        """Distribution of the report given each secret.

        Parameters
        ----------
        conditionals : array of shape (a1, a2)
            Conditionals of U given each secret.

        Returns
        -------
        array of shape (b, a1)
        """
        return self.form.report_distribution(np.asarray(conditionals, dtype=float))

    def leakage(self, distribution: ArrayLike) -> float:
        r"""Realised ε at a distribution: the largest log-ratio of a report's probabilities.

        :math:`\max_{y, s_1, s_2} \log P(y|s_1) / P(y|s_2)` (ISIT (32)), where 0/0 is 1. Secrets
        with probability 0 are ignored.

        Parameters
        ----------
        distribution : array of shape (a1, a2)
            Distribution of (S, U).

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
        table = as_distribution(distribution, self.secrets, self.values)
        report = self.report_distribution(conditionals_of(table))[:, table.sum(axis=1) > 0]
        largest, smallest = report.max(axis=1), report.min(axis=1)
        largest, smallest = largest[largest > 0], smallest[largest > 0]
        with np.errstate(divide="ignore"):
            return float(np.log(largest / smallest).max(initial=0.0))

    def likely_cells(self, distribution: ArrayLike) -> NDArray[np.intp]:
        """Most probable cell given each report at a distribution; the first one in case of ties.

        Parameters
        ----------
        distribution : array of shape (a1, a2)
            Distribution of (S, U).

        Returns
        -------
        array of shape (b,)
            Cell codes.
        """
        return (self.matrix * np.asarray(distribution, dtype=float).ravel()).argmax(axis=1)

    def named(
        self,
        symbols: Sequence[Any] | None,
        columns: Sequence[tuple[Any, bool]],
        *,
        claims: Claims | None = None,
        others: tuple[Others, ...] | None = None,
        public: PublicSummary | None = None,
        numbers: Sequence[Numbers | None] | None = None,
    ) -> "Mechanism":
        """Return a copy with different names for its reports and columns.

        Parameters
        ----------
        symbols : sequence of length b or None
            Names of the reports; None keeps them.
        columns : sequence of (name, bool)
            Column names in their order and whether each is sensitive.
        claims, others, public, numbers : optional
            The copy's claims, grouped values, public counts, and bins and knots; None keeps those
            of the mechanism.

        Returns
        -------
        Mechanism

        Raises
        ------
        ValueError
            If the number of names is not that of reports, columns are not pairs of a name and a
            bool, or the claims, others or numbers do not match the columns and values.
        """
        named = scalars(check_columns(columns))
        if claims is None and self.claims is not None:
            claims = self.claims.renamed([name for name, _ in self.columns], named)
        return replace(
            self,
            symbols=self.symbols if symbols is None else scalars(symbols),
            columns=named,
            claims=claims,
            others=self.others if others is None else others,
            public=self.public if public is None else public,
            numbers=self.numbers if numbers is None else _stated(numbers),
        )

    def to_json(self, *, public: bool = True) -> str:
        """Write all that is needed to report and to estimate.

        Parameters
        ----------
        public : bool, default=True
            Whether to write the counts of the public table, by cell. Clients ignore them, but
            estimates need them: without them, standard errors are larger and drift is not tested.

        Returns
        -------
        str
            Alphabets, symbols, integer weights, claims and public counts, in canonical form.

        Raises
        ------
        ValueError
            If a client could not use it, because categories repeat or do not match the columns.
        TypeError
            If a category is of a type that JSON cannot hold.
        """
        return json_format.write(self, public=public)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of ``to_json(public=False)`` in hexadecimal: it identifies the mechanism.

        The public counts are not part of it, because reports do not depend on them: keyed reports
        and ledgers, which are bound to the digest, stay unchanged if an estimate's prior changes.
        """
        return hashlib.sha256(self.to_json(public=False).encode()).hexdigest()

    @staticmethod
    def from_json(text: str | bytes) -> "Mechanism":
        """Read the output of :meth:`to_json`.

        Parameters
        ----------
        text : str or bytes
            JSON; whitespace and the order of keys do not matter.

        Returns
        -------
        Mechanism

        Raises
        ------
        ValueError
            If the text is not a mechanism, or its weights are not a distribution.
        """
        _, (attributes,) = json_format.read(text, json_format.FORMAT)
        return Mechanism(**attributes)

    @staticmethod
    def from_matrix(
        matrix: ArrayLike,
        secrets: Sequence[Any],
        values: Sequence[Any],
        symbols: Sequence[Any] | None = None,
        *,
        observe: str = "all",
    ) -> "Mechanism":
        """Round a stochastic matrix to integer weights.

        Each probability changes by less than ``2**-denominator_bits``, and zeros stay zero. A
        certificate states the leakage of the rounded mechanism.

        Parameters
        ----------
        matrix : array of shape (b, a), or (b, a2) if U alone is observed
            Probabilities; columns sum to 1.
        secrets, values : sequences of length a1 and a2
            The alphabets, with ``a = a1 * a2``.
        symbols : sequence of length b, optional
            Names of the reports; 0, 1, ... if not given.
        observe : {"all", "nonsensitive"}
            With "nonsensitive" the mechanism does not observe the secret: the columns are values of
            U, the same for every secret.

        Returns
        -------
        Mechanism

        Raises
        ------
        ValueError
            If the matrix is not a mechanism on these alphabets, or if it is masked or complex.
        """
        check_choice("observe", observe, OBSERVED)
        secrets, values = alphabet_of(secrets, "secrets"), alphabet_of(values, "values")
        probabilities = check_matrix(
            matrix, len(values) * (len(secrets) if observe == "all" else 1)
        )
        bits = slot_bits(len(probabilities))
        weights = round_columns(probabilities, bits)
        weights.setflags(write=False)
        form = (
            DenseForm(weights, bits)
            if observe == "all"
            else ValuesForm(weights, bits, len(secrets))
        )
        names = tuple(range(len(weights))) if symbols is None else scalars(symbols)
        return Mechanism(secrets, values, names, (), form)

    @staticmethod
    def from_blocks(
        probabilities: tuple[float, float, float, float],
        secrets: Sequence[Any],
        values: Sequence[Any],
    ) -> "Mechanism":
        """Round a block mechanism, whose reports are cells, to integer weights.

        Parameters
        ----------
        probabilities : (same, same_secret, same_value, other)
            Probability of one report (s', u') given (s, u), by whether s' = s and u' = u.
        secrets, values : sequences of length a1 and a2
            The alphabets.

        Returns
        -------
        Mechanism

        Raises
        ------
        ValueError
            If these are not probabilities, or an alphabet is empty.
        """
        secrets, values = alphabet_of(secrets, "secrets"), alphabet_of(values, "values")
        a1, a2 = len(secrets), len(values)
        unit = 2**_BLOCK_BITS
        _, same_secret, same_value, different = (int(p * unit) for p in probabilities)
        same = unit - (a2 - 1) * same_secret - (a1 - 1) * (same_value + (a2 - 1) * different)
        form = BlockForm(BlockTable(a1, a2, same, same_secret, same_value, different, _BLOCK_BITS))
        symbols = tuple(product(secrets, values))
        return Mechanism(secrets, values, symbols, (), form)

    def __repr__(self) -> str:
        return f"Mechanism({sizes(self)}{claim(self)})"

    def _repr_html_(self) -> str:
        return page(f"Mechanism: {sizes(self)}", lines_of(self))


def _stated(numbers: Sequence[Numbers | None]) -> tuple[Numbers | None, ...] | None:
    """Return a tuple with an entry per column; None if all entries are None."""
    return None if all(entry is None for entry in numbers) else tuple(numbers)
