"""Settings of sanitizers' options, of which `pairs` crosses two or three."""

import inspect
from itertools import combinations

import numpy as np
from pairs_case import LEVELLED, Case, Later
from pairs_forms import FORMS, KINDS
from pairs_made import make

import skrldp
from skrldp import AllDistributions, LikelihoodRatioSet, RenyiBall
from skrldp.targets import Marginal, Mean


def _set(**parameters):
    return lambda case: case.parameters.update(parameters)


def _shape(**attributes):
    def change(case):
        for name, value in attributes.items():
            setattr(case, name, value)

    return change


def _both(*changes):
    def change(case):
        for one in changes:
            one(case)

    return change


def _more_eps_worst_case(amount):
    return _set(eps_worst_case=Later(lambda case: float(case.parameters["eps"] + amount)))


def _later(name, made):
    return _set(**{name: Later(made)})


def _blocks(**parameters):
    return lambda case: case.blocks.update(parameters)


def _survey(kind, **needed):
    return _both(_shape(survey=kind), _set(**needed))


def _around(around):
    return _set(uncertainty=around)


_KNOWN = _shape(more=True)

# The settings, by option; two of one option exclude each other.
SETTINGS = {
    "mechanism": {
        "GRR": _shape(mechanism="GRRSanitizer"),
        "SRR": _shape(mechanism="SRRSanitizer"),
        "IR": _shape(mechanism="IRSanitizer"),
        "PolyOpt": _shape(mechanism="PolyOptSanitizer"),
        "AOptimal": _shape(mechanism="AOptimalSanitizer"),
        "RURP": _shape(mechanism="RobustMSESanitizer"),
        "NURP": _both(_shape(mechanism="RobustMSESanitizer"), _set(robust_utility=False)),
        "RUNP": _both(_shape(mechanism="RobustMSESanitizer"), _set(robust_privacy=False)),
        "NonRobust": _shape(mechanism="NonRobustSanitizer"),
    },
    "blocks": {
        "singles": _blocks(blocks="singles"),
        "pairs": _both(_shape(third=True), _blocks(blocks="pairs")),
        "bins": _both(_shape(numbers=True, cut={"u": [0, 3, 6, 11]}), _blocks(blocks="singles")),
        "lists": _both(_shape(third=True), _blocks(blocks=[["u", "k"], ["k", "v"], "u"])),
    },
    "eps": {
        "small": _set(eps=0.2),
        "large": _set(eps=3.0),
    },
    "eps_worst_case": {
        "equal": _more_eps_worst_case(0.0),
        "more": _more_eps_worst_case(0.8),
        "much more": _more_eps_worst_case(4.0),
    },
    "observe": {"nonsensitive": _set(observe="nonsensitive")},
    "sensitive": {
        "two columns": _shape(two=True),
        "all columns": _shape(whole=True),
        "three values": _shape(secrets=3),
        "one without records": _shape(extra=("s",), declare=("s",)),
    },
    "known": {
        "one column": _both(_KNOWN, _set(observer_columns=["k"])),
        "all of U": _both(_KNOWN, _set(observer_columns=["u", "k"])),
    },
    "unknown": {
        "other": _set(handle_unknown="infrequent_if_exist"),
    },
    "grouping": {
        "auto": _both(_shape(rare=True), _set(min_frequency="auto")),
        "number": _both(_shape(rare=True), _set(min_frequency=8)),
        "share": _both(_shape(rare=True), _set(min_frequency=0.1)),
    },
    "categories": {
        "product": _both(_KNOWN, _set(categories="product")),
        "dtype": _both(_shape(form="categories"), _set(categories="dtype")),
        "all declared": _shape(declare=("u", "k")),
        "one declared": _both(_KNOWN, _shape(declare=("k",))),
        "without records": _shape(declare=("u", "k"), extra=("u",)),
    },
    "set": {
        "asymptotic": _around(LikelihoodRatioSet(radius="asymptotic")),
        "given": _around(LikelihoodRatioSet(radius=0.02)),
        "drift": _around(LikelihoodRatioSet(drift=0.05)),
        "asymptotic drift": _around(LikelihoodRatioSet(radius="asymptotic", drift=0.02)),
        "product region": _around(LikelihoodRatioSet(region="product")),
        "box": _around(LikelihoodRatioSet(region="box")),
        "lower": _around(LikelihoodRatioSet(region="lower", beta=0.2)),
        "chi2": _around(RenyiBall()),
        "same secret": _around(RenyiBall(same_secret=True, region="product")),
        "order 1": _around(RenyiBall(alpha=1.0)),
        "order 1, any n": _around(RenyiBall(alpha=1.0, radius="finite-sample")),
        "order .7": _around(RenyiBall(alpha=0.7)),
        "order .4": _around(RenyiBall(alpha=0.4, region="product")),
        "order 3": _around(RenyiBall(alpha=3.0, radius=0.05)),
        "point": _around(RenyiBall(radius=0.0)),
        "all": _around(AllDistributions()),
    },
    "table": {form: _shape(form=form) for form in FORMS},
    "values": {kind: _shape(kind=kind) for kind in KINDS},
    "targets": {
        "of S": _set(targets="sensitive"),
        "all": _set(targets="all"),
        "a share": _later("targets", lambda case: Marginal(case.at("u"), weight=3.0)),
        "a crosstab": _later(
            "targets", lambda case: [Marginal([case.at("u"), case.sensitive[0]]), Marginal()]
        ),
        "by": _later("targets", lambda case: [Marginal(case.at("u"), by=case.sensitive[0])]),
        "a mean": _both(_shape(numbers=True), _later("targets", lambda case: [Mean(case.at("u"))])),
    },
    "objective": {
        "of U": _set(objective="I(U;Y)"),
    },
    "distance": {
        "absolute": _both(_shape(numbers=True), _set(distance="absolute")),
        "hamming": _both(_shape(numbers=True), _set(distance="hamming")),
        "a function": _set(distance=lambda u, y: float(u != y) + 0.5 * (str(u) < str(y))),
    },
    "start": {"fitted before": _shape(before=True)},
    "encode": {name: _set(encode=name) for name in ("onehot", "posterior", "cells")},
    "solver": {"vertices": _set(solver="vertices")},
    "utility set": {
        "ball": _set(utility_uncertainty=RenyiBall()),
        "all": _set(utility_uncertainty=AllDistributions()),
    },
    "records": {
        "counted": _shape(counted=True),
        "counted, some not": _shape(counted=True, empty=True, zeros=0.3),
        "few": _shape(n=25),
        "many": _shape(n=20_000, counted=True),
        "zeros": _shape(zeros=0.3),
    },
    "survey": {
        "weights": _survey("weights", uncertainty=LikelihoodRatioSet(radius="asymptotic")),
        "strata": _survey("strata", uncertainty=LikelihoodRatioSet(radius="asymptotic")),
        "clusters": _survey("clusters", uncertainty=LikelihoodRatioSet(radius="asymptotic")),
        "replicates": _survey("replicates", uncertainty=LikelihoodRatioSet(radius="asymptotic")),
        "any set": _survey("clusters"),
        "exact": _survey("exact"),
        "exact strata": _survey("exact strata"),
        "exact clusters": _survey("exact clusters"),
    },
}
ALL = [(option, name) for option, own in SETTINGS.items() for name in own]
PAIRS = [pair for pair in combinations(ALL, 2) if pair[0][0] != pair[1][0]]

# What is fitted where the settings do not say it: the quick ones more often.
_USUAL = ["IRSanitizer"] * 3 + ["PolyOptSanitizer", "AOptimalSanitizer", "RobustMSESanitizer"]
_OF_RECORDS = ["GRRSanitizer", "PolyOptSanitizer", "AOptimalSanitizer"]  # if nothing is left of U


def draw_case(number, start, options=()):
    """Return the case of a number: all pairs in random order, each followed by a random triple.

    With options, one of these is in each case.
    """
    pairs = [pair for pair in PAIRS if not options or {pair[0][0], pair[1][0]} & {*options}]
    order = np.random.default_rng(start).permutation(len(pairs))
    rng = np.random.default_rng([start, number])
    if number % 2 == 0 and number // 2 < len(order):
        return make_case(list(pairs[order[number // 2]]), rng)
    while True:
        chosen = [ALL[place] for place in rng.choice(len(ALL), 3, replace=False)]
        named = {option for option, _ in chosen}
        if len(named) == 3 and (not options or named & {*options}):
            return make_case(chosen, rng)


def make_case(chosen, rng):
    """Return a case with these settings."""
    case = Case(rng, names=tuple(chosen))
    for option, name in chosen:
        SETTINGS[option][name](case)
    if case.blocks:
        case.more = True
    if not case.mechanism:
        own = {*case.parameters}
        usual = _OF_RECORDS if case.whole else _USUAL
        fitting = [name for name in usual if own <= _parameters(name)]
        case.mechanism = str(rng.choice(fitting or ["RobustMSESanitizer"]))
    if applies(case):
        make(case)
    return case


def _parameters(name):
    return {*inspect.signature(getattr(skrldp, name).__init__).parameters} | {"eps"}


def applies(case):
    """Whether the sanitizer has these options at all."""
    own = {*case.parameters} - (
        {"observer_columns", "eps_worst_case", "categories"} if case.blocks else set()
    )
    if case.form in ("enums", "numpy texts") and (case.kind != "texts" or case.numbers):
        return False  # they hold texts alone
    if case.kind == "mixed" and case.form.startswith(("polars", "arrow", "duckdb", "nullable")):
        return False  # a column has one type
    if case.form in LEVELLED and case.numbers and case.blocks:
        return False  # no numbers are left
    return own <= _parameters(case.mechanism)


def make_sanitizer(case):
    """Return the sanitizer, not yet fitted."""
    own = dict(case.parameters)
    if not case.blocks:
        return getattr(skrldp, case.mechanism)(**own)
    shared = {
        name: own.pop(name)
        for name in (
            "eps",
            "eps_worst_case",
            "observer_columns",
            "categories",
            "sensitive",
            "random_state",
        )
        if name in own
    }
    base = getattr(skrldp, case.mechanism)(**own)
    return skrldp.BlockSanitizer(base=base, **shared, **case.blocks)
