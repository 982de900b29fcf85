"""How often the set holds the truth where values of U, or bins, come from the counted records.

First, two common values and a million rare ones; values with Zipf's frequencies; and two columns of
these. The alphabet is learned from the counted records, as they are or with those of few records as
"other" (``min_frequency="auto"``). Second, a number in bins, whose
edges come from the counted records or from as many others: those of `KBinsDiscretizer`, and the
leaves of a tree that was trained to tell S. The truth is known, so each table shows whether its
set, of level 0.95, holds it. ``--quick`` draws fewer tables.
"""

import sys

import numpy as np
from scipy.special import ndtr, rel_entr
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.tree import DecisionTreeClassifier

from skrldp import LikelihoodRatioSet, SRRSanitizer

UNCERTAINTY = LikelihoodRatioSet()
COMMON, RARE = 2, 1_000_000  # values


def needed(joint, truth, uncertainty):
    """Share of the set's budgets that the true conditionals of U need."""
    fitted = uncertainty.fit_set(joint)
    conditionals = truth / truth.sum(axis=1, keepdims=True)
    used = np.sort(joint.marginal * rel_entr(joint.conditionals, conditionals).sum(axis=1))
    return max(used[-1] / fitted.single, used[-2:].sum() / fitted.pair)


# --- Rare values ---------------------------------------------------------------------------------

OPTIONS = {
    "all of the records": {},
    "frequent ones": {"min_frequency": "auto"},
}


def common_and_rare(share):
    """Two common values, whose frequencies depend on S, and a million others."""
    rare = np.full((2, RARE), share / RARE)
    return np.hstack([np.array([[0.6, 0.4], [0.4, 0.6]]) * (1.0 - share), rare])


def zipf(size):
    """Values whose probabilities are as 1, 1/2, 1/3, ..., whatever S is."""
    weights = 1.0 / np.arange(1, size + 1)
    return np.tile(weights / weights.sum(), (2, 1))


def try_values(n, each, options, uncertainty, rng):
    """Number of values of U for one table, and what its set needs; U is one column or two."""
    secrets = rng.integers(0, 2, size=n)
    columns, kept, truth = [], [], []
    for probabilities in each:
        steps = probabilities.cumsum(axis=1)
        draws = rng.random(n)
        columns.append(
            np.where(secrets == 0, *(np.searchsorted(own, draws * own[-1]) for own in steps))
        )
    # The table's counts do not depend on the mechanism; this one is the fastest to fit.
    joint = SRRSanitizer(sensitive=0, **options).fit(np.column_stack([secrets, *columns])).joint_
    values = joint.values if len(each) > 1 else [(value,) for value in joint.values]
    for place, probabilities in enumerate(each):
        own = sorted({value[place] for value in values if value[place] != "other"})
        kept.append({value: i for i, value in enumerate(own)} | {"other": len(own)})
        known = probabilities[:, own]
        truth.append(np.column_stack([known, 1.0 - known.sum(axis=1)]))
    found = np.ones((2, len(values)))
    for place, own in enumerate(truth):
        found *= own[:, [kept[place][value[place]] for value in values]]
    others = ("other",) * len(each)
    if others in values:  # which has all combinations that are not listed
        place = values.index(others)
        found[:, place] = 1.0 - np.delete(found, place, axis=1).sum(axis=1)
    return len(values), needed(joint, found, uncertainty)


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

    print(f"\n{'population':<26} {'values of U':<18} {'n':>6}  values  covered   needed")
    populations = [
        ("a million share 0.1", 1_000, [common_and_rare(0.1)]),
        ("a million share 0.01", 20_000, [common_and_rare(0.01)]),
        ("a million share 0.1", 20_000, [common_and_rare(0.1)]),
        ("Zipf, 5,000 values", 4_000, [zipf(5_000)]),
        ("Zipf, 30 values", 20_000, [zipf(30)]),
        ("two columns, Zipf 30 and 8", 20_000, [zipf(30), zipf(8)]),
    ]
    for population, n, each in populations:
        for name, options in OPTIONS.items():
            words = f"{population:<26} {name:<18} {n:>6}"
            show(words, try_values, n, each, options)
    print(f"\n{'edges':<9} {'of':<18} {'n':>6} {'asked':>6}    bins  covered   needed")
    for name in ("uniform", "quantile", "kmeans", "tree"):
        for n_bins in (5, 50):
            for elsewhere, where in ((False, "the same records"), (True, "other records")):
                words = f"{name:<9} {where:<18} {1_000:>6} {n_bins:>6}"
                show(words, try_bins, 1_000, name, n_bins, elsewhere)


if __name__ == "__main__":
    main(40 if "--quick" in sys.argv else 400)
