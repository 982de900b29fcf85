"""``skrldp key``: a secret key for reports that stay the same."""

from __future__ import annotations

import os
import secrets
from typing import Annotated

from skrldp.cli import _options as o
from skrldp.cli._errors import CommandError
from skrldp.cli._outputs import new_file
from skrldp.cli._tables import STANDARD

__all__ = ["key"]

_BYTES = 32


def key(file: Annotated[str, o.argument("FILE", "The new file.")]) -> None:
    """Make a secret key for reports that stay the same.

    Writes 32 random bytes in hexadecimal into a new file that its owner alone may read, and prints
    16 digits by which the key is known, for report --key-check. Whoever has the key can undo the
    randomness of the reports; the digits tell nothing. Keep the key where the records are, and as
    long as the reports are to stay the same.
    """
    from skrldp.batches import KeyFile, key_check

    if file == STANDARD:
        raise CommandError("a key is not written to standard output; give the name of a file.")
    if os.path.lexists(file):
        raise CommandError(
            f"{file} exists, and a key in it may be in use: another key reports everybody a second "
            "time. Give another name."
        )
    with new_file(file, mode=0o600) as target:
        target.write(secrets.token_hex(_BYTES).encode() + b"\n")
    print(key_check(KeyFile(file)))
