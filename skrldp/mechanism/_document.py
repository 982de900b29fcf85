"""A mechanism's JSON: what it says, read strictly and written in one way only.

NumPy alone is imported, because clients read with this. `docs/client.md` describes every field.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp.mechanism._categories import plain, revive
from skrldp.mechanism._checks import (
    check_alphabets,
    check_blocks,
    check_keys,
    check_weights,
    malformed,
    whole,
)
from skrldp.mechanism._guarantee import Guarantee

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Document", "digest", "read", "write"]

FORMAT = "skrldp-mechanism"
VERSION = 1
_NEEDED = ("format", "version", "columns", "secrets", "values", "denominator_bits")
_CLAIMS = ("eps_requested", "eps", "eps_attained", "n_records", "laws")
_LAWS = ("alpha", "radius", "rule", "beta")


@dataclass(frozen=True, eq=False)
class Document:
    """What the JSON of a mechanism says.

    Attributes
    ----------
    columns : tuple of (name, bool)
        The table's columns and whether each is sensitive; empty if unknown.
    secrets, values : tuple
        The alphabets, of sizes a1 and a2.
    denominator_bits : int
        Binary logarithm of the weights' denominator.
    symbols : tuple or None
        Names of the reports; None for blocks, whose reports are the cells.
    weights : int64 array or None
        Of shape (b, a1 * a2); (b, a2) if `observe` is "nonsensitive"; None for blocks.
    blocks : tuple of four int or None
        Weights (same, same_secret, same_value, other), or None.
    observe : {"all", "nonsensitive"}
        What must be known of a person.
    guarantee : Guarantee or None
        What is claimed to be proven.
    """

    columns: tuple[tuple[Any, bool], ...]
    secrets: tuple[Any, ...]
    values: tuple[Any, ...]
    denominator_bits: int
    symbols: tuple[Any, ...] | None = None
    weights: NDArray[np.int64] | None = None
    blocks: tuple[int, int, int, int] | None = None
    observe: str = "all"
    guarantee: Guarantee | None = None


def digest(text: str) -> str:
    """SHA-256 of a canonical text's UTF-8 bytes, in hexadecimal.

    Parameters
    ----------
    text : str
        What :func:`write` wrote.

    Returns
    -------
    str
    """
    return hashlib.sha256(text.encode()).hexdigest()


# --- Writing -------------------------------------------------------------------------------------


def write(document: Document) -> str:
    """Write the canonical JSON of a document.

    Parameters
    ----------
    document : Document

    Returns
    -------
    str
        The same for equal documents; :func:`read` gives an equal one back.

    Raises
    ------
    ValueError
        If :func:`read` would refuse it.
    TypeError
        If a category is none of what JSON can hold.
    """
    fields: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "columns": [[plain(name), bool(flag)] for name, flag in document.columns],
        "secrets": plain(document.secrets),
        "values": plain(document.values),
        "denominator_bits": document.denominator_bits,
    }
    if document.blocks is not None:
        fields["blocks"] = list(document.blocks)
    elif document.weights is not None:
        fields["symbols"] = plain(document.symbols)
        if document.observe != "all":
            fields["observe"] = document.observe
        fields["weights"] = document.weights.tolist()
    if document.guarantee is not None:
        fields["guarantee"] = _claims(document.guarantee)
    _check(document)
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _claims(guarantee: Guarantee) -> dict[str, Any]:
    claims = {name: getattr(guarantee, name) for name in _CLAIMS if name != "laws"}
    laws = {name: getattr(guarantee, name) for name in _LAWS}
    return {**claims, "laws": "all" if guarantee.for_all_laws else laws}


# --- Reading -------------------------------------------------------------------------------------


def read(text: str | bytes) -> Document:
    """Read a document, canonical or with other blanks and another order of keys.

    Parameters
    ----------
    text : str or bytes
        JSON; bytes are UTF-8.

    Returns
    -------
    Document

    Raises
    ------
    TypeError
        If `text` is neither str nor bytes.
    ValueError
        If it is not a mechanism's JSON to the letter, or its weights are not a distribution.
    """
    if not isinstance(text, str | bytes | bytearray):
        raise TypeError(f"a mechanism is read from str or bytes, got {type(text).__name__}.")
    try:
        fields = json.loads(
            text if isinstance(text, str) else bytes(text).decode(),
            object_pairs_hook=_unique,
            parse_float=_finite,
            parse_constant=_finite,
        )
    except RecursionError:
        raise ValueError("not a mechanism: the JSON is nested too deeply.") from None
    except ValueError as error:
        raise ValueError(f"not a mechanism: the text is not JSON ({error}).") from error
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise ValueError(f"not a mechanism: the JSON does not say format={FORMAT!r}.")
    version = fields.get("version")
    if type(version) is not int or version != VERSION:
        raise ValueError(
            f"this mechanism has version {version!r}; this release reads version {VERSION}."
        )
    document = _document(fields)
    _check(document)
    return document


def _document(fields: dict[str, Any]) -> Document:
    is_blocks = "blocks" in fields
    form = ("blocks",) if is_blocks else ("symbols", "weights")
    optional = ("guarantee",) if is_blocks else ("observe", "guarantee")
    check_keys(fields, (*_NEEDED, *form), optional, "it")
    observe = fields.get("observe", "all")
    if observe not in ("all", "nonsensitive"):
        raise malformed(f"observe is {observe!r}, neither 'all' nor 'nonsensitive'")
    alphabets = {
        name: tuple(revive(item, name) for item in _list(fields[name], name))
        for name in ("secrets", "values", "symbols")
        if name in fields
    }
    symbols = alphabets.get("symbols")
    blocks = weights = None
    if is_blocks:
        four = [whole(w, "blocks") for w in _list(fields["blocks"], "blocks")]
        if len(four) != 4:
            raise malformed(f"blocks must be four weights, got {len(four)}")
        blocks = (four[0], four[1], four[2], four[3])
    else:
        assert symbols is not None
        width = len(alphabets["values"]) * (len(alphabets["secrets"]) if observe == "all" else 1)
        kind = "cells" if observe == "all" else "values"
        weights = _matrix(fields["weights"], len(symbols), width, kind)
    return Document(
        columns=tuple(_column(item) for item in _list(fields["columns"], "columns")),
        secrets=alphabets["secrets"],
        values=alphabets["values"],
        denominator_bits=whole(fields["denominator_bits"], "denominator_bits"),
        symbols=symbols,
        weights=weights,
        blocks=blocks,
        observe=observe,
        guarantee=_guarantee(fields["guarantee"]) if "guarantee" in fields else None,
    )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if key in fields:
            raise ValueError(f"the key {key!r} is there twice")
        fields[key] = value
    return fields


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number} is no finite number")
    return value


def _matrix(rows: Any, height: int, width: int, kind: str) -> NDArray[np.int64]:
    """Read rows of integers that fit into int64."""
    rows = _list(rows, "weights")
    for row in rows:
        for weight in set(map(type, _list(row, "each row of weights"))) - {int}:
            raise malformed(f"weights hold a {weight.__name__}, not whole numbers only")
    if len(rows) != height or any(len(row) != width for row in rows):
        raise malformed(f"weights must be symbols by {kind}, {height} x {width}")
    if any(min(row) < 0 or max(row) >= 1 << 63 for row in rows if row):
        raise malformed("weights are negative or too large")
    weights = np.array(rows, dtype=np.int64).reshape(height, width)
    weights.setflags(write=False)
    return weights


def _guarantee(claims: Any) -> Guarantee:
    if not isinstance(claims, dict):
        raise malformed("guarantee must be an object")
    check_keys(claims, _CLAIMS, (), "guarantee")
    figures: dict[str, Any] = {name: claims[name] for name in _CLAIMS if name != "laws"}
    laws = claims["laws"]
    if laws == "all":
        figures["radius"] = math.inf
    elif isinstance(laws, dict):
        check_keys(laws, _LAWS, (), "guarantee.laws")
        figures.update(laws)
    else:
        raise malformed("guarantee.laws must be 'all' or an object")
    try:
        return Guarantee(**figures)
    except ValueError as error:
        raise malformed(f"in its guarantee, {str(error).rstrip('.')}") from error


def _column(item: Any) -> tuple[Any, bool]:
    pair = _list(item, "each of columns")
    if len(pair) != 2 or not isinstance(pair[1], bool):
        raise malformed("columns must be pairs of a name and true (sensitive) or false")
    return revive(pair[0], "columns"), pair[1]


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise malformed(f"{where} must be a list")
    return value


def _check(document: Document) -> None:
    """Check what reading and writing have in common: that the parts fit together."""
    n_secrets, n_values = len(document.secrets), len(document.values)
    check_alphabets(document.secrets, document.values, document.symbols, document.columns)
    if document.blocks is not None:
        check_blocks(document.blocks, n_secrets, n_values, document.denominator_bits)
    else:
        assert document.weights is not None
        check_weights(document.weights, document.denominator_bits)
