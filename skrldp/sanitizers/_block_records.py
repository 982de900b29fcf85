"""Records of wide tables as codes: every column is checked, whatever block a person reports."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp.alphabet import Alphabet
from skrldp.mechanism import Manifest
from skrldp.table import encode_column, read_table, refuse_categories, refuse_combinations

__all__ = ["encode_records"]

_OR_ELSE = "a base with handle_unknown='infrequent_if_exist' in `fit`"


def encode_records(
    X: Any, manifest: Manifest, names: Sequence[Any] | None = None
) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Write the columns of records as codes of S, and of each column of U.

    Columns are found by name; `names` are those of an array's columns, in their order. Shapes: `X`
    (n, k). Returns arrays (n,). Raises ValueError if a column is missing or a value is unknown.
    """
    table = read_table(X)
    blind = manifest.observe == "nonsensitive"
    own = list(table.names) if names is None or not table.is_array else list(names)
    needed = [name for name, sensitive in manifest.columns if not (blind and sensitive)]
    missing = [name for name in needed if name not in own]
    if missing:
        raise ValueError(f"the table lacks the column {missing[0]!r}; it has {own}.")
    of_secret = [name for name, sensitive in manifest.columns if sensitive]
    alphabet = Alphabet.of_members(of_secret, manifest.secrets)
    codes = []
    for column in () if blind else alphabet.columns:
        code, unknown = encode_column(table, own.index(column.name), column)
        if unknown:
            refuse_categories(column, code, unknown, secret=True)
        codes.append(code)
    secrets = alphabet.index(codes) if codes else np.zeros(table.n_rows, dtype=np.uint8)
    if secrets.min(initial=0) < 0:
        refuse_combinations(alphabet.columns, secrets)
    values = []
    for column in manifest.encoders:
        code, unknown = encode_column(table, own.index(column.name), column)
        if unknown:
            if manifest.others[column.name] is not True or column.other is None:
                refuse_categories(column, code, unknown, secret=False, or_else=_OR_ELSE)
            code = np.where(code < 0, column.other, code)
        values.append(code)
    return secrets, values
