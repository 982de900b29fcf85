"""How often sets miss the truth where options that learn values of U meet others: by simulation.

    make fuzz ARGS="coverage --number 150 --seed 1"

Tables are drawn from populations with many rare values. What `fit` would prove for is caught before
a design begins, and the true conditionals of what is reported are looked for in each set. A set
that misses more often than its beta, by a test of error 1e-6, is false, unless values were learned
without any such option.
"""

import warnings
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pandas as pd
from pairs_table import groups_of, set_of, weighted
from scipy.stats import binom

from skrldp import LikelihoodRatioSet, PolyOptSanitizer, RenyiBall

__all__ = ["run"]

_BETA = 0.1
_BALL = {"uncertainty": RenyiBall(alpha=1.0, radius="finite-sample", beta=_BETA)}
_TENDS = {"uncertainty": LikelihoodRatioSet(_BETA, radius="asymptotic"), "min_frequency": 100}
_OTHER = {"handle_unknown": "infrequent_if_exist"}
_AUTO = {"min_frequency": "auto"}
_KNOWN = {"categories": "product", "observer_columns": ["k"]}
_OF_U = {"observe": "nonsensitive"}

# Columns besides "s" and "u", and options.
CROSSED = {
    "auto": ("", _AUTO | _BALL),
    "auto, known": ("k", _AUTO | _KNOWN | _BALL),
    "auto, U alone": ("", _AUTO | _OF_U | _BALL),
    "other, number": ("", _OTHER | _BALL | {"min_frequency": 100}),
    "other, known": ("k", _OTHER | _KNOWN | _TENDS),
    "other, combinations, U alone": ("k", _OTHER | _OF_U | _TENDS),
}


class CaughtError(Exception):
    """Has the promise that a design is asked for."""


class Asking(PolyOptSanitizer):
    """A sanitizer that designs nothing."""

    def _design(self, promise, around, record):
        raise CaughtError(promise)


def run(number, start):
    """Draw so many tables for each of the crossed options; return how many sets are false."""
    false = 0
    for place, (name, (more, options)) in enumerate(CROSSED.items()):
        rng = np.random.default_rng([start, place])
        found, sources = {}, Counter()
        for table in range(number):
            if table % 20 == 0:
                shares, cells = _population(rng, more)
            counts = rng.multinomial(1_500, shares)
            promise = _asked(cells[counts > 0], counts[counts > 0], options)
            sources[promise.joint.alphabet] += 1
            for key, misses in _missed(promise, shares, cells, more).items():
                found[key] = np.add(found.get(key, 0), [misses, 1])
        for (source, what, beta), (misses, tables) in found.items():
            wrong = source != "learned" and bool(binom.sf(misses - 1, tables, beta) < 1e-6)
            false += wrong
            print(
                f"coverage: {name}, values {source}: the set {what} missed in {misses} of "
                f"{tables} tables, beta {beta}{', which is false' * wrong}",
                flush=True,
            )
    return false


def _population(rng, more):
    """Draw a distribution of cells; the values of "u" are ever rarer."""
    sizes = [2, 40, *[2] * ("k" in more)]
    fall = np.arange(1.0, 41.0).reshape([-1 if size == 40 else 1 for size in sizes]) ** -1.2
    shares = rng.dirichlet(np.full(int(np.prod(sizes)), 1.5)).reshape(sizes) * fall
    codes = np.array(np.unravel_index(np.arange(shares.size), sizes)).T
    names = ["s", "u", *["k"] * ("k" in more)]
    texts = [[f"{n}{code}" for n, code in zip(names, row, strict=True)] for row in codes]
    return (shares / shares.sum()).ravel(), pd.DataFrame(texts, columns=names)


def _asked(cells, counts, options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table = cells.reset_index(drop=True)
            Asking(sensitive="s", **options).fit(table, sample_weight=counts)
        except CaughtError as caught:
            return caught.args[0]
    raise AssertionError("nothing was asked for")


def _missed(promise, shares, cells, more):
    """Say of each set whether the true conditionals of what is reported are outside."""
    joint = promise.joint
    values = [name if isinstance(name, tuple) else (name,) for name in joint.values]
    of_u = ["u", "k"] if "k" in more else ["u"]
    own = [{value[place] for value in values} for place in range(len(of_u))]
    law = np.zeros(joint.counts.shape)
    for share, row in zip(shares, cells.to_dict("records"), strict=True):
        value = tuple(
            row[name] if row[name] in known else "other"
            for name, known in zip(of_u, own, strict=True)
        )
        value = value if value in values else ("other",) * len(of_u)
        if row["s"] in joint.secrets and value in values:
            law[joint.secrets.index(row["s"]), values.index(value)] += share
    names = {"secrets": joint.secrets, "values": joint.values}
    figures = {"counts": joint.counts, "n": joint.n, "probabilities": law / law.sum()}
    mechanism = SimpleNamespace(observe=promise.observe)
    public = SimpleNamespace(joint_=joint, mechanism_=mechanism)
    true = SimpleNamespace(joint_=SimpleNamespace(**names, **figures), mechanism_=mechanism)
    rows, found = np.ones((1, *law.shape)), {}
    for number, one in enumerate(promise):
        around, known = (
            set_of(one.region.uncertainty),
            [of_u.index(name) for name in one.claim.known],
        )
        groups = weighted(groups_of(public, rows, known), around)
        truth = groups_of(true, rows, known)
        members = {g: own for g, own in enumerate(truth.public) if truth.masses[g] > 0}
        key = joint.alphabet, f"of statement {number + 1}", one.region.uncertainty.beta
        found[key] = not around.holds(groups, members)
    return found
