"""A mechanism in words, for `repr` and HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skrldp._numbers import at_most

if TYPE_CHECKING:
    from skrldp.mechanism._base import Mechanism

__all__ = ["claim", "figures", "sizes"]

_SHOWN = 12  # names of each kind


def sizes(mechanism: Mechanism) -> str:
    """Say how many reports, secrets and values there are."""
    n_secrets, n_values = len(mechanism.secrets), len(mechanism.values)
    return f"{mechanism.shape[0]:,} reports of {n_secrets:,} secrets x {n_values:,} values"


def claim(mechanism: Mechanism, before: str = "") -> str:
    """State the guarantee, after the text `before`; an empty text if there is none."""
    guarantee = mechanism.guarantee
    if guarantee is None:
        return ""
    over = guarantee.describe_distributions()
    return f"{before}eps<={at_most(guarantee.eps)} for {over}"


def figures(mechanism: Mechanism) -> list[tuple[str, str]]:
    """List the facts about a mechanism, as pairs of a name and a text."""
    roles = [
        f"{name} ({'sensitive' if sensitive else 'not sensitive'})"
        for name, sensitive in mechanism.columns
    ]
    sees = "the whole record" if mechanism.observe == "all" else "U alone, never S"
    kind = "a matrix of weights" if mechanism.form.blocks is None else "four weights"
    return [
        ("columns", _listed(roles) or "not named"),
        ("secrets", _listed(mechanism.secrets)),
        ("values of U", _listed(mechanism.values)),
        ("reports", _listed(mechanism.symbols)),
        ("sees", sees),
        ("weights", f"{kind}, whole numbers over 2^{mechanism.denominator_bits}"),
        ("claimed", claim(mechanism) or "nothing"),
    ]


def _listed(names: Sequence[Any]) -> str:
    shown = ", ".join(map(str, names[:_SHOWN]))
    return shown + (f", … ({len(names) - _SHOWN:,} more)" if len(names) > _SHOWN else "")
