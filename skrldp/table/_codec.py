"""Rows of a table to cells and back, once the alphabets are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skrldp.table._alphabet import Alphabet, Column, count_values, encode_column, listed
from skrldp.table._read import Table, read_table, smallest_dtype
from skrldp.table._write import Palette, build_array, build_frame

__all__ = ["CellCodec", "Codes", "named"]


@dataclass(frozen=True)
class Codes:
    """Rows of a table as a secret and a value of U each.

    Attributes
    ----------
    secrets : ndarray of shape (n,)
        Indices into `CellCodec.secrets`.
    values : ndarray of shape (n,)
        Indices into `CellCodec.values`; −1 where U is unknown.
    n_secrets : int, default=0
        Size of the alphabet of S; 0 if unknown.
    """

    secrets: np.ndarray
    values: np.ndarray
    n_secrets: int = 0

    def cells(self, n_values: int) -> np.ndarray:
        """Combine both into cell codes.

        Parameters
        ----------
        n_values : int
            Size of the alphabet of U.

        Returns
        -------
        ndarray of shape (n,)
            ``secrets * n_values + values``, in the smallest unsigned integer dtype.

        Raises
        ------
        ValueError
            If a value of U is unknown.
        """
        if self.values.min(initial=0) < 0:
            raise ValueError("rows with an unknown value of U have no cell")
        n_secrets = self.n_secrets or int(self.secrets.max(initial=0)) + 1
        cells = self.secrets.astype(smallest_dtype(n_secrets * n_values - 1))
        cells *= cells.dtype.type(n_values)
        np.add(cells, self.values, out=cells, casting="unsafe")
        return cells


@dataclass(frozen=True)
class CellCodec:
    """Translates rows of a table into cells and back; made by :func:`learn_codec`.

    It holds alphabets and dtypes, never rows.

    Attributes
    ----------
    columns : tuple of Column
        In the table's order.
    sensitive, nonsensitive : tuple of int
        Positions of the columns that make up S, and of the others, which make up U.
    secrets : tuple
        The values of S: scalars if S is one column, tuples if several.
    values : tuple
        The values of U: likewise.
    library : str
        That the public table was of: "numpy", "pandas", "polars" or "pyarrow".
    """

    columns: tuple[Column, ...]
    sensitive: tuple[int, ...]
    nonsensitive: tuple[int, ...]
    secrets: tuple[Any, ...]
    values: tuple[Any, ...]
    _secret_alphabet: Alphabet = field(repr=False, compare=False)
    _value_alphabet: Alphabet = field(repr=False, compare=False)
    library: str = field(repr=False, compare=False)

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

    def encode(self, X: Any, *, unknown: str = "error") -> Codes:
        """Turn rows into codes.

        Parameters
        ----------
        X : array, list of rows, or data frame of shape (n, n_columns)
            Need not be of the library that the public table was of.
        unknown : {"error", "mark"}, default="error"
            With "mark", a value of U that is not in the alphabet gets code −1. An unknown secret
            is always an error.

        Returns
        -------
        Codes

        Raises
        ------
        ValueError
            If the columns are not those of the public table, a number is infinite, or a value is
            unknown.
        """
        table = read_table(X)
        places = self._places(table)
        secrets = self._encode_part(self._secret_alphabet, table, places, "error")
        values = self._encode_part(self._value_alphabet, table, places, unknown)
        return Codes(secrets, values, self.n_secrets)

    def encode_values(self, X: Any, *, unknown: str = "error") -> Codes:
        """Turn rows into codes of U alone: the columns of S are not looked at, nor needed.

        Parameters
        ----------
        X : array, list of rows, or data frame of shape (n, n_columns)
            With the columns of the public table, or those of U alone.
        unknown : {"error", "mark"}, default="error"
            As in :meth:`encode`.

        Returns
        -------
        Codes
            As if all rows had the first secret.

        Raises
        ------
        ValueError
            As :meth:`encode`, but for S.
        """
        table = read_table(X)
        places = self._places(table, values_alone=True)
        values = self._encode_part(self._value_alphabet, table, places, unknown)
        return Codes(np.zeros_like(values, np.uint8), values, self.n_secrets)

    def holds_values_alone(self, names: Sequence[Any]) -> bool:
        """Whether a table has the columns of U and no others.

        Parameters
        ----------
        names : sequence
            Names of its columns; positions for an array.

        Returns
        -------
        bool
        """
        fitted = [self.columns[position].name for position in self.nonsensitive]
        if all(isinstance(name, str) for name in [*fitted, *names]):
            return list(names) == fitted
        return len(names) == len(fitted)

    def _encode_part(
        self, alphabet: Alphabet, table: Table, places: Sequence[int | None], unknown_values: str
    ) -> np.ndarray:
        if unknown_values not in ("error", "mark"):
            raise ValueError(f"unknown must be 'error' or 'mark', got {unknown_values!r}")
        secret, mark = alphabet is self._secret_alphabet, unknown_values == "mark"
        codes = []
        for position in alphabet.positions:
            column, place = self.columns[position], places[position]
            assert place is not None  # only columns of S may be absent
            code, unknown = encode_column(table, place, column.categories)
            if unknown and not mark:
                raise ValueError(_unknown_categories(column, unknown, secret=secret))
            codes.append(code)
        index = alphabet.index(codes)
        if not mark and index.min(initial=0) < 0:
            columns = [self.columns[position] for position in alphabet.positions]
            raise ValueError(_unknown_combinations(columns, codes, index, secret=secret))
        return index

    def _places(self, table: Table, *, values_alone: bool = False) -> Sequence[int | None]:
        """Find the columns in a table that has all of them or, if allowed, those of U alone."""
        if values_alone and self.holds_values_alone(table.names):
            of_value = {position: place for place, position in enumerate(self.nonsensitive)}
            return [of_value.get(position) for position in range(len(self.columns))]
        self._check_columns(table)
        return range(len(self.columns))

    def _check_columns(self, table: Table) -> None:
        fitted = [column.name for column in self.columns]
        given = list(table.names)
        if not all(isinstance(name, str) for name in fitted + given):  # arrays have no names
            if len(given) != len(fitted):
                raise ValueError(
                    f"X has {len(given)} features, but this sanitizer was fitted with {len(fitted)}"
                )
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
            message += "Feature names must be in the same order as they were in fit.\n"
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

        Parameters
        ----------
        cells : array-like of int of shape (n,)
        like : array, list of rows, or data frame
            A table of the library to answer in, with all columns or those of U alone. Its column
            names are taken over, and its index if it is a pandas frame of n rows.
        part : {"all", "nonsensitive"}, default="all"
            Which columns to write.
        strange : (int, value), optional
            The position of a column and what to write there in every row, known or not.

        Returns
        -------
        array or data frame of shape (n, n_columns)
            With the dtypes of the public table if that was of the same library, else of `like`;
            an array for a list of rows.

        Raises
        ------
        ValueError
            If a code is not a cell, or `like` has other columns than the public table.
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

        Parameters
        ----------
        values : sequence
            Like :attr:`values`: scalars if U is one column, tuples if several.
        index : ndarray of int of shape (n,)
            Which of the values each row has.
        like : array, list of rows, or data frame
            As in :meth:`decode`.

        Returns
        -------
        array or data frame of shape (n, number of columns of U)
            A column gets the dtype that :meth:`decode` would give it if that can hold the values.
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
        """Build the columns `wanted`, each from its values and from which of them rows have."""
        places = self._places(table, values_alone=True)
        palettes = [
            self._palette(table, position, places[position], some, rows)
            for position, some, rows in zip(wanted, values, index, strict=True)
        ]
        if table.is_array:
            return build_array(palettes, palettes[0].dtype)
        found = [places[position] for position in wanted]
        own = (self.columns[position].name for position in wanted)
        own = (name if isinstance(name, str) else f"x{name}" for name in own)
        names = [
            name if place is None else table.names[place]
            for name, place in zip(own, found, strict=True)
        ]
        return build_frame(palettes, table, found, names)

    def _palette(
        self,
        table: Table,
        position: int,
        place: int | None,
        values: Sequence[Any],
        index: np.ndarray,
    ) -> Palette:
        column = self.columns[position]
        dtype = table.dtype(place or 0) if table.is_array or place is not None else None
        if table.library == self.library:
            values = tuple(column.missing if value is None else value for value in values)
            dtype = column.dtype
        return Palette(values, dtype, index)

    def marginal(self, column_position: int) -> np.ndarray:
        """Which category of a column each cell has.

        Parameters
        ----------
        column_position : int

        Returns
        -------
        ndarray of shape (n_cells,)
            Indices into ``columns[column_position].categories``.
        """
        dtype = smallest_dtype(len(self.columns[column_position].categories))
        if column_position in self.sensitive:
            column = self.sensitive.index(column_position)
            indices = self._secret_alphabet.combinations()[:, column].astype(dtype)
            return np.repeat(indices, self.n_values)
        column = self.nonsensitive.index(column_position)
        indices = self._value_alphabet.combinations()[:, column].astype(dtype)
        return np.tile(indices, self.n_secrets)


# --- Words ---------------------------------------------------------------------------------------


def _bullets(names: Sequence[Any]) -> str:
    return "".join(f"- {name}\n" for name in names)


def named(columns: Sequence[Column]) -> str:
    """Name some columns in a sentence."""
    plural = "s" if len(columns) > 1 else ""
    return f"column{plural} {', '.join(repr(column.name) for column in columns)}"


def _unknown_categories(column: Column, unknown: Counter[Any], *, secret: bool) -> str:
    none = " (None for missing)" if None in unknown else ""
    return (
        f"column {column.name!r} has {count_values(unknown)} unseen in fit; {_mend(secret, none)}"
    )


def _unknown_combinations(
    columns: Sequence[Column], codes: Sequence[np.ndarray], index: np.ndarray, *, secret: bool
) -> str:
    rows = index < 0
    places = np.stack([code[rows] for code in codes], axis=1)
    unknown: Counter[Any] = Counter()
    for combination, count in zip(*np.unique(places, axis=0, return_counts=True), strict=True):
        values = (c.categories[place] for c, place in zip(columns, combination, strict=True))
        unknown[tuple(values)] = int(count)
    n_rows = sum(unknown.values())
    return (
        f"{named(columns)}: {n_rows:,} row{'s' if n_rows > 1 else ''} with a combination of "
        f"values unseen in fit, {listed(list(unknown))}; {_mend(secret)}"
    )


def _mend(secret: bool, note: str = " (given alphabets are combined)") -> str:
    mend = f"list every value in `categories`{note}"
    return f"{mend} to protect it" if secret else f"{mend}, or use handle_unknown='impute'"
