"""The audit of a black box, step by step."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skrldp._arrays import refuse_masked
from skrldp._params import check_flag, generator_of, is_number, is_whole, shown
from skrldp._sentences import repeatable
from skrldp._typing import Floats
from skrldp.auditing._checks import check_bound, check_draws
from skrldp.auditing._claims import claims_of
from skrldp.auditing._comparisons import Comparison, Groups
from skrldp.auditing._lower_bound import bound_leakage, fewest_records
from skrldp.auditing._made_anew import copies_of
from skrldp.auditing._repeated_reports import RepeatedReports, repeated_leakage
from skrldp.auditing._result import Audit, Check
from skrldp.auditing._subject import CallableSubject, SanitizerSubject, Subject
from skrldp.joint import JointDistribution
from skrldp.mechanism import Manifest, Mechanism
from skrldp.sanitizers import as_block_sanitizer, as_sanitizer

__all__ = ["audit"]


def audit(
    sanitizer: Any,
    *,
    n: int = 100_000,
    distribution: JointDistribution | ArrayLike | Sequence[Any] | None = None,
    eps: float | None = None,
    level: float = 0.95,
    reports: int = 1,
    mechanism: Mechanism | None = None,
    calls: int = 100,
    processes: bool = False,
    random_state: Any = None,
) -> Audit:
    r"""Bound from below what a sanitizer, or any black box, leaks, and check its randomness.

    Records are drawn from a distribution, and their reports are counted. Some of the records serve
    to choose the pair of secrets and the event A, a set of reports, with the greatest ratio (where
    claims differ, with the greatest compared with its claim); the
    others bound :math:`\log P(A|s_1)/P(A|s_2)` from below with Clopper and Pearson's intervals. As
    that event may be rare, a second one is chosen that tells the pair apart most surely. The
    greater of the two bounds is the result, with the error probability divided between them.
    Then the draws are checked: whether reports follow the certified mechanism, are drawn anew in
    each call, in copies of the sanitizer and within a call, whether short calls report as long ones
    do, and whether unknown values are refused.

    **An audit proves no privacy**; the certificate does. An audit finds faults in the sampling.

    Parameters
    ----------
    sanitizer : sanitizer or callable
        A fitted sanitizer, or a Pipeline that ends in one, or either in a FrozenEstimator. Of a
        pipeline, the last step alone is audited, on records in the form which that step receives.
        Or a function, such as a whole pipeline's `transform`, that maps an array of records, with
        the columns of S first and those of U next, to as many reports: an array, a list or a data
        frame.
    n : int, default=100_000
        Number of records for the bound, and for each of the checks.
    distribution : JointDistribution, array of shape (a1, a2), or list of them, optional
        Distributions of (S, U) to draw records from; only the conditionals of U matter, and secrets
        of probability 0 are left out. For a sanitizer the default is the worst distribution that
        its certificate states and the public distribution. For a function they must be
        `JointDistribution`: their names are the values of the records.
    eps : float, optional
        The claim, in nats, about all reports on a person together. For a sanitizer the default is
        its certificate's upper bound, or that of :func:`certify` with this number of reports (at a
        distribution outside the confidence set, what the mechanism leaks there if that is more).
    level : float, default=0.95
        Confidence. Half of ``1 - level`` is spent on the bound, the rest on the checks.
    reports : int, default=1
        How many reports about each record somebody sees. The bound and the claim are then about
        all of them: each part of the records is passed in that many calls in turn, always in the
        same order, and an event is a set of combinations of reports, in whatever order they came.
        The checks are about single reports.
    mechanism : Mechanism, optional
        Of a function: the mechanism that its reports should follow. They must be numbers of its
        symbols, and its secrets and values those of the distribution. The default of `eps` is then
        what it leaks at each distribution.
    calls : int, default=100
        Number of short calls: every other one has a single record, the rest 5 to 60. A sampler that
        is started anew for each call takes long for them; fewer see less.
    processes : bool, default=False
        Whether two new Python processes make reports too, to see whether they are the same. The
        sanitizer or function is pickled. It takes some seconds. If False, the result says that it
        was not tried: a generator that a class or module keeps from a seed is not seen.
    random_state : None, int or numpy Generator
        For drawing the records; the sanitizer uses its own randomness.

    Returns
    -------
    Audit
        ``eps`` is the lower bound; ``passed`` and ``findings`` state whether there are faults.

    Raises
    ------
    TypeError
        If there is nothing to audit, or the reports are no table.
    ValueError
        If a parameter is not as described, or records are not reported one by one, or new
        processes cannot make reports.
    NotFittedError
        If the sanitizer has not been fitted.

    Notes
    -----
    The bound assumes that records are reported independently of one another, which the checks test.

    Examples
    --------
    >>> from skrldp import GRRSanitizer, audit
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = GRRSanitizer(eps=1.0).fit(X, sample_weight=[7, 10, 26, 57])
    >>> found = audit(sanitizer, n=20_000, level=0.999999, random_state=0)
    >>> found.passed, 0.5 < found.eps <= sanitizer.certificate_.eps
    (True, True)

    A function that adds no noise:

    >>> from skrldp import JointDistribution
    >>> distribution = JointDistribution([[7, 10], [26, 57]], ["no", "yes"], ["rare", "often"])
    >>> audit(lambda records: records, n=20_000, distribution=distribution, eps=1.0).passed
    False
    """
    _check(n, eps, level, reports, calls, processes)
    generator = generator_of(random_state)
    fitted = as_sanitizer(sanitizer)
    reports = int(reports)
    subject, comparisons = _subject(sanitizer, fitted, distribution, eps, reports, mechanism)
    seen = subject if reports == 1 else RepeatedReports(subject, reports)
    largest = max(len(one.present) for one in comparisons)
    fewest = max(200, fewest_records(largest, len(comparisons)))
    if n < fewest:
        raise ValueError(
            f"n={n} records are too few for {largest} {_kind(comparisons)} and "
            f"{len(comparisons)} distribution{'s' if len(comparisons) > 1 else ''}: give at "
            f"least n={fewest:,}."
        )
    miss = (1.0 - level) / 2.0
    copies = copies_of(subject.report)  # before anything is drawn
    bound = bound_leakage(seen, comparisons, int(n), miss, generator)
    compared = comparisons[bound.comparison]
    groups = compared.groups
    claimed = float(compared.claims[bound.pair])
    checks = [
        check_bound(bound, claimed, miss, groups, reports),
        *check_draws(subject, copies, int(n), int(calls), processes, miss, generator),
    ]
    if fitted is not None:
        checks.append(_check_seed(fitted.random_state))
    passes_through = any(c.name == "unknown" and not c.passed for c in checks)
    first, second = bound.pair
    return Audit(
        subject=_name(sanitizer, fitted),
        eps=math.inf if passes_through else bound.eps,
        eps_estimate=bound.estimate,
        eps_claimed=claimed,
        level=float(level),
        n=int(n),
        distribution=compared.distribution,
        secrets=(groups.names[first], groups.names[second]),
        reports=reports,
        event=tuple(seen.row(number) for number in bound.event),
        counts=bound.counts,
        totals=bound.totals,
        checks=tuple(checks),
        about=groups.about(first),
    )


# --- What is audited, and at which distributions
# ----------------------------------------------------------


def _check_seed(seed: Any) -> Check:
    if seed is None:
        return Check("random_state", True, 1.0, "randomness comes from the operating system")
    return Check("random_state", False, 0.0, repeatable(seed))


def _check(n: Any, eps: Any, level: Any, reports: Any, calls: Any, processes: Any) -> None:
    if not (is_whole(n) and n >= 1):
        raise ValueError(f"n={shown(n)} must be a whole number of records.")
    if eps is not None and not (is_number(eps) and eps >= 0):
        raise ValueError(f"eps={shown(eps)} must be None or a number >= 0 (in nats).")
    if not (is_number(level) and 0.0 < level < 1.0):
        raise ValueError(f"level={shown(level)} must be a confidence between 0 and 1.")
    if not (is_whole(reports) and reports >= 1):
        raise ValueError(
            f"reports={shown(reports)} must be a whole number >= 1: how many reports about each "
            "person are seen."
        )
    if not (is_whole(calls) and calls >= 2):
        raise ValueError(
            f"calls={shown(calls)} must be a whole number >= 2: how many calls are short."
        )
    check_flag("processes", processes)


def _subject(
    sanitizer: Any,
    fitted: Any,
    distribution: Any,
    eps: float | None,
    reports: int,
    mechanism: Mechanism | None,
) -> tuple[Subject, list[Comparison]]:
    """Return the black box, and what is compared at each distribution, at least one pair."""
    if fitted is not None:
        if mechanism is not None:
            raise ValueError("mechanism= is for functions: a sanitizer has its own, mechanism_.")
        sane = SanitizerSubject.of(fitted)
        return sane, _sanitizer_comparisons(sane, fitted, distribution, eps, reports)
    if not callable(sanitizer) or isinstance(sanitizer, type):
        what = getattr(sanitizer, "__name__", type(sanitizer).__name__)
        mend = ""
        if isinstance(sanitizer, type):
            mend = f": write {what}().fit(X)"
        elif isinstance(sanitizer, Manifest) or as_block_sanitizer(sanitizer) is not None:
            mend = (
                ": audit the sanitizers of its blocks, sanitizers_; or what samples a block, as a "
                "function, with mechanism=manifest.mechanisms[k]"
            )
        elif hasattr(sanitizer, "transform"):
            mend = (
                ": audit its transform, "
                "audit(pipeline.transform, distribution=JointDistribution(...)), or the step that "
                "is a sanitizer"
            )
        raise TypeError(f"a fitted sanitizer or a function is needed, got {what}{mend}.")
    listed = list(distribution) if isinstance(distribution, list | tuple) else [distribution]
    if not listed or not all(isinstance(one, JointDistribution) for one in listed):
        raise ValueError(
            "a function is audited on the values of a distribution: give "
            "distribution=JointDistribution(counts, secrets, values), or a list of them."
        )
    names = {(one.secrets, one.values) for one in listed}
    if len(names) > 1:
        raise ValueError("the distributions must have the same secrets and the same values.")
    if mechanism is not None and names != {(mechanism.secrets, mechanism.values)}:
        raise ValueError(
            "the distribution's secrets and values are not those of the mechanism, in their order."
        )
    subject = CallableSubject.of(sanitizer, listed[0], mechanism)
    groups = Groups.of_secrets(subject.secrets, len(subject.values))
    found = []
    for one in listed:
        claim = eps
        if claim is None and mechanism is not None:
            claim = repeated_leakage(mechanism, one.probabilities, reports)
        claims = np.full(groups.compared.shape, math.nan if claim is None else float(claim))
        found.append(Comparison(groups, one.probabilities, claims))
    return subject, _comparable(found, [one.probabilities for one in listed])


def _sanitizer_comparisons(
    subject: Subject, fitted: Any, distribution: Any, eps: float | None, reports: int
) -> list[Comparison]:
    """Compare what is promised, at the distributions that are given or at the worst ones."""
    given = None if distribution is None else _given_distributions(fitted.joint_, distribution)
    public = fitted.joint_.probabilities
    found = []
    for claim in claims_of(fitted, reports):
        if claim.groups.within and eps is not None:
            continue  # the claim is about the reports alone
        worst = claim.certificate.distribution
        own = given or ([worst] if np.array_equal(worst, public) else [worst, public])
        for one in own:
            if eps is None:
                found.append(claim.at(fitted, subject, one))
            else:
                claims = np.full(claim.bounds.shape, float(eps))
                found.append(Comparison(claim.groups, one, claims))
    return _comparable(found, given or [])


def _comparable(comparisons: list[Comparison], given: Sequence[Floats]) -> list[Comparison]:
    """Take the comparisons that have a pair to compare, or refuse distributions without."""
    found = [one for one in comparisons if len(one.present)]
    if not found or min(map(_secrets_of, given), default=2) < 2:
        raise ValueError(
            "the distribution gives mass to one secret only, so there is no pair of secrets to "
            "compare (or to no two that the sanitizer protects from each other)."
        )
    return found


def _kind(comparisons: Sequence[Comparison]) -> str:
    return "secrets" if comparisons[0].groups.all_secrets and len(comparisons) < 3 else "groups"


def _given_distributions(joint: JointDistribution, distribution: Any) -> list[Floats]:
    several = isinstance(distribution, list | tuple | np.ndarray) and (
        len(distribution) == 0
        or isinstance(distribution[0], JointDistribution)
        or np.ndim(distribution[0]) == 2
    )
    listed = list(distribution) if several else [distribution]
    if not listed:
        raise ValueError("distribution is an empty list: give at least one distribution, or None.")
    return [_distribution_on(joint, one) for one in listed]


def _distribution_on(joint: JointDistribution, distribution: Any) -> Floats:
    """Check one distribution of a sanitizer's alphabets, and normalise it."""
    if isinstance(distribution, JointDistribution):
        plain = tuple(range(len(distribution.secrets))), tuple(range(len(distribution.values)))
        if (distribution.secrets, distribution.values) not in (
            plain,
            (joint.secrets, joint.values),
        ):
            raise ValueError(
                "the distribution's secrets and values are not those of the sanitizer, "
                "joint_.secrets and joint_.values, in their order."
            )
        distribution = distribution.probabilities
    refuse_masked(distribution, "the distribution")
    try:
        table = np.asarray(distribution, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"distribution={shown(distribution)} must be an array of probabilities."
        ) from error
    if table.shape != joint.counts.shape:
        raise ValueError(
            f"the distribution must have shape {joint.counts.shape}, got {table.shape}."
        )
    if not np.all(np.isfinite(table)) or np.any(table < 0) or not table.any():
        raise ValueError("the distribution must hold finite probabilities >= 0, not all of them 0.")
    return table / table.sum()


def _secrets_of(distribution: Floats) -> int:
    """How many secrets a distribution has."""
    return int((distribution.sum(axis=1) > 0).sum())


def _name(sanitizer: Any, fitted: Any) -> str:
    if fitted is not None:
        return type(fitted).__name__
    return getattr(sanitizer, "__qualname__", type(sanitizer).__name__)
