"""Blocks of columns: from a wide table to a mechanism for each block, designed in parallel."""

import math
import time
import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from skrldp._params import as_list, is_whole
from skrldp.alphabet.categories import listed
from skrldp.alphabet.values import brief
from skrldp.design.limits import part_of_larger_work
from skrldp.joint import as_counts
from skrldp.mechanism.mechanism import Mechanism
from skrldp.sanitizers.a_optimal import AOptimalSanitizer
from skrldp.sanitizers.base import BaseSanitizer
from skrldp.sanitizers.parameters import default_uncertainty, grouping_of
from skrldp.sanitizers.private_reports import Pilot, listed_categories, pilots_of_block
from skrldp.sanitizers.public_table import WEIGHTED, check_weights
from skrldp.table.encoding import MOST_CATEGORIES, given_categories
from skrldp.table.lazy import distinct_rows_of, refuse_weights
from skrldp.table.learned_categories import MAX_CELLS, learn_columns
from skrldp.table.read import Table, lazy_frame
from skrldp.table.select import resolve_columns, row_contents
from skrldp.targets import Contrast

_NAMED = ("singles", "pairs")
# Relative optimality tolerance of the designs of blocks. At twice the value, errors are 1 % larger.
_TOL = 0.1


def checked_base(sanitizer: Any) -> BaseSanitizer:
    """Return a copy of the sanitizer that designs a block; reject unsuitable ones."""
    base = AOptimalSanitizer(tol=_TOL) if sanitizer.base is None else clone(sanitizer.base)
    if not isinstance(base, BaseSanitizer):
        raise TypeError(
            f"base must be a sanitizer that designs one block, got {type(sanitizer.base).__name__}."
        )
    for name in ("sensitive", "observer_columns", "eps_worst_case"):
        # An index of the table is a different column of a block, and requests are not dropped.
        if (value := getattr(base, name, None)) is not None:
            raise ValueError(
                f"base has {name}={value!r}, but the guarantee is the same for all blocks: remove "
                f"{name} from the base, and pass it to BlockSanitizer."
            )
    for value in as_list(getattr(base, "targets", None)):
        selected = _selections_of(value) or [value]
        names = [name for columns in selected for name in as_list(columns)]
        if any(is_whole(name) or isinstance(name, slice) for name in names):
            # In two blocks, the same index is two different columns.
            raise ValueError(
                f"base has {value!r}, which selects a column by position, but positions "
                "differ between blocks: use names."
            )
    if base.survey is not None:
        raise ValueError(
            "base has a survey, but BlockSanitizer does not support survey designs. Fit "
            f"{type(base).__name__}(survey=...) directly, on the columns of one block and of the "
            "survey design."
        )
    for name in ("observer_columns", "eps_worst_case"):
        if getattr(sanitizer, name) is not None and not hasattr(base, name):
            raise ValueError(
                f"{name} was passed, but a {type(base).__name__} has no parameter {name}."
            )
    return base


def blocks_of(
    sanitizer: Any, X: Any, names: Sequence[Any], secret: Sequence[int], known: Sequence[int]
) -> list[tuple[int, ...]]:
    """Return the positions of each block's columns of U, in the table's order."""
    numbers = [*range(len(names))]
    if list(names) != numbers and set(names) == set(numbers):
        raise ValueError(
            f"the columns are named [{listed(names)}], numbers that differ from their positions, "
            "so that clients would misread arrays of records. Rename the columns."
        )
    rest = [i for i in numbers if i not in secret]
    free = [i for i in rest if i not in known] or rest
    is_named = isinstance(sanitizer.blocks, str) and sanitizer.blocks in _NAMED
    if not is_named and not isinstance(sanitizer.blocks, list | tuple):
        raise ValueError(
            f"blocks={sanitizer.blocks!r} must be 'singles', 'pairs' or a list of blocks, each a "
            "column or a list of columns."
        )
    if is_named:
        chosen: list[tuple[int, ...]] = [(i,) for i in free]
        if sanitizer.blocks == "pairs" and len(free) > 1:
            chosen = list(combinations(free, 2))
    else:
        chosen = [_places(X, block, names, secret) for block in sanitizer.blocks]
    distinct = list(dict.fromkeys(tuple(sorted({*block, *known})) for block in chosen))
    missing = [names[i] for i in rest if not any(i in block for block in distinct)]
    if missing:
        raise ValueError(
            f"no block contains the columns [{listed(missing)}], so they would not be reported: "
            "add them to a block, or drop them from the table."
        )
    return distinct


def design_of(
    sanitizer: Any,
    base: BaseSanitizer,
    names: Sequence[Any],
    secret: Sequence[int],
    block: Sequence[int],
    known: Sequence[int],
    beta: float,
) -> BaseSanitizer:
    """Return the sanitizer of a block, not yet fitted."""
    columns = sorted({*secret, *block})
    position_of = {column: position for position, column in enumerate(columns)}
    design = clone(base)
    uncertainty = default_uncertainty() if design.uncertainty is None else design.uncertainty
    if "beta" in getattr(uncertainty, "get_params", dict)():
        uncertainty.set_params(beta=beta)
    parameters: dict[str, Any] = {
        "eps": sanitizer.eps,
        "sensitive": [position_of[column] for column in secret] or slice(None),
        "categories": _own_categories(sanitizer.categories, names, columns, block),
        "uncertainty": uncertainty,
        "encode": "symbol",
    }
    if hasattr(design, "eps_worst_case"):
        parameters["eps_worst_case"] = sanitizer.eps_worst_case
    if known:
        parameters["observer_columns"] = [position_of[column] for column in known]
    return design.set_params(**parameters)


# --- Blocks --------------------------------------------------------------------------------------


def _places(X: Any, block: Any, names: Sequence[Any], secret: Sequence[int]) -> tuple[int, ...]:
    """Return the positions of a block's columns; reject secrets, which are in every block."""
    positions = resolve_columns(X, block, "blocks")
    inside = [names[position] for position in positions if position in secret]
    if inside:
        raise ValueError(
            f"the block {block!r} contains the sensitive column {inside[0]!r}. List only columns "
            "of U, because S is part of every block."
        )
    return positions


def _selections_of(target: Any) -> list[Any]:
    """Return how a target selects columns: each is a name, an index or a list of them."""
    estimated = target.of if isinstance(target, Contrast) else target
    selections = [getattr(estimated, attribute, None) for attribute in ("columns", "column", "by")]
    return [selection for selection in selections if selection is not None]


def _own_categories(
    categories: Any, names: Sequence[Any], columns: Sequence[int], block: Sequence[int]
) -> Any:
    """Return `categories` for a block's columns, all combinations of which are cells."""
    if isinstance(categories, str):
        return "product" if len(block) > 1 and categories == "auto" else categories
    given = given_categories(categories, names)
    values_of = ["auto" if given[i] is None else given[i] for i in columns]
    if all(given[i] is None for i in columns):
        return "product"
    names_of = [names[i] for i in columns]
    return (
        values_of if any(map(is_whole, names_of)) else dict(zip(names_of, values_of, strict=True))
    )


def tables_of(
    sanitizer: Any,
    X: Any,
    secret: Sequence[int],
    columns: Sequence[Sequence[int]],
    sample_weight: ArrayLike | None,
    designs: Sequence[BaseSanitizer],
) -> list[Table]:
    """Return the columns of each design, with what was learned about them.

    The columns of a table in memory are learned once. The distinct rows of a lazy frame are counted
    for all designs at once, and the columns of each of these tables are learned separately. Raises
    ValueError if the weights cannot be counts of the table's rows.
    """
    refuse_weights(X, sample_weight)
    grouping = grouping_of(designs[0], designs[0].uncertainty)
    lazy = lazy_frame(X)
    if lazy is None:
        records = None if sample_weight is None else _records(X, sample_weight)
        sensitive = list(secret) or slice(None)
        learned = learn_columns(X, sensitive, sanitizer.categories, grouping, records)
        return [learned.of_columns(positions) for positions in columns]
    return [
        learn_columns(rows, design.sensitive, design.categories, grouping)
        for rows, design in zip(distinct_rows_of(lazy, columns, MAX_CELLS), designs, strict=True)
    ]


def _sizes_of(tables: Sequence[Table], columns: Sequence[Sequence[int]]) -> dict[int, float]:
    """Return the number of categories of each column, by position."""
    return {
        position: math.inf if learned is None else len(learned[0])
        for table, positions in zip(tables, columns, strict=True)
        for position, learned in zip(positions, table.learned, strict=True)
    }


def _records(X: Any, sample_weight: ArrayLike) -> NDArray[np.int64]:
    """Return how many records each row of a table represents, (n,)."""
    rows = np.unique(row_contents(X), return_inverse=True)[1].reshape(-1)
    weights = as_counts(sample_weight, len(rows), table=X, weighted=WEIGHTED)
    check_weights(weights, rows)
    return weights.astype(np.int64)


def _without_table(
    sanitizer: Any,
    pilots: Sequence[Pilot],
    columns: Sequence[Sequence[int]],
    names: Sequence[Any],
) -> tuple[list[list[Pilot] | None], list[int]]:
    """Return what each block is fitted to instead of a table, and its number of cells."""
    if not pilots:
        sizes = [len(values) for values in listed_categories(sanitizer.categories)[1]]
        return [None] * len(columns), [math.prod(sizes[i] for i in block) for block in columns]
    fitted_with = []
    for positions in columns:
        block_names = [names[position] for position in positions]
        called = range(len(block_names)) if all(map(is_whole, block_names)) else block_names
        fitted_with.append(pilots_of_block(pilots, block_names, called))
    return list(fitted_with), [of_block[0].mechanism.shape[1] for of_block in fitted_with]


# --- Sizes of blocks, before any of them is designed ----------------------------------------------


_SHOWN = 2  # blocks that a message names


def refuse_large_blocks(
    base: BaseSanitizer,
    blocks: Sequence[Sequence[int]],
    sizes: Mapping[int, float],
    secret: Sequence[int],
    names: Sequence[Any],
) -> None:
    """Name all blocks that have more cells than `base` can design for.

    If `base` groups values, their numbers are not known in advance. With several sensitive columns,
    not all combinations need occur, but at least two do.
    """
    if base.min_frequency is not None or base.handle_unknown == "infrequent_if_exist":
        return
    n_secrets = sizes[secret[0]] if len(secret) == 1 else min(2, len(secret) + 1)
    cells = [n_secrets * math.prod(sizes[position] for position in block) for block in blocks]
    most_cells = base._most_cells
    large = [(block, n) for block, n in zip(blocks, cells, strict=True) if n > most_cells]
    if not large:
        return
    shown = [f"{brief(_named(block, names))} {_number(n)}" for block, n in large[:_SHOWN]]
    shown += ["..."] * (len(large) > _SHOWN)
    positions = {position for block, _ in large for position in block}
    widest = max(positions, key=lambda position: sizes[position])
    column = brief(repr(names[widest]))
    raise ValueError(
        f"{len(large):,} of {len(blocks):,} blocks have more cells than the {most_cells:,} that "
        f"{type(base).__name__} designs: {'; '.join(shown)}. Column {column} has "
        f"{_number(sizes[widest])} values. Cut its numbers with Bins in categories=, or drop it."
    )


def _named(block: Sequence[int], names: Sequence[Any]) -> str:
    return "(" + ", ".join(repr(names[position]) for position in block) + ")"


def _number(n: float) -> str:
    return f"{int(n):,}" if math.isfinite(n) else f"more than {MOST_CATEGORIES:,}"


# --- Designs --------------------------------------------------------------------------------------


_LINE = "{desc} {n_fmt}/{total_fmt} |{bar:20}| {elapsed}{postfix}"  # how tqdm writes it
_MOST_NAMED = 5  # maximum number of blocks to name in a warning
# Seconds for a block after the limit of all blocks; half as much leaves only closed forms
_LEAST_SECONDS = 0.1

_Told = list[tuple[type[Warning], str]]


def design_blocks(
    sanitizer: Any,
    base: BaseSanitizer,
    X: Any,
    sample_weight: Any,
    names: Sequence[Any],
    secret: Sequence[int],
    known: Sequence[int],
    pilots: Sequence[Pilot] | None,
) -> tuple[tuple[Mechanism, ...], tuple[BaseSanitizer, ...]]:
    """Find the m blocks, and design a mechanism for each; return m fitted sanitizers.

    `pilots` are the reports that replace the table X, which then has no records, or None.
    """
    blocks = blocks_of(sanitizer, X, names, secret, known)
    columns = [sorted({*secret, *block}) for block in blocks]
    beta = sanitizer.beta / len(blocks)
    designs = [design_of(sanitizer, base, names, secret, block, known, beta) for block in blocks]
    data: Sequence[Any]
    cells: Sequence[float]
    if pilots is None:
        data = tables = tables_of(sanitizer, X, secret, columns, sample_weight, designs)
        sizes = _sizes_of(tables, columns)
        refuse_large_blocks(base, blocks, sizes, secret, names)
        cells = [math.prod(sizes[position] for position in positions) for positions in columns]
    elif sample_weight is None:
        data, cells = _without_table(sanitizer, pilots, columns, names)
    else:
        raise ValueError(
            "sample_weight counts the records of a public table, but there is none: omit it."
        )
    named = [[names[position] for position in block] for block in blocks]
    fits = _side_by_side(designs, data, named, cells, sanitizer)
    _warn_once([messages for _, messages in fits], named)
    mechanisms = tuple(
        fitted.mechanism_.named(None, [(names[p], p in secret or not secret) for p in positions])
        for (fitted, _), positions in zip(fits, columns, strict=True)
    )
    return mechanisms, tuple(fitted for fitted, _ in fits)


def _side_by_side(
    sanitizers: Sequence[BaseSanitizer],
    data: Sequence[Any],
    blocks: Sequence[Sequence[Any]],
    cells: Sequence[float],
    caller: Any,
) -> list[tuple[BaseSanitizer, _Told]]:
    """Fit the sanitizer of each block; also return its warnings."""
    # Start with the largest block, which would leave other processes idle at the end.
    order = sorted(range(len(blocks)), key=lambda number: -cells[number])
    end = math.inf if caller.time_limit is None else time.time() + caller.time_limit
    left = np.cumsum([cells[k] for k in reversed(order)])[::-1]
    shares = effective_n_jobs(caller.n_jobs) * np.array([cells[k] for k in order]) / left
    tasks = (
        delayed(_fitted)(sanitizers[k], data[k], blocks[k], end, min(share, 1.0))
        for k, share in zip(order, shares.tolist(), strict=True)
    )
    done = Parallel(n_jobs=caller.n_jobs, return_as="generator")(tasks)
    fits = list(_counted(done, [blocks[k] for k in order], caller.verbose))
    return [fits[rank] for rank in np.argsort(order)]


def _fitted(
    sanitizer: BaseSanitizer,
    X: Any,
    block: Sequence[Any],
    end: float,
    share: float,
) -> tuple[BaseSanitizer, _Told]:
    """Fit the sanitizer of a block; return its warnings, which worker processes would not show.

    All blocks must be designed by `end`; this block gets a share of the seconds until then.
    """
    seconds = max((end - time.time()) * share, _LEAST_SECONDS)
    with warnings.catch_warnings(record=True) as caught, part_of_larger_work(seconds):
        warnings.simplefilter("always")
        try:
            sanitizer.fit(X)
        except (ValueError, RuntimeError) as error:
            error.add_note(f"This concerns the block of {', '.join(map(repr, block))}.")
            raise
    return sanitizer, [(warned.category, str(warned.message)) for warned in caught]


def _counted(done: Any, blocks: Sequence[Sequence[Any]], verbose: int) -> Any:
    """Show a progress bar after two seconds; if `verbose`, print each block that is designed."""
    from tqdm import tqdm  # imported only if needed

    options = {"bar_format": _LINE, "delay": 2.0, "disable": None, "leave": False}
    with tqdm(total=len(blocks), desc="[skrldp] blocks", **options) as bar:
        for block, fit in zip(blocks, done, strict=True):
            yield fit
            names = ", ".join(map(str, block))
            bar.update()
            bar.set_postfix_str(names)
            if verbose:
                bar.write(f"BlockSanitizer: {names}: {fit[0].certificate_!r}")


def _warn_once(messages: Sequence[_Told], names: Sequence[Sequence[Any]]) -> None:
    """Repeat each distinct warning of the blocks once, with the blocks' names."""
    blocks: dict[tuple[type[Warning], str], list[str]] = {}
    for warned, block in zip(messages, names, strict=True):
        for caught in warned:
            blocks.setdefault(caught, []).append("(" + ", ".join(map(repr, block)) + ")")
    for (category, message), named in blocks.items():
        rest = f" and {len(named) - _MOST_NAMED:,} more" if len(named) > _MOST_NAMED else ""
        text = f"blocks {', '.join(named[:_MOST_NAMED])}{rest}: {message}"
        warnings.warn(text, category, stacklevel=4)
