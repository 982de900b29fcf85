"""The privacy report: what a fitted sanitizer promises, and what it does not, in three layers.

A few sentences for who decides on a survey, all figures for an engineer, and everything as JSON.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import LARGEST_EXPONENT, ReadOnly
from skrldp._pages import Table, as_json, document, markdown_page, page, text_page
from skrldp._params import at_most
from skrldp._sentences import (
    cells_in_words,
    columns_in_words,
    known_by_category,
    protected,
    repeatable,
    sees,
    series,
)
from skrldp._typing import Floats
from skrldp.alphabet.values import weakest_source
from skrldp.certificate import Certificate, certify, prove_reports
from skrldp.claims import NO_BOUND, REPORTS, Around, Claims, amount, bound, factor, multiplies, odds
from skrldp.estimation import expected_std_error
from skrldp.information import conditionals_of, shares_of_entropy
from skrldp.mechanism.mechanism import Mechanism
from skrldp.mechanism.messages import known_in_groups
from skrldp.sanitizers.access import (
    as_block_sanitizer,
    changes_since_fit,
    fitted_sanitizer,
    known_columns,
    reported_its_own_table,
)
from skrldp.sanitizers.parameters import default_uncertainty
from skrldp.sanitizers.warnings import explain_limit, explain_rare_cells
from skrldp.sets.fitted_sets import RenyiSet
from skrldp.targets import target_in_words

__all__ = ["PrivacyReport", "privacy_report"]

Line = tuple[str, str]


# --- Its parts -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Promised(ReadOnly):
    """What is protected, and what was asked for."""

    eps: float
    sensitive: tuple[Any, ...]
    nonsensitive: tuple[Any, ...]
    known: tuple[Any, ...]
    observe: str


@dataclass(frozen=True, eq=False)
class WorstCase(ReadOnly):
    """What one report tells somebody who knows nothing else, at most and at some distribution."""

    eps_proven: float
    eps_attained: float
    eps_at_public: float | None
    eps_over_set: float | None
    eps_record: float
    worst_distribution: Floats
    worst_pair: tuple[Any, Any] | None
    worst_report: Any


@dataclass(frozen=True, eq=False)
class CoveredSet(ReadOnly):
    """The set of distributions that the proof holds for."""

    holds_for: str
    coverage: str
    alpha: float | None
    radius: float | None
    single: float | None
    pair: float | None
    drift: float | None
    alphabet: str | None
    few_records: bool


@dataclass(frozen=True, eq=False)
class Beyond(ReadOnly):
    """What is proven besides one report to an observer who knows nothing else about a person."""

    claims: Claims
    eps_all: float
    eps_given_u: float
    eps_of_reports: dict[int, float]
    attained_of_reports: dict[int, float]
    summed_reports: tuple[int, ...]
    adds_up: bool
    eps_known: float | None
    beta: float | None

    @classmethod
    def of(cls, claims: Claims) -> "Beyond":
        """Read the figures of claims."""
        numbered = {k: claims.find(reports=k) for k in REPORTS}
        found = {k: one for k, one in numbered.items() if one is not None}
        return cls(
            claims=claims,
            eps_all=claims.eps_all,
            eps_given_u=claims.eps_given_u,
            eps_of_reports={k: one.eps for k, one in found.items()},
            attained_of_reports={k: one.attained for k, one in found.items()},
            summed_reports=tuple(k for k, one in found.items() if one.how == "composition"),
            adds_up=claims.eps_all <= claims.eps,
            eps_known=None if claims.known is None else claims.known.eps,
            beta=claims.beta,
        )


@dataclass(frozen=True, eq=False)
class PublicTable(ReadOnly):
    """The public records, in cells."""

    n: int
    n_cells: int
    shape: tuple[int, int]
    secrets: tuple[Any, ...]
    records_by_secret: NDArray[Any]
    zero_cells: int
    unseen_secrets: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Utility(ReadOnly):
    """What reports tell about U, and how good the design is."""

    n_reports: int
    mutual_information: float
    normalized_mutual_information: float
    information_by_secret: Floats
    normalized_information_by_secret: Floats
    normalized_information_given_secret: float
    expected_errors: dict[str, dict[str, float]]
    distortion: float | None
    worst_case_distortion: float | None
    worst_case_set: str | None
    status: str
    gap: float
    gap_in_words: str


@dataclass(frozen=True, eq=False)
class Blocks(ReadOnly):
    """The blocks of columns of a wide table, of which each person reports one."""

    columns: tuple[tuple[Any, ...], ...]
    shares: Floats
    eps_of_blocks: Floats
    worst_block: tuple[Any, ...]
    cells_of_blocks: NDArray[Any]


@dataclass(frozen=True, eq=False)
class ReportFigures(ReadOnly):
    """All parts; their figures are attributes of the whole as well."""

    sanitizer: str
    promise: Promised
    proof: WorstCase
    covered: CoveredSet
    beyond: Beyond
    table: PublicTable
    utility: Utility
    blocks: Blocks | None = None

    def __getattr__(self, name: str) -> Any:
        """Return a figure of one of the parts."""
        for part in vars(self).values():
            if isinstance(part, ReadOnly) and name in vars(part):
                return vars(part)[name]
        raise AttributeError(f"a {type(self).__name__} has no {name!r}.")

    def __dir__(self) -> Iterable[str]:
        """List the figures of the parts too."""
        return sorted({*super().__dir__(), *self.to_dict()})

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as a dict, arrays as lists.

        Returns
        -------
        dict
        """
        figures: dict[str, Any] = {}
        for name, value in vars(self).items():
            figures |= vars(value) if isinstance(value, ReadOnly) else {name: value}
        found = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in figures.items()
        }
        return found | self.claims.figures()


# --- What reports reveal about each group --------------------------------------------------------


_ALL_SHOWN = 8  # secrets; of more, the two extremes are shown
_NAMED = 5  # secrets in a warning
_LITTLE = 0.5  # of the share over all records: groups below it are warned of
_NOTHING = 5e-4  # a share over all records below it is written as 0.0%


def figures_by_secret(fitted: Any) -> dict[str, Any]:
    """Return figures about each secret, by the names of :class:`Utility`'s fields."""
    joint, told = fitted.joint_, fitted.information_by_secret_
    shares, whole = shares_of_entropy(told, joint.people)
    return {
        "information_by_secret": told,
        "normalized_information_by_secret": shares,
        "normalized_information_given_secret": whole,
    }


def lines_by_secret(report: ReportFigures) -> list[tuple[str, str]]:
    """State the information about each secret, or about the two extremes of many secrets.

    Returns list of (str, str): lines with their labels; none if there is nothing to tell about any
    secret.
    """
    share = report.utility.normalized_information_by_secret
    order = np.argsort(-share, kind="stable")  # the best first, NaN last
    order = order[~np.isnan(share[order])]
    if not len(order):
        return []
    whole = f"{report.utility.normalized_information_given_secret:.1%}"
    said = f"I(U;Y|S=s) is {whole} of H(U|S=s) over all records"
    if len(order) <= _ALL_SHOWN:
        said += f": {series([_named(report, place) for place in order])}"
    else:
        worst, best = _named(report, order[-1]), _named(report, order[0])
        said += (
            f"; the least of {len(order):,} secrets is {worst}, the greatest {best}, and half of "
            f"them have at least {np.median(share[order]):.1%}"
        )
    without = len(share) - len(order)
    if without:
        said += f"; {without:,} of the secrets have at most one value of U, so nothing can be told"
    return [("by secret", said)]


def warnings_by_secret(report: ReportFigures) -> list[str]:
    """Warn of reports that tell nothing about U, or less than half of the average about a secret.

    Returns list of str: at most one.
    """
    share, whole = (
        report.utility.normalized_information_by_secret,
        report.utility.normalized_information_given_secret,
    )
    if whole < _NOTHING:
        n_values = report.table.shape[1]
        return [
            f"Reports tell next to nothing about U: {whole:.1%} of H(U|S=s). U has {n_values:,} "
            "values; with fewer, by bins or groups, or with another sanitizer, reports tell more."
        ]
    poor = np.flatnonzero(share < _LITTLE * whole)
    if not len(poor):
        return []
    poor = poor[np.argsort(share[poor], kind="stable")]
    names = [_named(report, place) for place in poor[:_NAMED]]
    if len(poor) > _NAMED:
        names.append(f"{len(poor) - _NAMED:,} more")
    return [
        f"Reports tell little about some groups: {whole:.1%} of H(U|S=s) is told over all records, "
        f"but {series(names)}. Figures for all records hide this: see "
        "normalized_information_by_secret_."
    ]


def _named(report: ReportFigures, place: int) -> str:
    share = report.utility.normalized_information_by_secret[place]
    records = report.table.records_by_secret[place]
    return f"{share:.1%} for {report.table.secrets[place]!r} ({records:,} records)"


# --- What estimates from reports are worth -------------------------------------------------------


N_REPORTS = 10_000
_TARGET, _MOST_TARGETS = "target: ", 50
_USELESS = 1.0  # error of a share beyond which its estimate tells nothing
# Multiplications beyond which a matrix is not decomposed here; that takes one or two seconds.
_MOST_WORK = 5e8


def expected_errors(fitted: Any) -> dict[str, dict[str, float]]:
    """Summarise the standard errors of unbiased estimates of shares of U, of S, and by columns.

    The share of a column's category is a sum of shares of values, whose errors can add up.

    Returns dict: for "U" and "S", and for each column where they have several, the "worst" and the
    "median" error at the public distribution, infinite where the reports do not determine a share,
    and how many shares are "not_determined" "of" how many. Empty if the matrix is too large to be
    decomposed here.
    """
    mechanism: Mechanism = fitted.mechanism_
    blocks = mechanism.form.blocks is not None
    b, a = mechanism.shape
    if not blocks and float(a) * b * min(a, b) > _MOST_WORK:
        return {}
    wanted: dict[str, tuple[Any, str]] = {}
    for part, kind, sensitive in (("U", "nonsensitive", False), ("S", "sensitive", True)):
        names = [name for name, flag in mechanism.columns if flag is sensitive]
        if not names:  # nothing is left of U
            continue
        wanted[part] = None, kind
        if len(names) > 1:
            wanted |= {f"column {name!r}": (name, "all") for name in names}
    found = {}
    for name, (columns, part) in wanted.items():
        found[name] = _summary(expected_std_error(fitted, N_REPORTS, columns, part=part))
    return found | _of_targets(fitted)


def _of_targets(fitted: Any) -> dict[str, dict[str, float]]:
    """Return the errors of the targets that a design was asked for by name."""
    if isinstance(getattr(fitted, "targets", None), str | None):
        return {}
    errors = np.sqrt(fitted.variances_ / N_REPORTS)[:_MOST_TARGETS, None]
    return {
        f"{_TARGET}{target_in_words(name)}": _summary(error)
        for name, error in zip(fitted.targets_, errors, strict=False)
    }


def expected_errors_of_columns(sanitizer: Any) -> dict[str, dict[str, float]]:
    """Summarise the errors of S and of each column of U, from the reports of all blocks."""
    manifest = sanitizer.manifest_
    names = [column.name for column in manifest.encoders]
    wanted: dict[str, tuple[Any, str]] = {f"column {name!r}": (name, "all") for name in names}
    if manifest.in_every_block:
        wanted = {"S": (None, "sensitive"), **wanted}
    return {
        name: _summary(expected_std_error(sanitizer, N_REPORTS, columns, part=part))
        for name, (columns, part) in wanted.items()
    }


def _summary(errors: Floats) -> dict[str, float]:
    return {
        "worst": float(errors.max()),
        "median": float(np.quantile(errors, 0.5, method="higher")),
        "not_determined": int(np.isinf(errors).sum()),
        "of": len(errors),
    }


def error_tables(report: ReportFigures) -> list[Table]:
    """State the errors in a table, or nothing if they are not known."""
    rows = []
    for name, found in report.utility.expected_errors.items():
        unknown, of = found["not_determined"], found["of"]
        lacks = f"{unknown:,} of {of:,} are not determined" if unknown else ""
        label = name if name.startswith(_TARGET) else f"shares of {name}"
        rows.append((label, _error(found["median"]), _error(found["worst"]), lacks))
    if not rows:
        return []
    title = f"Standard errors from {N_REPORTS:,} reports (unbiased)"
    return [(title, ("", "median", "worst", ""), rows)]


def _error(value: float) -> str:
    return f"{value:.2g}" if math.isfinite(value) else "none"


def error_warnings(report: ReportFigures) -> list[str]:
    """Warn of shares that reports do not determine, or that they tell nothing about.

    That a mechanism which does not see S does not determine its shares is no surprise, and stands
    in a note.
    """
    said, names = [], list(report.utility.expected_errors)
    blind = report.promise.observe == "nonsensitive"
    unseen = names[names.index("S") :] if blind and names else []  # S, and its columns
    for name, found in report.utility.expected_errors.items():
        if name.startswith(_TARGET):  # `fit` warns of these, which are no shares of a category
            continue
        if found["not_determined"]:
            if name in unseen:
                continue
            which = f"{found['not_determined']:,} of the {found['of']:,}"
            said.append(
                f"Reports do not determine the share of {which} categories of {name}, however "
                "many reports there are: other sanitizers are needed to estimate them."
            )
        elif found["worst"] > _USELESS:
            said.append(
                f"{N_REPORTS:,} reports tell nothing about the share of some category of {name}: "
                f"the standard error of an unbiased one is {found['worst']:.2g}. "
                "expected_std_error says how sanitizers differ in this, smallest_n how many "
                "reports it takes."
            )
    return said


# --- The worst case ------------------------------------------------------------------------------


def worst_case(mechanism: Mechanism, certificate: Certificate) -> tuple[Any, tuple[Any, Any]]:
    """Return the worst report at the certificate's distribution, and the two secrets."""
    seen = np.flatnonzero(certificate.distribution.sum(axis=1) > 0)
    of_secret = mechanism.report_distribution(conditionals_of(certificate.distribution))[:, seen]
    most, least = of_secret.max(axis=1), of_secret.min(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        report = int(np.where(most > 0, most / least, 1.0).argmax())
    first, second = (seen[pick(of_secret[report])] for pick in (np.argmax, np.argmin))
    return mechanism.symbols[report], (mechanism.secrets[first], mechanism.secrets[second])


# --- Several reports -----------------------------------------------------------------------------


# Products enumerated for each number of reports: a few seconds at most.
_WORK = 1 << 22


def claims_of(fitted: Any) -> Claims:
    """Return the claims of a sanitizer, and what is proven of several reports."""
    certificate = fitted.certificate_
    proofs = prove_reports(
        fitted.mechanism_,
        fitted.joint_,
        certificate.uncertainty,
        REPORTS[1:],
        first=certificate,
        work=_WORK,
    )
    return certificate.claims.with_more([one.claim for one in proofs])


# --- Blocks of columns ---------------------------------------------------------------------------


_SHOWN = 5  # blocks, warnings and secrets that are written out


def in_all_blocks(sanitizer: Any, each: Sequence[ReportFigures]) -> ReportFigures:
    """Put the figures of all blocks together: the worst case is that of the worst block."""
    manifest = sanitizer.manifest_
    eps = np.array([one.proof.eps_proven for one in each])
    worst = each[int(eps.argmax())]
    return replace(
        worst,
        sanitizer=type(sanitizer).__name__,
        promise=replace(
            worst.promise,
            sensitive=tuple(name for name, flag in manifest.columns if flag),
            nonsensitive=tuple(name for name, flag in manifest.columns if not flag),
            known=known_columns(sanitizer),
        ),
        proof=replace(
            worst.proof,
            eps_at_public=_greatest(each, "eps_at_public"),
            eps_over_set=_greatest(each, "eps_over_set"),
            eps_record=max(one.proof.eps_record for one in each),
        ),
        covered=replace(
            worst.covered,
            few_records=any(one.covered.few_records for one in each),
            alphabet=weakest_source([one.covered.alphabet for one in each]),
        ),
        table=_table(each, worst.table),
        blocks=Blocks(
            columns=manifest.blocks,
            shares=manifest.shares,
            eps_of_blocks=eps,
            worst_block=manifest.blocks[int(eps.argmax())],
            cells_of_blocks=np.array([one.table.n_cells for one in each]),
        ),
    )


def _greatest(each: Sequence[ReportFigures], name: str) -> float | None:
    """Return the greatest of the blocks' figures; None if a block does not have the figure."""
    found = [getattr(one.proof, name) for one in each]
    return None if None in found else max(found)


def _table(each: Sequence[ReportFigures], worst: PublicTable) -> PublicTable:
    """Count the cells of all blocks."""
    return replace(
        worst,
        n_cells=sum(one.table.n_cells for one in each),
        zero_cells=sum(one.table.zero_cells for one in each),
    )


def block_lines(report: ReportFigures) -> list[tuple[str, str]]:
    """Say what blocks there are, which leaks most, and what a change of the population does."""
    blocks = report.blocks
    if blocks is None:
        return []
    cells, least, most = blocks.cells_of_blocks, blocks.shares.min(), blocks.shares.max()
    bounds = sorted({at_most(float(eps), ".4g") for eps in blocks.eps_of_blocks}, key=float)
    of_u = " of U" if report.promise.nonsensitive else ""
    return [
        (
            "blocks",
            f"{_span([len(blocks.columns)], 'block')}, of {_span(map(len, blocks.columns))}{of_u} "
            f"and {_span(cells, 'cell')} each; every person reports one, which is drawn without "
            f"regard to the record, with probability {least:.2g}"
            + (f" to {most:.2g}" if most > least else ""),
        ),
        (
            "worst block",
            f"{block_in_words(blocks.worst_block)}; the bounds of all blocks are eps <= "
            + " to ".join(dict.fromkeys([bounds[0], bounds[-1]])),
        ),
        ("drift", _drift(report)),
    ]


def block_in_words(block: Sequence[Any]) -> str:
    """Name the columns of a block."""
    return f"({columns_in_words(block)})"


def _span(numbers: Iterable[Any], unit: str = "column") -> str:
    """Write numbers of things from the least to the greatest."""
    found = sorted({int(number) for number in numbers})
    units = unit if found == [1] else f"{unit}s"
    return f"{' to '.join(f'{one:,}' for one in dict.fromkeys([found[0], found[-1]]))} {units}"


def _drift(report: ReportFigures) -> str:
    """State the bound if those who report are another population than the public table's."""
    if report.covered.coverage == "all distributions" and report.beyond.beta == 0.0:
        return "the bounds hold for every population"
    moved = (
        "the set is about the columns of a block given S. Where those who report differ more from "
        "the public table, reports of some blocks may leak more, of large blocks sooner than of "
        "single columns"
    )
    if math.isinf(report.beyond.eps_all):
        return f"{moved}; {NO_BOUND}"
    return f"{moved}; {bound(report.beyond.eps_all, '.4g')} holds even then"


def warnings_of_blocks(told: Sequence[tuple[tuple[Any, ...], Sequence[str]]]) -> list[str]:
    """Write the warnings of blocks, each once, with the blocks that it is about."""
    blocks: dict[str, list[str]] = {}
    for block, said in told:
        for text in said:
            blocks.setdefault(text, []).append(block_in_words(block))
    found = []
    for text, own in list(blocks.items())[:_SHOWN]:
        more = [f"{len(own) - _SHOWN:,} more"] * (len(own) > _SHOWN)
        names = series([*own[:_SHOWN], *more])
        found.append(f"Block{'s' * (len(own) > 1)} {names}: {text}")
    if len(blocks) > _SHOWN:
        found.append(
            f"There are {len(blocks) - _SHOWN:,} more warnings of blocks: "
            "privacy_report(sanitizer.sanitizers_[0]) has those of the first block, and so on."
        )
    return found


# --- In short: sentences for who decides ---------------------------------------------------------


def plain_sentences(report: ReportFigures, n_warnings: int) -> tuple[str, ...]:
    """Say what is protected, how much a report may reveal, to whom, and what it rests on."""
    promise, proof = report.promise, report.proof
    secret, others = columns_in_words(promise.sensitive), columns_in_words(promise.nonsensitive)
    too = "Protected as well" if proof.eps_record <= promise.eps else "Not protected"
    rest = f"{too}: {others}." if others else "That is the whole record."
    said = [f"Protected: {secret}. {rest}"]
    one, two, more = report.beyond.claims.plain()
    said += [one, _for_whom(report), two, more]
    if n_warnings:
        verb = "limits" if n_warnings == 1 else "limit"
        said.append(f"{n_warnings} warning{'s' * (n_warnings > 1)} below {verb} this.")
    return tuple(said)


def _for_whom(report: ReportFigures) -> str:
    """Say for which populations the bound holds."""
    covered, table = report.covered, f"the public table ({report.table.n:,} records)"
    if covered.coverage == "all distributions":
        return "This is proven for every population."
    if covered.coverage == "public distribution":
        return f"This holds only if the population is exactly as {table} says."
    near = f"This is proven for every population near {table}."
    # Where several statements have sets of their own, one of them misses more often.
    beta = report.beyond.beta
    if beta is None:
        return f"{near} How often the true one is not among them is unknown."
    exact = covered.coverage == "finite-sample" and covered.alphabet != "learned"
    how = "at most" if exact and not covered.few_records else "about"
    more = "; more often, as rare values were learned from it" * (covered.alphabet == "learned")
    return (
        f"{near} The true population is not among them for {how} "
        f"{at_most(100.0 * beta, '.3g')} % of such tables{more}. It rests on how the table's "
        "records were drawn: see 'assumes'."
    )


# --- All figures: lines for an engineer ----------------------------------------------------------


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


# --- Warnings and notes --------------------------------------------------------------------------


_LARGE_ODDS = 10.0  # a promise beyond this factor gets a warning
_MOST_CHARACTERS = 60  # of a parameter's value
_MORE = 1e-6  # relative difference from which a leakage is called greater than another


def _capital(words: str) -> str:
    """Begin a sentence."""
    return words[0].upper() + words[1:]


def _brief(value: Any) -> str:
    """Write a parameter's value in a line."""
    text = " ".join(getattr(value, "__name__", repr(value)).split())
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."


def warnings_of(report: ReportFigures, fitted: Any, rare_cells: str) -> tuple[str, ...]:
    """Warn of less protection, or less information, than a user may expect."""
    return (
        *warnings_of_use(report, fitted),
        *warnings_of_design(report, fitted, rare_cells),
        *error_warnings(report),
        *warnings_by_secret(report),
    )


def warnings_of_use(report: ReportFigures, fitted: Any) -> list[str]:
    """Warn of what a user did since the fit, and of weak promises."""
    said, proof = [], report.proof
    if fitted.random_state is not None:
        said.append(
            f"{_capital(repeatable(fitted.random_state))}. No guarantee holds; use "
            "random_state=None."
        )
    for name, (before, now) in changes_since_fit(fitted).items():
        said.append(
            f"{name}={_brief(now)} was set after fit, which used {_brief(before)}. The "
            f"mechanism and its proof, {bound(proof.eps_proven, '.6f')}, are still those "
            "of that fit: fit again."
        )
    if reported_its_own_table(fitted):
        said.append(
            "fit_transform reported the same table that it was fitted on. The mechanism depends on "
            "every record of that table, and this dependence is not private: fit on public "
            "records, then transform private ones."
        )
    if math.exp(min(proof.eps_proven, LARGEST_EXPONENT)) > _LARGE_ODDS:
        said.append(
            f"eps = {at_most(proof.eps_proven, '.6g')} is a weak promise: one report may "
            f"change odds of 1 : 1 into {odds(proof.eps_proven)} : 1."
        )
    said += _beyond_one_report(report, getattr(fitted, "eps_all", None))
    return said


def warnings_of_design(report: ReportFigures, fitted: Any, rare_cells: str) -> list[str]:
    """Warn of the set that a mechanism was designed for, and of a design that was stopped."""
    said, promise, proof = [], report.promise, report.proof
    if proof.eps_over_set is not None:
        said.append(
            "Privacy holds at the public distribution alone, and the private records do not follow "
            f"it exactly: over a confidence set {amount(proof.eps_over_set)} can leak, where "
            f"{at_most(promise.eps, '.6g')} was asked. For comparisons, not to protect people."
        )
    if rare_cells:
        said.append(f"{_capital(rare_cells)}.")
    if report.covered.coverage == "given":
        said.append("The radius was given as a number: no confidence is attached to the set.")
    if stopped := explain_limit(fitted.solution_):
        said.append(_capital(stopped))
    return said


def _beyond_one_report(report: ReportFigures, asked: float | None) -> list[str]:
    """Warn of what a second report may tell, and a report to somebody who knows more."""
    beyond, proven = report.beyond, report.proof.eps_proven
    if asked is not None and beyond.eps_all <= asked:
        return []
    said = []
    two = beyond.eps_of_reports[2]
    if two > 2.0 * proven * (1.0 + _MORE):
        said.append(f"two reports about one record may tell {_told(two)}")
    if beyond.eps_all > proven * (1.0 + _MORE):
        said.append(
            "one report may tell an observer who knows something else about the person "
            f"{_told(beyond.eps_all)}"
        )
    if not said:
        return []
    words = ", and ".join(said)
    return [
        f"The proven eps is for one report to an observer who knows nothing else: {words}. "
        "eps_all= is a bound on both."
    ]


def _told(eps: float) -> str:
    if math.isinf(eps):
        return "the secret for certain"
    return f"up to {amount(eps)} (a factor of {odds(eps)})"


def notes_of(
    report: ReportFigures, fitted: Any, others: Collection[Any], cut: Collection[Any] = ()
) -> tuple[str, ...]:
    """Say what else is worth knowing.

    `others` are those of the mechanism, or of all blocks; `cut` the columns of numbers in bins.
    """
    said, covered, table = [], report.covered, report.table
    if fitted.survey_ is not None:
        said.append(f"The public table is {fitted.survey_.describe()}.")
    elif covered.coverage == "asymptotic":
        beta = at_most(report.beyond.beta or 0.0, ".4g")
        said.append(
            f"The radius is asymptotic: beta = {beta} is what it tends to with many "
            f"records for each cell. LikelihoodRatioSet() holds for "
            "any number."
        )
    if covered.drift:
        within = " and, as columns are known, within each of their values" * bool(
            report.promise.known
        )
        said.append(
            f"The set allows for a drift of {covered.drift:.4g} nats since the public records were "
            f"taken, for each secret{within}. That the population has changed by no more is an "
            "assumption."
        )
    if bool(report.beyond.beta) and covered.alphabet == "learned":
        said.append(
            "Rare values of U were learned from the counted records, so beta is not guaranteed. "
            "Report them as one (min_frequency='auto'), or declare them (categories=; 'dtype' for "
            "levels that were fixed in advance)."
        )
    if table.unseen_secrets:
        names = ", ".join(map(repr, table.unseen_secrets[:_SHOWN]))
        more = len(table.unseen_secrets) - _SHOWN
        beyond = f" and {more:,} more" if more > 0 else ""
        held = "the promise includes them"
        if covered.coverage != "all distributions":
            held = f"nothing is known of their conditionals; {held}, which costs utility"
        said.append(f"Secrets without public records: {names}{beyond}; {held}.")
    if table.zero_cells and covered.coverage not in (
        "all distributions",
        "public distribution",
    ):
        said.append(
            f"{table.zero_cells:,} of {table.n_cells:,} cells have no public records; the set "
            "allows for them."
        )
    if any(others):
        grouped = "that are unknown" if True in others else "that were rare in the public table"
        said.append(f"Values of U {grouped} are reported as 'other', which the promise includes.")
    if coarse := known_in_groups(fitted.mechanism_, report.promise.known, cut):
        said.append(known_by_category(coarse))
    if report.promise.observe == "nonsensitive":
        said.append("The mechanism does not see S: a report reveals S only through U.")
    if report.promise.nonsensitive:
        said.append(_about_u(report))
    return tuple(said)


def _about_u(report: ReportFigures) -> str:
    if math.isinf(report.proof.eps_record):
        return "Only S is protected: what a report reveals about U beyond S is not bounded."
    eps = report.proof.eps_record
    if eps <= report.promise.eps:
        return f"U is protected as well: a report {multiplies(eps, 'the odds of any two records')}."
    only = f"Only S is protected by eps = {at_most(report.promise.eps, '.6g')}"
    return f"{only}: a report {multiplies(eps, 'the odds of two values of U')}."


# --- The report ----------------------------------------------------------------------------------


_NOT_SAID = (
    "That what is assumed is true: neither the table nor a report can show how records were drawn.",
    "That a program reports by this mechanism, with fresh randomness or one secret key: audit it.",
    "Who reported, when and from where: the promise is about the report alone.",
    "What further reports about a person tell, beyond the line 'k reports'.",
    "What a report tells together with other knowledge about a person, beyond 'knows U' and 'known "
    "columns'.",
)


_DETAILS = "All figures"


@dataclass(frozen=True, eq=False)
class PrivacyReport(ReportFigures):
    """What a fitted sanitizer promises; made by :func:`privacy_report`.

    It begins with a few sentences for who decides on a survey, and goes on with all figures.
    Printing it gives text of at most 88 columns; notebooks show tables.

    Attributes
    ----------
    sanitizer : str
        The sanitizer's class.
    eps : float
        The ε that was asked for. All ε here are in nats.
    eps_proven, eps_attained : float
        The certificate's bounds on the worst-case leakage over the set: no distribution exceeds the
        first, and some distribution attains the second.
    claims : Claims
        All that is proven, with the sets of distributions; the figures about bounds are read from
        these.
    eps_all : float
        Bound on what one report tells anybody, whatever they know besides: proven over all
        distributions. Infinite if there is none.
    eps_given_u : float
        Bound on what one report tells somebody who knows U exactly; at most ``eps_all``.
    eps_of_reports : dict of int to float
        Bound on what k reports about one record tell together, for k = 1, 2, 3 and 10, over the
        same distributions as ``eps_proven``. Infinite if there is none. If U changes in between,
        k reports leak at most ``eps_proven + (k - 1) * eps_all``.
    attained_of_reports : dict of int to float
        What some distribution attains with as many reports.
    summed_reports : tuple of int
        The numbers of reports whose bound is a sum of those of fewer, as there are too many
        combinations of them to look at.
    known : tuple
        The columns of U that observers may know.
    eps_known : float or None
        Bound within each of their values; None without known columns.
    eps_at_public : float or None
        Leakage at the public distribution; None if there are too many reports to compute it.
    eps_over_set : float or None
        Where privacy is proven at the public distribution alone, what can leak over a confidence
        set: the sanitizer's own, or the default one if it has none (of a survey, with its
        asymptotic radius). None otherwise.
    eps_record : float
        What a report reveals about the whole record at most, so about U too: the logarithm of the
        greatest factor by which it changes the odds of two records. Infinite if a report rules a
        record out.
    holds_for : str
        The set of distributions that the proof holds for, in words.
    alpha, radius : float or None
        Order and radius (nats) of a Rényi ball: radius 0 is the public distribution alone, infinity
        all distributions. None for a set of another kind.
    single, pair, drift : float or None
        Budgets of a set of conditionals and its drift, in nats; see
        :class:`~skrldp.LikelihoodRatioSet`, whose bounds are these times `n`. None for a ball.
    beta : float or None
        Bound on the probability that one of all sets misses; None where it is not known.
    coverage : str
        Where that probability comes from: "asymptotic", "finite-sample", "given" (a radius that was
        given as a number), "public distribution" or "all distributions".
    alphabet : str or None
        Where the values of U come from, on which ``beta`` is conditional: "declared",
        "frequent" (learned from the counted records, of which each value has many) or "learned"
        (just from the counted records).
    n, n_cells : int
        Numbers of public records and of cells.
    shape : (int, int)
        Numbers of secrets and of values of U.
    sensitive, nonsensitive : tuple
        The columns of S, which are protected, and those of U; positions where they have no names.
    n_reports : int
        Number of different reports.
    observe : str
        What the mechanism sees of a person: "all", or "nonsensitive", U alone.
    worst_distribution : array of shape (a1, a2)
        The worst distribution found.
    worst_pair : (secret, secret) or None
        The two secrets whose odds a report changes most at that distribution; the report is more
        probable given the first. None if there are too many reports to compute it.
    worst_report : object or None
        The report that changes these odds most.
    mutual_information, normalized_mutual_information : float
        I(X; Y) at the public distribution, in nats, and as a share of H(X).
    secrets : tuple of length a1
        The secrets, in the order of the next three.
    records_by_secret : array of shape (a1,)
        Public records of each.
    information_by_secret, normalized_information_by_secret : array of shape (a1,)
        I(U; Y | S=s) at the public distribution, in nats, and as a share of H(U | S=s): what a
        report tells about U to somebody who knows the secret. NaN where there is nothing to tell.
    normalized_information_given_secret : float
        The same over all records: I(U; Y | S) as a share of H(U | S). Secrets with less than half
        of it get a warning.
    distortion, worst_case_distortion : float or None
        Expected distance at the public distribution, and its bound over the set for the utility;
        RobustMSE has them.
    worst_case_set : str or None
        That set in words, with its own beta: the probability that it misses the true distribution.
    status : str
        Status of the solver, as in ``solution_.status``.
    gap : float
        Relative gap between the design's objective and its bound.
    gap_in_words : str
        The same, and which bound that is; empty for a bound that is too far away to be of use.
    digest : str
        The digest of the mechanism, or of the manifest of blocks, that this is about.
    zero_cells : int
        Number of cells without public records.
    unseen_secrets : tuple
        Secrets without public records.
    few_records : bool
        Whether some cells have so few records that an asymptotic set may miss the truth clearly
        more often than `beta`.
    adds_up : bool
        Whether k reports about one person leak at most k times ``eps_proven``, for every k.
    expected_errors : dict
        For "U" and "S", and for each column where they have several ("column 'age'"), the standard
        errors of the shares of their categories from 10,000 reports, at the public distribution,
        and for each target that the design was asked for by name ("target: mean of 'age'"):
        the "worst" and the "median" one, infinite where the reports do
        not determine a share, and how many are "not_determined" "of" how many. Empty for matrices
        so large that their decomposition would take more than seconds.
    blocks : object or None
        Of a :class:`~skrldp.BlockSanitizer`: ``columns`` of U in each block, their probabilities
        ``shares``, ``eps_of_blocks``, ``cells_of_blocks`` and ``worst_block``, the columns of the
        one that leaks most. The figures of the proof, its set and utility are then those of this
        block, but for ``eps_at_public``, ``eps_over_set`` and ``eps_record``, the greatest of all
        blocks, and ``expected_errors``, which are about all reports. Cells are counted in all
        blocks. None for other sanitizers.
    warnings, notes : tuple of str
        The warnings state what protects less than a user may think, or what cannot be estimated
        from reports; the notes are other facts.
    """

    digest: str = ""
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        details = text_page(_DETAILS, lines_of(self), tables=error_tables(self), lists=self._lists)
        return f"{self.summary()}\n{details}"

    def summary(self) -> str:
        """Return the first part alone: a few sentences for who decides on a survey.

        Returns
        -------
        str
        """
        return text_page(self._title, (), lists=self._short)

    def to_json(self) -> str:
        """Write all figures, warnings and notes as JSON.

        Numbers that are infinite or not determined are null.

        Returns
        -------
        str
        """
        return as_json(self.to_dict())

    def to_markdown(self) -> str:
        """Write the report as a page for auditors, with what it rests on and does not say.

        Returns
        -------
        str
        """
        lines = [("digest", self.digest), *lines_of(self)]
        tables, short = error_tables(self), markdown_page(self._title, (), lists=self._short)
        return (
            f"{short}\n\n{markdown_page(_DETAILS, lines, tables=tables, lists=self._whole_lists)}"
        )

    def to_html(self, path: Any = None) -> str:
        """Write the page for auditors in HTML, and into a file if one is named.

        Parameters
        ----------
        path : str or path, optional
            The file; one that is there is replaced.

        Returns
        -------
        str

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        lines = [("digest", self.digest), *lines_of(self)]
        whole = document(self._title, self._html(lines, self._whole_lists))
        if path is not None:
            Path(path).write_text(whole, encoding="utf-8")
        return whole

    def _repr_html_(self) -> str:
        return self._html(lines_of(self), self._lists)

    def _html(self, lines: list[tuple[str, str]], lists: Any) -> str:
        details = page(_DETAILS, lines, tables=error_tables(self), lists=lists)
        return page(self._title, (), lists=self._short) + details

    @property
    def _short(self) -> list[tuple[str, tuple[str, ...]]]:
        return [("In short", plain_sentences(self, len(self.warnings)))]

    @property
    def _whole_lists(self) -> list[tuple[str, tuple[str, ...]]]:
        return [*self._lists, ("What this page does not say", _NOT_SAID)]

    @property
    def _title(self) -> str:
        return f"Privacy report: {self.sanitizer}"

    @property
    def _lists(self) -> list[tuple[str, tuple[str, ...]]]:
        return [("Warnings", self.warnings), ("Notes", self.notes)]


# --- From a fitted sanitizer ---------------------------------------------------------------------


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
