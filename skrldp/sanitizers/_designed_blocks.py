"""From the blocks that are asked for to a mechanism for each, designed side by side."""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from skrldp.alphabet import Bins
from skrldp.mechanism import Mechanism
from skrldp.sanitizers._base import BaseSanitizer
from skrldp.sanitizers._block_edges import alphabets_of
from skrldp.sanitizers._block_sizes import refuse_large_blocks, sizes_of
from skrldp.sanitizers._column_blocks import blocks_of, design_of, tables_of

__all__ = ["design_blocks"]

_LINE = "{desc} {n_fmt}/{total_fmt} |{bar:20}| {elapsed}{postfix}"  # how tqdm writes it
_MOST_NAMED = 5  # blocks that a warning names

_Told = list[tuple[type[Warning], str]]


def design_blocks(
    sanitizer: Any,
    base: BaseSanitizer,
    X: Any,
    sample_weight: Any,
    names: Sequence[Any],
    secret: Sequence[int],
    known: Sequence[int],
    bins: Mapping[Any, Bins],
) -> tuple[tuple[Mechanism, ...], tuple[BaseSanitizer, ...]]:
    """Find the m blocks, and design a mechanism for each: m mechanisms and fitted sanitizers."""
    blocks = blocks_of(sanitizer, X, names, secret, known)
    categories = alphabets_of(sanitizer.categories, bins, names)
    columns = [sorted({*secret, *block}) for block in blocks]
    tables = tables_of(X, columns, sample_weight, bins)
    sizes = sizes_of(tables, columns, categories, names)
    refuse_large_blocks(base, blocks, sizes, secret, names)
    beta = sanitizer.beta / len(blocks)
    designs = [
        design_of(sanitizer, base, names, secret, block, known, beta, categories)
        for block in blocks
    ]
    named = [[names[place] for place in block] for block in blocks]
    cells = [math.prod(sizes[place] for place in own) for own in columns]
    found = _side_by_side(designs, tables, named, cells, sanitizer.n_jobs, sanitizer.verbose)
    _warn_once([told for _, told in found], named)
    mechanisms = tuple(
        one.mechanism_.named(None, [(names[place], place in secret) for place in own])
        for (one, _), own in zip(found, columns, strict=True)
    )
    return mechanisms, tuple(one for one, _ in found)


def _side_by_side(
    sanitizers: Sequence[BaseSanitizer],
    tables: Sequence[tuple[Any, Any]],
    blocks: Sequence[Sequence[Any]],
    cells: Sequence[float],
    n_jobs: int | None,
    verbose: int,
) -> list[tuple[BaseSanitizer, _Told]]:
    """Fit the sanitizer of each block; return what it warned of as well."""
    # The one with the most cells first: as the last one, it would leave other processes idle.
    order = sorted(range(len(blocks)), key=lambda number: -cells[number])
    tasks = (delayed(_fitted)(sanitizers[k], *tables[k], blocks[k]) for k in order)
    done = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
    found = list(_counted(done, [blocks[k] for k in order]) if verbose else done)
    return [found[place] for place in np.argsort(order)]


def _fitted(
    sanitizer: BaseSanitizer, X: Any, sample_weight: Any, block: Sequence[Any]
) -> tuple[BaseSanitizer, _Told]:
    """Fit the sanitizer of a block; return what it warned of, which processes would not show."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            sanitizer.fit(X, sample_weight=sample_weight)
        except (ValueError, RuntimeError) as error:
            error.add_note(f"This is about the block of {', '.join(map(repr, block))}.")
            raise
    return sanitizer, [(one.category, str(one.message)) for one in told]


def _counted(done: Any, blocks: Sequence[Sequence[Any]]) -> Any:
    """Show how many blocks are designed, and a line for each of them."""
    from tqdm.auto import tqdm  # loaded when needed

    with tqdm(total=len(blocks), desc="[skrldp] blocks", bar_format=_LINE) as bar:
        for block, one in zip(blocks, done, strict=True):
            yield one
            names = ", ".join(map(str, block))
            bar.update()
            bar.set_postfix_str(names)
            bar.write(f"BlockSanitizer: {names}: {one[0].certificate_!r}")


def _warn_once(told: Sequence[_Told], names: Sequence[Sequence[Any]]) -> None:
    """Repeat the warnings of blocks, each once, with the blocks' names."""
    blocks: dict[tuple[type[Warning], str], list[str]] = {}
    for warned, block in zip(told, names, strict=True):
        for one in warned:
            blocks.setdefault(one, []).append("(" + ", ".join(map(repr, block)) + ")")
    for (category, message), own in blocks.items():
        more = f" and {len(own) - _MOST_NAMED:,} more" if len(own) > _MOST_NAMED else ""
        text = f"blocks {', '.join(own[:_MOST_NAMED])}{more}: {message}"
        warnings.warn(text, category, stacklevel=4)
