"""Cross two or three options of sanitizers: what is stated must be true, by brute force.

    make fuzz ARGS="pairs --number 2000 --seed 1"

The truth is made of the integers in the mechanism's JSON, of counts that are taken here, and of
members of the stated set that `pairs_worst` finds; a stated bound below a leakage that such a
member attains is false. Options that do not go together may be refused, with a ValueError or a
CertificateError in clear words.
"""

import json
import math
import re
import traceback
import warnings
from collections import Counter
from itertools import combinations_with_replacement, product

import numpy as np
from pairs_options import Case, applies, draw_case, make_case, make_sanitizer
from pairs_worst import Ball, Conditionals, Groups, greatest_mean, log_ratio, worst

import skrldp
from skrldp import AllDistributions, LikelihoodRatioSet, RenyiBall, certify, privacy_report

__all__ = ["check", "check_sanitizer", "draw_case", "make_case", "make_sanitizer", "run"]

CLOSE = 1e-9  # nats, by which a stated bound may be below what is found
_LABEL = 16  # characters that labels of lines take
_MULTISETS = 60  # of reports; of more, so many are drawn


class FalseClaimError(AssertionError):
    """What is stated is not true."""


def run(number, start):
    """Check so many cases; print what became of them, and return how many are wrong."""
    found, faults = Counter(), []
    for place in range(number):
        case = draw_case(place, start)
        try:
            found[check(case)] += 1
        except Exception as error:  # of any kind: all but a clear refusal is a fault
            found["wrong"] += 1
            faults.append((place, case.names))
            last = traceback.extract_tb(error.__traceback__)[-1]
            print(
                f"pairs --seed {start}, case {place}: {case.mechanism} with {case.names}: "
                f"{type(error).__name__}: {error} (line {last.lineno} of {last.filename})",
                flush=True,
            )
    said = ", ".join(f"{count:,} {what}" for what, count in found.most_common())
    print(f"pairs: {number:,} combinations of options ({said})", flush=True)
    return len(faults)


def check(case):
    """Fit, and check all that is stated; return in a word what became of it."""
    if not applies(case):
        return "without such an option"
    sanitizer = make_sanitizer(case)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            sanitizer.fit(case.table, sample_weight=case.weights)
        except (ValueError, skrldp.SkrldpError) as error:
            if len(str(error)) < 25:
                raise
            case.refusal = str(error)
            return "refused"
    if case.blocks:
        _check_blocks(case, sanitizer)
        return "true"
    report = _reported(sanitizer)
    _check_counts(case, sanitizer)
    _check_source(case, sanitizer, report, [str(one.message) for one in told])
    check_sanitizer(case, sanitizer, report)
    _check_draws(case, sanitizer)
    _check_certify(case, sanitizer)
    return "true"


def _need(stated, truth, what):
    """Raise an error if a stated bound is below the truth."""
    if not stated >= truth - CLOSE:
        raise FalseClaimError(f"{what}: {stated} is stated, {truth} is attained")


def _reported(sanitizer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return privacy_report(sanitizer)


# --- the mechanism, and the public distribution


def _probabilities(mechanism):
    """Probabilities of reports, (b, a1, a2), from the integers that clients read."""
    text = json.loads(mechanism.to_json())
    a1, a2 = len(text["secrets"]), len(text["values"])
    unit = 2.0 ** text["denominator_bits"]
    if "blocks" in text:
        same, secret, value, other = text["blocks"]
        cells = list(product(range(a1), range(a2)))
        table = [
            [
                (same if t == s and w == u else secret if t == s else value if w == u else other)
                for s, u in cells
            ]
            for t, w in cells
        ]
    else:
        table = text["weights"]
    found = np.array(table, dtype=float) / unit
    if text.get("observe") == "nonsensitive":
        found = np.tile(found, (1, a1))
    sums = np.array(table, dtype=object).sum(axis=0)
    if not (sums == 2 ** text["denominator_bits"]).all():
        raise FalseClaimError("the weights are no distribution")
    return found.reshape(-1, a1, a2)


def _read_value(case, mechanism, record):
    """The value of U that a record is reported as; None if that is refused."""
    columns = [name for name, flag in mechanism.columns if not flag]
    values = [value if len(columns) > 1 else (value,) for value in mechanism.values]
    others = mechanism.others or (None,) * len(columns)
    own = []
    for place, name in enumerate(columns):
        known = {value[place] for value in values}
        raw = record[name]
        if raw in known and raw != "other":
            own.append(raw)
        elif others[place] is True or (others[place] and raw in others[place]):
            own.append("other")
        else:
            return None
    if tuple(own) in values:
        return values.index(tuple(own))
    if all(entry is True for entry in others) and ("other",) * len(own) in values:
        return values.index(("other",) * len(own))
    return None


def _count(case, mechanism, weight):
    """Count public records of each cell, or add up their weights."""
    found = np.zeros((len(mechanism.secrets), len(mechanism.values)))
    for record, w in zip(case.table.to_dict("records"), weight, strict=True):
        secret = tuple(record[name] for name in case.sensitive)
        s = mechanism.secrets.index(secret if len(secret) > 1 else secret[0])
        u = _read_value(case, mechanism, record)
        if u is not None:
            found[s, u] += w
    return found


def _check_counts(case, sanitizer):
    """The public distribution is that of the table; parts are set aside where that is said."""
    joint, mechanism = sanitizer.joint_, sanitizer.mechanism_
    records = np.ones(len(case.table)) if case.weights is None else case.weights
    counts = _count(case, mechanism, records)
    part = "alphabet_fraction" in case.parameters or case.survey.startswith("exact")
    if part and (joint.counts > counts).any():
        raise FalseClaimError("more records are counted than there are")
    if not part and not np.array_equal(joint.counts, counts):
        raise FalseClaimError("the counts are not those of the table")
    if case.survey and not part:
        totals = _count(case, mechanism, case.table["w"].to_numpy())
        if not np.allclose(joint.probabilities, totals / totals.sum(), rtol=1e-9, atol=1e-12):
            raise FalseClaimError("the public distribution is not the weighted one")


# --- what an observer compares


def _set_of(around):
    """Write a stated set by its figures."""
    if hasattr(around, "single"):
        if math.isinf(around.single):
            return Ball(1.0, math.inf)
        return Conditionals(around.single, around.pair, around.drift)
    return Ball(around.alpha, around.radius)


def _groups(sanitizer, rows, secret=None, known=()):
    """Groups of cells that are compared: by secrets, or one column of them, and known values."""
    joint, mechanism = sanitizer.joint_, sanitizer.mechanism_
    of_u = mechanism.observe == "nonsensitive"
    values = [v if isinstance(v, tuple) else (v,) for v in joint.values]
    secrets = [s if isinstance(s, tuple) else (s,) for s in joint.secrets]
    cells = {}
    for (s, name), (u, value) in product(enumerate(secrets), enumerate(values)):
        key = name if secret is None else name[secret], tuple(value[p] for p in known)
        cells.setdefault(key, []).append((s, u))
    found = Groups([], [], np.zeros(len(cells)), list(cells), [])
    for g, own in enumerate(cells.values()):
        entries = list(dict.fromkeys(u if of_u else (s, u) for s, u in own))
        public, records = np.zeros(len(entries)), 0
        for s, u in own:
            public[entries.index(u if of_u else (s, u))] += joint.probabilities[s, u]
            records += joint.counts[s, u]
        pick = [(0, e) if of_u else e for e in entries]
        found.rows.append(np.stack([rows[:, s, u] for s, u in pick], axis=1))
        found.weights[g] = records / joint.n  # of a ball: see `_weighted`
        total = public.sum()
        found.public.append(public / total if total > 0 else np.full(len(public), 1 / len(public)))
    keys = list(cells)
    found.pairs = [
        (g, h)
        for g, h in product(range(len(keys)), repeat=2)
        if keys[g][0] != keys[h][0] and keys[g][1] == keys[h][1]
    ]
    found.masses = np.array(
        [sum(joint.probabilities[s, u] for s, u in own) for own in cells.values()]
    )
    return found


def _weighted(groups, around):
    """Give groups the weights of a set: shares of records, or probabilities for a ball."""
    if isinstance(around, Ball):
        groups.weights = groups.masses
    return groups


def _chosen(b, k, rng):
    """Multisets of k of b reports: all of them, or some."""
    if math.comb(b + k - 1, k) <= _MULTISETS:
        return np.array(list(combinations_with_replacement(range(b), k)))
    some = rng.integers(0, b, (_MULTISETS // 2, k))
    return np.concatenate([np.repeat(np.arange(b), k).reshape(b, k), some])


# --- one sanitizer


def check_sanitizer(case, sanitizer, report):
    """Every figure of the report, for the observer that it names."""
    rng, mechanism, joint = case.rng, sanitizer.mechanism_, sanitizer.joint_
    rows = _probabilities(mechanism)
    certificate, lines = sanitizer.certificate_, _lines(report)
    impute = sanitizer.handle_unknown == "impute"
    each = dict(certificate.each)
    compared = report.eps_pairs
    plain = _groups(sanitizer, rows)
    if compared is not None:
        plain.pairs = [(s, t) for s, t in plain.pairs if math.isfinite(compared[s, t])]

    # one report, to somebody who knows nothing else
    statements = []  # (groups, set, stated by pair)
    if each:
        for place, (name, proof) in enumerate(each.items()):
            around = _set_of(proof.uncertainty)
            groups = _weighted(_groups(sanitizer, rows, secret=place), around)
            statements.append((groups, around, report.eps_each[name], f"column {name}"))
    else:
        around = _set_of(certificate.uncertainty)
        statements.append((_weighted(plain, around), around, report.eps_proven, "proven"))
    attained, leaks = 0.0, []
    for groups, around, stated, what in statements:
        found = worst(groups, around, rng)
        leaks.append(found)
        for (g, h), eps in found.items():
            bound = stated if compared is None or each else compared[g, h]
            _need(bound, eps, f"{what}, {groups.names[g]} against {groups.names[h]}")
        truth = max(found.values(), default=0.0)
        if impute:
            truth = max(truth, _with_draws(sanitizer, groups, around, rows, 1))
            _need(stated, truth, f"{what}, with unknown values")
        _need(report.eps_proven, truth, f"{what}, proven")
        attained = max(attained, truth)
        if not each and mechanism.guarantee is not None:
            _need(mechanism.guarantee.eps, max(found.values(), default=0.0), "the guarantee")
    if report.eps_attained > report.eps_proven:
        raise FalseClaimError("attained is more than proven")
    _number(lines["proven"], attained, "the line of what is proven")
    _check_attained(sanitizer, report, statements, rows)

    # at all distributions, and to somebody who knows U
    pairs = plain.pairs
    everywhere = max(
        (log_ratio(plain.rows[s].max(1), plain.rows[t].min(1)).max() for s, t in pairs), default=0.0
    )
    if each:
        everywhere = _everywhere_each(sanitizer, rows)
    everywhere = max(everywhere, 0.0)
    _need(report.eps_all, everywhere, "eps_all")
    given_u = max((log_ratio(rows[:, s], rows[:, t]).max() for s, t in pairs), default=0.0)
    if impute and mechanism.observe == "all":
        means = [own @ p for own, p in zip(plain.rows, plain.public, strict=True)]
        given_u = max(given_u, *(log_ratio(means[s], means[t]).max() for s, t in pairs), 0.0)
    _need(report.eps_given_u, given_u, "to somebody who knows U")
    _need(report.eps_all, report.eps_given_u - 1e-12, "eps_all is less than eps_given_u")
    asked = case.parameters.get("eps_all")
    if asked is not None:
        _need(asked, everywhere, "the eps_all that was asked for")
    cells = rows.reshape(len(rows), -1)
    record = log_ratio(cells.max(1), cells.min(1)).max()
    _need(report.eps_record, record, "two records")

    # what was asked for
    eps = case.parameters["eps"]
    for found_of, (_, _, _, what) in zip(leaks, statements, strict=True):
        for (g, h), found in found_of.items():
            wanted = eps
            if isinstance(eps, dict):
                names = [joint.secrets[i] for i in (g, h)]
                wanted = eps.get(tuple(names), eps.get(tuple(names[::-1])))
            _need(wanted, found, f"asked, {what}")

    # known columns
    places = [i for i, name in enumerate(_u_columns(mechanism)) if name in report.known]
    proofs = {0: certificate} if not each else dict(enumerate(each.values()))
    if report.known:
        for place, proof in proofs.items():
            around = _set_of(proof.known.uncertainty)
            groups = _groups(sanitizer, rows, secret=place if each else None, known=places)
            groups = _weighted(groups, around)
            if compared is not None and not each:
                index = {s if isinstance(s, tuple) else (s,): i for i, s in _numbered(joint)}
                groups.pairs = [
                    (g, h)
                    for g, h in groups.pairs
                    if math.isfinite(compared[index[groups.names[g][0]], index[groups.names[h][0]]])
                ]
            found = worst(groups, around, rng)
            for (g, h), truth in found.items():
                _need(proof.known.eps, truth, f"known, {groups.names[g]} against {groups.names[h]}")
                _need(report.eps_known, truth, "known, in the report")
                if proof.known.eps_pairs is not None:
                    _need(proof.known.eps_pairs[g, h], truth, "known, the pair's own")
                if "eps_known" in case.parameters:
                    _need(case.parameters["eps_known"], truth, "eps_known as asked")
            _number(lines["known columns"], max(found.values(), default=0.0), "known columns")
        others = mechanism.others or (None,) * len(_u_columns(mechanism))
        if any(others[p] is not None for p in places) and not any(
            "observers are taken to know the category" in note for note in report.notes
        ):
            raise FalseClaimError("known values are grouped, and no note says so")
    elif report.eps_known is not None:
        raise FalseClaimError("eps_known without known columns")

    _check_reports(case, sanitizer, report, statements, rows, attained, everywhere, lines)
    _check_chains(sanitizer, report, plain, statements)

    # utility, and the public distribution alone
    public = 0.0
    for groups, _, _, _ in statements:
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
        around = _set_of(around)
        found = worst(_weighted(plain, around), around, rng)
        _need(report.eps_over_set, max(found.values(), default=0.0), "over a set")
    if report.distortion is not None:
        _check_distance(sanitizer, report, rows)


def _numbered(joint):
    return enumerate(joint.secrets)


def _u_columns(mechanism):
    return [name for name, flag in mechanism.columns if not flag]


def _everywhere_each(sanitizer, rows):
    """Over all distributions, of two cells that differ in some sensitive column."""
    cells = rows.reshape(len(rows), rows.shape[1], -1)
    most, least = cells.max(axis=2), cells.min(axis=2)
    return max(
        log_ratio(most[:, s], least[:, t]).max()
        for s in range(rows.shape[1])
        for t in range(rows.shape[1])
        if s != t
    )


def _draw_rows(sanitizer, groups, rows):
    """Probabilities of a report about an unknown value, for each group of secrets."""
    joint, mechanism = sanitizer.joint_, sanitizer.mechanism_
    if mechanism.observe == "nonsensitive":
        drawn = rows[:, 0] @ joint.probabilities.sum(axis=0)
        return [drawn] * len(groups.rows)
    return [own @ p for own, p in zip(groups.rows, groups.public, strict=True)]


def _with_draws(sanitizer, groups, around, rows, k, choose=None):
    """Leakage where whether a value is unknown tells of the secret; reports draw it anew."""
    drawn = _draw_rows(sanitizer, groups, rows)
    several = groups
    if k > 1:
        several = groups.powers(choose)
        drawn = [np.prod(own[choose], axis=1) for own in drawn]
    found = 0.0
    for g, h in groups.pairs:
        found = max(found, log_ratio(drawn[g], drawn[h]).max())
        # one of them is unknown, and the other is as the set allows: a group of one cell
        for first, second in ((g, h), (h, g)):
            one = Groups(
                [several.rows[first], drawn[second][:, None]],
                [several.public[first], np.ones(1)],
                several.weights[[first, second]],
                [],
                [(0, 1), (1, 0)],
            )
            inside = around
            if isinstance(around, Ball) and 0 < around.radius < np.inf:
                rest = 1.0 - one.weights.sum()  # the other groups, as they are
                one.rows.append(np.ones((len(drawn[second]), 1)))
                one.public.append(np.ones(1))
                one.weights = np.append(one.weights, max(rest, 0.0))
            found = max(found, *worst(one, inside).values())
    return found


def _check_attained(sanitizer, report, statements, rows):
    """The worst distribution is inside, and leaks what is said to be attained."""
    law = np.asarray(report.worst_distribution)
    if abs(law.sum() - 1.0) > 1e-9 or law.min() < 0:
        raise FalseClaimError("the worst distribution is none")
    each = bool(report.eps_each)
    best = 0.0
    for place, (groups, around, _, _) in enumerate(statements):
        conditionals = _conditionals_of(sanitizer, law, groups, place if each else None)
        found = {g: c for g, c in enumerate(conditionals) if c is not None}
        wider = around
        if isinstance(around, Conditionals):
            more = [1.0001 * b + 1e-9 for b in (around.single, around.pair)]
            wider = Conditionals(*more, around.drift)
        elif 0 < around.radius < np.inf:
            wider = Ball(around.alpha, around.radius * 1.0001 + 1e-7)
        elif around.radius == 0:
            wider = Ball(around.alpha, 1e-9)
        if not wider.holds(groups, found) and not each:
            raise FalseClaimError("the worst distribution is outside the set")
        for g, h in groups.pairs:
            if g in found and h in found:
                ratio = log_ratio(groups.rows[g] @ found[g], groups.rows[h] @ found[h]).max()
                best = max(best, ratio)
    if report.eps_attained > best + 1e-6 * (1 + best):
        raise FalseClaimError(f"{report.eps_attained} is said to be attained, and it is {best}")


def _conditionals_of(sanitizer, law, groups, secret):
    joint, mechanism = sanitizer.joint_, sanitizer.mechanism_
    of_u = mechanism.observe == "nonsensitive"
    secrets = [s if isinstance(s, tuple) else (s,) for s in joint.secrets]
    found = []
    for name in groups.names:
        kept = [full if secret is None else full[secret] for full in secrets]
        own = [s for s, part in enumerate(kept) if part == name[0]]
        part = law[own].sum(axis=0) if of_u else law[own].ravel()
        found.append(part / part.sum() if part.sum() > 0 else None)
    return found


# --- several reports


def _check_reports(case, sanitizer, report, statements, rows, one, everywhere, lines):
    """k reports of one record, and of records whose U differs."""
    rng, line = case.rng, lines["k reports"]
    impute = sanitizer.handle_unknown == "impute"
    stays = "whose record stays the same" in line
    main, _, changed = line.partition("; if U changes in between")
    guarantee = sanitizer.mechanism_.guarantee
    for k in (2, int(rng.choice([3, 10]))):
        truth = 0.0
        choose = _chosen(len(rows), k, rng)
        for groups, around, _, _ in statements:
            several = groups.powers(choose)
            truth = max(truth, *worst(several, around).values(), 0.0)
            if impute:
                truth = max(truth, _with_draws(sanitizer, groups, around, rows, k, choose))
        stated = report.eps_of_reports[k]
        _need(stated, truth, f"{k} reports")
        _said(main, k, truth, f"the line of {k} reports")
        different = one + (k - 1) * everywhere
        if stays:
            if "there is no bound" not in changed:
                _said(changed, k, different, f"{k} reports if U changes")
        else:
            _need(stated, different, f"{k} reports if U changes, which no word excludes")
        if report.adds_up:
            _need(k * report.eps_proven, different, f"at most {k} times the proven eps")
        if guarantee is not None:
            _need(guarantee.bound_of(k), different, f"the guarantee, {k} reports")
        if report.attained_of_reports[k] > stated:
            raise FalseClaimError(f"{k} reports: more is attained than is proven")
    if report.adds_up != ("at most k times the proven eps" in line):
        raise FalseClaimError("whether bounds add up is not what the line says")


def _check_chains(sanitizer, report, plain, statements):
    """Pairs of secrets that are not compared are bounded by chains, as the line says."""
    if report.eps_pairs is None or report.eps_each:
        return
    bounds = np.array(report.eps_pairs)
    for r, s, t in product(range(len(bounds)), repeat=3):
        bounds[s, t] = min(bounds[s, t], bounds[s, r] + bounds[r, t])
    groups, around, _, _ = statements[0]
    rest = [
        (s, t)
        for s, t in product(range(len(bounds)), repeat=2)
        if s != t and not math.isfinite(report.eps_pairs[s][t]) and math.isfinite(bounds[s, t])
    ]
    for (s, t), truth in worst(groups, around, pairs=rest).items():
        _need(bounds[s, t], truth, "a chain of compared pairs")


def _check_distance(sanitizer, report, rows):
    """The expected distance at the public distribution, and at the worst one of its set."""
    joint, mechanism = sanitizer.joint_, sanitizer.mechanism_
    values = [v if isinstance(v, tuple) else (v,) for v in joint.values]
    outputs = [y if isinstance(y, tuple) else (y,) for y in mechanism.symbols]
    if sanitizer.distance_ == "hamming":
        distance = np.array(
            [[sum(a != b for a, b in zip(u, y, strict=True)) for y in outputs] for u in values]
        )
    else:
        distance = np.array([[(u[0] - y[0]) ** 2 for y in outputs] for u in values], dtype=float)
    of_cell = np.einsum("ysu,uy->su", rows, distance).ravel()
    centre = joint.probabilities.ravel()
    if abs(report.distortion - centre @ of_cell) > 1e-9:
        raise FalseClaimError(f"distance {report.distortion}, and it is {centre @ of_cell}")
    around = sanitizer.utility_uncertainty_
    found = greatest_mean(of_cell, centre, Ball(around.alpha, around.B_))
    _need(report.worst_case_distortion, found, "the worst expected distance")


# --- the lines


def _lines(report):
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


def _number(line, truth, what):
    """The bound that a line begins with must hold."""
    match = re.search(r"eps <= ([0-9.e+-]*[0-9])", line)
    if match is None:
        if "no bound" in line:
            return
        raise FalseClaimError(f"{what} has no number: {line}")
    _need(float(match[1]), truth, what)


def _said(line, k, truth, what):
    """What a line says of k reports must hold."""
    match = re.search(rf"([0-9][0-9.e+-]*) for k = {k}\b", line)
    if match is not None:
        _need(float(match[1]), truth, what)
    elif not re.search(rf"for k = [0-9, and]*\b{k}\b.* there is no bound", line):
        raise FalseClaimError(f"{what} says nothing: {line}")


# --- where the values come from


def _frequent_from(n, beta):
    """The least number of records by section 16 of the mathematics."""

    def chance(mean, least):
        few = math.exp(-mean) * (math.e * mean / 4.0) ** 4
        many = math.exp(-mean) * (math.e * mean / least) ** least
        return n / mean * (few + many)

    least = 7
    while min(chance(mean, least) for mean in range(6, least)) > beta * (1 + 1e-6):
        least += 1
    return least


def _check_source(case, sanitizer, report, told):
    """Whether the values of U are declared, frequent, set aside or learned, and what is said."""
    joint, own = sanitizer.joint_, case.parameters
    source = joint.alphabet
    given = own.get("categories")
    declared = set(given) if isinstance(given, dict) else set()
    learned = [name for name in case.of_u if name not in declared]
    if own.get("protect") == "each":
        learned += [name for name in case.sensitive if name not in declared]
    stated = [
        one.uncertainty.beta
        for one in [sanitizer.certificate_, *sanitizer.certificate_.each.values()]
    ]
    useful = getattr(sanitizer, "utility_uncertainty_", None)
    if useful is not None and isinstance(getattr(useful, "radius", None), str):
        stated.append(useful.beta)
    if source == "declared" and learned:
        raise FalseClaimError(f"the values of {learned} are said to be declared")
    if source == "split" and "alphabet_fraction" not in own:
        raise FalseClaimError("no records were set aside")
    if source == "split" and [n for n in learned if n in case.sensitive]:
        raise FalseClaimError("the values of secrets were learned from the counted records")
    if source == "frequent":
        _check_frequent(case, sanitizer, learned)
    words = {
        "declared": "the values of U are declared",
        "split": "learned from records that are not counted",
        "frequent": "each has so many of them",
        "learned": "the set may miss far more often",
    }
    text = " ".join(str(report).split())
    if any(beta is not None for beta in stated):
        if words[source] not in text:
            raise FalseClaimError(f"the values are {source}, and the report does not say so")
        if source == "learned" and not any("learned from the" in one for one in told):
            raise FalseClaimError("rare values were learned from the counted records, unwarned")


def _check_frequent(case, sanitizer, learned):
    """Each value of its own has as many records as the theorem wants, and the sets know."""
    joint, own = sanitizer.joint_, case.parameters
    if case.survey and not case.survey.startswith("exact"):
        raise FalseClaimError("values of a survey are said to be frequent")
    table = case.table
    weights = np.ones(len(table)) if case.weights is None else case.weights
    if case.survey:
        return  # which records were kept is not known here
    around = own.get("uncertainty")
    beta = getattr(around, "beta", None) or 0.05
    grouped = own.get("handle_unknown") == "infrequent_if_exist" or any(
        name in own for name in ("min_frequency", "max_categories")
    )
    if "alphabet_fraction" in own:  # the values of U are those of the records set aside
        learned = [name for name in learned if name in case.sensitive]
    judged = [[name] for name in learned]
    if len(case.of_u) > 1 and not grouped and own.get("categories") != "product":
        given = own.get("categories")
        declared = set(given) if isinstance(given, dict) else set()
        if not declared & set(case.of_u):
            judged = [case.of_u, *([n] for n in learned if n in case.sensitive)]
    least = _frequent_from(int(weights.sum()), 0.02 * beta / max(1, len(judged)))
    most = 1
    for names in judged:
        counts = table.assign(_=weights).groupby(names)["_"].sum()
        kept = counts
        if names[0] in case.of_u and len(names) == 1:
            place = _u_columns(sanitizer.mechanism_).index(names[0])
            values = {v[place] if isinstance(v, tuple) else v for v in joint.values}
            kept = counts[[value in values for value in counts.index]]
            others = (sanitizer.mechanism_.others or (None,) * 9)[place]
            if len(kept) < len(counts) and others is not True:
                raise FalseClaimError("'other' is a list of values that were learned")
        if (kept < least).any():
            raise FalseClaimError(f"a value with {kept.min()} records is said to be frequent")
        if set(names) <= set(case.of_u):
            most *= int((counts >= 5).sum()) + 1
    if joint.most_values < most:
        raise FalseClaimError(f"the set is for {joint.most_values} values, and there may be {most}")


# --- draws, and other sets


def _check_draws(case, sanitizer, n=1500):
    """The reports of `transform` have the probabilities of the mechanism, unknown values too."""
    rng, mechanism, joint = case.rng, sanitizer.mechanism_, sanitizer.joint_
    rows = _probabilities(mechanism)
    records = case.table[[*case.sensitive, *case.of_u]].drop_duplicates()
    records = records.iloc[rng.choice(len(records), min(3, len(records)), replace=False)]
    records = records.reset_index(drop=True)
    if sanitizer.handle_unknown != "error":
        strange = records.iloc[[0]].assign(u=-5 if case.numbers else "unheard of")
        records = type(records)(records.to_dict("records") + strange.to_dict("records"))
    before = sanitizer.encode
    try:
        sanitizer.encode = "symbol"
        for row in range(len(records)):
            record = records.iloc[row].to_dict()
            many = records.iloc[np.full(n, row)].reset_index(drop=True)
            secret = tuple(record[name] for name in case.sensitive)
            s = joint.secrets.index(secret if len(secret) > 1 else secret[0])
            u = _read_value(case, mechanism, record)
            try:
                reports = np.asarray(sanitizer.transform(many)).ravel().astype(int)
            except ValueError:
                if u is not None:
                    raise
                continue
            if u is not None:
                wanted = rows[:, s, u]
            elif sanitizer.handle_unknown == "impute":
                own = joint.probabilities.sum(0)
                if mechanism.observe == "all":
                    own = joint.probabilities[s]
                own = own / own.sum() if own.sum() > 0 else np.full(len(own), 1 / len(own))
                wanted = rows[:, s] @ own
            else:
                raise FalseClaimError("a value without a place was reported")
            drawn = np.bincount(reports, minlength=len(wanted))
            # Bernstein's bound for each report: with probability 1 - 1e-12 for all of them
            spread = math.log(2.0 * len(wanted) / 1e-12)
            room = np.sqrt(2 * n * wanted * (1 - wanted) * spread) + spread / 1.5
            room = np.where(wanted > 0, room, 0.0)
            if (abs(drawn - n * wanted) > room).any():
                raise FalseClaimError("reports do not have the probabilities of the mechanism")
    finally:
        sanitizer.encode = before


def _check_certify(case, sanitizer):
    """The mechanism, certified for another set, and for several reports."""
    rng, joint = case.rng, sanitizer.joint_
    sets = [
        LikelihoodRatioSet(radius="asymptotic"),
        LikelihoodRatioSet(radius=0.03, drift=0.02),
        LikelihoodRatioSet(),
        RenyiBall(alpha=1.0),
        RenyiBall(),
        RenyiBall(alpha=0.6, radius=0.02),
        RenyiBall(alpha=0.3, radius=0.02),
        AllDistributions(),
        RenyiBall(radius=0.0),
    ]
    chosen, k = sets[rng.integers(len(sets))], int(rng.integers(1, 3))
    try:
        proof = certify(sanitizer.mechanism_, chosen, joint, reports=k)
    except ValueError as error:
        if joint.survey is None:
            raise
        assert "survey" in str(error), error
        return
    rows = _probabilities(sanitizer.mechanism_)
    around = _set_of(proof.uncertainty)
    groups = _weighted(_groups(sanitizer, rows), around)
    if k > 1:
        masses = groups.masses
        groups = groups.powers(_chosen(len(rows), k, rng))
        groups.masses = masses
    found = worst(groups, around, rng)
    _need(proof.eps, max(found.values(), default=0.0), f"certify, {chosen}, reports={k}")


# --- blocks


def _check_blocks(case, sanitizer):
    """Each block for itself, and what is said of all."""
    report, manifest = _reported(sanitizer), sanitizer.manifest_
    lines = _lines(report)
    one = everywhere = given_u = known = 0.0
    for block, own in zip(sanitizer.blocks_, sanitizer.sanitizers_, strict=True):
        part = Case(
            case.rng,
            **{
                name: getattr(case, name)
                for name in ("two", "counted", "survey", "weights", "numbers")
            },
        )
        part.more = set(block) == {"u", "k"}
        part.mechanism = case.mechanism
        part.parameters = dict(case.parameters)
        rows = _probabilities(own.mechanism_)
        around = _set_of(own.certificate_.uncertainty)
        groups = _weighted(_groups(own, rows), around)
        found = worst(groups, around, case.rng)
        truth = max(found.values(), default=0.0)
        one = max(one, truth)
        _need(own.certificate_.eps, truth, f"block {block}")
        pairs = groups.pairs
        everywhere = max(
            everywhere,
            *(log_ratio(groups.rows[s].max(1), groups.rows[t].min(1)).max() for s, t in pairs),
        )
        given_u = max(given_u, *(log_ratio(rows[:, s], rows[:, t]).max() for s, t in pairs))
        if report.known:
            names = _u_columns(own.mechanism_)
            # columns of a block's sanitizer are named as in the table, or by their places
            places = [i for i, name in enumerate(block) if name in report.known]
            assert len(names) == len(block)
            proof = own.certificate_.known
            inner = _set_of(proof.uncertainty)
            within = _weighted(_groups(own, rows, known=places), inner)
            truth = max(worst(within, inner, case.rng).values(), default=0.0)
            known = max(known, truth)
            _need(proof.eps, truth, f"block {block}, known")
        beta = own.certificate_.uncertainty.beta
        if beta is not None and beta > sanitizer.beta / sanitizer.n_designed_ * (1 + 1e-12):
            raise FalseClaimError(f"block {block} has beta {beta}")
    _need(report.eps_proven, one, "all blocks")
    _need(sanitizer.certificate_.eps, one, "all blocks, certificate")
    _number(lines["proven"], one, "the line of what is proven")
    _need(report.eps_all, everywhere, "eps_all of blocks")
    _need(report.eps_given_u, given_u, "to somebody who knows U, of blocks")
    if report.known:
        _need(report.eps_known, known, "known, of blocks")
        _number(lines["known columns"], known, "known columns of blocks")
    if case.parameters.get("eps_all") is not None:
        _need(case.parameters["eps_all"], everywhere, "the eps_all asked for, of blocks")
    _need(case.parameters["eps"], one, "asked, of blocks")
    for k in (2, 3, 10):
        different = one + (k - 1) * everywhere
        _need(report.eps_of_reports[k], different, f"{k} reports of blocks")
        _need(manifest.bound_of(k), different, f"{k} reports of blocks, manifest")
        if report.adds_up:
            _need(k * report.eps_proven, different, f"{k} times the proven eps")
        _said(lines["k reports"], k, different, f"the line of {k} reports")
