"""Numbers and dates as categories: bins that cut them, and knots to which they are rounded."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp.alphabet.values import in_other_type, is_missing, plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Function that draws 32 bits for each record of a rounded column, given its name, its knots and
# their number.
Draws = Callable[[Any, "Knots", int], "NDArray[np.uint32]"]

OUTSIDE = ("error", "clip")

_EXACT = 2**53  # integers up to here are exact floats
_MOST_BINS = 100  # maximum number of quantile bins, each of which needs many records
_SCALE = 2.0**32  # denominator of the thresholds with which 32 random bits are compared
_LARGEST = float(np.finfo(float).max)
_BEYOND = 2**62  # microseconds, after all dates
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Bins:
    """Intervals into which a column of numbers or dates is binned; passed in ``categories=``.

    The intervals are the column's categories, named as in pandas: ``"[18, 65)"``. Tables and
    clients still contain numbers. Bins include their lower edge only.

    Parameters
    ----------
    edges : sequence of k + 1 numbers, dates or times, or int
        In increasing order. ``-inf`` as the first or ``inf`` as the last edge leaves that end open,
        also for dates. The edges must not be chosen by looking at the counted records. An integer
        is a number of bins between rounded quantiles of the public column, with open ends; claims
        then say that beta is simulated, not proved.
    outside : {"error", "clip"}, default="error"
        Whether a number outside the edges is an error, or is counted in the nearest bin. Missing
        and infinite numbers are always an error.

    Attributes
    ----------
    labels : tuple of k str
        Names of the bins.

    Raises
    ------
    ValueError
        If there are fewer than three edges, they do not increase, or they are not of one kind.

    See Also
    --------
    Knots : For unbiased means.

    Examples
    --------
    >>> from skrldp import Bins
    >>> Bins([17, 30, 45, 91]).labels
    ('[17, 30)', '[30, 45)', '[45, 91)')
    >>> from datetime import date
    >>> Bins([date(2020, 1, 1), date(2021, 1, 1), float("inf")]).labels
    ('[2020-01-01, 2021-01-01)', '[2021-01-01, inf)')
    """

    edges: Any
    outside: str = field(default="error", kw_only=True)
    labels: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the edges, and name the bins."""
        _check_outside(self.outside)
        if self.is_number_of_bins:
            if not 2 <= self.n_bins <= _MOST_BINS:
                raise ValueError(
                    f"Bins({self.edges}): pass a number of bins from 2 to {_MOST_BINS}, or edges."
                )
            object.__setattr__(self, "labels", ())
            return
        edges = _written_out(self.edges, "edges", "[0, 18, 65, 120]")
        kinds = {_kind_of(edge) for edge in edges if not is_infinite(edge)}
        inner = edges[int(is_infinite(edges[0])) : len(edges) - int(is_infinite(edges[-1]))]
        scale = [_position(edge, *kinds) for edge in edges] if len(kinds) == 1 else []
        if len(scale) < 3 or not _increase(scale) or any(map(is_infinite, inner)):
            raise ValueError(
                "edges must be at least three increasing numbers such as [0, 18, 65, 120], of at "
                "most 2^53 in absolute value, or dates of the same type. Use -inf and inf for open "
                "outer bins."
            )
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "labels", tuple(_label(*two) for two in pairwise(edges)))

    @property
    def is_number_of_bins(self) -> bool:
        """Whether `fit` reads the edges from the public column."""
        return isinstance(self.edges, Integral) and not isinstance(self.edges, bool)

    @property
    def n_bins(self) -> int:
        """Number of bins; the maximum if `fit` reads the edges."""
        return int(self.edges) if self.is_number_of_bins else len(self.labels)

    @property
    def categories(self) -> tuple[str, ...]:
        """The column's categories: the labels."""
        return self.labels

    @property
    def range(self) -> str:
        """The interval of all values that have a bin."""
        return f"{self.kind}s in {_label(self.edges[0], self.edges[-1])}"

    @property
    def in_words(self) -> str:
        """How numbers are converted to categories."""
        return f"cut into {', '.join(self.labels)}"

    @property
    def kind(self) -> str:
        """The kind of values: "number", "date" without a time zone, or "moment" with one."""
        return next(_kind_of(edge) for edge in self.edges if not is_infinite(edge))

    def codes(self, values: Sequence[Any] | NDArray[Any]) -> NDArray[np.int64]:
        """Find the bin of each value, (n,); -1 for a value without one."""
        measured, is_valid = _positions(values, self.kind)
        edges = np.array([_position(edge, self.kind) for edge in self.edges], dtype=measured.dtype)
        codes: NDArray[np.int64] = np.searchsorted(edges, measured, side="right") - 1
        last = len(self.labels)
        if self.outside == "clip":
            np.clip(codes, 0, last - 1, out=codes)
        codes[~is_valid | (codes == last)] = -1
        return codes

    @property
    def inside(self) -> tuple[Any, ...]:
        """A value in each bin: its lower edge or, if infinite, a value below the upper one."""
        first, second = self.edges[:2]
        if is_infinite(first):
            is_number = self.kind == "number"
            first = min(-1.0, 2.0 * second - 1.0) if is_number else second - timedelta(days=1)
        return (first, *self.edges[1:-1])


@dataclass(frozen=True)
class Knots:
    """Points to which the numbers of a column are randomly rounded; passed in ``categories=``.

    A number between two knots is rounded to the upper one with probability proportional to its
    distance from the lower one, so that its expectation is the number itself. Therefore means, also
    by group, are exactly unbiased for every population (Theorem 41). The shares of knots are not
    shares of bins.

    Parameters
    ----------
    points : sequence of k numbers
        In increasing order, at least two. The numbers of the table lie between the first and last.
    outside : {"error", "clip"}, default="error"
        Whether a number outside is an error, or is rounded to the nearest knot, which biases means.
        Missing and infinite numbers are always an error.

    Raises
    ------
    ValueError
        If there are fewer than two points, they do not increase, or are not finite numbers.

    See Also
    --------
    Bins : For shares and quantiles.

    Notes
    -----
    A secret cannot have knots if there are columns that are not secret, and known columns cannot
    have knots, because the guarantee would only be about the rounded number.

    Examples
    --------
    >>> from skrldp import Knots
    >>> Knots([0, 20, 30, 40, 50, 60, 99]).points
    (0, 20, 30, 40, 50, 60, 99)
    """

    points: Sequence[Any]
    outside: str = field(default="error", kw_only=True)

    def __post_init__(self) -> None:
        """Check the points."""
        _check_outside(self.outside)
        points = _written_out(self.points, "points", "[0, 15, 30, 60, 99]")
        if len(points) < 2 or {_kind_of(point) for point in points} != {"number"}:
            raise ValueError(
                "points must be at least two increasing numbers, because dates cannot be rounded."
            )
        if any(map(is_infinite, points)) or not _increase([float(point) for point in points]):
            raise ValueError(
                "points must be increasing finite numbers of at most 2^53 in absolute value, such "
                "as [0, 15, 30, 60, 99]."
            )
        object.__setattr__(self, "points", points)

    @property
    def categories(self) -> tuple[int | float, ...]:
        """The column's categories: the points."""
        return tuple(self.points)

    @property
    def range(self) -> str:
        """The interval of all numbers that can be rounded."""
        return f"numbers in [{self.points[0]}, {self.points[-1]}]"

    @property
    def in_words(self) -> str:
        """How numbers are converted to categories."""
        return f"rounded at random to {', '.join(map(str, self.points))}"

    def thresholds(
        self, values: Sequence[Any] | NDArray[Any]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Find the knot below each value, and the number of 2**32 draws that select the next one.

        Shapes: `values` (n,); returns (n,), -1 for a value that cannot be rounded, and (n,).
        """
        numbers, is_valid = _positions(values, "number")
        points = np.array(self.points, dtype=float)
        inside = np.clip(numbers, points[0], points[-1])
        if self.outside == "error":
            is_valid = is_valid & (inside == numbers)
        lower = np.searchsorted(points, inside, side="right") - 1
        np.clip(lower, 0, len(points) - 2, out=lower)
        up = np.floor((inside - points[lower]) / (points[lower + 1] - points[lower]) * _SCALE)
        lower[~is_valid] = -1
        return lower, np.where(is_valid, up, 0.0).astype(np.uint64)

    def rounding_variance(self, numbers: NDArray[Any]) -> NDArray[np.float64]:
        """Variance that rounding adds to each number within the knots, (n,)."""
        lower, up = self.thresholds(numbers)
        share, gap = up / _SCALE, np.diff(np.array(self.points, dtype=float))[lower]
        variance: NDArray[np.float64] = share * (1.0 - share) * gap**2
        return variance


Numbers = Bins | Knots


def _check_outside(outside: Any) -> None:
    if outside not in OUTSIDE:
        raise ValueError(f"outside={outside!r} must be 'error' or 'clip'.")


def _written_out(values: Any, label: str, example: str) -> tuple[Any, ...]:
    """List edges or knots as Python scalars; raise a ValueError for anything else."""
    wrong = f"{label} must be a list of numbers or dates, such as {example}, got {values!r}."
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ValueError(wrong)
    try:
        scalars = tuple(_scalar(value) for value in values)
    except ValueError:
        raise ValueError(wrong) from None
    if None in scalars or not scalars:
        raise ValueError(wrong)
    return scalars


def _scalar(value: Any) -> Any:
    """Convert integer-valued floats to int and midnights to dates; None for anything else."""
    if isinstance(value, bool | np.bool_) or is_missing(value):
        return None
    is_number = isinstance(value, Real | Decimal)
    if is_number and abs(value) <= _EXACT:
        number = float(value)
        return int(number) if number.is_integer() else number
    if is_number:
        return value if is_infinite(value) else None
    value = plain(value)
    if not isinstance(value, date) or getattr(value, "nanosecond", 0) != 0:
        return None
    return in_other_type(value) if isinstance(value, datetime) else value


def is_infinite(value: Any) -> bool:
    """Whether an edge leaves its bin open."""
    return isinstance(value, float) and math.isinf(value)


def _kind_of(value: Any) -> str:
    """Name the kind of a scalar: a date with a time zone is a moment; "" if unsuitable."""
    if isinstance(value, Real | Decimal):
        return "number"
    if not isinstance(value, date):
        return ""
    return "date" if getattr(value, "tzinfo", None) is None else "moment"


def _position(value: Any, kind: str) -> float | int:
    """Place a value on the scale of its kind: a float, or microseconds since 1970."""
    if kind == "number":
        return float(value)
    if is_infinite(value):
        return _BEYOND if value > 0 else -_BEYOND
    if not isinstance(value, datetime):
        value = in_other_type(value)
    return ((value if value.tzinfo else value.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND


def _measured(value: Any, kind: str) -> float | int | None:
    """Place a value of a table on a scale; None if it is missing, infinite or unsuitable."""
    try:
        value = plain(value)
        return _position(value, kind) if _kind_of(value) == kind else None
    except OverflowError:  # an integer above all floats
        return _LARGEST if value > 0 else -_LARGEST
    except (ValueError, ArithmeticError, ImportError):  # infinite, or out of a library's range
        return None


def _positions(
    values: Sequence[Any] | NDArray[Any], kind: str
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Place values on a scale, (n,), and return which are on it, (n,)."""
    dtype: Any = np.float64 if kind == "number" else np.int64
    if kind == "number" and isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        numbers = values.astype(dtype)
        is_valid = np.isfinite(numbers)
        return np.where(is_valid, numbers, 0.0), is_valid
    measured = [_measured(value, kind) for value in values]
    is_valid = np.array([position is not None for position in measured], dtype=bool)
    return np.array([position or 0 for position in measured], dtype=dtype), is_valid


def _increase(positions: Sequence[Any]) -> bool:
    return all(low < high for low, high in pairwise(positions))


def _label(low: Any, high: Any) -> str:
    """Write an interval that includes its lower end only, as pandas does."""
    return f"[{low}, {high})"
