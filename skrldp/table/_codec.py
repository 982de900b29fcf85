"""From rows of a table to cells and back, once the alphabets are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skrldp._arrays import smallest_dtype
from skrldp.alphabet import Alphabet
from skrldp.table._codes import Codes
from skrldp.table._columns import Column, encode_column
from skrldp.table._frequencies import Frequencies
from skrldp.table._read import Table, read_table
from skrldp.table._unknown_categories import refuse_categories, refuse_combinations
from skrldp.table._write import NewColumn, build_array, build_frame, without_levels

__all__ = ["CellCodec"]


@dataclass(frozen=True)
class CellCodec:
    """Translates rows of a table into cells and back; made by :func:`learn`.

    It holds alphabets and dtypes, never rows.
    """

    columns: tuple[Column, ...]  # in the table's order
    # sensitive, nonsensitive: Positions of the columns that make up S, and of the others, which
    # make up U
    sensitive: tuple[int, ...]
    nonsensitive: tuple[int, ...]
    secrets: tuple[Any, ...]  # the values of S: scalars if S is one column, tuples if several
    values: tuple[Any, ...]  # the values of U: likewise; an empty tuple alone if it has none
    _secret_alphabet: Alphabet = field(repr=False, compare=False)
    _value_alphabet: Alphabet = field(repr=False, compare=False)
    # Library of the public table: "numpy", "pandas", "polars" or "pyarrow"
    library: str = field(repr=False, compare=False)
    # Whether the values of U were declared, learned from records that are not counted, learned from
    # the counted ones of which each value has many, or learned from the counted ones
    source: str = field(default="learned", repr=False, compare=False)
    groups_unknown: bool = False  # whether unknown values of U can be reported as "other"
    # The most values of U that the population may have, in so far as they are told apart; None if
    # they are those listed, or if it is not known
    most_values: int | None = field(default=None, repr=False, compare=False)
    # Bound on the probability that values are called frequent falsely; None if they are not
    beta_of_values: float | None = field(default=None, repr=False, compare=False)
    # how frequent the values are, from which `source` and `most_values` follow
    frequencies: Frequencies = field(default=Frequencies((), (), 0), repr=False, compare=False)

    @property
    def n_secrets(self) -> int:
        """Size a1 of the alphabet of S."""
        return len(self.secrets)

    @property
    def n_values(self) -> int:
        """Size a2 of the alphabet of U."""
        return len(self.values)

    @property
    def n_cells(self) -> int:
        """Number of cells, a1·a2."""
        return self.n_secrets * self.n_values

    @property
    def others(self) -> tuple[bool | tuple[Any, ...] | None, ...] | None:
        """Which values each column of U has as "other"; None if no column has such a value.

        True for all values that are no categories, a tuple of those that were rare in the public
        table, or None.
        """
        found = tuple(
            column.infrequent or ((self.groups_unknown and column.other is not None) or None)
            for column in (self.columns[position] for position in self.nonsensitive)
        )
        return None if set(found) <= {None} else found

    def encode(self, X: Any, *, unknown: str = "error") -> Codes:
        """Turn rows into codes.

        Shapes: `X` (n, n_columns). Raises ValueError if the columns are not those of the public
        table, a number is infinite, or a value is unknown.
        """
        table = read_table(X)
        places = self._places(table)
        secrets = self._encode_part(table, places, "error", secret=True)
        values = self._encode_part(table, places, unknown)
        return Codes(secrets, values, self.n_secrets)

    def encode_values(self, X: Any, *, unknown: str = "error") -> Codes:
        """Turn rows into codes of U alone; the columns of S are neither needed nor read.

        Shapes: `X` (n, n_columns). Returns Codes: as if all rows had the first secret. Raises
        ValueError as :meth:`encode`, for U alone.
        """
        table = read_table(X)
        places = self._places(table, values_only=True)
        values = self._encode_part(table, places, unknown)
        return Codes(np.zeros_like(values, np.uint8), values, self.n_secrets)

    def holds_values_only(self, X: Any) -> bool:
        """Whether a table has the columns of U and no others."""
        return self._has_values_only(read_table(X))

    def _has_values_only(self, table: Table) -> bool:
        fitted = [self.columns[position].name for position in self.nonsensitive]
        if self._are_named(table):
            return list(table.names) == fitted
        return len(table.names) == len(fitted) and not _reordered(table, fitted)

    def _are_named(self, table: Table) -> bool:
        """Whether this and the public table are both frames, so that columns are found by name."""
        return not table.is_array and self.library != "numpy"

    def _encode_part(
        self,
        table: Table,
        places: Sequence[int | None],
        unknown_values: str,
        *,
        secret: bool = False,
    ) -> np.ndarray:
        if unknown_values not in ("error", "other"):
            raise ValueError(f"unknown must be 'error' or 'other', got {unknown_values!r}")
        group = unknown_values == "other" and self.groups_unknown
        positions = self.sensitive if secret else self.nonsensitive
        alphabet = self._secret_alphabet if secret else self._value_alphabet
        if not positions:  # all columns are sensitive
            return np.zeros(table.n_rows, dtype=np.uint8)
        columns, codes = [self.columns[position] for position in positions], []
        for column, position in zip(columns, positions, strict=True):
            place = places[position]
            assert place is not None  # only columns of S may be absent
            code, unknown = encode_column(table, place, column)
            if unknown and not (group and column.other is not None):
                refuse_categories(column, code, unknown, secret=secret)
            codes.append(code)
        index = alphabet.index_with_others(codes) if group else alphabet.index(codes)
        if index.min(initial=0) < 0:
            refuse_combinations(columns, index)
        return index

    def _places(self, table: Table, *, values_only: bool = False) -> Sequence[int | None]:
        """Find the columns in a table that has all of them or, if allowed, those of U alone."""
        if values_only and self._has_values_only(table):
            of_value = {position: place for place, position in enumerate(self.nonsensitive)}
            return [of_value.get(position) for position in range(len(self.columns))]
        self._check_columns(table)
        return range(len(self.columns))

    def _check_columns(self, table: Table) -> None:
        fitted = [column.name for column in self.columns]
        given = list(table.names)
        if not self._are_named(table):
            if len(given) != len(fitted):
                raise ValueError(
                    f"X has {len(given)} features, but this sanitizer was fitted with {len(fitted)}"
                )
            if _reordered(table, fitted):
                raise ValueError(_ORDER)
            return
        if given == fitted:
            return
        message = "The feature names should match those that were passed during fit.\n"
        new = [name for name in given if name not in fitted]
        gone = [name for name in fitted if name not in given]
        if new:
            message += f"Feature names unseen at fit time:\n{_bullets(new)}"
        if gone:
            message += f"Feature names seen at fit time, yet now missing:\n{_bullets(gone)}"
        if not new and not gone:
            message = _ORDER
        raise ValueError(message)

    def decode(
        self,
        cells: Any,
        *,
        like: Any,
        part: str = "all",
        strange: tuple[int, Any] | None = None,
    ) -> Any:
        """Turn cell codes into rows.

        Shapes: `cells` (n,). Returns (n, n_columns): with the dtypes of the public table if that
        was of the same library, else of `like`, with the categories as levels; an array for a list
        of rows. Raises ValueError if a code is not a cell, or `like` has other columns than the
        public table.
        """
        cells = np.asarray(cells, dtype=None if np.size(cells) else np.intp)
        is_integer = np.issubdtype(cells.dtype, np.integer)
        if not is_integer or cells.min(initial=0) < 0 or cells.max(initial=0) >= self.n_cells:
            raise ValueError(f"cell codes must be integers from 0 to {self.n_cells - 1}")
        if part not in ("all", "nonsensitive"):
            raise ValueError(f"part must be 'all' or 'nonsensitive', got {part!r}")
        wanted = range(len(self.columns)) if part == "all" else self.nonsensitive
        values = [self.columns[position].categories for position in wanted]
        index = [self.marginal(position)[cells] for position in wanted]
        if strange is not None:
            place = list(wanted).index(strange[0])
            values[place], index[place] = (strange[1],), np.zeros_like(index[place])
        return self._written(values, index, wanted, read_table(like))

    def write_values(self, values: Sequence[Any], index: np.ndarray, *, like: Any) -> Any:
        """Write values of U, which need not be in its alphabet, as rows of the columns of U.

        Shapes: `index` (n,). Returns (n, number of columns of U): a column gets the dtype that
        :meth:`decode` would give it if that can hold the values.
        """
        single, columns = len(self.nonsensitive) == 1, len(self.nonsensitive)
        parts = [values if single else [v[place] for v in values] for place in range(columns)]
        return self._written(parts, [index] * columns, self.nonsensitive, read_table(like))

    def _written(
        self,
        values: Sequence[Sequence[Any]],
        index: Sequence[np.ndarray],
        wanted: Sequence[int],
        table: Table,
    ) -> Any:
        """Build the columns `wanted`, each from its values and the index of each row's value."""
        places = self._places(table, values_only=True)
        columns = [
            self._new_column(table, position, places[position], some, rows)
            for position, some, rows in zip(wanted, values, index, strict=True)
        ]
        if table.is_array:
            return build_array(columns, columns[0].dtype)
        found = [places[position] for position in wanted]
        own = (self.columns[position].name for position in wanted)
        own = (name if isinstance(name, str) else f"x{name}" for name in own)
        names = [
            name if place is None else table.names[place]
            for name, place in zip(own, found, strict=True)
        ]
        return build_frame(columns, table, found, names)

    def _new_column(
        self,
        table: Table,
        position: int,
        place: int | None,
        values: Sequence[Any],
        index: np.ndarray,
    ) -> NewColumn:
        column = self.columns[position]
        if table.library == self.library:
            values = tuple(column.missing if value is None else value for value in values)
            return NewColumn(values, column.dtype, index)
        dtype = table.dtype(place or 0) if table.is_array or place is not None else None
        dtype = without_levels(dtype, column.categories)
        return NewColumn(values, dtype, index)

    def marginal(self, column_position: int) -> np.ndarray:
        """Which category of a column each cell has.

        Returns (n_cells,): indices into ``columns[column_position].categories``.
        """
        dtype = smallest_dtype(len(self.columns[column_position]))
        if column_position in self.sensitive:
            column = self.sensitive.index(column_position)
            indices = self._secret_alphabet.combinations()[:, column].astype(dtype)
            return np.repeat(indices, self.n_values)
        column = self.nonsensitive.index(column_position)
        indices = self._value_alphabet.combinations()[:, column].astype(dtype)
        return np.tile(indices, self.n_secrets)


# --- Words ---------------------------------------------------------------------------------------


_ORDER = (
    "The feature names should match those that were passed during fit.\n"
    "Feature names must be in the same order as they were in fit.\n"
)


def _reordered(table: Table, fitted: Sequence[Any]) -> bool:
    """Whether a frame's columns have the numbers of an array's columns, in another order."""
    names = list(table.names)
    return not table.is_array and names != list(fitted) and set(names) == set(fitted)


def _bullets(names: Sequence[Any]) -> str:
    return "".join(f"- {name}\n" for name in names)
