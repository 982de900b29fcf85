"""Mechanisms as JSON: versioned, canonical, with exact integer weights."""

from skrldp.mechanism._base import Mechanism
from skrldp.mechanism._document import Document, read, write
from skrldp.mechanism._forms import BlindMechanism, BlockMechanism, DenseMechanism
from skrldp.sampling import BlockTable

__all__ = ["dump", "load"]


def dump(mechanism: Mechanism) -> str:
    """Write a mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        Any.

    Returns
    -------
    str
        Canonical: one text for one mechanism.

    Raises
    ------
    ValueError
        If its names are not fit for a client: categories that repeat, or more or fewer than the
        columns.
    TypeError
        If a category is none of what JSON can hold.
    """
    weights = symbols = blocks = None
    if isinstance(mechanism, BlockMechanism):
        table = mechanism.table
        blocks = (table.same, table.same_secret, table.same_value, table.other)
        if mechanism.symbols != mechanism.cells:
            raise ValueError("the reports of a block mechanism are its cells; do not rename them.")
    elif isinstance(mechanism, BlindMechanism):
        symbols, weights = mechanism.symbols, mechanism.table  # by values of U
    else:
        symbols, weights = mechanism.symbols, mechanism.weights
    return write(
        Document(
            columns=mechanism.columns,
            secrets=mechanism.secrets,
            values=mechanism.values,
            denominator_bits=mechanism.denominator_bits,
            symbols=symbols,
            weights=weights,
            blocks=blocks,
            observe=mechanism.observe,
            guarantee=mechanism.guarantee,
        )
    )


def load(text: str | bytes) -> Mechanism:
    """Read a mechanism.

    Parameters
    ----------
    text : str or bytes
        What :func:`dump` wrote, or the same JSON with other blanks and another order of keys.

    Returns
    -------
    Mechanism

    Raises
    ------
    ValueError
        If the text is not a mechanism, or its weights are not a distribution.
    """
    found = read(text)
    secrets, values, bits = found.secrets, found.values, found.denominator_bits
    if found.blocks is not None:
        table = BlockTable(len(secrets), len(values), *found.blocks, bits)
        cells = tuple((s, u) for s in secrets for u in values)
        claims = found.guarantee
        return BlockMechanism(secrets, values, cells, found.columns, bits, table, guarantee=claims)
    assert found.symbols is not None and found.weights is not None
    form = BlindMechanism if found.observe == "nonsensitive" else DenseMechanism
    return form(
        secrets,
        values,
        found.symbols,
        found.columns,
        bits,
        found.weights,
        guarantee=found.guarantee,
    )
