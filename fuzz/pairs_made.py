"""Public tables of cases, the parameters that depend on them, and the designs of surveys."""

import numpy as np
import pandas as pd
from pairs_case import LEVELLED, Later
from pairs_forms import PLACES, in_form, value_of

from skrldp import Bins
from skrldp.surveys.design import SurveyDesign

_SEARCHED = ("PolyOptSanitizer", "AOptimalSanitizer", "NonRobustSanitizer", "RobustMSESanitizer")


def make(case):
    """Draw the table of a case, and give it to the sanitizer in its form."""
    _make_table(case)
    survey = _add_survey(case)
    if case.form in PLACES:
        case.places = {name: place for place, name in enumerate(case.table)}
        case.table = case.table.set_axis(range(case.table.shape[1]), axis=1)
    if survey is not None:
        own = {name: _called(case, columns) for name, columns in survey.items()}
        case.parameters["survey"] = SurveyDesign(**own)
    if case.form in LEVELLED:
        for name in [*case.sensitive, *case.of_u]:
            values = [value for value in case.table[name].unique() if value is not None]
            case.levels[name] = [*sorted(values, key=str), value_of(case.kind, name, -1)]
    _make_parameters(case)
    case.given = in_form(case, case.table)


def _called(case, given):
    """Write columns as they are called in the case's table; numbers are no columns."""
    if isinstance(given, list):
        return [case.at(name) for name in given]
    return case.at(given) if isinstance(given, str) else given


def _make_table(case):
    """Draw public records from a random distribution."""
    rng, n = case.rng, case.n
    of_u = [6 if case.rare else case.values] + [2] * (case.more + case.third)
    sizes = [case.secrets] + [2] * case.two + of_u
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
    seen = (counts > 0) | case.empty
    codes, counts = codes[seen], counts[seen]
    if not (case.counted and not case.survey):
        codes, counts = np.repeat(codes, counts, axis=0), None
        codes = codes[np.random.default_rng(rng.integers(2**31)).permutation(len(codes))]
    case.weights = counts
    kinds = {"u": "integers" if case.numbers else case.kind}
    names = [*case.sensitive, *case.of_u]
    case.table = pd.DataFrame(
        {
            name: pd.Series(values, dtype=_dtype(values))
            for name, own in zip(names, codes.T.tolist(), strict=True)
            for values in [[value_of(kinds.get(name, case.kind), name, code) for code in own]]
        }
    )


def _dtype(values):
    """Python's own values, but for numbers and truth values of one kind."""
    kinds = {*map(type, values)}
    return None if len(kinds) == 1 and kinds <= {int, float, bool} else object


def _make_parameters(case):
    rng, own, table = case.rng, case.parameters, case.table
    own.setdefault("eps", float(rng.choice([0.5, 1.0, 1.5])))
    own["sensitive"] = slice(None) if case.whole and not case.survey else case.sensitive
    if case.mechanism in _SEARCHED:
        own["time_limit"] = 0.3
    if case.declare and "categories" not in own:
        declared = {}
        for name in map(case.at, case.declare):
            if name in table and not (case.numbers and name == case.at("u")):
                declared[name] = sorted(table[name].unique().tolist(), key=str)
        for name in case.extra:
            if case.at(name) in declared:
                declared[case.at(name)].append(value_of(case.kind, name, -1))
        if case.places and rng.random() < 0.5:
            declared = [declared.get(place, "auto") for place in range(table.shape[1])]
        own["categories"] = declared
    for given in (own, case.blocks):
        for name, value in given.items():
            if isinstance(value, Later):
                given[name] = value.made(case)
    if "observer_columns" in own:
        own["observer_columns"] = _called(case, own["observer_columns"])
    if "blocks" in case.blocks and isinstance(case.blocks["blocks"], list):
        case.blocks["blocks"] = [_called(case, block) for block in case.blocks["blocks"]]
    case.cut = {case.at(name): edges for name, edges in case.cut.items()}
    if case.cut:
        given = own.get("categories", {})
        given = dict.fromkeys(table, given) if isinstance(given, str) else given
        for name, edges in case.cut.items():
            given[name] = Bins(edges)
        own["categories"] = given


def _add_survey(case):
    """Add the columns of a survey's design, and return it by their names."""
    if not case.survey:
        return None
    rng, n, table = case.rng, len(case.table), case.table
    table["w"] = rng.choice([1.0, 2.0, 2.5, 4.0], n)
    table["h"] = rng.integers(0, 3, n)
    table["c"] = [f"{h}.{c}" for h, c in zip(table["h"], rng.integers(0, 12, n), strict=True)]
    if case.survey == "weights":
        design, used = {"weights": "w"}, ["w"]
    elif case.survey == "strata":
        design, used = {"weights": "w", "strata": "h"}, ["w", "h"]
    elif case.survey == "clusters":
        design = {"weights": "w", "strata": "h", "clusters": "c", "singleton": "center"}
        used = ["w", "h", "c"]
    elif case.survey == "replicates":
        used = ["w"]
        for number in range(14):
            used.append(f"w{number}")
            table[f"w{number}"] = table["w"] * rng.choice([0.0, 2.0], n)
        design = {"weights": "w", "replicate_weights": used[1:], "scale": 1 / 14}
    elif case.survey == "exact":
        design, used = {"weights": "w", "max_weight": 4.0}, ["w"]
    elif case.survey == "exact strata":
        table["w"] = np.array([1.0, 2.0, 4.0])[table["h"]]
        table["N"] = np.array([100.0, 250.0, 600.0])[table["h"]]
        used = ["w", "h", "N"]
        design = {"weights": "w", "strata": "h", "max_weight": "w", "stratum_sizes": "N"}
    else:
        most = 4.0 * table.groupby("c").size().max()
        used = ["w", "c"]
        design = {"weights": "w", "clusters": "c", "max_weight": float(most)}
    case.table = table[[*case.sensitive, *case.of_u, *used]]
    return design
