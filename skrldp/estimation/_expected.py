"""Standard errors before anybody is asked: what the estimator will state for n reports."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from skrldp._params import check_choice, check_flag, check_positive
from skrldp._typing import Floats
from skrldp.alphabet import CellGroups, group_cells, group_records, numbers_of_cells
from skrldp.estimation._checks import METHODS
from skrldp.estimation._fit import Fit, rest_on_enough
from skrldp.estimation._plan import checked_n, distribution_of, expected_fit
from skrldp.estimation._threads import one_thread
from skrldp.estimation.figures import mean
from skrldp.estimation.reports import read_mechanism
from skrldp.estimation.wide import OfBlock, block_with, expected_pool, names_in
from skrldp.mechanism import Manifest, Mechanism
from skrldp.sanitizers import as_block_sanitizer
from skrldp.targets import functions_of

__all__ = [
    "expected_std_error",
    "expected_std_error_of_mean",
    "expected_std_errors",
    "expected_std_errors_of_targets",
]


def expected_std_error(
    mechanism: Any,
    n: float,
    columns: Any = None,
    *,
    part: str = "all",
    by: Any = None,
    distribution: Any = None,
    method: str = "ml",
    asymptotic: bool = False,
    design_effect: float = 1.0,
) -> Floats:
    """Return the standard errors that estimates will have, before anybody is asked.

    They are what :meth:`~skrldp.FrequencyEstimator.marginal`, with this mechanism, method and
    columns, will state for n reports about different persons, if the records follow a distribution.

    Parameters
    ----------
    mechanism : Mechanism, str, fitted sanitizer or Pipeline
        What will make the reports, as for :class:`~skrldp.FrequencyEstimator`. Of a
        :class:`~skrldp.BlockSanitizer`, the errors are those of :class:`~skrldp.BlockEstimator`:
        columns must stand together in a block, `n` counts the reports of all blocks, and `method`
        has no effect.
    n : int
        Number of reports.
    columns : name, position, list of them, or None
        Columns of the table; None for a part of the record.
    part : {"all", "sensitive", "nonsensitive"}, default="all"
        The part: X, S or U.
    by : name, position or list of them, optional
        Columns that make groups of records: the errors of the shares within each group.
    distribution : JointDistribution or array of shape (a1, a2), optional
        What the records follow: secrets in rows, values of U in columns. None takes the public
        distribution of a fitted sanitizer; a Mechanism and its JSON have none. For blocks, a list
        of a JointDistribution for each.
    method : {"ml", "least-squares"}, default="ml"
        How the reports will be evaluated.
    asymptotic : bool, default=False
        Whether to give the errors of very many reports, scaled to n, where n reports are too few
        for an error. They compare mechanisms and numbers of reports; with n reports, maximum
        likelihood spreads less there.
    design_effect : float, default=1.0
        How many times greater the variance of the people's true shares is than that of as many
        people who are asked independently: above 1 where households or places are drawn and several
        people asked in each. The variance that the mechanism adds stays the same. Not for blocks.

    Returns
    -------
    array of shape (k,)
        In the order of :meth:`~skrldp.FrequencyEstimator.marginal`, group by group: for a part,
        that of the mechanism's ``cells``, ``secrets`` or ``values``. Infinite where the reports do
        not determine the category's probability, however many there are. NaN where n reports are
        too few for an error, and the estimator will state none; never so if `asymptotic`.

    Raises
    ------
    TypeError
        If `mechanism` is none of these.
    ValueError
        If there are no such columns, n is no whole number of at least 1, or the distribution is
        missing or not one of the mechanism's cells.

    Notes
    -----
    With q_y the rows of the mechanism's matrix Q and π the distribution, M = Σ_y q_y q_yᵀ / (q_y·π)
    is the Fisher information of a report up to a constant direction. For maximum likelihood, the
    variance of an estimate of c·π is (cᵀ M⁺ c − (c·π)²) / n, for least squares that of its fixed
    weights at Qπ. Both fall with √n exactly. An error is stated where it is the spread of the
    estimates to within a tenth: by maximum likelihood where one record more of each cell would
    leave nine tenths of it or more, so that zeros do not limit the estimate; by least squares
    where the variance rests on the equivalent of five reports or more.

    The reports are taken as symbols. If they are written as cells of which several symbols look
    alike, something is lost, and the errors are larger.

    Examples
    --------
    >>> from skrldp import SRRSanitizer, expected_std_error
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[70, 100, 260, 570])
    >>> expected_std_error(sanitizer, 10_000, part="sensitive").round(4)
    array([0.0232, 0.0232])
    >>> expected_std_error(sanitizer.mechanism_, 40_000, part="sensitive",
    ...                    distribution=sanitizer.joint_).round(4)
    array([0.0116, 0.0116])
    """
    planned = _planned(mechanism, n, distribution, method, asymptotic)
    effect = _Clusters(design_effect)
    if by is None:
        errors = _errors_of(planned, columns, part, asymptotic)
        if effect.value == 1.0:
            return errors
        own, found = planned(part, columns)
        one, labels = effect.of_one(found), group_cells(own, columns, part).labels
        shares = np.bincount(labels, one.distribution, len(errors)).astype(np.float64)
        return effect.added(errors, shares * (1.0 - shares), one.n)
    own, fit = planned(part, columns, by)
    group = group_cells(own, columns, part)
    members, shares = group_records(own, by, group).indicators, group.indicators
    with one_thread():
        return np.array([effect.mean_error(fit, f, g, asymptotic) for g in members for f in shares])


def expected_std_errors(
    mechanism: Any,
    n: float,
    wanted: Iterable[tuple[Any, str]],
    *,
    distribution: Any = None,
    method: str = "ml",
    asymptotic: bool = False,
) -> list[Floats]:
    """Return what :func:`expected_std_error` does for several parts, in the time of one.

    Parameters
    ----------
    mechanism, n, distribution, method, asymptotic
        As of :func:`expected_std_error`.
    wanted : iterable of (columns, part)
        Its arguments of these names.

    Returns
    -------
    list of arrays

    Examples
    --------
    >>> from skrldp import SRRSanitizer
    >>> from skrldp.estimation import expected_std_errors
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[70, 100, 260, 570])
    >>> wanted = [(None, "sensitive"), (0, "all")]
    >>> [errors.round(4) for errors in expected_std_errors(sanitizer, 10_000, wanted)]
    [array([0.0232, 0.0232]), array([0.0232, 0.0232])]
    """
    planned = _planned(mechanism, n, distribution, method, asymptotic)
    return [_errors_of(planned, columns, part, asymptotic) for columns, part in wanted]


def expected_std_error_of_mean(
    mechanism: Any,
    n: float,
    column: Any,
    *,
    by: Any = None,
    distribution: Any = None,
    method: str = "ml",
    asymptotic: bool = False,
    design_effect: float = 1.0,
) -> Any:
    """Return the standard error that the estimate of a column's mean will have.

    Parameters
    ----------
    mechanism : Mechanism, str, fitted sanitizer or Pipeline
        What will make the reports.
    n : int
        Number of reports.
    column : name or position
        A column of numbers. Records where it is missing are left out.
    by : name, position or list of them, optional
        Columns that make groups of records: the errors of the groups' means.
    distribution : JointDistribution or array of shape (a1, a2), optional
        What the records follow; None for the public distribution of a fitted sanitizer.
    method : {"ml", "least-squares"}, default="ml"
        How the reports will be evaluated.
    asymptotic : bool, default=False
        As for :func:`expected_std_error`.
    design_effect : float, default=1.0
        As for :func:`expected_std_error`.

    Returns
    -------
    float, or array of shape (k,) for k groups
        In the column's unit; that of :meth:`~skrldp.FrequencyEstimator.mean`. Infinite if the
        reports do not determine the mean, or no record has a number; NaN if n reports are too few.

    Raises
    ------
    TypeError, ValueError
        As by :func:`expected_std_error`, and if the column is not numeric.

    Examples
    --------
    >>> import pandas as pd
    >>> from skrldp import SRRSanitizer
    >>> from skrldp.estimation import expected_std_error_of_mean
    >>> X = pd.DataFrame({"ill": ["no", "no", "yes", "yes"], "visits": [0, 3, 0, 3]})
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive="ill")
    >>> sanitizer = sanitizer.fit(X, sample_weight=[70, 100, 260, 570])
    >>> round(expected_std_error_of_mean(sanitizer, 10_000, "visits"), 3)
    0.032
    """
    own, fit = _planned(mechanism, n, distribution, method, asymptotic)("all", column, by)
    group = group_cells(own, [column], "all")
    numbers, present = numbers_of_cells(group)
    error_of = _Clusters(design_effect).mean_error
    with one_thread():
        if by is None:
            return error_of(fit, numbers, present, asymptotic)
        members = group_records(own, by, group).indicators
        return np.array([error_of(fit, numbers, present * g, asymptotic) for g in members])


def expected_std_errors_of_targets(
    mechanism: Any, n: float, targets: Any, *, distribution: Any = None
) -> dict[Any, float]:
    """Return the standard errors of targets: of shares, means, and contrasts of groups.

    Parameters
    ----------
    mechanism : Mechanism, str, fitted sanitizer or Pipeline
        What will make the reports.
    n : int
        Number of reports.
    targets : Marginal, Mean, Linear, Contrast or list of these
        As of :class:`~skrldp.AOptimalSanitizer`.
    distribution : JointDistribution or array of shape (a1, a2), optional
        What the records follow; None for the public distribution of a fitted sanitizer.

    Returns
    -------
    dict
        From the name of each figure, as in ``targets_`` of AOptimalSanitizer, to the standard error
        that very many reports would have, scaled to n. Infinite where the reports do not determine
        the figure.

    Raises
    ------
    TypeError, ValueError
        As by :func:`expected_std_error`, and for targets that are none of the mechanism's columns.

    Examples
    --------
    >>> from skrldp import SRRSanitizer
    >>> from skrldp.estimation import expected_std_errors_of_targets
    >>> from skrldp.targets import Contrast, Mean
    >>> X = [["no", 0], ["no", 3], ["yes", 0], ["yes", 3]]
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[70, 100, 260, 570])
    >>> gap = Contrast(Mean(1, by=0), {"yes": 1, "no": -1})
    >>> found = expected_std_errors_of_targets(sanitizer, 10_000, gap)
    >>> [round(error, 2) for error in found.values()]
    [0.14]
    """
    own, sanitizer = read_mechanism(mechanism)
    size = checked_n(n)
    cells = distribution_of(own, sanitizer, distribution)
    asked = functions_of(targets, own, cells.ravel())
    errors = expected_fit(own, size, cells, "ml", True).spread(asked.functions)[1]
    found = np.where(np.isnan(errors), np.inf, errors)
    return dict(zip(asked.names, map(float, found), strict=True))


# -- what the estimator would state ---------------------------------------------------------------


def _planned(
    mechanism: Any, n: Any, distribution: Any, method: str, asymptotic: bool
) -> Callable[..., tuple[Mechanism, Fit | OfBlock]]:
    """Return a function: of a part and columns, to cells that have them and what n reports tell."""
    check_choice("method", method, METHODS)
    check_flag("asymptotic", asymptotic)
    size = checked_n(n)
    if isinstance(mechanism, Manifest) or as_block_sanitizer(mechanism) is not None:
        manifest, pool = expected_pool(mechanism, size, distribution)

        def of_block(part: str, *columns: Any) -> tuple[Mechanism, OfBlock]:
            if part == "nonsensitive" or (part == "all" and columns[0] is None):
                raise ValueError(
                    "no block has the whole record: name columns= that stand together in a block, "
                    f"which are {manifest.blocks[:5]}{' ...' * (len(manifest.blocks) > 5)}."
                )
            found = OfBlock(pool, manifest, block_with(manifest, names_in(columns)))
            return found.record, found

        return of_block
    own, sanitizer = read_mechanism(mechanism)
    cells = distribution_of(own, sanitizer, distribution)
    planned = own, expected_fit(own, size, cells, method, asymptotic)
    return lambda part, *columns: planned


def _errors_of(
    planned: Callable[..., tuple[Mechanism, Fit | OfBlock]],
    columns: Any,
    part: str,
    asymptotic: bool,
) -> Floats:
    """Errors of the shares of columns, or of a part."""
    own, fit = planned(part, columns)
    group = group_cells(own, columns, part)
    with one_thread():
        if isinstance(fit, Fit):
            return _errors(fit, group, asymptotic)
        errors = fit.evaluate(group.indicators)[1]
        return np.where(np.isnan(errors), np.inf, errors)


class _Clusters:
    """People who are not asked independently: the variance of their true records is greater."""

    def __init__(self, effect: float) -> None:
        check_positive("design_effect", effect)
        self.value = float(effect)

    def of_one(self, fit: Fit | OfBlock) -> Fit:
        if not isinstance(fit, Fit):
            raise ValueError(
                "design_effect is for one mechanism: each block has people of its own, who are "
                "fewer of a household or place. Plan a single block with its own mechanism."
            )
        return fit

    def mean_error(
        self, fit: Fit | OfBlock, numbers: Floats, present: Floats, asymptotic: bool
    ) -> float:
        error = _mean_error(fit, numbers, present, asymptotic)
        if self.value == 1.0 or not np.isfinite(error):
            return error
        one = self.of_one(fit)
        own = one.distribution * present
        apart = numbers - own @ numbers / own.sum()
        variance = own @ apart**2 / own.sum() ** 2
        return float(self.added(np.array(error), variance, one.n))

    def added(self, errors: Floats, variances: Floats, n: float) -> Floats:
        """Add to standard errors what the design adds to the `variances` of single records."""
        found: Floats = np.sqrt(errors**2 + (self.value - 1.0) * variances / n)
        return found


def _mean_error(fit: Fit | OfBlock, numbers: Floats, present: Floats, asymptotic: bool) -> float:
    """Error of a mean over some records: infinite where not determined, or there are none."""
    free = mean(numbers, present, fit.spread).std_error
    if np.isnan(free):
        return float("inf")
    return free if asymptotic else mean(numbers, present, fit.evaluate).std_error


def _errors(fit: Fit, group: CellGroups, asymptotic: bool) -> Floats:
    """Errors of the categories: infinite where not determined, NaN where there are too few reports.

    Four probabilities have a short way for S and for U alone.
    """
    channel, k = fit.channel, len(group.categories)
    short = asymptotic or fit.unbiased
    moments = channel.part_moments(group.labels, k, fit.report_distribution) if short else None
    if moments is not None:
        stated = asymptotic | rest_on_enough(*moments, fit.n)
        return np.where(stated, np.sqrt(moments[0] / fit.n), np.nan)
    if k == channel.n_cells:
        order = np.argsort(group.labels)
        errors = fit.cells(free=asymptotic)[1][order]
        return np.where(channel.identifiable[order], errors, np.inf)
    errors = np.empty(k)
    for rows, functions in channel.indicators(group.labels, k):
        errors[rows] = (fit.spread if asymptotic else fit.evaluate)(functions)[1]
        errors[rows][~channel.determines(functions)] = np.inf
    return errors
