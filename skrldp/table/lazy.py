"""Tables in engines: the engine counts equal rows, and one of each kind is fetched.

The lazy frames of Polars, DuckDB's relations and the frames of Dask, PySpark, Ibis and SQLFrame
are lazy frames of narwhals. All kinds of missing values are a single value, as for tables in
memory.
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
    """Counts of a table before any of its rows is fetched."""

    n_rows: int
    # Distinct values of each column, counting all missing ones as one
    distinct: tuple[int, ...]
    missing: tuple[int, ...]  # rows without a value in each column
    nan: tuple[int, ...]  # how many of these have a NaN


@dataclass(frozen=True)
class LazyTable:
    """The columns of a lazy frame: numbered in queries, because names may not be strings."""

    frame: nw.LazyFrame[Any]
    names: tuple[Any, ...]  # column names
    dtypes: tuple[Any, ...]

    @classmethod
    def of(cls, frame: nw.LazyFrame[Any]) -> LazyTable:
        """Read the schema; nothing is computed.

        Raises TypeError if values of a column cannot be categories. Raises ValueError if there are
        no columns, or two columns have the same name. Raises RuntimeError if the engine fails.
        """
        names = lazy_names(frame)
        if not names:
            raise without_rows(0, 0)
        with _asked(frame, "return the types of its columns"):
            schema = frame.collect_schema()
        dtypes = [schema[name] for name in names]
        # DuckDB converts a category's levels to an ENUM, but pandas may have derived these from the
        # rows.
        if not frame.implementation.is_polars():
            dtypes = [nw.String() if isinstance(dtype, nw.Enum) else dtype for dtype in dtypes]
        table = cls(frame, tuple(names), tuple(dtypes))
        for name, dtype in zip(table.names, table.dtypes, strict=True):
            if dtype.is_nested() or (frame.implementation.is_polars() and dtype == nw.Object):
                raise wrong_values(name)
        return table

    def numbers(self) -> Numbers:
        """Count rows, and each column's distinct and missing values.

        Raises RuntimeError if the engine fails.
        """
        task = "count the distinct values of its columns"
        with _asked(self.frame, task, self.names):
            queries = [self._numbers_of(position) for position in range(len(self.names))]
            # A single query would keep all columns in memory
            if self.frame.implementation.is_polars():
                counts = nw.concat([query.collect() for query in queries], how="vertical")
            else:
                counts = nw.concat(queries, how="vertical").collect().sort("place")
            distinct, missing, nan, n = (
                [int(number or 0) for number in counts[name].to_list()]
                for name in ("distinct", "missing", "nan", _RECORDS)
            )
        has_both = [first > 0 and second > 0 for first, second in zip(missing, nan, strict=True)]
        distinct = [number - two for number, two in zip(distinct, has_both, strict=True)]
        missing = [first + second for first, second in zip(missing, nan, strict=True)]
        return Numbers(n[0], tuple(distinct), tuple(missing), tuple(nan))

    def _numbers_of(self, position: int) -> nw.LazyFrame[Any]:
        """Return a query for a row of counts of one column, from its groups, which are streamed."""
        value, records = nw.col(_key(position)), nw.col(_RECORDS)
        groups = self.frame.select(nw.col(self.names[position]).alias(_key(position)))
        groups = groups.group_by(_key(position)).agg(nw.len().alias(_RECORDS))
        numbers = {
            "place": nw.len() * 0 + position,
            "distinct": nw.len(),
            _RECORDS: records.sum(),
            "missing": nw.when(value.is_null()).then(records).sum(),
            "nan": nw.len() * 0,
        }
        # NaN is null in some engines but not in others.
        if self.dtypes[position].is_float():
            numbers["nan"] = nw.when(value.is_nan() & ~value.is_null()).then(records).sum()
        return groups.select(*(count.cast(nw.Int64).alias(name) for name, count in numbers.items()))

    def n_combinations(self, positions: Sequence[int]) -> int:
        """Count the distinct combinations of values of some columns.

        Raises RuntimeError if the engine fails.
        """
        with _asked(self.frame, "count the distinct combinations of values", self.names):
            counts = self._groups(positions).select(nw.len().alias(_RECORDS)).collect()
            return int(counts[_RECORDS][0])

    def rows(self, positions: Sequence[int], limit: int, nan: Sequence[int] = ()) -> Table:
        """Fetch the distinct rows of given columns, and the number of records of each.

        Raises ValueError if there are no rows. Raises RuntimeError if the engine fails.
        """
        with _asked(self.frame, "count its equal rows", self.names):
            rows = self._groups(positions).head(limit).collect()
        return self._brought(rows, positions, nan)

    def rows_of(self, subsets: Sequence[Sequence[int]], limit: int) -> list[Table]:
        """Fetch the distinct rows of several subsets of columns, counted in one query.

        Dask runs a query for each subset. Raises as :meth:`rows`.
        """
        engine = self.frame.implementation
        with _asked(self.frame, "count its equal rows", self.names):
            if engine.is_polars():  # it reads the table only once for several queries
                queries = [self._groups(subset).head(limit).to_native() for subset in subsets]
                collected = engine.to_native_namespace().collect_all(queries)
                frames = [nw.from_native(frame) for frame in collected]
            elif engine.is_dask():
                frames = [self._groups(subset).head(limit).collect() for subset in subsets]
            else:
                union = sorted({position for subset in subsets for position in subset})
                queries = [
                    self._groups(subset, union, k).head(limit) for k, subset in enumerate(subsets)
                ]
                stacked = nw.concat(queries, how="vertical").collect()
                frames = [stacked.filter(nw.col(_PART) == number) for number in range(len(subsets))]
        return [self._brought(frame, subset) for frame, subset in zip(frames, subsets, strict=True)]

    def weighted_rows(
        self, weights: int | None, positions: Sequence[int], limit: int
    ) -> tuple[Table, dict[str, NDArray[np.float64]]]:
        """Fetch the distinct rows of given columns, and sums of the weights of their records.

        `weights` is the index of a column; None stands for weights of 1. Returns Table, and arrays
        of shape (n,): the number of weights, the smallest and the largest, their sum and that of
        their squares. Raises as :meth:`rows`.
        """
        records = LazyTable.of(self.frame.select([self.names[position] for position in positions]))
        nan = np.zeros(len(self.names), dtype=int)
        nan[list(positions)] = records.numbers().nan
        column = nw.lit(1.0) if weights is None else nw.col(self.names[weights]).cast(nw.Float64)
        weight = nw.col("weight")
        sums = {
            "present": weight.count(),
            "least": weight.min(),
            "most": weight.max(),
            "weights": weight.sum(),
            "squares": nw.col("square").sum(),
        }
        with _asked(self.frame, "sum the weights of equal rows", self.names):
            values = (self._value(position).alias(_key(position)) for position in positions)
            rows = self.frame.select(*values, column.alias("weight"))
            groups = rows.with_columns(square=weight * weight).group_by(*map(_key, positions))
            named = (expression.alias(name) for name, expression in sums.items())
            groups_with_sums = groups.agg(nw.len().alias(_RECORDS), *named).head(limit).collect()
            numbers = {name: groups_with_sums[name].to_numpy().astype(np.float64) for name in sums}
        return self._brought(groups_with_sums, positions, nan.tolist()), numbers

    def _brought(
        self, rows: nw.DataFrame[Any], positions: Sequence[int], nan: Sequence[int] = ()
    ) -> Table:
        """Read distinct rows and their records as a table; raises ValueError if there are none."""
        if len(rows) == 0:
            raise without_rows(0, len(positions))
        records = rows[_RECORDS].to_numpy().astype(np.int64)
        columns = []
        for position in positions:
            column = rows[_key(position)]
            if any(nan[position : position + 1]) and not column.implementation.is_pandas_like():
                column = column.fill_null(float("nan"))
            columns.append(column)
        names = tuple(self.names[position] for position in positions)
        frame = rows.select(*columns).rename(dict(zip(map(_key, positions), names, strict=True)))
        return Table(frame, names, len(frame), records)

    def _value(self, position: int) -> nw.Expr:
        """Return a column with null instead of NaN, because every engine treats null as missing."""
        value = nw.col(self.names[position])
        return nw.when(~value.is_nan()).then(value) if self.dtypes[position].is_float() else value

    def _groups(
        self, positions: Sequence[int], union: Sequence[int] = (), part: int = 0
    ) -> nw.LazyFrame[Any]:
        """Return a query for the distinct rows of given columns and their records.

        With `union`, its other columns are null, and a number is added, so that queries of several
        parts can be combined.
        """
        absent = [position for position in union if position not in positions]
        values = self.frame.select(
            *(self._value(position).alias(_key(position)) for position in positions),
            *(_emptied(nw.col(self.names[position])).alias(_key(position)) for position in absent),
        )
        empty = [nw.col(_key(position)).max() for position in absent]
        groups = values.group_by(*map(_key, positions)).agg(nw.len().alias(_RECORDS), *empty)
        if not union:
            return groups
        return groups.select(*map(_key, union), _RECORDS, nw.lit(part).alias(_PART))


def _emptied(column: nw.Expr) -> nw.Expr:
    """Return nulls of a column's type; older narwhals does not accept a constant condition."""
    return nw.when(column.is_null() & ~column.is_null()).then(column)


def lazy_names(frame: nw.LazyFrame[Any]) -> list[Any]:
    """Read the names of a lazy frame's columns; nothing is computed.

    Raises ValueError if two columns have the same name. Raises RuntimeError if the engine fails.
    """
    with _asked(frame, "return the names of its columns"):
        # Spark's schema omits duplicate names. Polars warns about `columns`, and has no duplicate
        # names.
        is_polars = frame.implementation.is_polars()
        names = list(frame.collect_schema().names() if is_polars else frame.columns)
    refuse_duplicates(names)
    return names


def refuse_weights(X: Any, weights: Any) -> None:
    """Reject weights for the rows of a lazy frame.

    Raises ValueError if there are any.
    """
    if weights is not None and lazy_frame(X) is not None:
        raise ValueError(
            "sample_weight cannot be matched to the rows of a lazy frame, because they have no "
            "order. Sum the counts of equal rows, collect the result, and pass its counts."
        )


def distinct_rows_of(
    frame: nw.LazyFrame[Any], subsets: Sequence[Sequence[int]], limit: int
) -> list[Table]:
    """Fetch the distinct rows of several subsets of columns, and how often each occurs.

    The rows are in the library in which the engine returns its results. A single query serves all
    subsets. Raises TypeError if values of a column cannot be categories, ValueError if the frame is
    empty or has more than `limit` distinct rows, RuntimeError if the engine fails.
    """
    lazy = LazyTable.of(frame)
    tables = lazy.rows_of(subsets, limit + 1)
    for table, subset in zip(tables, subsets, strict=True):
        if table.n_rows > limit:
            names = ", ".join(repr(lazy.names[position]) for position in subset)
            raise ValueError(
                f"the columns {names} have more than {limit:,} distinct rows. Drop columns, "
                "discretise numbers, or group values."
            )
    return tables


def _key(position: int) -> str:
    return f"column_{position}"


@contextmanager
def _asked(frame: nw.LazyFrame[Any], task: str, names: Sequence[Any] = ()) -> Iterator[None]:
    """Re-raise an engine's error with the requested columns, without quoted values."""
    engine = str(frame.implementation.value)
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"{engine} needs the package {error.name!r} to return its result: install it."
        ) from error
    except Warning:  # turned into an error
        raise
    except Exception as error:  # engines raise different errors
        dotted = [name for name in names if isinstance(name, str) and "." in name]
        odd = (
            (f" Some engines do not find column names that contain a dot: rename {dotted}.")
            if dotted
            else ""
        )
        raise RuntimeError(
            f"{engine} could not {task}, because of a {type(error).__name__}. Its message may "
            f"quote values, so it is not shown here; it is in this error's `__context__`.{odd}"
        ) from None
