"""Check that values outside the alphabet are refused, or cannot be seen in the reports."""

import copy
import math
from typing import Any

import numpy as np
from scipy.special import bdtrc

from skrldp._typing import Floats, Integers
from skrldp.auditing._likelihood_ratios import check_mechanism, expected_reports
from skrldp.auditing._subject import SanitizerSubject, Subject, strange_values

__all__ = ["check_unknown"]


_ROWS = 64  # with each unknown value, at least; and one in a hundred of the records
_MATRIX = 4_000_000  # entries of the mechanism to look at
_COMBINATIONS = 2  # unknown ones, of values that are known, which are tried for S and for U

# The place and name of a column, whether it is sensitive, the value it gets, and the cells whose
# records get it; all, if the value is unknown by itself.
Trial = tuple[int, Any, bool, Any, "Integers | None"]


def check_unknown(
    subject: Subject, seen: Integers, generator: np.random.Generator
) -> tuple[float, str]:
    """Pass values outside the alphabet, column by column, and examine the reports.

    Returns (float, str): bound on the p-value, and what was found; 0 for a certain fault.
    """
    worst = 1.0, "every unknown value was refused, or reported as known ones are"
    trials: list[Trial] = [
        (place, name, sensitive, value, None)
        for place, (name, sensitive, known) in enumerate(subject.columns())
        for value in strange_values(known)
    ]
    trials += _unknown_combinations(subject, generator)
    rows = max(_ROWS, len(seen) // 100)
    for place, name, sensitive, value, own in trials:
        cells = generator.integers(subject.n_cells, size=rows)
        if own is not None:
            cells = own[generator.integers(len(own), size=rows)]
        try:
            records = subject.records(cells, strange=(place, value))
        except ValueError:  # no column of this library can hold the value
            continue
        try:
            # A copy, as the black box may write into what it is given.
            answer = subject.report(copy.deepcopy(records))
        except Exception:  # an error of any kind: nothing was reported
            continue
        reports = subject.index.add(answer, len(cells))
        told = subject.told_as(records, cells)
        if isinstance(subject, SanitizerSubject):
            p_value, words = _check_sanitizer(subject, reports, sensitive, told is not None)
        else:
            p_value, words = _check_callable(subject, reports, seen, value, alone=own is None)
        if p_value > 0.0 and told is not None:
            both = (p_value, words), _check_followed(subject, *told, reports)
            p_value, words = min(both, key=lambda one: one[0])
            p_value *= 2.0
        p_value = min(1.0, p_value * len(trials))
        if p_value < worst[0]:
            what = "unknown value" if own is None else "unknown combination with the value"
            worst = p_value, f"{what} {value!r} in column {name!r}: {words}"
    return worst


def _check_followed(
    subject: Subject, places: Integers, draws: Floats | None, reports: Integers
) -> tuple[float, str]:
    """Test whether the reports are the mechanism's of what unknown values are to be reported as.

    Shapes: `places` and `reports` (n,); `draws` (n, a2), as by :meth:`Subject.told_as`.
    """
    assert subject.mechanism is not None
    a2, wanted = len(subject.values), np.unique(places)
    if subject.mechanism.shape[0] * (a2 if draws is not None else len(wanted)) > _MATRIX:
        return 1.0, ""
    distribution = None
    if draws is not None:
        of_secret = [expected_reports(subject, cell // a2 * a2 + np.arange(a2)) for cell in wanted]
        own = draws[np.unique(places, return_index=True)[1]]
        distribution = np.stack([m @ p for m, p in zip(of_secret, own, strict=True)], axis=1)
    p_value, _ = check_mechanism(subject, wanted, places, reports, distribution)
    return p_value, "its reports do not follow the mechanism, and may tell other columns"


def _unknown_combinations(subject: Subject, generator: np.random.Generator) -> list[Trial]:
    """Find values that make unknown combinations of some cells' secrets, or values of U."""
    columns = list(enumerate(subject.columns()))
    every = np.arange(subject.n_cells)
    found: list[Trial] = []
    for sensitive, members in ((True, subject.secrets), (False, subject.values)):
        own = [(place, name, known) for place, (name, flag, known) in columns if flag is sensitive]
        if len(own) < 2 or len(members) >= math.prod(len(known) for _, _, known in own):
            continue
        part = every // len(subject.values) if sensitive else every % len(subject.values)
        some, listed = [], set(members)
        for j, (place, name, known) in enumerate(own):
            for value in known:
                new = [(*one[:j], value, *one[j + 1 :]) not in listed for one in members]
                if any(new):
                    some.append((place, name, sensitive, value, every[np.array(new)[part]]))
        chosen = generator.permutation(len(some))[:_COMBINATIONS]
        found += [some[number] for number in chosen]
    return found


def _check_sanitizer(
    subject: SanitizerSubject, reports: Integers, sensitive: bool, told: bool
) -> tuple[float, str]:
    own = np.isin(reports, subject.symbols)
    if not own.all():
        row = subject.index.row(int(reports[~own][0]))
        return 0.0, f"it passes through; the report is {row!r}, which the mechanism never makes"
    sanitizer = subject.sanitizer
    if sensitive:
        allowed = sanitizer.mechanism_.observe == "nonsensitive"  # S is not looked at
    else:
        allowed = sanitizer.handle_unknown != "error" or told
    return (1.0, "") if allowed else (0.0, "it is reported rather than refused")


def _check_callable(
    subject: Subject, reports: Integers, seen: Integers, value: Any, *, alone: bool
) -> tuple[float, str]:
    new = ~np.isin(reports, seen)
    if not new.any():
        return 1.0, ""
    rows = [subject.index.row(number) for number in np.unique(reports[new]).tolist()]
    if alone and any(value in (row if isinstance(row, tuple) else (row,)) for row in rows):
        return 0.0, f"it passes through; reports such as {rows[0]!r} contain it"
    # The probability of reports not seen in n records is about the share of those seen once (Good);
    # in one cell it may be larger by a factor of the number of cells.
    once = int((np.unique(seen, return_counts=True)[1] == 1).sum())
    unseen = min(1.0, subject.n_cells * (once + 5.0) / len(seen))
    p_value = float(bdtrc(int(new.sum()) - 1, len(new), unseen))
    return p_value, f"it can be recognised; reports such as {rows[0]!r} come from no known record"
