"""Whether each figure and line of a privacy report is true for the observer that it names."""

import math
import re

import numpy as np
from pairs_stated import set_in_json
from pairs_table import (
    FalseClaimError,
    groups_of,
    multisets,
    need,
    probabilities,
    set_of,
    u_columns,
    weighted,
)
from pairs_worst import Ball, Conditionals, greatest_mean, log_ratio, worst

from skrldp import LikelihoodRatioSet
from skrldp.claims_in_words import claims_table


def check_sanitizer(case, sanitizer, report):
    """Every figure of the report, for the observer that it names."""
    rng, mechanism, joint = case.rng, sanitizer.mechanism_, sanitizer.joint_
    rows = probabilities(mechanism)
    certificate, known = sanitizer.certificate_, report.claims.known
    plain = groups_of(sanitizer, rows)

    # one report, to somebody who knows nothing else
    around = set_of(certificate.uncertainty)
    groups = weighted(plain, around)
    leaks = worst(groups, around, rng)
    case.truths[()] = groups, around, leaks
    for (g, h), eps in leaks.items():
        need(report.claims.eps, eps, f"proven, {groups.names[g]} against {groups.names[h]}")
    attained = max(leaks.values(), default=0.0)
    if mechanism.claims is not None:
        need(mechanism.claims.eps, attained, "the claim")
    need(report.claims.eps, attained, "proven")
    if report.claims.main.attained > report.claims.eps:
        raise FalseClaimError("attained is more than proven")
    main = "all" if report.claims.main.around.is_everything else "A"
    if not row_holds(report, ("nothing", "1", main), attained, "the row of what is proven"):
        raise FalseClaimError("the table lacks the first claim")
    _check_factors(report)
    _check_table(joint, report)
    _check_attained(sanitizer, report, groups, around)

    # at all distributions, and to an observer who knows U
    pairs = plain.pairs
    everywhere = max(
        (log_ratio(plain.rows[s].max(1), plain.rows[t].min(1)).max() for s, t in pairs), default=0.0
    )
    everywhere = max(everywhere, 0.0)
    need(report.claims.eps_worst_case, everywhere, "eps_worst_case")
    row_holds(report, ("nothing", "1", "all"), everywhere, "the row of all distributions")
    given_u = max((log_ratio(rows[:, s], rows[:, t]).max() for s, t in pairs), default=0.0)
    need(report.claims.eps_given_u, given_u, "to an observer who knows U")
    need(
        report.claims.eps_worst_case,
        report.claims.eps_given_u - 1e-12,
        "eps_worst_case is less than eps_given_u",
    )
    asked = case.parameters.get("eps_worst_case")
    if asked is not None:
        need(asked, everywhere, "the eps_worst_case that was asked for")
    cells = rows.reshape(len(rows), -1)
    record = log_ratio(cells.max(1), cells.min(1)).max()
    need(report.eps_record, record, "two records")

    # what was asked for
    for found in leaks.values():
        need(case.parameters["eps"], found, "asked")

    # known columns
    places = [i for i, name in enumerate(u_columns(mechanism)) if known and name in known.known]
    if known:
        inner = set_in_json(certificate.claims.known.around.to_json())
        within = weighted(groups_of(sanitizer, rows, places), inner)
        found = worst(within, inner, rng)
        case.truths[tuple(places)] = within, inner, found
        for (g, h), truth in found.items():
            need(
                certificate.claims.known.eps,
                truth,
                f"known, {within.names[g]} or {within.names[h]}",
            )
            need(known.eps, truth, "known, in the report")
            need(case.parameters["eps"], truth, "known, as asked")
        truth = max(found.values(), default=0.0)
        for about in (row[:3] for row in claims_table(report.claims)[2]):
            if about[0] not in ("nothing", "all of U"):
                row_holds(report, about, truth, "the row of known columns")
        others = mechanism.others or (None,) * len(u_columns(mechanism))
        if any(others[p] is not None for p in places) and not any(
            "observers are assumed to know the category" in note for note in report.notes
        ):
            raise FalseClaimError("known values are grouped, and no note says so")

    _check_reports(case, report, rows, attained, everywhere)

    # utility, and the public distribution alone
    public = 0.0
    means = [own @ p for own, p in zip(groups.rows, groups.public, strict=True)]
    held = [g for g, mass in enumerate(groups.masses) if mass > 0]
    for g, h in groups.pairs:
        if g in held and h in held:
            public = max(public, log_ratio(means[g], means[h]).max())
    told = report.eps_at_public
    if told is not None and abs(told - public) > 1e-7 * (1 + public):
        raise FalseClaimError(f"at public {told}, and it is {public}")
    if report.eps_over_set is not None:
        around = sanitizer.uncertainty_.fit_set(joint)
        if around.is_point:
            around = LikelihoodRatioSet().fit_set(joint) if joint.survey is None else around
        around = set_of(around)
        found = worst(weighted(plain, around), around, rng)
        need(report.eps_over_set, max(found.values(), default=0.0), "over a set")
    if report.distortion is not None:
        _check_distance(case, sanitizer, report, rows)


def _check_factors(report):
    """Factors in words: that of the worst case is attained, and that of eps is not passed."""
    words = " ".join(str(report).split())
    worst_case = re.search(r"is ([0-9.e+]+) times as probable", words)
    if worst_case:
        stated = report.claims.main.attained
        need(stated, math.log(float(worst_case[1])), "the line of the worst case")
    factor = re.search(r"One report multiplies .* by at most ([0-9.e+]+): what", words)
    if factor:
        need(math.log(float(factor[1])), report.claims.eps, "the factor in the first part")


def _check_table(joint, report):
    """What is said of the public table."""
    own = joint.n, joint.counts.size, int((joint.counts == 0).sum()), joint.counts.shape
    told = report.n, report.n_cells, report.zero_cells, report.shape
    if told != own or list(report.records_by_secret) != list(joint.counts.sum(axis=1)):
        raise FalseClaimError(f"the public table is said to be {told}, and it is {own}")


def _check_attained(sanitizer, report, groups, around):
    """The worst distribution is inside, and leaks what is said to be attained."""
    law = np.asarray(report.worst_distribution)
    if abs(law.sum() - 1.0) > 1e-9 or law.min() < 0:
        raise FalseClaimError("the worst distribution is none")
    best = 0.0
    conditionals = _conditionals_of(law)
    found = {g: c for g, c in enumerate(conditionals) if c is not None}
    wider = around
    if isinstance(around, Conditionals):
        more = [1.0001 * b + 1e-9 for b in (around.single, around.pair)]
        wider = Conditionals(*more, around.drift)
    elif 0 < around.radius < np.inf:
        wider = Ball(around.alpha, around.radius * 1.0001 + 1e-7)
    elif around.radius == 0:
        wider = Ball(around.alpha, 1e-9)
    if not wider.holds(groups, found):
        raise FalseClaimError("the worst distribution is outside the set")
    for g, h in groups.pairs:
        if g in found and h in found:
            ratio = log_ratio(groups.rows[g] @ found[g], groups.rows[h] @ found[h]).max()
            best = max(best, ratio)
    if report.claims.main.attained > best + 1e-6 * (1 + best):
        raise FalseClaimError(
            f"{report.claims.main.attained} is said to be attained, and it is {best}"
        )


def _conditionals_of(law):
    """The conditionals of U given each secret; None of a secret without mass."""
    return [part / part.sum() if part.sum() > 0 else None for part in law]


# --- several reports


def _check_reports(case, report, rows, one, everywhere):
    """k reports of one record, and of records whose U differs."""
    rng, claims = case.rng, report.claims
    groups, around, _ = case.truths[()]
    everything = "all" if claims.main.around.is_everything else "A"
    for k in (2, int(rng.choice([3, 10]))):
        choose = multisets(len(rows), k, rng)
        truth = max([0.0, *worst(groups.powers(choose), around).values()])
        stated = claims.find(reports=k).eps
        need(stated, truth, f"{k} reports")
        row_holds(report, ("nothing", f"{k}, same record", everything), truth, f"{k} reports, row")
        different = one + (k - 1) * everywhere
        row_holds(report, ("nothing", f"{k}", everything), different, f"{k} reports if U changes")
        if claims.eps_worst_case <= claims.eps:
            need(k * claims.eps, different, f"at most {k} times the proven eps")
        need(claims.bound_of(k), different, f"the claim, {k} reports")
        if report.claims.find(reports=k).attained > stated:
            raise FalseClaimError(f"{k} reports: more is attained than is proven")


def _check_distance(case, sanitizer, report, rows):
    """The expected distance at the public distribution, and at the worst one of its set."""
    joint, mechanism = sanitizer.joint_, sanitizer.mechanism_
    values = [v if isinstance(v, tuple) else (v,) for v in joint.values]
    outputs = [y if isinstance(y, tuple) else (y,) for y in mechanism.symbols]
    given = case.parameters.get("distance")
    if callable(given):
        plain = {name: name[0] if len(name) == 1 else name for name in (*values, *outputs)}
        distance = np.array([[given(plain[u], plain[y]) for y in outputs] for u in values])
    elif sanitizer.distance_ == "hamming":
        distance = np.array(
            [[sum(a != b for a, b in zip(u, y, strict=True)) for y in outputs] for u in values]
        )
    else:
        power = {"squared": 2, "absolute": 1}[sanitizer.distance_]
        gaps = np.array([[u[0] - y[0] for y in outputs] for u in values], dtype=float)
        distance = abs(gaps) ** power
    of_cell = np.einsum("ysu,uy->su", rows, distance).ravel()
    centre = joint.probabilities.ravel()
    if abs(report.distortion - centre @ of_cell) > 1e-9:
        raise FalseClaimError(f"distance {report.distortion}, and it is {centre @ of_cell}")
    around = sanitizer.utility_uncertainty_
    found = greatest_mean(of_cell, centre, Ball(around.alpha, around.B_))
    need(report.worst_case_distortion, found, "the worst expected distance")


# --- the table of claims


def row_holds(report, about, truth, what):
    """The bound in a row of the report's table must hold; `about`: known, reports and set."""
    rows = [row for row in claims_table(report.claims)[2] if row[:3] == about]
    text = " ".join(str(report).split())
    for row in rows:
        shown = " ".join(" ".join(row).split())
        broken = shown.replace("same record", "same")  # of a wide table, and "record" is below
        if shown not in text and broken not in text and max(map(len, row)) < 16:  # not broken
            raise FalseClaimError(f"{what}: the printed table lacks {row}")
        if row[3] != "no bound":
            need(float(row[3]), truth, what)
    return bool(rows)
