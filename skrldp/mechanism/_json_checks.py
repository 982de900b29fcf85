"""Checks of a mechanism, when it is read and when it is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp.alphabet import brief

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "check_alphabets",
    "check_blocks",
    "check_columns",
    "check_keys",
    "check_numbers",
    "check_weights",
    "malformed",
    "unique_key",
    "whole",
]

MOST_CELLS = 1_000_000
MOST_SYMBOLS = 1 << 16  # of a matrix of weights


def malformed(what: str) -> ValueError:
    """Return the error that says what is wrong with a mechanism."""
    return ValueError(f"the mechanism is malformed: {brief(what)}.")


def check_keys(
    fields: dict[str, Any], needed: Sequence[str], optional: Sequence[str], where: str
) -> None:
    """Check that an object has the keys it needs, and no others but the optional ones."""
    missing = [key for key in needed if key not in fields]
    strange = [key for key in fields if key not in needed and key not in optional]
    if missing:
        raise malformed(f"{where} lacks {', '.join(map(repr, missing))}")
    if strange:
        raise malformed(f"{where} has the unknown key {strange[0]!r}")


def check_columns(columns: Iterable[Any]) -> tuple[tuple[Any, bool], ...]:
    """Return columns as pairs of a name and whether it is sensitive."""
    pairs = tuple(columns)
    for pair in pairs:
        if not (isinstance(pair, tuple | list) and len(pair) == 2):
            raise ValueError(f"columns must be pairs (name, sensitive or not), got {pair!r}.")
        if not isinstance(pair[1], bool | np.bool_):
            raise ValueError(
                f"whether column {pair[0]!r} is sensitive must be a bool, got {pair[1]!r}."
            )
    return tuple((name, bool(sensitive)) for name, sensitive in pairs)


def check_alphabets(
    secrets: Sequence[Any],
    values: Sequence[Any],
    symbols: Sequence[Any] | None,
    columns: Sequence[tuple[Any, bool]],
) -> None:
    """Check that no name repeats and that the alphabets are those of the columns."""
    names = [name for name, _ in columns]
    parts = {"secrets": secrets, "values": values, "column names": names}
    if symbols is not None:
        parts["symbols"] = symbols
    for where, part in parts.items():
        if not part and where != "column names":
            raise malformed(f"{where} are empty")
        seen: dict[Any, Any] = {}
        for name in part:  # 1, 1.0 and True are one category
            key = unique_key(name)
            if key in seen:
                raise malformed(f"{where} repeat: {seen[key]!r} and {name!r} are equal")
            seen[key] = name
    if columns:
        _check_arity("secrets", secrets, [name for name, sensitive in columns if sensitive])
        _check_arity("values", values, [name for name, sensitive in columns if not sensitive])
    check_numbers(len(secrets), len(values))


def check_numbers(n_secrets: int, n_values: int, n_symbols: int = 1) -> None:
    """Check that there are not too many cells, nor too many reports of a matrix."""
    if n_secrets * n_values > MOST_CELLS:
        raise malformed(f"{n_secrets:,} x {n_values:,} cells are more than {MOST_CELLS:,}")
    if n_symbols > MOST_SYMBOLS:
        raise malformed(f"{n_symbols:,} reports are more than {MOST_SYMBOLS:,}")


def unique_key(name: Any) -> Any:
    """Return a key that is equal for equal names, and is looked up fast whatever the names are.

    Python hashes numbers by a known rule, so that somebody can choose many with one hash, which a
    dictionary takes quadratic time to tell apart. The hashes of strings depend on a random number.
    """
    if isinstance(name, tuple):
        return tuple(map(unique_key, name))
    if isinstance(name, str):
        return f"text {name}"
    if isinstance(name, float):
        if not name.is_integer():
            return name.hex()
        name = int(name)
    return f"{int(name):x}" if isinstance(name, int) else name


def _check_arity(part: str, names: Sequence[Any], columns: Sequence[Any]) -> None:
    """Check that one column has categories, and others tuples of them: U's may be empty."""
    n = len(columns)
    widths = {len(name) if isinstance(name, tuple) else 1 for name in names}
    if (
        (n == 0 and part == "secrets")
        or widths != {n}
        or (n == 1 and any(isinstance(name, tuple) for name in names))
    ):
        raise malformed(f"{part} do not fit the {n} column{'' if n == 1 else 's'} {columns}")


def check_blocks(
    blocks: tuple[int, int, int, int], n_secrets: int, n_values: int, bits: int
) -> None:
    """Check that four weights are a distribution on the cells."""
    if not 1 <= bits <= 53:
        raise malformed(f"blocks have 1 to 53 denominator bits, got {bits}")
    if min(blocks) < 0 or max(blocks) > 1 << bits:  # also one that no report has
        raise malformed("weights are negative or too large")
    counts = (1, n_values - 1, n_secrets - 1, (n_secrets - 1) * (n_values - 1))
    total = sum(weight * count for weight, count in zip(blocks, counts, strict=True))
    if total != 1 << bits:
        raise ValueError(
            f"the mechanism is damaged: the weights of each cell sum to {total}, not to 2**{bits}."
        )


def check_weights(weights: NDArray[np.int64], bits: int) -> None:
    """Check that each column of weights is a distribution on the reports."""
    n_symbols = len(weights)
    check_numbers(1, 1, n_symbols)
    if bits != 32 + (n_symbols - 1).bit_length():
        raise malformed(
            f"{bits} denominator bits do not fit {n_symbols} reports, which have "
            f"{32 + (n_symbols - 1).bit_length()}"
        )
    if weights.min() < 0:
        raise malformed("weights are negative")
    # No more than 2**16 weights of at most 2**48: sums cannot wrap round to 2**bits.
    wrong = weights.max(axis=0) > 1 << bits
    wrong |= weights.sum(axis=0, dtype=np.uint64) != 1 << bits
    if wrong.any():
        raise ValueError(
            f"the mechanism is damaged: the weights of column {int(wrong.argmax())} do not sum to "
            f"2**{bits}."
        )


def whole(number: Any, where: str) -> int:
    """Return an integer from the field `where`; True and 1.0 are refused."""
    if type(number) is not int:
        raise malformed(f"{number!r} in {where} is not a whole number")
    return number
