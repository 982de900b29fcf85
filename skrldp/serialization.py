"""Mechanisms as JSON: versioned, with exact integer weights."""

import datetime
import json
from typing import Any

import numpy as np

from skrldp.mechanism import BlindMechanism, BlockMechanism, DenseMechanism, Mechanism, slot_bits
from skrldp.sampling import BlockTable

__all__ = ["dump", "load"]

_FORMAT = "skrldp-mechanism"
_VERSION = 1
_TIMES: dict[str, Any] = {
    "datetime": datetime.datetime,
    "date": datetime.date,
    "time": datetime.time,
}


def dump(mechanism: Mechanism) -> str:
    """Write a mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        Any.

    Returns
    -------
    str
    """
    document: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "columns": [[_plain(name), bool(sensitive)] for name, sensitive in mechanism.columns],
        "secrets": _plain(mechanism.secrets),
        "values": _plain(mechanism.values),
        "denominator_bits": mechanism.denominator_bits,
    }
    if isinstance(mechanism, BlockMechanism):
        table = mechanism.table
        document["blocks"] = [table.same, table.same_secret, table.same_value, table.other]
    else:
        document["symbols"] = _plain(mechanism.symbols)
        if isinstance(mechanism, BlindMechanism):
            document["observe"] = mechanism.observe  # weights are by values of U
            document["weights"] = mechanism.table.tolist()
        else:
            document["weights"] = mechanism.weights.tolist()
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def load(text: str) -> Mechanism:
    """Read a mechanism.

    Parameters
    ----------
    text : str
        What :func:`dump` wrote.

    Returns
    -------
    Mechanism

    Raises
    ------
    ValueError
        If the text is not a mechanism, or its weights are not a distribution.
    """
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not a mechanism: the text is not JSON ({error}).") from error
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise ValueError(f"not a mechanism: the JSON does not say format={_FORMAT!r}.")
    if document.get("version") != _VERSION:
        raise ValueError(
            f"this mechanism has version {document.get('version')!r}; this release reads "
            f"version {_VERSION}."
        )
    try:
        return _read(document)
    except (KeyError, TypeError, AttributeError, OverflowError, ValueError) as error:
        if "mechanism" in str(error):
            raise
        raise ValueError(f"the mechanism is malformed: {error!r}.") from error


def _read(document: dict[str, Any]) -> Mechanism:
    secrets, values = _alphabet(document, "secrets"), _alphabet(document, "values")
    columns = tuple((_revive(name), _truth(flag)) for name, flag in document["columns"])
    bits = _whole(document["denominator_bits"])
    if "blocks" in document:
        blocks = [_whole(weight) for weight in document["blocks"]]
        if len(blocks) != 4:
            raise ValueError("the mechanism is malformed: blocks must be four weights.")
        same, same_secret, same_value, other = blocks
        if bits > 53:
            raise ValueError("the mechanism is malformed: more than 53 denominator bits.")
        table = BlockTable(len(secrets), len(values), same, same_secret, same_value, other, bits)
        symbols = tuple((s, u) for s in secrets for u in values)
        return BlockMechanism(secrets, values, symbols, columns, bits, table)
    symbols = tuple(_revive(symbol) for symbol in document["symbols"])
    if len({(type(symbol), symbol) for symbol in symbols}) != len(symbols):
        raise ValueError("the mechanism is malformed: symbols repeat.")
    observe = document.get("observe", "all")
    if observe not in ("all", "nonsensitive"):
        raise ValueError(f"the mechanism is malformed: observe is {observe!r}.")
    rows, blind = document["weights"], observe == "nonsensitive"
    width = len(values) * (1 if blind else len(secrets))
    if len(rows) != len(symbols) or any(len(row) != width for row in rows):
        kind = "values" if blind else "cells"
        raise ValueError(f"the mechanism is malformed: weights must be symbols by {kind}.")
    weights = np.array([[_whole(weight) for weight in row] for row in rows], dtype=np.int64)
    if not symbols or bits != slot_bits(len(symbols)):
        raise ValueError(f"the mechanism is malformed: {bits} denominator bits do not fit.")
    if np.any(weights < 0) or np.any(weights > 2**bits) or np.any(weights.sum(axis=0) != 2**bits):
        raise ValueError(
            f"the mechanism is damaged: the weights of some cell do not sum to 2**{bits}."
        )
    weights.setflags(write=False)
    form = BlindMechanism if blind else DenseMechanism
    return form(secrets, values, symbols, columns, bits, weights)


def _alphabet(document: dict[str, Any], key: str) -> tuple[Any, ...]:
    names = tuple(_revive(name) for name in document[key])
    # True == 1 == 1.0 in Python, but they are different categories.
    if not names or len({(type(name), name) for name in names}) != len(names):
        raise ValueError(f"the mechanism is malformed: {key} are empty or repeat.")
    return names


def _truth(flag: Any) -> bool:
    if not isinstance(flag, bool):
        raise ValueError(f"the mechanism is malformed: {flag!r} is neither true nor false.")
    return flag


def _whole(number: Any) -> int:
    if isinstance(number, bool) or not isinstance(number, int):
        raise ValueError(f"the mechanism is malformed: {number!r} is not a whole number.")
    return number


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    for name, kind in _TIMES.items():  # datetime first: it is a date too
        if isinstance(value, kind):
            return {name: value.isoformat()}
    if isinstance(value, datetime.timedelta):
        return {"microseconds": value // datetime.timedelta(microseconds=1)}
    raise TypeError(
        f"a category of type {type(value).__name__} ({value!r}) cannot be written as JSON; use "
        "strings, numbers, booleans or dates."
    )


def _revive(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_revive(item) for item in value)
    if isinstance(value, dict):
        ((kind, content),) = value.items()
        if kind == "microseconds":
            return datetime.timedelta(microseconds=_whole(content))
        return _TIMES[kind].fromisoformat(content)
    return value
