"""Bounds from private reports, recomputed from the stated counts (Theorem 42)."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from skrldp.certificate._verify import Verdict
from skrldp.claims_in_words import set_in_short
from skrldp.joint import CountedReports
from skrldp.mechanism.manifest import Manifest, read_json
from skrldp.mechanism.mechanism import Mechanism
from skrldp.sets.bounds_from_reports import conditional_bounds

_TIES = 1  # units by which rounding on another machine may change a bound


def cells_by_record(
    mechanism: Mechanism, columns: Sequence[Any] | None = None
) -> dict[tuple[Any, ...], int]:
    """Return the cell of each record, by the values of `columns` or of all columns in order."""
    flags = [is_secret for _, is_secret in mechanism.columns]
    names = [name for name, _ in mechanism.columns]
    positions = [names.index(name) for name in columns or names]

    def as_tuple(value: Any, n_columns: int) -> tuple[Any, ...]:
        return (value,) if n_columns == 1 else tuple(value)

    cells = {}
    for k, (s, u) in enumerate(product(mechanism.secrets, mechanism.values)):
        names_of = {
            True: iter(as_tuple(s, sum(flags))),
            False: iter(as_tuple(u, len(flags) - sum(flags))),
        }
        record = [next(names_of[flag]) for flag in flags]
        cells[tuple(record[position] for position in positions)] = k
    return cells


def counted_for(pilot: Mechanism, counts: Any, like: Mechanism) -> CountedReports:
    """Return counted reports of a mechanism, with the cells in the order of another mechanism's.

    Raises ValueError if the two have different columns or categories.
    """
    names, of_pilot = ([name for name, _ in mechanism.columns] for mechanism in (like, pilot))
    has_columns = len(names) > 0 and set(names) == set(of_pilot)
    by_record = cells_by_record(pilot, names) if has_columns else {}
    cells = cells_by_record(like)
    if by_record.keys() != cells.keys():
        raise ValueError(
            "the reports come from mechanisms with different columns or categories: pass the same "
            "categories= to each, and named columns."
        )
    if len(counts) != pilot.shape[0]:
        raise ValueError("different reports were written as the same cell: use encode='symbol'.")
    order = np.array([by_record[record] for record in cells])
    return CountedReports(pilot.matrix[:, order], np.asarray(counts), pilot.digest)


def verify_bounds(mechanism: str | bytes, pilots: Sequence[str | bytes]) -> Verdict:
    """Recompute the bounds that a mechanism states from private reports.

    :func:`verify` shows that a mechanism is private over the stated bounds. This function shows
    that they follow from the counts of reports that the mechanism states. The counts do not show
    whether these were reported, nor by whom.

    Parameters
    ----------
    mechanism : str or bytes
        JSON of a mechanism that was designed from reports, or of a manifest of such mechanisms.
    pilots : list of str or bytes
        JSON of the mechanisms or manifests that made the reports, in any order.

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
    blocks = _mechanisms(mechanism)
    shown = []
    for number, block in enumerate(blocks):
        problem = _problem_of(block, pilots)
        if problem:
            of_block = f" of block {number}" * (len(blocks) > 1)
            return Verdict(False, f"not shown: the bounds{of_block} {problem}.")
        assert block.claims is not None
        shown.append(set_in_short(block.claims.main.around))
    return Verdict(True, "holds", tuple(shown), ("reports",))


def _mechanisms(text: str | bytes) -> tuple[Mechanism, ...]:
    """Read a mechanism, or those of a manifest."""
    mechanism = read_json(text)
    return mechanism.mechanisms if isinstance(mechanism, Manifest) else (mechanism,)


def _problem_of(mechanism: Mechanism, pilots: Sequence[str | bytes]) -> str:
    """Explain why the stated bounds are not shown; empty if they are."""
    stated_set = None if mechanism.claims is None else mechanism.claims.main.around
    if stated_set is None or stated_set.bounds is None:
        return "are not stated"
    known = {pilot.digest: pilot for text in pilots for pilot in _mechanisms(text)}
    missing = [digest for digest, _ in stated_set.bounds.reports if digest not in known]
    if missing:
        return f"come from reports of the mechanism {missing[0]}, which is not given"
    try:
        stated = stated_set.bounds.reports
        reports = [counted_for(known[digest], counts, mechanism) for digest, counts in stated]
    except ValueError as error:
        return f"do not follow: {error}".rstrip(".")
    shape = len(mechanism.secrets), len(mechanism.values)
    lower, upper = conditional_bounds(reports, shape, stated_set.beta or 0.0, stated_set.rule or "")
    stated_lower, stated_upper = (
        np.array(stated_set.bounds.lower),
        np.array(stated_set.bounds.upper),
    )
    if stated_lower.shape != shape or stated_upper.shape != shape:
        return "are not of these secrets and values"
    if (stated_lower > lower + _TIES).any() or (stated_upper < upper - _TIES).any():
        return "are narrower than the reports allow"
    return ""
