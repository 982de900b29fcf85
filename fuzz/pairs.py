"""Cross two or three options of sanitizers: what is stated must be true, by brute force.

    make fuzz ARGS="pairs --number 2000 --seed 1"
    make fuzz ARGS="pairs --options table values"     pairs with one of these options

The truth is made of the integers in the mechanism's JSON, of counts that are taken here, and of
members of the stated set that `pairs_worst` finds; a stated bound below a leakage that such a
member attains is false. Options that do not go together may be refused, with a ValueError or a
CertificateError in clear words. Node is asked once for many mechanisms and proofs.
"""

import traceback
import warnings
from collections import Counter

from pairs_blocks import check_blocks
from pairs_draws import check_draws
from pairs_forms import in_form, records_of
from pairs_node import Node
from pairs_options import SETTINGS, applies, draw_case, make_case, make_sanitizer
from pairs_proofs import check_certify, check_proofs
from pairs_report import check_sanitizer
from pairs_source import check_source
from pairs_stated import check_stated
from pairs_table import FalseClaimError, check_counts
from pairs_utility import check_utility

import skrldp
from skrldp import privacy_report

__all__ = [
    "SETTINGS",
    "FalseClaimError",
    "Node",
    "check",
    "check_certify",
    "check_proofs",
    "check_sanitizer",
    "check_stated",
    "draw_case",
    "make_case",
    "make_sanitizer",
    "run",
]

_AT_ONCE = 100  # cases of which Node is asked


def run(number, start, options=()):
    """Check so many cases; print what became of them, and return how many are wrong."""
    found, node = Counter(), Node()
    for place in range(number):
        case = draw_case(place, start, options)
        try:
            became = check(case, node)
        except Exception as error:  # of any kind: all but a clear refusal is a fault
            became = "wrong"
            last = traceback.extract_tb(error.__traceback__)[-1]
            print(
                f"pairs --seed {start}, case {place}: {case.mechanism} with {case.names}: "
                f"{type(error).__name__}: {error} (line {last.lineno} of {last.filename})",
                flush=True,
            )
        found.update((option, became) for option in ["all", *dict(case.names)])
        if (place + 1) % _AT_ONCE == 0 or place + 1 == number:
            try:
                found["all", "answers of Node"] += node.ask()
            except FalseClaimError as error:
                found["all", "wrong"] += 1
                print(f"pairs --seed {start}, until case {place}: {error}", flush=True)
            print(f"pairs: {place + 1:,} combinations ({_counted(found, 'all')})", flush=True)
    for option in SETTINGS:
        print(f"  {option}: {_counted(found, option)}")
    return found["all", "wrong"]


def _counted(found, option):
    own = [(count, became) for (name, became), count in found.items() if name == option]
    return ", ".join(f"{count:,} {became}" for count, became in sorted(own, reverse=True))


def check(case, node=None):
    """Fit, and check all that is stated; return in a word what became of it."""
    if not applies(case):
        return "without such an option"
    sanitizer = make_sanitizer(case)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            _fit_before(case, sanitizer)
            told.clear()
            sanitizer.fit(case.given, sample_weight=case.weights)
        except (ValueError, skrldp.SkrldpError) as error:
            if len(str(error)) < 25:
                raise
            case.refusal = str(error)
            return "refused"
    if case.blocks:
        check_blocks(case, sanitizer, _reported(sanitizer), node)
        return "true"
    report = _reported(sanitizer)
    check_counts(case, sanitizer)
    check_source(case, sanitizer, report, [str(one.message) for one in told])
    check_sanitizer(case, sanitizer, report)
    check_stated(case, sanitizer)
    check_utility(case, sanitizer, report)
    check_draws(case, sanitizer)
    check_certify(case, sanitizer)
    check_proofs(case, sanitizer, node)
    if node is not None:
        records = case.table[[*case.sensitive, *case.of_u]].drop_duplicates().iloc[:8]
        node.client(sanitizer.mechanism_.to_json(), records_of(records))
    return "true"


def _fit_before(case, sanitizer):
    """Fit to another table before, of which nothing may be left."""
    if case.before:
        half = case.table.iloc[: max(20, len(case.table) // 2)]
        own = None if case.weights is None else case.weights[: len(half)]
        sanitizer.fit(in_form(case, half), sample_weight=own)


def _reported(sanitizer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return privacy_report(sanitizer)
