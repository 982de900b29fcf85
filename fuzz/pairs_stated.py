"""What a mechanism's JSON, the command `inspect` and loaded clients state, against what is true."""

import contextlib
import io
import json
import math
import re
import tempfile
from itertools import product
from pathlib import Path

from pairs_table import FalseClaimError, groups_of, need, probabilities, weighted
from pairs_worst import Ball, Conditionals, log_ratio, worst

from skrldp import Mechanism, cli, client


def check_stated(case, sanitizer):
    """The figures of the JSON, which is read again as it was written; `truths` has those found."""
    mechanism = sanitizer.mechanism_
    text = mechanism.to_json()
    again, device = Mechanism.from_json(text), client.load(text.encode())
    if not again.to_json() == device.mechanism.to_json() == text:
        raise FalseClaimError("what is read is written otherwise")
    if not again.digest == device.digest == mechanism.digest:
        raise FalseClaimError("what is read has another digest")
    fields = json.loads(text)
    rows, said = probabilities(mechanism), fields["claims"]
    need(float(re.search(r"eps<=([0-9.e+-]+)", repr(again))[1]), said[0]["eps"], "the repr")
    need_figures(case, sanitizer, rows, said, fields["columns"])
    _check_inspect(case, text, said, rows)


def set_in_json(said):
    """Read a stated set of distributions."""
    if said == "all":
        return Ball(1.0, math.inf)
    if said["set"] == "renyi":
        return Ball(said["alpha"], said["radius"])
    return Conditionals(said["single"], said["pair"], said["drift"])


def statements_of(said, columns):
    """What is claimed over sets: known places of U, and the claim."""
    own = [i for i, (_, sensitive) in enumerate(columns) if sensitive]
    rest = [i for i, (_, sensitive) in enumerate(columns) if not sensitive]
    if any(one["secret"] != own for one in said):
        raise FalseClaimError("a claim about some of the sensitive columns")
    some = [said[0], *(one for one in said if one["known"] not in ([], "all"))]
    return [(tuple(rest.index(place) for place in one["known"]), one) for one in some]


def everywhere_of(said):
    """What is claimed for all distributions, and to an observer who knows U; each if it is."""
    about = {"eps_worst_case": [], "eps_given_u": "all"}
    return {
        name: one
        for name, known in about.items()
        for one in said
        if one["around"] == "all" and one["known"] == known
    }


def need_figures(case, sanitizer, rows, said, columns):
    """Every claim is true, for the observer that it is about."""
    for key, one in statements_of(said, columns):
        around = set_in_json(one["around"])
        if key not in case.truths:
            groups = weighted(groups_of(sanitizer, rows, key), around)
            case.truths[key] = groups, around, worst(groups, around, case.rng)
        groups, other, found = case.truths[key]
        if other != around:
            raise FalseClaimError("the JSON states another set than the certificate")
        for pair, truth in found.items():
            names = " against ".join(str(groups.names[i]) for i in pair)
            need(one["eps"], truth, f"JSON, {key}, {names}")
    both = [(s, t) for s, t in product(range(rows.shape[1]), repeat=2) if s != t]
    everywhere = max(
        (log_ratio(rows[:, s].max(1), rows[:, t].min(1)).max() for s, t in both), default=0.0
    )
    given_u = max((log_ratio(rows[:, s], rows[:, t]).max() for s, t in both), default=0.0)
    case.truths["eps_worst_case"], case.truths["eps_given_u"] = everywhere, given_u
    for name, one in everywhere_of(said).items():
        need(one["eps"], case.truths[name], f"JSON, {name}")


def inspected(text):
    """Return the figures that the command states of a mechanism or manifest."""
    with tempfile.TemporaryDirectory() as folder:
        path, said = Path(folder) / "mechanism.json", io.StringIO()
        path.write_text(text, "utf-8")
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
            code = cli.main(["inspect", str(path), "--json"])
    if code:
        raise FalseClaimError(f"inspect ends with {code}")
    return json.loads(said.getvalue())


def _check_inspect(case, text, said, rows):
    """Bounds that follow from the mechanism alone are about all pairs of secrets."""
    found = inspected(text)
    both = [(s, t) for s, t in product(range(rows.shape[1]), repeat=2) if s != t]
    truth = max(log_ratio(rows[:, s].max(1), rows[:, t].min(1)).max() for s, t in both)
    proven, claimed = everywhere_of(found["proven"]["claims"]), found["claimed"]["claims"]
    need(stated_eps(proven, "eps_worst_case"), truth, "inspect, all distributions")
    truth = max(log_ratio(rows[:, s], rows[:, t]).max() for s, t in both)
    need(stated_eps(proven, "eps_given_u"), truth, "inspect, to an observer who knows U")
    if [one["eps"] for one in claimed if "reports" not in one] != [one["eps"] for one in said]:
        raise FalseClaimError("inspect says another eps than the mechanism")
    first = max(case.truths[()][2].values(), default=0.0)
    for one in claimed:
        k = one.get("reports", 1)
        if k > 1:
            different = first + (k - 1) * case.truths["eps_worst_case"]
            need(one["eps"], different, f"inspect, {k} reports")


def stated_eps(claims, name):
    """The bound of a claim by name; infinite if there is none."""
    return claims[name]["eps"] if name in claims else math.inf
