"""Where a search begins: at the mechanism of the last fit, at a given one, or from scratch."""

from typing import Any

import numpy as np

from skrldp._typing import Floats
from skrldp.alphabet import plain_name
from skrldp.joint import JointDistribution
from skrldp.mechanism import Mechanism

__all__ = ["check_warm_start", "known_mechanism", "known_rows"]

_MEND = (
    "Declare the alphabets by `categories`, so that all tables have the same, or fit with "
    "warm_start=False."
)


def check_warm_start(sanitizer: Any) -> None:
    """Check the parameter.

    Raises ValueError if it is no truth value and no mechanism.
    """
    warm = sanitizer.warm_start
    if not isinstance(warm, bool | np.bool_ | Mechanism):
        raise ValueError(
            "warm_start must be False, True (begin at the mechanism of the last fit) or a "
            f"Mechanism such as `mechanism_` of a fitted sanitizer, got {type(warm).__name__}."
        )


def known_mechanism(sanitizer: Any, joint: JointDistribution) -> Mechanism | None:
    """Find the mechanism that a fit begins at.

    Returns Mechanism or None: none for a fit from scratch. Raises ValueError if its alphabets are
    not those of the public table.
    """
    warm = sanitizer.warm_start
    given = isinstance(warm, Mechanism)
    found = warm if given else getattr(sanitizer, "mechanism_", None) if warm else None
    if found is None:
        return None
    whose = "the mechanism `warm_start`" if given else "the mechanism of the last fit"
    for what, old, new in (
        ("secrets", found.secrets, joint.secrets),
        ("values of U", found.values, joint.values),
    ):
        if set(map(plain_name, old)) == set(map(plain_name, new)):
            continue
        how = "others" if len(old) == len(new) else f"{len(old)} and {len(new)}"
        raise ValueError(
            f"warm_start: {whose} and the public table have different {what} ({how}), so the fit "
            f"cannot begin there. {_MEND}"
        )
    return found


def known_rows(mechanism: Mechanism, joint: JointDistribution, observe: str) -> Floats:
    """Write a mechanism over the cells of a public table.

    Returns (b, a1 * a2): for designs that see U alone, the mean over the secrets at the public
    distribution.
    """
    places = [
        [place[plain_name(name)] for name in new]
        for place, new in (
            ({plain_name(name): i for i, name in enumerate(old)}, new)
            for old, new in ((mechanism.secrets, joint.secrets), (mechanism.values, joint.values))
        )
    ]
    shape = (mechanism.shape[0], len(joint.secrets), len(joint.values))
    table: Floats = mechanism.matrix.reshape(shape)[:, places[0]][:, :, places[1]]
    if observe == "all":
        return table.reshape(len(table), -1)
    weights = joint.smoothed(1.0)  # positive, so that each value has a mean
    mean: Floats = (table * weights).sum(axis=1) / weights.sum(axis=0)
    return mean
