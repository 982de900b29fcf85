r"""Proof that a mechanism is private, as it will be sampled, and the repair that makes it so.

A certificate is an upper bound on the leakage at every distribution of the uncertainty set. It
comes from dual expressions of the support function, which are upper bounds wherever they are
evaluated, with the rounding of the arithmetic added. No solver's status or tolerance enters.
"""

from skrldp.certificate._bounds import cells_by_record, counted_for, verify_bounds
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
