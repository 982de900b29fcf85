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
    subject: Subject, cells: Integers, places: Integers, reports: Integers
) -> tuple[float, str]:
    """Test whether the reports follow the mechanism.

    Shapes: `places` (n,); `reports` (n,). Returns (float, str): bound on the p-value, and what was
    found.
    """
    n_reports = len(set(subject.known_reports().tolist()))
    foreign = np.flatnonzero(reports >= n_reports)  # the mechanism's own reports come first
    if foreign.size:
        row = subject.index.row(int(reports[foreign[0]]))
        return 0.0, (
            f"{foreign.size:,} of {len(reports):,} reports are not the mechanism's, such as {row!r}"
        )
    distribution = expected_reports(subject, cells)
    column = np.searchsorted(cells, places)
    pairs, counts = np.unique(reports * len(cells) + column, return_counts=True)
    row, column = np.divmod(pairs, len(cells))
    impossible = distribution[row, column] <= 0
    distribution[row[impossible], column[impossible]] = (
        _TINY  # so that the alternatives can describe the fault
    )
    expected = distribution[row, column]
    counted = _counted(subject, cells, distribution, row, column, counts)
    bets = [_noiseless(distribution, row, column, counts, expected)]
    if len(subject.secrets) <= _MOST_SECRETS and len(cells) == subject.n_cells:
        bets.append(_swapped(distribution, row, column, counts, len(subject.secrets)))
    bets.append(_any_distribution(distribution, row, column, counts, expected))
    logs = np.array([logsumexp(bet) - np.log(len(bet)) for bet in bets])
    evidence = float(logsumexp(logs) - np.log(len(logs)))
    p_value = float(np.exp(min(0.0, -evidence)))
    names = [
        lambda best: f"about {_percent(float(_SHARES[best]))} {_SEEM} without noise",
        lambda best: _swap(subject, best),
        lambda best: _oddest(subject, cells, row, column, counts, expected, len(reports)),
    ]
    if len(bets) == 2:
        del names[1]
    winner = int(np.argmax([bet.max() for bet in bets]))
    if impossible.any():
        place = int(np.argmax(np.where(impossible, counts, 0)))
        words = (
            f"report {_named(subject, row[place])} comes from cell "
            f"{_cell(subject, cells[column[place]])}, which never makes it"
        )
        if winner == 1 and len(bets) == 3:
            words += f"; {names[1](int(bets[1].argmax()))}"
        return 0.0, words
    found = p_value, f"{names[winner](int(bets[winner].argmax()))} (evidence {evidence:.3g} nats)"
    p_value, words = min(found, counted, key=lambda one: one[0])
    return min(1.0, 2.0 * p_value), words


def _counted(
    subject: Subject,
    cells: Integers,
    distribution: Floats,
    row: Integers,
    column: Integers,
    counts: Integers,
) -> tuple[float, str]:
    """Bound the p-value of so many of the likeliest reports, or of reports that are the records."""
    totals = np.bincount(column, counts, minlength=len(cells))
    n, found = int(totals.sum()), []
    for bare, words in (
        (distribution.argmax(axis=0), "without noise"),
        (subject.unchanged(cells), "unchanged"),
    ):
        known = np.flatnonzero((bare >= 0) & (bare < len(distribution)))
        mean = float(totals[known] @ distribution[bare[known], known]) / n
        count = int(counts[bare[column] == row].sum())
        p_value = float(bdtrc(count - 1, n, mean)) if count - 1 >= n * mean else 1.0
        share = max(0.0, count / n - mean) / max(1.0 - mean, 1e-300)
        found.append((p_value, f"about {_percent(share)} {_SEEM} {words}"))
    p_value, words = min(found, key=lambda one: one[0])
    return min(1.0, len(found) * p_value), words


def _noiseless(
    distribution: Floats, row: Integers, column: Integers, counts: Integers, expected: Floats
) -> Floats:
    """Log-likelihood ratios where a share of the records gets its most probable report."""
    favourite = distribution.argmax(axis=0)[column] == row
    share = _SHARES[:, None]
    ratio = 1.0 - share + share * np.where(favourite, 1.0 / expected, 0.0)
    return np.log(ratio) @ counts


def _swapped(
    distribution: Floats, row: Integers, column: Integers, counts: Integers, n_secrets: int
) -> Floats:
    """Log-likelihood ratios of distributions with two secrets swapped, or all in reverse order."""
    n_values = distribution.shape[1] // n_secrets
    secret, value = np.divmod(column, n_values)
    with np.errstate(divide="ignore"):
        logs = np.log(distribution.reshape(len(distribution), n_secrets, n_values))
    # likelihood[s, t]: of the records of s, if their columns were those of t
    likelihood = np.full((n_secrets, n_secrets), -np.inf)
    for other in range(n_secrets):
        terms = counts * logs[row, other, value]
        likelihood[:, other] = np.bincount(secret, terms, minlength=n_secrets)
    first, second = np.triu_indices(n_secrets, 1)
    own = np.diag(likelihood)
    ratio = likelihood[first, second] + likelihood[second, first] - own[first] - own[second]
    if n_secrets <= 3:  # the reverse order of two or three is a swap
        return ratio
    in_reverse = np.trace(likelihood[:, ::-1]) - np.trace(likelihood)
    return np.append(ratio, in_reverse)


def _any_distribution(
    distribution: Floats, row: Integers, column: Integers, counts: Integers, expected: Floats
) -> Floats:
    """Log-likelihood ratios of Dirichlet mixtures around the mechanism's own columns."""
    totals = np.bincount(column, counts, minlength=distribution.shape[1])
    strength = _STRENGTHS[:, None]
    mixed = gammaln(strength) - gammaln(strength + totals)
    hits = gammaln(strength * expected + counts) - gammaln(strength * expected)
    return mixed.sum(axis=1) + hits.sum(axis=1) - float(counts @ np.log(expected))


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else f"{share:.1%}"


def _swap(subject: Subject, best: int) -> str:
    first, second = np.triu_indices(len(subject.secrets), 1)
    if best == len(first):
        return "the secrets seem to be in reverse order"
    pair = subject.secrets[first[best]], subject.secrets[second[best]]
    return f"secrets {pair[0]!r} and {pair[1]!r} seem to be swapped"


def _oddest(
    subject: Subject,
    cells: Integers,
    row: Integers,
    column: Integers,
    counts: Integers,
    expected: Floats,
    n: int,
) -> str:
    totals = np.bincount(column, counts, minlength=len(cells))[column]
    mean = totals * expected
    place = int((np.abs(counts - mean) / np.sqrt(mean * (1.0 - expected) + 1e-300)).argmax())
    return (
        f"report {_named(subject, row[place])} of cell {_cell(subject, cells[column[place]])} came "
        f"{counts[place]:,} times in {int(totals[place]):,}, where {mean[place]:.1f} were expected"
    )


def _named(subject: Subject, number: int) -> str:
    return repr(subject.index.row(int(number)))


def _cell(subject: Subject, cell: int) -> str:
    secret, value = divmod(int(cell), len(subject.values))
    return repr((subject.secrets[secret], subject.values[value]))
