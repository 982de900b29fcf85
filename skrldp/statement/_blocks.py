"""The privacy report of a wide table: one page about all blocks of columns together."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skrldp._params import at_most
from skrldp._sentences import columns_in_words, series
from skrldp.alphabet.values import weakest_source
from skrldp.claims import NO_BOUND, bound
from skrldp.sanitizers.access import known_columns
from skrldp.statement._parts import Blocks, PublicTable, ReportFigures

__all__ = ["block_in_words", "block_lines", "in_all_blocks", "warnings_of_blocks"]

_SHOWN = 5  # blocks, and warnings, that are written out


def in_all_blocks(sanitizer: Any, each: Sequence[ReportFigures]) -> ReportFigures:
    """Put the figures of all blocks together: the worst case is that of the worst block."""
    manifest = sanitizer.manifest_
    eps = np.array([one.proof.eps_proven for one in each])
    worst = each[int(eps.argmax())]
    return replace(
        worst,
        sanitizer=type(sanitizer).__name__,
        promise=replace(
            worst.promise,
            sensitive=tuple(name for name, flag in manifest.columns if flag),
            nonsensitive=tuple(name for name, flag in manifest.columns if not flag),
            known=known_columns(sanitizer),
        ),
        proof=replace(
            worst.proof,
            eps_at_public=_greatest(each, "eps_at_public"),
            eps_over_set=_greatest(each, "eps_over_set"),
            eps_record=max(one.proof.eps_record for one in each),
        ),
        covered=replace(
            worst.covered,
            few_records=any(one.covered.few_records for one in each),
            alphabet=weakest_source([one.covered.alphabet for one in each]),
        ),
        table=_table(each, worst.table),
        blocks=Blocks(
            columns=manifest.blocks,
            shares=manifest.shares,
            eps_of_blocks=eps,
            worst_block=manifest.blocks[int(eps.argmax())],
            cells_of_blocks=np.array([one.table.n_cells for one in each]),
        ),
    )


def _greatest(each: Sequence[ReportFigures], name: str) -> float | None:
    """Return the greatest of the blocks' figures; None if a block does not have the figure."""
    found = [getattr(one.proof, name) for one in each]
    return None if None in found else max(found)


def _table(each: Sequence[ReportFigures], worst: PublicTable) -> PublicTable:
    """Count the cells of all blocks."""
    return replace(
        worst,
        n_cells=sum(one.table.n_cells for one in each),
        zero_cells=sum(one.table.zero_cells for one in each),
    )


def block_lines(report: ReportFigures) -> list[tuple[str, str]]:
    """Say what blocks there are, which leaks most, and what a change of the population does."""
    blocks = report.blocks
    if blocks is None:
        return []
    cells, least, most = blocks.cells_of_blocks, blocks.shares.min(), blocks.shares.max()
    bounds = sorted({at_most(float(eps), ".4g") for eps in blocks.eps_of_blocks}, key=float)
    of_u = " of U" if report.promise.nonsensitive else ""
    return [
        (
            "blocks",
            f"{_span([len(blocks.columns)], 'block')}, of {_span(map(len, blocks.columns))}{of_u} "
            f"and {_span(cells, 'cell')} each; every person reports one, which is drawn without "
            f"regard to the record, with probability {least:.2g}"
            + (f" to {most:.2g}" if most > least else ""),
        ),
        (
            "worst block",
            f"{block_in_words(blocks.worst_block)}; the bounds of all blocks are eps <= "
            + " to ".join(dict.fromkeys([bounds[0], bounds[-1]])),
        ),
        ("drift", _drift(report)),
    ]


def block_in_words(block: Sequence[Any]) -> str:
    """Name the columns of a block."""
    return f"({columns_in_words(block)})"


def _span(numbers: Iterable[Any], unit: str = "column") -> str:
    """Write numbers of things from the least to the greatest."""
    found = sorted({int(number) for number in numbers})
    units = unit if found == [1] else f"{unit}s"
    return f"{' to '.join(f'{one:,}' for one in dict.fromkeys([found[0], found[-1]]))} {units}"


def _drift(report: ReportFigures) -> str:
    """State the bound if those who report are another population than the public table's."""
    if report.covered.coverage == "all distributions" and report.beyond.beta == 0.0:
        return "the bounds hold for every population"
    moved = (
        "the set is about the columns of a block given S. Where those who report differ more from "
        "the public table, reports of some blocks may leak more, of large blocks sooner than of "
        "single columns"
    )
    if math.isinf(report.beyond.eps_all):
        return f"{moved}; {NO_BOUND}"
    return f"{moved}; {bound(report.beyond.eps_all, '.4g')} holds even then"


def warnings_of_blocks(told: Sequence[tuple[tuple[Any, ...], Sequence[str]]]) -> list[str]:
    """Write the warnings of blocks, each once, with the blocks that it is about."""
    blocks: dict[str, list[str]] = {}
    for block, said in told:
        for text in said:
            blocks.setdefault(text, []).append(block_in_words(block))
    found = []
    for text, own in list(blocks.items())[:_SHOWN]:
        more = [f"{len(own) - _SHOWN:,} more"] * (len(own) > _SHOWN)
        names = series([*own[:_SHOWN], *more])
        found.append(f"Block{'s' * (len(own) > 1)} {names}: {text}")
    if len(blocks) > _SHOWN:
        found.append(
            f"There are {len(blocks) - _SHOWN:,} more warnings of blocks: "
            "privacy_report(sanitizer.sanitizers_[0]) has those of the first block, and so on."
        )
    return found
