"""The choice of ε by cross-validation, and of the number of reports, for a required precision."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.base import clone

from skrldp._params import check_choice, check_level, check_positive, is_finite, shown
from skrldp.estimation import FrequencyEstimator, expected_std_error
from skrldp.sanitizers.access import joint_of

__all__ = [
    "detectable_difference",
    "neg_std_error_scorer",
    "phase_sizes",
    "smallest_eps",
    "smallest_n",
]

# Candidate shares of people for the pilot and the middle phase: sixteen designs. Errors change by a
# few percent between neighbours; twice as many of both take four times as long.
_PILOTS, _MIDDLES = (0.02, 0.05, 0.1, 0.2), (0.0, 0.15, 0.3)

_SUMMARIES = ("worst", "rms")
_MOST_REPORTS = 2**53  # larger integers are not exact floats


@dataclass(frozen=True)
class _SmallestEps:
    """The `refit` callable, a class so that a search with it can be printed and pickled."""

    tolerance: float | str
    scoring: str | None
    param: str | None
    std_error: float | None = None

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        eps = _eps_of(cv_results["params"], self.param)
        mean, deviation = _scores(cv_results, self.scoring)
        known = np.isfinite(mean)
        if not known.any():
            raise ValueError(
                f"none of the {len(mean)} candidates has a score in every fold, so none can be "
                "chosen: read the warnings of the fits, or search with error_score='raise'."
            )
        best = int(np.where(known, mean, -np.inf).argmax())
        if self.std_error is None:
            slack = deviation[best] if self.tolerance == "std" else self.tolerance * abs(mean[best])
            threshold = mean[best] - slack
        else:
            threshold = _wanted(self.std_error, float(mean[best]))
        enough = np.flatnonzero(known & (mean >= threshold))
        smallest = enough[eps[enough] == eps[enough].min()]
        return int(smallest[mean[smallest].argmax()])

    def __repr__(self) -> str:
        shown: dict[str, Any] = {"tolerance": self.tolerance}
        if self.std_error is not None:
            shown = {"std_error": self.std_error}
        shown |= {
            name: value
            for name, value in (("scoring", self.scoring), ("param", self.param))
            if value is not None
        }
        return f"smallest_eps({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


def smallest_eps(
    tolerance: float | str = 0.05,
    *,
    scoring: str | None = None,
    param: str | None = None,
    std_error: float | None = None,
) -> Any:
    """Make a `refit` for ``GridSearchCV`` that selects the smallest ε of sufficient utility.

    By utility alone, a search always prefers the largest ε. This callable selects the candidate
    with the smallest ε among those whose mean score is within a tolerance of the best mean score
    and, among several with this ε, the one with the best score.

    Parameters
    ----------
    tolerance : float or "std", default=0.05
        Tolerance of the score. A number is a fraction of the best score's absolute value: with
        0.05, a score of 0.60 is as good as 0.63, and a distortion of 2.1 as good as 2.0. "std" is
        one standard deviation of the best candidate's scores over the folds.
    scoring : str, optional
        Name of the score to use, if the search has several.
    param : str, optional
        Name of the parameter ε, such as ``"priv__eps"``. None finds the one named ``eps`` or ending
        in ``__eps``.
    std_error : float, optional
        Required standard error, instead of the tolerance: the smallest ε with at most this mean
        error is selected. The score must be that of :func:`neg_std_error_scorer`.

    Returns
    -------
    callable
        Function from ``cv_results_`` to the index of the selected candidate.

    Raises
    ------
    ValueError
        If the tolerance or the error is invalid; by the search, if ε, the score or a candidate with
        a score cannot be found, or all candidates have larger errors.

    Notes
    -----
    **Search on public data only.** Scores and the choice depend on every record passed to the
    search, and this dependence is not private. The sanitizers' scores need no private records,
    because they are computed at the distribution of the held-out public records.

    A fold has fewer public records than the whole table, so its uncertainty set is larger and its
    utility smaller. A fit on folds without a rare value fails on the fold that contains it: pass
    `categories`, or columns whose dtype lists its levels (category, Enum). If U or S has several
    columns, a combination is missing more often than a value: ``categories="product"`` allows all
    combinations. Shuffle a sorted table, as by ``cv=KFold(5, shuffle=True)``.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skrldp import SRRSanitizer
    >>> from skrldp.model_selection import smallest_eps
    >>> X = [[s, u] for s in range(2) for u in range(3)] * 40     # public records
    >>> grid = {"eps": [0.5, 1.0, 2.0, 4.0, 8.0, 12.0]}
    >>> search = GridSearchCV(SRRSanitizer(sensitive=0), grid, refit=smallest_eps(tolerance=0.05))
    >>> search.fit(X).best_params_
    {'eps': 8.0}

    The smallest ε for which 10,000 reports estimate each value's share with a standard error of at
    most 0.01:

    >>> from skrldp.model_selection import neg_std_error_scorer
    >>> scorer = neg_std_error_scorer(part="nonsensitive", n=10_000)
    >>> enough = smallest_eps(std_error=0.01)
    >>> search = GridSearchCV(SRRSanitizer(sensitive=0), grid, scoring=scorer, refit=enough)
    >>> search.fit(X).best_params_
    {'eps': 2.0}
    """
    if isinstance(tolerance, Mapping):  # cv_results_
        raise ValueError(
            "write refit=smallest_eps(), with parentheses, because the call returns the callable."
        )
    if tolerance != "std" and not (is_finite(tolerance) and tolerance >= 0):
        raise ValueError(
            f"tolerance={tolerance!r} must be a share of the best score, a number >= 0, or 'std'."
        )
    for name, value in (("scoring", scoring), ("param", param)):
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{name}={value!r} must be a name or None.")
    if std_error is not None:
        check_positive("std_error", std_error)
    return _SmallestEps(tolerance, scoring, param, std_error)


def _wanted(std_error: float, best: float) -> float:
    """Return the smallest score that meets a required error, or raise an error."""
    if best > 0.0:
        raise ValueError(
            f"the best score is {best:.4g}, which is not a negative standard error: search with "
            "scoring=neg_std_error_scorer(...), or name that score with smallest_eps(scoring=...)."
        )
    if -best > std_error:
        raise ValueError(
            f"no candidate has an error of at most {std_error:g}; the smallest is "
            f"{-best:.4g}. Plan more reports (the error falls like 1/√n), allow a larger "
            "eps, or try other sanitizers."
        )
    return -std_error


def _eps_of(candidates: list[dict[str, Any]], param: str | None) -> NDArray[np.float64]:
    """ε of each candidate."""
    if param is None:
        names = {
            name
            for candidate in candidates
            for name in candidate
            if name.rpartition("__")[2] == "eps"
        }
        if len(names) > 1:
            raise ValueError(
                "several parameters of the search may be eps: "
                f"{', '.join(sorted(names))}. Name one, as in "
                "smallest_eps(param='priv__eps')."
            )
        if not names:
            searched = ", ".join(sorted({name for candidate in candidates for name in candidate}))
            raise ValueError(
                "the search has no parameter named eps or ending in __eps, only: "
                f"{searched}. Put eps in the grid, or name it with smallest_eps(param=...)."
            )
        (param,) = names
    for index, candidate in enumerate(candidates):
        if param not in candidate:
            raise ValueError(
                f"candidate {index} ({candidate}) does not set {param}: include it in "
                "every grid of the search."
            )
        if not is_finite(candidate[param]):
            raise ValueError(
                f"candidate {index} has {param}={candidate[param]!r}, which is not a finite number."
            )
    return np.array([candidate[param] for candidate in candidates], dtype=float)


def _scores(
    cv_results: Mapping[str, Any], scoring: str | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of each candidate's score."""
    prefix = "mean_test_"
    names = [name.removeprefix(prefix) for name in cv_results if name.startswith(prefix)]
    if scoring is None and len(names) > 1:
        raise ValueError(
            f"the search has several scores: {', '.join(names)}. Name one, as in "
            f"smallest_eps(scoring={names[0]!r})."
        )
    name = names[0] if scoring is None else scoring
    if name not in names:
        raise ValueError(f"the search has no score {name!r}, only: {', '.join(names)}.")
    return tuple(  # type: ignore[return-value]
        np.asarray(cv_results[f"{kind}_test_{name}"], dtype=float) for kind in ("mean", "std")
    )


# -- precision ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _NegStdError:
    """The scorer, a class so that a search with it can be printed and pickled."""

    columns: Any
    part: str
    by: Any
    n: float
    summary: str

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> Any:
        try:
            distribution = joint_of(estimator, X)
        except TypeError as error:  # the sanitizer is not the last step
            # Returned, not raised: a search raises an error for a score that is not a number, but
            # converts exceptions to NaN.
            return error
        try:
            errors = expected_std_error(
                estimator,
                self.n,
                self.columns,
                part=self.part,
                by=self.by,
                distribution=distribution,
            )
        except ValueError as error:  # the columns, part or groups are invalid, not the records
            return error
        summary = errors.max() if self.summary == "worst" else np.sqrt(np.mean(errors**2))
        return -float(summary) if np.isfinite(summary) else math.nan

    def __repr__(self) -> str:
        text = f"part={self.part!r}" if self.columns is None else f"columns={self.columns!r}"
        text += "" if self.by is None else f", by={self.by!r}"
        return f"neg_std_error_scorer({text}, n={self.n!r}, summary={self.summary!r})"


def neg_std_error_scorer(
    columns: Any = None,
    *,
    part: str = "all",
    by: Any = None,
    n: float = 10_000,
    summary: str = "worst",
) -> Any:
    """Make a scorer for ``GridSearchCV``: minus the expected standard error of estimates.

    A sanitizer's own score is the information in reports about records, or their distance. Neither
    measures how precisely shares are estimated from many reports, for which a sanitizer with more
    information may be worse. This score is the error of :func:`~skrldp.expected_std_error` at the
    distribution of the held-out records.

    Parameters
    ----------
    columns : name, position, list of them, or None
        Columns whose shares are to be estimated; None for a part of the record.
    part : {"all", "sensitive", "nonsensitive"}, default="all"
        The part: X, S or U.
    by : name, position or list of them, optional
        Columns that define groups of records, for shares within each group.
    n : int, default=10_000
        Expected number of reports.
    summary : {"worst", "rms"}, default="worst"
        The largest of the shares' errors, or their root mean square.

    Returns
    -------
    callable
        ``scorer(estimator, X, y=None)`` for fitted sanitizers and pipelines that end in one. NaN if
        the reports do not determine all of these shares; a search warns about these candidates and
        ranks them last. For invalid columns, the exception itself instead of a number: a search
        would convert a raised exception to NaN and accept any candidate, but raises an error for
        this value.

    Raises
    ------
    ValueError
        If a parameter is invalid; by the search, whatever its `error_score`, for the errors of
        :func:`~skrldp.expected_std_error`, such as missing columns.

    Notes
    -----
    **Search on public data only**, as with :func:`smallest_eps`.

    Examples
    --------
    Which sanitizer is most informative about the shares of U?

    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import Pipeline
    >>> from skrldp import GRRSanitizer, IRSanitizer, SRRSanitizer
    >>> from skrldp.model_selection import neg_std_error_scorer
    >>> X = [[s, u] for s in range(2) for u in range(3)] * 400     # public records
    >>> kinds = GRRSanitizer, SRRSanitizer, IRSanitizer
    >>> candidates = {"report": [kind(sensitive=0) for kind in kinds]}
    >>> scorer = neg_std_error_scorer(part="nonsensitive")
    >>> search = GridSearchCV(Pipeline([("report", None)]), candidates, scoring=scorer).fit(X)
    >>> search.best_params_, (-search.cv_results_["mean_test_score"]).round(3)
    ({'report': IRSanitizer(sensitive=0)}, array([0.021, 0.013, 0.005]))
    """
    check_choice("summary", summary, _SUMMARIES)
    check_choice("part", part, ("all", "sensitive", "nonsensitive"))
    if not (is_finite(n) and n >= 1 and n == int(n)):
        raise ValueError(f"n={shown(n)} must be an integer of at least 1.")
    return _NegStdError(columns, part, by, n, summary)


def smallest_n(
    mechanism: Any,
    std_error: float | None = None,
    columns: Any = None,
    *,
    difference: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
    waves: int = 1,
    part: str = "all",
    by: Any = None,
    distribution: Any = None,
) -> int:
    """Return the smallest number of reports for a standard error of each share, or a difference.

    Parameters
    ----------
    mechanism : Mechanism, str, fitted sanitizer or Pipeline
        The source of the reports.
    std_error : float, optional
        Largest acceptable standard error. Pass either this or `difference`.
    difference : float, optional
        Smallest difference of a share to detect, such as 0.03 to distinguish 30 % from 33 %: the
        interval then excludes the other value with probability `power`.
    power, level, waves
        As for :func:`detectable_difference`.
    columns, part, by, distribution
        The shares, and the distribution, as for :func:`~skrldp.expected_std_error`.

    Returns
    -------
    int

    Raises
    ------
    TypeError
        If `mechanism` is of a different type.
    ValueError
        If the reports do not determine some of the shares, so that no number is sufficient; if
        `std_error` or `difference` is not positive, or not exactly one is given; as by
        :func:`detectable_difference`.

    Examples
    --------
    >>> from skrldp import SRRSanitizer
    >>> from skrldp.model_selection import smallest_n
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[70, 100, 260, 570])
    >>> smallest_n(sanitizer, 0.01, part="sensitive")
    53731
    >>> smallest_n(sanitizer, part="sensitive", difference=0.03)
    46858
    """
    if (std_error is None) == (difference is None):
        raise ValueError("Expected either std_error= or difference=, such as difference=0.03.")
    name, wanted = ("std_error", std_error) if difference is None else ("difference", difference)
    check_positive(name, wanted)
    largest = float(wanted)  # type: ignore[arg-type]  # checked
    if difference is not None:
        largest /= _errors_apart(power, level, waves)
    errors = expected_std_error(
        mechanism,
        1,
        columns,
        part=part,
        by=by,
        distribution=distribution,
    )
    unknown = int(np.isinf(errors).sum())
    if unknown:
        raise ValueError(
            f"{unknown:,} of the {len(errors):,} shares are not identifiable from reports of this "
            "sanitizer, however many there are. Name their column in targets= of AOptimalSanitizer."
        )
    ratio = float(errors.max()) / largest
    needed = ratio * ratio  # infinite instead of an OverflowError
    if needed > _MOST_REPORTS:
        raise ValueError(
            f"{name}={wanted!r} would need more than 2**53 reports. Pass a larger value."
        )
    return max(1, math.ceil(needed))


def detectable_difference(
    mechanism: Any,
    n: float,
    columns: Any = None,
    *,
    power: float = 0.8,
    level: float = 0.95,
    waves: int = 1,
    part: str = "all",
    by: Any = None,
    distribution: Any = None,
) -> NDArray[np.float64]:
    """Return the smallest difference of each share that this many reports are likely to detect.

    Parameters
    ----------
    mechanism : Mechanism, str, fitted sanitizer or Pipeline
        The source of the reports.
    n : int
        Number of reports, in each wave.
    columns, part, by, distribution
        The shares, and the distribution, as for :func:`~skrldp.expected_std_error`.
    power : float, default=0.8
        Probability of detecting a difference of this size.
    level : float, default=0.95
        Confidence level of the interval that must exclude the other value.
    waves : {1, 2}, default=1
        1 to compare a share with a known value, 2 to compare two waves of `n` different people.

    Returns
    -------
    array of shape (k,)
        In the order of :meth:`~skrldp.FrequencyEstimator.marginal`. Infinite if the reports do not
        determine the share.

    Raises
    ------
    TypeError, ValueError
        If the power is not between 0.5 and 1, the level not between 0 and 1, or `waves` not 1 or 2;
        as by :func:`~skrldp.expected_std_error`.

    Notes
    -----
    The difference is the sum of two normal quantiles (2.80 by default) times the standard error.
    That error is the one at `distribution`. If a share is nearly 0, pass the expected distribution
    instead.

    Examples
    --------
    >>> from skrldp import SRRSanitizer
    >>> from skrldp.model_selection import detectable_difference
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[70, 100, 260, 570])
    >>> detectable_difference(sanitizer, 10_000, 1).round(3)
    array([0.03, 0.03])
    """
    errors = expected_std_error(mechanism, n, columns, part=part, by=by, distribution=distribution)
    return _errors_apart(power, level, waves) * errors


def _errors_apart(power: Any, level: Any, waves: Any) -> float:
    """Return the detectable difference in standard errors of one wave."""
    if not (is_finite(power) and 0.5 <= power < 1.0):
        raise ValueError(f"power={shown(power)} must be a number from 0.5 to below 1, such as 0.8.")
    if waves not in (1, 2):
        raise ValueError(f"waves={shown(waves)} must be 1 (a known value) or 2 (a second wave).")
    return math.sqrt(waves) * float(ndtri(0.5 + check_level(level) / 2.0) + ndtri(power))


def phase_sizes(sanitizer: Any, n: int) -> tuple[int, int, int]:
    """Find the number of people to ask in each of three phases without a public table.

    The first phase protects whole records, the second estimates all cells, and the third uses the
    given sanitizer. Candidate sizes are compared by designs for the reports expected if all cells
    are equally likely; those with the smallest sum of variances in the third phase are returned.

    Parameters
    ----------
    sanitizer : AOptimalSanitizer
        The design of the third phase, with `categories`, not fitted. About twenty such designs are
        computed; to compare sizes, a coarse `tol` such as 0.05 suffices.
    n : int
        Number of people in all phases together.

    Returns
    -------
    tuple of int
        Numbers of people in the first, second (0 to omit it) and third phase.

    Raises
    ------
    ValueError
        If the number of people is below 100, or `categories` does not list all values.

    Examples
    --------
    >>> from skrldp import AOptimalSanitizer
    >>> from skrldp.model_selection import phase_sizes
    >>> answers = {"ill": ["no", "yes"], "old": ["no", "yes"]}
    >>> design = AOptimalSanitizer(sensitive="ill", categories=answers, tol=0.05)
    >>> phase_sizes(design, 20_000)
    (2000, 0, 18000)
    """
    if not (is_finite(n) and n == int(n) and n >= 100):
        raise ValueError(f"n={shown(n)} must be an integer of at least 100 people.")

    def expected(design: Any, people: int) -> Any:
        symbols = design.mechanism_.matrix.mean(axis=1)
        counts = np.rint(people * symbols)
        estimator = FrequencyEstimator(design, encode="symbol")
        return estimator.fit(range(len(counts)), sample_weight=counts)

    options = {"sensitive": slice(None), "targets": "all", "uncertainty": None}
    pilot = clone(sanitizer).set_params(**options).fit()
    sizes: list[tuple[float, tuple[int, int, int]]] = []
    for pilot_share in _PILOTS:
        first = round(pilot_share * n)
        reports = [expected(pilot, first)]
        middle = clone(sanitizer).set_params(targets="all").fit(reports)
        for share in _MIDDLES:
            second = round(share * n)
            following = [expected(middle, second)] if second else []
            final = clone(sanitizer).fit([*reports, *following])
            rest = int(n) - first - second
            sizes.append((final.variances_.sum() / rest, (first, second, rest)))
    return min(sizes)[1]
