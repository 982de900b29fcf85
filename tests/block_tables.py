"""A wide table for tests of blocks: what depends on what is known."""

import functools
import warnings

import numpy as np
import pandas as pd
from conftest import few_iterations
from sklearn.exceptions import ConvergenceWarning

from skrldp import AOptimalSanitizer, BlockSanitizer, GRRSanitizer, PrivacyLeakWarning

KNOWN = {"ill": ["no", "yes"], "age": [0, 1, 2], "home": ["here", "there"], "job": ["a", "b", "c"]}


def wide_table(n=4_000, seed=0, *, young=1.0):
    """Records of a secret, in the second column, and three columns that depend on one another."""
    rng = np.random.default_rng(seed)
    age = rng.choice(3, n, p=np.array([young, 1.0, 1.0]) / (2.0 + young))
    home = (rng.random(n) < 0.3 + 0.2 * age).astype(int)
    job = (age + (rng.random(n) < 0.4)) % 3
    ill = rng.random(n) < 0.2 + 0.1 * home
    return pd.DataFrame(
        {
            "age": age,
            "ill": np.where(ill, "yes", "no"),
            "home": np.array(KNOWN["home"])[home],
            "job": np.array(KNOWN["job"])[job],
        }
    )


@functools.cache
def fitted_blocks(blocks="pairs", eps_worst_case=None, base=None):
    """A sanitizer of blocks whose designs are quick: never changed by tests."""
    if base is None:
        base = GRRSanitizer() if eps_worst_case is None else AOptimalSanitizer()
    sanitizer = BlockSanitizer(
        eps=2.0,
        sensitive="ill",
        blocks=blocks,
        base=base,
        categories=KNOWN,
        eps_worst_case=eps_worst_case,
        random_state=0,
    )
    with few_iterations(), warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyLeakWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return sanitizer.fit(wide_table())


def expected_reports(sanitizer, table, n=1e15):
    """The counts of n reports about records of a table, without any noise."""
    manifest, rows = sanitizer.manifest_, []
    for number, one in enumerate(manifest.mechanisms):
        names = [name for name, _ in one.columns]
        cells = table[names].value_counts(normalize=True)
        shares = np.zeros(one.shape[1])
        for cell, share in cells.items():
            record = dict(zip(names, cell, strict=True))
            value = tuple(record[name] for name in manifest.blocks[number])
            value = value if len(value) > 1 else value[0]
            place = one.secrets.index(record["ill"]) * len(one.values) + one.values.index(value)
            shares[place] += share
        counts = np.rint(n * manifest.shares[number] * (one.matrix @ shares))
        rows.append(pd.DataFrame({"block": number, "report": range(len(counts)), "count": counts}))
    return pd.concat(rows, ignore_index=True)
