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
from skrldp.alphabet.categories import listed
from skrldp.alphabet.numbers import Numbers
from skrldp.claims_in_words import claim_lines, claims_in_short, origin_of

_SHOWN = 20  # blocks

Line = tuple[str, str]


def sizes(mechanism: Any) -> str:
    """State how many reports, secrets and values there are."""
    n_secrets, n_values = len(mechanism.secrets), len(mechanism.values)
    return f"{mechanism.form.shape[0]:,} reports of {cells_in_words(n_secrets, n_values)}"


def claim(mechanism: Any) -> str:
    """State the claims briefly, after a comma; empty if there are none."""
    return "" if mechanism.claims is None else f", {claims_in_short(mechanism.claims)}"


def lines_of(mechanism: Any) -> list[Line]:
    """Describe a mechanism and its claims, as labels and texts."""
    sensitive, nonsensitive = _by_role(mechanism.columns)
    kind = "a matrix of weights" if mechanism.form.blocks is None else "four weights"
    roles = protected(sensitive, nonsensitive) if mechanism.columns else "S; no column has a name"
    shown: list[Line] = [
        ("protects", roles),
        ("secrets", _counted(mechanism.secrets)),
        *([("values of U", _counted(mechanism.values))] if nonsensitive or not sensitive else []),
        ("observes", sees(mechanism.form.observe)),
        ("reports", _counted(mechanism.symbols)),
        ("weights", f"{kind}, integers over 2^{mechanism.form.bits}"),
        *lines_of_numbers(mechanism.numbers_by_name),
    ]
    if mechanism.claims is None:
        return [*shown, ("claimed", "nothing")]
    notes = [("note", text) for text in notes_of(mechanism)]
    around = mechanism.claims.main.around
    (data, unit), n_records = origin_of(around), around.n_records
    table = [] if n_records is None else [(data, f"{n_records:,} {unit}")]
    return [*shown, *claim_lines(mechanism.claims), *table, *notes]


def lines_of_blocks(manifest: Any) -> list[Line]:
    """Describe a manifest and its claims, as labels and texts."""
    n_blocks = len(manifest.blocks)
    lines: list[Line] = [
        ("protects", protected(*_by_role(manifest.columns))),
        ("observes", sees(manifest.observe)),
        ("blocks", f"{n_blocks:,}; each person reports one, drawn independently of the record"),
    ]
    blocks = list(zip(manifest.blocks, manifest.shares, manifest.mechanisms, strict=True))
    for number, (block, share, mechanism) in enumerate(blocks[:_SHOWN]):
        text = f"{columns_in_words(block)}: {mechanism.shape[0]:,} reports, probability {share:.3g}"
        lines.append((f"block {number}", text + claim(mechanism)))
    if n_blocks > _SHOWN:
        lines.append(("", f"and {n_blocks - _SHOWN:,} more"))
    return [
        *lines,
        *lines_of_numbers(manifest.numbers),
        *(claim_lines(manifest.claims) if manifest.claims else [("claimed", "nothing")]),
    ]


def notes_of(mechanism: Any) -> list[str]:
    """Explain the claims about observers who know columns of U."""
    known = None if mechanism.claims is None else mechanism.claims.known
    coarse = known_in_groups(mechanism, known.known) if known else []
    return [known_by_category(coarse)] if coarse else []


def lines_of_numbers(numbers: Mapping[Any, Numbers]) -> list[Line]:
    """State how the numbers of columns become categories."""
    shown = list(numbers.items())[:_SHOWN]
    return [(f"{name}", f"{rule.range}, {rule.in_words}") for name, rule in shown]


def known_in_groups(mechanism: Any, known: Iterable[Any]) -> list[Any]:
    """Return the known columns in which several values form one category."""
    names = [name for name, sensitive in mechanism.columns if not sensitive]
    entries = zip(names, mechanism.others or (None,) * len(names), strict=True)
    grouped = {name for name, entry in entries if entry is not None} | {*mechanism.numbers_by_name}
    return [name for name in known if name in grouped]


def _by_role(columns: Iterable[tuple[Any, bool]]) -> tuple[list[Any], list[Any]]:
    """Return the names of sensitive and of nonsensitive columns."""
    pairs = list(columns)
    return [name for name, flag in pairs if flag], [name for name, flag in pairs if not flag]


def _counted(names: Sequence[Any]) -> str:
    return f"{len(names):,}: {listed(names)}"
