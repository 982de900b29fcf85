"""What the reports of a survey's respondents say about the probabilities of all cells."""

from typing import Any

import numpy as np

from skrldp._typing import Floats
from skrldp.estimation._cells import EstimatedCells
from skrldp.estimation._checks import check_possible, warn_of_gap
from skrldp.estimation._estimator import FrequencyEstimator
from skrldp.estimation._fit import most_likely
from skrldp.estimation._threads import one_thread
from skrldp.estimation.likelihood import TOL
from skrldp.estimation.reports import number_reports, read_rows, read_source
from skrldp.surveys import MOST_CELLS, SurveyDesign, SurveyTotals
from skrldp.table import column_reader, lazy_frame, without_columns

__all__ = ["survey_cells"]


def survey_cells(
    mechanism: Any, Y: Any, survey: SurveyDesign, *, encode: str = "auto"
) -> EstimatedCells:
    r"""Estimate the distribution of the cells from reports whose senders have survey weights.

    The distribution is that of the people for whom the weights stand. Regressions take the result
    in place of an estimator.

    Parameters
    ----------
    mechanism : Mechanism, str or fitted sanitizer
        What made the reports, as for :class:`FrequencyEstimator`.
    Y : data frame of n rows
        Reports, each about another person, and beside them the columns of the design.
    survey : SurveyDesign
        Columns of weights, strata, clusters or replicate weights of those who report.
    encode : {"auto", "symbol", "onehot", "cells"}, default="auto"
        Form of the reports.

    Returns
    -------
    EstimatedCells

    Raises
    ------
    TypeError
        If `survey` is no SurveyDesign.
    ValueError
        If a column is missing or wrong, the table is a lazy frame, or the mechanism has more than
        2,000 different reports.

    Warns
    -----
    ConvergenceWarning
        If the likelihood may not be at its maximum.

    Notes
    -----
    With :math:`\hat p` the weighted shares of the reports, the estimate maximises
    :math:`\sum_y \hat p_y \log(Q\pi)_y`, the likelihood in which each report counts with its
    weight. The covariance of :math:`\hat p` is that of a ratio of weighted totals (Taylor
    linearisation, or from replicate weights), and the estimate's is
    :math:`A \operatorname{Cov}(\hat p) A^T` with A the derivative of the estimate.

    **The weights reach whoever collects the reports.** A weight that depends on the secret tells
    it: weights, strata and clusters must follow from what may be known of each person.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skrldp import SRRSanitizer, SurveyDesign
    >>> from skrldp.estimation import survey_cells
    >>> rng = np.random.default_rng(0)
    >>> ill, old = rng.random(5_000) < 0.3, rng.random(5_000) < 0.5
    >>> people = pd.DataFrame({"ill": ill, "old": old})
    >>> sanitizer = SRRSanitizer(eps=2.0, sensitive="ill", random_state=0).fit(people)
    >>> sent = sanitizer.transform(people).assign(weight=np.where(old, 1.0, 3.0))
    >>> cells = survey_cells(sanitizer, sent, SurveyDesign(weights="weight"))
    >>> share = cells.frequencies @ [0, 1, 0, 1]  # of the old, 1/4 of the population
    >>> error = np.sqrt(cells.covariance(np.array([[0.0, 1, 0, 1]]))[0, 0])
    >>> bool(abs(share - 0.25) < 4 * error)
    True
    """
    if not isinstance(survey, SurveyDesign):
        raise TypeError(
            f"survey must be a SurveyDesign, as in SurveyDesign(weights='weight'), got "
            f"{type(survey).__name__}."
        )
    if lazy_frame(Y) is not None:
        raise ValueError("weights belong to single rows, and this is a lazy frame: collect it.")
    source = read_source(mechanism)
    records = survey.read(column_reader(Y, "survey"))
    rows = read_rows(without_columns(Y, survey.columns, "survey"), source, encode, None)
    numbers, kinds = number_reports(rows, source, encode)
    estimator = FrequencyEstimator(mechanism)
    channel = estimator._channel_of(source.mechanism, kinds)
    n_kinds = int(kinds.max()) + 1
    if n_kinds > MOST_CELLS:
        raise ValueError(
            f"the mechanism has {n_kinds:,} different reports, and the covariance of weighted "
            f"shares is for at most {MOST_CELLS:,}: use a mechanism for fewer columns."
        )
    totals = SurveyTotals.of(records, numbers, n_kinds)
    assert totals.covariance is not None
    shares = totals.totals / totals.totals.sum()
    check_possible(shares, channel)
    apart = (np.eye(n_kinds) - shares[:, None]) / totals.totals.sum()  # of shares, by totals
    of_shares = apart @ totals.covariance @ apart.T
    with one_thread():
        counts = records.n_records * shares
        fit, best = most_likely(channel, counts, None, None)
    if best.gap > TOL:
        warn_of_gap(best.gap, best.iterations, fit.n)

    def covariance(functions: Floats) -> Floats:
        weights = fit.weights.of(functions)
        found: Floats = weights @ of_shares @ weights.T
        unknown = ~fit.channel.determines(functions)
        found[unknown, :] = found[:, unknown] = np.nan
        return found

    return EstimatedCells(
        source.mechanism,
        fit.distribution,
        records.n_records,
        covariance,
        fit.channel.determines,
        lambda functions: np.isfinite(fit.evaluate(functions)[1]),
    )
