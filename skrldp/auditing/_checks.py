"""The checks of an audit: each with its probability of a false alarm."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from skrldp._typing import Integers
from skrldp.auditing._comparisons import Groups
from skrldp.auditing._fresh_randomness import check_repeats, check_runs, paired_cells
from skrldp.auditing._kept_numbers import KeptNumbers
from skrldp.auditing._likelihood_ratios import check_mechanism, expected_reports, some_cells
from skrldp.auditing._lower_bound import LowerBound
from skrldp.auditing._made_anew import in_a_new_process
from skrldp.auditing._result import Check, of_reports
from skrldp.auditing._short_calls import check_short_calls
from skrldp.auditing._subject import Subject
from skrldp.auditing._unknown_values import check_unknown

__all__ = ["check_bound", "check_draws"]


_CHECKS = 6  # that can fail by chance: mechanism, repeats, copies, runs, calls, unknown
_CALLS = 10  # of each new process


def check_draws(
    subject: Subject,
    copies: Sequence[Callable[[Any], Any]],
    n: int,
    calls: int,
    processes: bool,
    miss: float,
    generator: np.random.Generator,
) -> list[Check]:
    """Make all checks but the bound."""
    share = miss / (_CHECKS + processes)

    def check(name: str, p_value: float, fault: str, fine: str) -> Check:
        passed = p_value > share
        return Check(name, passed, p_value, fine if passed else fault)

    cells = some_cells(subject, generator)
    places = paired_cells(cells, n, generator)
    few = places[: max(2, n // 8 * 2)]
    twins, numbers = _of_copies(subject, few, copies)
    begun = twins[0] if twins else few[:0]  # a first call; the other copy may repeat it
    reports, second = subject.reports(places), subject.reports(places)
    busiest = _most_diverse(subject, cells, reports, places)
    alike = subject.reports(np.full(n, busiest))
    if subject.mechanism is None:
        _refuse_unlike(np.concatenate([reports, second, alike]))
    checks = []
    if subject.mechanism is not None:
        every = np.concatenate([places, places, np.full(n, busiest), few[: len(begun)]])
        drawn = np.concatenate([reports, second, alike, begun])
        found = check_mechanism(subject, cells, every, drawn)
        fine = "reports follow the mechanism that was certified"
        checks.append(check("mechanism", *found, fine))
    again = check_repeats(reports, second)
    fault = "two calls report the same records too similarly: randomness is used twice"
    checks.append(check("repeats", again, fault, "every call draws new reports"))
    fault = "two copies report alike: they share their randomness"
    if numbers:
        fault = f"reports are alike from the same {', '.join(numbers[:3])}: numbers serve as seeds"
    fine = "copies draw independently" if twins else "not checked: no copies can be made"
    checks.append(check("copies", check_repeats(*twins) if twins else 1.0, fault, fine))
    p_value, lag = check_runs(alike, generator)
    fault = f"records {lag:,} apart in one call get too similar reports: randomness is used twice"
    checks.append(check("runs", p_value, fault, "reports of one call are drawn independently"))
    among = np.concatenate([reports[places == busiest], second[places == busiest]])
    first = begun[few[: len(begun)] == busiest]
    found = check_short_calls(subject, busiest, alike, among, calls, generator, first)
    checks.append(check("calls", *found, f"{calls:,} short calls report like long ones, each anew"))
    fault = "two new processes report alike: they begin with the same randomness"
    p_value, fine = 1.0, "not tried: in Python, processes=True has new processes report as well"
    if processes:
        p_value = check_repeats(*(_in_a_new_process(subject, few) for _ in range(2)))
        fine = "new processes draw independently"
    checks.append(check("processes", p_value, fault, fine))
    found = check_unknown(subject, reports, generator)
    fine = "unknown values are refused, or reported as known ones are"
    checks.append(check("unknown", *found, fine))
    return checks


def _refuse_unlike(reports: Integers) -> None:
    """Raise a ValueError if most reports are like no other, so that nothing can be counted."""
    alone = int((np.bincount(reports) == 1).sum())
    if alone > len(reports) / 2:
        raise ValueError(
            f"{alone:,} of {len(reports):,} reports are like no other, so the audit has nothing to "
            "count and would pass raw records. Do the reports have a number, a time or noise of "
            "their own? Audit the rest of them, or round them, in a function of records; or, if "
            "there are so many reports, give a larger n."
        )


def _of_copies(
    subject: Subject, places: Integers, copies: Sequence[Callable[[Any], Any]]
) -> tuple[list[Integers], list[str]]:
    """Return reports of two copies, or none, and the names of the numbers that both began with."""
    one, two = copies or [subject.report] * 2
    kept = KeptNumbers(subject.report)
    first = subject.reports(places, one)
    names = kept.set_back()
    return ([first, subject.reports(places, two)] if copies or names else []), names


def _in_a_new_process(subject: Subject, places: Integers) -> Integers:
    """Numbers of the reports that a new process makes in several calls."""
    parts = np.array_split(places[: _CALLS * subject.rows_per_call], _CALLS)
    parts = [part for part in parts if len(part)]
    tables = in_a_new_process(subject.report, [subject.records(part) for part in parts])
    found = [subject.index.add(*one) for one in zip(tables, map(len, parts), strict=True)]
    return np.concatenate(found)


def _most_diverse(subject: Subject, among: Integers, reports: Integers, places: Integers) -> int:
    """Cell whose reports agree least often: as the mechanism says, or by an estimate."""
    if subject.mechanism is not None:
        return int(among[(expected_reports(subject, among) ** 2).sum(axis=0).argmin()])
    cells, place = np.unique(places, return_inverse=True)
    pairs, counts = np.unique(place * (reports.max() + 1) + reports, return_counts=True)
    owner = pairs // (reports.max() + 1)
    agree = np.bincount(owner, counts * (counts - 1.0), minlength=len(cells))
    total = np.bincount(owner, counts, minlength=len(cells))
    return int(cells[np.argmin(agree / np.maximum(total * (total - 1.0), 1.0))])


def check_bound(
    bound: LowerBound, claimed: float, miss: float, groups: Groups, reports: int
) -> Check:
    """Compare a lower bound with the claim."""
    pair = [repr(groups.names[g]) for g in bound.pair]
    about = groups.about(bound.pair[0])
    among = f" ({about})" if about else ""
    event = f"{bound.counts[0]:,} of {bound.totals[0]:,} against {bound.counts[1]:,} of "
    event += f"{bound.totals[1]:,}"
    if bound.eps > claimed:
        apart = f"{pair[0]} and {pair[1]}{among} are told apart"
        message = f"{apart} by more than the claim{of_reports(reports)}: {event}"
        return Check("bound", False, miss, message)
    return Check("bound", True, 1.0, f"{pair[0]} against {pair[1]}{among}: {event}")
