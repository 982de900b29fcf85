"""Standard errors before anybody is asked: what the estimator will state for n reports."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skrldp._arrays import real_numbers
from skrldp._params import check_choice, is_finite
from skrldp._typing import Floats
from skrldp.aggregate._channels import BlockChannel, Channel, channel_of
from skrldp.aggregate._checks import METHODS, MOST_DENSE, check_names
from skrldp.aggregate._fit import Fit, one_thread
from skrldp.aggregate._numeric import mean
from skrldp.aggregate._source import read_mechanism
from skrldp.alphabet import CellGroups, group_cells
from skrldp.joint import JointDistribution
from skrldp.mechanism import Mechanism

__all__ = ["expected_std_error", "expected_std_error_of_mean", "expected_std_errors"]

_SUM = 1e-6  # by which the sum of probabilities may differ from 1
# Symbols that are possible but have no probability at the distribution: as if one in this many
# reports were one, so that the best weights exist.
_RARE = 1e12


def expected_std_error(
    mechanism: Any,
    n: float,
    columns: Any = None,
    *,
    part: str = "all",
    distribution: Any = None,
    method: str = "ml",
) -> Floats:
    """Return the standard errors that estimates will have, before anybody is asked.

    They are what :meth:`~skrldp.FrequencyEstimator.marginal`, with this mechanism, method and
    columns, will state for n reports about different persons, if the records follow a distribution.

    Parameters
    ----------
    mechanism : Mechanism, str, fitted sanitizer or Pipeline
        What will make the reports, as for :class:`~skrldp.FrequencyEstimator`.
    n : int
        Number of reports.
    columns : name, position, list of them, or None
        Columns of the table; None for a part of the record.
    part : {"all", "sensitive", "nonsensitive"}, default="all"
        The part: X, S or U.
    distribution : JointDistribution or array of shape (a1, a2), optional
        What the records follow: secrets in rows, values of U in columns. None takes the public
        distribution of a fitted sanitizer; a Mechanism and its JSON have none.
    method : {"ml", "least-squares"}, default="ml"
        How the reports will be evaluated.

    Returns
    -------
    array of shape (k,)
        In the order of :meth:`~skrldp.FrequencyEstimator.marginal`: for a part, that of the
        mechanism's ``cells``, ``secrets`` or ``values``. Infinite where the reports do not
        determine the category's probability, however many there are.

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
    weights at Qπ. Both fall with √n exactly. They are the spread of the estimates where n is large
    enough that some reports of each symbol are expected; where a probability is close to 0,
    maximum likelihood, which stays above 0, spreads less.

    The reports are taken as symbols. If they are written as cells of which several symbols look
    alike, something is lost, and the errors are larger.

    Examples
    --------
    >>> from skrldp import SRRSanitizer, expected_std_error
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = SRRSanitizer(eps=1.0).fit(X, sample_weight=[70, 100, 260, 570])
    >>> expected_std_error(sanitizer, 10_000, part="sensitive").round(4)
    array([0.0232, 0.0232])
    >>> expected_std_error(sanitizer.mechanism_, 40_000, part="sensitive",
    ...                    distribution=sanitizer.joint_).round(4)
    array([0.0116, 0.0116])
    """
    wanted = [(columns, part)]
    return expected_std_errors(mechanism, n, wanted, distribution=distribution, method=method)[0]


def expected_std_errors(
    mechanism: Any,
    n: float,
    wanted: Iterable[tuple[Any, str]],
    *,
    distribution: Any = None,
    method: str = "ml",
) -> list[Floats]:
    """Return what :func:`expected_std_error` does for several parts, in the time of one.

    Parameters
    ----------
    mechanism, n, distribution, method
        As of :func:`expected_std_error`.
    wanted : iterable of (columns, part)
        Its arguments of these names.

    Returns
    -------
    list of arrays

    Examples
    --------
    >>> from skrldp import SRRSanitizer
    >>> from skrldp.aggregate import expected_std_errors
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = SRRSanitizer(eps=1.0).fit(X, sample_weight=[70, 100, 260, 570])
    >>> wanted = [(None, "sensitive"), (0, "all")]
    >>> [errors.round(4) for errors in expected_std_errors(sanitizer, 10_000, wanted)]
    [array([0.0232, 0.0232]), array([0.0232, 0.0232])]
    """
    own, sanitizer = read_mechanism(mechanism)
    fit = _expected_fit(own, _checked_n(n), _distribution_of(own, sanitizer, distribution), method)
    groups = [group_cells(own, columns, part) for columns, part in wanted]
    with one_thread():
        return [_errors(fit, group) for group in groups]


def expected_std_error_of_mean(
    mechanism: Any,
    n: float,
    column: Any,
    *,
    distribution: Any = None,
    method: str = "ml",
) -> float:
    """Return the standard error that the estimate of a column's mean will have.

    Parameters
    ----------
    mechanism : Mechanism, str, fitted sanitizer or Pipeline
        What will make the reports.
    n : int
        Number of reports.
    column : name or position
        A column of numbers. Records where it is missing are left out.
    distribution : JointDistribution or array of shape (a1, a2), optional
        What the records follow; None for the public distribution of a fitted sanitizer.
    method : {"ml", "least-squares"}, default="ml"
        How the reports will be evaluated.

    Returns
    -------
    float
        In the column's unit; that of :meth:`~skrldp.FrequencyEstimator.mean`. Infinite if the
        reports do not determine the mean, or no record has a number.

    Raises
    ------
    TypeError, ValueError
        As by :func:`expected_std_error`, and if the column is not numeric.

    Examples
    --------
    >>> import pandas as pd
    >>> from skrldp import SRRSanitizer
    >>> from skrldp.aggregate import expected_std_error_of_mean
    >>> X = pd.DataFrame({"ill": ["no", "no", "yes", "yes"], "visits": [0, 3, 0, 3]})
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive="ill")
    >>> sanitizer = sanitizer.fit(X, sample_weight=[70, 100, 260, 570])
    >>> round(expected_std_error_of_mean(sanitizer, 10_000, "visits"), 3)
    0.032
    """
    own, sanitizer = read_mechanism(mechanism)
    fit = _expected_fit(own, _checked_n(n), _distribution_of(own, sanitizer, distribution), method)
    with one_thread():
        error = mean(group_cells(own, [column], "all"), fit.evaluate).std_error
    return float("inf") if np.isnan(error) else error


# -- what is asked for ----------------------------------------------------------------------------


def _checked_n(n: Any) -> float:
    if not (is_finite(n) and n >= 1 and n == int(n)):
        raise ValueError(f"n={n!r} must be a whole number of reports, at least 1.")
    return float(n)


def _distribution_of(own: Mechanism, sanitizer: Any, distribution: Any) -> Floats:
    """Return the distribution that records are taken to follow, (a1, a2)."""
    if distribution is None:
        if sanitizer is None:
            raise ValueError(
                "a mechanism alone does not say what the records follow: give distribution=, a "
                "JointDistribution or an array of secrets by values, or pass the fitted sanitizer."
            )
        public: Floats = sanitizer.joint_.probabilities
        return public
    if isinstance(distribution, JointDistribution):
        check_names("the distribution", distribution, own)
        return distribution.probabilities
    table = _numbers(distribution)
    shape = len(own.secrets), len(own.values)
    if table.shape != shape:
        raise ValueError(
            f"distribution has shape {table.shape}, but the mechanism has {shape[0]} secrets and "
            f"{shape[1]} values of U: it must have shape {shape}."
        )
    total = float(table.sum())
    if not (np.all(np.isfinite(table)) and table.min() >= 0.0 and abs(total - 1.0) <= _SUM):
        raise ValueError(
            "distribution must have probabilities: numbers of at least 0 whose sum is 1. Counts of "
            "records become one with JointDistribution(counts, mechanism.secrets, "
            "mechanism.values)."
        )
    return table / total


def _numbers(distribution: ArrayLike) -> Floats:
    numbers: Floats = real_numbers(distribution, "distribution").astype(np.float64)
    return numbers


# -- what the estimator would state ---------------------------------------------------------------


def _expected_fit(own: Mechanism, n: float, distribution: Floats, method: str) -> Fit:
    """Fit the expected shares of the reports: the estimate is the distribution itself."""
    check_choice("method", method, METHODS)
    channel = _channel(own, method)
    cells = distribution.ravel()
    with one_thread():
        report = channel.floored(channel.forward(cells), _RARE)
        weights = channel.weights(report if method == "ml" else channel.uniform)
    return Fit(cells, cells, weights, report, channel, n, unbiased=False)


def _channel(own: Mechanism, method: str) -> Channel:
    """Return the estimator's channel, or a quicker one with the same errors.

    If Q is invertible, no weights but those of its inverse are unbiased, whatever the method.
    """
    channel = channel_of(own)
    if method == "ml" and isinstance(channel, BlockChannel) and channel.rank < channel.n_cells:
        return channel_of(own, most_dense=MOST_DENSE)
    return channel


def _errors(fit: Fit, group: CellGroups) -> Floats:
    channel, k = fit.channel, len(group.categories)
    variances = channel.part_variances(group.labels, k, fit.report_distribution)
    if variances is not None:
        return np.sqrt(variances / fit.n)
    if k == channel.n_cells:
        errors = fit.cells()[1][np.argsort(group.labels)]
    else:
        errors = np.empty(k)
        for rows, functions in channel.indicators(group.labels, k):
            errors[rows] = fit.evaluate(functions)[1]
    return np.where(np.isnan(errors), np.inf, errors)
