"""A mechanism in words, for `repr`, HTML and the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from skrldp._lists_in_words import (
    cells_in_words,
    columns_in_words,
    known_by_category,
    protected,
    sees,
)
from skrldp.alphabet.columns import listed
from skrldp.alphabet.numbers import Numbers
from skrldp.claims_in_words import claim_lines, claims_in_short, origin_of

_SHOWN = 20  # blocks

Line = tuple[str, str]


def sizes(mechanism: Any) -> str:
    """Say how many reports, secrets and values there are."""
    n_secrets, n_values = len(mechanism.secrets), len(mechanism.values)
    return f"{mechanism.form.shape[0]:,} reports of {cells_in_words(n_secrets, n_values)}"


def claim(mechanism: Any) -> str:
    """State the claims briefly, after a comma; empty if there are none."""
    return "" if mechanism.claims is None else f", {claims_in_short(mechanism.claims)}"


def lines_of(mechanism: Any) -> list[Line]:
    """State what a mechanism is and claims, as labels and texts."""
    own, other = ([n for n, flag in mechanism.columns if flag is kind] for kind in (True, False))
    kind = "a matrix of weights" if mechanism.form.blocks is None else "four weights"
    shown: list[Line] = [
        (
            "protects",
            protected(own, other) if mechanism.columns else "S; the columns are not named",
        ),
        ("secrets", _counted(mechanism.secrets)),
        *([("values of U", _counted(mechanism.values))] if other or not own else []),
        ("sees", sees(mechanism.form.observe)),
        ("reports", _counted(mechanism.symbols)),
        ("weights", f"{kind}, whole numbers over 2^{mechanism.form.bits}"),
        *lines_of_numbers(mechanism.numbers_by_name),
    ]
    if mechanism.claims is None:
        return [*shown, ("claimed", "nothing")]
    notes = [("note", text) for text in notes_of(mechanism)]
    around = mechanism.claims.main.around
    (data, unit), n_records = origin_of(around), around.n_records
    table = [] if n_records is None else [(data, f"{n_records:,} {unit}")]
    return [*shown, *claim_lines(mechanism.claims), *table, *notes]


def lines_of_blocks(own: Any) -> list[Line]:
    """State what a manifest is and claims, as labels and texts."""
    secret, other = ([n for n, flag in own.columns if flag is kind] for kind in (True, False))
    lines: list[Line] = [
        ("protects", protected(secret, other)),
        ("sees", sees(own.observe)),
        (
            "blocks",
            f"{len(own.blocks):,}; every person reports one, which is drawn without regard "
            "to the record",
        ),
    ]
    parts = list(zip(own.blocks, own.shares, own.mechanisms, strict=True))
    for number, (block, share, one) in enumerate(parts[:_SHOWN]):
        about = f"{columns_in_words(block)}: {one.shape[0]:,} reports, probability {share:.3g}"
        lines.append((f"block {number}", about + claim(one)))
    if len(parts) > _SHOWN:
        lines.append(("", f"and {len(parts) - _SHOWN:,} more"))
    return [
        *lines,
        *lines_of_numbers(own.numbers),
        *(claim_lines(own.claims) if own.claims else [("claimed", "nothing")]),
    ]


def notes_of(mechanism: Any) -> list[str]:
    """Explain the claims about observers who know columns of U."""
    known = None if mechanism.claims is None else mechanism.claims.known
    coarse = known_in_groups(mechanism, known.known) if known else []
    return [known_by_category(coarse)] if coarse else []


def lines_of_numbers(numbers: Mapping[Any, Numbers]) -> list[Line]:
    """State how the numbers of columns become categories."""
    shown = list(numbers.items())[:_SHOWN]
    return [(f"{name}", f"{own.range}, {own.in_words}") for name, own in shown]


def known_in_groups(mechanism: Any, known: Iterable[Any]) -> list[Any]:
    """Return the known columns of which several values are one category."""
    names = [name for name, sensitive in mechanism.columns if not sensitive]
    own = zip(names, mechanism.others or (None,) * len(names), strict=True)
    grouped = {name for name, entry in own if entry is not None} | {*mechanism.numbers_by_name}
    return [name for name in known if name in grouped]


def _counted(names: Sequence[Any]) -> str:
    return f"{len(names):,}: {listed(names)}"
