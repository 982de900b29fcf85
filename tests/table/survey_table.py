"""A small survey, and the codec learned from a table."""

import pandas as pd

from skrldp.table.codec import CellCodec
from skrldp.table.learned_categories import learn

NAN = float("nan")


def learn_codec(X, **options) -> CellCodec:
    return learn(X, **options)[0]


SURVEY = pd.DataFrame(
    {"a": ["x", "y", "y", "x"], "s": ["n", "y", "y", "n"], "t": [2, 1, 2, 2], "b": [1, 1, 2, 1]}
)
