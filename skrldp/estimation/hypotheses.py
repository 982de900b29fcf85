"""Tests of hypotheses about records: score tests at the most likely distribution under each.

Wald tests, with the covariance at the estimate, reject true hypotheses from 500 reports in 13 to 25
% of samples instead of 5 %. With the covariance at the product of unbiased margins, which may be 0,
they reject in up to 97 % of samples if the mechanism hardly determines a crosstab.
"""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import block_diag, qr
from scipy.stats import chi2

from skrldp._pages import page
from skrldp._params import as_list
from skrldp._typing import Floats, Indices
from skrldp.alphabet.categories import listed
from skrldp.alphabet.combinations import Record, group_cells
from skrldp.certificate import certify
from skrldp.claims import UNITS, Claims
from skrldp.claims_in_words import changed_at_most, moved
from skrldp.estimation.channels import Channel, StructuredChannel, gradient, most_likely
from skrldp.estimation.errors_and_intervals import Sample
from skrldp.estimation.figures import Pairs
from skrldp.estimation.report_weights import WeightedStatistic
from skrldp.joint import CountedReports, JointDistribution
from skrldp.mechanism.mechanism import Mechanism
from skrldp.public_summary import PublicSummary
from skrldp.sets.bounds_from_reports import BoxSet, conditional_bounds, is_empty
from skrldp.sets.tails import tail_bound

_SINGULAR = 1e-9  # relative eigenvalues of a covariance below this are rounding errors
_FALSE_ALARMS = 1e-6  # maximum false-alarm rate for a mechanism's own reports
DRIFT = 1e-3  # p-value below which a population is reported as shifted
_FAR = 2.0  # leakage relative to ε above which drift= is not a remedy
_LEAST_P = 1e-300
# EM steps for the most likely distribution under a hypothesis; 30 or 500 work equally well
_STEPS = 100
# Minimum expected reports of a symbol; for rarer symbols, the normal approximation fails
_LEAST_EXPECTED = 1.0
_UNKNOWN = 1e-6  # correlations of reports with the tested differences below this count as zero


@dataclass(frozen=True)
class HypothesisTest:
    """The result of a test of a hypothesis.

    Attributes
    ----------
    hypothesis : str
        The hypothesis, in words.
    statistic : float
        The score statistic.
    p_value : float
        Probability of a statistic at least as large, if the hypothesis is true.
    degrees_of_freedom : int
        Number of differences that the reports determine. With few reports, the chi-squared
        distribution is shifted and scaled to match the statistic's variance and skewness.
    n_reports : int
        Number of reports.
    """

    hypothesis: str
    statistic: float
    p_value: float
    degrees_of_freedom: int
    n_reports: int

    @classmethod
    def of(
        cls, hypothesis: str, statistic: float, freedom: int, n: float, excess: Any = 0.0
    ) -> "HypothesisTest":
        """Compare with the shifted chi-squared distribution with the same three cumulants.

        The mean is the number of degrees of freedom. The variance and the third cumulant are those
        of a chi-squared variable plus an `excess` (Pearson 1959).
        """
        variance, third = np.array([2.0, 8.0]) * max(freedom, 1) + excess
        degrees = 8.0 * variance**3 / third**2
        moved_to = degrees + (statistic - freedom) * np.sqrt(2.0 * degrees / variance)
        p_value = float(chi2.sf(moved_to, degrees)) if freedom else 1.0
        return cls(hypothesis, statistic, p_value, freedom, round(n))

    def __str__(self) -> str:
        verb = "do not contradict" if self.p_value > 0.05 else "contradict"
        return (
            f"{self.n_reports:,} reports {verb} that {self.hypothesis} ({self._p}; chi-squared "
            f"{self.statistic:.4g} on {self.degrees_of_freedom:,} "
            f"degree{'s' * (self.degrees_of_freedom != 1)} of freedom)."
        )

    @property
    def _p(self) -> str:
        return f"p = {self.p_value:.2g}" if self.p_value > _LEAST_P else f"p < {_LEAST_P:g}"

    def _repr_html_(self) -> str:
        rows = [
            ("chi-squared", f"{self.statistic:.4g}"),
            ("degrees of freedom", f"{self.degrees_of_freedom:,}"),
            ("p-value", self._p),
        ]
        return page(f"{self.hypothesis}: {self.n_reports:,} reports", rows)


def independence_of(
    channel: Channel, record: Record, sample: Sample, first: Any, second: Any, given: Any
) -> HypothesisTest:
    """Test whether two columns are independent, or independent given others."""
    columns = [as_list(given), as_list(first), as_list(second)]
    if not (columns[1] and columns[2]):
        raise ValueError(f"two columns are needed, got {first!r} and {second!r}.")
    words = [", ".join(map(repr, names)) for names in columns]
    hypothesis = f"{words[1]} and {words[2]} are independent{f' given {words[0]}' * bool(given)}"
    table = group_cells(record, [*columns[0], *columns[1], *columns[2]], "all")
    sizes = [len(group_cells(record, names, "all").categories) if names else 1 for names in columns]
    if len(table.categories) < np.prod(sizes):
        raise ValueError(
            f"{hypothesis}: the mechanism lacks some combinations of these columns. Fit it "
            "with categories='product'."
        )
    return _independent(hypothesis, _grouped(channel, table.labels, sample), sizes)


def equality_of(
    populations: Sequence[tuple[Channel, Record, Sample]], columns: Any, paired: Pairs | None
) -> HypothesisTest:
    """Test whether columns have the same distribution in two populations, or two waves.

    The test is whether the columns are independent of the population, in the reports of both
    populations together.
    """
    tables = [group_cells(record, as_list(columns), "all") for _, record, _ in populations]
    if tables[0].categories != tables[1].categories:
        raise ValueError(
            f"the mechanisms have different categories of {columns!r}. Fit both with the "
            "same categories."
        )
    names = list(map(repr, as_list(columns)))
    groups = [
        _grouped(channel, table.labels, sample)
        for (channel, _, sample), table in zip(populations, tables, strict=True)
    ]
    n = sum(group.sample.n for group in groups)
    fractions = [group.sample.n / n for group in groups]
    shares, public = (
        np.concatenate(
            [fraction * values for fraction, values in zip(fractions, arrays, strict=True)]
        )
        for arrays in zip(
            *((group.sample.shares, group.channel.public) for group in groups), strict=True
        )
    )
    design, pairs = None, None
    if any(group.sample.design is not None for group in groups):
        both = zip(fractions, groups, strict=True)
        covariances = [p**2 * _covariance(group.sample) for p, group in both]
        design = block_diag(*covariances)
    if paired is not None:
        moves = [
            (group.rows[symbols] == np.arange(group.channel.n_symbols)[:, None])
            - group.sample.shares[:, None]
            for group, symbols in zip(groups, paired.symbols, strict=True)
        ]
        cross = (moves[0] * paired.numbers) @ moves[1].T / n**2
        zeros = [np.zeros((k, k)) for k in cross.shape]
        pairs = np.block([[zeros[0], cross], [cross.T, zeros[1]]])
    size = len(tables[0].categories)
    labels = np.concatenate([groups[0].labels, size + groups[1].labels])
    channel = Channel(block_diag(*(group.channel.matrix for group in groups)), public)
    verb = " have together" if len(names) > 1 else " has"
    hypothesis = f"{', '.join(names)}{verb} the same distribution in both populations"
    together = _Grouped(channel, labels, Sample(shares, n, design), np.arange(len(shares)))
    return _independent(hypothesis, together, (1, 2, size), pairs)


def _covariance(sample: Sample) -> Floats:
    """Covariance of the shares of the reports, (b, b)."""
    every = np.eye(len(sample.shares))
    return sample.covariance(every, every)


class _Grouped(NamedTuple):
    """Cells grouped by categories, and the reports about them."""

    channel: Channel
    labels: Indices  # (a,), the category of each cell
    sample: Sample
    rows: Indices  # index of each symbol among those of the channel


def _grouped(channel: Channel, labels: Indices, sample: Sample) -> _Grouped:
    """Group the cells of a channel.

    For a channel without a matrix, reports are grouped like the cells because, by symmetry, the
    other categories of a report contain no information about these. For blocks, only the reports of
    the block with these cells contain information.
    """
    if sample.strata is not None and (symbols := np.ptp(channel.matrix, axis=1) > 0).any():
        matrix, shares = channel.matrix[symbols], sample.shares[symbols]
        sample = Sample(shares / shares.sum(), sample.n * float(shares.sum()))
        channel = Channel(matrix / matrix.sum(axis=0), channel.public)
    if not isinstance(channel, StructuredChannel):
        return _Grouped(channel, labels, sample, np.arange(channel.n_symbols))
    sizes = np.bincount(labels)
    reports = (channel.forward((labels == k) / size) for k, size in enumerate(sizes))
    *columns, shares, public = (
        np.bincount(labels, values).astype(float)
        for values in (*reports, sample.shares, channel.public)
    )
    grouped = Channel(np.stack(columns, axis=1), public)
    return _Grouped(grouped, np.arange(len(sizes)), Sample(shares, sample.n), labels)


def _under(hypothesis: Callable[[Floats], Floats], channel: Channel, sample: Sample) -> Floats:
    """Return the most likely distribution of the cells (a,) under a hypothesis, by EM.

    `hypothesis` maps a distribution to the closest one for which it is true.
    """
    cells = hypothesis(channel.public)
    for _ in range(_STEPS):
        cells = hypothesis(cells * gradient(channel, sample.shares, cells))
    return cells


def _independent(
    hypothesis: str, reports: _Grouped, shape: Sequence[int], pairs: Floats | None = None
) -> HypothesisTest:
    """Test whether the last two of three columns are independent within categories of the first.

    Without noise, this is Pearson's test. `pairs` is the excess of the reports' covariance over
    that of independent reports, (b, b).
    """
    channel, labels, sample, _ = reports

    def tabled(cells: Floats) -> Floats:
        return np.bincount(labels, cells, math.prod(shape)).astype(float).reshape(shape)

    def product(cells: Floats) -> Floats:
        table = tabled(cells)
        within = np.maximum(table.sum(axis=(1, 2), keepdims=True), 1e-300)
        independent = table.sum(axis=1, keepdims=True) * table.sum(axis=2, keepdims=True) / within
        ratio = np.divide(independent, table, out=np.zeros_like(independent), where=table > 0)
        return cells * ratio.ravel()[labels]

    cells = _under(product, channel, sample)
    contrasts = [np.kron(*(_contrasts(table.sum(k)) for k in (1, 0))) for table in tabled(cells)]

    def with_pairs(weights: Floats, null: Sample, seen: Sample) -> tuple[Floats, Sample, Sample]:
        paired = null if pairs is None else replace(null, design=_covariance(null) + pairs)
        return weights, paired, seen

    test = _score_test(hypothesis, reports, cells, block_diag(*contrasts), with_pairs)
    if not test.degrees_of_freedom:
        raise ValueError(
            f"whether {hypothesis} is not identifiable from these {test.n_reports:,} reports: "
            "design with targets='all'."
        )
    return test


def _contrasts(shares: Floats) -> Floats:
    """Orthonormal functions of k categories, weighted by the square roots of shares: (k, k - 1).

    Empty categories have entries of zero.
    """
    nonempty = np.flatnonzero(shares)
    contrasts = np.zeros((len(shares), max(len(nonempty) - 1, 0)))
    contrasts[nonempty] = np.linalg.qr(np.sqrt(shares[nonempty, None]), mode="complete")[0][:, 1:]
    return contrasts


Compared = Callable[[Floats, Sample, Sample], tuple[Floats, Sample, Sample]]


def _basis(functions: Floats) -> Floats:
    """Orthonormal basis of the columns (b, m)."""
    if not functions.size:
        return np.zeros((len(functions), 0))
    basis, size, _ = qr(functions, mode="economic", pivoting=True)
    return basis[:, np.abs(np.diag(size)) > _UNKNOWN]


def _score_test(
    hypothesis: str, reports: _Grouped, cells: Floats, contrasts: Floats, compared: Compared
) -> HypothesisTest:
    """Test whether the cells' distribution (a,) has zero components along contrasts (k, m).

    The contrasts' scores, as functions of the reports, are orthogonalised to the scores of
    everything else that may vary. `compared` computes the test from these weights (m, b), the
    expected reports under the hypothesis and the observed reports.
    """
    channel, labels, sample, _ = reports
    matrix = channel.matrix
    report = matrix @ cells
    often = sample.n * report >= _LEAST_EXPECTED
    root, shares = np.sqrt(report[often]), np.bincount(labels, cells)[labels]
    conditional = np.divide(cells, shares, out=np.zeros_like(cells), where=cells > 0)
    tested = np.sqrt(conditional)[:, None] * contrasts[labels]  # orthonormal, (a, m)
    scores = matrix[often] * np.sqrt(cells) / root[:, None]
    all_else = np.linalg.qr(tested, mode="complete")[0][:, tested.shape[1] :]
    nuisance = _basis(scores @ all_else)
    effective = scores @ tested
    effective = _basis(effective - nuisance @ (nuisance.T @ effective))
    weights = np.zeros((effective.shape[1], len(matrix)))
    weights[:, often] = (effective / root[:, None]).T
    weights, null, seen = compared(weights, Sample(report, sample.n, sample.design), sample)
    values, vectors = np.linalg.eigh(null.covariance(weights, weights))
    known = values > _SINGULAR * values.max(initial=0.0)
    white = (vectors[:, known] / np.sqrt(values[known])).T @ weights
    statistic = float(((white @ seen.shares) ** 2).sum())
    excess = _excess(null.centred(white) / np.sqrt(null.n), null.shares, null.n)
    return HypothesisTest.of(hypothesis, statistic, int(known.sum()), sample.n, excess)


def _excess(white: Floats, shares: Floats, n: float) -> Floats:
    """Excess variance and third cumulant of the squared mean of n vectors over a normal one.

    Shapes: `white` (m, b), with mean 0 and covariance 1; `shares` (b,).
    """
    squares = (white**2).sum(axis=0)
    squares = squares - shares @ squares
    second = shares @ squares**2 / n
    cubes = shares @ (white.T @ white) ** 3 @ shares
    skewed = white @ (shares * squares)
    third = (4.0 * cubes + 6.0 * skewed @ skewed + shares @ squares**3 / n) / n + 12.0 * second
    return np.array([second, third])


# -- does the population fit the public table? ----------------------------------------------------


@dataclass(frozen=True)
class DriftTest(HypothesisTest):
    """Test of whether the respondents come from the public table's population.

    Attributes
    ----------
    columns : tuple
        Columns of U whose distributions given S differ.
    leakage : float
        Leakage at the respondents' estimated distribution, in nats. The true leakage may be larger.
    leakage_at_least, leakage_at_most : float
        95 % confidence interval of the leakage at the respondents' distribution. The upper end is
        infinite if the reports do not bound the leakage.
    """

    columns: tuple[Any, ...] = ()
    leakage: float = float("nan")
    leakage_at_least: float = float("nan")
    leakage_at_most: float = float("nan")

    def with_leakage(self, blocks: Sequence[tuple[Channel, Floats, Mechanism]]) -> "DriftTest":
        """Estimate the largest leakage of the mechanisms for the respondents, from counts (b,)."""
        leaks = []
        for channel, counts, mechanism in blocks:
            sample, shape = Sample.of_counts(counts), (len(mechanism.secrets), -1)
            now = most_likely(channel, sample.shares, 1e-10, 10_000).distribution
            now = (sample.n * now + 0.5 * channel.public) / (sample.n + 0.5)  # keeps cells positive
            chances = WeightedStatistic.of(channel, *chances_of_reports(channel.matrix, shape[0]))
            lower = leakage_at_least(chances, sample, shape[0], 0.05 / len(blocks))
            upper = leakage_bound(mechanism, channel.matrix, counts, 0.025 / len(blocks))
            leaks.append((mechanism.leakage(now.reshape(shape)), lower, upper))
        names = "leakage", "leakage_at_least", "leakage_at_most"
        return replace(self, **dict(zip(names, map(max, zip(*leaks, strict=True)), strict=True)))


def drift_of(
    channel: Channel, counts: Floats, public: PublicSummary, mechanism: Mechanism
) -> DriftTest:
    """Test whether U given S is as in the public table; if not, name columns and the leakage.

    P(S) is unrestricted. The covariances of the reports and of the public table are both computed
    under the hypothesis that U given S is equal, because with the public table's own shares, rare
    cells would raise false alarms. The normal approximation also raises some: with 200 reports, a
    nominal p-value of 0.001 occurs in 5 of 1,000 samples.
    """
    sample, shape = Sample.of_counts(counts), public.counts.shape
    cells = channel.public.reshape(shape)
    within = cells / cells.sum(axis=1, keepdims=True)
    assert public.size is not None
    records = public.size * public.probabilities.sum(axis=1, keepdims=True)
    records = np.maximum(records, 0.5)

    def pooled(cells: Floats) -> Floats:  # with the public records
        reported = sample.n * cells.reshape(shape)
        total = reported + records * within
        total *= reported.sum(axis=1, keepdims=True) / total.sum(axis=1, keepdims=True)
        return (total / sample.n).ravel()

    cells = _under(pooled, channel, sample).reshape(shape)
    margin = cells.sum(axis=1, keepdims=True)
    conditional = np.divide(cells, margin, out=within.copy(), where=margin > 0)
    # A secret whose share tends to 0 explains nothing. EM is slow in that case, and its score is
    # ignored.
    of_secrets = (channel.matrix.reshape(-1, *shape) * conditional).sum(axis=2)
    secrets = Channel(of_secrets, margin[:, 0])
    margin = most_likely(secrets, sample.shares, 1e-10, 10_000).distribution[:, None]
    margin = np.where(sample.n * margin < _LEAST_EXPECTED, 0.0, margin)
    margin /= margin.sum()
    cells = margin * conditional

    def with_table(weights: Floats, null: Sample, seen: Sample) -> tuple[Floats, Sample, Sample]:
        """Combine reports with the public records, which have negative weights in the mean."""
        n = sample.n + float(records.sum())
        of_records = (weights @ channel.matrix) * (margin / records * np.ones(shape)).ravel()
        strata = np.append(np.zeros(channel.n_symbols), np.indices(shape)[0].ravel() + 1)
        # half a record is added, because the normal approximation fails for rare cells
        pairs = (null, records * conditional + 0.5), (seen, records * within)
        null, seen = (
            Sample(np.append(reports.n * reports.shares, table.ravel()) / n, n, None, strata)
            for reports, table in pairs
        )
        return np.hstack([weights * (n / sample.n), -n * of_records]), null, seen

    def tested(hypothesis: str, values: Indices) -> HypothesisTest:
        size = int(values.max()) + 1
        labels = (np.arange(shape[0])[:, None] * size + values).ravel()
        contrasts = (_contrasts(np.bincount(values, row).astype(float)) for row in cells)
        reports = _grouped(channel, labels, sample)
        return _score_test(hypothesis, reports, cells.ravel(), block_diag(*contrasts), with_table)

    hypothesis = "U given S is distributed as in the public table"
    test = DriftTest(**vars(tested(hypothesis, np.arange(shape[1]))))
    if test.p_value >= DRIFT:
        return test
    of_u, moved = [name for name, sensitive in mechanism.columns if not sensitive], []
    for name in of_u:
        values = group_cells(mechanism, [name], "all").labels[: shape[1]]
        moved.append((tested(str(name), values).p_value, name))
    columns = [name for p, name in sorted(moved, key=itemgetter(0)) if p < DRIFT / len(of_u)]
    return replace(test, columns=tuple(columns)).with_leakage([(channel, counts, mechanism)])


def chances_of_reports(matrix: Floats, n_secrets: int) -> tuple[Floats, Floats]:
    """Write P(report | secret) of possible reports as c·π / g·π: (b · a1, a) each."""
    secret = np.repeat(np.arange(n_secrets), matrix.shape[1] // n_secrets)
    member = (secret == np.arange(n_secrets)[:, None]).astype(float)
    c = matrix[matrix.max(axis=1) > 0][:, None, :] * member  # (b, a1, a)
    g = np.broadcast_to(member, c.shape)
    return c.reshape(-1, matrix.shape[1]), g.reshape(-1, matrix.shape[1])


def leakage_at_least(
    chances: WeightedStatistic, sample: Sample, n_secrets: int, miss: float
) -> float:
    """Return a lower bound on the leakage of reports, with error probability `miss`."""
    ends = chances.inference(sample).ends(1.0 - miss / len(chances.c))
    limits = chances.lowest[:, None] + chances.width[:, None] * [0.0, 1.0]
    ends = np.where(chances.determined[:, None], ends, limits)
    low, high = np.moveaxis(ends.reshape(-1, n_secrets, 2), 2, 0)
    with np.errstate(divide="ignore"):
        return max(0.0, float(np.log(low.max(axis=1) / high.min(axis=1)).max()))


def leakage_bound(mechanism: Mechanism, matrix: Floats, counts: Floats, beta: float) -> float:
    """Bound the leakage for the respondents' population, by the certificate over its own bounds.

    Shapes: `matrix` (b, a), the probabilities of the reports as they were counted; `counts` (b,).
    """
    shape = len(mechanism.secrets), len(mechanism.values)
    reports = (CountedReports(matrix, np.rint(counts).astype(np.int64)),)
    names = mechanism.secrets, mechanism.values
    joint = JointDistribution(np.ones(shape), *names, reports=reports)
    everywhere = np.inf if mechanism.claims is None else mechanism.claims.eps_worst_case
    lower, upper = conditional_bounds(reports, shape, beta, "reports")
    if is_empty(lower, upper).any():  # no distribution explains the reports
        return everywhere
    box = BoxSet(lower, upper, 0.0, "reports", beta, joint.n, reports)
    return float(min(certify(mechanism, box, box.centred(joint)).eps, everywhere))


def warn_of_drift(test: DriftTest | None, claims: Claims | None) -> None:
    """Warn about a population that differs from the public table, if this affects claims."""
    if test is None or test.p_value >= DRIFT:
        return
    if claims is not None and claims.main.around.is_everything:
        return
    names = f" in {listed(test.columns)}" if test.columns else ""
    remedy = "; drift= allows for small changes"
    if claims is None or test.leakage > _FAR * claims.eps:
        remedy = ", or with uncertainty=AllDistributions()"
    words = moved(test.leakage, test.leakage_at_least, test.leakage_at_most)
    warnings.warn(
        f"respondents differ from the public table{names} (p < {DRIFT:g}): for them {words}. "
        f"Redesign with a table of such people{remedy}.",
        stacklevel=3,
    )


def warn_of_broken_bounds(
    mechanism: Mechanism, matrix: Floats, counts: Floats, tests: int = 1
) -> None:
    """Warn if reports contradict the earlier reports from which the guarantee's bounds come.

    Shapes as in :func:`leakage_bound`; `tests` is the number of blocks.
    """
    around = None if mechanism.claims is None else mechanism.claims.main.around
    if around is None or around.bounds is None or not counts.any():
        return
    bounds, stays = around.bounds, math.exp(-around.numbers["drift"])
    reports = CountedReports(matrix, np.rint(counts).astype(np.int64))
    shape = len(mechanism.secrets), len(mechanism.values)
    lower, upper = conditional_bounds([reports], shape, DRIFT / tests, "reports")
    too_high = lower > stays * np.array(bounds.upper) + (1.0 - stays) * UNITS
    if (too_high | (upper < stays * np.array(bounds.lower))).any():
        most = leakage_bound(mechanism, matrix, counts, 0.05)
        warnings.warn(
            f"respondents contradict the {bounds.n_reports:,} private reports behind this design "
            f"(p < {DRIFT:g}): for them {changed_at_most(most)}. Redesign from their reports.",
            stacklevel=3,
        )


# -- do these reports come from this mechanism? ---------------------------------------------------


def warn_of_contradiction(
    channel: Channel, counts: Floats, *, block: Sequence[Any] = (), tests: int = 1
) -> None:
    """Warn if no distribution of records explains reports, as for raw records.

    `block` has the columns of U in the mechanism's block; `tests` is the number of blocks.
    """
    if contradicts(channel, counts, _FALSE_ALARMS / tests):
        of = f"the block ({', '.join(map(repr, block))})" if block else "this mechanism"
        warnings.warn(
            f"no distribution of records explains these {counts.sum():,.0f} reports of {of}. Fit "
            "only reports of this mechanism, one for each person, and no raw records.",
            stacklevel=4 if block else 3,
        )


def contradicts(channel: Channel, counts: Floats, level: float) -> bool:
    """Whether a mechanism produces such reports (b,) with probability at most `level`.

    The statistic is the likelihood ratio of all multinomial distributions against those that the
    mechanism can produce. At the true distribution p, it is N KL(f || p), whose tail has a bound
    for every N and p (docs/proofs.md, section E), so rare symbols raise no false alarms.
    """
    n, seen = float(counts.sum()), counts > 0
    shares = counts / n
    entropy = float(shares[seen] @ np.log(shares[seen]))
    steps = int(channel.possible.sum()) - 1

    def is_rare(statistic: float) -> bool:
        # The tail is never below exp(-statistic), which decides most cases quickly.
        high = steps > 0 and statistic >= -np.log(level)
        return high and float(tail_bound(steps, 0)(statistic)) <= level

    for max_iter in (2, 20, 1_000):
        best = most_likely(channel, shares, 1.0 / n, max_iter)
        report = channel.forward(best.distribution)[seen]
        statistic = n * (entropy - float(shares[seen] @ np.log(report)) - best.gap)
        if not is_rare(statistic + n * best.gap):
            return False
    return is_rare(statistic)
