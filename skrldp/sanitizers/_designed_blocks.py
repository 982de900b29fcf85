"""The mechanisms of blocks, designed side by side."""

import warnings
from collections.abc import Sequence
from typing import Any

from joblib import Parallel, delayed

from skrldp.sanitizers._base import BaseSanitizer

__all__ = ["designed"]

_LINE = "{desc} {n_fmt}/{total_fmt} |{bar:20}| {elapsed}{postfix}"  # how tqdm writes it
_SHOWN = 5  # blocks that a warning names

_Told = list[tuple[type[Warning], str]]


def designed(
    sanitizers: Sequence[BaseSanitizer],
    tables: Sequence[tuple[Any, Any]],
    blocks: Sequence[Sequence[Any]],
    n_jobs: int | None,
    verbose: int,
) -> tuple[BaseSanitizer, ...]:
    """Fit the sanitizer of each block; repeat their warnings, each once, with the blocks' names."""
    tasks = (
        delayed(_fitted)(one, *table, block)
        for one, table, block in zip(sanitizers, tables, blocks, strict=True)
    )
    done = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
    found = list(_counted(done, blocks) if verbose else done)
    _warn_once([told for _, told in found], blocks)
    return tuple(one for one, _ in found)


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
    blocks: dict[tuple[type[Warning], str], list[str]] = {}
    for warned, block in zip(told, names, strict=True):
        for one in warned:
            blocks.setdefault(one, []).append("(" + ", ".join(map(repr, block)) + ")")
    for (category, message), own in blocks.items():
        more = f" and {len(own) - _SHOWN:,} more" if len(own) > _SHOWN else ""
        text = f"blocks {', '.join(own[:_SHOWN])}{more}: {message}"
        warnings.warn(text, category, stacklevel=4)
