"""The privacy report: its figures, and how they are shown as text and as HTML."""

import math
import textwrap
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._html import page
from skrldp._numbers import at_least, at_most
from skrldp.alphabet import source_in_words
from skrldp.uncertainty_set import chance_of_missing

__all__ = ["PrivacyReport", "amount", "odds"]

_WIDTH = 88  # columns of the text
_LABEL = 14
_LAST_DIGITS = 1e-15
_WRITTEN_OUT = 20.0  # e to more than this is left as a power


@dataclass(frozen=True, eq=False)
class PrivacyReport:
    """What a fitted sanitizer promises; made by :func:`privacy_report`.

    Printing it gives text of at most 88 columns; notebooks show a table.

    Attributes
    ----------
    sanitizer : str
        The sanitizer's class.
    eps : float
        The ε that was asked for. All ε here are in nats.
    eps_proven, eps_attained : float
        The certificate's bounds on the worst-case leakage over the set: no distribution exceeds the
        first, and some distribution attains the second.
    eps_at_public : float or None
        Leakage at the public distribution; None if there are too many reports to compute it.
    eps_over_set : float or None
        Where privacy is proven at the public distribution alone, what can leak over a confidence
        set: the sanitizer's own, or the default one if it has none. None otherwise.
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
        Probability that the set misses the true distribution (of U given S, for a set of
        conditionals); None where the set does not come from it.
    coverage : str
        Where that probability comes from: "asymptotic", "finite-sample", "given" (a radius that was
        given as a number), "public distribution" or "all distributions".
    alphabet : str or None
        Where the values of U come from, on which ``beta`` is conditional: "declared", "split"
        (learned from records that are not counted) or "learned" (from the counted ones).
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
    distortion, worst_case_distortion : float or None
        Expected distance at the public distribution, and its bound over the set for the utility;
        RobustMSE has them.
    worst_case_set : str or None
        That set in words, with its own beta: the probability that it misses the true distribution.
    status : str
        Status of the solver, as in ``solution_.status``.
    gap : float
        Relative gap between the design's objective and its bound.
    zero_cells : int
        Number of cells without public records.
    unseen_secrets : tuple
        Secrets without public records.
    few_records : bool
        Whether some cells have so few records that an asymptotic set may miss the truth clearly
        more often than `beta`.
    adds_up : bool
        Whether k reports about one person leak at most k times ``eps_proven``.
    warnings, notes : tuple of str
        The warnings state what protects less than a user may think; the notes are other facts.
    """

    sanitizer: str
    eps: float
    eps_proven: float
    eps_attained: float
    eps_at_public: float | None
    eps_over_set: float | None
    eps_record: float
    holds_for: str
    alpha: float | None
    radius: float | None
    single: float | None
    pair: float | None
    drift: float | None
    beta: float | None
    coverage: str
    alphabet: str | None
    n: int
    n_cells: int
    shape: tuple[int, int]
    sensitive: tuple[Any, ...]
    nonsensitive: tuple[Any, ...]
    n_reports: int
    observe: str
    worst_distribution: NDArray[np.float64]
    worst_pair: tuple[Any, Any] | None
    worst_report: Any
    mutual_information: float
    normalized_mutual_information: float
    distortion: float | None
    worst_case_distortion: float | None
    worst_case_set: str | None
    status: str
    gap: float
    zero_cells: int
    unseen_secrets: tuple[Any, ...]
    few_records: bool
    adds_up: bool
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as a dict, the worst distribution as lists.

        Returns
        -------
        dict
        """
        figures = {field.name: getattr(self, field.name) for field in fields(self)}
        return figures | {"worst_distribution": self.worst_distribution.tolist()}

    def __str__(self) -> str:
        lines = [f"Privacy report: {self.sanitizer}"]
        for label, text in self._figures():
            lines += _hanging(f"  {label:<{_LABEL}}", text)
        for heading, listed in (("Warnings", self.warnings), ("Notes", self.notes)):
            lines += [heading] if listed else []
            for text in listed:
                lines += _hanging("  - ", text)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return page(
            f"Privacy report: {self.sanitizer}",
            self._figures(),
            lists=[("Warnings", self.warnings), ("Notes", self.notes)],
        )

    def _figures(self) -> list[tuple[str, str]]:
        a1, a2 = self.shape
        zero = f", {self.zero_cells:,} without records" if self.zero_cells else ""
        shown = [
            (
                "protects",
                f"S = {_columns(self.sensitive)}; U = {_columns(self.nonsensitive)}: "
                + ("protected as well" if self.eps_record <= self.eps else "not protected"),
            ),
            (
                "asked",
                f"eps = {at_most(self.eps, '.6g')}: a report changes the odds of a secret by a "
                f"factor of at most {odds(self.eps)}",
            ),
            (
                "proven",
                f"eps <= {at_most(self.eps_proven, '.6f')}, of the mechanism as it is sampled; "
                f"at the worst distribution found the leakage is "
                f"{at_least(self.eps_attained, '.6f')}",
            ),
            ("holds for", self._set()),
        ]
        if self.eps_at_public is not None:
            shown.append(
                (
                    "at public",
                    f"leakage {self.eps_at_public:.6f}, if the public distribution is the true one",
                )
            )
        if self.eps_over_set is not None:
            leak = amount(self.eps_over_set)
            shown.append(
                ("over a set", f"{leak} can leak at the distributions of a confidence set")
            )
        if self.worst_pair is not None:
            first, second = self.worst_pair
            shown.append(
                (
                    "worst case",
                    f"report {self.worst_report!r} is {_factor(self.eps_attained)} times as "
                    f"probable for secret {first!r} as for {second!r}",
                )
            )
        sees = "the whole record" if self.observe == "all" else "U alone, never S"
        many = "k of them leak at most k times the proven eps"
        together = many if self.adds_up else "send only one"
        shown += [
            (
                "public table",
                f"{self.n:,} records; {a1:,} secrets x {a2:,} values = {self.n_cells:,} cells"
                f"{zero}",
            ),
            ("sees", sees),
            ("reports", f"{self.n_reports:,} different ones; about one person: {together}"),
            (
                "utility",
                f"I(X;Y) = {self.mutual_information:.4f} nats, "
                f"{self.normalized_mutual_information:.1%} of H(X), at the public distribution",
            ),
        ]
        if self.distortion is not None:
            shown.append(
                (
                    "distance",
                    f"{self.distortion:.5g} from U at the public distribution, at most "
                    f"{at_most(self.worst_case_distortion or 0.0, '.5g')} over "
                    f"{self.worst_case_set}",
                )
            )
        gap = "" if self.status == "closed form" else f", {self.gap:.2%} from its bound"
        shown.append(("design", f"{self.status}{gap}"))
        return shown

    def _set(self) -> str:
        if self.coverage == "all distributions":
            return "all distributions of the data"
        if self.coverage == "public distribution":
            return f"{self.holds_for}, and no other"
        what = "distribution"
        words = self.holds_for
        if self.radius is None:
            what = "conditionals"
            words += ", whatever the probabilities of the secrets are"
        if self.beta is None:
            return f"{words}; the radius was given, so the probability of missing is unknown"
        moved = " (apart from the drift)" if self.drift else ""
        return (
            f"{words}; this set misses the true {what}{moved} "
            f"{chance_of_missing(self.coverage, self.beta)}; {source_in_words(self.alphabet)}"
        )


def _columns(names: tuple[Any, ...]) -> str:
    return ", ".join(repr(n) if isinstance(n, str) else f"column {n}" for n in names)


def odds(eps: float) -> str:
    """Write e to the ε as a number that is not below it."""
    if eps > _WRITTEN_OUT:
        return "e^" + at_most(eps, ".4g")
    # Less the rounding of ε and of the exponential, so that log(3) is 3 and not 3.01.
    return at_most(max(1.0, math.exp(eps) * (1.0 - _LAST_DIGITS)), ".3g")


def _factor(eps: float) -> str:
    """Write e to the ε as a number that is not above it."""
    if eps > _WRITTEN_OUT:
        return "e^" + at_least(eps, ".4g")
    return at_least(math.exp(eps), ".3g")


def amount(eps: float) -> str:
    """Write a leakage that may be infinite."""
    return "any amount" if math.isinf(eps) else f"eps = {at_most(eps, '.4g')}"


def _hanging(start: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_on_hyphens=False,
    )
