"""Settings of sanitizers' options, of which `pairs` crosses two or three, and tables for them."""

import inspect
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pandas as pd

import skrldp
from skrldp import AllDistributions, LikelihoodRatioSet, RenyiBall
from skrldp.surveys import SurveyDesign


@dataclass
class Case:
    """What is to be fitted: a table, and the parameters of a sanitizer."""

    rng: np.random.Generator
    mechanism: str = ""
    names: tuple = ()  # of the settings
    parameters: dict = field(default_factory=dict)  # of the sanitizer, or of the base of blocks
    blocks: dict = field(default_factory=dict)  # of BlockSanitizer, if there are blocks
    secrets: int = 2
    two: bool = False  # sensitive columns
    values: int = 3
    rare: bool = False  # values of "u" that few records have
    more: bool = False  # a second column of U
    n: int = 400
    zeros: float = 0.0
    declare: tuple = ()  # columns
    extra: tuple = ()  # declared columns with a value that no record has
    survey: str = ""
    counted: bool = False  # by sample_weight
    eps_by_pair: str = ""
    numbers: bool = False  # "u" has numbers that edges cut
    table: pd.DataFrame | None = None
    refusal: str = ""
    weights: np.ndarray | None = None

    @property
    def sensitive(self):
        return ["s", "r"] if self.two else ["s"]

    @property
    def of_u(self):
        return ["u", "k"] if self.more else ["u"]


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


def _more_eps_all(amount):
    def change(case):
        case.parameters["eps_all"] = lambda eps: eps + amount

    return change


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
        "IR theorem 5": _both(_shape(mechanism="IRSanitizer"), _set(budget="theorem5")),
        "IR optimal": _both(_shape(mechanism="IRSanitizer"), _set(underlying="optimal")),
        "PolyOpt": _shape(mechanism="PolyOptSanitizer"),
        "AOptimal": _shape(mechanism="AOptimalSanitizer"),
        "RURP": _shape(mechanism="RobustMSESanitizer"),
        "NURP": _both(_shape(mechanism="RobustMSESanitizer"), _set(robust_utility=False)),
        "RUNP": _both(_shape(mechanism="RobustMSESanitizer"), _set(robust_privacy=False)),
        "invariant": _both(_shape(mechanism="RobustMSESanitizer"), _set(invariant=True)),
        "NonRobust": _shape(mechanism="NonRobustSanitizer"),
    },
    "blocks": {
        "singles": lambda case: case.blocks.update(blocks="singles"),
        "pairs": lambda case: case.blocks.update(blocks="pairs"),
        "edges": _both(
            _shape(numbers=True),
            lambda case: case.blocks.update(blocks="singles", edges={"u": [0, 3, 6, 10]}),
        ),
        "shares": lambda case: case.blocks.update(blocks=["u", "k"], shares=[0.9, 0.1]),
    },
    "eps": {
        "small": _set(eps=0.2),
        "large": _set(eps=3.0),
        "by pair": _shape(secrets=3, eps_by_pair="all"),
        "by pair, some not compared": _shape(secrets=3, eps_by_pair="some"),
    },
    "eps_all": {
        "equal": _more_eps_all(0.0),
        "more": _more_eps_all(0.8),
        "much more": _more_eps_all(4.0),
    },
    "observe": {"nonsensitive": _set(observe="nonsensitive")},
    "sensitive": {
        "two columns": _shape(two=True),
        "three values": _shape(secrets=3),
        "one without records": _shape(extra=("s",), declare=("s",)),
    },
    "protect": {"each": _both(_shape(two=True), _set(protect="each"))},
    "known": {
        "one column": _both(_KNOWN, _set(known=["k"])),
        "all of U": _both(_KNOWN, _set(known=["u", "k"])),
        "other eps": _both(_KNOWN, _set(known="k", eps_known=0.5)),
    },
    "unknown": {
        "impute": _set(handle_unknown="impute"),
        "other": _set(handle_unknown="infrequent_if_exist"),
    },
    "grouping": {
        "auto": _both(_shape(rare=True), _set(min_frequency="auto")),
        "number": _both(_shape(rare=True), _set(min_frequency=8)),
        "share": _both(_shape(rare=True), _set(min_frequency=0.1)),
        "most": _both(_shape(rare=True), _set(max_categories=3)),
    },
    "aside": {
        "a part": _both(
            _shape(rare=True), _set(alphabet_fraction=0.3, handle_unknown="infrequent_if_exist")
        ),
    },
    "categories": {
        "product": _both(_KNOWN, _set(categories="product")),
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
    "utility set": {
        "ball": _set(utility_uncertainty=RenyiBall()),
        "all": _set(utility_uncertainty=AllDistributions()),
    },
    "records": {
        "counted": _shape(counted=True),
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
_USUAL = ["IRSanitizer", "PolyOptSanitizer"] * 2 + ["AOptimalSanitizer", "RobustMSESanitizer"]


def draw_case(number, start):
    """Return the case of a number: all pairs in random order, and then triples at random."""
    order = np.random.default_rng(start).permutation(len(PAIRS))
    rng = np.random.default_rng([start, number])
    if number < len(order):
        chosen = list(PAIRS[order[number]])
    else:
        chosen = []
        while len(chosen) < 3 or len({option for option, _ in chosen}) < 3:
            chosen = [ALL[place] for place in rng.choice(len(ALL), 3, replace=False)]
    return make_case(chosen, rng)


def make_case(chosen, rng):
    """Return a case with these settings."""
    case = Case(rng, names=tuple(chosen))
    for option, name in chosen:
        SETTINGS[option][name](case)
    if case.blocks:
        case.more = True
    if not case.mechanism:
        own = {*case.parameters} | ({"protect"} if case.eps_by_pair else set())
        fitting = [name for name in _USUAL if own <= _parameters(name)]
        case.mechanism = str(rng.choice(fitting or ["RobustMSESanitizer"]))
    _make_table(case)
    _make_parameters(case)
    return case


def _parameters(name):
    return {*inspect.signature(getattr(skrldp, name).__init__).parameters} | {"eps"}


def applies(case):
    """Whether the sanitizer has these options at all."""
    own = {*case.parameters} - ({"known", "eps_all", "categories"} if case.blocks else set())
    return own <= _parameters(case.mechanism)


def make_sanitizer(case):
    """Return the sanitizer, not yet fitted."""
    own = dict(case.parameters)
    if not case.blocks:
        return getattr(skrldp, case.mechanism)(**own)
    shared = {
        name: own.pop(name)
        for name in ("eps", "eps_all", "known", "categories", "sensitive", "random_state")
        if name in own
    }
    base = getattr(skrldp, case.mechanism)(**own)
    return skrldp.BlockSanitizer(base=base, max_cells=0, **shared, **case.blocks)


# --- Tables


def _make_table(case):
    """Draw public records from a random distribution."""
    rng, n = case.rng, case.n
    sizes = [case.secrets] + [2] * case.two + [6 if case.rare else case.values] + [2] * case.more
    shares = rng.dirichlet(np.full(int(np.prod(sizes)), 2.0)).reshape(sizes)
    if case.rare:
        axis = 1 + case.two
        fall = np.array([1.0, 0.5, 0.3, 0.06, 0.03, 0.01])
        shares = shares * fall.reshape([-1 if i == axis else 1 for i in range(len(sizes))])
    shares = shares * (rng.random(sizes) >= case.zeros)
    if case.zeros and not shares.any():
        shares = np.ones(sizes)
    counts = rng.multinomial(n, (shares / shares.sum()).ravel())
    codes = np.array(np.unravel_index(np.arange(counts.size), sizes)).T
    names = [*case.sensitive, *case.of_u]
    texts = pd.DataFrame(
        [[f"{name}{code}" for name, code in zip(names, row, strict=True)] for row in codes],
        columns=names,
    )
    if case.numbers:
        texts["u"] = codes[:, names.index("u")] * 3 + 1
    if case.counted and not case.survey:
        seen = counts > 0
        case.table, case.weights = texts[seen].reset_index(drop=True), counts[seen]
        return
    rows = texts.loc[np.repeat(np.arange(counts.size), counts)].reset_index(drop=True)
    case.table = rows.sample(frac=1.0, random_state=int(rng.integers(2**31)), ignore_index=True)


def _make_parameters(case):
    rng, own, table = case.rng, case.parameters, case.table
    own.setdefault("eps", float(rng.choice([0.5, 1.0, 1.5])))
    own["sensitive"] = case.sensitive
    if case.mechanism in ("PolyOptSanitizer", "AOptimalSanitizer", "NonRobustSanitizer"):
        own |= {"max_iter": 60, "time_limit": 0.5}
    if case.mechanism == "RobustMSESanitizer":
        own |= {"max_iter": 60, "time_limit": 0.5, "tol": 1e-2}
    if case.declare and "categories" not in own:
        own["categories"] = {
            name: [*sorted(table[name].unique().tolist()), *[f"{name}none"] * (name in case.extra)]
            for name in case.declare
            if name in table
        }
    if case.numbers and isinstance(own.get("categories"), dict):
        own["categories"].pop("u", None)
    if case.eps_by_pair:
        names = sorted(table["s"].unique().tolist())
        names += ["snone"] * ("s" in case.extra)
        if case.two:
            names = sorted(set(table[["s", "r"]].itertuples(index=False, name=None)))
        eps = {pair: float(rng.choice([0.4, 1.0, 2.0])) for pair in combinations(names, 2)}
        if case.eps_by_pair == "some" and len(eps) > 1:
            keys = list(eps)
            for place in rng.choice(len(keys), max(1, len(keys) // 3), replace=False):
                eps[keys[place]] = np.inf
        own["eps"] = eps
    if callable(own.get("eps_all")):
        eps = own["eps"]
        finite = [e for e in eps.values() if np.isfinite(e)] if isinstance(eps, dict) else [eps]
        own["eps_all"] = float(own["eps_all"](max(finite)))
    if case.survey:
        _add_survey(case)


def _add_survey(case):
    """Add the columns of a survey's design."""
    rng, n, own = case.rng, len(case.table), case.parameters
    table = case.table
    table["w"] = rng.choice([1.0, 2.0, 2.5, 4.0], n)
    table["h"] = rng.integers(0, 3, n)
    table["c"] = [f"{h}.{c}" for h, c in zip(table["h"], rng.integers(0, 12, n), strict=True)]
    if case.survey == "weights":
        own["survey"], used = SurveyDesign(weights="w"), ["w"]
    elif case.survey == "strata":
        own["survey"], used = SurveyDesign(weights="w", strata="h"), ["w", "h"]
    elif case.survey == "clusters":
        design = SurveyDesign(weights="w", strata="h", clusters="c", singleton="center")
        own["survey"], used = design, ["w", "h", "c"]
    elif case.survey == "replicates":
        used = ["w"]
        for number in range(14):
            used.append(f"w{number}")
            table[f"w{number}"] = table["w"] * rng.choice([0.0, 2.0], n)
        own["survey"] = SurveyDesign(weights="w", replicate_weights=used[1:], scale=1 / 14)
    elif case.survey == "exact":
        own["survey"], used = SurveyDesign(weights="w", max_weight=4.0), ["w"]
    elif case.survey == "exact strata":
        table["w"] = np.array([1.0, 2.0, 4.0])[table["h"]]
        table["N"] = np.array([100.0, 250.0, 600.0])[table["h"]]
        used = ["w", "h", "N"]
        own["survey"] = SurveyDesign(weights="w", strata="h", max_weight="w", stratum_sizes="N")
    else:
        most = 4.0 * table.groupby("c").size().max()
        used = ["w", "c"]
        own["survey"] = SurveyDesign(weights="w", clusters="c", max_weight=float(most))
    unused = {"w", "h", "c", "N"} & {*table} - {*used}
    case.table = table.drop(columns=sorted(unused))
