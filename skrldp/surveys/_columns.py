"""Columns of a survey's design, read and checked."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats, Indices
from skrldp.alphabet import is_missing, numbered
from skrldp.exceptions import PrivacyLeakWarning
from skrldp.surveys._records import WeightSums

__all__ = [
    "check_sums",
    "codes_of",
    "of_strata",
    "warn_of_other_sizes",
    "weights_of",
    "within_strata",
]

# Factor between a stratum's stated part of the population and its part of the weights from which
# one of them seems wrong. Sums of the weights of few clusters may be off by half.
_APART = 2.0

# Squares of far smaller weights are 0, and of their inverses infinite, and so would be a set that
# rests on them. Up to 1e-150 would do; no survey has such weights.
_LEAST_WEIGHT = 1e-50


def weights_of(name: Any, column: Callable[[Any], Any], *, positive: bool) -> np.ndarray:
    """Return a column of weights; replicate weights may be 0."""
    values = _numbers("weights", name, column)
    missing = np.flatnonzero(np.isnan(values))
    if missing.size:
        raise ValueError(
            f"column {name!r} lacks the weight of {len(missing):,} of {len(values):,} records: "
            f"{numbered(missing)}. Records without a weight stand for nobody: drop them."
        )
    wrong = ~np.isfinite(values) | (values < 0) | (positive & (values == 0))
    if wrong.any():
        what = "positive numbers" if positive else "numbers of at least 0"
        raise _wrong_weights(name, what, _how_many(wrong))
    given = values[values > 0]
    if given.size:
        _check_range(name, given.min(), given.max())
    return values


def _numbers(what: str, name: Any, column: Callable[[Any], Any]) -> Floats:
    found = np.asarray(column(name))
    if found.dtype == object:
        found = np.array([None if is_missing(value) else value for value in found], dtype=object)
    try:
        return found.astype(float)
    except (TypeError, ValueError):
        raise ValueError(f"column {name!r} of {what} must hold numbers.") from None


def _how_many(wrong: NDArray[np.bool_]) -> str:
    return f"{int(wrong.sum()):,} of {len(wrong):,} are not: {numbered(np.flatnonzero(wrong))}"


def check_sums(name: Any, sums: WeightSums) -> None:
    """Check weights by their sums, as single ones are."""
    lacking = int(sums.counts.sum() - sums.present.sum())
    if lacking or not np.all(np.isfinite(sums.weights)) or not np.all(sums.least > 0):
        found = f"{lacking:,} are missing" if lacking else "some are not"
        raise _wrong_weights(name, "positive numbers", found)
    _check_range(name, sums.least.min(), sums.most.max())


def _wrong_weights(name: Any, what: str, found: str) -> ValueError:
    return ValueError(
        f"column {name!r} of weights must hold {what}, but {found}. Records of weight 0, or "
        "without a weight, stand for nobody: drop them."
    )


def _check_range(name: Any, least: float, most: float) -> None:
    if least < _LEAST_WEIGHT or most > 1.0 / _LEAST_WEIGHT:
        raise ValueError(
            f"column {name!r} of weights has numbers below {_LEAST_WEIGHT:g} or above "
            f"{1.0 / _LEAST_WEIGHT:g}, whose squares are not exact: give weights in other units."
        )


def of_strata(what: str, name: Any, column: Callable[[Any], Any], strata: Indices) -> Floats:
    """Return what a column says of each stratum: positive numbers, shape (strata,)."""
    values = _numbers(what, name, column)
    wrong = ~(np.isfinite(values) & (values > 0))
    if wrong.any():
        raise ValueError(
            f"column {name!r} of {what} must hold positive numbers, but {_how_many(wrong)}."
        )
    found = np.zeros(int(strata.max()) + 1)
    np.maximum.at(found, strata, values)
    differs = values < found[strata] * (1.0 - 1e-9)  # more than by rounding
    if differs.any():
        raise ValueError(
            f"column {name!r} of {what} must hold one number for each stratum, and in "
            f"{len(np.unique(strata[differs])):,} of {len(found):,} it differs between records."
        )
    return found


def warn_of_other_sizes(sizes: Floats, weights: Any) -> None:
    """Warn where stated sizes of strata and the sums of their weights are far apart."""
    stated, summed = sizes / sizes.sum(), weights / weights.sum()
    worst = int(np.abs(np.log(summed / stated)).argmax())
    if not 1.0 / _APART < summed[worst] / stated[worst] < _APART:
        warnings.warn(
            f"stratum_sizes say that a stratum has {stated[worst]:.1%} of the population, and its "
            f"records have {summed[worst]:.1%} of the weights. If the sizes are not those of the "
            "population, as where they count records, the confidence set is around another one.",
            PrivacyLeakWarning,
            stacklevel=2,
        )


def within_strata(strata: Indices, clusters: Indices, *, nest: bool) -> Indices:
    """Return codes of clusters, each in one stratum."""
    both = strata.astype(np.int64) * (int(clusters.max()) + 1) + clusters
    found, codes = np.unique(both, return_inverse=True)
    spanning = len(found) - len(np.unique(clusters))
    if spanning and not nest:
        raise ValueError(
            f"{spanning:,} codes of clusters are in more than one stratum. If codes begin anew in "
            "each stratum, say nest=True; if not, a cluster that spans strata cannot have been "
            "drawn within one."
        )
    return codes


def codes_of(what: str, names: Any, column: Callable[[Any], Any]) -> Indices:
    """Write the values of a column, or the combinations of several, as codes from 0."""
    if not isinstance(names, tuple):
        return _codes_of_one(what, names, column)
    found = np.stack([_codes_of_one(what, name, column) for name in names], axis=1)
    return np.unique(found, axis=0, return_inverse=True)[1].reshape(-1)


def _codes_of_one(what: str, name: Any, column: Callable[[Any], Any]) -> Indices:
    values = np.asarray(column(name), dtype=object)
    missing = np.flatnonzero([is_missing(value) for value in values])
    if missing.size:
        raise ValueError(
            f"column {name!r} lacks the {what} of {len(missing):,} of {len(values):,} records: "
            f"{numbered(missing)}."
        )
    place: dict[Any, int] = {}
    codes = np.array([place.setdefault(value, len(place)) for value in values.tolist()])
    if len({isinstance(value, str) for value in place}) > 1:  # 7 and "7" would be two
        raise ValueError(
            f"column {name!r} names some {what} by a text and some by a number, as pandas.read_csv "
            "does in large files, so that one may pass for two: give the column one type, such as "
            f"by astype(str), or read it with dtype={{{name!r}: str}}."
        )
    return codes.astype(np.intp)
