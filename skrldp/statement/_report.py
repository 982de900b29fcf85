"""The privacy report: its figures, and how they are shown as text and as HTML."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skrldp._pages import as_json, document, markdown_page, page, text_page
from skrldp.statement._expected_errors import error_tables
from skrldp.statement._lines import lines_of
from skrldp.statement._parts import ReportFigures
from skrldp.statement._plain import plain_sentences

__all__ = ["PrivacyReport"]

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
        return f"{text_page(self._title, (), lists=self._short)}\n{details}"

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
