"""Pairs of reports of two waves about the same people."""

import math
import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom
from sklearn.utils.validation import check_is_fitted

from skrldp._arrays import refuse_masked
from skrldp._params import is_whole
from skrldp._typing import Indices
from skrldp.alphabet.categories import listed
from skrldp.alphabet.values import brief, is_missing
from skrldp.estimation.estimator import FrequencyEstimator
from skrldp.estimation.figures import Pairs
from skrldp.estimation.hypotheses import HypothesisTest, equality_of
from skrldp.estimation.reports import read_mechanism, read_reports
from skrldp.joint import as_counts
from skrldp.table.read import lazy_frame

_WAVES = "first", "second"
_FALSE_ALARMS = 1e-6  # maximum false-alarm rate for pairs of independent reports


class PairedReports(Pairs):
    """Two waves of reports, in which some or all people report twice.

    Pass it as `paired` to :func:`difference` and :func:`ratio`, because the errors of the two waves
    are not independent. Only the number of people for each pair of symbols is stored, without ids
    or rows.

    Parameters
    ----------
    first, second : FrequencyEstimator
        The estimators that were fitted to all reports of each wave, including those of people who
        are only in one wave. The mechanisms may differ.
    Y_first, Y_second : array, list, series or data frame
        Reports in the forms in which the estimators were fitted. Without ids, n rows each, for the
        people who are in both waves, in the same order. With ids, all or some of the rows of each
        wave.
    ids : pair of arrays, lists or series, optional
        The person of each row of `Y_first`, and of `Y_second`: integers, strings or bytes. People
        who are only in one wave are not paired. 17 and ``"17"`` are the same person.
    sample_weight : array of shape (n,), optional
        How many people each row represents, for pairs that were counted elsewhere; only without
        ids.

    Attributes
    ----------
    n_pairs : int
        Number of people who are in both waves.

    Raises
    ------
    TypeError
        If an estimator is not a FrequencyEstimator, or ids are of the wrong type.
    ValueError
        If the rows do not match, if an id is missing or occurs twice in a wave, or if a report was
        not among those to which an estimator was fitted.

    Warns
    -----
    UserWarning
        If both sanitizers have an integer `random_state` and more reports are equal than
        independent draws would explain, because each ``transform`` drew the same noise.

    Notes
    -----
    *Privacy.* Two reports about one person leak more than one. The bound is ``bound_of(2)`` of the
    mechanism's claims: ε + `eps_worst_case` if it was designed with ``eps_worst_case``, and 2ε for
    GRR and SRR. Other mechanisms that are private for a confidence set have no such bound. It
    assumes that the secret stays the same and that reports are drawn anew, for example by
    :class:`~skrldp.batches.LedgerReporter` in a different epoch. A *permanent* report
    (``permanent_key``, :class:`~skrldp.batches.Reporter`) stays the same as long as the record
    does. A different report shows that the record has changed, and no bound covers what that
    reveals.

    *Errors.* Fresh reports of unchanged records are only weakly correlated, because their noise is
    independent and only the records contribute to the covariance. Permanent reports of unchanged
    records are equal, so that their noise cancels out.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp import FrequencyEstimator, SRRSanitizer
    >>> from skrldp.estimation import PairedReports, difference
    >>> X = [["no", 0], ["no", 3], ["yes", 0], ["yes", 3]]
    >>> sanitizer = SRRSanitizer(eps=2.0, sensitive=0, random_state=0)
    >>> _ = sanitizer.fit(X, sample_weight=[70, 100, 260, 570])
    >>> people = np.random.default_rng(0).choice(4, 5_000, p=[0.1, 0.2, 0.2, 0.5])
    >>> cells = np.array(X, dtype=object)
    >>> spring = sanitizer.transform(cells[people])
    >>> autumn = sanitizer.set_params(random_state=1).transform(cells[people])
    >>> one, two = (FrequencyEstimator(sanitizer).fit(sent) for sent in (spring, autumn))
    >>> pairs = PairedReports(one, two, spring, autumn)
    >>> pairs
    PairedReports(5,000 people in both waves)
    >>> for paired in (None, pairs):
    ...     print(difference(two.mean(1), one.mean(1), paired=paired).std_error.round(3))
    [0.038]
    [0.025]
    """

    def __init__(
        self,
        first: Any,
        second: Any,
        Y_first: Any,
        Y_second: Any,
        *,
        ids: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        estimators = [_fitted(estimator) for estimator in (first, second)]
        if first._own is second._own:
            raise ValueError(
                "first and second are the same estimator. Fit a separate estimator to each wave."
            )
        if ids is None:
            _check_rows(Y_first, Y_second)
        waves = zip(estimators, (Y_first, Y_second), _WAVES, strict=True)
        symbols = [_symbols(*wave) for wave in waves]
        if ids is not None:
            if sample_weight is not None:
                raise ValueError("with ids, each row is about one person. Omit sample_weight.")
            if not isinstance(ids, tuple | list) or len(ids) != 2:
                raise ValueError("ids must be a pair, the ids of Y_first and those of Y_second.")
            of_waves = zip(ids, symbols, _WAVES, strict=True)
            rows = [_rows_of_ids(keys, len(sent), wave) for keys, sent, wave in of_waves]
            paired = [person for person in rows[0] if person in rows[1]]
            pairs = zip(symbols, rows, strict=True)
            symbols = [sent[[row[key] for key in paired]] for sent, row in pairs]
        if len(symbols[0]) != len(symbols[1]):
            raise ValueError(
                f"Y_first has {len(symbols[0]):,} rows and Y_second {len(symbols[1]):,}, but "
                f"without "
                "ids, row i of both must be about the same person. Drop people who are in only one "
                "wave, or pass ids=."
            )
        weights = None
        if sample_weight is not None:
            weights = as_counts(sample_weight, len(symbols[0]), "pair", Y_first)
        width = int(symbols[1].max(initial=0)) + 1
        keys, index = np.unique(symbols[0] * width + symbols[1], return_inverse=True)
        numbers = np.bincount(index.reshape(-1), weights, len(keys)).astype(float)
        keys, numbers = keys[numbers > 0], numbers[numbers > 0]
        kinds = keys // width, keys % width
        for wave, estimator, sent in zip(_WAVES, estimators, kinds, strict=True):
            if (np.bincount(sent, numbers, len(estimator.counts_)) > estimator.counts_).any():
                raise ValueError(
                    f"the pairs contain reports of the {wave} wave that its estimator lacks. "
                    "Fit it to all reports of the wave."
                )
        _warn_of_equal_noise(estimators, float(numbers[kinds[0] == kinds[1]].sum()), numbers.sum())
        samples = [estimator._own.one_sample("a pair of waves") for estimator in estimators]
        super().__init__((samples[0], samples[1]), kinds, numbers)

    @property
    def n_pairs(self) -> int:
        """Number of people who are in both waves."""
        return int(self.numbers.sum())

    def __repr__(self) -> str:
        return f"PairedReports({self.n_pairs:,} people in both waves)"


def _warn_of_equal_noise(estimators: Sequence[Any], equal: float, n: float) -> None:
    """Warn about more equal reports than independent draws would explain, if seeds are integers.

    Whatever the records are, at most `chance` of independent pairs are equal (Cauchy and Schwarz).
    """
    sanitizers = [read_mechanism(estimator.mechanism)[1] for estimator in estimators]
    seeds = [getattr(sanitizer, "random_state", None) for sanitizer in sanitizers]
    if not all(map(is_whole, seeds)):
        return
    chance = math.prod(math.sqrt(estimator._own.channel.most_repeated) for estimator in estimators)
    if chance < 1.0 and binom.sf(equal - 1.0, n, chance) < _FALSE_ALARMS:
        warnings.warn(
            f"{equal:,.0f} of {n:,.0f} people have equal reports in both waves: each transform "
            f"with random_state={seeds[0]} draws the same noise, so the change seems certain. "
            "Report with random_state=None. Only permanent reports may be equal.",
            stacklevel=3,
        )


def _check_rows(first: Any, second: Any) -> None:
    """Reject rows whose labels show that they are not about the same people."""
    labels: Any = getattr(first, "index", None)
    of_second: Any = getattr(second, "index", None)
    if hasattr(labels, "equals") and hasattr(of_second, "equals") and not labels.equals(of_second):
        raise ValueError(
            "Y_first and Y_second have different indexes, so it is ambiguous which rows "
            "are about the same people. Pass ids=(Y_first.index, Y_second.index) if the "
            "labels identify them, and arrays if the order does."
        )


def _symbols(estimator: Any, Y: Any, wave: str) -> Indices:
    """Read the symbol of each report as the estimator does."""
    if lazy_frame(Y) is not None:
        raise ValueError(
            f"Y_{wave} is a lazy frame, whose rows have no order. Join both waves by the ids, "
            "count the rows of each pair of reports, and pass the counts as sample_weight."
        )
    reports = read_reports(Y, estimator._source, estimator.encode)
    if not np.array_equal(reports.kinds, estimator._kinds):
        raise ValueError(
            f"Y_{wave} must have reports in the form to which the {wave} estimator was fitted."
        )
    return reports.numbers


def _rows_of_ids(ids: Any, n: int, wave: str) -> dict[Any, int]:
    """Map ids to their rows."""
    refuse_masked(ids, f"the ids of the {wave} wave")
    series = nw.from_native(ids, pass_through=True, allow_series=True)
    values = series.to_list() if isinstance(series, nw.Series) else list(ids)
    if len(values) != n:
        raise ValueError(f"Expected {n:,} ids, one for each row of Y_{wave}, got {len(values):,}.")
    missing = sum(map(is_missing, values)) + values.count("")
    if missing:
        raise ValueError(f"{missing:,} rows of Y_{wave} have no id. Drop them from Y and ids.")
    types = (Integral, str, bytes)
    wrong = {type(key) for key in values if isinstance(key, bool) or not isinstance(key, types)}
    if wrong:
        names = listed(sorted(kind.__name__ for kind in wrong))
        raise TypeError(f"ids must be integers, strings or bytes, got {names}.")
    keys = [str(int(key)) if isinstance(key, Integral) else key for key in values]
    rows = dict(zip(keys, range(n), strict=True))
    if len(rows) < n:
        duplicate = next(key for row, key in enumerate(keys) if rows[key] != row)
        raise ValueError(
            f"ids occur in more than one row of Y_{wave}, such as {brief(repr(duplicate))}. Keep "
            "one report about each person, and fit the estimator again."
        )
    return rows


def same_distribution_test(
    first: Any, second: Any, columns: Any, *, paired: Pairs | None = None
) -> HypothesisTest:
    """Test whether columns have the same distribution in two populations, or two waves.

    Parameters
    ----------
    first, second : FrequencyEstimator
        The estimators that were fitted to the reports of each population. The mechanisms may
        differ, but must have the same categories of these columns.
    columns : name, position or list of them
        The columns.
    paired : PairedReports, optional
        Which reports are about the same people. None if no person is in both populations.

    Returns
    -------
    HypothesisTest
        Uses the score statistic, with its covariance under the hypothesis.

    Raises
    ------
    TypeError, ValueError
        If `first` or `second` is not a fitted estimator, if their categories differ, or if the
        reports do not determine the shares.

    Examples
    --------
    >>> import numpy as np
    >>> from skrldp import FrequencyEstimator, SRRSanitizer
    >>> from skrldp.estimation import same_distribution_test
    >>> X = [["no", 0], ["no", 3], ["yes", 0], ["yes", 3]]
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[70, 100, 260, 570])
    >>> def wave(shares):
    ...     sent = np.rint(10_000 * sanitizer.mechanism_.matrix @ shares)
    ...     return FrequencyEstimator(sanitizer.mechanism_).fit(range(4), sample_weight=sent)
    >>> one, two = wave([0.1, 0.2, 0.2, 0.5]), wave([0.1, 0.2, 0.3, 0.4])
    >>> print(same_distribution_test(one, two, 1))
    20,000 reports contradict that 1 has the same distribution in both populations (p = 4.2e-11; ...
    """
    estimators = [_fitted(estimator) for estimator in (first, second)]
    populations = [
        (cells.channel, cells.record, cells.one_sample("a test of two populations"))
        for cells in (estimator._own for estimator in estimators)
    ]
    samples = populations[0][2], populations[1][2]
    if paired is not None and paired.samples == samples[::-1]:
        paired = Pairs(samples, paired.symbols[::-1], paired.numbers)
    if paired is not None and paired.samples != samples:
        raise ValueError("paired= links the reports of two other estimators: make it of these two.")
    return equality_of(populations, columns, paired)


def _fitted(estimator: Any) -> FrequencyEstimator:
    if not isinstance(estimator, FrequencyEstimator):
        raise TypeError(f"expected fitted FrequencyEstimators, got {type(estimator).__name__}.")
    check_is_fitted(estimator)
    return estimator
