"""From a fitted sanitizer to its privacy report."""

from typing import Any

import numpy as np

from skrldp.certificate import certify
from skrldp.claims import Around
from skrldp.mechanism.mechanism import Mechanism
from skrldp.sanitizers.access import (
    as_block_sanitizer,
    fitted_sanitizer,
    known_columns,
)
from skrldp.sanitizers.parameters import default_uncertainty
from skrldp.sanitizers.warnings import explain_rare_cells
from skrldp.sets.fitted_sets import RenyiSet
from skrldp.statement._blocks import in_all_blocks, warnings_of_blocks
from skrldp.statement._by_secret import figures_by_secret
from skrldp.statement._expected_errors import (
    error_warnings,
    expected_errors,
    expected_errors_of_columns,
)
from skrldp.statement._parts import (
    Beyond,
    CoveredSet,
    Promised,
    PublicTable,
    ReportFigures,
    Utility,
    WorstCase,
)
from skrldp.statement._report import PrivacyReport
from skrldp.statement._several import claims_of
from skrldp.statement._warnings import (
    notes_of,
    warnings_of,
    warnings_of_design,
    warnings_of_use,
)
from skrldp.statement._worst import worst_case

__all__ = ["privacy_report"]

_ENTRIES = 20_000_000  # of the reports' distribution; the worst report is not searched for in more


def privacy_report(sanitizer: Any) -> PrivacyReport:
    """State what a fitted sanitizer promises, to whom it applies, and what it does not promise.

    Parameters
    ----------
    sanitizer : sanitizer
        A fitted one, or a Pipeline that ends in one, or either in a FrozenEstimator. The report of
        a :class:`~skrldp.BlockSanitizer` is one page about all blocks together. For a pipeline, the
        report is about the last step: the steps before it must not depend on private records.

    Returns
    -------
    PrivacyReport

    Raises
    ------
    TypeError
        If it is no sanitizer.
    NotFittedError
        If it has not been fitted.

    Examples
    --------
    >>> from skrldp import SRRSanitizer, privacy_report
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0)
    >>> report = privacy_report(sanitizer.fit(X, sample_weight=[7, 10, 26, 57]))
    >>> report.eps_proven <= 1.0, report.coverage, report.warnings
    (True, 'all distributions', ())
    >>> print(report)
    Privacy report: SRRSanitizer
    In short
      - Protected: column 0. Not protected: column 1.
      - One report multiplies the odds of any two values of column 0 by at most 2.72: what
        was as likely as not is at most 73.2 % likely afterwards.
      - This is proven for every population.
      ...
    """
    blocks = as_block_sanitizer(sanitizer)
    if blocks is not None:
        return _of_blocks(blocks)
    fitted = fitted_sanitizer(sanitizer)
    rare_cells = explain_rare_cells(fitted.certificate_.uncertainty, fitted.joint_)
    figures = _figures(fitted, Beyond.of(claims_of(fitted)), expected_errors(fitted), rare_cells)
    return PrivacyReport(
        **vars(figures),
        digest=fitted.mechanism_.digest,
        warnings=warnings_of(figures, fitted, rare_cells),
        notes=notes_of(figures, fitted, fitted.mechanism_.others or ()),
    )


def _of_blocks(sanitizer: Any) -> PrivacyReport:
    """Put the blocks of a BlockSanitizer on one page."""
    beyond, errors = Beyond.of(sanitizer.manifest_.claims), expected_errors_of_columns(sanitizer)
    each, told = [], []
    for block, one in zip(sanitizer.blocks_, sanitizer.sanitizers_, strict=True):
        rare_cells = explain_rare_cells(one.certificate_.uncertainty, one.joint_)
        figures = _figures(one, beyond, errors, rare_cells)
        each.append(figures)
        told.append((block, warnings_of_design(figures, one, rare_cells)))
    whole = in_all_blocks(sanitizer, each)
    worst = sanitizer.sanitizers_[[one.proof.eps_proven for one in each].index(whole.eps_proven)]
    others = [o for one in sanitizer.sanitizers_ for o in one.mechanism_.others or ()]
    return PrivacyReport(
        **vars(whole),
        digest=sanitizer.manifest_.digest,
        warnings=(
            *warnings_of_use(whole, sanitizer),
            *warnings_of_blocks(told),
            *error_warnings(whole),
        ),
        notes=notes_of(whole, worst, others, sanitizer.manifest_.bins),
    )


def _figures(
    fitted: Any, beyond: Beyond, errors: dict[str, dict[str, float]], rare_cells: str
) -> ReportFigures:
    return ReportFigures(
        type(fitted).__name__,
        _promised(fitted),
        _worst_case(fitted),
        _covered(fitted, few_records=bool(rare_cells)),
        beyond,
        _public_table(fitted),
        _utility(fitted, errors),
    )


def _promised(fitted: Any) -> Promised:
    mechanism = fitted.mechanism_
    return Promised(
        eps=mechanism.claims.main.asked,
        sensitive=tuple(name for name, flag in mechanism.columns if flag),
        nonsensitive=tuple(name for name, flag in mechanism.columns if not flag),
        known=known_columns(fitted),
        observe=mechanism.observe,
    )


def _worst_case(fitted: Any) -> WorstCase:
    joint, certificate, mechanism = fitted.joint_, fitted.certificate_, fitted.mechanism_
    few = mechanism.shape[0] * len(joint.secrets) <= _ENTRIES
    report, pair = worst_case(mechanism, certificate) if few else (None, None)
    return WorstCase(
        eps_proven=certificate.eps,
        eps_attained=certificate.eps_attained,
        eps_at_public=mechanism.leakage(joint.probabilities) if few else None,
        eps_over_set=_over_set(fitted) if certificate.uncertainty.is_point else None,
        eps_record=_over_records(mechanism),
        worst_distribution=certificate.distribution,
        worst_pair=pair,
        worst_report=report,
    )


def _covered(fitted: Any, few_records: bool) -> CoveredSet:
    around, alphabet = fitted.certificate_.claims.main.around, fitted.joint_.alphabet
    figures = (
        "alpha",
        "radius",
        "single",
        "pair",
        "drift",
    )  # None where the set is of another kind
    found = {name: around.numbers.get(name) for name in figures}
    return CoveredSet(
        holds_for=around.describe(),
        coverage=_coverage(around),
        **found,
        alphabet=alphabet,
        few_records=few_records,
    )


def _coverage(around: Around) -> str:
    """Say where the probability comes from with which the set misses the true distribution."""
    if around.is_point:
        return "public distribution"
    if around.is_everything:
        return "all distributions"
    if around.beta is None:
        return "given"
    return "finite-sample" if around.rule == "finite-sample" else "asymptotic"


def _public_table(fitted: Any) -> PublicTable:
    joint = fitted.joint_
    records = joint.counts.sum(axis=1)
    return PublicTable(
        n=joint.n,
        n_cells=joint.counts.size,
        shape=joint.counts.shape,
        secrets=joint.secrets,
        records_by_secret=records,
        zero_cells=int((joint.counts == 0).sum()),
        unseen_secrets=tuple(s for s, n in zip(joint.secrets, records, strict=True) if not n),
    )


def _utility(fitted: Any, errors: dict[str, dict[str, float]]) -> Utility:
    joint, mechanism, solution = fitted.joint_, fitted.mechanism_, fitted.solution_
    information = mechanism.mutual_information(joint.probabilities)
    return Utility(
        n_reports=mechanism.shape[0],
        mutual_information=information,
        normalized_mutual_information=(
            min(1.0, information / joint.entropy) if joint.entropy > 0 else 0.0
        ),
        **figures_by_secret(fitted),
        expected_errors=errors,
        distortion=getattr(fitted, "distortion_", None),
        worst_case_distortion=getattr(fitted, "worst_case_distortion_", None),
        worst_case_set=_set_for_utility(fitted),
        status=solution.status,
        gap=solution.gap,
        gap_in_words=solution.gap_in_words,
    )


def _over_set(fitted: Any) -> float:
    """Bound the leakage over the sanitizer's own set, or the default one if that is a point."""
    joint = fitted.joint_
    around = fitted.uncertainty_.fit_set(joint)
    if around.is_point:
        default = default_uncertainty()
        if joint.survey is not None:  # whose records are not independent
            default.set_params(radius="asymptotic")
        around = default.fit_set(joint)
    return certify(fitted.mechanism_, around, joint).eps


def _over_records(mechanism: Mechanism) -> float:
    """Return the logarithm of the greatest ratio of a report's probabilities given two records."""
    a1, a2 = len(mechanism.secrets), len(mechanism.values)
    if mechanism.form.blocks is None:
        n_columns = a2 if mechanism.observe == "nonsensitive" else a1 * a2
        of_record = mechanism.form.columns(np.arange(n_columns))
    else:  # a fit has two secrets and two values at least, so each row has all four
        of_record = np.array([mechanism.form.blocks])
    most, least = of_record.max(axis=1), of_record.min(axis=1)
    with np.errstate(divide="ignore"):
        return float(np.log(most[most > 0] / least[most > 0]).max())


def _set_for_utility(fitted: Any) -> str | None:
    """Say in words what a worst distance is over, and with which probability that misses."""
    uncertainty = getattr(fitted, "utility_uncertainty_", None)
    if uncertainty is None:
        return None
    rule, beta = getattr(uncertainty, "radius", None), None
    if isinstance(rule, str):
        beta = uncertainty.beta
    else:
        rule = "given"
    # The line of the privacy set says on what a beta is conditional, if that set has one.
    private, alphabet = fitted.certificate_.claims.main.around, fitted.joint_.alphabet_for(beta)
    said = private.beta is None or private.values_from != alphabet
    return (
        RenyiSet(uncertainty.alpha, uncertainty.B_, rule, beta)
        .stated(alphabet)
        .in_words(source=said)
    )
