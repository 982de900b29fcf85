"""Reading and counting of reports in any form: symbols, one-hot columns or cells."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from numbers import Real
from operator import eq
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError

from skrldp._typing import Booleans, Floats, Indices
from skrldp.alphabet.categories import Column, listed
from skrldp.alphabet.combinations import Alphabet, group_cells
from skrldp.alphabet.values import is_missing
from skrldp.estimation.errors_and_intervals import Sample, Samples
from skrldp.joint import JointDistribution, as_counts
from skrldp.mechanism.mechanism import Mechanism
from skrldp.public_summary import PublicSummary
from skrldp.sanitizers.access import as_block_sanitizer, as_sanitizer
from skrldp.sanitizers.reports import as_table
from skrldp.sets.survey_effects import summary_of
from skrldp.surveys.design import SurveyDesign
from skrldp.surveys.records import MOST_CELLS, SurveyTotals
from skrldp.table.encoding import encode_column
from skrldp.table.lazy import LazyTable, refuse_weights
from skrldp.table.read import Table, lazy_frame, read_table
from skrldp.table.select import column_reader, whole_numbers, without_columns

ENCODINGS = ("auto", "symbol", "onehot", "cells")

# The remedy for weights that are not counts.
_WEIGHTED = (
    "if the people who report have survey weights, pass their columns to "
    "FrequencyEstimator(survey=)"
)
_MOST_ROWS = 1_000_000  # maximum number of distinct rows of reports and groups that engines fetch
_ONES, _ROWS = "a single 1 among zeros", "a combination of categories that it writes"
_LOST = (
    "Several symbols may be written as the same cell (encode='cells'), and the mechanism alone "
    "does not determine which: pass the fitted sanitizer instead."
)

# -- the mechanism --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """The source of reports: a mechanism, and how reports are written."""

    mechanism: Mechanism  # the mechanism that was sampled
    names: tuple[Any, ...] = ()  # names of the columns that a sanitizer writes; empty if unknown

    @property
    def n_symbols(self) -> int:
        """Number of symbols."""
        return self.mechanism.shape[0]

    @cached_property
    def is_numbered(self) -> bool:
        """Whether symbols are their own indices."""
        return self.mechanism.symbols == tuple(range(self.n_symbols))

    @property
    def _of_u(self) -> list[Any]:
        return [name for name, sensitive in self.mechanism.columns if not sensitive]

    @property
    def _is_likely(self) -> bool:
        """Whether symbols are written as their most probable cells."""
        return self.is_numbered and not (self._of_u and self.names == _as_strings(self._of_u))

    @cached_property
    def _cells(self) -> Indices | None:
        """The cell that each symbol is written as, (b,); None if values of U, or unknown.

        Symbols that are integers are values of U if the sanitizer writes the columns of U.
        """
        mechanism = self.mechanism
        if self._is_likely:
            known = mechanism.public if self.names else None
            return None if known is None else mechanism.likely_cells(known.probabilities)
        (b, a), cells = mechanism.shape, product(mechanism.secrets, mechanism.values)
        if b == a and all(map(eq, mechanism.symbols, cells)):
            return np.arange(a)
        numbers = {cell: number for number, cell in enumerate(mechanism.cells)}
        cell_numbers = [numbers.get(symbol, -1) for symbol in mechanism.symbols]
        return None if min(cell_numbers) < 0 else np.array(cell_numbers)

    @cached_property
    def forms(self) -> dict[str, list[Any]]:
        """Names, or otherwise indices, of the columns of reports in each known form."""
        forms = {"symbol": ["report"], "onehot": [f"report_{y}" for y in range(self.n_symbols)]}
        if not self._is_likely or self.names:
            cells = [name for name, _ in self.mechanism.columns] or [0, 1]
            of_u = self._of_u or [0]
            forms["cells"] = of_u if self._cells is None else cells
        return forms

    @cached_property
    def written(self) -> tuple[Alphabet, Indices]:
        """The distinct rows that symbols are written as, and each symbol's row, (b,)."""
        mechanism, names = self.mechanism, self.forms["cells"]
        if self._cells is None:
            symbols = mechanism.symbols
            values = [*zip(*symbols, strict=True)] if len(names) > 1 else [symbols]
            columns = [Column.of_values(number, each) for number, each in enumerate(values)]
            codes = [column.codes(entries) for column, entries in zip(columns, values, strict=True)]
        else:
            sides = [(None, "sensitive"), (None, "nonsensitive")]
            selections = [([name], "all") for name in names] if mechanism.columns else sides
            groups = [group_cells(mechanism, *selection) for selection in selections]
            codes = [group.labels[self._cells] for group in groups]
            columns = [Column(group.name[0], group.categories) for group in groups]
        return Alphabet.observed(columns, codes)


def read_source(mechanism: Any) -> Source:
    """Make a source from a mechanism, its JSON, or a fitted sanitizer or pipeline."""
    design, sanitizer = read_mechanism(mechanism)
    if sanitizer is None:
        return Source(design)
    return Source(design, tuple(sanitizer.get_feature_names_out()))


def read_mechanism(mechanism: Any) -> tuple[Mechanism, Any]:
    """Read a mechanism, and the sanitizer if there is one, without the format of reports."""
    if isinstance(mechanism, str):
        mechanism = Mechanism.from_json(mechanism)
    if isinstance(mechanism, Mechanism):
        return mechanism, None
    try:
        blocks, sanitizer = as_block_sanitizer(mechanism), as_sanitizer(mechanism)
    except NotFittedError as error:
        raise ValueError(
            f"mechanism is a {type(mechanism).__name__} that is not fitted; scikit-learn's clone "
            "unfits a sanitizer. Pass the `mechanism_` of the fitted one."
        ) from error
    if sanitizer is None:
        remedy = "" if blocks is None else " BlockEstimator reads the reports of blocks."
        raise TypeError(
            "mechanism must be a Mechanism, its JSON text, or a fitted sanitizer (or a Pipeline "
            f"that ends in one), got {type(mechanism).__name__}.{remedy}"
        )
    return sanitizer.mechanism_, sanitizer


def _as_strings(columns: Sequence[Any]) -> tuple[str, ...]:
    """Name columns as sanitizers do: columns without names are "x0", "x1", and so on."""
    return tuple(name if isinstance(name, str) else f"x{name}" for name in columns)


# -- the form -------------------------------------------------------------------------------------


def _form_of(table: Table, source: Source) -> str:
    """Find the form of reports by their columns' names, or because no other form is possible.

    Reports without names are matched by the names that a sanitizer would write, except for a single
    column of values of U, because clients also send a single column, which contains integers.
    """
    width, forms = len(table.names), source.forms
    fits = [form for form, columns in forms.items() if len(columns) == width]
    for names in (table.names, source.names):
        if all(isinstance(name, str) for name in names):
            matches = [f for f in fits if sorted(names) == sorted(_as_strings(forms[f]))]
            if len(matches) == 1 and (width > 1 or names is table.names or matches != ["cells"]):
                return matches[0]
    if width > 1 and "report" in table.names:
        raise ValueError(
            f"Y has the columns {listed(table.names)}: fit only the reports, Y[['report']]."
        )
    if width == 1 and source.is_numbered and "cells" in fits:
        fits.remove("cells")
    if fits == ["symbol", "cells"]:
        return _numbers_or_values(table, source)
    if len(fits) == 1:
        return fits[0]
    known = ", ".join(f"{len(columns):,} ({form!r})" for form, columns in forms.items())
    remedy = f". Specify their form, for example encode={fits[-1]!r}." if fits else f". {_LOST}"
    raise ValueError(
        f"Y has {width} columns, and reports of this mechanism have {known}"
        + (remedy if fits or "cells" not in forms else ".")
    )


def _numbers_or_values(table: Table, source: Source) -> str:
    """Decide between symbols and values of U for a column without a name.

    An error is raised if a number could be either a symbol or the value of a different symbol.
    """
    alphabet, rows = source.written
    (column,) = alphabet.columns
    for symbol, row in enumerate(rows):
        value = column.categories[row]
        if value in range(len(rows)) and value != symbol:
            raise ValueError(
                f"the reports could be read as symbols or as cells, because {value!r} is the value "
                f"of report {symbol} and the number of a different report. Pass encode='symbol' or "
                "encode='cells'."
            )
    _, unknown = encode_column(table, 0, column)
    return "symbol" if unknown and all(isinstance(v, Real) for v in unknown) else "cells"


def _form_and_columns(table: Table, source: Source, encode: str) -> tuple[str, list[int]]:
    """Find the form of reports and their columns, in the mechanism's order.

    Columns are matched by name if both sides have names, otherwise by index.
    """
    form = _form_of(table, source) if encode == "auto" else encode
    wanted, names = source.forms.get(form), list(table.names)
    if wanted is None:
        raise ValueError(f"these reports cannot be read as cells. {_LOST}")
    size = len(wanted)
    if set(names) == set(wanted) and all(isinstance(name, str) for name in names):
        column_of = {name: k for k, name in enumerate(names)}
        return form, [column_of[name] for name in wanted]
    numbers = wanted if form == "cells" else list(range(size))
    if not table.is_array and names != numbers and set(names) == set(numbers):
        raise ValueError(
            f"the reports have the same columns in a different order: [{listed(names)}], not "
            f"[{listed(numbers)}]. Sort the columns or pass an array, because numbers may be names "
            "or positions."
        )
    are_others = all(isinstance(name, str) for name in (*names, *wanted))
    if len(names) != size or (form == "cells" and size > 1 and are_others):
        raise ValueError(
            f"encode={form!r} has {size} column(s), [{listed(wanted)}], but Y has {len(names)}: "
            f"[{listed(names)}]."
        )
    return form, list(range(size))


# -- the reports ----------------------------------------------------------------------------------


class Reports(NamedTuple):
    """The report in each row, and which symbols are written identically."""

    table: Any  # the reports as given
    read: Callable[[Any], NDArray[Any]]  # the values of another column, by name
    numbers: Indices  # (n,), the kind of each row's report
    kinds: Indices  # (b,), the kind of each symbol
    weights: Floats | None  # (n,), how many reports each row represents; None if one each


def read_reports(
    Y: Any,
    source: Source,
    encode: str,
    sample_weight: ArrayLike | None = None,
    extra: Sequence[Any] = (),
) -> Reports:
    """Read reports: a table, a column of it, or the distinct rows of a lazy frame.

    At most one more distinct row is fetched than there are symbols, because if there are more, one
    of them is not a report. `extra` are columns that are not part of reports.
    """
    refuse_weights(Y, sample_weight)
    frame = lazy_frame(Y)
    if frame is None:
        rows_read = read_table(as_table(Y))
    else:
        lazy = LazyTable.of(frame)
        header = tuple(name for name in lazy.names if name not in extra)
        if len(header) > 1:
            _form_and_columns(Table(None, header, 0), source, encode)
        max_rows = _MOST_ROWS if extra else source.n_symbols
        rows_read = lazy.rows(range(len(lazy.names)), max_rows + 1)
        if extra and rows_read.n_rows > max_rows:
            raise ValueError(f"there are more than {max_rows:,} distinct rows: use coarser groups.")
    weights = None if rows_read.records is None else rows_read.records.astype(np.float64)
    if sample_weight is not None:
        weights = as_counts(sample_weight, rows_read.n_rows, "report", Y, weighted=_WEIGHTED)
    table = without_columns(rows_read, extra, "the reports") if extra else rows_read
    form, columns = _form_and_columns(table, source, encode)
    kinds = np.arange(source.n_symbols)
    if form == "symbol":
        numbers = whole_numbers(table, 0, source.n_symbols)
    elif form == "onehot":
        numbers, ones = np.zeros(table.n_rows, dtype=np.int64), np.zeros(table.n_rows)
        for symbol, position in enumerate(columns):
            bits = whole_numbers(table, position, 2)
            numbers += symbol * bits
            ones += np.where(bits < 0, 2, bits)
        numbers[ones != 1] = -1
    else:
        alphabet, rows = source.written
        codes = []
        for position, column in zip(columns, alphabet.columns, strict=True):
            codes.append(encode_column(table, position, column)[0])
            refuse_rows(table, codes[-1] < 0, [table.names[position]], _ROWS)
        distinct, first = np.unique(rows, return_index=True)
        kind_of = np.full(len(alphabet) + 1, -1)  # the last entry stands for no row
        kind_of[distinct] = np.argsort(np.argsort(first))  # in the order of the symbols
        numbers, kinds = kind_of[alphabet.index(codes)], kind_of[rows]
    expected = {"symbol": whole_from_0(source.n_symbols), "onehot": _ONES, "cells": _ROWS}
    refuse_rows(table, numbers < 0, table.names, expected[form])
    native = table.source if table.is_array else table.source.to_native()
    return Reports(native, column_reader(rows_read, "the reports"), numbers, kinds, weights)


def whole_from_0(size: int) -> str:
    """State the range of valid reports."""
    return f"an integer from 0 to {size - 1}"


def refuse_rows(table: Table, wrong: Booleans, columns: Sequence[Any], expected: str) -> None:
    """Reject reports with invalid rows (n,), and state the expected values."""
    if wrong.any():
        n = int(wrong.sum() if table.records is None else table.records[wrong].sum())
        first = "" if table.records is not None else f"the first in row {int(np.argmax(wrong))}; "
        raise ValueError(
            f"{n:,} row{'s' if n > 1 else ''} of Y {'have' if n > 1 else 'has'} no report of this "
            f"mechanism in {listed(columns)} ({first}values are not shown), "
            f"which is {expected}. Fit only what it sent, and drop rows that lack a report."
        )


def samples_of(reports: Reports, groups: Sequence[Any], survey: SurveyDesign | None) -> Samples:
    """Count the reports of each group by raw columns, or weight them by a survey's design."""
    n, n_kinds = len(reports.numbers), int(reports.kinds.max()) + 1
    codes, labels = _grouped([reports.read(name) for name in groups], n)
    symbols, shape = codes * n_kinds + reports.numbers, (len(labels), n_kinds)
    if survey is None:
        counts = np.bincount(symbols, reports.weights, shape[0] * n_kinds).astype(np.float64)
        by_group = zip(labels, counts.reshape(shape), strict=True)
        return [(label, Sample.of_counts(counted)) for label, counted in by_group if counted.any()]
    size = shape[0] * n_kinds
    if size > MOST_CELLS:
        raise ValueError(
            f"there are {size:,} different reports (of all groups), but the covariance of weighted "
            f"shares supports at most {MOST_CELLS:,}: use a mechanism for fewer columns."
        )
    records = survey.read(reports.read)
    totals = SurveyTotals.of(records, symbols, size)
    assert totals.covariance is not None
    sums = totals.totals.reshape(shape).sum(axis=1).repeat(n_kinds)
    shares, group = totals.totals / sums, np.arange(size) // n_kinds
    slopes = (np.eye(size) - shares[:, None] * (group[:, None] == group)) / sums  # by totals
    design = slopes @ totals.covariance @ slopes.T
    everyone = Sample(shares, float(records.n_records), design)
    samples = []
    for k, label in enumerate(labels):
        own, n_reports = slice(k * n_kinds, (k + 1) * n_kinds), float((codes == k).sum())
        survey_weights = records.weights[codes == k] / records.weights.max()
        once, squared, cubed = (float((survey_weights**power).sum()) for power in (1, 2, 3))
        unseen_weight = cubed / squared * n_reports / once
        of_survey = design[own, own], None, (everyone, own)
        sample = Sample(shares[own], n_reports, *of_survey, unseen_weight)
        samples.append((label, sample))
    return samples


def _grouped(columns: Sequence[Any], n: int) -> tuple[Indices, list[tuple[Any, ...]]]:
    """Enumerate the combinations of categories of raw columns; missing ones are None."""
    if not columns:
        return np.zeros(n, dtype=np.intp), [()]
    rows = [
        tuple(None if is_missing(value) else value for value in row)
        for row in zip(*(column.tolist() for column in columns), strict=True)
    ]
    labels = sorted(set(rows), key=lambda row: [(value is None, str(value)) for value in row])
    number = {label: k for k, label in enumerate(labels)}
    return np.array([number[row] for row in rows], dtype=np.intp), labels


def summary_for(label: str, joint: JointDistribution, mechanism: Mechanism) -> PublicSummary:
    """Summarise a public table; reject it if its secrets or values differ from the mechanism's."""
    for name in ("secrets", "values"):
        if tuple(getattr(mechanism, name)) != tuple(getattr(joint, name)):
            raise ValueError(
                f"{label} must have the {name} of the mechanism in the same order. Make it with "
                "JointDistribution(counts, mechanism.secrets, mechanism.values)."
            )
    return summary_of(joint)
