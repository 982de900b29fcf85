"""Several reports about the same record, as one outcome: what is seen is a multiset of reports."""

import math
from collections.abc import Iterator
from itertools import chain, combinations_with_replacement
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp

from skrldp._typing import Floats, Integers
from skrldp.auditing._report_index import ReportIndex
from skrldp.auditing._subject import SanitizerSubject, Subject
from skrldp.mechanism import Mechanism

__all__ = ["RepeatedReports", "log_likelihoods", "repeated_leakage"]


_MATRIX = 4_000_000  # entries of the mechanism, or probabilities of outcomes, that are held
_MOST_OUTCOMES = 100_000  # that are listed without having been seen
_MOST_TERMS = 200_000_000  # factors of all outcomes' probabilities in all cells
_IMAGINED = 100  # records of each secret, for each outcome: most outcomes are seen seldom or never
_CHUNK = 1_000_000  # entries of outcomes by cells at a time


class RepeatedReports:
    """A black box that reports every record k times: its outcomes are the multisets of k reports.

    Parameters
    ----------
    subject : Subject
        The black box, which makes one report about each record in a call.
    k : int
        Number of reports about each record.
    """

    def __init__(self, subject: Subject, k: int) -> None:
        self._subject, self._k = subject, k
        self._index = ReportIndex()
        self._logs: Floats | None = None  # log-probabilities of the reports in each cell
        self._all = False  # whether all outcomes are listed
        if not isinstance(subject, SanitizerSubject):
            return
        mechanism = subject.sanitizer.mechanism_
        n_cells = mechanism.shape[1]
        if mechanism.shape[0] * n_cells > _MATRIX:
            return
        matrix = np.zeros((len(subject.index), n_cells))
        np.add.at(matrix, subject.symbols, mechanism.matrix)  # symbols written alike are one report
        self._logs = _logs(matrix)
        n_outcomes = math.comb(len(matrix) + k - 1, k)
        if _can_list(n_outcomes, n_cells, k) and n_outcomes * len(subject.secrets) <= _MATRIX:
            self._index.add(_multisets(len(matrix), k), n_outcomes)
            self._all = True

    @property
    def imagined(self) -> int:
        """How many records of each secret a known mechanism's probabilities count as."""
        return max(self._subject.imagined, _IMAGINED * len(self._index))

    def reports(self, cells: Integers) -> Integers:
        """Numbers of the outcomes for records that have these cells: k calls for each part."""
        step = self._subject.rows_per_call
        found = []
        for start in range(0, len(cells), step):
            part = cells[start : start + step]
            calls = np.stack([self._subject.reports(part) for _ in range(self._k)], axis=1)
            found.append(self._index.add(np.sort(calls, axis=1), len(part)))
        return np.concatenate(found)

    def known_reports(self) -> Integers:
        """Numbers of the outcomes that :meth:`report_distribution` is about: all, or those seen."""
        return np.arange(len(self._index) if self._logs is not None else 0)

    def report_distribution(self, conditionals: Floats) -> Floats | None:
        """Return the probability of each known outcome given each secret, if it can be computed."""
        n = len(self._index)
        if self._logs is None or not (self._all or _within(n, conditionals.size, self._k)):
            return None
        outcomes = np.array([self._numbers(place) for place in range(n)], dtype=np.int64)
        own = (outcomes < len(self._logs)).all(axis=1)  # others the mechanism never makes
        probabilities = np.zeros((n, len(conditionals)))
        logs = log_likelihoods(self._logs, outcomes[own], conditionals)
        probabilities[own] = np.exp(logs + _orders(outcomes[own])[:, None])
        return probabilities

    def row(self, number: int) -> tuple[Any, ...]:
        """Return an outcome: the k reports, each as it came, in no particular order."""
        return tuple(self._subject.row(report) for report in self._numbers(number))

    def _numbers(self, number: int) -> tuple[int, ...]:
        numbers: tuple[int, ...] = self._index.row(number)
        return numbers


def repeated_leakage(mechanism: Mechanism, distribution: Floats, k: int) -> float | None:
    """Leakage of k independent reports about one record, at one distribution.

    The number of orders of a multiset is the same for all secrets, so it cancels in the ratio.

    Shapes: `distribution` (a1, a2). Returns float or None: in nats; infinite if some k reports rule
    a secret out. None if there are too many multisets.
    """
    n_reports, n_cells = mechanism.shape
    if n_reports * n_cells > _MATRIX:
        return None
    if not _can_list(math.comb(n_reports + k - 1, k), n_cells, k):
        return None
    mass = distribution.sum(axis=1)
    conditionals = distribution / np.where(mass > 0, mass, 1.0)[:, None]
    logs = log_likelihoods(_logs(mechanism.matrix), _multisets(n_reports, k), conditionals)
    logs = logs[:, mass > 0]
    most, least = logs.max(axis=1), logs.min(axis=1)
    possible = most > -np.inf
    return float((most[possible] - least[possible]).max())


def log_likelihoods(logs: Floats, outcomes: Integers, conditionals: Floats) -> Floats:
    """Logarithms of the probabilities, given each secret, of reports in a given order.

    Shapes: `logs` (b, a1 * a2); `outcomes` (m, k); `conditionals` (a1, a2); returns (m, a1).
    """
    found = np.empty((len(outcomes), len(conditionals)))
    weights = _logs(conditionals).ravel()
    for rows in _chunks(len(outcomes), weights.size):
        terms = np.broadcast_to(weights, (rows.stop - rows.start, weights.size)).copy()
        for report in outcomes[rows].T:
            terms += logs[report]
        found[rows] = logsumexp(terms.reshape(-1, *conditionals.shape), axis=2)
    return found


def _chunks(n: int, width: int) -> Iterator[slice]:
    step = max(1, _CHUNK // width)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def _logs(probabilities: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(probabilities)
    return logs


def _within(n_outcomes: int, n_cells: int, k: int) -> bool:
    return n_outcomes * n_cells * k <= _MOST_TERMS


def _can_list(n_outcomes: int, n_cells: int, k: int) -> bool:
    return n_outcomes <= _MOST_OUTCOMES and _within(n_outcomes, n_cells, k)


def _multisets(n_reports: int, k: int) -> Integers:
    """All multisets of k of the reports: a sorted row for each."""
    every = combinations_with_replacement(range(n_reports), k)
    return np.fromiter(chain.from_iterable(every), dtype=np.int64).reshape(-1, k)


def _orders(outcomes: Integers) -> Floats:
    """Logarithm of the number of orders of each multiset, a sorted row."""
    run = np.ones(len(outcomes))
    repeats = np.zeros(len(outcomes))  # sum of the logarithms of the factorials
    for earlier, later in zip(outcomes.T[:-1], outcomes.T[1:], strict=True):
        run = np.where(earlier == later, run + 1.0, 1.0)
        repeats += np.log(run)
    return gammaln(outcomes.shape[1] + 1.0) - repeats
