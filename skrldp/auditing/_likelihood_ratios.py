r"""Test by betting, and by counting, whether reports follow the certified mechanism.

Under the mechanism, the likelihood ratio of any other distribution of the reports has expectation
1, and so has any average of such ratios. By Markov's inequality it exceeds :math:`1/p` with
probability at most p, for any number of cells, reports and records. The alternatives: some records
are reported without noise; two secrets are swapped; the reports of a cell follow another
distribution, drawn from a Dirichlet distribution around the mechanism's.

Bets pay for the choice between them. A small share of records without noise is seen with fewer
records by counting: how many reports are the likeliest ones of their cells, and how many are the
records themselves. The number is a sum of independent binomial ones; its tail above the mean is at
most that of one binomial number with the same mean (Hoeffding 1956, theorem 5).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import bdtrc, gammaln, logsumexp

from skrldp._typing import Floats, Integers
from skrldp.auditing._subject import Subject

__all__ = ["check_mechanism", "expected_reports", "some_cells"]


_MATRIX = 4_000_000  # entries of the mechanism to look at
_SHARES = np.geomspace(0.003, 0.9, 24)  # of the records that are reported without noise
_STRENGTHS = 10.0 ** np.arange(6)  # of the Dirichlet distributions
_TINY = 1e-300  # in place of 0, for reports that the mechanism never makes
_SEEM = "of the records seem to be reported"
_MOST_SECRETS = 48  # for which all swaps are tried


def some_cells(subject: Subject, generator: np.random.Generator) -> Integers:
    """Cells to check: all, or as many at random as a matrix of reports by cells can hold.

    Returns array of int: in increasing order.
    """
    n_reports = subject.mechanism.shape[0] if subject.mechanism is not None else 1
    most = max(16, _MATRIX // n_reports)
    if subject.n_cells <= most:
        return np.arange(subject.n_cells)
    return np.sort(generator.choice(subject.n_cells, most, replace=False))


def expected_reports(subject: Subject, cells: Integers) -> Floats:
    """Probabilities of the reports of some cells, as the mechanism has them.

    Returns (number of different reports, number of cells): symbols that are written alike are one
    report.
    """
    assert subject.mechanism is not None
    symbols = subject.known_reports()
    found = np.zeros((len(set(symbols.tolist())), len(cells)))
    np.add.at(found, symbols, subject.mechanism.form.columns(cells))
    return found


def check_mechanism(
    subject: Subject,
    cells: Integers,
    places: Integers,
    reports: Integers,
    distribution: Floats | None = None,
) -> tuple[float, str]:
    """Test whether the reports follow the mechanism.

    Shapes: `places` (n,); `reports` (n,); `distribution` (b, number of cells), that of the reports
    if it is another one than that of these cells. Returns (float, str): bound on the p-value, and
    what was found.
    """
    if distribution is None:
        distribution = expected_reports(subject, cells)
    foreign = np.flatnonzero(reports >= len(distribution))  # the mechanism's own come first
    if foreign.size:
        row = subject.index.row(int(reports[foreign[0]]))
        return 0.0, (
            f"{foreign.size:,} of {len(reports):,} reports are not the mechanism's, such as {row!r}"
        )
    column = np.searchsorted(cells, places)
    pairs, counts = np.unique(reports * len(cells) + column, return_counts=True)
    row, column = np.divmod(pairs, len(cells))
    impossible = distribution[row, column] <= 0
    # So that the alternatives can describe the fault.
    distribution[row[impossible], column[impossible]] = _TINY
    seen = Seen(subject, cells, distribution, row, column, counts)
    bets = [_noiseless(seen), _any_distribution(seen)]
    swap = None
    if len(subject.secrets) <= _MOST_SECRETS and len(cells) == subject.n_cells:
        swap = _swapped(seen)
        bets.insert(1, swap)
    logs = [logsumexp(ratios) - np.log(len(ratios)) for ratios, _ in bets]
    evidence = float(logsumexp(logs) - np.log(len(logs)))
    winner = max(bets, key=lambda bet: bet[0].max())
    ratios, words = winner
    best = int(ratios.argmax())
    if impossible.any():
        place = int(np.argmax(np.where(impossible, counts, 0)))
        report, cell = seen.named(place)
        swapped = f"; {words(best)}" if winner is swap else ""
        return 0.0, f"report {report} comes from cell {cell}, which never makes it{swapped}"
    p_value = float(np.exp(min(0.0, -evidence)))
    found = p_value, f"{words(best)} (evidence {evidence:.3g} nats)"
    p_value, said = min(found, _counted(seen), key=lambda one: one[0])
    return min(1.0, 2.0 * p_value), said


@dataclass(frozen=True, eq=False)
class Seen:
    """How often the different reports came from the different cells."""

    subject: Subject
    cells: Integers  # (m,), the cells, in increasing order
    distribution: Floats  # (b, m), probabilities of the reports, as the mechanism has them
    # row, column: (n,), pairs of a report and a cell that occur
    row: Integers
    column: Integers
    counts: Integers  # (n,), how often each of them does

    @cached_property
    def expected(self) -> Floats:
        """Probability of each pair's report given its cell, shape (n,)."""
        return self.distribution[self.row, self.column]

    @cached_property
    def totals(self) -> Floats:
        """Number of records of each cell, shape (m,)."""
        return np.bincount(self.column, self.counts, minlength=len(self.cells)).astype(float)

    def named(self, pair: int) -> tuple[str, str]:
        """Name the report and the cell of a pair."""
        values = self.subject.values
        secret, value = divmod(int(self.cells[self.column[pair]]), len(values))
        cell = self.subject.secrets[secret], values[value]
        return repr(self.subject.index.row(int(self.row[pair]))), repr(cell)


# Log-likelihood ratios of some alternatives, and what is said if one of them fits best.
Bet = tuple[Floats, Callable[[int], str]]


def _counted(seen: Seen) -> tuple[float, str]:
    """Bound the p-value of so many of the likeliest reports, or of reports that are the records."""
    distribution, totals = seen.distribution, seen.totals
    n, found = int(totals.sum()), []
    for bare, words in (
        (distribution.argmax(axis=0), "without noise"),
        (seen.subject.unchanged(seen.cells), "unchanged"),
    ):
        known = np.flatnonzero((bare >= 0) & (bare < len(distribution)))
        mean = float(totals[known] @ distribution[bare[known], known]) / n
        count = int(seen.counts[bare[seen.column] == seen.row].sum())
        p_value = float(bdtrc(count - 1, n, mean)) if count - 1 >= n * mean else 1.0
        share = max(0.0, count / n - mean) / max(1.0 - mean, 1e-300)
        found.append((p_value, f"about {_percent(share)} {_SEEM} {words}"))
    p_value, words = min(found, key=lambda one: one[0])
    return min(1.0, len(found) * p_value), words


def _noiseless(seen: Seen) -> Bet:
    """Alternatives in which a share of the records gets its most probable report."""
    favourite = seen.distribution.argmax(axis=0)[seen.column] == seen.row
    share = _SHARES[:, None]
    ratio = 1.0 - share + share * np.where(favourite, 1.0 / seen.expected, 0.0)
    return np.log(
        ratio
    ) @ seen.counts, lambda best: f"about {_percent(float(_SHARES[best]))} {_SEEM} without noise"


def _swapped(seen: Seen) -> Bet:
    """Alternatives with two secrets swapped, or all in reverse order."""
    secrets = seen.subject.secrets
    n_secrets, n_values = len(secrets), len(seen.subject.values)
    secret, value = np.divmod(seen.column, n_values)
    with np.errstate(divide="ignore"):
        logs = np.log(seen.distribution.reshape(-1, n_secrets, n_values))
    # likelihood[s, t]: of the records of s, if their columns were those of t
    likelihood = np.full((n_secrets, n_secrets), -np.inf)
    for other in range(n_secrets):
        terms = seen.counts * logs[seen.row, other, value]
        likelihood[:, other] = np.bincount(secret, terms, minlength=n_secrets)
    first, second = np.triu_indices(n_secrets, 1)
    own = np.diag(likelihood)
    ratio = likelihood[first, second] + likelihood[second, first] - own[first] - own[second]

    def words(best: int) -> str:
        if best == len(first):
            return "the secrets seem to be in reverse order"
        return f"secrets {secrets[first[best]]!r} and {secrets[second[best]]!r} seem to be swapped"

    if n_secrets <= 3:  # the reverse order of two or three is a swap
        return ratio, words
    in_reverse = np.trace(likelihood[:, ::-1]) - np.trace(likelihood)
    return np.append(ratio, in_reverse), words


def _any_distribution(seen: Seen) -> Bet:
    """Alternatives that are Dirichlet mixtures around the mechanism's own columns."""
    expected, counts, totals = seen.expected, seen.counts, seen.totals
    strength = _STRENGTHS[:, None]
    mixed = gammaln(strength) - gammaln(strength + totals)
    hits = gammaln(strength * expected + counts) - gammaln(strength * expected)
    ratios = mixed.sum(axis=1) + hits.sum(axis=1) - float(counts @ np.log(expected))
    return ratios, lambda _: _oddest(seen)


def _oddest(seen: Seen) -> str:
    """Name the report whose number is furthest from what is expected."""
    expected, counts = seen.expected, seen.counts
    totals = seen.totals[seen.column]
    mean = totals * expected
    pair = int((np.abs(counts - mean) / np.sqrt(mean * (1.0 - expected) + 1e-300)).argmax())
    report, cell = seen.named(pair)
    return (
        f"report {report} of cell {cell} came {counts[pair]:,} times in {int(totals[pair]):,}, "
        f"where {mean[pair]:.1f} were expected"
    )


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else f"{share:.1%}"
