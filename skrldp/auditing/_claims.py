"""What a fitted sanitizer claims: how much k reports about one person leak at most, and of whom."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from skrldp._typing import Booleans, Floats, Indices
from skrldp.auditing._comparisons import Comparison, Groups
from skrldp.auditing._repeated_reports import repeated_leakage
from skrldp.auditing._subject import Subject
from skrldp.certificate import Certificate, certify
from skrldp.joint import JointDistribution
from skrldp.privacy import Promise, Statement
from skrldp.sanitizers import codec_of, known_columns

__all__ = ["Claim", "certificate_of", "claim_at", "claims_of"]


def certificate_of(sanitizer: Any, reports: int) -> Certificate:
    """Return the proof about a number of reports, for somebody who knows nothing else."""
    certificate: Certificate = sanitizer.certificate_
    if reports == 1:
        return certificate
    # The certificate's set is the public distribution alone where privacy is not robust.
    return certify(sanitizer.mechanism_, certificate.uncertainty, sanitizer.joint_, reports=reports)


def claim_at(sanitizer: Any, certificate: Certificate, distribution: Floats) -> float:
    """Return what reports should leak at most at a distribution.

    Shapes: `distribution` (a1, a2). Returns float: in nats. Outside the certificate's set nothing
    is promised: there it is what the mechanism leaks, or for too many multisets of reports the
    bound over all distributions, if this is more.
    """
    if certificate.uncertainty.contains(sanitizer.joint_, distribution):
        return float(certificate.eps)
    mechanism = sanitizer.mechanism_
    if certificate.reports == 1:
        leaks: float | None = mechanism.leakage(distribution)
    else:
        # k times what one report leaks at this distribution is no bound: all are about one U.
        leaks = repeated_leakage(mechanism, distribution, certificate.reports)
    return max(float(certificate.eps), float(certificate.eps_all if leaks is None else leaks))


@dataclass(frozen=True, eq=False)
class Claim:
    """One statement of a sanitizer's promise: who should not be told apart, and by how much."""

    groups: Groups  # what is compared
    bounds: Floats  # (g, g), what a pair leaks at most at every distribution of the set, in nats
    certificate: Certificate  # where the bounds come from, with the set and the worst distribution
    statement: Statement  # the table that the set is around, in its own arrangement
    reports: int  # how many reports the bounds are about

    def at(self, sanitizer: Any, subject: Subject, distribution: Floats) -> Comparison:
        """Make the comparison at a distribution.

        Outside the set nothing is promised: there the claim is what the mechanism itself leaks, if
        that is more; of several reports, where that is not computed, what they leak at any
        distribution.

        Shapes: `distribution` (a1, a2).
        """
        if self.groups.all_secrets:
            # ``bounds`` are those of the certificate, or less where those differ by pair.
            claim = claim_at(sanitizer, self.certificate, distribution)
            above = claim > float(self.certificate.eps)
            claims = np.maximum(self.bounds, claim if above else 0.0)
            return Comparison(self.groups, distribution, claims, self.bounds)
        table = self.statement.joint
        arranged = np.zeros(table.counts.shape)
        np.add.at(arranged.reshape(-1), self.statement.cells, distribution.ravel())
        found = Comparison(self.groups, distribution, self.bounds)
        if self.certificate.uncertainty.contains(table, arranged):
            return found
        proof = self.certificate
        leaks = self.reports // proof.reports * float(proof.eps_all)
        if self.reports == 1:
            groups = found.present
            told = found.report_distribution(subject, groups)
            if told is not None:
                leaks = _leakage(told, found.compared[np.ix_(groups, groups)])
        return Comparison(self.groups, distribution, np.maximum(self.bounds, leaks), self.bounds)


def _leakage(reports: Floats, compared: Booleans) -> float:
    """Greatest log-ratio of a report's probabilities under two groups that are compared."""
    worst = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(reports)
        for first, others in enumerate(compared):
            gaps = logs[:, first, None] - logs[:, others]
            worst = max(worst, float(np.nanmax(gaps, initial=0.0)))  # NaN: 0 against 0
    return worst


def claims_of(sanitizer: Any, reports: int) -> list[Claim]:
    """List what a sanitizer promises, statement by statement.

    The bound of k reports is that of :func:`certify` for people with different secrets, and the
    bound of one and k-1 times that over all distributions for all else.

    Returns list of Claim: the first is about the report alone.
    """
    joint, outer = sanitizer.joint_, sanitizer.certificate_
    codec = codec_of(sanitizer)
    named = known_columns(sanitizer)
    of_u = [codec.columns[place].name for place in codec.nonsensitive]
    names = [str(codec.columns[place].name) for place in codec.sensitive]
    known = tuple(i for i, name in enumerate(of_u) if name in named)
    promise = Promise.of(
        joint,
        outer.uncertainty,
        1.0 if outer.eps_pairs is None or outer.each else outer.eps_pairs,
        known=known,
        each=bool(outer.each),
        observe=sanitizer.mechanism_.observe,
        secret_names=names,
    )
    found = []
    for one in promise.statements:
        proof = outer.each[names[one.secret[0]]] if outer.each else outer
        proof = (proof.known or proof) if one.known else proof
        bounds = np.full(one.eps.shape, proof.eps) if proof.eps_pairs is None else proof.eps_pairs
        if reports > 1:
            bounds = bounds + (reports - 1) * outer.eps_all
            if not (one.known or outer.each):
                proof = certificate_of(sanitizer, reports)
                bounds = np.minimum(bounds, proof.eps)
        words = [repr(of_u[place]) for place in one.known]
        groups = _groups(joint, one, words, names[one.secret[0]] if outer.each else "")
        found.append(Claim(groups, bounds, proof, one, reports))
    return found


def _groups(joint: JointDistribution, one: Statement, known: list[str], column: str) -> Groups:
    """Read the groups of a statement from its arrangement of the cells."""
    group: Indices = (one.cells // one.joint.counts.shape[1]).reshape(joint.counts.shape)
    names: list[Any] = [None] * len(one.eps)
    within = [""] * len(one.eps)
    for s, u, g in _first_cells(group):
        names[g] = joint.secrets[s][one.secret[0]] if column else joint.secrets[s]
        value = joint.values[u] if isinstance(joint.values[u], tuple) else (joint.values[u],)
        told = (f"{name} = {value[i]!r}" for name, i in zip(known, one.known, strict=True))
        within[g] = " and ".join(told)
    compared = np.zeros(one.eps.shape, dtype=bool)
    compared[one.compared] = True
    of_column = repr(column) if column else ""
    return Groups(group, tuple(names), compared, of_column, tuple(within) if known else ())


def _first_cells(group: Indices) -> Iterator[tuple[int, int, int]]:
    """Give one cell of each group."""
    numbers, first = np.unique(group, return_index=True)
    for number, cell in zip(numbers.tolist(), first.tolist(), strict=True):
        yield *divmod(cell, group.shape[1]), number
