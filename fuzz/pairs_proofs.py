"""Proofs: what `certify` states of other sets, tables and numbers of reports, and its checkers."""

import hashlib
import json
import math
import re
from itertools import product
from types import SimpleNamespace

import numpy as np
from pairs_node import Asked
from pairs_stated import everywhere_of, statements_of
from pairs_table import FalseClaimError, groups_of, multisets, need, probabilities, set_of, weighted
from pairs_worst import Conditionals, log_ratio, worst

from skrldp import (
    AllDistributions,
    CertificateError,
    JointDistribution,
    LikelihoodRatioSet,
    RenyiBall,
    certify,
)
from skrldp.certificate import counts_to_json, verify

_SETS = [
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
_LESS = 1e-7  # relatively: what is claimed instead of a leakage that is attained


# --- other sets, tables and numbers of reports


def check_certify(case, sanitizer):
    """The mechanism, certified for another set, around another table, and for several reports."""
    rng, mechanism, joint = case.rng, sanitizer.mechanism_, sanitizer.joint_
    chosen, k = _SETS[rng.integers(len(_SETS))], int(rng.choice([1, 1, 2, 3, 5]))
    form, other = str(rng.choice(["mechanism", "array", "reordered"])), bool(rng.random() < 0.4)
    if other and joint.survey is None:
        near = rng.dirichlet(joint.counts.ravel() + 1)
        counts = rng.multinomial(int(rng.integers(30, 900)), near)
        joint = JointDistribution(
            counts.reshape(joint.counts.shape), joint.secrets, joint.values, alphabet=joint.alphabet
        )
    about = SimpleNamespace(joint_=joint, mechanism_=mechanism)
    rows = probabilities(mechanism)
    given = mechanism if form != "array" else rows.reshape(len(rows), -1)
    told, order = joint, [np.arange(size) for size in joint.counts.shape]
    if form == "reordered" and joint.survey is None:
        order = [rng.permutation(size) for size in joint.counts.shape]
        told = JointDistribution(
            joint.counts[np.ix_(*order)],
            [joint.secrets[s] for s in order[0]],
            [joint.values[u] for u in order[1]],
            alphabet=joint.alphabet,
            most_values=joint.most_values,
        )
    try:
        proof = certify(given, chosen, told, reports=k)
    except ValueError as error:
        if joint.survey is None:
            raise
        assert "survey" in str(error), error
        return
    what = f"certify, {chosen}, reports={k}, {form}, another table: {other}"
    around = set_of(proof.uncertainty)
    groups = weighted(groups_of(about, rows), around)
    masses = groups.masses
    if k > 1:
        groups = groups.powers(multisets(len(rows), k, rng))
        groups.masses = masses
    found = worst(groups, around, rng)
    need(proof.eps, max(found.values(), default=0.0), what)
    pairs = [(s, t) for s, t in product(range(rows.shape[1]), repeat=2) if s != t]
    truth = max(log_ratio(rows[:, s].max(1), rows[:, t].min(1)).max() for s, t in pairs)
    need(proof.eps_worst_case, k * truth, f"{what}, eps_worst_case")
    truth = max(log_ratio(rows[:, s], rows[:, t]).max() for s, t in pairs)
    need(proof.eps_given_u, k * truth, f"{what}, eps_given_u")
    need(proof.eps, proof.eps_attained, f"{what}: more is attained than is proven")
    said = dict(re.findall(r"(eps_worst_case<=|eps<=|attained )([0-9.e+-]+|inf)", repr(proof)))
    need(float(said["eps<="]), proof.eps, f"{what}, in words")
    need(
        float(said.get("eps_worst_case<=", math.inf)),
        proof.eps_worst_case,
        f"{what}, eps_worst_case in words",
    )
    need(proof.eps_attained, float(said["attained "]), f"{what}, attained in words")
    if math.comb(len(rows) + k - 1, k) <= len(groups.rows[0]):  # all combinations of reports
        law = np.empty_like(joint.probabilities)
        law[np.ix_(*order)] = proof.distribution
        _check_attained(about, groups, around, law, proof.eps_attained, what)


def _check_attained(about, groups, around, law, stated, what):
    """The distribution of a proof is inside its set, but for rounding, and leaks what is said."""
    of_u = about.mechanism_.observe == "nonsensitive"
    parts = [law[s] for s in range(len(law))] if of_u or law.ndim == 2 else law
    found = {g: part / part.sum() for g, part in enumerate(parts) if part.sum() > 0}
    wider = around
    if isinstance(around, Conditionals):
        more = [1.0001 * b + 1e-9 for b in (around.single, around.pair)]
        wider = Conditionals(*more, around.drift)
    elif np.isfinite(around.radius):
        wider = type(around)(around.alpha, around.radius * 1.0001 + 1e-7)
    if not wider.holds(groups, found):
        raise FalseClaimError(f"{what}: the distribution is outside the set")
    both = [(g, h) for g, h in groups.pairs if g in found and h in found]
    truth = max(
        (log_ratio(groups.rows[g] @ found[g], groups.rows[h] @ found[h]).max() for g, h in both),
        default=0.0,
    )
    if stated > truth + 1e-6 * (1 + truth):
        raise FalseClaimError(f"{what}: {stated} is said to be attained, and it is {truth}")


# --- the checkers


def check_proofs(case, sanitizer, node=None):
    """A witness shows what is stated, and nothing less than what some member of the set attains."""
    mechanism = sanitizer.mechanism_
    texts = mechanism.to_json(), counts_to_json(sanitizer.joint_)
    try:
        witness = sanitizer.certificate_.witness()
    except ValueError as error:
        if "no proof" not in str(error):
            raise
        return "not to be checked"
    said = json.loads(texts[0])["claims"]
    verdict = verify(*texts, witness)
    if not verdict.holds:
        raise FalseClaimError(f"a witness does not show what it is for: {verdict.message}")
    asked = [Asked((*texts, witness), None, 1, verdict)]
    if len(verdict.shown) != len(said):
        raise FalseClaimError(f"{len(verdict.shown)} claims of {len(said)} are shown")
    attained = max(case.truths[()][2].values(), default=0.0)
    asked.append(_refused((*texts, witness), _less(attained), 1, "one report"))
    for fields, what in _understated(case, texts[0]):
        text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        asked.append(_refused(_bound((text, texts[1], witness)), None, 1, what))
    asked += _two_reports(case, sanitizer, texts)
    for one in asked:
        if node is not None and one is not None:
            node.proof(one)
    return "checked"


def _less(eps):
    """A number that is less than a leakage; None if there is none."""
    less = eps * (1 - _LESS) - _LESS
    return float(f"{less:.12g}") if less > 0 else None


def _refused(texts, eps, reports, what):
    """Raise an error if a false claim is shown; the eps of the texts if none is given."""
    if texts is None or (eps is None and what in ("one report", "two reports")):
        return None
    verdict = verify(*texts, eps, reports)
    if verdict.holds:
        raise FalseClaimError(f"{what}: the checker says that {eps or 'a false claim'} holds")
    return Asked(texts, eps, reports, verdict)


def _understated(case, text):
    """Claims of less than what is attained: one figure each."""
    columns = json.loads(text)["columns"]
    for name in ("eps_worst_case", "eps_given_u"):
        fields, truth = json.loads(text), case.truths[name]
        one = everywhere_of(fields["claims"]).get(name)
        if one is not None and _less(truth) is not None:
            one |= {"eps": _less(truth), "attained": 0.0}
            yield fields, name
    for place, (key, _) in enumerate(statements_of(json.loads(text)["claims"], columns)):
        fields = json.loads(text)
        one = statements_of(fields["claims"], columns)[place][1]
        less = _less(max(case.truths[key][2].values(), default=0.0))
        if less is not None and key != ():
            one |= {"eps": less, "attained": 0.0}
            yield fields, f"the statement of {key}"


def _bound(texts):
    """Write the digests of a mechanism and of counts into a witness, as a cheat would."""
    mechanism, counts, witness = texts
    for name, text in (("mechanism", mechanism), ("counts", counts)):
        digest = hashlib.sha256(text.encode()).hexdigest()
        witness = re.sub(rf'("{name}":)"[0-9a-f]{{64}}"', rf'\g<1>"{digest}"', witness)
    return mechanism, counts, witness


def _two_reports(case, sanitizer, texts):
    """Two reports about one record."""
    if case.rng.random() < 0.6:
        return []
    if len(sanitizer.mechanism_.symbols) > 12:
        return []
    two = certify(sanitizer.mechanism_, sanitizer.uncertainty_, sanitizer.joint_, reports=2)
    if not math.isfinite(two.eps):
        return []
    try:
        witness = two.witness()
    except (ValueError, CertificateError) as error:
        assert len(str(error)) > 25
        return []
    groups, around, _ = case.truths[()]
    several = groups.powers(multisets(len(groups.rows[0]), 2, case.rng))
    truth = max(worst(several, around).values(), default=0.0)
    verdict = verify(*texts, witness, two.eps, 2)
    if not verdict.holds:
        raise FalseClaimError(f"two reports: not shown as certified: {verdict.message}")
    told = Asked((*texts, witness), two.eps, 2, verdict)
    return [told, _refused((*texts, witness), _less(truth), 2, "two reports")]
