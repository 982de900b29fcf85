"""A mechanism in words, for `repr`, HTML and the command line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from skrldp._params import at_most
from skrldp._sentences import (
    bound,
    cells_in_words,
    columns_in_words,
    holds_for,
    known_by_category,
    lines_of_set,
    protected,
    sees,
    series,
    told_u,
    who_knows,
)
from skrldp.alphabet.columns import listed
from skrldp.mechanism.guarantee import Guarantee
from skrldp.mechanism.json_format import Parts

_SHOWN = 20  # blocks

REPORTS = (1, 2, 3, 10)  # numbers of reports about one person that bounds are stated for

Line = tuple[str, str]


def sizes(mechanism: Parts) -> str:
    """Say how many reports, secrets and values there are."""
    n_secrets, n_values = len(mechanism.secrets), len(mechanism.values)
    return f"{mechanism.form.shape[0]:,} reports of {cells_in_words(n_secrets, n_values)}"


def claim(mechanism: Parts) -> str:
    """State the guarantee in short, after a comma; an empty text if there is none."""
    guarantee = mechanism.guarantee
    if guarantee is None:
        return ""
    text = f", eps<={at_most(guarantee.eps)} for {guarantee.describe_distributions()}"
    if guarantee.eps_all is not None and not guarantee.for_all_distributions:
        text += f", eps<={at_most(guarantee.eps_all)} for all distributions"
    return text


def lines_of(mechanism: Parts) -> list[Line]:
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
    ]
    if mechanism.guarantee is None:
        return [*shown, ("claimed", "nothing")]
    names = [name for name, _ in mechanism.columns]
    notes = [("note", text) for text in notes_of(mechanism)]
    return [*shown, *_claims(mechanism.guarantee, names), *notes]


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
        claimed = "" if one.guarantee is None else f", {bound(one.guarantee.eps)} claimed"
        about = f"{columns_in_words(block)}: {one.shape[0]:,} reports, probability {share:.3g}"
        lines.append((f"block {number}", about + claimed))
    if len(parts) > _SHOWN:
        lines.append(("", f"and {len(parts) - _SHOWN:,} more"))
    for name, bins in list(own.bins.items())[:_SHOWN]:
        lines.append((f"{name}", f"numbers in {bins.range}, cut into {', '.join(bins.labels)}"))
    if own.eps is None:
        lines.append(("claimed", "nothing"))
    else:
        words = f"{bound(own.eps)}, that of the worst block"
        if own.beta:
            words += f", unless a set of some block misses: beta = {own.beta:.3g} in all"
        lines += [("claimed", words), ("k reports", _several_blocks(own))]
    lines += _sets(own)
    return lines


def _several_blocks(own: Any) -> str:
    bounds = {k: own.bound_of(k) for k in REPORTS}
    some = {k: eps for k, eps in bounds.items() if eps is not None and math.isfinite(eps)}
    said = "; ".join(f"{bound(eps)} for k = {k}" for k, eps in some.items())
    more = "" if len(some) == len(REPORTS) else "; no bound for more"
    return f"about one person together: {said}{more}"


def _sets(own: Any) -> list[Line]:
    """Say for which distributions the blocks' claims hold, and what beta rests on, each once."""
    about: dict[Line, list[str]] = {}
    for number, one in enumerate(own.mechanisms):
        if one.guarantee is not None:
            for line in lines_of_set(one.guarantee.distributions, one.guarantee.alphabet):
                about.setdefault(line, []).append(f"{number}")
    found = []
    for (label, words), blocks in about.items():
        more = [f"{len(blocks) - _SHOWN:,} more"] * (len(blocks) > _SHOWN)
        which = f"of block{'s' * (len(blocks) > 1)} {series([*blocks[:_SHOWN], *more])}: "
        found.append((label, words if len(blocks) == len(own.mechanisms) else which + words))
    return sorted(found, key=lambda line: line[0] == "assumes")


def notes_of(mechanism: Parts) -> list[str]:
    """Say what is to be known of the claims about observers who know columns of U."""
    guarantee, columns = mechanism.guarantee, mechanism.columns
    if guarantee is None or not columns:
        return []
    known = {place for one in guarantee.further for place in one.known}
    coarse = known_in_groups(mechanism, [columns[place][0] for place in sorted(known)])
    return [known_by_category(coarse)] if coarse else []


def known_in_groups(mechanism: Parts, known: Iterable[Any], cut: Iterable[Any] = ()) -> list[Any]:
    """Return the known columns of which several values are one category; `cut` are in bins."""
    names = [name for name, sensitive in mechanism.columns if not sensitive]
    own = zip(names, mechanism.others or (None,) * len(names), strict=True)
    grouped = {name for name, entry in own if entry is not None} | {*cut}
    return [name for name in known if name in grouped]


def _claims(guarantee: Guarantee, columns: list[Any]) -> list[Line]:
    """State all that a guarantee claims."""
    shown = [
        ("claimed", f"{bound(guarantee.eps)}, asked {at_most(guarantee.eps_requested)}"),
        *lines_of_set(guarantee.distributions, guarantee.alphabet),
    ]
    if guarantee.eps_all is not None and not guarantee.for_all_distributions:
        shown.append(
            ("everywhere", f"{bound(guarantee.eps_all)} for all distributions of the data")
        )
    if guarantee.n_records is not None:
        shown.append(("public table", f"{guarantee.n_records:,} records"))
    shown.append(("k reports", _reports(guarantee)))
    if guarantee.eps_given_u is not None:
        shown.append(("knows U", told_u(guarantee.eps_given_u)))
    return [*shown, *further_lines(guarantee, columns)]


def further_lines(guarantee: Guarantee, columns: Sequence[Any]) -> list[Line]:
    """State the further bounds of a guarantee, and their sets where these are others."""
    shown = []
    for one in guarantee.further:
        about = columns_in_words(columns[place] for place in one.secret)
        observer = f" {who_knows(columns[place] for place in one.known)}" if one.known else ""
        said = f"{bound(one.eps)} about {about}{observer}"
        if one.distributions != guarantee.distributions:
            condition = "" if guarantee.condition else one.alphabet  # or it is said above
            said += f", over {holds_for(one.distributions, condition)}"
        shown.append(("further", said))
    return shown


def _reports(guarantee: Guarantee) -> str:
    """State the bounds of several reports."""
    if math.isinf(guarantee.eps_of_next):
        return f"{bound(guarantee.eps)} for one report about each person; no bound for more"
    bounds = "; ".join(f"{bound(guarantee.bound_of(k))} for k = {k}" for k in REPORTS)
    return f"about one person together: {bounds}"


def _counted(names: Sequence[Any]) -> str:
    return f"{len(names):,}: {listed(names)}"
