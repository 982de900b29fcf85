"""The lines of a privacy report: what each figure says."""

from skrldp._params import at_most
from skrldp._sentences import cells_in_words, protected, sees
from skrldp.claims import amount, factor, multiplies
from skrldp.statement._blocks import block_in_words, block_lines
from skrldp.statement._by_secret import lines_by_secret
from skrldp.statement._parts import ReportFigures

__all__ = ["lines_of"]

Line = tuple[str, str]


def lines_of(report: ReportFigures) -> list[Line]:
    """Return the lines of a report, each with its label."""
    return [
        *_promise(report),
        *_worst(report),
        *block_lines(report),
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
            f"eps = {at_most(promise.eps, '.6g')}: a report {multiplies(promise.eps, 'the odds')}",
        ),
        *report.beyond.claims.lines("proven"),
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
