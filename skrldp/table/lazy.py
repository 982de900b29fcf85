"""Tables that are elsewhere: an engine counts their equal rows, and one of each kind is brought.

The lazy frames of Polars, DuckDB's relations and the frames of Dask, PySpark, Ibis and SQLFrame
are lazy frames of narwhals. Missing values of every kind are one value, as for tables at hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from skrldp.table.read import Table, lazy_frame, refuse_duplicates, without_rows, wrong_values

_RECORDS = "records"
_PART = "part"


@dataclass(frozen=True)
class Numbers:
    """What is known of a table before any of its rows is brought."""

    n_rows: int
    # Distinct values of each column; missing ones together are one of them
    distinct: tuple[int, ...]
    missing: tuple[int, ...]  # rows without a value in each column
    nan: tuple[int, ...]  # how many of these have a NaN


@dataclass(frozen=True)
class LazyTable:
    """The columns of a lazy frame: numbered in queries, since names may be odd or no strings."""

    frame: nw.LazyFrame[Any]
    names: tuple[Any, ...]  # column names
    dtypes: tuple[Any, ...]

    @classmethod
    def of(cls, frame: nw.LazyFrame[Any]) -> LazyTable:
        """Read the schema; nothing is computed.

        Raises TypeError if values of a column cannot be categories. Raises ValueError if there is
        no column, or two have the same name. Raises RuntimeError if the engine fails.
        """
        names = lazy_names(frame)
        if not names:
            raise without_rows(0, 0)
        with _asked(frame, "tell the types of its columns"):
            schema = frame.collect_schema()
        dtypes = [schema[name] for name in names]
        # DuckDB makes an ENUM of a category's levels, which pandas may have made of the very rows.
        if not frame.implementation.is_polars():
            dtypes = [nw.String() if isinstance(one, nw.Enum) else one for one in dtypes]
        table = cls(frame, tuple(names), tuple(dtypes))
        for name, dtype in zip(table.names, table.dtypes, strict=True):
            if dtype.is_nested() or (frame.implementation.is_polars() and dtype == nw.Object):
                raise wrong_values(name)
        return table

    def numbers(self) -> Numbers:
        """Count rows, and each column's distinct and missing values.

        Raises RuntimeError if the engine fails.
        """
        what = "count the distinct values of its columns"
        with _asked(self.frame, what, self.names):
            parts = [self._numbers_of(place) for place in range(len(self.names))]
            if self.frame.implementation.is_polars():  # in one query, it would hold all columns
                found = nw.concat([part.collect() for part in parts], how="vertical")
            else:
                found = nw.concat(parts, how="vertical").collect().sort("place")
            distinct, missing, nan, n = (
                [int(number or 0) for number in found[name].to_list()]
                for name in ("distinct", "missing", "nan", _RECORDS)
            )
        both = [first > 0 and second > 0 for first, second in zip(missing, nan, strict=True)]
        distinct = [number - two for number, two in zip(distinct, both, strict=True)]
        missing = [first + second for first, second in zip(missing, nan, strict=True)]
        return Numbers(n[0], tuple(distinct), tuple(missing), tuple(nan))

    def _numbers_of(self, place: int) -> nw.LazyFrame[Any]:
        """Return a query for a row of numbers about one column, from its groups: they stream."""
        value, records = nw.col(_key(place)), nw.col(_RECORDS)
        groups = self.frame.select(nw.col(self.names[place]).alias(_key(place)))
        groups = groups.group_by(_key(place)).agg(nw.len().alias(_RECORDS))
        numbers = {
            "place": nw.len() * 0 + place,
            "distinct": nw.len(),
            _RECORDS: records.sum(),
            "missing": nw.when(value.is_null()).then(records).sum(),
            "nan": nw.len() * 0,
        }
        if self.dtypes[place].is_float():  # in some engines NaN is null, in others null is not NaN
            numbers["nan"] = nw.when(value.is_nan() & ~value.is_null()).then(records).sum()
        return groups.select(*(one.cast(nw.Int64).alias(name) for name, one in numbers.items()))

    def n_combinations(self, positions: Sequence[int]) -> int:
        """Count the distinct combinations of values of some columns.

        Raises RuntimeError if the engine fails.
        """
        with _asked(self.frame, "count the distinct combinations of values", self.names):
            found = self._groups(positions).select(nw.len().alias(_RECORDS)).collect()
            return int(found[_RECORDS][0])

    def rows(self, positions: Sequence[int], most: int, nan: Sequence[int] = ()) -> Table:
        """Bring the distinct rows of some columns, and how many records there are of each.

        Raises ValueError if there are no rows. Raises RuntimeError if the engine fails.
        """
        with _asked(self.frame, "count its equal rows", self.names):
            found = self._groups(positions).head(most).collect()
        return self._brought(found, positions, nan)

    def rows_of(self, parts: Sequence[Sequence[int]], most: int) -> list[Table]:
        """Bring the distinct rows of several selections of columns, counted in one query.

        Dask is asked once for each selection. Raises as :meth:`rows`.
        """
        engine = self.frame.implementation
        with _asked(self.frame, "count its equal rows", self.names):
            if engine.is_polars():  # it reads the table once for several queries
                queries = [self._groups(part).head(most).to_native() for part in parts]
                collected = engine.to_native_namespace().collect_all(queries)
                found = [nw.from_native(one) for one in collected]
            elif engine.is_dask():
                found = [self._groups(part).head(most).collect() for part in parts]
            else:
                every = sorted({place for part in parts for place in part})
                queries = [self._groups(part, every, k).head(most) for k, part in enumerate(parts)]
                both = nw.concat(queries, how="vertical").collect()
                found = [both.filter(nw.col(_PART) == number) for number in range(len(parts))]
        return [self._brought(one, part) for one, part in zip(found, parts, strict=True)]

    def weighted_rows(
        self, weights: int | None, positions: Sequence[int], most: int
    ) -> tuple[Table, dict[str, NDArray[np.float64]]]:
        """Bring the distinct rows of some columns, and sums of the weights of their records.

        `weights` is the position of a column; None stands for weights of 1. Returns Table, and
        arrays of shape (n,): how many weights are there, the smallest and the largest, their sum
        and that of their squares. Raises as :meth:`rows`.
        """
        records = LazyTable.of(self.frame.select([self.names[place] for place in positions]))
        nan = np.zeros(len(self.names), dtype=int)
        nan[list(positions)] = records.numbers().nan
        own = nw.lit(1.0) if weights is None else nw.col(self.names[weights]).cast(nw.Float64)
        weight = nw.col("weight")
        sums = {
            "present": weight.count(),
            "least": weight.min(),
            "most": weight.max(),
            "weights": weight.sum(),
            "squares": nw.col("square").sum(),
        }
        with _asked(self.frame, "add up the weights of its equal rows", self.names):
            values = (self._value(place).alias(_key(place)) for place in positions)
            rows = self.frame.select(*values, own.alias("weight"))
            groups = rows.with_columns(square=weight * weight).group_by(*map(_key, positions))
            named = (one.alias(name) for name, one in sums.items())
            found = groups.agg(nw.len().alias(_RECORDS), *named).head(most).collect()
            numbers = {name: found[name].to_numpy().astype(np.float64) for name in sums}
        return self._brought(found, positions, nan.tolist()), numbers

    def _brought(
        self, found: nw.DataFrame[Any], positions: Sequence[int], nan: Sequence[int] = ()
    ) -> Table:
        """Read distinct rows and their records as a table; raises ValueError if there are none."""
        if len(found) == 0:
            raise without_rows(0, len(positions))
        records = found[_RECORDS].to_numpy().astype(np.int64)
        columns = []
        for place in positions:
            column = found[_key(place)]
            if any(nan[place : place + 1]) and not column.implementation.is_pandas_like():
                column = column.fill_null(float("nan"))
            columns.append(column)
        names = tuple(self.names[place] for place in positions)
        frame = found.select(*columns).rename(dict(zip(map(_key, positions), names, strict=True)))
        return Table(frame, names, len(frame), records)

    def _value(self, place: int) -> nw.Expr:
        """Return a column with null instead of NaN, which every engine treats as missing."""
        value = nw.col(self.names[place])
        return nw.when(~value.is_nan()).then(value) if self.dtypes[place].is_float() else value

    def _groups(
        self, positions: Sequence[int], every: Sequence[int] = (), part: int = 0
    ) -> nw.LazyFrame[Any]:
        """Return a query for the distinct rows of some columns and their records.

        With the columns in `every` that are not among them, empty, and a number: such queries of
        several parts can be put together.
        """
        others = [place for place in every if place not in positions]
        values = self.frame.select(
            *(self._value(place).alias(_key(place)) for place in positions),
            *(_emptied(nw.col(self.names[place])).alias(_key(place)) for place in others),
        )
        empty = [nw.col(_key(place)).max() for place in others]
        groups = values.group_by(*map(_key, positions)).agg(nw.len().alias(_RECORDS), *empty)
        if not every:
            return groups
        return groups.select(*map(_key, every), _RECORDS, nw.lit(part).alias(_PART))


def _emptied(column: nw.Expr) -> nw.Expr:
    """Return missing values of a column's type; older narwhals takes no constant condition."""
    return nw.when(column.is_null() & ~column.is_null()).then(column)


def lazy_names(frame: nw.LazyFrame[Any]) -> list[Any]:
    """Read the names of a lazy frame's columns; nothing is computed.

    Raises ValueError if two columns have the same name. Raises RuntimeError if the engine fails.
    """
    with _asked(frame, "tell the names of its columns"):
        # Spark's schema has each name once. Polars warns of `columns`, and has no name twice.
        is_polars = frame.implementation.is_polars()
        names = list(frame.collect_schema().names() if is_polars else frame.columns)
    refuse_duplicates(names)
    return names


def refuse_weights(X: Any, weights: Any) -> None:
    """Refuse weights of the rows of a lazy frame.

    Raises ValueError if there are any.
    """
    if weights is not None and lazy_frame(X) is not None:
        raise ValueError(
            "sample_weight cannot follow the rows of a lazy frame, which have no order. Add up the "
            "counts of equal rows, collect the result, and pass its counts."
        )


def distinct_rows_of(
    frame: nw.LazyFrame[Any], parts: Sequence[Sequence[int]], most: int
) -> list[tuple[Any, NDArray[np.int64]]]:
    """Bring the distinct rows of several selections of columns, and how often each of them occurs.

    The rows are of the library in which the engine hands over its results. It is asked once for
    all. Raises TypeError if values of a column cannot be categories, ValueError if the frame is
    empty or has more than `most` distinct rows, RuntimeError if the engine fails.
    """
    lazy = LazyTable.of(frame)
    found = []
    for table, part in zip(lazy.rows_of(parts, most + 1), parts, strict=True):
        if table.n_rows > most:
            names = ", ".join(repr(lazy.names[place]) for place in part)
            raise ValueError(
                f"the columns {names} have more than {most:,} distinct rows. Leave columns out, "
                "discretise numbers, or group values."
            )
        assert table.records is not None
        found.append((table.source.to_native(), table.records))
    return found


def _key(place: int) -> str:
    return f"column_{place}"


@contextmanager
def _asked(frame: nw.LazyFrame[Any], what: str, names: Sequence[Any] = ()) -> Iterator[None]:
    """Say in an engine's error what it was asked for, and leave out what may quote a value."""
    engine = str(frame.implementation.value)
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"{engine} needs the package {error.name!r} to hand over what it found: install it."
        ) from error
    except Warning:  # that was made an error
        raise
    except Exception as error:  # each engine has its own errors
        dotted = [name for name in names if isinstance(name, str) and "." in name]
        odd = f" Not every engine finds names with a dot: rename {dotted}." if dotted else ""
        raise RuntimeError(
            f"{engine} could not {what}, because of a {type(error).__name__}. Its message may "
            f"quote values, so it is not shown; read it from the `__context__` of this error.{odd}"
        ) from None
