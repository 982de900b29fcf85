"""Sanitizers whose designs are made once."""

import copy
import functools
import warnings

import numpy as np
from regions import lower

from skrldp import (
    PolyOptSanitizer,
    PrivacyLeakWarning,
)

COUNTS = np.array([[120, 60, 90], [50, 140, 80]])


ROWS = [[s, u] for s in range(2) for u in range(3)]


@functools.cache
def designed(base, **parameters):
    if base is PolyOptSanitizer:
        parameters = lower(parameters)  # no clock ends its design
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        return base(**parameters).fit(ROWS, sample_weight=COUNTS.ravel())


def fitted(cls, encode=None, random_state=None, **parameters):
    """A sanitizer, or one with a fault, whose design is made once."""
    base = next(kind for kind in cls.__mro__ if kind.__module__.startswith("skrldp."))
    sanitizer = copy.copy(designed(base, **parameters))
    sanitizer.__class__ = cls
    return sanitizer.set_params(encode=encode, random_state=random_state)
