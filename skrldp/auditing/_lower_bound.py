r"""The lower bound: choose the worst event on some records, bound its ratio on others.

For a distribution with conditionals :math:`R_s` of U, every event A of reports and every pair of
secrets has :math:`\log P(A|s_1)/P(A|s_2)\le\epsilon`. Some of the records, the pilot, serve to
choose the distribution, the pair and the event for which the greatest bound is expected, above what
is claimed of the pair; a known mechanism's probabilities count there like additional records. The
other records are all of that pair, and Clopper and Pearson's interval for each of the two
probabilities bounds the ratio. The choice does not depend on the records of the test, so the number
of events to choose from does not matter.

The event of the greatest ratio may be so rare that the records of the test say little about it. So
a second event is bounded beside it, which the pilot finds the most certain to tell the pair apart,
and the greater bound counts. The error probability is divided between the two.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betainccinv, betaincinv, ndtri

from skrldp._typing import Booleans, Floats, Integers
from skrldp.auditing._comparisons import Comparison
from skrldp.auditing._repeated_reports import RepeatedReports
from skrldp.auditing._subject import Subject

__all__ = ["LowerBound", "bound_leakage", "clopper_pearson", "fewest_records"]


_PILOT = 0.25  # of the records
_MOST_SECRETS = 64  # that one pilot looks at: more are chosen at random
_LEAST = 16  # records of each secret and distribution in the pilot
_DOUBT = 0.5  # standard deviations by which the pilot's ratios are reduced
_SECOND = 0.2  # of the error probability, for the second event
_MOST_EVENTS = 2_000_000  # that one pilot compares
_MOST_CLAIMED = 1e6  # stands for no bound at all, in nats: any other claim is tested first


@dataclass(frozen=True)
class LowerBound:
    """A lower bound on the leakage, and where it comes from."""

    # eps, estimate: Lower bound and estimate, in nats; not less than 0
    eps: float
    estimate: float
    comparison: int  # which of the comparisons
    pair: tuple[int, int]  # the groups of records: the event is more probable under the first
    event: tuple[int, ...]  # numbers of the reports
    # counts, totals: How many of the records of each group had such a report
    counts: tuple[int, int]
    totals: tuple[int, int]


def clopper_pearson(count: int, total: int, miss: float) -> tuple[float, float]:
    """Confidence bounds of a probability, each wrong with probability at most `miss`.

    Examples
    --------
    >>> low, high = clopper_pearson(0, 100, 0.05)
    >>> low, round(high, 4)    # 1 - 0.05 ** (1 / 100)
    (0.0, 0.0295)
    """
    low = 0.0 if count == 0 else float(betaincinv(count, total - count + 1, miss))
    high = 1.0 if count == total else float(betainccinv(count + 1, total - count, miss))
    return low, high


def fewest_records(n_groups: int, n_comparisons: int) -> int:
    """Smallest number of records from which a bound can be computed."""
    return int(np.ceil(_LEAST * min(n_groups, _MOST_SECRETS) * n_comparisons / _PILOT))


def bound_leakage(
    subject: Subject | RepeatedReports,
    comparisons: Sequence[Comparison],
    n: int,
    miss: float,
    generator: np.random.Generator,
) -> LowerBound:
    """Bound the leakage of a black box from below."""
    comparison, pair, events, spent = _pilot(subject, comparisons, n, miss, generator)
    sizes = (n - spent) // 2, (n - spent) - (n - spent) // 2
    cells = [
        comparisons[comparison].draw(g, m, generator) for g, m in zip(pair, sizes, strict=True)
    ]
    reports = _reports(subject, np.concatenate(cells), generator)
    found = []
    # Bonferroni: the probabilities sum to miss, and the events were chosen before these records.
    shares = (1.0,) if len(events) == 1 else (1.0 - _SECOND, _SECOND)
    for event, share in zip(events, shares, strict=True):
        hit = np.isin(reports, event)
        counts = int(hit[: sizes[0]].sum()), int(hit[sizes[0] :].sum())
        low, _ = clopper_pearson(counts[0], sizes[0], share * miss / 2.0)
        _, high = clopper_pearson(counts[1], sizes[1], share * miss / 2.0)
        with np.errstate(divide="ignore"):
            rates = np.log([counts[0] / sizes[0], counts[1] / sizes[1]])
        bound = LowerBound(
            eps=float(np.log(low / high)) if low > high else 0.0,
            estimate=max(0.0, float(rates[0] - rates[1])) if counts[0] else 0.0,
            comparison=comparison,
            pair=pair,
            event=tuple(event.tolist()),
            counts=counts,
            totals=sizes,
        )
        found.append(bound)
    return max(found, key=lambda one: one.eps)  # the first of equal ones


def _reports(
    subject: Subject | RepeatedReports, cells: Integers, generator: np.random.Generator
) -> Integers:
    """Have the records reported in random order."""
    order = generator.permutation(len(cells))
    reports = np.empty(len(cells), dtype=np.int64)
    reports[order] = subject.reports(cells[order])
    return reports


def _pilot(
    subject: Subject | RepeatedReports,
    comparisons: Sequence[Comparison],
    n: int,
    miss: float,
    generator: np.random.Generator,
) -> tuple[int, tuple[int, int], list[Integers], int]:
    """Choose a comparison, a pair of groups and events; also count the records used."""
    chosen = [one.some(_MOST_SECRETS, generator) for one in comparisons]
    size = int(_PILOT * n) // sum(map(len, chosen))
    pairs = list(zip(comparisons, chosen, strict=True))
    cells = [one.draw(g, size, generator) for one, some in pairs for g in some]
    reports = _reports(subject, np.concatenate(cells), generator)
    known = [one.report_distribution(subject, some) for one, some in pairs]
    distinct = np.unique(reports)
    if known[0] is not None:
        distinct = np.union1d(distinct, subject.known_reports())
    # A row of codes for each comparison and group.
    codes = np.searchsorted(distinct, reports).reshape(-1, size)
    expected = [
        _expected(subject, told, len(some), distinct)
        for told, some in zip(known, chosen, strict=True)
    ]
    # Reports are ordered on one half of the pilot; events are compared on the other.
    ordering = _rates(codes[:, : size // 2], np.concatenate(expected))
    judging = _rates(codes[:, size // 2 :], np.concatenate(expected))
    # The expected bound is reduced by the width of the final interval and by the pilot's own error.
    n_test, n_judged = (n - codes.size) // 2, size - size // 2 + expected[0][0].sum()
    step = float(-ndtri(miss / 2.0) / np.sqrt(n_test) + _DOUBT / np.sqrt(n_judged))
    best: tuple[float, int, tuple[int, int], list[Integers]] = (-np.inf, 0, (0, 0), [])
    start = 0
    for place, (one, some) in enumerate(pairs):
        rows = slice(start, start + len(some))
        start += len(some)
        square = np.ix_(some, some)
        claims = (one.claims if one.bounds is None else one.bounds)[square]
        claims = np.minimum(np.nan_to_num(claims, nan=0.0), _MOST_CLAIMED)
        score, first, second, events = _choose(
            ordering[rows], judging[rows], step, one.compared[square], claims
        )
        if score > best[0]:
            named = [distinct[members] for members in events]
            best = score, place, (int(some[first]), int(some[second])), named
    return best[1], best[2], best[3], codes.size


def _expected(
    subject: Subject | RepeatedReports, known: Floats | None, n_groups: int, distinct: Integers
) -> Floats:
    """Imaginary records: how many of each group (rows) have each report (columns)."""
    counts = np.full((n_groups, len(distinct)), 0.5 / len(distinct))
    if known is not None:
        places = np.searchsorted(distinct, subject.known_reports())
        np.add.at(counts.T, places, subject.imagined * known)
    return counts


def _rates(codes: Integers, expected: Floats) -> Floats:
    """Estimate the probability of each report (columns) in each row of codes."""
    n_rows, n_reports = expected.shape
    places = codes + n_reports * np.arange(n_rows)[:, None]
    counts = np.bincount(places.ravel(), minlength=expected.size).reshape(expected.shape)
    rates: Floats = (counts + expected) / (codes.shape[1] + expected.sum(axis=1, keepdims=True))
    return rates


def _choose(
    ordering: Floats, judging: Floats, step: float, compared: Booleans, claims: Floats
) -> tuple[float, int, int, list[Integers]]:
    """Return how far the expected bound is above the claim at most, the pair and its events.

    Both tables have a group in each row and the probability of a report in each column. The
    events of a pair are the first few reports in the order of their ratio. The second event is the
    one with the greatest difference of probabilities in units of its error; it is left out if it is
    the first one.
    """
    first, second = _pairs(ordering, compared)
    ratio = np.log(ordering[first]) - np.log(ordering[second])
    order = np.argsort(-ratio, axis=1, kind="stable")
    most = np.cumsum(np.take_along_axis(judging[first], order, axis=1), axis=1)
    least = np.cumsum(np.take_along_axis(judging[second], order, axis=1), axis=1)
    score = _promise(most, least, step) - claims[first, second, None]
    if score.shape[1] > 1:
        score[:, -1] = -np.inf  # all reports: they tell nothing
    pair, last = np.unravel_index(int(score.argmax()), score.shape)
    apart = np.arcsin(np.sqrt(np.minimum(most[pair], 1.0)))
    apart -= np.arcsin(np.sqrt(np.minimum(least[pair], 1.0)))
    ends = dict.fromkeys((int(last), int(apart[: max(1, len(apart) - 1)].argmax())))
    events = [order[pair, : end + 1] for end in ends]
    return float(score[pair, last]), int(first[pair]), int(second[pair]), events


def _pairs(rates: Floats, compared: Booleans) -> tuple[Integers, Integers]:
    """Return the ordered pairs of groups to compare: all, or those that some reports tell apart."""
    n_reports = rates.shape[1]
    first, second = np.nonzero(compared)
    if len(first) * n_reports <= _MOST_EVENTS:
        return first, second
    roots = np.sqrt(rates)
    contrast = [(roots[g] - roots[others]).max(axis=1) for g, others in enumerate(compared)]
    telling = np.argsort(-np.concatenate(contrast))[: max(1, _MOST_EVENTS // n_reports)]
    return first[telling], second[telling]


def _promise(high: Floats, low: Floats, step: float) -> Floats:
    """Compute the expected bound, by intervals of one width for the arc sines of the roots."""
    least = np.arcsin(np.sqrt(np.minimum(high, 1.0))) - step / 2.0
    most = np.arcsin(np.sqrt(np.minimum(low, 1.0))) + step / 2.0
    lower = np.sin(np.maximum(least, 1e-9)) ** 2
    return np.log(lower) - np.log(np.sin(np.minimum(most, np.pi / 2.0)) ** 2)
