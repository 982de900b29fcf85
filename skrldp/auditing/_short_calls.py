"""Many short calls, half of them of one record, whose reports should be like a long call's."""

import copy

import numpy as np
from scipy.stats import hypergeom

from skrldp._typing import Integers
from skrldp.auditing._fresh_randomness import check_runs
from skrldp.auditing._likelihood_ratios import check_mechanism
from skrldp.auditing._subject import Subject

__all__ = ["check_short_calls"]


_SIZES = (5, 9, 20, 60)  # records of every other call, in turn; one record in those between


def check_short_calls(
    subject: Subject,
    cell: int,
    long: Integers,
    among: Integers,
    calls: int,
    generator: np.random.Generator,
    begun: Integers | None = None,
) -> tuple[float, str]:
    """Make short calls, all about records of one cell, and compare their reports.

    Of that cell are also `long`, the reports of a call about it alone; `among`, those of calls
    about other cells as well; and `begun`, those of a copy's first call.

    Returns (float, str): bound on the p-value, and what was found.
    """
    tables = {size: subject.records(np.full(size, cell)) for size in (1, *_SIZES)}
    of_size: dict[int, list[Integers]] = {}
    first = np.empty(calls, dtype=np.int64)
    for number in range(calls):
        size = 1 if number % 2 == 0 else _SIZES[number // 2 % len(_SIZES)]
        table = copy.deepcopy(tables[size])  # the black box may write into what it is given
        reports = subject.index.add(subject.report(table), size)
        first[number] = reports[0]
        of_size.setdefault(size, []).append(reports)
    p_value, lag = check_runs(first, generator, np.arange(1, calls // 2 + 1))
    found = [(p_value, f"calls {lag} apart get too similar reports: randomness is used twice")]
    for size, parts in of_size.items():
        records = f"calls of {size} record{'s' if size > 1 else ''}"
        own = np.concatenate(parts)
        if subject.mechanism is None:
            p_value, words = _differs(own, long, generator), "report otherwise than a long call"
        else:
            places = np.full(len(own), cell)
            p_value, words = check_mechanism(subject, np.array([cell]), places, own)
            words = f"do not follow the mechanism: {words}"
        found.append((p_value, f"{records} {words}"))
    if subject.mechanism is None:
        found.append((_differs(among, long, generator), "reports depend on a call's other records"))
        if begun is not None:
            words = "first calls report otherwise than later ones"
            found.append((_differs(begun, among, generator), words))
    p_value, words = min(found, key=lambda one: one[0])
    return min(1.0, len(found) * p_value), words


def _differs(some: Integers, long: Integers, generator: np.random.Generator) -> float:
    """P-value of Fisher's test for reports that are commoner in the first than in the second.

    Which these are is told by one half of the reports, and tested on the other.
    """
    some, long = generator.permutation(some), generator.permutation(long)
    (chosen, tested), (known, rest) = (np.array_split(one, 2) for one in (some, long))
    if not len(tested) or not len(rest):
        return 1.0
    rows = np.unique(np.concatenate([chosen, known]))
    shares = [
        np.bincount(np.searchsorted(rows, one), minlength=len(rows)) / len(one)
        for one in (chosen, known)
    ]
    event = rows[shares[0] > shares[1]]
    hits = int(np.isin(tested, event).sum())
    total = hits + int(np.isin(rest, event).sum())
    return float(hypergeom.sf(hits - 1, len(tested) + len(rest), total, len(tested)))
