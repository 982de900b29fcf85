"""The mechanisms of the blocks of a wide table: each person reports one block of columns."""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp._arrays import ReadOnly, ReadOnlyDict, chunks, real_numbers, rows_of_each
from skrldp._pages import page
from skrldp._typing import Floats
from skrldp.alphabet.categories import Column, listed
from skrldp.alphabet.combinations import Alphabet, combine
from skrldp.alphabet.numbers import Numbers
from skrldp.claims import Claims
from skrldp.claims_in_words import claimed
from skrldp.mechanism import json_format
from skrldp.mechanism.integer_weights import round_columns, slot_bits
from skrldp.mechanism.json_values import Others, malformed
from skrldp.mechanism.mechanism import Mechanism
from skrldp.sampling.draws import AliasTable
from skrldp.sampling.random_bits import RandomStream, Tapes

# --- Common columns, and how often blocks are drawn -----------------------------------------------


MOST_BLOCKS = 10_000


def weights_of(shares: ArrayLike) -> NDArray[np.int64]:
    """Round the blocks' probabilities to integers whose sum is a power of two, (m,)."""
    probabilities = real_numbers(shares, "shares").astype(float)
    is_distribution = probabilities.ndim == 1 and bool((probabilities >= 0).all())
    if not (is_distribution and abs(probabilities.sum() - 1.0) <= 1e-9):
        raise ValueError("shares must be one probability for each block, with sum 1.")
    weights: NDArray[np.int64] = round_columns(
        probabilities[:, None], slot_bits(len(probabilities))
    )[:, 0]
    return weights


def is_of_records(mechanism: Mechanism) -> bool:
    """Whether all columns are sensitive, so that blocks have no secret in common."""
    return all(flag for _, flag in mechanism.columns)


def secret_of(mechanism: Mechanism) -> tuple[Any, ...]:
    """Return the names of the columns in every block: those of S, if U has columns."""
    is_whole = is_of_records(mechanism)
    return () if is_whole else tuple(name for name, flag in mechanism.columns if flag)


def block_of(mechanism: Mechanism) -> tuple[Any, ...]:
    """Return the names of the other columns."""
    is_whole = is_of_records(mechanism)
    return tuple(name for name, flag in mechanism.columns if is_whole or not flag)


def alphabets_of(mechanism: Mechanism) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the alphabets of both, whose cells are those of the mechanism."""
    if is_of_records(mechanism):
        return mechanism.values, mechanism.secrets
    return mechanism.secrets, mechanism.values


def check_together(mechanisms: Sequence[Mechanism]) -> None:
    """Check that the mechanisms belong to different blocks of one table."""
    if not 0 < len(mechanisms) <= MOST_BLOCKS:
        raise ValueError(
            f"a manifest needs 1 to {MOST_BLOCKS:,} mechanisms, got {len(mechanisms):,}."
        )
    if not all(mechanism.columns for mechanism in mechanisms):
        raise ValueError("the mechanisms of a manifest need named columns.")
    first, blocks = mechanisms[0], set()
    for mechanism in mechanisms:
        block = block_of(mechanism)
        if mechanism.observe != first.observe:
            raise ValueError("observe must be the same for all mechanisms of a manifest.")
        same = secret_of(mechanism) == secret_of(first)
        if not same or alphabets_of(mechanism)[0] != alphabets_of(first)[0]:
            raise ValueError(
                f"the block of {listed(block)} has a different secret than the first block. All "
                "blocks need the same sensitive columns with the same secrets."
            )
        if frozenset(block) in blocks:
            raise ValueError(f"duplicate block: two have the columns {listed(block)}.")
        blocks.add(frozenset(block))


def others_of(mechanisms: Sequence[Mechanism]) -> dict[Any, Others]:
    """Return which values of each column of U are "other"; reject blocks that differ."""
    entries_by_name: dict[Any, Others] = {}
    for mechanism in mechanisms:
        entries = mechanism.others or (None,) * len(block_of(mechanism))
        for name, entry in zip(block_of(mechanism), entries, strict=True):
            if entries_by_name.setdefault(name, entry) != entry:
                raise ValueError(
                    f"column {name!r} has different values grouped as 'other' in two blocks."
                )
    return entries_by_name


def columns_of(mechanisms: Sequence[Mechanism], others: dict[Any, Others]) -> tuple[Column, ...]:
    """Return the alphabet of each column of U, in the order in which blocks name them first."""
    columns_by_name: dict[Any, Column] = {}
    for mechanism in mechanisms:
        names, values = block_of(mechanism), alphabets_of(mechanism)[1]
        alphabets = list(zip(*values, strict=True)) if len(names) > 1 else [values]
        for name, alphabet in zip(names, alphabets, strict=True):
            few = others[name]
            column = Column.of_values(name, alphabet, few if isinstance(few, tuple) else ())
            if columns_by_name.setdefault(name, column).categories != column.categories:
                raise ValueError(
                    f"column {name!r} has different categories in two blocks, perhaps because each "
                    "block learned them from its records. Declare them with categories=."
                )
        expected = math.prod(len(columns_by_name[name]) for name in names)
        if len(values) != expected:
            raise ValueError(
                f"the block of {listed(names)} needs a value for each of the {expected:,} "
                f"combinations of its columns' categories, got {len(values):,} values."
            )
    return tuple(columns_by_name.values())


def numbers_of(mechanisms: Sequence[Mechanism]) -> dict[Any, Numbers]:
    """Return the bins or knots of columns; reject blocks that differ."""
    numbers_by_name: dict[Any, Numbers | None] = {}
    for mechanism in mechanisms:
        stated = mechanism.numbers_by_name
        for name, _ in mechanism.columns:
            if numbers_by_name.setdefault(name, stated.get(name)) != stated.get(name):
                raise ValueError(f"column {name!r} has different bins or knots in two blocks.")
    return {name: numbers for name, numbers in numbers_by_name.items() if numbers is not None}


def orders_of(
    mechanisms: Sequence[Mechanism],
    columns: Sequence[Column],
    block_columns: Sequence[Sequence[int]],
) -> list[NDArray[np.int64] | None]:
    """Return the index of each combination among a block's values; None if they are in order."""
    orders: list[NDArray[np.int64] | None] = []
    for mechanism, indices in zip(mechanisms, block_columns, strict=True):
        values = alphabets_of(mechanism)[1]
        key = np.zeros(len(values), dtype=np.int64)
        for number, index in enumerate(indices):
            column = columns[index]
            categories = [v[number] for v in values] if len(indices) > 1 else values
            key = key * len(column) + column.codes(categories)
        order = np.argsort(key)
        orders.append(None if np.array_equal(order, np.arange(len(order))) else order)
    return orders


# --- The columns of all blocks --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BlockColumns(ReadOnly):
    """The columns of blocks of one table, and the order of each block's cells; immutable.

    Raises ValueError if the mechanisms of the blocks are inconsistent.
    """

    mechanisms: tuple[Mechanism, ...]

    def __post_init__(self) -> None:
        """Check that the mechanisms are consistent."""
        super().__post_init__()
        check_together(self.mechanisms)
        _ = self.columns, self.encoders  # which check the rest

    @property
    def blocks(self) -> tuple[tuple[Any, ...], ...]:
        """Names of each block's columns: of U, or of S if all columns are sensitive."""
        return tuple(block_of(mechanism) for mechanism in self.mechanisms)

    @cached_property
    def columns(self) -> tuple[tuple[Any, bool], ...]:
        """All columns, those in every block first, and whether each is sensitive."""
        is_sensitive = not self.in_every_block
        in_every = tuple((name, True) for name in self.in_every_block)
        return in_every + tuple((column.name, is_sensitive) for column in self.encoders)

    @property
    def in_every_block(self) -> tuple[Any, ...]:
        """Names of the columns that all blocks have: those of S, unless all are sensitive."""
        return secret_of(self.mechanisms[0])

    @property
    def secrets(self) -> tuple[Any, ...]:
        """The alphabet of S; only the empty tuple if no column is in every block."""
        return alphabets_of(self.mechanisms[0])[0]

    @property
    def observe(self) -> str:
        """What the mechanisms observe of a record: "all", or "nonsensitive" for U alone."""
        return self.mechanisms[0].observe

    @property
    def categories(self) -> dict[Any, tuple[Any, ...]]:
        """The categories of each column of a block."""
        return {column.name: column.categories for column in self._columns}

    @cached_property
    def others(self) -> dict[Any, Others]:
        """Which values of each column of U are "other": see :class:`Mechanism`."""
        return ReadOnlyDict(others_of(self.mechanisms))

    @cached_property
    def _columns(self) -> tuple[Column, ...]:
        return columns_of(self.mechanisms, self.others)

    @cached_property
    def encoders(self) -> tuple[Column, ...]:
        """The alphabet of each column of U, in the order in which blocks name them first."""
        numbers = self.numbers
        return tuple(replace(column, numbers=numbers.get(column.name)) for column in self._columns)

    @cached_property
    def numbers(self) -> dict[Any, Numbers]:
        """The bins or knots of each column that has them."""
        return ReadOnlyDict(numbers_of(self.mechanisms))

    @property
    def secret_alphabet(self) -> Alphabet:
        """The columns that are in every block, with the secrets."""
        cut = [self.numbers.get(name) for name in self.in_every_block]
        return Alphabet.of_members(self.in_every_block, self.secrets, numbers=cut)

    @cached_property
    def places(self) -> tuple[tuple[int, ...], ...]:
        """Positions of each block's columns among those of U."""
        index_of = {column.name: index for index, column in enumerate(self.encoders)}
        return tuple(tuple(index_of[name] for name in block) for block in self.blocks)

    @cached_property
    def _orders(self) -> list[NDArray[np.int64] | None]:
        return orders_of(self.mechanisms, self._columns, self.places)

    def cells(
        self, block: int, secrets: NDArray[Any], values: Sequence[NDArray[Any]], rows: Any
    ) -> Any:
        """Find the cells of given records in a block.

        Shapes: `secrets` (n,) and each of `values` (n,): codes of S, and of each column of U in the
        order of `columns`; `rows` (k,), or a slice. Returns (k,).
        """
        indices, order = self.places[block], self._orders[block]
        value, size = values[indices[0]][rows], len(self.encoders[indices[0]])
        for index in indices[1:]:
            width = len(self.encoders[index])
            value, size = combine(value, values[index][rows], (size, width)), size * width
        value = value if order is None else order[value]
        if self.observe == "nonsensitive":
            return combine(np.zeros_like(value, np.uint8), value, (1, size))
        return combine(secrets[rows], value, (len(self.secrets), size))

    def in_order(self, block: int, by_cell: Floats) -> Floats:
        """Reorder an array over the cells of a block to the lexicographic order of the codes.

        Shapes: `by_cell` (..., a).
        """
        order = self._orders[block]
        if order is None:
            return by_cell
        shape = (*by_cell.shape[:-1], -1, len(order))
        return np.asarray(by_cell.reshape(shape)[..., order].reshape(by_cell.shape))


# --- The manifest ---------------------------------------------------------------------------------


_ROWS = 1 << 15  # rows drawn at a time, as many as samplers draw from row-wise streams


@dataclass(frozen=True, eq=False)
class Manifest(BlockColumns):
    """The mechanisms of blocks of columns, and each block's probability; immutable.

    A person's report is a pair: a block, drawn independently of the record, and a report of the
    block's mechanism. The pair therefore leaks no more than the mechanism that leaks most. Make a
    manifest with :meth:`of` or :meth:`from_json`.

    Attributes
    ----------
    mechanisms : tuple of m Mechanism
        One for each block, with the same columns of S and the same secrets. The values of each are
        all combinations of its columns' categories. Alternatively, all columns of all mechanisms
        are sensitive, and the block's columns are those of S.
    weights : integer array of shape (m,)
        Relative frequency of each block; the sum is ``2**bits``.

    Raises
    ------
    ValueError
        If the mechanisms are inconsistent, or the weights are not a distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp import Mechanism
    >>> from skrldp.mechanism.manifest import Manifest
    >>> one = Mechanism.from_matrix(np.full((2, 4), 0.5), ("no", "yes"), ("a", "b"))
    >>> parts = [one.named(None, [("ill", True), (name, False)]) for name in ("home", "work")]
    >>> manifest = Manifest.of(parts, [0.25, 0.75])
    >>> manifest.blocks, manifest.shares.tolist()
    ((('home',), ('work',)), [0.25, 0.75])
    """

    weights: NDArray[np.int64]

    def __post_init__(self) -> None:
        """Check the mechanisms, and that each has a weight."""
        super().__post_init__()
        if len(self.weights) != len(self.mechanisms):
            raise ValueError(
                f"Expected one weight for each of {len(self.mechanisms):,} mechanisms, got "
                f"{len(self.weights):,} weights."
            )
        if sum(self.weights.tolist()) != 1 << (bits := slot_bits(len(self.weights))):
            raise ValueError(f"the weights of blocks must sum to 2**{bits}.")
        _ = self.sampler  # which checks the rest

    @staticmethod
    def of(mechanisms: Sequence[Mechanism], shares: ArrayLike) -> "Manifest":
        """Make a manifest of mechanisms and the probabilities of their blocks.

        Parameters
        ----------
        mechanisms : sequence of m Mechanism
            One for each block.
        shares : array of shape (m,)
            Probability that a person reports the block; rounded to a multiple of ``2**-bits``.

        Returns
        -------
        Manifest

        Raises
        ------
        ValueError
            If the shares are not a distribution, or the mechanisms are inconsistent.
        """
        return Manifest(tuple(mechanisms), weights_of(shares))

    # -- how blocks are drawn ---------------------------------------------------------------------

    @cached_property
    def sampler(self) -> AliasTable:
        """The table from which blocks are drawn, with a single cell for all records."""
        return AliasTable.from_weights(self.weights[:, None], slot_bits(len(self.weights)))

    @property
    def shares(self) -> Floats:
        """Probability of each block, shape (m,)."""
        return np.asarray(self.weights / 2.0 ** slot_bits(len(self.weights)))

    # -- what it promises -------------------------------------------------------------------------

    @cached_property
    def claims(self) -> Claims | None:
        """The claims about a report of any block, the weakest of all; None if a block has none."""
        claims = [mechanism.claims for mechanism in self.mechanisms if mechanism.claims is not None]
        return Claims.merged(claims) if len(claims) == len(self.mechanisms) else None

    @property
    def eps(self) -> float | None:
        """Proven leakage of a report, in nats: that of the worst block; None if not claimed."""
        return None if self.claims is None else self.claims.eps

    # -- reports ----------------------------------------------------------------------------------

    def leakage(self, table: Any, sample_weight: ArrayLike | None = None) -> float:
        """Realised ε among some records: the largest :meth:`Mechanism.leakage` of a block.

        Parameters
        ----------
        table : data frame or array of shape (n, n_columns)
            The records, with the manifest's columns; further columns are ignored.
        sample_weight : array of shape (n,), optional
            How many people each record represents.

        Returns
        -------
        float
            In nats.

        Raises
        ------
        ValueError
            If a column is missing, a value is unknown, or there is no record with a weight.
        """
        from skrldp.table.codec import manifest_codes  # clients import only NumPy

        return leakage_of(self, *manifest_codes(self, table), sample_weight)

    def sample(
        self, secrets: NDArray[Any], values: Sequence[NDArray[Any]], random_state: Any = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw a block for each record, and the report of the block.

        Parameters
        ----------
        secrets : integer array of shape (n,)
            Codes of the secrets.
        values : sequence of integer arrays of shape (n,)
            Codes of the categories of each column of U, in the order of `columns`.
        random_state : None, int, numpy Generator, RandomState or RandomStream
            As in :meth:`Mechanism.sample`; a stream continues from its current position.

        Returns
        -------
        blocks, reports : arrays of shape (n,)
            Numbers of the blocks, and of the symbols of their mechanisms.
        """
        is_stream = isinstance(random_state, RandomStream)
        stream = random_state if is_stream else RandomStream(random_state)
        drawn = self.sampler.sample(np.zeros(len(secrets), dtype=np.uint8), stream)
        reports = np.empty(len(secrets), dtype=self.report_dtype)
        for block, rows in rows_of_each(drawn, len(self.mechanisms)):
            cells = self.cells(block, secrets, values, rows)
            form = self.mechanisms[block].form
            reports[rows] = form.sampler.sample(form.places(cells), stream)
        return drawn, reports

    def sample_with(
        self,
        tapes: Callable[[NDArray[np.int64], slice], NDArray[np.uint8]],
        secrets: NDArray[Any],
        values: Sequence[NDArray[Any]],
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw as :meth:`sample` does, with bytes that are functions of the person and a number.

        The number is 0 for the choice of the block. For its report it is the index of the block's
        cell among the cells of all blocks, counted from 1.

        Shapes: `tapes` is a function from numbers (n,) and their rows to bytes (n, w); returns
        (n,), (n,).
        """
        drawn = np.empty(len(secrets), dtype=self.sampler.alias.dtype)
        reports = np.empty(len(secrets), dtype=self.report_dtype)
        firsts = np.cumsum([1, *(mechanism.shape[1] for mechanism in self.mechanisms)])
        for rows in chunks(len(secrets), _ROWS):
            nothing = np.zeros(rows.stop - rows.start, dtype=np.int64)
            blocks = self.sampler.sample(nothing, Tapes(tapes(nothing, rows)))
            rows_of, cells = rows_of_each(blocks, len(self.mechanisms)), nothing
            for block, members in rows_of:
                cells[members] = self.cells(block, secrets, values, members + rows.start)
            octets = tapes(firsts[blocks] + cells, rows)
            for block, members in rows_of:
                form = self.mechanisms[block].form
                positions = form.places(cells[members])
                reports[rows][members] = form.sampler.sample(positions, Tapes(octets[members]))
            drawn[rows] = blocks
        return drawn, reports

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """The smallest unsigned integer type that holds the reports of every block."""
        return np.min_scalar_type(max(mechanism.shape[0] for mechanism in self.mechanisms) - 1)

    # -- JSON -------------------------------------------------------------------------------------

    def to_json(self, *, public: bool = True) -> str:
        """Write all that is needed to report and to estimate.

        Parameters
        ----------
        public : bool, default=True
            Whether to write the counts of each block's public table: see :meth:`Mechanism.to_json`.

        Returns
        -------
        str
            The mechanisms' JSON, the weights and the public counts, in canonical form.
        """
        mechanisms = [mechanism.to_json(public=False) for mechanism in self.mechanisms]
        summaries = [mechanism.public for mechanism in self.mechanisms] if public else []
        return json_format.write_manifest(self.weights.tolist(), mechanisms, summaries)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of ``to_json(public=False)`` in hexadecimal: it identifies the manifest.

        The public counts are not part of it: see :attr:`Mechanism.digest`.
        """
        return hashlib.sha256(self.to_json(public=False).encode()).hexdigest()

    @staticmethod
    def from_json(text: str | bytes) -> "Manifest":
        """Read the output of :meth:`to_json`.

        Parameters
        ----------
        text : str or bytes
            JSON; whitespace and the order of keys do not matter.

        Returns
        -------
        Manifest

        Raises
        ------
        ValueError
            If the text is not a manifest, or its mechanisms are inconsistent.
        """
        manifest = read_json(text, json_format.MANIFEST)
        assert isinstance(manifest, Manifest)
        return manifest

    def __repr__(self) -> str:
        claim = claimed(self.eps)
        return f"Manifest({len(self.mechanisms)} blocks of {len(self.encoders)} columns, {claim})"

    def _repr_html_(self) -> str:
        rows = [
            (", ".join(map(str, block)), f"{share:.4f}", f"{len(mechanism.symbols):,}")
            for block, share, mechanism in zip(
                self.blocks, self.shares, self.mechanisms, strict=True
            )
        ]
        shown = rows[:50]
        header = ("block", "probability", "reports")
        return page(repr(self), shown, header=header, n_more=len(rows) - len(shown))


def leakage_of(
    manifest: Manifest,
    secrets: NDArray[Any],
    values: Sequence[NDArray[Any]],
    sample_weight: ArrayLike | None,
) -> float:
    """Return the largest leakage of a block among records given by codes (n,)."""
    n = len(secrets)
    weights = np.ones(n) if sample_weight is None else real_numbers(sample_weight, "sample_weight")
    if weights.shape != (n,) or not (weights >= 0).all() or not weights.sum() > 0:
        raise ValueError(
            f"sample_weight must be {n:,} numbers >= 0, one for each record, not all 0."
        )
    largest = 0.0
    for block, mechanism in enumerate(manifest.mechanisms):
        cells = manifest.cells(block, secrets, values, slice(None)).astype(np.int64)
        if manifest.observe == "nonsensitive":
            cells += np.asarray(secrets, dtype=np.int64) * len(mechanism.values)
        table = np.bincount(cells, weights, mechanism.shape[1])
        table = table.reshape(len(mechanism.secrets), len(mechanism.values)) / table.sum()
        largest = max(largest, mechanism.leakage(table))
    return largest


def read_json(text: str | bytes, *formats: str) -> Mechanism | Manifest:
    """Read the JSON of a mechanism or a manifest; raises as :meth:`Manifest.from_json`."""
    formats = formats or (json_format.FORMAT, json_format.MANIFEST)
    weights, attributes = json_format.read(text, *formats)
    mechanisms = tuple(Mechanism(**fields) for fields in attributes)
    if weights is None:
        return mechanisms[0]
    if any(not 0 <= weight <= 1 << 62 for weight in weights):
        raise malformed("the weights of blocks are negative or too large")
    try:
        return Manifest(mechanisms, np.array(weights, dtype=np.int64))
    except ValueError as error:
        raise malformed(str(error).rstrip(".")) from None
