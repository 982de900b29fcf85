"""The lines of a privacy report: what each figure says."""

import math

import numpy as np

from skrldp._numbers import at_least, at_most
from skrldp.alphabet import source_in_words
from skrldp.sets import chance_of_missing
from skrldp.statement._by_secret import lines_by_secret
from skrldp.statement._expected_errors import error_lines
from skrldp.statement._figures import Figures
from skrldp.statement._several import chained
from skrldp.statement._words import amount, columns_in_words, factor, listed, odds

__all__ = ["lines_of"]

Line = tuple[str, str]

# Bounds that are written with four digits are called attained if they are up to this share.
_CLOSE = 1e-4


def lines_of(report: Figures) -> list[Line]:
    """Return the lines of a report, each with its label."""
    return [
        *_promise(report),
        *_worst(report),
        *_beyond(report),
        *_other_statements(report),
        *_table_and_utility(report),
        *error_lines(report),
    ]


def _promise(report: Figures) -> list[Line]:
    each = ", each for itself" if report.eps_each else ""
    pairs = report.eps_pairs is not None
    asked = f"eps = {at_most(report.eps, '.6g')}{' at most, by pair of secrets' if pairs else ''}"
    return [
        (
            "protects",
            f"S = {columns_in_words(report.sensitive)}{each}; "
            f"U = {columns_in_words(report.nonsensitive)}: "
            + ("protected as well" if report.eps_record <= report.eps else "not protected"),
        ),
        (
            "asked",
            f"{asked}: a report changes the odds of "
            f"{'two compared secrets' if pairs else 'a secret'} by a factor of at most "
            f"{odds(report.eps)}",
        ),
        (
            "proven",
            f"eps <= {at_most(report.eps_proven, '.6f')}, of the mechanism as it is sampled; "
            f"at the worst distribution found the leakage is "
            f"{at_least(report.eps_attained, '.6f')}",
        ),
        ("holds for", _of_column(report) + _set(report)),
    ]


def _of_column(report: Figures) -> str:
    """Name the worst column, where each is protected for itself."""
    if not report.eps_each:
        return ""
    bounds = list(report.eps_each.values())
    return f"of {columns_in_words([report.sensitive[bounds.index(max(bounds))]])}: "


def _set(report: Figures) -> str:
    if report.coverage == "all distributions":
        return "all distributions of the data"
    if report.coverage == "public distribution":
        return f"{report.holds_for}, and no other"
    what = "distribution"
    words = report.holds_for
    if report.radius is None:
        what = "conditionals"
        words += ", whatever the probabilities of the secrets are"
    if report.beta is None:
        return f"{words}; the radius was given, so the probability of missing is unknown"
    moved = " (apart from the drift)" if report.drift else ""
    return (
        f"{words}; this set misses the true {what}{moved} "
        f"{chance_of_missing(report.coverage, report.beta)}; {source_in_words(report.alphabet)}"
    )


def _worst(report: Figures) -> list[Line]:
    shown = []
    if report.eps_at_public is not None:
        shown.append(
            (
                "at public",
                f"leakage {report.eps_at_public:.6f}, if the public distribution is the true one",
            )
        )
    if report.eps_over_set is not None:
        leak = amount(report.eps_over_set)
        shown.append(("over a set", f"{leak} can leak at the distributions of a confidence set"))
    if report.worst_pair is not None:
        first, second = report.worst_pair
        shown.append(
            (
                "worst case",
                f"{_of_column(report)}report {report.worst_report!r} is "
                f"{factor(report.eps_attained)} times as probable for secret {first!r} as for "
                f"{second!r}",
            )
        )
    return shown


# --- more than one report to somebody who knows nothing else


def _beyond(report: Figures) -> list[Line]:
    return [("k reports", _reports(report)), ("knows U", _knows_u(report))]


def _reports(report: Figures) -> str:
    """State the bounds of several reports, grouped by how they were found."""
    found: dict[str, list[str]] = {}
    for k, eps in report.eps_of_reports.items():
        if math.isinf(eps):
            found.setdefault("none", []).append(f"{k}")
            continue
        if eps - report.attained_of_reports[k] <= _CLOSE * eps:
            how = "exact, attained by some distribution"
        elif k in report.summed_reports:
            how = "by composition; the true value may be lower"
        else:
            how = "from all combinations of reports; the true value may be lower"
        found.setdefault(how, []).append(f"{at_most(eps, '.4g')} for k = {k}")
    unbounded = found.pop("none", [])
    said = [f"eps <= {listed(figures)} ({how})" for how, figures in found.items()]
    if unbounded:
        said.append(f"no bound for k = {listed(unbounded)}; eps_all= gives one")
    who = "about one column of one person" if report.eps_each else "about one person"
    all_k = " at most k times the proven eps" if report.adds_up else ""
    return f"{who} together{all_k}{_of_some(report)}: {'; '.join(said)}"


def _of_some(report: Figures) -> str:
    """Say that bounds are not of all pairs of secrets, if they are not."""
    some = report.eps_pairs is not None and bool(np.isinf(report.eps_pairs).any())
    return ", for secrets that are compared" if some else ""


def _knows_u(report: Figures) -> str:
    """State the bounds for somebody who knows U, exactly or anything about it."""
    exactly, anything, some = report.eps_given_u, report.eps_all, _of_some(report)
    if exactly == anything and math.isfinite(anything):
        return (
            "to somebody who knows U, or anything else about a person: "
            f"eps <= {at_most(anything, '.4g')} for each report{some}"
        )
    if math.isinf(exactly):
        said = "somebody who knows U exactly may learn S for certain"
    elif exactly == 0.0:
        said = f"somebody who knows U exactly learns nothing about S from reports{some}"
    else:
        said = f"to somebody who knows U exactly: eps <= {at_most(exactly, '.4g')} for each report"
    if math.isinf(anything):
        return f"{said}; for other knowledge about a person there is no bound; eps_all= gives one"
    return (
        f"{said}; to somebody who knows anything else about a person: "
        f"eps <= {at_most(anything, '.4g')}{some}"
    )


# --- other statements


def _other_statements(report: Figures) -> list[Line]:
    shown = []
    if report.eps_pairs is not None:
        shown.append(("pairs", _pairs(report)))
    if report.eps_each:
        shown.append(("each column", _each(report)))
    if report.eps_known is not None:
        shown.append(
            (
                "known columns",
                f"to somebody who knows {columns_in_words(report.known)}: "
                f"eps <= {at_most(report.eps_known, '.4g')} within each of the values, over "
                f"{report.known_set}",
            )
        )
    if report.sets:
        shown.append(("sets", report.sets))
    return shown


def _pairs(report: Figures) -> str:
    """State the bounds of pairs, without naming secrets."""
    assert report.eps_pairs is not None
    above = np.triu_indices(len(report.eps_pairs), 1)
    bounds = report.eps_pairs[above]
    chains = chained(report.eps_pairs)[above][np.isinf(bounds)]
    finite = bounds[np.isfinite(bounds)]
    said = (
        f"eps <= {at_most(finite.min(), '.4g')} to {at_most(finite.max(), '.4g')} for the "
        f"{len(finite):,} pairs of secrets that are compared"
    )
    joined, apart = chains[np.isfinite(chains)], int(np.isinf(chains).sum())
    if not chains.size:
        return said
    said += f"; {len(chains):,} of {len(bounds):,} are not compared"
    if joined.size:
        which = "they are" if not apart else f"{len(joined):,} of them are"
        said += (
            f": {which} bounded by chains of compared pairs all the same, eps <= "
            f"{at_most(joined.max(), '.4g')}"
        )
    if apart:
        said += f"; {apart:,} are joined by no chain, and nothing is promised about them"
    return said


def _each(report: Figures) -> str:
    bounds = [
        f"{columns_in_words([name])} eps <= {at_most(eps, '.4g')}"
        for name, eps in zip(report.sensitive, report.eps_each.values(), strict=True)
    ]
    if math.isinf(report.eps_all):
        together = "nothing is said about two of them together"
    else:
        together = f"about two of them together at most eps_all = {at_most(report.eps_all, '.4g')}"
    return f"{listed(bounds)}, with the others as part of U; {together}"


# --- the table and the mechanism


def _table_and_utility(report: Figures) -> list[Line]:
    a1, a2 = report.shape
    zero = f", {report.zero_cells:,} without records" if report.zero_cells else ""
    sees = "the whole record" if report.observe == "all" else "U alone, never S"
    shown = [
        (
            "public table",
            f"{report.n:,} records; {a1:,} secrets x {a2:,} values = {report.n_cells:,} cells"
            f"{zero}",
        ),
        ("sees", sees),
        ("reports", f"{report.n_reports:,} different ones"),
        (
            "utility",
            f"I(X;Y) = {report.mutual_information:.4f} nats, "
            f"{report.normalized_mutual_information:.1%} of H(X), at the public distribution",
        ),
        *lines_by_secret(report),
    ]
    if report.distortion is not None:
        shown.append(
            (
                "distance",
                f"{report.distortion:.5g} from U at the public distribution, at most "
                f"{at_most(report.worst_case_distortion or 0.0, '.5g')} over "
                f"{report.worst_case_set}",
            )
        )
    return [*shown, ("design", f"{report.status}; {report.gap_in_words}")]
