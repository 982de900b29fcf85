"""Manifests on the command line: what they claim, and their reports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from skrldp._sentences import bound, columns_in_words, lines_of_set, sees, series
from skrldp.alphabet import weakest_source
from skrldp.cli import _claims
from skrldp.cli._errors import CommandError
from skrldp.cli._estimates import count_numbers
from skrldp.cli._formats import Kind
from skrldp.cli._fresh import BLOCK
from skrldp.mechanism import REPORTS, Manifest

__all__ = ["check_together", "everywhere", "figures_of", "lines_of", "reported_blocks"]

_SHOWN = 20  # blocks


def everywhere(manifest: Manifest) -> tuple[float, float] | None:
    """Compute the bounds over all distributions: those of the worst blocks."""
    found = [_claims.everywhere(one) for one in manifest.mechanisms]
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    return max(eps_all for eps_all, _ in known), max(given_u for _, given_u in known)


def lines_of(manifest: Manifest, proven: tuple[float, float] | None) -> list[tuple[str, str]]:
    own, other = ([n for n, flag in manifest.columns if flag is kind] for kind in (True, False))
    lines = [
        ("digest", manifest.digest),
        ("protects", f"S = {columns_in_words(own)}; U = {columns_in_words(other)}"),
        ("sees", sees(manifest.observe)),
        (
            "blocks",
            f"{len(manifest.blocks):,}; every person reports one, which is drawn without regard "
            "to the record",
        ),
    ]
    parts = zip(manifest.blocks, manifest.shares, manifest.mechanisms, strict=True)
    for number, (block, share, one) in enumerate(parts):
        if number == _SHOWN:
            lines.append(("", f"and {len(manifest.blocks) - _SHOWN:,} more"))
            break
        claimed = "" if one.guarantee is None else f", {bound(one.guarantee.eps)} claimed"
        about = f"{columns_in_words(block)}: {one.shape[0]:,} reports, probability {share:.3g}"
        lines.append((f"block {number}", about + claimed))
    for name, bins in list(manifest.bins.items())[:_SHOWN]:
        lines.append((f"{name}", f"numbers in {bins.range}, cut into {', '.join(bins.labels)}"))
    lines.append(("claimed", _claimed(manifest)))
    lines += _sets(manifest)
    if manifest.eps is not None:
        bounds = {k: manifest.bound_of(k) for k in REPORTS}
        some = {k: eps for k, eps in bounds.items() if eps is not None and math.isfinite(eps)}
        said = "; ".join(f"{bound(eps)} for k = {k}" for k, eps in some.items())
        more = "" if len(some) == len(REPORTS) else "; no bound for more"
        lines.append(("k reports", f"about one person together: {said}{more}"))
    if proven is not None:
        words = f"{bound(proven[0])} for all distributions"
        lines.append(("proven here", f"{words}; it follows from the mechanisms alone"))
    return lines


def _claimed(manifest: Manifest) -> str:
    if manifest.eps is None:
        return "nothing"
    said = f"{bound(manifest.eps)}, that of the worst block"
    if not manifest.beta:
        return said
    return f"{said}, unless a set of some block misses: beta = {manifest.beta:.3g} in all"


def _sets(manifest: Manifest) -> list[tuple[str, str]]:
    """Say for which distributions the blocks' claims hold, and what beta rests on, each once."""
    about: dict[tuple[str, str], list[str]] = {}
    for number, one in enumerate(manifest.mechanisms):
        if one.guarantee is not None:
            for line in lines_of_set(one.guarantee.distributions, one.guarantee.alphabet):
                about.setdefault(line, []).append(f"{number}")
    found = []
    for (label, words), own in about.items():
        more = [f"{len(own) - _SHOWN:,} more"] * (len(own) > _SHOWN)
        which = f"of block{'s' * (len(own) > 1)} {series([*own[:_SHOWN], *more])}: "
        found.append((label, words if len(own) == len(manifest.mechanisms) else which + words))
    return sorted(found, key=lambda line: line[0] == "assumes")


def figures_of(
    manifest: Manifest, proven: tuple[float, float] | None, same: bool
) -> dict[str, Any]:
    parts = zip(manifest.blocks, manifest.shares, manifest.mechanisms, strict=True)
    found = _claims.common_figures(manifest, proven, same)
    found["blocks"] = [
        {
            "columns": block,
            "share": share,
            "n_reports": one.shape[0],
            "eps": None if one.guarantee is None else one.guarantee.eps,
            **_claims.set_of(one.guarantee),
        }
        for block, share, one in parts
    ]
    if manifest.bins:
        found["edges"] = {str(name): bins.edges for name, bins in manifest.bins.items()}
    if manifest.eps is not None:
        bounds = {k: manifest.bound_of(k) for k in REPORTS}
        claims = [one.guarantee for one in manifest.mechanisms if one.guarantee is not None]
        sources = [one.alphabet for one in claims if not one.for_all_distributions]
        found["claimed"] = {
            "eps": manifest.eps,
            "beta": manifest.beta,
            "alphabet": weakest_source(sources) if sources else None,
            "eps_of_reports": bounds,
        }
    return found


def reported_blocks(
    manifest: Manifest, path: str, column: str, counts: str | None, kind: Kind
) -> tuple[Any, Any]:
    """Count how often each pair of a block and a report is there, a batch at a time.

    Returns `reports`: blocks and reports (n, 2); and their counts (n,).
    """
    if column == BLOCK:
        raise CommandError(f"--report-column {BLOCK}: this is the column of the blocks.")
    sizes = [one.shape[0] for one in manifest.mechanisms]
    found = count_numbers((len(sizes), max(sizes)), path, [BLOCK, column], counts, kind)
    reports = np.argwhere(found)
    wrong = reports[:, 1] >= np.array(sizes)[reports[:, 0]]
    if wrong.any():
        block, report = reports[wrong][0].tolist()
        raise CommandError(
            f"{path} has a report {report} of block {block}, whose mechanism has "
            f"{sizes[block]:,} reports. These are reports of another manifest."
        )
    return reports, found[tuple(reports.T)]


def check_together(manifest: Manifest, path: str, columns: Sequence[str]) -> None:
    """Refuse columns that stand together in no block."""
    if any({name for name, _ in one.columns}.issuperset(columns) for one in manifest.mechanisms):
        return
    shown = "; ".join(columns_in_words(block) for block in manifest.blocks[:_SHOWN])
    what = f"the columns {columns_in_words(columns)} together" if columns else "all columns"
    raise CommandError(
        f"no block of {path} has {what}: name columns of one block, with --of and --by. The blocks "
        f"are {shown}{' and more' if len(manifest.blocks) > _SHOWN else ''}."
    )
