r"""Audits: a lower bound on the leakage of a black box, from its reports.

An audit is not a proof of privacy; the certificate is. It tests whether reports follow the
certified mechanism and are drawn anew in each call.

**The bound.** Every event A, a set of reports, and every pair of secrets satisfy
:math:`\log P(A|s_1)/P(A|s_2)\le\epsilon`. A quarter of the records, the pilot, is used to choose
the pair and the event. All other records have one of these two secrets, and Clopper-Pearson
intervals for the two probabilities bound their ratio. The choice does not depend on the records of
the test, so the number of candidate events does not matter.
"""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from numbers import Number
from typing import Any

import numpy as np
from scipy.special import bdtrc, betainccinv, betaincinv, gammaln, logsumexp, ndtri

from skrldp._lists_in_words import repeatable
from skrldp._pages import page, text_page
from skrldp._params import (
    at_least,
    at_most,
    check_level,
    generator_of,
    is_number,
    is_whole,
    p_in_words,
    shown,
)
from skrldp._typing import Floats, Indices, Integers
from skrldp.claims import Around, Claim
from skrldp.claims_in_words import claim_in_words
from skrldp.client.records import RecordReader
from skrldp.joint import JointDistribution
from skrldp.mechanism.mechanism import Mechanism
from skrldp.sanitizers.access import (
    as_sanitizer,
    blank_record,
    codec_of,
    write_reports,
)
from skrldp.sanitizers.reports import as_table
from skrldp.table.read import read_table

__all__ = ["Audit", "Bound", "Check", "audit"]


_PILOT = 0.25  # fraction of a bound's records used to choose the pair and the event
_LEAST = 16  # minimum number of the pilot's records in each group
_MOST_GROUPS = 32  # maximum number of groups in a pilot; a random subset is used if there are more
_FEWEST = 200  # minimum number of records of an audit
_CHECKS = 3  # checks that can fail by chance: mechanism, repeats, unknown
# Strengths of Dirichlet distributions around the mechanism's columns
_STRENGTHS = 10.0 ** np.arange(6)
_BARE = 0.5 ** np.arange(12)[:, None]  # hypothetical shares of records reported without noise
_ROWS = 64  # minimum number of records with each unknown value; n / 100 if this is larger
# Maximum size of the reports of one call, and of the compared part of a mechanism
_ENTRIES = 4_000_000


@dataclass(frozen=True)
class Check:
    """One check of an audit.

    Attributes
    ----------
    name : str
        "bound", "mechanism", "repeats", "unknown" or "random_state".
    passed : bool
        Whether no fault was found.
    p_value : float
        Upper bound on the probability of such an observation if there is no fault; 0 if a fault is
        certain.
    message : str
        Description of the result.
    """

    name: str
    passed: bool
    p_value: float
    message: str


@dataclass(frozen=True)
class Bound:
    """A lower bound on the leakage for one claim.

    Attributes
    ----------
    claim : Claim
        The claim; for a function without a claim, ``claim.eps`` is infinite.
    eps : float
        Lower bound on the leakage, in nats.
    secrets : (secret, secret)
        The pair of secrets; the event is more probable under the first.
    event : tuple
        The reports that form the event, in their original form: scalars if they have one column.
    counts, totals : (int, int)
        For each secret, the number of records with such a report, and the number of all its
        records.
    """

    claim: Claim
    eps: float
    secrets: tuple[Any, Any]
    event: tuple[Any, ...]
    counts: tuple[int, int]
    totals: tuple[int, int]


@dataclass(frozen=True)
class Audit:
    """The result of an audit; returned by :func:`audit`.

    Attributes
    ----------
    subject : str
        Name of the audited object.
    level : float
        Confidence level. If there is no fault, then with at least this probability, no bound
        exceeds the leakage and all checks pass.
    n : int
        Number of records for each bound and each check.
    bounds : tuple of Bound
        One bound for each claim. The first is for observers who know only the report.
    checks : tuple of Check
        All checks, in order; one named "bound" for each bound.
    """

    subject: str
    level: float
    n: int
    bounds: tuple[Bound, ...]
    checks: tuple[Check, ...]

    @property
    def eps(self) -> float:
        """Lower bound on a report's leakage to an observer who knows nothing else, in nats."""
        return self.bounds[0].eps

    @property
    def eps_claimed(self) -> float:
        """Claimed upper bound on this leakage, in nats; infinite if nothing is claimed."""
        return self.bounds[0].claim.eps

    @property
    def findings(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if not check.passed)

    @property
    def passed(self) -> bool:
        """Whether no fault was found. This is not a proof of privacy, unlike the certificate."""
        return not self.findings

    def __repr__(self) -> str:
        faults = ", ".join(check.name for check in self.findings)
        verdict = "passed" if self.passed else f"FAILED: {faults}"
        claimed = at_most(self.eps_claimed, ".6g")
        claim = f", claimed {claimed}" * math.isfinite(self.eps_claimed)
        return f"Audit(eps>={at_least(self.eps, '.4g')}{claim}, n={self.n:,}, {verdict})"

    def __str__(self) -> str:
        return text_page(self._title(), self._lines())

    def _repr_html_(self) -> str:
        return page(self._title(), self._lines())

    def _title(self) -> str:
        return f"Audit of {self.subject}: {self.n:,} records, confidence {self.level:.4g}"

    def _lines(self) -> list[tuple[str, str]]:
        lines = []
        for bound in self.bounds:
            only = len(bound.event) == 1
            event = f"report {bound.event[0]!r}" if only else f"{len(bound.event):,} reports"
            shares = (k / n for k, n in zip(bound.counts, bound.totals, strict=True))
            frequencies = (f"{p:.2%} of {s!r}" for p, s in zip(shares, bound.secrets, strict=True))
            lines += [
                ("claimed", claim_in_words(bound.claim)),
                ("leakage", f"at least {at_least(bound.eps, '.4f')} nats"),
                ("seen in", f"{event}: {', '.join(frequencies)}"),
            ]
        for check in self.checks:
            verdict = "ok" if check.passed else "FAULT"
            words = f"{verdict}: {check.message} ({p_in_words(check.p_value)})"
            lines.append((check.name, words))
        verdict = "no fault found" if self.passed else "FAILED"
        return [*lines, ("verdict", f"{verdict}; an audit proves no privacy, a certificate does")]


def audit(
    sanitizer: Any,
    *,
    n: int = 100_000,
    distribution: JointDistribution | None = None,
    eps: float | None = None,
    level: float = 0.95,
    mechanism: Mechanism | None = None,
    random_state: Any = None,
) -> Audit:
    r"""Bound the leakage of a sanitizer, or of any black box, from below, and check its randomness.

    Records are drawn from the public distribution, and their reports are counted. Some of the
    records are used to choose the pair of secrets and the event A, a set of reports, with the
    largest ratio. The others bound :math:`\log P(A|s_1)/P(A|s_2)` from below with Clopper and
    Pearson's intervals. Then the draws are checked: whether reports follow the certified mechanism,
    whether each call draws anew, and whether unknown values are rejected.

    **An audit does not prove privacy**; the certificate does. An audit finds faults in the
    sampling.

    Parameters
    ----------
    sanitizer : sanitizer or callable
        A fitted sanitizer, a Pipeline that ends in one, or either in a FrozenEstimator. For a
        pipeline, only the last step is audited, on records in the form that it receives.
        Alternatively, a function, such as the `transform` of a whole pipeline, that maps an array
        of records, with the columns of S followed by those of U, to an array, a list or a data
        frame with one report for each record.
    n : int, default=100_000
        Number of records for each bound, and for each of the checks.
    distribution : JointDistribution, optional
        For a function: the distribution of (S, U) from which records are drawn, with the values of
        the records as names. For a sanitizer, this is `joint_`.
    eps : float, optional
        For a function: the claim, in nats, about observers who know only the report. For a
        sanitizer, each claim of its certificate is tested by a separate bound.
    level : float, default=0.95
        Confidence level. Half of ``1 - level`` is allocated to the bounds, the rest to the checks.
    mechanism : Mechanism, optional
        For a function: the mechanism that its reports should follow. The reports must be indices of
        its symbols, and its secrets and values must be those of the distribution. `eps` is then its
        leakage at the distribution by default. For a sanitizer, this is `mechanism_`.
    random_state : None, int or numpy Generator
        Source of randomness for the records; the sanitizer uses its own.

    Returns
    -------
    Audit
        ``eps`` is the lower bound; ``passed`` and ``findings`` show whether there are faults.

    Raises
    ------
    TypeError
        If there is nothing to audit, or the reports are not a table.
    ValueError
        If a parameter is invalid, or the number of reports differs from the number of records.
    NotFittedError
        If the sanitizer has not been fitted.

    Notes
    -----
    The bound assumes that records are reported independently of one another.

    Examples
    --------
    >>> from skrldp import GRRSanitizer, audit
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = GRRSanitizer(eps=1.0, sensitive=0).fit(X, sample_weight=[7, 10, 26, 57])
    >>> found = audit(sanitizer, n=20_000, level=0.999999, random_state=0)
    >>> found.passed, 0.1 < found.eps <= sanitizer.certificate_.eps
    (True, True)

    A function that adds no noise:

    >>> from skrldp import JointDistribution
    >>> distribution = JointDistribution([[7, 10], [26, 57]], ["no", "yes"], ["rare", "often"])
    >>> audit(lambda records: records, n=20_000, distribution=distribution, eps=1.0).passed
    False
    """
    _check_parameters(n, eps, level)
    generator = generator_of(random_state)
    fitted = as_sanitizer(sanitizer)
    if fitted is None:
        box, claims = _of_function(sanitizer, distribution, mechanism, eps)
    elif any(argument is not None for argument in (distribution, mechanism, eps)):
        raise ValueError(
            "distribution=, mechanism= and eps= are for functions. Omit them, because a sanitizer "
            "contains them."
        )
    else:
        box, claims = _of_sanitizer(fitted), claims_of(fitted)
    groups = [_groups(box, claim, generator) for claim in claims]
    largest = max(map(len, groups))
    fewest = max(_FEWEST, math.ceil(_LEAST * largest / _PILOT))
    if n < fewest:
        raise ValueError(
            f"n={n} records are too few for {largest} groups of secrets. Pass at least "
            f"n={fewest:,}."
        )
    miss = (1.0 - level) / 2.0
    share = miss / len(claims)
    bounds = tuple(
        _bound_leakage(box, claim, claim_groups, int(n), share, generator)
        for claim, claim_groups in zip(claims, groups, strict=True)
    )
    checks = [_check_bound(bound, share) for bound in bounds]
    checks += _check_draws(box, int(n), miss / _CHECKS, generator)
    if fitted is not None:
        seed = fitted.random_state
        fine = "randomness comes from the operating system"
        words = fine if seed is None else repeatable(seed)
        checks.append(Check("random_state", seed is None, float(seed is None), words))
    named = sanitizer if fitted is None else type(fitted)
    name = getattr(named, "__qualname__", type(named).__name__)
    return Audit(name, float(level), int(n), bounds, tuple(checks))


def _check_parameters(n: Any, eps: Any, level: Any) -> None:
    if not (is_whole(n) and n >= 1):
        raise ValueError(f"n={shown(n)} must be an integer.")
    if eps is not None and not (is_number(eps) and eps >= 0):
        raise ValueError(f"eps={shown(eps)} must be None or a number >= 0 (in nats).")
    check_level(level)


# --- What is audited -----------------------------------------------------------------------------


_HERE = Around("renyi", {"alpha": 1.0, "radius": 0.0}, "given")  # only the distribution


def claims_of(sanitizer: Any) -> list[Claim]:
    """List the tested claims: for one report, and for observers who know some columns."""
    claims = sanitizer.certificate_.claims
    return [claim for claim in (claims.main, claims.known) if claim is not None]


class _Numbers:
    """Indices of the distinct reports."""

    def __init__(self) -> None:
        self.of_row: dict[tuple[Any, ...], int] = {}

    def row(self, number: int) -> Any:
        """Return a report in its original form: a scalar for a single column, otherwise a tuple."""
        row = list(self.of_row)[number]
        return row[0] if len(row) == 1 else row

    def add(self, reports: Any, n_rows: int) -> Integers:
        """Return the indices of the reports about some records, shape (n_rows,)."""
        rows = _rows_of(reports)
        if len(rows) != n_rows:
            raise ValueError(
                f"{n_rows:,} records were reported as {len(rows):,} rows; there must be one "
                "report for each record, in the same order."
            )
        numbers = [self.of_row.setdefault(row, len(self.of_row)) for row in rows]
        return np.array(numbers, dtype=np.int64)


def _rows_of(reports: Any) -> list[tuple[Any, ...]]:
    """Read a table of reports of any form, row by row."""
    try:
        table = read_table(as_table(reports.toarray() if hasattr(reports, "toarray") else reports))
        columns = []
        for position in range(len(table.names)):
            codes, distinct = table.factorize(position, slice(None))
            values = [*distinct, None]
            columns.append([values[code] for code in codes.tolist()])
    except (TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise TypeError(
            f"the reports must be a table with a row for each record: {reason}"
        ) from error
    return list(zip(*columns, strict=True))


@dataclass(frozen=True, eq=False)
class _BlackBox:
    """A function from records to reports, and the form of its records."""

    report: Callable[[Any], Any]  # maps a table of records to their reports
    joint: JointDistribution  # the code of a record's cell is ``s * a2 + u``
    # Writes records with given cells, or with an unknown value in a column
    write: Callable[..., Any]
    # Each column's name, whether it is sensitive, and its known values
    columns: list[tuple[Any, bool, tuple[Any, ...]]]
    mechanism: Mechanism | None  # the mechanism that the reports should follow, if known
    numbers: _Numbers
    symbols: Integers  # (b,), index of each symbol's report; these come first
    step: int = _ENTRIES  # number of records in one call

    def reports(self, cells: Integers) -> Integers:
        """Report records with these cells, and return the indices of the reports."""
        starts = range(0, len(cells), self.step)
        batches = [cells[start : start + self.step] for start in starts]
        numbers = [
            self.numbers.add(self.report(self.write(batch)), len(batch)) for batch in batches
        ]
        return np.concatenate(numbers)

    def expected(self, cells: Integers) -> Floats:
        """Probability of each of the mechanism's reports (rows) in given cells (columns)."""
        assert self.mechanism is not None
        probabilities = np.zeros((int(self.symbols.max()) + 1, len(cells)))
        np.add.at(probabilities, self.symbols, self.mechanism.form.columns(cells))
        return probabilities


def _of_sanitizer(sanitizer: Any) -> _BlackBox:
    """Return a fitted sanitizer as a black box."""
    codec, numbers, written = codec_of(sanitizer), _Numbers(), []
    write = partial(codec.decode, like=blank_record(sanitizer), raw=True)
    step = max(1_000, _ENTRIES // len(sanitizer.get_feature_names_out()))
    n_symbols = sanitizer.mechanism_.shape[0]
    for start in range(0, n_symbols, step):
        symbols = np.arange(start, min(start + step, n_symbols))
        reports = write_reports(sanitizer, symbols, write(np.zeros_like(symbols)))
        written.append(numbers.add(reports, len(symbols)))
    columns = enumerate(codec.columns)
    return _BlackBox(
        sanitizer.transform,
        sanitizer.joint_,
        write,
        [(column.name, i in codec.sensitive, column.categories) for i, column in columns],
        sanitizer.mechanism_,
        numbers,
        np.concatenate(written),
        step,
    )


def _of_function(
    function: Any, joint: Any, mechanism: Mechanism | None, eps: float | None
) -> tuple[_BlackBox, list[Claim]]:
    """Return a function as a black box, with its claims."""
    if not callable(function) or isinstance(function, type):
        name = getattr(function, "__name__", type(function).__name__)
        remedy = ""
        if isinstance(function, type):
            remedy = f": write {name}().fit(X)"
        elif hasattr(function, "transform"):
            remedy = ": audit its transform, or each block's sanitizer in sanitizers_"
        raise TypeError(f"Expected a fitted sanitizer or a function, got {name}{remedy}.")
    if not isinstance(joint, JointDistribution):
        raise ValueError(
            "a function is audited on the values of a distribution. Pass "
            "distribution=JointDistribution(counts, secrets, values)."
        )
    symbols, numbers = np.empty(0, dtype=np.int64), _Numbers()
    if mechanism is not None:
        if (joint.secrets, joint.values) != (mechanism.secrets, mechanism.values):
            raise ValueError(
                "the distribution must have the mechanism's secrets and values in the same order."
            )
        eps = mechanism.leakage(joint.probabilities) if eps is None else eps
        symbols = numbers.add(np.arange(mechanism.shape[0]), mechanism.shape[0])
    rows = [(*_several(s), *_several(u)) for s in joint.secrets for u in joint.values]
    if len({len(row) for row in rows}) > 1:
        raise ValueError(
            "the distribution's secrets (or values) are tuples of different lengths. Each must "
            "contain a value for every column."
        )
    numeric = all(isinstance(value, Number) for row in rows for value in row)
    table = np.array(rows, dtype=None if numeric else object)

    def write(cells: Integers, *, strange: tuple[int, Any] | None = None) -> Any:
        records = table[cells]
        if strange is not None:
            records = records.astype(np.result_type(records, np.asarray(strange[1])))
            records[:, strange[0]] = strange[1]
        return records

    n_sensitive = len(_several(joint.secrets[0]))
    known = (tuple(dict.fromkeys(column.tolist())) for column in table.T)
    columns = [(position, position < n_sensitive, values) for position, values in enumerate(known)]
    box = _BlackBox(function, joint, write, columns, mechanism, numbers, symbols)
    return box, [Claim(math.inf if eps is None else eps, 0.0, _HERE)]


def _several(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


# --- The lower bound -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Group:
    """Records with the same secret and the same known values."""

    known: int
    secret: int
    share: Floats  # (a2,), the distribution of U


def _groups(box: _BlackBox, claim: Claim, generator: np.random.Generator) -> list[_Group]:
    """List the groups that have a counterpart for comparison, or a random sample of them."""
    groups: list[_Group] = []
    of_u = [name for name, sensitive, _ in box.columns if not sensitive]
    positions = [position for position, name in enumerate(of_u) if name in claim.known]
    values = map(_several, box.joint.values)
    known_values = [tuple(value[position] for position in positions) for value in values]
    number = {known: code for code, known in enumerate(dict.fromkeys(known_values))}
    known_of_value = np.array([number[known] for known in known_values])
    for known in generator.permutation(len(number)).tolist():
        table = np.where(known_of_value == known, box.joint.probabilities, 0.0)
        mass = table.sum(axis=1)
        secrets = generator.permutation(np.flatnonzero(mass > 0.0)).tolist()
        secrets = secrets[: _MOST_GROUPS - len(groups)]
        if len(secrets) > 1:
            groups += [_Group(known, s, table[s] / mass[s]) for s in secrets]
    if not groups:
        raise ValueError(
            "only one secret has positive probability, so there is no pair of secrets to compare."
        )
    return groups


def _bound_leakage(
    box: _BlackBox,
    claim: Claim,
    groups: Sequence[_Group],
    n: int,
    miss: float,
    generator: np.random.Generator,
) -> Bound:
    """Bound the leakage of the worst pair of groups from below, with error probability `miss`."""
    a2 = len(box.joint.values)

    def drawn(chosen: Sequence[_Group], size: int) -> list[Integers]:
        """Draw reports of records of groups, in random order of the records."""
        cells = [g.secret * a2 + generator.choice(a2, size, p=g.share) for g in chosen]
        order = generator.permutation(size * len(chosen))
        reports = np.empty(len(order), int)
        reports[order] = box.reports(np.concatenate(cells)[order])
        return np.split(reports, len(chosen))

    n_pilot = int(_PILOT * n) // len(groups)
    pilot = drawn(groups, n_pilot)
    size = (n - n_pilot * len(groups)) // 2
    # The arc sine of the square root of a share has a constant variance. The step is half the width
    # of an interval plus a standard deviation of the pilot's share.
    step = (-float(ndtri(miss / 2.0)) / math.sqrt(size) + 1.0 / math.sqrt(n_pilot / 2.0)) / 2.0
    pair, event = _choose(groups, pilot, step)
    hits = [int(np.isin(reports, event).sum()) for reports in drawn(pair, size)]
    low, _ = _clopper_pearson(hits[0], size, miss / 2.0)
    _, high = _clopper_pearson(hits[1], size, miss / 2.0)
    return Bound(
        claim=claim,
        eps=math.log(low / high) if low > high else 0.0,
        secrets=(box.joint.secrets[pair[0].secret], box.joint.secrets[pair[1].secret]),
        event=tuple(box.numbers.row(number) for number in event.tolist()),
        counts=(hits[0], hits[1]),
        totals=(size, size),
    )


def _choose(
    groups: Sequence[_Group], pilot: Sequence[Integers], step: float
) -> tuple[tuple[_Group, _Group], Integers]:
    """Choose the pair of groups and the event with the largest expected bound.

    The candidate events of a pair are the first k reports, for every k, in the order of their
    ratios in one half of the pilot; the other half is used to evaluate them.
    """
    distinct, codes = np.unique(np.stack(pilot), return_inverse=True)
    halves = []
    for half in (codes.reshape(len(groups), -1)[:, ::2], codes.reshape(len(groups), -1)[:, 1::2]):
        counts = np.array([np.bincount(row, minlength=len(distinct)) for row in half])
        halves.append((counts + 0.5 / len(distinct)) / (half.shape[1] + 0.5))
    best = -np.inf, (groups[0], groups[1]), distinct
    for first, second in permutations(range(len(groups)), 2):
        if groups[first].known != groups[second].known:
            continue
        order = np.argsort(halves[0][second] / halves[0][first], kind="stable")
        shares = (np.minimum(np.cumsum(halves[1][g][order]), 1.0) for g in (first, second))
        upper, lower = (np.arcsin(np.sqrt(share)) for share in shares)
        low = np.sin(np.maximum(upper - step, 1e-9))
        high = np.sin(np.minimum(lower + step, np.pi / 2.0))
        # If no bound is expected to exceed 0, events are ranked by how reliably they separate the
        # pair.
        score = np.where(low > high, low / high, (upper - lower) / 2.0)
        score = score[: max(1, len(order) - 1)]  # all reports together contain no information
        end = int(score.argmax())
        if score[end] > best[0]:
            best = float(score[end]), (groups[first], groups[second]), distinct[order[: end + 1]]
    return best[1], best[2]


def _clopper_pearson(count: int, total: int, miss: float) -> tuple[float, float]:
    """Bound a probability on both sides, each with error probability at most `miss`."""
    low = 0.0 if count == 0 else float(betaincinv(count, total - count + 1, miss))
    high = 1.0 if count == total else float(betainccinv(count + 1, total - count, miss))
    return low, high


def _check_bound(bound: Bound, miss: float) -> Check:
    """Compare a lower bound with the claim."""
    if bound.eps <= bound.claim.eps:
        return Check("bound", True, 1.0, "the bound does not exceed the claim")
    (first, second), n = bound.secrets, bound.totals[0]
    message = (
        f"{first!r} and {second!r} are told apart by more than the claim: {bound.counts[0]:,} of "
        f"{n:,} against {bound.counts[1]:,} of {n:,} ({claim_in_words(bound.claim)})"
    )
    return Check("bound", False, miss, message)


# --- The draws -----------------------------------------------------------------------------------


def _check_draws(
    box: _BlackBox, n: int, share: float, generator: np.random.Generator
) -> list[Check]:
    """Make all checks except the bounds; each has false-alarm probability at most `share`."""

    def check(name: str, p_value: float, fault: str, fine: str) -> Check:
        passed = p_value > share
        return Check(name, passed, p_value, fine if passed else fault)

    max_cells = max(16, _ENTRIES // max(1, len(box.symbols)))
    cells = np.sort(generator.permutation(box.joint.counts.size)[:max_cells])
    # Records 2i and 2i + 1 have the same cell, as the check of repeats requires.
    drawn_cells = np.resize(generator.permutation(cells), -(-n // 2))
    drawn_cells = np.repeat(generator.permutation(drawn_cells), 2)
    first, second = box.reports(drawn_cells), box.reports(drawn_cells)
    drawn, checks = np.concatenate([first, second]), []
    if box.mechanism is None:
        alone = int((np.bincount(drawn) == 1).sum())
        if alone > len(drawn) / 2:
            raise ValueError(
                f"{alone:,} of {len(drawn):,} reports are unique, so there is nothing to "
                "count: drop id columns, or pass a larger n."
            )
    else:
        verdict = _check_mechanism(box, cells, np.concatenate([drawn_cells, drawn_cells]), drawn)
        checks.append(
            check("mechanism", *verdict, "reports follow the mechanism that was certified")
        )
    fault = "two calls report the same records too similarly, so randomness is reused"
    repeats = check("repeats", _check_repeats(first, second), fault, "every call draws new reports")
    fine = "unknown values are rejected, or reported like known values"
    return [*checks, repeats, check("unknown", *_check_unknown(box, n, generator), fine)]


def _check_repeats(first: Integers, second: Integers) -> float:
    """Bound the p-value of the agreement between two calls' reports about the same records.

    Let y and z be two reports about the same cell from one call, and x the report from the other
    call at the position of y. If draws are independent, y and z are exchangeable given x. Therefore
    x is equally likely to agree only with y and only with z, for every mechanism.
    """
    aligned, crossed = first[::2] == second[::2], first[::2] == second[1::2]
    tossed = aligned != crossed
    heads, tosses = int((aligned & tossed).sum()), int(tossed.sum())
    return 1.0 if heads == 0 else float(bdtrc(heads - 1, tosses, 0.5))


def _check_mechanism(
    box: _BlackBox, cells: Integers, record_cells: Integers, reports: Integers
) -> tuple[float, str]:
    """Test whether reports about records with some cells (n,) follow the mechanism."""
    expected, n = box.expected(cells), len(reports)
    foreign = np.flatnonzero(reports >= len(expected))
    if foreign.size:  # because the mechanism's reports have the first indices
        report = box.numbers.row(int(reports[foreign[0]]))
        words = f"{foreign.size:,} of {n:,} reports are not the mechanism's, such as {report!r}"
        return 0.0, words
    column = np.searchsorted(cells, record_cells)
    pairs, counts = np.unique(reports * len(cells) + column, return_counts=True)
    row, column = np.divmod(pairs, len(cells))
    totals = np.bincount(column, counts, len(cells))
    mean = totals[column] * expected[row, column]
    with np.errstate(divide="ignore"):
        odd = int(((counts - mean) ** 2 / mean).argmax())
    secret, value = divmod(int(cells[column[odd]]), len(box.joint.values))
    cell = box.joint.secrets[secret], box.joint.values[value]
    words = f"report {box.numbers.row(int(row[odd]))!r} of cell {cell!r} came {counts[odd]:,} times"
    words += f" in {int(totals[column[odd]]):,}, where {mean[odd]:.1f} were expected"
    if mean[odd] <= 0.0:
        return 0.0, words
    return math.exp(min(0.0, -_evidence(expected, row, column, counts))), words


def _evidence(expected: Floats, row: Indices, column: Indices, counts: Integers) -> float:
    r"""Return the log of an average of likelihood ratios against the mechanism.

    Under the mechanism, the likelihood ratio of any other distribution of the reports has
    expectation 1, so an average of such ratios exceeds :math:`1/p` with probability at most p
    (Markov). The other distributions are Dirichlet mixtures around the mechanism's columns, and the
    mechanism with a share of the records reported without noise, as the likeliest report of their
    cell.

    Shapes: `expected` (b, n_cells); the others (m,), for the pairs of report and cell that occur.
    """
    rates, strength = expected[row, column], _STRENGTHS[:, None]
    totals = np.bincount(column, counts, expected.shape[1])
    ratios = (gammaln(strength) - gammaln(strength + totals)).sum(axis=1)
    ratios += (gammaln(strength * rates + counts) - gammaln(strength * rates)).sum(axis=1)
    ratios -= counts @ np.log(rates)
    bare = (expected.argmax(axis=0)[column] == row) / expected.max(axis=0)[column]
    with np.errstate(divide="ignore"):  # log(0): without noise, other reports are impossible
        ratios = np.append(ratios, np.log(1.0 - _BARE + _BARE * bare) @ counts)
    return float(logsumexp(ratios) - math.log(len(ratios)))


# --- Unknown values ------------------------------------------------------------------------------


def _check_unknown(box: _BlackBox, n: int, generator: np.random.Generator) -> tuple[float, str]:
    """Pass values outside the alphabet in each column, and examine the reports.

    Returns (float, str): a bound on the p-value, 0 if a fault is certain, and a description.
    """
    worst, every = (1.0, ""), box.joint.counts.size
    trials = [(i, v) for i, (_, _, known) in enumerate(box.columns) for v in _strange_values(known)]
    for position, value in trials:
        cells = generator.integers(every, size=max(_ROWS, n // 100))
        try:
            records = box.write(cells, strange=(position, value))
            # A copy, because the black box may change its argument.
            answer = box.report(copy.deepcopy(records))
        except Exception:  # the library cannot represent the value, or nothing was reported
            continue
        reports = box.numbers.add(answer, len(cells))
        p_value, words = _check_answer(box, records, reports, value)
        if p_value * len(trials) < worst[0]:
            where = f"unknown value {value!r} in column {box.columns[position][0]!r}"
            worst = p_value * len(trials), f"{where}: {words}"
    return worst


def _check_answer(box: _BlackBox, records: Any, reports: Integers, value: Any) -> tuple[float, str]:
    """Examine the reports about records with an unknown value."""
    rows = [box.numbers.row(number) for number in np.unique(reports).tolist()]
    if box.mechanism is None:
        passes = any(value in _several(row) for row in rows)
        return 1.0 - passes, f"it passes through: a report is {rows[0]!r}"
    names, mechanism = [column[:2] for column in box.columns], box.mechanism
    reader = RecordReader(
        names,
        mechanism.secrets,
        mechanism.values,
        mechanism.observe,
        mechanism.others,
        mechanism.numbers,
    )
    try:
        cells = reader.cells(records, _no_draws).astype(np.int64)
    except ValueError:
        return 0.0, f"it is reported rather than refused, for example as {rows[0]!r}"
    if len(box.symbols) * len(np.unique(cells)) > _ENTRIES:
        return 1.0, ""
    p_value, _ = _check_mechanism(box, np.unique(cells), cells, reports)
    return p_value, "its reports do not follow the mechanism, and may reveal other columns"


def _no_draws(name: Any, knots: Any, n: int) -> Any:
    """Return draws for records whose numbers are knots, which need no rounding."""
    return np.zeros(n, dtype=np.uint32)


def _strange_values(known: Sequence[Any]) -> list[Any]:
    """Return values outside a column's categories: one of the same type, and a missing value."""
    present = [value for value in known if value is not None]
    strange: list[Any] = [] if len(present) < len(known) else [None]
    if all(isinstance(value, int | float) for value in present):
        return [max(map(int, present), default=0) + 1013, *strange]
    word = "no such value"
    while word in known:
        word += "!"
    return [word, *strange]
