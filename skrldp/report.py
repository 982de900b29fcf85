"""The privacy report: a fitted sanitizer's guarantees, and their limits, in three layers.

It has five sentences for those who decide on a survey, tables for engineers, and JSON.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import ReadOnly
from skrldp._lists_in_words import (
    cells_in_words,
    columns_in_words,
    known_by_category,
    repeatable,
    sees,
    series,
)
from skrldp._pages import Section, as_json, document, markdown_page, page, text_page
from skrldp._params import at_most, decimals, in_digits
from skrldp._typing import Floats
from skrldp.certificate import Certificate, certify, prove_reports
from skrldp.claims import REPORTS, Claims
from skrldp.claims_in_words import (
    about_others,
    claims_table,
    five_sentences,
    legend,
    origin_of,
    over_a_set,
    seen_in,
    set_in_words,
    warnings_about,
)
from skrldp.estimation import expected_std_error
from skrldp.information import conditionals_of, shares_of_entropy
from skrldp.mechanism.all_distributions import leakage_over_all
from skrldp.mechanism.mechanism import Mechanism
from skrldp.mechanism.messages import known_in_groups
from skrldp.sanitizers.access import (
    as_block_sanitizer,
    changes_since_fit,
    fitted_sanitizer,
    reported_its_own_table,
    utility_set_of,
)
from skrldp.sanitizers.fitted_state import information_of
from skrldp.sanitizers.parameters import MOST_CELLS_OF_DESIGNS, default_uncertainty
from skrldp.sanitizers.warnings import explain_limit, explain_rare_cells
from skrldp.targets import target_in_words

_NAMED = 5  # maximum number of secrets, blocks or warnings of blocks that a sentence names
_ALL_SHOWN = 8  # maximum number of secrets that are all listed; otherwise only the two extremes are
_LITTLE = 0.5  # groups with less than this share of the overall information get a warning
_NOTHING = 5e-4  # a smaller share of H(U|S) is printed as 0.0%
_MOST_CHARACTERS = 60  # maximum length of a parameter's printed value
_ENTRIES = 20_000_000  # maximum size of P(report | secret) in which the worst report is searched
_WORK = 1 << 22  # products of rows for each number of reports; twice as many take twice as long
N_REPORTS = 10_000
_MOST_TARGETS = 50
_USELESS = 1.0  # a share whose standard error is larger cannot be estimated
_MOST_WORK = 5e8  # multiplications of a decomposition, which takes one or two seconds
_NOT_SAID = (
    "Whether the assumptions hold: neither the table nor the reports show how records were drawn.",
    "Whether a program uses this mechanism, with fresh randomness or a secret key: audit it.",
    "Who reported, when and from where, because the guarantee is only about the report.",
    "What a report reveals together with other knowledge about a person, beyond the "
    "table of claims.",
)


# --- The report ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PrivacyReport(ReadOnly):
    """The guarantees of a fitted sanitizer; returned by :func:`privacy_report`.

    It begins with five sentences for those who decide on a survey, followed by a table of the
    claims and all numbers. It prints as text of at most 90 columns, and as tables in notebooks.

    Attributes
    ----------
    sanitizer : str
        The sanitizer's class.
    digest : str
        The digest of the mechanism, or of the manifest of blocks.
    claims : Claims
        All proved claims, including those about 2, 3 and 10 reports about one person, with the sets
        of distributions; all bounds are read from these.
    sensitive, nonsensitive : tuple
        The columns of S, which are protected, and those of U; indices if they have no names.
    observe : str
        What the mechanism observes of a record: "all", or "nonsensitive" for U alone.
    eps_at_public : float or None
        Leakage at the public distribution, in nats; None if there are too many reports to compute
        it.
    eps_over_set : float or None
        If privacy is proved at the public distribution alone, the leakage over a confidence set:
        the sanitizer's, or the default one if it has none (for surveys, with its asymptotic
        radius). None otherwise.
    eps_record : float
        Upper bound on what a report reveals about the whole record, including U: the logarithm of
        the largest factor by which it changes the odds of two records. Infinite if a report rules a
        record out.
    worst_distribution : array of shape (a1, a2)
        The worst distribution found.
    worst_pair : (secret, secret) or None
        The two secrets whose odds change most by a report at that distribution; the report is more
        probable given the first. None if there are too many reports to compute it.
    worst_report : object or None
        The report that changes these odds most.
    n, n_cells, zero_cells : int
        Number of public records, of cells, and of cells without records.
    shape : (int, int)
        Number of secrets and of values of U.
    secrets, unseen_secrets : tuple
        The secrets, in the order of the next three attributes, and those without public records.
    records_by_secret : array of shape (a1,)
        Number of public records of each.
    information_by_secret, normalized_information_by_secret : array of shape (a1,)
        I(U; Y | S=s) at the public distribution, in nats, and as a share of H(U | S=s): the
        information in a report about U for an observer who knows the secret. NaN if H(U | S=s) is 0
        or undefined.
    normalized_information_given_secret : float
        The same over all records: I(U; Y | S) as a share of H(U | S). Secrets with less than half
        of this share cause a warning.
    n_reports : int
        Number of distinct reports.
    mutual_information, normalized_mutual_information : float
        I(X; Y) at the public distribution, in nats, and as a share of H(X).
    distortion, worst_case_distortion : float or None
        Expected distance at the public distribution, and its bound over the set for the utility;
        only for RobustMSE.
    worst_case_set : str or None
        That set in words, with its beta: the probability that it misses the true distribution.
    status : str
        Status of the solver, as in ``solution_.status``.
    gap : float
        Relative gap between the design's objective and its bound.
    gap_in_words : str
        The same, with the kind of bound; empty if the bound is too weak to be useful.
    expected_errors : dict
        For "U" and "S", and for each column where they have several ("column 'age'"), the standard
        errors of the shares of their categories from 10,000 reports, at the public distribution,
        and for each target that was requested by name ("target: mean of 'age'"): the
        "worst" and the "median" one, infinite if the reports do not determine a share, and the
        number "not_determined" "of" all. Empty for matrices whose decomposition would take too
        long.
    blocks : tuple of dict
        For a :class:`~skrldp.BlockSanitizer`, each block's "columns", "share" (the probability that
        a person reports it) and "claims". The worst case and the utility are then those of the
        block that leaks most; ``eps_at_public``, ``eps_over_set`` and ``eps_record`` are the
        largest of all blocks, and ``expected_errors`` are about all reports. Cells are counted in
        all blocks. Empty for other sanitizers.
    warnings, notes : tuple of str
        The warnings state where protection is weaker than a user may expect, or what cannot be
        estimated from reports; the notes are other facts.
    """

    sanitizer: str
    digest: str
    claims: Claims
    sensitive: tuple[Any, ...]
    nonsensitive: tuple[Any, ...]
    observe: str
    eps_at_public: float | None
    eps_over_set: float | None
    eps_record: float
    worst_distribution: Floats
    worst_pair: tuple[Any, Any] | None
    worst_report: Any
    n: int
    n_cells: int
    zero_cells: int
    shape: tuple[int, int]
    secrets: tuple[Any, ...]
    unseen_secrets: tuple[Any, ...]
    records_by_secret: NDArray[Any]
    information_by_secret: Floats
    normalized_information_by_secret: Floats
    normalized_information_given_secret: float
    n_reports: int
    mutual_information: float
    normalized_mutual_information: float
    distortion: float | None
    worst_case_distortion: float | None
    worst_case_set: str | None
    status: str
    gap: float
    gap_in_words: str
    expected_errors: dict[str, dict[str, float]]
    blocks: tuple[dict[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return text_page(self._title, (), self._sections)

    def summary(self) -> str:
        """Return the first part: five sentences for those who decide on a survey.

        Returns
        -------
        str
        """
        return text_page(self._title, (), self._sections[:1])

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as a dict, arrays as lists.

        Returns
        -------
        dict
        """
        figures = vars(self) | {"in_short": self._in_short} | self.claims.figures()
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in figures.items()
        }

    def to_json(self) -> str:
        """Write all numbers, warnings and notes as JSON.

        Infinite and undetermined numbers are null.

        Returns
        -------
        str
        """
        return as_json(self.to_dict())

    def to_markdown(self) -> str:
        """Write the report as a Markdown page.

        Returns
        -------
        str
        """
        return markdown_page(self._title, (), self._sections)

    def to_html(self, path: Any = None) -> str:
        """Write the report as an HTML page, and to a file if a path is given.

        Parameters
        ----------
        path : str or path, optional
            The file, which is overwritten if it exists.

        Returns
        -------
        str

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        page_text = document(self._title, self._repr_html_())
        if path is not None:
            Path(path).write_text(page_text, encoding="utf-8")
        return page_text

    def _repr_html_(self) -> str:
        return page(self._title, (), sections=self._sections)

    @property
    def _title(self) -> str:
        n = len(self.warnings)
        warned = f" ({n:,} warning{'s' * (n > 1)})" * (n > 0)
        return f"Privacy report: {self.sanitizer}{warned}"

    @property
    def _in_short(self) -> tuple[str, ...]:
        too = self.eps_record <= (self.claims.main.asked or 0.0)
        return five_sentences(self.claims, self.nonsensitive, too, self.n)

    @property
    def _sections(self) -> list[Section]:
        return [
            ("In short", None, self._in_short),
            ("Warnings", None, self.warnings),
            claims_table(self.claims),
            ("Where the claims hold", (), legend(self.claims)),
            ("Details", (), _details_in_words(self)),
            _errors_in_words(self),
            ("Notes", None, self.notes),
            ("What this page does not say", None, _NOT_SAID),
        ]


def privacy_report(sanitizer: Any) -> PrivacyReport:
    """Report the guarantees of a fitted sanitizer, their conditions and their limits.

    Parameters
    ----------
    sanitizer : sanitizer
        A fitted sanitizer, a Pipeline that ends in one, or either in a FrozenEstimator. The report
        of a :class:`~skrldp.BlockSanitizer` is a single page about all blocks. For a pipeline, the
        report is about the last step, and the earlier steps must not depend on private records.

    Returns
    -------
    PrivacyReport

    Raises
    ------
    TypeError
        If it is not a sanitizer.
    NotFittedError
        If it has not been fitted.

    Examples
    --------
    >>> from skrldp import SRRSanitizer, privacy_report
    >>> X = [["no", "rare"], ["no", "often"], ["yes", "rare"], ["yes", "often"]]
    >>> sanitizer = SRRSanitizer(eps=1.0, sensitive=0)
    >>> report = privacy_report(sanitizer.fit(X, sample_weight=[7, 10, 26, 57]))
    >>> report.claims.eps <= 1.0, report.claims.beta, report.warnings
    (True, 0.0, ())
    >>> print(report)
    Privacy report: SRRSanitizer
    In short
      - Each person's column 0 is protected from anyone who sees the person's report; column 1
        is not protected.
      - One report changes the odds of any two values of column 0 by a factor of at most 2.8,
        so that a value that was 50 % likely before is at most 74 % likely afterwards.
      ...
    """
    several = as_block_sanitizer(sanitizer)
    fitted = fitted_sanitizer(sanitizer) if several is None else several
    if several is None:
        owners, release, blocks = [fitted], fitted.mechanism_, [()]
    else:
        owners, release = fitted.sanitizers_, fitted.manifest_
        blocks = release.blocks
    by_block = [_figures(owner) for owner in owners]
    worst = int(np.argmax([owner.certificate_.eps for owner in owners]))
    report = PrivacyReport(
        **(by_block[0] if several is None else _of_all_blocks(release, by_block, by_block[worst])),
        sanitizer=type(fitted).__name__,
        digest=release.digest,
        claims=claims_of(fitted) if several is None else release.claims,
        expected_errors=expected_errors(fitted, None if several is None else release),
    )
    blocks_of_warning: dict[str, list[str]] = {}
    for block, owner, figures in zip(blocks, owners, by_block, strict=True):
        for text in _warnings_of_design(owner, figures["eps_over_set"]):
            blocks_of_warning.setdefault(text, []).append(columns_in_words(block))
    warned = [
        *_warnings_of_use(report.claims, fitted),
        *(blocks_of_warning if several is None else _by_blocks(blocks_of_warning)),
        *_warnings_of_errors(report),
        *(_warnings_by_secret(report) if several is None else []),
    ]
    other_values = [value for owner in owners for value in owner.mechanism_.others or ()]
    notes = _notes(report, owners[worst], other_values)
    return replace(report, warnings=tuple(warned), notes=tuple(notes))


# --- The numbers of a report ----------------------------------------------------------------------


def _figures(fitted: Any) -> dict[str, Any]:
    """Return the numbers of a sanitizer, by the names of the report's attributes."""
    joint, certificate, mechanism = fitted.joint_, fitted.certificate_, fitted.mechanism_
    few = mechanism.shape[0] * len(joint.secrets) <= _ENTRIES
    report, pair = worst_case(mechanism, certificate) if few else (None, None)
    records, information_of_secret = joint.counts.sum(axis=1), fitted.information_by_secret_
    shares, share_over_all = shares_of_entropy(information_of_secret, joint.people)
    information, share = information_of(mechanism, joint)
    return {
        "sensitive": tuple(name for name, flag in mechanism.columns if flag),
        "nonsensitive": tuple(name for name, flag in mechanism.columns if not flag),
        "observe": mechanism.observe,
        "eps_at_public": mechanism.leakage(joint.probabilities) if few else None,
        "eps_over_set": _over_set(fitted) if certificate.uncertainty.is_point else None,
        "eps_record": _over_records(mechanism),
        "worst_distribution": certificate.distribution,
        "worst_pair": pair,
        "worst_report": report,
        "n": joint.n,
        "n_cells": joint.counts.size,
        "zero_cells": int((joint.counts == 0).sum()),
        "shape": joint.counts.shape,
        "secrets": joint.secrets,
        "unseen_secrets": tuple(s for s, n in zip(joint.secrets, records, strict=True) if not n),
        "records_by_secret": records,
        "information_by_secret": information_of_secret,
        "normalized_information_by_secret": shares,
        "normalized_information_given_secret": share_over_all,
        "n_reports": mechanism.shape[0],
        "mutual_information": information,
        "normalized_mutual_information": share,
        "distortion": getattr(fitted, "distortion_", None),
        "worst_case_distortion": getattr(fitted, "worst_case_distortion_", None),
        "worst_case_set": _set_for_utility(fitted),
        "status": fitted.solution_.status,
        "gap": fitted.solution_.gap,
        "gap_in_words": fitted.solution_.gap_in_words,
    }


def _of_all_blocks(
    manifest: Any, by_block: Sequence[dict[str, Any]], worst: dict[str, Any]
) -> dict[str, Any]:
    """Combine the numbers of all blocks. The worst case is that of the worst block."""
    combined = dict(worst)
    for name in ("eps_at_public", "eps_over_set", "eps_record"):
        figures = [block_figures[name] for block_figures in by_block]
        combined[name] = None if None in figures else max(figures)
    for name in ("n_cells", "zero_cells"):
        combined[name] = sum(block_figures[name] for block_figures in by_block)
    claims_of_blocks = zip(manifest.blocks, manifest.shares, manifest.claims.parts, strict=True)
    return combined | {
        "sensitive": tuple(name for name, flag in manifest.columns if flag),
        "nonsensitive": tuple(name for name, flag in manifest.columns if not flag),
        "blocks": tuple(
            {"columns": block, "share": float(share), "claims": tuple(claims.to_json())}
            for block, share, claims in claims_of_blocks
        ),
    }


def claims_of(fitted: Any) -> Claims:
    """Return the claims of a sanitizer, including those about several reports."""
    certificate, numbers = fitted.certificate_, REPORTS[1:]
    fitted_set, joint = certificate.uncertainty, fitted.joint_
    proofs = prove_reports(
        fitted.mechanism_, joint, fitted_set, numbers, first=certificate, work=_WORK
    )
    claims: Claims = certificate.claims
    return claims.with_more([proof.claim for proof in proofs])


def worst_case(mechanism: Mechanism, certificate: Certificate) -> tuple[Any, tuple[Any, Any]]:
    """Return the worst report at the certificate's distribution, and the two secrets."""
    seen = np.flatnonzero(certificate.distribution.sum(axis=1) > 0)
    of_secret = mechanism.report_distribution(conditionals_of(certificate.distribution))[:, seen]
    largest, smallest = of_secret.max(axis=1), of_secret.min(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        report = int(np.where(largest > 0, largest / smallest, 1.0).argmax())
    first, second = (seen[pick(of_secret[report])] for pick in (np.argmax, np.argmin))
    return mechanism.symbols[report], (mechanism.secrets[first], mechanism.secrets[second])


def _over_set(fitted: Any) -> float:
    """Bound the leakage over the sanitizer's set, or the default one if that is a point."""
    joint = fitted.joint_
    fitted_set = fitted.uncertainty_.fit_set(joint)
    if fitted_set.is_point:
        default = default_uncertainty()
        if joint.survey is not None:  # because its records are not independent
            default.set_params(radius="asymptotic")
        fitted_set = default.fit_set(joint)
    return certify(fitted.mechanism_, fitted_set, joint).eps


def _over_records(mechanism: Mechanism) -> float:
    """Return the logarithm of the largest ratio of a report's probabilities given two records."""
    blocks = mechanism.form.blocks
    if blocks is None:
        n_others = 1 if mechanism.observe == "nonsensitive" else len(mechanism.secrets)
        of_record = mechanism.form.columns(np.arange(n_others * len(mechanism.values)))
    else:  # each row has all four, because a fit has at least two secrets and two values
        of_record = np.array([blocks])
    return leakage_over_all(of_record, of_record.shape[1])[0]


def _set_for_utility(fitted: Any) -> str | None:
    """State the set of a worst distance in words, with its probability of missing the truth."""
    fitted_set = utility_set_of(fitted)
    if fitted_set is None:
        return None
    # If the privacy set has a beta, its own line already says what that beta is conditional on.
    private = fitted.certificate_.claims.main.around
    alphabet = fitted.joint_.alphabet_for(fitted_set.beta)
    states_source = private.beta is None or private.values_from != alphabet
    return set_in_words(fitted_set.stated(alphabet), has_source=states_source)


# --- What estimates from reports are worth -------------------------------------------------------


def expected_errors(fitted: Any, manifest: Any = None) -> dict[str, dict[str, float]]:
    """Summarise the standard errors of unbiased estimates of shares of U, of S, and by columns.

    For blocks, the errors of S and of each column, from the reports of all blocks. The share of a
    column's category is a sum of shares of values, whose errors can add up.

    Returns dict: for "U" and "S", and for each column where they have several, the "worst" and the
    "median" error at the public distribution, infinite if the reports do not determine a share, and
    the number of shares "not_determined" "of" all. Empty if the matrix is too large to be
    decomposed here.
    """
    wanted: dict[str, tuple[Any, str]] = {}
    if manifest is not None:
        if manifest.in_every_block:
            wanted["S"] = None, "sensitive"
        names = [column.name for column in manifest.encoders]
        wanted |= {f"column {name!r}": (name, "all") for name in names}
    else:
        mechanism: Mechanism = fitted.mechanism_
        b, a = mechanism.shape
        if mechanism.form.blocks is None and float(a) * b * min(a, b) > _MOST_WORK:
            return {}
        for label, kind, sensitive in (("U", "nonsensitive", False), ("S", "sensitive", True)):
            names = [name for name, flag in mechanism.columns if flag is sensitive]
            wanted |= {label: (None, kind)} if names else {}  # U may have no columns
            wanted |= {f"column {n!r}": (n, "all") for n in names if len(names) > 1}
    errors = {
        name: _summary(expected_std_error(fitted, N_REPORTS, columns, part=label))
        for name, (columns, label) in wanted.items()
    }
    return errors | _of_targets(fitted)


def _of_targets(fitted: Any) -> dict[str, dict[str, float]]:
    """Return the errors of the targets that were requested by name."""
    if isinstance(getattr(fitted, "targets", None), str | None):
        return {}
    errors = np.sqrt(fitted.variances_ / N_REPORTS)[:_MOST_TARGETS, None]
    return {
        f"target: {target_in_words(name)}": _summary(error)
        for name, error in zip(fitted.targets_, errors, strict=False)
    }


def _summary(errors: Floats) -> dict[str, float]:
    return {
        "worst": float(errors.max()),
        "median": float(np.quantile(errors, 0.5, method="higher")),
        "not_determined": int(np.isinf(errors).sum()),
        "of": len(errors),
    }


def _errors_in_words(report: PrivacyReport) -> Section:
    """Return a table of the errors, empty if they are unknown."""
    rows, all_errors = [], report.expected_errors
    sizes = [errors[name] for errors in all_errors.values() for name in ("median", "worst")]
    largest = max(filter(math.isfinite, sizes), default=1.0)
    n_decimals = decimals(sizes, max(largest, 1e-6), 2)
    for name, errors in all_errors.items():
        unknown, total = errors["not_determined"], errors["of"]
        note = f"{unknown:,} of {total:,} are not determined" if unknown else ""
        label = name if name.startswith("target: ") else f"shares of {name}"
        written = (_error(errors[kind], n_decimals) for kind in ("median", "worst"))
        rows.append((label, *written, note))
    title = f"Standard errors from {N_REPORTS:,} reports (unbiased)"
    return title, ("", "median", "worst", ""), rows


def _error(value: float, n_decimals: int) -> str:
    return f"{value:,.{n_decimals}f}" if math.isfinite(value) else "none"


def _warnings_of_errors(report: PrivacyReport) -> list[str]:
    """Warn about shares that reports do not determine, or about which they contain no information.

    A mechanism that does not observe S cannot determine its shares, which is a note rather than a
    warning; `fit` warns about targets.
    """
    texts, names = [], list(report.expected_errors)
    remedy = "AOptimalSanitizer(targets='all') determines all shares."
    if not report.blocks and report.n_cells > MOST_CELLS_OF_DESIGNS:
        remedy = "BlockSanitizer(base=AOptimalSanitizer(targets='all')) determines those of U."
    blind = report.observe == "nonsensitive"
    unseen = names[names.index("S") :] if blind and names else []  # S and its columns
    for name, errors in report.expected_errors.items():
        if name.startswith("target: "):
            continue
        if errors["not_determined"] and name not in unseen:
            texts.append(
                f"Reports do not determine the shares of {errors['not_determined']:,} of the "
                f"{errors['of']:,} categories of {name}, however many there are. {remedy}"
            )
        elif not errors["not_determined"] and errors["worst"] > _USELESS:
            texts.append(
                f"{N_REPORTS:,} reports contain almost no information about the share of some "
                f"category of {name}: the standard error of an unbiased estimate is "
                f"{in_digits(errors['worst'], 2)}. smallest_n returns the number of reports needed."
            )
    return texts


# --- In words ------------------------------------------------------------------------------------


def _details_in_words(report: PrivacyReport) -> list[tuple[str, str]]:
    """State the numbers, as labels and texts."""
    shown = [("digest", report.digest), ("observes", sees(report.observe))]
    a1, a2 = report.shape
    data, unit = origin_of(report.claims.main.around)
    table = f"{report.n:,} {unit}" if report.n else "none"
    if not report.blocks:
        is_table = report.zero_cells and unit == "records"
        zero = f", {report.zero_cells:,} without records" if is_table else ""
        cells = f" = {report.n_cells:,} cells" if report.nonsensitive else ""
        table += f"; {cells_in_words(a1, a2)}{cells}{zero}"
    shown.append((data, table))
    worst = ""
    if report.blocks:
        shown.append(("blocks", _blocks_in_words(report)))
        worst_block = int(np.argmax([claims.eps for claims in report.claims.parts]))
        worst = f"of the block {columns_in_words(report.blocks[worst_block]['columns'])}: "
    if report.eps_at_public is not None:
        words = (
            f"leakage {report.eps_at_public:.6f} nats, if the public distribution is the true one"
        )
        shown.append(("at public", words))
    if report.worst_pair is not None:
        words = seen_in(report.worst_report, report.claims.main.attained, report.worst_pair)
        shown.append(("worst case", worst + words))
    if report.blocks:
        return shown
    nats, share = report.mutual_information, report.normalized_mutual_information
    words = f"I(X;Y) = {nats:.4f} nats, {share:.1%} of H(X), at the public distribution"
    shown += [("reports", f"{report.n_reports:,} distinct ones"), ("utility", words)]
    shown += _by_secret(report)
    if report.distortion is not None:
        bound = at_most(report.worst_case_distortion or 0.0, ".5g")
        words = f"{report.distortion:.5g} from U at the public distribution, at most {bound} over"
        shown.append(("distance", f"{words} {report.worst_case_set}"))
    return [*shown, ("design", "; ".join(filter(None, [report.status, report.gap_in_words])))]


def _blocks_in_words(report: PrivacyReport) -> str:
    def span(numbers: Sequence[Any]) -> str:
        return " to ".join(f"{number:,}" for number in dict.fromkeys([min(numbers), max(numbers)]))

    sizes = [len(block["columns"]) for block in report.blocks]
    of = f"{span(sizes)} column{'s' * (max(sizes) > 1)}"
    shares = span([float(f"{block['share']:.2g}") for block in report.blocks])
    return (
        f"{len(report.blocks):,}, of {of} each; each person reports one, drawn independently of "
        f"the record, with probability {shares}"
    )


def _by_secret(report: PrivacyReport) -> list[tuple[str, str]]:
    """State the information given each secret, or given the two extremes of many secrets."""
    share = report.normalized_information_by_secret
    order = np.argsort(-share, kind="stable")  # most information first, NaN last
    order = order[~np.isnan(share[order])]
    if not len(order):
        return []
    text = f"I(U;Y|S=s) is {report.normalized_information_given_secret:.1%} of H(U|S=s) over all"
    text += " records"
    if len(order) <= _ALL_SHOWN:
        text += f": {series([_named(report, secret) for secret in order])}"
    else:
        worst, best = _named(report, order[-1]), _named(report, order[0])
        text += (
            f"; among {len(order):,} secrets, the lowest is {worst}, the highest {best}, and half "
            f"of them have at least {np.median(share[order]):.1%}"
        )
    if without := len(share) - len(order):
        text += f"; {without:,} of the secrets have at most one value of U, so U reveals nothing"
    return [("by secret", text)]


def _named(report: PrivacyReport, secret: int) -> str:
    share, records = report.normalized_information_by_secret, report.records_by_secret
    return f"{share[secret]:.1%} for {report.secrets[secret]!r} ({records[secret]:,} records)"


def _warnings_by_secret(report: PrivacyReport) -> list[str]:
    """Warn about reports without information about U, or with little for some secrets."""
    share = report.normalized_information_by_secret
    overall = report.normalized_information_given_secret
    if overall < _NOTHING:
        return [
            f"Reports contain almost no information about U: {overall:.1%} of H(U|S=s). U has "
            f"{report.shape[1]:,} values; with fewer, by bins or groups, or with a "
            "different sanitizer, they contain more."
        ]
    poor = np.flatnonzero(share < _LITTLE * overall)
    if not len(poor):
        return []
    poor = poor[np.argsort(share[poor], kind="stable")]
    rest = [f"{len(poor) - _NAMED:,} more"] * (len(poor) > _NAMED)
    names = series([*(_named(report, secret) for secret in poor[:_NAMED]), *rest])
    return [
        f"Reports contain little information about some groups: {overall:.1%} of H(U|S=s) over all "
        f"records, but {names}. Estimates for all records hide this; see "
        "normalized_information_by_secret_."
    ]


def _warnings_of_use(claims: Claims, fitted: Any) -> list[str]:
    """Warn about changes since the fit, and about weak guarantees."""
    texts = []
    if fitted.random_state is not None:
        words = repeatable(fitted.random_state)
        texts.append(f"{_capital(words)}. No guarantee holds; use random_state=None.")
    for name, (before, now) in changes_since_fit(fitted).items():
        texts.append(
            f"{name}={_brief(now)} was set after fit, which used {_brief(before)}. The mechanism "
            "and its proof are still those of that fit: fit again."
        )
    if reported_its_own_table(fitted):
        texts.append(
            "fit_transform reported the table that it was fitted to. The mechanism depends on "
            "every record of that table, and this dependence is not private: fit on public "
            "records, then transform private ones."
        )
    return texts + warnings_about(claims)


def _warnings_of_design(fitted: Any, eps_over_set: float | None) -> list[str]:
    """Warn about the set of a design, and about a design that stopped early."""
    texts, main = [], fitted.certificate_.claims.main
    if eps_over_set is not None:
        texts.append(over_a_set(eps_over_set, main.asked))
    if rare_cells := explain_rare_cells(fitted.certificate_.uncertainty, fitted.joint_):
        texts.append(f"{_capital(rare_cells)}.")
    if not (main.around.is_everything or main.around.is_point) and main.around.beta is None:
        texts.append("The radius was given as a number, so the set has no confidence level.")
    if stopped := explain_limit(fitted.solution_):
        texts.append(_capital(stopped))
    return texts


def _by_blocks(blocks_of_warning: dict[str, list[str]]) -> list[str]:
    """Write each distinct warning of blocks once, with the blocks that it concerns."""
    texts = []
    for text, labels in list(blocks_of_warning.items())[:_NAMED]:
        rest = [f"{len(labels) - _NAMED:,} more"] * (len(labels) > _NAMED)
        names = series([*(f"({block})" for block in labels[:_NAMED]), *rest])
        texts.append(f"Block{'s' * (len(labels) > 1)} {names}: {text}")
    if len(blocks_of_warning) > _NAMED:
        texts.append(
            f"There are {len(blocks_of_warning) - _NAMED:,} more warnings about blocks: "
            "privacy_report(sanitizer.sanitizers_[0]) has those of the first block, and so on."
        )
    return texts


def _notes(report: PrivacyReport, fitted: Any, other_values: Collection[Any]) -> list[str]:
    """Return the notes; `other_values` are those of all blocks."""
    texts, known = [], report.claims.known
    if fitted.survey_ is not None:
        texts.append(f"The public table is {fitted.survey_.describe()}.")
    if report.unseen_secrets:
        n_more = len(report.unseen_secrets) - _NAMED
        names = [repr(name) for name in report.unseen_secrets[:_NAMED]]
        names += [f"{n_more:,} more"] * (n_more > 0)
        texts.append(
            f"Secrets without public records: {series(names)}. Their conditionals are unknown, so "
            "the guarantee covers every possible one."
        )
    if any(other_values):
        grouped = (
            "that are unknown" if True in other_values else "that were rare in the public table"
        )
        texts.append(f"Values of U {grouped} are reported as 'other', which the guarantee covers.")
    if known and (coarse := known_in_groups(fitted.mechanism_, known.known)):
        texts.append(known_by_category(coarse))
    if report.observe == "nonsensitive":
        texts.append("The mechanism does not observe S, so a report reveals S only through U.")
    if report.nonsensitive:
        texts.append(about_others(report.eps_record, report.claims.main.asked or 0.0))
    return texts


def _capital(words: str) -> str:
    """Capitalise the first letter of a sentence."""
    return words[0].upper() + words[1:]


def _brief(value: Any) -> str:
    """Write a parameter's value in one line."""
    text = " ".join(getattr(value, "__name__", repr(value)).split())
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."
