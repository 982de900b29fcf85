"""Cross two or three options of sanitizers: what is stated must be true, by brute force.

    make fuzz ARGS="pairs --number 2000 --seed 1"

The truth is made of the integers in the mechanism's JSON, of counts that are taken here, and of
members of the stated set that `pairs_worst` finds; a stated bound below a leakage that such a
member attains is false. Options that do not go together may be refused, with a ValueError or a
CertificateError in clear words.
"""

import traceback
import warnings
from collections import Counter

from pairs_beside import check_blocks, check_certify, check_draws, check_source
from pairs_options import applies, draw_case, make_case, make_sanitizer
from pairs_report import check_sanitizer
from pairs_table import FalseClaimError, check_counts

import skrldp
from skrldp import privacy_report

__all__ = [
    "FalseClaimError",
    "check",
    "check_sanitizer",
    "draw_case",
    "make_case",
    "make_sanitizer",
    "run",
]


def run(number, start):
    """Check so many cases; print what became of them, and return how many are wrong."""
    found, faults = Counter(), []
    for place in range(number):
        case = draw_case(place, start)
        try:
            found[check(case)] += 1
        except Exception as error:  # of any kind: all but a clear refusal is a fault
            found["wrong"] += 1
            faults.append((place, case.names))
            last = traceback.extract_tb(error.__traceback__)[-1]
            print(
                f"pairs --seed {start}, case {place}: {case.mechanism} with {case.names}: "
                f"{type(error).__name__}: {error} (line {last.lineno} of {last.filename})",
                flush=True,
            )
    said = ", ".join(f"{count:,} {what}" for what, count in found.most_common())
    print(f"pairs: {number:,} combinations of options ({said})", flush=True)
    return len(faults)


def check(case):
    """Fit, and check all that is stated; return in a word what became of it."""
    if not applies(case):
        return "without such an option"
    sanitizer = make_sanitizer(case)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            sanitizer.fit(case.table, sample_weight=case.weights)
        except (ValueError, skrldp.SkrldpError) as error:
            if len(str(error)) < 25:
                raise
            case.refusal = str(error)
            return "refused"
    if case.blocks:
        check_blocks(case, sanitizer, _reported(sanitizer))
        return "true"
    report = _reported(sanitizer)
    check_counts(case, sanitizer)
    check_source(case, sanitizer, report, [str(one.message) for one in told])
    check_sanitizer(case, sanitizer, report)
    check_draws(case, sanitizer)
    check_certify(case, sanitizer)
    return "true"


def _reported(sanitizer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return privacy_report(sanitizer)
