"""A mechanism's JSON: strict reading, and canonical writing.

`docs/client.md` describes every field. Reading returns the parts of a :class:`~skrldp.Mechanism`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from skrldp.alphabet.numbers import Numbers
from skrldp.alphabet.values import brief
from skrldp.claims import Claims
from skrldp.mechanism.forms import BlockForm, DenseForm, Form, ValuesForm
from skrldp.mechanism.json_values import (
    Others,
    as_json,
    check_alphabets,
    check_blocks,
    check_keys,
    check_numbers,
    check_weights,
    malformed,
    numbers_as_json,
    numbers_from_json,
    revive,
    whole,
)
from skrldp.public_summary import PublicNumbers, PublicSummary
from skrldp.sampling.draws import BlockTable

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Parsed JSON takes about 70 bytes per list in Python, and twice that in JavaScript. The largest
# mechanism whose values are pairs of dates has 3 million brackets.
MOST_CHARACTERS = 1 << 28
MOST_BRACKETS = 1 << 22
# Mainly numbers: the largest matrix that designs produce has 16 million weights, its table a
# million counts.
MOST_COMMAS = 17 << 20
_LONG = re.compile("(?<![0-9])[0-9]{4301}")  # more digits than Python parses as an integer

FORMAT = "skrldp-mechanism"
VERSION = 5
MANIFEST = "skrldp-manifest"
MANIFEST_VERSION = 2
_VERSIONS = {FORMAT: VERSION, MANIFEST: MANIFEST_VERSION}
# Hints for JSON of a different format.
_INSTEAD = {
    MANIFEST: " It is a manifest of several mechanisms. Read it with Manifest.from_json.",
    FORMAT: " It is a single mechanism. Read it with Mechanism.from_json.",
}
_NEEDED = ("format", "version", "columns", "secrets", "values", "denominator_bits")


# --- Writing -------------------------------------------------------------------------------------


def write(mechanism: Any, *, public: bool) -> str:
    """Write the canonical JSON of a :class:`Mechanism`, with or without the public counts.

    Returns str: the same for equal mechanisms; :func:`read` returns an equal mechanism. Raises
    ValueError if :func:`read` would refuse it. Raises TypeError if a category is of a type that
    JSON cannot hold.
    """
    form = mechanism.form
    fields: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "columns": [[as_json(name, depth=2), bool(flag)] for name, flag in mechanism.columns],
        "secrets": as_json(mechanism.secrets),
        "values": as_json(mechanism.values),
        "denominator_bits": form.bits,
    }
    if isinstance(form, BlockForm):
        if mechanism.symbols != mechanism.cells:
            raise ValueError(
                "the reports of a block mechanism are its cells, so they cannot be renamed."
            )
        table = form.table
        fields["blocks"] = [table.same, table.same_secret, table.same_value, table.other]
    else:
        fields["symbols"] = as_json(mechanism.symbols)
        if form.observe != "all":
            fields["observe"] = form.observe
        fields["weights"] = _table_of(form).tolist()
    if mechanism.others is not None:
        fields["other"] = [o if o is None or o is True else as_json(o) for o in mechanism.others]
    if mechanism.numbers is not None:
        fields["numbers"] = list(map(numbers_as_json, mechanism.numbers))
    if mechanism.claims is not None:
        fields["claims"] = mechanism.claims.to_json([name for name, _ in mechanism.columns])
    _check(mechanism.secrets, mechanism.values, mechanism.symbols, mechanism.columns, form)
    if public and mechanism.public is not None:
        fields["public"] = _public_as_json(mechanism.public)  # last: see `digest`
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    _check_size(text)
    return text


def write_manifest(
    weights: Sequence[int], mechanisms: Sequence[str], public: Sequence[PublicSummary | None]
) -> str:
    """Write the canonical JSON of a manifest, given that of its mechanisms without `public`."""
    head: dict[str, Any] = {"format": MANIFEST, "version": MANIFEST_VERSION}
    head["weights"] = list(weights)
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = f'{text[:-1]},"mechanisms":[{",".join(mechanisms)}]}}'
    if any(summary is not None for summary in public):
        blocks = [None if summary is None else _public_as_json(summary) for summary in public]
        last = json.dumps({"blocks": blocks}, separators=(",", ":"), allow_nan=False)
        text = f'{text[:-1]},"public":{last}}}'
    _check_size(text)
    return text


# --- Reading -------------------------------------------------------------------------------------


def read(text: str | bytes, *formats: str) -> tuple[list[Any] | None, list[dict[str, Any]]]:
    """Read JSON of one of the given formats; whitespace and the order of keys do not matter.

    Returns `weights` of a manifest's blocks, None for a mechanism; `parts`, the attributes of each
    mechanism by name. Raises TypeError if `text` is neither str nor bytes. Raises ValueError if it
    does not follow the format exactly, or weights are not a distribution.
    """
    fields = _fields_of(text, *formats)
    if fields["format"] == FORMAT:
        return None, [_parts(fields, "public")]
    check_keys(fields, ("format", "version", "weights", "mechanisms"), ("public",), "it")
    mechanisms = []
    for entry in _list(fields["mechanisms"], "mechanisms"):
        _check_format(entry, FORMAT)
        mechanisms.append(_parts(entry))
    if "public" in fields:
        _add_public(fields["public"], mechanisms)
    weights = [whole(weight, "weights") for weight in _list(fields["weights"], "weights")]
    return weights, mechanisms


def _fields_of(text: str | bytes, *wanted: str) -> dict[str, Any]:
    """Parse JSON that states its format."""
    if not isinstance(text, str | bytes | bytearray):
        raise TypeError(f"Expected a mechanism's JSON as str or bytes, got {type(text).__name__}.")
    try:
        text = text if isinstance(text, str) else bytes(text).decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"not a mechanism: the text is not JSON ({error}).") from None
    _check_size(text)
    try:
        fields: dict[str, Any] = json.loads(
            text, object_pairs_hook=_unique, parse_float=_finite, parse_constant=_finite
        )
    except RecursionError:
        raise ValueError("not a mechanism: the JSON is nested too deeply.") from None
    except ValueError as error:
        problem = brief(str(error))
        raise ValueError(f"not a mechanism: the text is not JSON ({problem}).") from None
    _check_format(fields, *wanted)
    return fields


def _check_format(fields: Any, *wanted: str) -> None:
    if not isinstance(fields, dict) or fields.get("format") not in wanted:
        stated = fields.get("format") if isinstance(fields, dict) else None
        hint = _INSTEAD.get(stated, "") if isinstance(stated, str) else ""
        raise ValueError(f"not a mechanism: the JSON lacks format={wanted[0]!r}.{hint}")
    version, known = fields.get("version"), _VERSIONS[fields["format"]]
    if type(version) is not int or version != known:
        raise ValueError(
            f"this {fields['format'].removeprefix('skrldp-')} has version {brief(repr(version))}; "
            f"this release reads version {known}."
        )


def _check_size(text: str) -> None:
    """Reject a text that would exhaust the memory, before it is parsed."""
    for number, limit, unit in (
        (len(text), MOST_CHARACTERS, "characters"),
        (text.count("[") + text.count("{"), MOST_BRACKETS, "opening brackets"),
        (text.count(","), MOST_COMMAS, "commas"),
    ):
        if number > limit:
            raise ValueError(
                f"not a mechanism: the text has {number:,} {unit}, but the limit is {limit:,}."
            )
    if _LONG.search(text):
        raise ValueError("not a mechanism: the text has a number of more than 4,300 digits.")


def _parts(fields: dict[str, Any], *optional: str) -> dict[str, Any]:
    is_blocks = "blocks" in fields
    form_keys = ("blocks",) if is_blocks else ("symbols", "weights")
    optional = ("other", "numbers", "claims", *optional, *(() if is_blocks else ("observe",)))
    check_keys(fields, (*_NEEDED, *form_keys), optional, "it")
    names = ("secrets", "values") if is_blocks else ("secrets", "values", "symbols")
    check_numbers(*(len(_list(fields[name], name)) for name in names))
    secrets, values = (_alphabet(fields, name) for name in ("secrets", "values"))
    columns = tuple(_column(item) for item in _list(fields["columns"], "columns"))
    if fields.get("observe") == "nonsensitive" and columns and all(flag for _, flag in columns):
        raise malformed("observe='nonsensitive' needs a nonsensitive column")
    bits = whole(fields["denominator_bits"], "denominator_bits")
    symbols: tuple[Any, ...]
    form: Form
    if is_blocks:
        check_alphabets(secrets, values, None, columns)
        form = _block_form(fields["blocks"], len(secrets), len(values), bits)
        symbols = tuple(product(secrets, values))
    else:
        symbols = _alphabet(fields, "symbols")
        form = _matrix_form(fields, len(symbols), len(secrets), len(values), bits)
        _check(secrets, values, symbols, columns, form)
    shape = len(secrets), len(values)
    return {
        "secrets": secrets,
        "values": values,
        "symbols": symbols,
        "columns": columns,
        "form": form,
        "claims": _claims(fields["claims"], columns) if "claims" in fields else None,
        "others": _others(fields["other"]) if "other" in fields else None,
        "public": _public(fields["public"], shape) if "public" in fields else None,
        "numbers": _numbers(fields["numbers"]) if "numbers" in fields else None,
    }


# --- What estimates need of the public table ------------------------------------------------------


_OF_SURVEYS = {"records": "survey_records", "size": "survey_size"}


def _public_as_json(public: PublicSummary) -> dict[str, Any]:
    """Write a summary, omitting unknown optional fields."""
    numbers = {key: getattr(public, name) for key, name in _OF_SURVEYS.items()}
    stated = {key: number for key, number in numbers.items() if number is not None}
    if public.numbers is not None:
        stated["numbers"] = list(map(_public_numbers_as_json, public.numbers))
    return {"counts": public.counts.tolist(), **stated}


def _public_numbers_as_json(numbers: PublicNumbers | None) -> dict[str, Any] | None:
    if numbers is None or numbers.rounding is not None:
        return None if numbers is None else {"rounding": numbers.rounding}
    return {"means": list(numbers.means), "variances": list(numbers.variances)}


def _public_numbers(entry: Any) -> PublicNumbers | None:
    """Read the numbers of one column."""
    if entry is None:
        return None
    fields = _object(entry, "each of public numbers")
    keys = ("rounding",) if "rounding" in fields else ("means", "variances")
    check_keys(fields, keys, (), "each of public numbers")
    numbers = [fields[key] if key == "rounding" else _list(fields[key], key) for key in keys]
    lists = [values if isinstance(values, list) else [values] for values in numbers]
    if any(type(value) is not float and value is not None for values in lists for value in values):
        raise malformed("public means and variances must be decimal numbers or null")
    if keys == ("rounding",):
        return PublicNumbers(rounding=fields["rounding"])
    return PublicNumbers(tuple(numbers[0]), tuple(numbers[1]))


def _public(entry: Any, shape: tuple[int, int]) -> PublicSummary:
    """Read the summary of a public table with this many secrets and values."""
    fields = _object(entry, "public")
    check_keys(fields, ("counts",), (*_OF_SURVEYS, "numbers"), "public")
    counts = _matrix(fields["counts"], *shape, "values", "counts", "secrets")
    if "records" in fields:
        whole(fields["records"], "records")
    if "size" in fields and type(fields["size"]) is not float:
        raise malformed(f"size must be a decimal number, got {fields['size']!r}")
    try:
        of_survey = {name: fields.get(key) for key, name in _OF_SURVEYS.items()}
        numbers = None
        if "numbers" in fields:
            numbers = tuple(map(_public_numbers, _list(fields["numbers"], "public numbers")))
        return PublicSummary(counts, numbers=numbers, **of_survey)
    except ValueError as error:
        raise malformed(str(error).rstrip(".")) from None


def _add_public(entry: Any, mechanisms: Sequence[dict[str, Any]]) -> None:
    """Read the summary of each block's table into its parts; null if there is none."""
    fields = _object(entry, "public")
    check_keys(fields, ("blocks",), (), "public")
    blocks = _list(fields["blocks"], "the blocks of public")
    if len(blocks) != len(mechanisms) or all(summary is None for summary in blocks):
        n = len(mechanisms)
        raise malformed(f"public must have an entry for each of {n} blocks, not all null")
    for summary, mechanism in zip(blocks, mechanisms, strict=True):
        shape = len(mechanism["secrets"]), len(mechanism["values"])
        mechanism["public"] = None if summary is None else _public(summary, shape)


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise malformed(f"{where} must be an object")
    return value


def _claims(entries: Any, columns: Sequence[tuple[Any, bool]]) -> Claims:
    try:
        return Claims.from_json(entries, columns)
    except ValueError as error:
        raise malformed(f"in its claims, {str(error).rstrip('.')}") from None


def _block_form(blocks: Any, n_secrets: int, n_values: int, bits: int) -> BlockForm:
    weights = [whole(weight, "blocks") for weight in _list(blocks, "blocks")]
    if len(weights) != 4:
        raise malformed(f"blocks must be four weights, got {len(weights)}")
    four = weights[0], weights[1], weights[2], weights[3]
    check_blocks(four, n_secrets, n_values, bits)
    return BlockForm(BlockTable(n_secrets, n_values, *four, bits=bits))


def _matrix_form(
    fields: dict[str, Any], n_symbols: int, n_secrets: int, n_values: int, bits: int
) -> Form:
    observe = fields.get("observe", "all")
    if observe not in ("all", "nonsensitive"):
        raise malformed(f"observe must be 'all' or 'nonsensitive', got {observe!r}")
    if observe == "nonsensitive":
        return ValuesForm(
            _matrix(fields["weights"], n_symbols, n_values, "values"), bits, n_secrets
        )
    weights = _matrix(fields["weights"], n_symbols, n_values * n_secrets, "cells")
    return DenseForm(weights, bits)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if key in fields:
            raise ValueError(f"duplicate key {key!r}")
        fields[key] = value
    return fields


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number} is not a finite number")
    return value


def _matrix(
    rows: Any, height: int, width: int, kind: str, label: str = "weights", by: str = "symbols"
) -> NDArray[np.int64]:
    """Read rows of integers that fit into int64."""
    rows = [_list(row, f"each row of {label}") for row in _list(rows, label)]
    shape = f"{label} must be {by} by {kind}, {height} x {width}"
    if len(rows) != height:
        raise malformed(shape)
    for row in rows:
        for weight in set(map(type, row)) - {int}:
            raise malformed(f"{label} must be integers, got a {weight.__name__}")
    if any(len(row) != width for row in rows):
        raise malformed(shape)
    if any(min(row) < 0 or max(row) >= 1 << 63 for row in rows if row):
        raise malformed(f"{label} are negative or too large")
    weights = np.array(rows, dtype=np.int64).reshape(height, width)
    weights.setflags(write=False)
    return weights


def _alphabet(fields: dict[str, Any], name: str) -> tuple[Any, ...]:
    return tuple(revive(item, name) for item in _list(fields[name], name))


def _others(entries: Any) -> tuple[Others, ...]:
    others: list[Others] = []
    for entry in _list(entries, "other"):
        is_plain = entry is None or entry is True
        others.append(entry if is_plain else _alphabet({"other": entry}, "other"))
    if not any(entry is not None for entry in others):
        raise malformed("other must not be null for every column")
    return tuple(others)


def _numbers(entries: Any) -> tuple[Numbers | None, ...]:
    return tuple(numbers_from_json(entry) for entry in _list(entries, "numbers"))


def _column(item: Any) -> tuple[Any, bool]:
    pair = _list(item, "each of columns")
    if len(pair) != 2 or not isinstance(pair[1], bool):
        raise malformed("columns must be pairs of a name and true (sensitive) or false")
    return revive(pair[0], "columns"), pair[1]


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise malformed(f"{where} must be a list")
    return value


# --- What reading and writing have in common -----------------------------------------------------


def _check(
    secrets: Sequence[Any],
    values: Sequence[Any],
    symbols: Sequence[Any],
    columns: Sequence[tuple[Any, bool]],
    form: Form,
) -> None:
    """Check that the parts are consistent."""
    if isinstance(form, BlockForm):  # its symbols are unique if the alphabets are
        check_alphabets(secrets, values, None, columns)
        table = form.table
        four = (table.same, table.same_secret, table.same_value, table.other)
        check_blocks(four, len(secrets), len(values), form.bits)
    else:
        check_alphabets(secrets, values, symbols, columns)
        check_weights(_table_of(form), form.bits)


def _table_of(form: Form) -> NDArray[np.int64]:
    """Weights in their written form: by values of U if the mechanism observes only U."""
    return form.table if isinstance(form, ValuesForm) else form.weights
