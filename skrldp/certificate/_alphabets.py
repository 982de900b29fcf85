"""The alphabets of a mechanism and of a public table: the same names, maybe in another order."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from skrldp._typing import Indices
from skrldp.alphabet.values import plain_name
from skrldp.joint import JointDistribution
from skrldp.mechanism.mechanism import Mechanism


def order_in_table(joint: JointDistribution, mechanism: Mechanism) -> tuple[Indices, Indices]:
    """Find the mechanism's secrets and values in the alphabets of the public table.

    Returns `secrets, values` (a1,): for each secret and value of the mechanism its place in the
    table. Raises ValueError if the mechanism has other secrets or values than the table.
    """
    theirs, own = (mechanism.secrets, mechanism.values), (joint.secrets, joint.values)
    if tuple(map(len, theirs)) != tuple(map(len, own)):
        raise ValueError(
            f"the mechanism has {len(theirs[0])} secrets and {mechanism.shape[1]} cells, but the "
            f"public distribution has {joint.counts.shape[0]} and {joint.counts.size}."
        )
    return _places(theirs[0], own[0], "secret"), _places(theirs[1], own[1], "value of U")


def _places(names: Sequence[Any], table: Sequence[Any], what: str) -> Indices:
    if tuple(names) == tuple(table):
        return np.arange(len(table))
    place = {plain_name(name): i for i, name in enumerate(table)}
    if len(place) < len(table) or len({plain_name(name) for name in names}) < len(names):
        raise ValueError(
            f"a {what} is named twice, so those of the mechanism and of the public distribution "
            "cannot be matched: give each a name of its own."
        )
    for name in names:
        if plain_name(name) not in place:
            raise ValueError(
                f"the mechanism's {what} {name!r} is not in the public distribution. Name the "
                "table as the mechanism does, with JointDistribution(counts, secrets, values)."
            )
    return np.array([place[plain_name(name)] for name in names])
