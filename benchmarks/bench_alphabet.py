"""How often the set holds the truth where values of U, or bins, come from the counted records.

First, two common values and a million rare ones. The alphabet is learned from the counted records,
or from a part of them that is set aside (``alphabet_fraction``). Second, a number in bins, whose
edges come from the counted records or from as many others: those of `KBinsDiscretizer`, and the
leaves of a tree that was trained to tell S. The truth is known, so each table shows whether its
set, of level 0.95, holds it. ``--quick`` draws fewer tables.
"""

import sys

import numpy as np
from scipy.special import ndtr, rel_entr
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.tree import DecisionTreeClassifier

from skrldp import RenyiBall, SRRSanitizer

UNCERTAINTY = RenyiBall(alpha=1, radius="finite-sample")
COMMON, RARE = 2, 1_000_000  # values
SPLIT = {"alphabet_fraction": 0.3, "min_frequency": 10, "handle_unknown": "infrequent_if_exist"}


def needed(joint, truth, uncertainty):
    """Share of the set's radius that the true conditionals of U need; for sets of order 1."""
    fitted = uncertainty.fit_set(joint)
    conditionals = truth / truth.sum(axis=1, keepdims=True)
    used = np.sort(joint.marginal * rel_entr(joint.conditionals, conditionals).sum(axis=1))
    return max(used[-1] / fitted.single_radius, used[-2:].sum() / fitted.pair_radius)


# --- Rare values ---------------------------------------------------------------------------------


def try_rare_values(n, share, options, uncertainty, rng):
    """Number of values of U for one table, and what its set needs."""
    secrets = rng.integers(0, 2, size=n)
    common = rng.random(n) < np.array([0.4, 0.6])[secrets]
    values = np.where(rng.random(n) < share, rng.integers(COMMON, COMMON + RARE, size=n), common)
    # The table's counts do not depend on the mechanism; this one is the fastest to fit.
    sanitizer = SRRSanitizer(sensitive=0, **options).fit(np.column_stack([secrets, values]))
    joint = sanitizer.joint_
    known = [value for value in joint.values if value != "other"]
    each = np.array([[0.6, 0.4], [0.4, 0.6]]) * (1.0 - share)
    truth = np.array([[own[v] if v < COMMON else share / RARE for v in known] for own in each])
    if len(known) < len(joint.values):  # all other values are one
        truth = np.insert(truth, joint.values.index("other"), 1.0 - truth.sum(axis=1), axis=1)
    return len(joint.values), needed(joint, truth, uncertainty)


# --- Bins ----------------------------------------------------------------------------------------


def edges(name, n_bins, numbers, secrets):
    """Inner edges of bins."""
    if name == "tree":
        tree = DecisionTreeClassifier(max_leaf_nodes=n_bins, random_state=0)
        cuts = tree.fit(numbers[:, None], secrets).tree_
        return np.sort(cuts.threshold[cuts.children_left >= 0])
    options = {"quantile_method": "averaged_inverted_cdf"} if name == "quantile" else {}
    bins = KBinsDiscretizer(n_bins, encode="ordinal", strategy=name, subsample=None, **options)
    return bins.fit(numbers[:, None]).bin_edges_[0][1:-1]


def try_bins(n, name, n_bins, elsewhere, uncertainty, rng):
    """Number of bins for a table of S and a normal number with mean S / 2, and the need."""

    def draw():
        secrets = rng.integers(0, 2, size=n)
        return rng.normal(0.5 * secrets), secrets

    numbers, secrets = draw()
    cuts = edges(name, n_bins, *(draw() if elsewhere else (numbers, secrets)))
    below = np.array([[0.0, *ndtr(cuts - mean), 1.0] for mean in (0.0, 0.5)])
    declared = [[0, 1], list(range(len(cuts) + 1))]
    table = np.column_stack([secrets, np.searchsorted(cuts, numbers)])
    joint = SRRSanitizer(sensitive=0, categories=declared).fit(table).joint_
    return len(cuts) + 1, needed(joint, np.diff(below, axis=1), uncertainty)


# --- Tables --------------------------------------------------------------------------------------


def main(tables, uncertainty=UNCERTAINTY):
    print(f"{uncertainty!r}, {tables} tables: share of them whose set holds the truth,")
    print("and median share of its radius that the truth needs (above 1 it is outside)")

    def show(words, trial, *arguments):
        rng = np.random.default_rng(0)
        found = [trial(*arguments, uncertainty, rng) for _ in range(tables)]
        size, need = np.array(found).T
        print(f"{words} {size.mean():>7.0f} {np.mean(need <= 1):>8.3f} {np.median(need):>8.2f}")

    print(f"\n{'values of U':<22} {'n':>6} {'rare':>6}  values  covered   needed")
    for n, share in ((1_000, 0.1), (20_000, 0.01), (20_000, 0.1)):
        for name, options in (("of the same records", {}), ("of records set aside", SPLIT)):
            show(f"{name:<22} {n:>6} {share:>6}", try_rare_values, n, share, options)
    print(f"\n{'edges':<9} {'of':<18} {'n':>6} {'asked':>6}    bins  covered   needed")
    for name in ("uniform", "quantile", "kmeans", "tree"):
        for n_bins in (5, 50):
            for elsewhere, where in ((False, "the same records"), (True, "other records")):
                words = f"{name:<9} {where:<18} {1_000:>6} {n_bins:>6}"
                show(words, try_bins, 1_000, name, n_bins, elsewhere)


if __name__ == "__main__":
    main(40 if "--quick" in sys.argv else 400)
