r"""Proofs that the sampled mechanism is private, and the repair that makes designs private.

A certificate is an upper bound on the leakage at every distribution of the uncertainty set. It is
computed from dual expressions of the support function, which are upper bounds wherever they are
evaluated, plus the rounding error of the arithmetic. It does not depend on any solver's status or
tolerance.
"""

from skrldp.certificate._bounds_from_reports import cells_by_record, counted_for, verify_bounds
from skrldp.certificate._certify import (
    Certificate,
    certify,
    prove,
    prove_reports,
)
from skrldp.certificate._release import expected_seconds, release, release_made
from skrldp.certificate._verify import Verdict
from skrldp.certificate._witness import counts_to_json, verify, witness_of

__all__ = [
    "Certificate",
    "Verdict",
    "cells_by_record",
    "certify",
    "counted_for",
    "counts_to_json",
    "expected_seconds",
    "prove",
    "prove_reports",
    "release",
    "release_made",
    "verify",
    "verify_bounds",
    "witness_of",
]
