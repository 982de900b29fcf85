"""Conversion of rows of a table to cells and back, for known alphabets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skrldp._arrays import smallest_dtype
from skrldp.alphabet.combinations import Alphabet, combine
from skrldp.alphabet.numbers import Draws
from skrldp.table.encoding import (
    OTHERWISE,
    Column,
    Frequencies,
    encode_column,
    refuse_categories,
    refuse_combinations,
)
from skrldp.table.new_columns import NewColumn, build_array, build_frame, without_levels
from skrldp.table.numbers import fixed_draws
from skrldp.table.read import Table, read_table


@dataclass(frozen=True)
class Codes:
    """Rows of a table as indices of secrets and of values of U."""

    secrets: np.ndarray  # (n,), indices into `CellCodec.secrets`
    values: np.ndarray  # (n,), indices into `CellCodec.values`; −1 where U is unknown
    n_secrets: int = 0  # size of the alphabet of S; 0 if unknown
    # (n,), which rows were equal before values were grouped; None if no values were grouped
    rows: np.ndarray | None = None
    # (n,), number of records of each distinct row of a lazy frame; None if each row is one record,
    # or has a weight
    counted: np.ndarray | None = None

    def cells(self, n_values: int) -> np.ndarray:
        """Combine both into cell codes.

        Returns (n,): ``secrets * n_values + values``, in the smallest unsigned integer dtype.
        Raises ValueError if a value of U is unknown.
        """
        if self.values.min(initial=0) < 0:
            raise ValueError("rows with an unknown value of U do not belong to any cell")
        n_secrets = self.n_secrets or int(self.secrets.max(initial=0)) + 1
        return combine(self.secrets, self.values, (n_secrets, n_values))


def encode_columns(
    table: Table,
    positions: Sequence[int | None],
    alphabet: Alphabet,
    *,
    group: bool = False,
    secret: bool = False,
    or_else: str = OTHERWISE,
    draws: Draws | None = None,
) -> np.ndarray:
    """Encode columns of a table as indices of an alphabet's combinations.

    With `group`, unknown values become "other" if the column has that category. Returns (n_rows,).
    Raises ValueError for other unknown values and combinations; see :func:`refuse_categories`.
    """
    if not positions:  # all columns are sensitive, or S is not read
        return np.zeros(table.n_rows, dtype=np.uint8)
    codes = []
    for column, position in zip(alphabet.columns, positions, strict=True):
        assert position is not None  # only columns of S may be absent
        code, unknown = encode_column(table, position, column, draws)
        if unknown and not (group and column.other is not None):
            refuse_categories(column, unknown, secret=secret, or_else=or_else)
        codes.append(code)
    index = alphabet.index_with_others(codes) if group else alphabet.index(codes)
    if index.min(initial=0) < 0:
        refuse_combinations(alphabet.columns)
    return index


def manifest_codes(
    manifest: Any,
    table: Any,
    names: Sequence[Any] | None = None,
    *,
    secrets: bool = True,
    draws: Draws | None = None,
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Encode records as codes of S and of each column of U of a manifest.

    Columns are found by name; `names` are those of an array's columns, in order. Without `secrets`,
    S is not read, and its codes are 0. Without `draws`, columns with knots are rounded with a fixed
    seed. Shapes: `table` (n, k). Returns arrays (n,). Raises ValueError if a column is missing or a
    value is unknown.
    """
    read = read_table(table)
    table_names = list(read.names) if names is None or not read.is_array else list(names)
    draws = draws or fixed_draws()
    of_secret = manifest.secret_alphabet
    shared = of_secret.columns if secrets else ()
    missing = [
        column.name for column in (*shared, *manifest.encoders) if column.name not in table_names
    ]
    if missing:
        raise ValueError(f"the table lacks the column {missing[0]!r}; it has {table_names}.")
    positions = [table_names.index(column.name) for column in shared]
    secret_codes = encode_columns(read, positions, of_secret, secret=True)
    of_u = [
        encode_columns(
            read,
            [table_names.index(column.name)],
            Alphabet((column,)),
            group=manifest.others[column.name] is True,
            or_else="a base with handle_unknown='infrequent_if_exist' in `fit`",
            draws=draws,
        )
        for column in manifest.encoders
    ]
    return secret_codes, of_u


# --- The codec ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CellCodec:
    """Conversion of rows of a table to cells and back; returned by :func:`learn`.

    It contains alphabets and dtypes, never rows.
    """

    columns: tuple[Column, ...]  # in the table's order
    # sensitive, nonsensitive: Positions of the columns that make up S, and of the others, which
    # make up U
    sensitive: tuple[int, ...]
    nonsensitive: tuple[int, ...]
    secrets: tuple[Any, ...]  # the values of S: scalars if S is one column, tuples if several
    values: tuple[Any, ...]  # the values of U, likewise; only the empty tuple if U has no columns
    _secret_alphabet: Alphabet = field(repr=False, compare=False)
    _value_alphabet: Alphabet = field(repr=False, compare=False)
    # Library of the public table: "numpy", "pandas", "polars" or "pyarrow"
    library: str = field(repr=False, compare=False)
    # The source of the values of U, see `JointDistribution.alphabet`
    source: str = field(default="learned", repr=False, compare=False)
    groups_unknown: bool = False  # whether unknown values of U can be reported as "other"
    # Maximum number of distinguished values of U in the population; None if they are those listed,
    # or if it is unknown
    most_values: int | None = field(default=None, repr=False, compare=False)
    # Bound on the probability that values are wrongly considered frequent; None if they are not
    # frequent
    beta_of_values: float | None = field(default=None, repr=False, compare=False)
    # the values' frequencies, which determine `source` and `most_values`
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
        """Which values of each column of U are "other"; None if no column has "other".

        True for all values that are not categories, a tuple of those that were rare in the public
        table, or None.
        """
        others_by_column = tuple(
            column.infrequent or ((self.groups_unknown and column.other is not None) or None)
            for column in (self.columns[position] for position in self.nonsensitive)
        )
        return None if set(others_by_column) <= {None} else others_by_column

    def encode(
        self, X: Any, *, unknown: str = "error", of_u: bool = False, draws: Draws | None = None
    ) -> Codes:
        """Encode rows; with `of_u`, only their values of U, as if all rows had the first secret.

        The columns of S are then neither needed nor read. Without `draws`, columns with knots are
        rounded with a fixed seed. Shapes: `X` (n, n_columns). Raises ValueError if the columns are
        not those of the public table, a number is infinite, or a value is unknown.
        """
        if unknown not in ("error", "other"):
            raise ValueError(f"unknown must be 'error' or 'other', got {unknown!r}")
        table = read_table(X)
        in_table = self._places(table, values_only=of_u)
        draws = draws or fixed_draws()

        def part(positions: Sequence[int], alphabet: Alphabet, **how: Any) -> np.ndarray:
            return encode_columns(
                table, [in_table[position] for position in positions], alphabet, draws=draws, **how
            )

        secrets = part(() if of_u else self.sensitive, self._secret_alphabet, secret=True)
        group = unknown == "other" and self.groups_unknown
        values = part(self.nonsensitive, self._value_alphabet, group=group)
        return Codes(secrets, values, self.n_secrets)

    def holds_values_only(self, table: Table) -> bool:
        """Whether a table has the columns of U and no others."""
        fitted = [self.columns[position].name for position in self.nonsensitive]
        if self._are_named(table):
            return list(table.names) == fitted
        return len(table.names) == len(fitted) and not _reordered(table, fitted)

    def _are_named(self, table: Table) -> bool:
        """Whether this and the public table are both frames, so that columns are found by name."""
        return not table.is_array and self.library != "numpy"

    def _places(self, table: Table, *, values_only: bool = False) -> Sequence[int | None]:
        """Find the columns in a table that has all of them or, if allowed, only those of U."""
        if values_only and self.holds_values_only(table):
            of_value = {position: index for index, position in enumerate(self.nonsensitive)}
            return [of_value.get(position) for position in range(len(self.columns))]
        self._check_columns(table)
        return range(len(self.columns))

    def _check_columns(self, table: Table) -> None:
        fitted = [column.name for column in self.columns]
        names = list(table.names)
        if not self._are_named(table):
            if len(names) != len(fitted):
                raise ValueError(
                    f"X has {len(names)} features, but this sanitizer was fitted with {len(fitted)}"
                )
            if _reordered(table, fitted):
                raise ValueError(_ORDER)
            return
        if names == fitted:
            return
        message = "The feature names should match those that were passed during fit.\n"
        new = [name for name in names if name not in fitted]
        gone = [name for name in fitted if name not in names]
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
        raw: bool = False,
    ) -> Any:
        """Decode cells to rows; `raw` rows have numbers instead of the names of bins.

        Shapes: `cells` (n,). Returns (n, n_columns): with the dtypes of the public table if that
        was of the same library, otherwise of `like`, with the categories as levels; an array for a
        list of rows. Raises ValueError if a code is not a cell, or the columns of `like` are not
        those of the public table.
        """
        cells = np.asarray(cells, dtype=None if np.size(cells) else np.intp)
        is_integer = np.issubdtype(cells.dtype, np.integer)
        if not is_integer or cells.min(initial=0) < 0 or cells.max(initial=0) >= self.n_cells:
            raise ValueError(f"cell codes must be integers from 0 to {self.n_cells - 1}")
        if part not in ("all", "nonsensitive"):
            raise ValueError(f"part must be 'all' or 'nonsensitive', got {part!r}")
        wanted = range(len(self.columns)) if part == "all" else self.nonsensitive
        values = [self.columns[position].written(raw) for position in wanted]
        index = [self.marginal(position)[cells] for position in wanted]
        if strange is not None:
            column = list(wanted).index(strange[0])
            values[column], index[column] = (strange[1],), np.zeros_like(index[column])
        return self._written(values, index, wanted, read_table(like))

    def write_values(self, values: Sequence[Any], index: np.ndarray, *, like: Any) -> Any:
        """Decode values of U, which need not be in its alphabet, to rows of the columns of U.

        Shapes: `index` (n,). Returns (n, number of columns of U): a column has the same dtype as in
        :meth:`decode` if that can store the values.
        """
        single, columns = len(self.nonsensitive) == 1, len(self.nonsensitive)
        splits = [values if single else [value[k] for value in values] for k in range(columns)]
        return self._written(splits, [index] * columns, self.nonsensitive, read_table(like))

    def _written(
        self,
        values: Sequence[Sequence[Any]],
        index: Sequence[np.ndarray],
        wanted: Sequence[int],
        table: Table,
    ) -> Any:
        """Build the columns `wanted`, each from its values and the index of each row's value."""
        positions = self._places(table, values_only=True)
        columns = [
            self._new_column(table, position, positions[position], categories, rows)
            for position, categories, rows in zip(wanted, values, index, strict=True)
        ]
        if table.is_array:
            return build_array(columns, columns[0].dtype)
        origins = [positions[position] for position in wanted]
        fitted_names = (self.columns[position].name for position in wanted)
        fitted_names = (name if isinstance(name, str) else f"x{name}" for name in fitted_names)
        names = [
            name if origin is None else table.names[origin]
            for name, origin in zip(fitted_names, origins, strict=True)
        ]
        return build_frame(columns, table, origins, names)

    def _new_column(
        self,
        table: Table,
        position: int,
        origin: int | None,
        values: Sequence[Any],
        index: np.ndarray,
    ) -> NewColumn:
        column = self.columns[position]
        if table.library == self.library:
            values = tuple(column.missing if value is None else value for value in values)
            return NewColumn(values, column.dtype, index)
        dtype = table.dtype(origin or 0) if table.is_array or origin is not None else None
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
    """Whether a frame's columns are named by an array's column indices, in a different order."""
    names = list(table.names)
    return not table.is_array and names != list(fitted) and set(names) == set(fitted)


def _bullets(names: Sequence[Any]) -> str:
    return "".join(f"- {name}\n" for name in names)
