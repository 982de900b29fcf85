"""Expected standard errors, before any data are collected."""

from typing import Any

import numpy as np

from skrldp._params import check_positive, is_finite, shown
from skrldp._typing import Floats
from skrldp.estimation.blocks import expected_cells
from skrldp.estimation.channels import channel_of
from skrldp.estimation.errors_and_intervals import Sample, Statistic
from skrldp.estimation.report_weights import WeightedStatistic
from skrldp.estimation.reports import read_mechanism, summary_for
from skrldp.estimation.shares_and_means import (
    Cells,
    Estimands,
    estimands_of_mean,
    estimands_of_shares,
)
from skrldp.joint import JointDistribution
from skrldp.mechanism.manifest import Manifest, read_json
from skrldp.mechanism.mechanism import Mechanism
from skrldp.public_summary import PublicSummary
from skrldp.sanitizers.access import as_block_sanitizer
from skrldp.targets import functions_of

_SUM = 1e-6  # tolerance for a sum of probabilities


def expected_std_error(
    mechanism: Any,
    n: float,
    columns: Any = None,
    *,
    part: str = "all",
    by: Any = None,
    distribution: Any = None,
    design_effect: float = 1.0,
) -> Floats:
    """Return the expected standard errors of shares, before any data are collected.

    Parameters
    ----------
    mechanism : Mechanism, str, fitted sanitizer or Pipeline
        Source of the reports, as for :class:`~skrldp.FrequencyEstimator`. For a
        :class:`~skrldp.BlockSanitizer`, the errors are those of :class:`~skrldp.BlockEstimator`; a
        block must contain all the columns, and `n` counts the reports of all blocks.
    n : int
        Number of reports.
    columns : name, position, list of them, or None
        Columns of the table; None for a part of the record.
    part : {"all", "sensitive", "nonsensitive"}, default="all"
        The part: X, S or U.
    by : name, position or list of them, optional
        Columns that define groups of records, for errors of the shares within each group.
    distribution : JointDistribution or array of shape (a1, a2), optional
        Distribution of the records: secrets in rows, values of U in columns. By default, the public
        distribution that the mechanism contains. For blocks, a list with a JointDistribution for
        each block.
    design_effect : float, default=1.0
        Ratio of the sampling variance to that of the same number of people drawn independently;
        above 1 if households or places are drawn and several people are asked in each. It does not
        multiply the variance that the mechanism adds. Not available for blocks.

    Returns
    -------
    array of shape (k,)
        The errors, in the order of :meth:`~skrldp.FrequencyEstimator.marginal`. Infinite if no
        number of reports determines the share.

    Raises
    ------
    TypeError
        If `mechanism` has none of these types.
    ValueError
        If there are no such columns, if n is not an integer of at least 1, or if the distribution
        is missing or is not a distribution of the mechanism's cells.

    Notes
    -----
    The variance is that of the estimator's weights at the distribution. If effectively fewer than
    30 reports determine an estimate, as may happen with PolyOpt, the estimator returns an interval
    without a standard error.

    Examples
    --------
    >>> from skrldp import SRRSanitizer, expected_std_error
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[70, 100, 260, 570])
    >>> expected_std_error(sanitizer, 10_000, part="sensitive").round(4)
    array([0.0232, 0.0232])
    """
    cells, follows = _planned(mechanism, n, distribution, design_effect, columns, by, part)
    return _errors(cells, estimands_of_shares(cells, columns, part, by), follows, design_effect)


def expected_std_error_of_mean(
    mechanism: Any,
    n: float,
    column: Any,
    *,
    by: Any = None,
    distribution: Any = None,
    design_effect: float = 1.0,
) -> Any:
    """Return the expected standard error of a column's mean.

    Parameters
    ----------
    mechanism, n, by, distribution, design_effect
        As for :func:`expected_std_error`.
    column : name or position
        A column of numbers. Records with a missing value are ignored.

    Returns
    -------
    float, or array of shape (k,) for k groups
        In the column's unit. Infinite if the reports do not determine the mean, or no record has a
        number.

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
    cells, follows = _planned(mechanism, n, distribution, design_effect, column, by)
    errors = _errors(cells, estimands_of_mean(cells, column, by), follows, design_effect)
    return float(errors[0]) if by is None else errors


def expected_std_errors_of_targets(
    mechanism: Any, n: float, targets: Any, *, distribution: Any = None
) -> dict[Any, float]:
    """Return the expected standard errors of targets: shares, means, and contrasts of groups.

    Parameters
    ----------
    mechanism, n, distribution
        As for :func:`expected_std_error`; not for blocks.
    targets : Marginal, Mean, Linear, Contrast or list of these
        As for :class:`~skrldp.AOptimalSanitizer`.

    Returns
    -------
    dict
        Maps the name of each estimate, as in ``targets_`` of AOptimalSanitizer, to its standard
        error; infinite if the reports do not determine the estimate.

    Raises
    ------
    TypeError, ValueError
        As by :func:`expected_std_error`, and for targets that are not about columns of the
        mechanism.

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
    cells, follows = _planned(mechanism, n, distribution, 1.0)
    functions = functions_of(targets, cells.record, follows)
    errors = _errors(cells, Estimands("", (), None, functions.functions), follows, 1.0)
    return dict(zip(functions.names, map(float, errors), strict=True))


def _planned(
    mechanism: Any, n: Any, distribution: Any, design_effect: Any, *columns: Any
) -> tuple[Cells, Floats]:
    """Return the cells with given columns, with the expected reports, and their distribution."""
    if not (is_finite(n) and n >= 1 and n == int(n)):
        raise ValueError(f"n={shown(n)} must be an integer of at least 1, the number of reports.")
    check_positive("design_effect", design_effect)
    if isinstance(mechanism, str):
        mechanism = read_json(mechanism)
    if isinstance(mechanism, Manifest) or as_block_sanitizer(mechanism) is not None:
        if design_effect != 1.0:
            raise ValueError(
                "design_effect needs a single mechanism, because each block is reported by "
                "different "
                "people, fewer of them from one household or place. Plan one block's mechanism."
            )
        return expected_cells(mechanism, float(n), distribution, *columns), np.ones(0)
    design, _ = read_mechanism(mechanism)
    follows = _distribution_of(design, distribution)
    public = follows if design.public is None else design.public.smoothed().ravel()
    channel = channel_of(design, np.maximum(public, 1e-12))
    samples = [((), Sample(channel.forward(follows), float(n)))]
    return Cells(design, channel, samples, bounded=False), follows


def _errors(cells: Cells, estimands: Estimands, follows: Floats, design_effect: float) -> Floats:
    """Return standard errors of estimates, infinite if the reports do not determine them."""
    _, expected = cells.samples[0]
    statistic, sample = cells.evaluated(estimands, expected)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.where(statistic.determined, statistic.inference(sample).spread, np.inf)
    if design_effect != 1.0:
        records = _of_records(statistic, sample, follows)
        errors = np.sqrt(errors**2 + (design_effect - 1.0) * records / sample.n)
    return np.where(np.isnan(errors), np.inf, errors)


def _of_records(statistic: Statistic, sample: Sample, follows: Floats) -> Floats:
    """Variances of the estimates from one raw record, (k,)."""
    theta = statistic.inference(sample).weighted - statistic.lowest
    if isinstance(statistic, WeightedStatistic) and statistic.c.shape[1] == len(follows):
        share = statistic.g @ follows
        squares = (statistic.c - theta[:, None] * statistic.g) ** 2
        return (squares @ follows) / share**2
    return theta * (1.0 - theta)


def _distribution_of(mechanism: Mechanism, distribution: Any) -> Floats:
    """Return the assumed distribution of records, (a,)."""
    records = mechanism.public if distribution is None else distribution
    if isinstance(records, JointDistribution):
        records = summary_for("the distribution", records, mechanism)
    if isinstance(records, PublicSummary):
        return records.probabilities.ravel()
    if records is None:
        raise ValueError(
            "this mechanism does not contain the distribution of the records. Pass distribution=, "
            "a JointDistribution or an array."
        )
    table, shape = np.asarray(records, dtype=float), (len(mechanism.secrets), len(mechanism.values))
    right = table.shape == shape and (table >= 0.0).all() and abs(table.sum() - 1.0) <= _SUM
    if not right:
        raise ValueError(
            "distribution must be a JointDistribution with the mechanism's secrets and values, or "
            f"an array of shape {shape}: probabilities, whose sum is 1."
        )
    return (table / table.sum()).ravel()
