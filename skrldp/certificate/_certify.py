"""The certificate: a proved bound, and the worst distribution found."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from skrldp._arrays import ReadOnly, real_numbers
from skrldp._lists_in_words import cells_in_words
from skrldp._pages import page
from skrldp._params import at_least, at_most
from skrldp._typing import Floats, Indices
from skrldp.alphabet.values import plain_name
from skrldp.certificate._leakage import LeakageBound, bound_over, dense_view, mechanism_views
from skrldp.certificate._several_reports import WORK, SeveralReports
from skrldp.certificate._witness import states, witness_of
from skrldp.claims import Claim, Claims, check_reports
from skrldp.claims_in_words import brief_bound, claim_lines, set_in_short
from skrldp.joint import JointDistribution
from skrldp.mechanism.all_distributions import inwards, leakage_over_all, times
from skrldp.mechanism.manifest import Manifest
from skrldp.mechanism.mechanism import Mechanism
from skrldp.privacy.requirements import Requirement, Requirements
from skrldp.sets.fitted_sets import FittedSet, fitted_set

if TYPE_CHECKING:
    from skrldp.sets.parameter_objects import AllDistributions, LikelihoodRatioSet, RenyiBall


@dataclass(frozen=True, eq=False)
class Certificate(ReadOnly):
    """The proof of a mechanism's leakage: its claims, and the worst distribution found.

    Attributes
    ----------
    claims : Claims
        All proved claims; the numbers below are read from them.
    distribution : array of shape (a1, a2)
        The worst distribution found, inside the set.
    uncertainty : FittedSet
        The set of distributions for which ``eps`` holds.
    reports : int
        Number of independent reports about one record that an observer sees. The numbers below are
        about that many reports; over all distributions, those of k reports are k times those of
        one.
    distribution_known : array of shape (a1, a2) or None
        The worst distribution found for an observer who knows columns of U, inside their set.
    """

    claims: Claims
    distribution: Floats
    uncertainty: FittedSet
    reports: int = 1
    distribution_known: Floats | None = None
    _subject: tuple[Mechanism, JointDistribution] | None = field(default=None, repr=False)

    @property
    def claim(self) -> Claim:
        """The claim about this many reports, to an observer who knows nothing else."""
        claim = self.claims.find(reports=self.reports, record="same")
        claim = claim or self.claims.find(reports=self.reports)
        assert claim is not None
        return claim

    @property
    def eps(self) -> float:
        """Upper bound on the leakage at every distribution of the set, in nats."""
        return self.claim.eps

    @property
    def eps_attained(self) -> float:
        """Leakage at ``distribution``, in nats, so that no smaller bound is true."""
        return self.claim.attained

    @property
    def eps_worst_case(self) -> float:
        """Upper bound on the leakage at all distributions, in nats; exact up to rounding.

        Infinite if a report rules out a secret for some values of U.
        """
        return times(self.reports, self.claims.eps_worst_case)

    @property
    def eps_given_u(self) -> float:
        """Upper bound on the leakage to observers who know U, in nats; at most `eps_worst_case`."""
        return times(self.reports, self.claims.eps_given_u)

    def about(self, mechanism: Mechanism, joint: JointDistribution) -> "Certificate":
        """Bind the certificate to the mechanism that has these claims, for :meth:`witness`."""
        return replace(self, _subject=(mechanism, joint))

    def witness(self) -> str:
        """Write the multipliers with which anybody can check the proof, by :func:`verify`.

        They are short decimals for every report, secret and side that extremes alone do not clear;
        see the guide on certificates. They need no protection, because wrong multipliers cannot
        make a false claim pass.

        Returns
        -------
        str
            JSON, bound to the mechanism and to the public counts by their digests.

        Raises
        ------
        ValueError
            If the certificate does not belong to a `Mechanism` with claims about the same set.
        CertificateError
            If no multipliers were found that prove the claims.

        Examples
        --------
        >>> from skrldp import PolyOptSanitizer
        >>> from skrldp.certificate import counts_to_json, verify
        >>> rows = [["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]]
        >>> san = PolyOptSanitizer(eps=1, sensitive=0, categories=[["a", "b"], ["x", "y"]])
        >>> san = san.fit(rows, sample_weight=[70, 100, 260, 570])
        >>> texts = san.mechanism_.to_json(), counts_to_json(san.joint_)
        >>> verify(*texts, san.certificate_.witness()).message
        'holds'
        """
        if self._subject is None:
            raise ValueError(
                "only certificates of fitted sanitizers have a witness, and those of "
                "certify(mechanism, set, joint) with a Mechanism whose claims are about this set."
            )
        several = self.eps if self.reports > 1 else None
        return witness_of(*self._subject, several, self.reports)

    def holds(self, eps: float) -> bool:
        """Return whether the mechanism is proved private at this ε.

        Parameters
        ----------
        eps : float
            Privacy parameter, in nats.

        Returns
        -------
        bool
        """
        return self.eps <= eps

    def __repr__(self) -> str:
        figures = [brief_bound(self.eps), f"attained {at_least(self.eps_attained, '.4g')}"]
        if self.reports > 1 or math.isfinite(self.eps_worst_case):
            figures.append(f"eps_worst_case<={at_most(self.eps_worst_case, '.4g')}")
        if self.reports > 1:
            figures.append(f"reports={self.reports}")
        return f"Certificate({', '.join(figures)}, {set_in_short(self.claim.around)})"

    def _repr_html_(self) -> str:
        a1, a2 = self.distribution.shape
        rows = [*claim_lines(self.claims), ("cells", cells_in_words(a1, a2))]
        return page("Certificate", rows)


def certify(
    mechanism: Mechanism | ArrayLike,
    uncertainty: "LikelihoodRatioSet | RenyiBall | AllDistributions | FittedSet",
    joint: JointDistribution,
    reports: int = 1,
) -> Certificate:
    """Prove a bound on any mechanism's leakage over an uncertainty set.

    Parameters
    ----------
    mechanism : Mechanism or array of shape (b, a1 * a2)
        Any mechanism, designed or hand-written. A `Mechanism` names its secrets and values, which
        must be those of ``joint`` in any order. An array contains probabilities whose columns sum
        to 1 up to rounding, with cells in the order ``s * a2 + u`` of ``joint``.
    uncertainty : RenyiBall, AllDistributions or FittedSet
        The set of distributions.
    joint : JointDistribution
        The public distribution at the centre of the set.
    reports : int
        Number of independent reports about one record that an observer sees. All combinations of
        reports are examined if that takes a few seconds at most; otherwise the bound is that of as
        many reports as can be examined, plus ``eps_worst_case`` for each further one.

    Returns
    -------
    Certificate
        ``eps`` is infinite if a report rules out a secret at some distribution of the set.

    Raises
    ------
    TypeError
        If an estimator or a manifest is given.
    ValueError
        If the matrix is not a mechanism on the cells of ``joint``, if the secrets or values of a
        `Mechanism` differ from those of ``joint``, or if ``reports`` is not an integer >= 1.

    Examples
    --------
    >>> from skrldp import RenyiBall
    >>> joint = JointDistribution([[7, 10], [26, 57]])
    >>> response = [[0.4, 0.4, 0.2, 0.2], [0.6, 0.6, 0.8, 0.8]]
    >>> certify(response, RenyiBall(), joint)
    Certificate(eps<=0.6932, attained 0.6931, eps_worst_case<=0.6932, alpha=2, B=0.07524)

    This mechanism depends only on S, so that k reports leak k times as much. If a mechanism depends
    only on U, which is nearly independent of S over the whole set, they leak less:

    >>> of_u = [[0.4, 0.6, 0.4, 0.6], [0.6, 0.4, 0.6, 0.4]]
    >>> for k in 1, 2, 3:
    ...     print(round(certify(of_u, RenyiBall(), joint, reports=k).eps, 3))
    0.18
    0.354
    0.511
    """
    check_reports(reports)
    fitted = fitted_set(joint, uncertainty)
    if not isinstance(mechanism, Mechanism):
        return prove_reports(checked_matrix(mechanism, joint), joint, fitted, [reports])[0]
    # The proof is in the mechanism's order; the worst distribution is stated in the table's.
    order = order_in_table(joint, mechanism)
    cells, fitted, survey = np.ix_(*order), fitted.arranged(*order), joint.survey
    if survey is not None:
        old = np.arange(joint.counts.size).reshape(joint.counts.shape)
        survey = survey.arranged(np.argsort(old[cells], axis=None), old.size)
    reordered = JointDistribution(
        joint.counts[cells],
        mechanism.secrets,
        mechanism.values,
        alphabet=joint.alphabet,
        most_values=joint.most_values,
        beta_of_values=joint.beta_of_values,
        survey=survey,
    )
    certificate = prove_reports(mechanism, reordered, fitted, [reports])[0]
    distribution = np.empty_like(certificate.distribution)
    distribution[cells] = certificate.distribution
    certificate = replace(certificate, distribution=distribution)
    return certificate.about(mechanism, reordered) if states(mechanism, fitted) else certificate


def prove(
    mechanism: Mechanism | Floats,
    promise: Requirements,
    callback: Callable[[int], None] | None = None,
    *,
    start: float = 0.0,
) -> Certificate:
    """Prove the requested bounds, and make the claims of a mechanism or its probabilities.

    No bound below `start` is tried, so that verifying a stated bound needs no search.

    Returns Certificate: its claims state what was requested, whether it is met or not.
    """
    first, for_all = promise.items[0], promise.for_all
    form = mechanism.form if isinstance(mechanism, Mechanism) else mechanism
    worst_case, given_u = leakage_over_all(form, first.region.n_secrets)
    claims, bounds = [], []
    for item in promise:
        if item is not for_all:
            assert item.claim is not None
            bounds.append(_bound(mechanism, item, promise.joint, callback, start))
            claims.append(item.claim.proven(min(bounds[-1].eps, worst_case), bounds[-1].attained))
    # The bound over all distributions is one over each set as well, and may be less by its last
    # digit.
    secret, further = claims[0].secret, []
    if not claims[0].around.is_everything:
        limit = None if for_all is None or for_all.claim is None else for_all.claim.asked
        further.append(Claim(worst_case, inwards(worst_case), secret=secret, asked=limit))
    if promise.joint.counts.shape[1] > 1:  # otherwise no column of U could be known
        given_u = min(given_u, *(claim.eps for claim in further or claims[:1]))
        further.append(Claim(given_u, inwards(given_u), secret=secret, known="all"))
    claims += [claim for claim in further if claim.asked is not None or math.isfinite(claim.eps)]
    return Certificate(
        Claims(tuple(claims)),
        bounds[0].distribution,
        first.region.uncertainty,
        distribution_known=bounds[1].distribution if len(bounds) > 1 else None,
    )


def _bound(
    mechanism: Mechanism | Floats,
    requirement: Requirement,
    public: JointDistribution,
    callback: Callable[[int], None] | None,
    start: float,
) -> LeakageBound:
    """Bound the leakage of the secrets of a requirement over its set."""
    region, layout = requirement.region, requirement.region.rows
    assert requirement.claim is not None and requirement.joint is not None
    plain = not requirement.claim.known
    if not plain or layout.shared:
        region = replace(region, layout=None)
    if plain and isinstance(mechanism, Mechanism):
        views = list(mechanism_views(mechanism, region))
    else:
        rows = mechanism.matrix if isinstance(mechanism, Mechanism) else mechanism
        if not plain:  # without the secret, all columns are equal
            rows = layout.spread(rows[:, : layout.n_cells])
        views = [dense_view(rows, region)]
    uncertainty = region.uncertainty
    bound = bound_over(
        lambda: views, requirement.joint, uncertainty, callback=callback, start=start
    )
    if plain:
        return bound
    return replace(bound, distribution=requirement.whole_distribution(bound.distribution, public))


def prove_reports(
    mechanism: Mechanism | Floats,
    joint: JointDistribution,
    uncertainty: FittedSet,
    reports: Sequence[int] = (1, 2, 3, 10),
    *,
    first: Certificate | None = None,
    work: float = WORK,
) -> tuple[Certificate, ...]:
    """Certify several numbers of reports about one record; see :func:`certify`.

    The mechanism may be its probabilities. Returns tuple of Certificate: one for each number, in
    the same order. Raises ValueError if one of the numbers is not an integer >= 1.
    """
    for k in reports:
        check_reports(k)
    promise = Requirements.asked(joint, uncertainty)
    if first is None:
        first = prove(mechanism, promise)
    if isinstance(mechanism, Mechanism) and mechanism.is_rounded:
        # A number that is rounded again is a different record (docs/proofs.md, Theorem 41). The
        # bound for an unchanged record holds for keyed reports, which keep the rounding. It is not
        # stated, because clients without a key use the same claims.
        summed = {k: first.claims.find(reports=int(k)) for k in reports}
        return tuple(
            replace(first, claims=first.claims.with_more([claim] * (k > 1)), reports=int(k))
            for k, claim in summed.items()
            if claim is not None
        )
    bound_of_one = LeakageBound(first.eps, first.eps_attained, first.distribution)
    region = promise.items[0].region
    several = SeveralReports(
        mechanism, region, joint, uncertainty, bound_of_one, first.eps_worst_case, work
    )
    bounds = {k: several.bound(k) for k in sorted({int(k) for k in reports})}
    return tuple(_several(first, int(k), bounds[int(k)]) for k in reports)


def _several(first: Certificate, k: int, bound: LeakageBound) -> Certificate:
    """Derive the certificate of k reports from that of one."""
    if k == 1:
        return first
    eps = min(bound.eps, times(k, first.eps_worst_case))
    claim = replace(
        first.claim,
        eps=eps,
        attained=min(bound.attained, eps),
        reports=k,
        asked=None,
        how="proof" if bound.enumerated else "composition",
    )
    claims = first.claims.with_more([claim])
    return Certificate(claims, bound.distribution, first.uncertainty, k)


# --- What is certified ----------------------------------------------------------------------------


# Sums of b probabilities that were divided by their sum are 1 up to slightly more than b units of
# rounding. Twice as many would accept sums that deviate by about 1e-15 more.
_LAST_DIGITS = 4


def checked_matrix(matrix: ArrayLike, joint: JointDistribution) -> Floats:
    """Check that an array is a mechanism without changing it, so that the proof is about it."""
    of_blocks = isinstance(matrix, Manifest) or hasattr(matrix, "manifest_")
    if of_blocks or hasattr(matrix, "get_params"):
        way = "pass its `mechanism_` after fit."
        if of_blocks:
            way = (
                "certify each block's, manifest.mechanisms[k], around the public distribution of "
                "its columns, sanitizers_[k].joint_. A report leaks no more than the worst of them."
            )
        raise TypeError(f"Expected a mechanism, got {type(matrix).__name__}: {way}")
    numbers = real_numbers(matrix, "the mechanism")
    Mechanism.from_matrix(numbers, joint.secrets, joint.values)  # checks shape and signs
    table = numbers.astype(float)
    off = np.abs(table.sum(axis=0) - 1.0)
    if off.max() > (len(table) + _LAST_DIGITS) * np.finfo(float).eps:
        raise ValueError(
            f"column {int(off.argmax())} of the mechanism deviates from a sum of 1 by "
            f"{off.max():.1g}. Divide by the sums: matrix / matrix.sum(axis=0)."
        )
    return table


def order_in_table(joint: JointDistribution, mechanism: Mechanism) -> tuple[Indices, Indices]:
    """Locate the mechanism's secrets and values in the alphabets of the public table.

    Returns `secrets, values` (a1,): for each secret and value of the mechanism, its index in the
    table. Raises ValueError if the mechanism's secrets or values differ from the table's.
    """
    theirs, ours = (mechanism.secrets, mechanism.values), (joint.secrets, joint.values)
    if tuple(map(len, theirs)) != tuple(map(len, ours)):
        raise ValueError(
            f"the mechanism has {len(theirs[0])} secrets and {mechanism.shape[1]} cells, but the "
            f"public distribution has {joint.counts.shape[0]} and {joint.counts.size}."
        )
    return _places(theirs[0], ours[0], "secret"), _places(theirs[1], ours[1], "value of U")


def _places(names: Sequence[Any], table: Sequence[Any], label: str) -> Indices:
    if tuple(names) == tuple(table):
        return np.arange(len(table))
    position = {plain_name(name): i for i, name in enumerate(table)}
    if len(position) < len(table) or len({plain_name(name) for name in names}) < len(names):
        raise ValueError(
            f"two {label}s have the same name, so those of the mechanism and of the public "
            "distribution cannot be matched: give each a unique name."
        )
    for name in names:
        if plain_name(name) not in position:
            raise ValueError(
                f"the mechanism's {label} {name!r} is not in the public distribution. Use the "
                "mechanism's names in JointDistribution(counts, secrets, values)."
            )
    return np.array([position[plain_name(name)] for name in names])
