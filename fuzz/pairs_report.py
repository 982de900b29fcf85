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

_LABEL = 16  # characters that labels of lines take


def check_sanitizer(case, sanitizer, report):
    """Every figure of the report, for the observer that it names."""
    rng, mechanism, joint = case.rng, sanitizer.mechanism_, sanitizer.joint_
    rows = probabilities(mechanism)
    certificate, lines = sanitizer.certificate_, lines_of(report)
    plain = groups_of(sanitizer, rows)

    # one report, to somebody who knows nothing else
    around = set_of(certificate.uncertainty)
    groups = weighted(plain, around)
    leaks = worst(groups, around, rng)
    case.truths[()] = groups, around, leaks
    for (g, h), eps in leaks.items():
        need(report.eps_proven, eps, f"proven, {groups.names[g]} against {groups.names[h]}")
    attained = max(leaks.values(), default=0.0)
    if mechanism.claims is not None:
        need(mechanism.claims.eps, attained, "the claim")
    need(report.eps_proven, attained, "proven")
    if report.eps_attained > report.eps_proven:
        raise FalseClaimError("attained is more than proven")
    line_holds(lines["proven"], attained, "the line of what is proven")
    _check_factors(report, lines)
    _check_table(joint, report)
    _check_attained(sanitizer, report, groups, around)

    # at all distributions, and to an observer who knows U
    pairs = plain.pairs
    everywhere = max(
        (log_ratio(plain.rows[s].max(1), plain.rows[t].min(1)).max() for s, t in pairs), default=0.0
    )
    everywhere = max(everywhere, 0.0)
    need(report.eps_all, everywhere, "eps_all")
    given_u = max((log_ratio(rows[:, s], rows[:, t]).max() for s, t in pairs), default=0.0)
    need(report.eps_given_u, given_u, "to an observer who knows U")
    need(report.eps_all, report.eps_given_u - 1e-12, "eps_all is less than eps_given_u")
    asked = case.parameters.get("eps_all")
    if asked is not None:
        need(asked, everywhere, "the eps_all that was asked for")
    cells = rows.reshape(len(rows), -1)
    record = log_ratio(cells.max(1), cells.min(1)).max()
    need(report.eps_record, record, "two records")

    # what was asked for
    for found in leaks.values():
        need(case.parameters["eps"], found, "asked")

    # known columns
    places = [i for i, name in enumerate(u_columns(mechanism)) if name in report.known]
    if report.known:
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
            need(report.eps_known, truth, "known, in the report")
            need(case.parameters["eps"], truth, "known, as asked")
        line_holds(lines["known columns"], max(found.values(), default=0.0), "known columns")
        others = mechanism.others or (None,) * len(u_columns(mechanism))
        if any(others[p] is not None for p in places) and not any(
            "observers are taken to know the category" in note for note in report.notes
        ):
            raise FalseClaimError("known values are grouped, and no note says so")
    elif report.eps_known is not None:
        raise FalseClaimError("eps_known without known columns")

    _check_reports(case, sanitizer, report, rows, attained, everywhere, lines)

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


def _check_factors(report, lines):
    """Factors in words: that of the worst case is attained, and that of eps is not passed."""
    worst_case = re.search(r"is ([0-9.e+]+) times as probable", lines.get("worst case", ""))
    if worst_case:
        need(report.eps_attained, math.log(float(worst_case[1])), "the line of the worst case")
    asked = re.search(r"a factor of at most ([0-9.e+]+)", lines["asked"])
    if asked:
        need(math.log(float(asked[1])), report.eps, "the factor that was asked for")


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
    if report.eps_attained > best + 1e-6 * (1 + best):
        raise FalseClaimError(f"{report.eps_attained} is said to be attained, and it is {best}")


def _conditionals_of(law):
    """The conditionals of U given each secret; None of a secret without mass."""
    return [part / part.sum() if part.sum() > 0 else None for part in law]


# --- several reports


def _check_reports(case, sanitizer, report, rows, one, everywhere, lines):
    """k reports of one record, and of records whose U differs."""
    rng, line = case.rng, lines["k reports"]
    main, stays, changed = line.partition("; if the record changes in between")
    claims = sanitizer.mechanism_.claims
    groups, around, _ = case.truths[()]
    for k in (2, int(rng.choice([3, 10]))):
        choose = multisets(len(rows), k, rng)
        truth = max([0.0, *worst(groups.powers(choose), around).values()])
        stated = report.eps_of_reports[k]
        need(stated, truth, f"{k} reports")
        said_of_reports(main, k, truth, f"the line of {k} reports")
        different = one + (k - 1) * everywhere
        if stays:
            if "there is no bound" not in changed:
                said_of_reports(changed, k, different, f"{k} reports if U changes")
        else:
            need(stated, different, f"{k} reports if U changes, which no word excludes")
        if report.adds_up:
            need(k * report.eps_proven, different, f"at most {k} times the proven eps")
        if claims is not None:
            need(claims.bound_of(k), different, f"the claim, {k} reports")
        if report.attained_of_reports[k] > stated:
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


# --- the lines


def lines_of(report):
    """The lines of the printed report, by label."""
    found, label = {}, ""
    for line in str(report).splitlines()[1:]:
        if re.match(r"  \S", line):
            label = line[2:_LABEL].strip()
            found[label] = line[_LABEL:].strip()
        elif line.startswith("    ") and label in found:
            found[label] += " " + line.strip()
        else:
            label = ""
    return found


def line_holds(line, truth, what):
    """The bound that a line begins with must hold."""
    match = re.search(r"eps <= ([0-9.e+-]*[0-9])", line)
    if match is None:
        if "no bound" in line:
            return
        raise FalseClaimError(f"{what} has no number: {line}")
    need(float(match[1]), truth, what)


def said_of_reports(line, k, truth, what):
    """What a line says of k reports must hold."""
    match = re.search(rf"([0-9][0-9.e+-]*) for k = {k}\b", line)
    if match is not None:
        need(float(match[1]), truth, what)
    elif "no bound" not in line:
        raise FalseClaimError(f"{what} says nothing: {line}")
