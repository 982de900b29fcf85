"""The lines of a privacy report: what each figure says."""

import math

from skrldp._params import at_most
from skrldp._sentences import (
    BY_COMPOSITION,
    NO_BOUND,
    amount,
    attained_at_worst,
    bound,
    cells_in_words,
    factor,
    odds,
    protected,
    sees,
    series,
    told_u,
    who_knows,
)
from skrldp.mechanism.guarantee import bound_of_several
from skrldp.statement._blocks import block_in_words, block_lines
from skrldp.statement._by_secret import lines_by_secret
from skrldp.statement._parts import Beyond, ReportFigures

__all__ = ["lines_of"]

Line = tuple[str, str]

# Bounds that are written with four digits are called attained if they are up to this share.
_CLOSE = 1e-4


def lines_of(report: ReportFigures) -> list[Line]:
    """Return the lines of a report, each with its label."""
    return [
        *_promise(report),
        *_worst(report),
        *block_lines(report),
        ("k reports", _reports(report.beyond)),
        ("knows U" if report.promise.nonsensitive else "knows more", _knows_u(report)),
        *_other_statements(report),
        *_table_and_utility(report),
    ]


def _promise(report: ReportFigures) -> list[Line]:
    promise, proof = report.promise, report.proof
    too = ": protected as well" if proof.eps_record <= promise.eps else ": not protected"
    return [
        (
            "protects",
            protected(promise.sensitive, promise.nonsensitive)
            + (too if promise.nonsensitive else ""),
        ),
        (
            "asked",
            f"eps = {at_most(promise.eps, '.6g')}: a report changes the odds of a secret by a "
            f"factor of at most {odds(promise.eps)}",
        ),
        (
            "proven",
            f"{bound(proof.eps_proven, '.6f')}, of the mechanism as it is sampled; "
            f"{attained_at_worst(proof.eps_attained, '.6f')}",
        ),
        ("holds for", _of_block(report) + report.covered.set_in_words),
        *([("assumes", report.covered.sampling)] if report.covered.sampling else []),
    ]


def _of_block(report: ReportFigures) -> str:
    """Name the worst block, if there are blocks."""
    if report.blocks is None:
        return ""
    return f"of the block {block_in_words(report.blocks.worst_block)}: "


def _worst(report: ReportFigures) -> list[Line]:
    shown, proof = [], report.proof
    if proof.eps_at_public is not None:
        shown.append(
            (
                "at public",
                f"leakage {proof.eps_at_public:.6f}, if the public distribution is the true one",
            )
        )
    if proof.eps_over_set is not None:
        leak = amount(proof.eps_over_set)
        shown.append(("over a set", f"{leak} can leak at the distributions of a confidence set"))
    if proof.worst_pair is not None:
        first, second = proof.worst_pair
        shown.append(
            (
                "worst case",
                f"{_of_block(report)}report {proof.worst_report!r} is "
                f"{factor(proof.eps_attained)} times as probable for secret {first!r} as for "
                f"{second!r}",
            )
        )
    return shown


# --- further reports, and observers who know more


def _reports(beyond: Beyond) -> str:
    """State the bounds of several reports, grouped by how they were found."""
    found: dict[str, list[str]] = {}
    for k, eps in beyond.eps_of_reports.items():
        if math.isinf(eps):
            found.setdefault("none", []).append(f"{k}")
            continue
        if eps - beyond.attained_of_reports[k] <= _CLOSE * eps:
            how = "exact, attained by some distribution"
        elif k in beyond.summed_reports:
            how = BY_COMPOSITION
        else:
            how = "from all combinations of reports; the true value may be lower"
        found.setdefault(how, []).append(f"{at_most(eps, '.4g')} for k = {k}")
    unbounded = found.pop("none", [])
    said = [f"eps <= {series(figures)} ({how})" for how, figures in found.items()]
    if unbounded:
        said.append(f"for k = {series(unbounded)} {NO_BOUND}")
    all_k = " at most k times the proven eps" if beyond.adds_up else ""
    changed = _if_u_changes(beyond)
    same = " whose record stays the same," if changed else ""
    return f"about one person{same} together{all_k}: {'; '.join(said)}{changed}"


def _if_u_changes(beyond: Beyond) -> str:
    """Bound several reports about records whose U differs, where those of one record leak less.

    The sum of one bound over the set and others over all distributions holds for them as well;
    what is found from combinations of reports is about one record.
    """
    one, *more = beyond.eps_of_reports
    sums = {k: bound_of_several(beyond.eps_of_reports[one], beyond.eps_all, k) for k in more}
    if all(beyond.eps_of_reports[k] >= eps for k, eps in sums.items()):
        return ""
    if math.isinf(beyond.eps_all):
        return f"; if U changes in between {NO_BOUND}"
    figures = [f"{at_most(eps, '.4g')} for k = {k}" for k, eps in sums.items()]
    return f"; if U changes in between: eps <= {series(figures)}"


def _knows_u(report: ReportFigures) -> str:
    """State the bounds for somebody who knows U, exactly or anything about it."""
    exactly, anything = report.beyond.eps_given_u, report.beyond.eps_all
    each = f"{bound(anything, '.4g')} for each report"
    if not report.promise.nonsensitive:
        return f"to somebody who knows anything about a person: {each}"
    if exactly == anything and math.isfinite(anything):
        return f"to somebody who knows U, or anything else about a person: {each}"
    said = told_u(exactly, ".4g")
    if math.isinf(anything):
        return f"{said}; for other knowledge about a person {NO_BOUND}"
    return f"{said}; to somebody who knows anything else about a person: {each}"


# --- other statements


def _other_statements(report: ReportFigures) -> list[Line]:
    shown, beyond = [], report.beyond
    if beyond.eps_known is not None:
        shown.append(
            (
                "known columns",
                f"{who_knows(report.promise.known)}: {bound(beyond.eps_known, '.4g')} within each "
                f"of the values, over {beyond.known_set}",
            )
        )
    if beyond.sets:
        shown.append(("sets", beyond.sets))
    return shown


# --- the table and the mechanism


def _table_and_utility(report: ReportFigures) -> list[Line]:
    table, utility = report.table, report.utility
    if report.blocks is not None:
        return [
            ("public table", f"{table.n:,} records"),
            ("sees", sees(report.promise.observe)),
        ]
    a1, a2 = table.shape
    cells = f" = {table.n_cells:,} cells" if report.promise.nonsensitive else ""
    zero = f", {table.zero_cells:,} without records" if table.zero_cells else ""
    shown = [
        (
            "public table",
            f"{table.n:,} records; {cells_in_words(a1, a2)}{cells}{zero}",
        ),
        ("sees", sees(report.promise.observe)),
        ("reports", f"{utility.n_reports:,} different ones"),
        (
            "utility",
            f"I(X;Y) = {utility.mutual_information:.4f} nats, "
            f"{utility.normalized_mutual_information:.1%} of H(X), at the public distribution",
        ),
        *lines_by_secret(report),
    ]
    if utility.distortion is not None:
        shown.append(
            (
                "distance",
                f"{utility.distortion:.5g} from U at the public distribution, at most "
                f"{at_most(utility.worst_case_distortion or 0.0, '.5g')} over "
                f"{utility.worst_case_set}",
            )
        )
    return [*shown, ("design", "; ".join(filter(None, [utility.status, utility.gap_in_words])))]
