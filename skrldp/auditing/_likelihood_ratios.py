r"""Test by betting whether reports follow the certified mechanism.

Under the mechanism, the likelihood ratio of any other distribution of the reports has expectation
1, and so has any average of such ratios. By Markov's inequality it exceeds :math:`1/p` with
probability at most p, for any number of cells, reports and records. The alternatives: some records
are reported without noise; two secrets are swapped; the reports of a cell follow another
distribution, drawn from a Dirichlet distribution around the mechanism's.
"""

import numpy as np
from scipy.special import gammaln, logsumexp

from skrldp._typing import Floats, Integers
from skrldp.auditing._subject import SanitizerSubject, Subject

__all__ = ["check_mechanism", "some_cells"]


_MATRIX = 4_000_000  # entries of the mechanism to look at
_SHARES = np.geomspace(0.003, 0.9, 24)  # of the records that are reported without noise
_STRENGTHS = 10.0 ** np.arange(6)  # of the Dirichlet distributions
_TINY = 1e-300  # in place of 0, for reports that the mechanism never makes
_MOST_SECRETS = 48  # for which all swaps are tried


def some_cells(subject: Subject, generator: np.random.Generator) -> Integers:
    """Cells to check: all, or as many at random as a matrix of reports by cells can hold.

    Parameters
    ----------
    subject : Subject
        The black box.
    generator : Generator
        Chooses the cells.

    Returns
    -------
    array of int
        In increasing order.
    """
    n_reports = subject.mechanism.shape[0] if subject.mechanism is not None else 1
    most = max(16, _MATRIX // n_reports)
    if subject.n_cells <= most:
        return np.arange(subject.n_cells)
    return np.sort(generator.choice(subject.n_cells, most, replace=False))


def check_mechanism(
    subject: SanitizerSubject, cells: Integers, places: Integers, reports: Integers
) -> tuple[float, str]:
    """Test whether the reports follow the mechanism.

    Parameters
    ----------
    subject : SanitizerSubject
        What is audited.
    cells : array of int
        The cells that records were drawn from, in increasing order.
    places : array of shape (n,)
        Cell of each record.
    reports : array of shape (n,)
        Numbers of the reports.

    Returns
    -------
    (float, str)
        Bound on the p-value, and what was found.
    """
    n_reports = len(set(subject.symbols.tolist()))
    foreign = np.flatnonzero(reports >= n_reports)  # a sanitizer's own reports come first
    if foreign.size:
        row = subject.index.row(int(reports[foreign[0]]))
        return 0.0, (
            f"{foreign.size:,} of {len(reports):,} reports are not the mechanism's, such as {row!r}"
        )
    assert subject.mechanism is not None
    columns = subject.mechanism.form.columns(cells)
    distribution = np.zeros((n_reports, len(cells)))
    np.add.at(distribution, subject.symbols, columns)  # symbols written alike are one report
    column = np.searchsorted(cells, places)
    pairs, counts = np.unique(reports * len(cells) + column, return_counts=True)
    row, column = np.divmod(pairs, len(cells))
    impossible = distribution[row, column] <= 0
    distribution[row[impossible], column[impossible]] = (
        _TINY  # so that the alternatives can describe the fault
    )
    expected = distribution[row, column]
    bets = [_noiseless(distribution, row, column, counts, expected)]
    if len(subject.secrets) <= _MOST_SECRETS and len(cells) == subject.n_cells:
        bets.append(_swapped(distribution, row, column, counts, len(subject.secrets)))
    bets.append(_any_distribution(distribution, row, column, counts, expected))
    logs = np.array([logsumexp(bet) - np.log(len(bet)) for bet in bets])
    evidence = float(logsumexp(logs) - np.log(len(logs)))
    p_value = float(np.exp(min(0.0, -evidence)))
    names = [
        lambda best: f"about {_percent(best)} of the records seem to be reported without noise",
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
    return p_value, f"{names[winner](int(bets[winner].argmax()))} (evidence {evidence:.3g} nats)"


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


def _percent(best: int) -> str:
    share = float(_SHARES[best])
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
