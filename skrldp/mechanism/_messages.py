"""A mechanism in words, for `repr` and HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from skrldp._numbers import at_most
from skrldp.mechanism._parts import Parts

__all__ = ["claim", "figures", "sizes"]

_SHOWN = 12  # names of each kind


def sizes(mechanism: Parts) -> str:
    """Say how many reports, secrets and values there are."""
    n_secrets, n_values = len(mechanism.secrets), len(mechanism.values)
    return f"{mechanism.form.shape[0]:,} reports of {n_secrets:,} secrets x {n_values:,} values"


def claim(mechanism: Parts, before: str = "") -> str:
    """State the guarantee, after the text `before`; an empty text if there is none."""
    guarantee = mechanism.guarantee
    if guarantee is None:
        return ""
    over = guarantee.describe_distributions()
    text = f"{before}eps<={at_most(guarantee.eps)} for {over}"
    if guarantee.eps_all is not None and not guarantee.for_all_distributions:
        text += f", eps<={at_most(guarantee.eps_all)} for all distributions"
    return text


def figures(mechanism: Parts) -> list[tuple[str, str]]:
    """List the facts about a mechanism, as pairs of a name and a text."""
    roles = [
        f"{name} ({'sensitive' if sensitive else 'not sensitive'})"
        for name, sensitive in mechanism.columns
    ]
    sees = "the whole record" if mechanism.form.observe == "all" else "U alone, never S"
    kind = "a matrix of weights" if mechanism.form.blocks is None else "four weights"
    return [
        ("columns", _listed(roles) or "not named"),
        ("secrets", _listed(mechanism.secrets)),
        ("values of U", _listed(mechanism.values)),
        ("reports", _listed(mechanism.symbols)),
        ("sees", sees),
        ("weights", f"{kind}, whole numbers over 2^{mechanism.form.bits}"),
        ("claimed", claim(mechanism) or "nothing"),
        *_further(mechanism),
    ]


def _further(mechanism: Parts) -> list[tuple[str, str]]:
    """List what the guarantee states besides the bound on one report, as names and texts."""
    guarantee = mechanism.guarantee
    if guarantee is None:
        return []
    rows: list[tuple[str, str]] = []
    first, next_one = at_most(guarantee.eps), at_most(guarantee.eps_of_next)
    several = f"k about one person: eps<={first} + (k - 1) x {next_one}; two: eps<="
    rows.append(
        ("several reports", several + at_most(guarantee.bound_of(2)))
        if math.isfinite(guarantee.eps_of_next)
        else ("several reports", "no bound: one report about each person only")
    )
    if guarantee.eps_given_u is not None:
        bound = at_most(guarantee.eps_given_u)
        rows.append(("to somebody who knows U", f"eps<={bound} for one report"))
    if guarantee.eps_pairs is not None:
        bounds = [b for s, row in enumerate(guarantee.eps_pairs) for b in row[:s]]
        compared = [b for b in bounds if b is not None]
        text = f"eps<={at_most(min(compared))} to {at_most(max(compared))}" if compared else "none"
        without = len(bounds) - len(compared)
        rows.append(("by pair of secrets", text + f"; {without:,} without a bound" * bool(without)))
    for each in guarantee.further:
        about = _listed([mechanism.columns[place][0] for place in each.secret])
        known = _listed([mechanism.columns[place][0] for place in each.known])
        observer = f" to somebody who knows {known}" if known else ""
        rows.append((f"about {about}", f"eps<={at_most(each.eps)}{observer}"))
    return rows


def _listed(names: Sequence[Any]) -> str:
    shown = ", ".join(map(str, names[:_SHOWN]))
    return shown + (f", … ({len(names) - _SHOWN:,} more)" if len(names) > _SHOWN else "")
