"""References to the secret key, which may be stored and sent, unlike the key itself."""

from __future__ import annotations

import hmac
import importlib
import os
import re
import stat
from collections.abc import Callable, Container
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from skrldp.client.permanent_reports import checked_key

# Lengths of keys of 16, 24, 32, 48 and 64 bytes, without "="
_BASE64_LENGTHS = (22, 32, 43, 64, 86)
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH
_OPEN = _WRITABLE | stat.S_IROTH
_CHECK = b"skrldp key check, version 1"
_NO_KEY = "{takes}, not a key: store the key there, and pass the name."
_MAKE = "make one with secrets.token_hex(32), and keep it secret."


class KeySource(Protocol):
    """A reference to a key, which can be pickled and shown."""

    def read(self) -> bytes:
        """Read the key."""


@dataclass(frozen=True)
class KeyFile:
    """A key in a file, which each process reads when it computes its first report.

    Parameters
    ----------
    path : str or Path
        The file contains the key as text: at least 32 hexadecimal digits, such as
        ``secrets.token_hex(32)``, optionally surrounded by white space. Every worker needs the same
        file at this path. Only its owner may have write access, and only its owner and group read
        access.

    Examples
    --------
    >>> from skrldp.batches import KeyFile
    >>> KeyFile("/run/secrets/reports.key")
    KeyFile(path='/run/secrets/reports.key')
    """

    path: str

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"KeyFile needs the path of a file, got {type(path).__name__}.")
        object.__setattr__(self, "path", os.fspath(path))
        _refuse_keys(self.path, "KeyFile takes the path of a file", _BASE64_LENGTHS)

    def read(self) -> bytes:
        """Read the key.

        Returns
        -------
        bytes

        Raises
        ------
        ValueError
            If the file cannot be read, does not contain a key, or is accessible to others.
        """
        try:
            with Path(self.path).open("rb") as file:
                mode, text = os.fstat(file.fileno()).st_mode, file.read()
        except OSError as error:
            raise ValueError(
                f"the key file {self.path!r} cannot be read ({error.strerror}): every process that "
                "makes reports needs the same file at this path."
            ) from None
        if os.name == "posix" and mode & _OPEN:
            done = "rewritten" if mode & _WRITABLE else "read"
            raise ValueError(
                f"the key file {self.path!r} can be {done} by users other than its owner "
                f"(mode {stat.S_IMODE(mode):03o}), who could then remove the noise: chmod 600 it, "
                "and make a new key if anybody else may have read it."
            )
        return _of_digits(text.decode("latin-1"), f"the key file {self.path!r}")


@dataclass(frozen=True)
class KeyVariable:
    """A key in an environment variable, which each process reads when it computes its first report.

    Parameters
    ----------
    name : str
        The variable contains the key as text: at least 32 hexadecimal digits, such as
        ``secrets.token_hex(32)``. Every worker needs the same value. A name consists of letters,
        digits and underscores.

    Examples
    --------
    >>> from skrldp.batches import KeyVariable
    >>> KeyVariable("REPORTS_KEY")
    KeyVariable(name='REPORTS_KEY')
    """

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"the variable name must be a str, got {type(self.name).__name__}.")
        takes = "KeyVariable takes the name of an environment variable"
        _refuse_keys(self.name, takes, range(min(_BASE64_LENGTHS), len(self.name) + 1))
        inside = re.search("[0-9a-fA-F]{32}|(?=[A-Z]*[2-7])[A-Z2-7]{26}", self.name)
        if inside:  # in hexadecimal or base32
            raise ValueError(_NO_KEY.format(takes=takes))
        if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", self.name):
            raise ValueError(f"{takes}: letters, digits and underscores, not a digit first.")

    def read(self) -> bytes:
        """Read the key.

        Returns
        -------
        bytes

        Raises
        ------
        ValueError
            If the variable is not set, or does not contain a key.
        """
        if self.name not in os.environ:
            raise ValueError(
                f"the environment variable {self.name!r} is not set: every process that "
                f"reports needs the same key there. If there is no key yet, {_MAKE}"
            )
        return _of_digits(os.environ[self.name], f"the environment variable {self.name!r}")


@dataclass(frozen=True)
class _KeyFunction:
    """A key that a function returns; only its name is stored, because it may contain the key."""

    module: str
    name: str

    @classmethod
    def of(cls, function: Callable[[], bytes]) -> _KeyFunction:
        reference = cls(
            str(getattr(function, "__module__", "")), getattr(function, "__qualname__", "")
        )
        where = None if reference.module == "__main__" else reference._found()
        if where is not function:
            raise ValueError(
                "a function that returns the key must be one that workers can import: define it "
                "at the top of a module of its own, not in the main program and not as a lambda."
            )
        return reference

    def _found(self) -> Any:
        try:
            return getattr(importlib.import_module(self.module), self.name, None)
        except (ImportError, ValueError):
            return None

    def read(self) -> bytes:
        source = f"the function {self.module}.{self.name}"
        function = self._found()
        if function is None:
            raise ValueError(f"{source}, which returns the key, cannot be imported here.")
        return checked_key(function(), source)


@dataclass(frozen=True, repr=False)
class _KeyBytes:
    """A key that was passed as bytes. It can be neither pickled nor shown."""

    key: bytes

    def __repr__(self) -> str:
        return "bytes"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            "a reporter whose key was given as bytes cannot be pickled or sent to workers, because "
            "the pickle would contain the key: pass key=KeyFile(path), KeyVariable(name) or a "
            "function that workers can import."
        )

    def read(self) -> bytes:
        return self.key


def key_check(key: Any) -> str:
    """Compute a check that lets two processes verify that they have the same key.

    Parameters
    ----------
    key : KeyFile, KeyVariable, bytes or function
        As for :class:`Reporter`.

    Returns
    -------
    str
        16 hexadecimal digits: the beginning of an HMAC-SHA256 under the key. It may be shown and
        stored, because it reveals nothing about a randomly drawn key.

    Raises
    ------
    TypeError, ValueError
        If the key is invalid or cannot be read.

    Examples
    --------
    >>> from skrldp.batches import key_check
    >>> key_check(bytes(range(32)))
    'bd3b6318b1a59d93'
    """
    return _check_of(_source_of(key).read())


@dataclass(frozen=True)
class CheckedKey:
    """A reference to a key, with the :func:`key_check` that the key must have."""

    source: KeySource
    check: str

    @classmethod
    def of(cls, key: Any, check: str | None, name: str = "key_check") -> CheckedKey:
        """Make a reference from a key, reading the key if no check is given.

        Raises TypeError if the key is of a different type. Raises ValueError if it has too few
        bytes, the function cannot be imported by name, the check is invalid, or there is no check
        and the key cannot be read.
        """
        source = _source_of(key)
        if check is None:
            try:
                check = _check_of(source.read())
            except ValueError as error:
                raise ValueError(
                    f"{error} If only other processes have the key, pass {name}=, the digits that "
                    "batches.key_check or skrldp key returns there."
                ) from None
        if not (isinstance(check, str) and re.fullmatch("[0-9a-f]{16}", check)):
            raise ValueError(
                f"{name} must be the 16 hexadecimal digits that batches.key_check returns."
            )
        return cls(source, check)

    def read(self) -> bytes:
        """Read the key.

        Raises ValueError if it cannot be read, or does not match the check.
        """
        key = self.source.read()
        if _check_of(key) != self.check:
            raise ValueError(
                f"the key ({self.source!r}) does not match key_check={self.check}: use the same "
                "key everywhere, because a different one would report everybody again. Nothing was "
                "reported."
            )
        return key


def _check_of(key: bytes) -> str:
    return hmac.digest(key, _CHECK, "sha256")[:8].hex()


def _source_of(key: Any) -> KeySource:
    """Return a reference to a key."""
    if isinstance(key, KeyFile | KeyVariable | _KeyFunction):
        return key
    if isinstance(key, bytes):
        return _KeyBytes(checked_key(key, "key"))
    if callable(key):
        return _KeyFunction.of(key)
    raise TypeError(
        "key must be KeyFile(path), KeyVariable(name), bytes, or a function that returns bytes, "
        f"got {type(key).__name__}."
    )


def _refuse_keys(reference: str, takes: str, lengths: Container[int]) -> None:
    """Raise a ValueError if a key is given instead of its location: references are shown."""
    text = reference.strip()
    digits = re.fullmatch(r"(0[xX])?([0-9a-fA-F][:\s-]?){32,}", text)
    bare = text.rstrip("=")
    base64 = re.fullmatch("[A-Za-z0-9+/_-]+", bare) and len(bare) in lengths
    if digits or (base64 and not (bare.islower() or bare.isupper())):
        raise ValueError(_NO_KEY.format(takes=takes))


def _of_digits(text: str, source: str) -> bytes:
    text = text.strip()
    if not re.fullmatch("([0-9a-fA-F]{2})*", text):
        raise ValueError(
            f"{source} does not contain a key, which is an even number of hexadecimal digits. "
            f"Write the bytes of a key with key.hex(), or {_MAKE}"
        )
    return checked_key(bytes.fromhex(text), source)
