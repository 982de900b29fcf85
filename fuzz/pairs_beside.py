"""Whether the rest is true: where values come from, draws, other sets, and blocks."""

import math

import numpy as np
from pairs_report import line_holds, lines_of, said_of_reports
from pairs_table import (
    FalseClaimError,
    groups_of,
    multisets,
    need,
    probabilities,
    read_value,
    set_of,
    u_columns,
    weighted,
)
from pairs_worst import log_ratio, worst

from skrldp import AllDistributions, LikelihoodRatioSet, RenyiBall, certify

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


def check_source(case, sanitizer, report, told):
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
            place = u_columns(sanitizer.mechanism_).index(names[0])
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


def check_draws(case, sanitizer, n=1500):
    """The reports of `transform` have the probabilities of the mechanism, unknown values too."""
    rng, mechanism, joint = case.rng, sanitizer.mechanism_, sanitizer.joint_
    rows = probabilities(mechanism)
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
            u = read_value(case, mechanism, record)
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


def check_certify(case, sanitizer):
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
    rows = probabilities(sanitizer.mechanism_)
    around = set_of(proof.uncertainty)
    groups = weighted(groups_of(sanitizer, rows), around)
    if k > 1:
        masses = groups.masses
        groups = groups.powers(multisets(len(rows), k, rng))
        groups.masses = masses
    found = worst(groups, around, rng)
    need(proof.eps, max(found.values(), default=0.0), f"certify, {chosen}, reports={k}")


# --- blocks


def check_blocks(case, sanitizer, report):
    """Each block for itself, and what is said of all."""
    manifest = sanitizer.manifest_
    lines = lines_of(report)
    one = everywhere = given_u = known = 0.0
    for block, own in zip(sanitizer.blocks_, sanitizer.sanitizers_, strict=True):
        rows = probabilities(own.mechanism_)
        around = set_of(own.certificate_.uncertainty)
        groups = weighted(groups_of(own, rows), around)
        found = worst(groups, around, case.rng)
        truth = max(found.values(), default=0.0)
        one = max(one, truth)
        need(own.certificate_.eps, truth, f"block {block}")
        pairs = groups.pairs
        everywhere = max(
            everywhere,
            *(log_ratio(groups.rows[s].max(1), groups.rows[t].min(1)).max() for s, t in pairs),
        )
        given_u = max(given_u, *(log_ratio(rows[:, s], rows[:, t]).max() for s, t in pairs))
        if report.known:
            names = u_columns(own.mechanism_)
            # columns of a block's sanitizer are named as in the table, or by their places
            places = [i for i, name in enumerate(block) if name in report.known]
            assert len(names) == len(block)
            proof = own.certificate_.known
            inner = set_of(proof.uncertainty)
            within = weighted(groups_of(own, rows, known=places), inner)
            truth = max(worst(within, inner, case.rng).values(), default=0.0)
            known = max(known, truth)
            need(proof.eps, truth, f"block {block}, known")
        beta = own.certificate_.uncertainty.beta
        if beta is not None and beta > sanitizer.beta / sanitizer.n_designed_ * (1 + 1e-12):
            raise FalseClaimError(f"block {block} has beta {beta}")
    need(report.eps_proven, one, "all blocks")
    need(sanitizer.certificate_.eps, one, "all blocks, certificate")
    line_holds(lines["proven"], one, "the line of what is proven")
    need(report.eps_all, everywhere, "eps_all of blocks")
    need(report.eps_given_u, given_u, "to somebody who knows U, of blocks")
    if report.known:
        need(report.eps_known, known, "known, of blocks")
        line_holds(lines["known columns"], known, "known columns of blocks")
    if case.parameters.get("eps_all") is not None:
        need(case.parameters["eps_all"], everywhere, "the eps_all asked for, of blocks")
    need(case.parameters["eps"], one, "asked, of blocks")
    for k in (2, 3, 10):
        different = one + (k - 1) * everywhere
        need(report.eps_of_reports[k], different, f"{k} reports of blocks")
        need(manifest.bound_of(k), different, f"{k} reports of blocks, manifest")
        if report.adds_up:
            need(k * report.eps_proven, different, f"{k} times the proven eps")
        said_of_reports(lines["k reports"], k, different, f"the line of {k} reports")
