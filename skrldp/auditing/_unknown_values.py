"""Check that values outside the alphabet are refused, or cannot be seen in the reports."""

from typing import Any

import numpy as np
from scipy.special import bdtrc

from skrldp._typing import Integers
from skrldp.auditing._subject import SanitizerSubject, Subject, strange_values

__all__ = ["check_unknown"]


_ROWS = 64  # with each unknown value


def check_unknown(
    subject: Subject, seen: Integers, generator: np.random.Generator
) -> tuple[float, str]:
    """Pass values outside the alphabet, column by column, and examine the reports.

    Returns (float, str): bound on the p-value, and what was found; 0 for a certain fault.
    """
    worst = 1.0, "every unknown value was refused, or reported as known ones are"
    trials = [
        (place, name, sensitive, value)
        for place, (name, sensitive, known) in enumerate(subject.columns())
        for value in strange_values(known)
    ]
    for place, name, sensitive, value in trials:
        cells = generator.integers(subject.n_cells, size=_ROWS)
        try:
            records = subject.records(cells, strange=(place, value))
        except ValueError:  # no column of this library can hold the value
            continue
        try:
            answer = subject.report(records)
        except Exception:  # an error of any kind: nothing was reported
            continue
        reports = subject.index.add(answer, len(cells))
        if isinstance(subject, SanitizerSubject):
            p_value, words = _check_sanitizer(subject, reports, sensitive)
        else:
            p_value, words = _check_callable(subject, reports, seen, value)
        p_value = min(1.0, p_value * len(trials))
        if p_value < worst[0]:
            worst = p_value, f"unknown value {value!r} in column {name!r}: {words}"
    return worst


def _check_sanitizer(
    subject: SanitizerSubject, reports: Integers, sensitive: bool
) -> tuple[float, str]:
    own = np.isin(reports, subject.symbols)
    if not own.all():
        row = subject.index.row(int(reports[~own][0]))
        return 0.0, f"it passes through; the report is {row!r}, which the mechanism never makes"
    sanitizer = subject.sanitizer
    if sensitive:
        allowed = sanitizer.mechanism_.observe == "nonsensitive"  # S is not looked at
    else:
        allowed = sanitizer.handle_unknown != "error"
    return (1.0, "") if allowed else (0.0, "it is reported rather than refused")


def _check_callable(
    subject: Subject, reports: Integers, seen: Integers, value: Any
) -> tuple[float, str]:
    new = ~np.isin(reports, seen)
    if not new.any():
        return 1.0, ""
    rows = [subject.index.row(number) for number in np.unique(reports[new]).tolist()]
    if any(value in (row if isinstance(row, tuple) else (row,)) for row in rows):
        return 0.0, f"it passes through; reports such as {rows[0]!r} contain it"
    # The probability of reports not seen in n records is about the share of those seen once (Good);
    # in one cell it may be larger by a factor of the number of cells.
    once = int((np.unique(seen, return_counts=True)[1] == 1).sum())
    unseen = min(1.0, subject.n_cells * (once + 5.0) / len(seen))
    p_value = float(bdtrc(int(new.sum()) - 1, len(new), unseen))
    return p_value, f"it can be recognised; reports such as {rows[0]!r} come from no known record"
