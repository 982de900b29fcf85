"""Bounds from private reports, computed again from the counts that are stated (Theorem 42)."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from skrldp.certificate._verify import Verdict
from skrldp.joint import CountedReports
from skrldp.mechanism.mechanism import Mechanism
from skrldp.sets.bounds_from_reports import conditional_bounds

_TIES = 1  # units that another machine's rounding may move a bound by


def cells_by_record(mechanism: Mechanism) -> dict[tuple[Any, ...], int]:
    """Return the cell of each record, a tuple of the columns' values in their order."""
    flags = [is_secret for _, is_secret in mechanism.columns]

    def as_tuple(value: Any, n_columns: int) -> tuple[Any, ...]:
        return (value,) if n_columns == 1 else tuple(value)

    found = {}
    for k, (s, u) in enumerate(product(mechanism.secrets, mechanism.values)):
        parts = {
            True: iter(as_tuple(s, sum(flags))),
            False: iter(as_tuple(u, len(flags) - sum(flags))),
        }
        found[tuple(next(parts[flag]) for flag in flags)] = k
    return found


def counted_for(pilot: Mechanism, counts: Any, like: Mechanism) -> CountedReports:
    """Return counted reports of a mechanism, with the cells in the order of another mechanism's.

    Raises ValueError if the two have different columns or categories.
    """
    own, cells = cells_by_record(pilot), cells_by_record(like)
    names = [[name for name, _ in one.columns] for one in (pilot, like)]
    if not names[0] or names[0] != names[1] or own.keys() != cells.keys():
        raise ValueError(
            "the reports are of mechanisms with different columns or categories: pass the same "
            "categories= to each, and name the columns."
        )
    if len(counts) != pilot.shape[0]:
        raise ValueError("different reports were written as the same cell: use encode='symbol'.")
    order = np.array([own[cell] for cell in cells])
    return CountedReports(pilot.matrix[:, order], np.asarray(counts), pilot.digest)


def verify_bounds(mechanism: str | bytes, pilots: Sequence[str | bytes]) -> Verdict:
    """Compute the bounds again that a mechanism states to come from private reports.

    :func:`verify` shows that a mechanism is private over the bounds as they are stated. This
    function shows that they follow from the counts of reports that the mechanism states. Whether
    these were reported, and by whom, nobody can see from the counts.

    Parameters
    ----------
    mechanism : str or bytes
        JSON of a mechanism that was designed from reports.
    pilots : list of str or bytes
        JSON of the mechanisms that made the reports, in any order.

    Returns
    -------
    Verdict
        ``holds`` if all stated bounds are as wide as those computed, up to one unit of 1/8192.

    Examples
    --------
    >>> from skrldp import FrequencyEstimator, GRRSanitizer, IRSanitizer
    >>> from skrldp.certificate import verify_bounds
    >>> answers = {"ill": ["no", "yes"], "age": ["young", "old"]}
    >>> pilot = GRRSanitizer(eps=2, sensitive=slice(None), categories=answers).fit()
    >>> reports = FrequencyEstimator(pilot, encode="symbol")
    >>> reports = reports.fit(range(4), sample_weight=[900, 700, 200, 400])
    >>> sanitizer = IRSanitizer(sensitive="ill", categories=answers).fit(reports)
    >>> verify_bounds(sanitizer.mechanism_.to_json(), [pilot.mechanism_.to_json()])
    Verdict(holds=True, message='holds', shown=('bounds from 2,200 reports',), stated=('reports',))
    """
    own = Mechanism.from_json(mechanism)
    around = None if own.claims is None else own.claims.main.around
    if around is None or around.bounds is None:
        return Verdict(False, "not shown: the mechanism states no bounds from reports.")
    known = {one.digest: one for one in map(Mechanism.from_json, pilots)}
    lacking = [digest for digest, _ in around.bounds.reports if digest not in known]
    if lacking:
        return Verdict(False, f"not shown: the mechanism with digest {lacking[0]} is not given.")
    reports = [counted_for(known[digest], counts, own) for digest, counts in around.bounds.reports]
    shape = len(own.secrets), len(own.values)
    lower, upper = conditional_bounds(reports, shape, around.beta or 0.0, around.rule or "")
    stated = np.array(around.bounds.lower), np.array(around.bounds.upper)
    if stated[0].shape != shape or stated[1].shape != shape:
        return Verdict(False, "not shown: the bounds are not of these secrets and values.")
    if (stated[0] > lower + _TIES).any() or (stated[1] < upper - _TIES).any():
        return Verdict(False, "not shown: a stated bound is narrower than the reports allow.")
    return Verdict(True, "holds", (around.brief(),), ("reports",))
