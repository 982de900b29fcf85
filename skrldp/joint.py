"""The joint distribution of S and U, estimated from the public records."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp._arrays import ReadOnly, read_only, real_numbers, refuse_masked
from skrldp._frames import decoded
from skrldp._params import check_choice, is_whole, shown
from skrldp._typing import Floats
from skrldp.alphabet.categories import numbered
from skrldp.alphabet.values import SOURCES, is_missing, spent_on_values
from skrldp.information import conditionals_of, entropy
from skrldp.public_summary import MOST_RECORDS, PublicSummary
from skrldp.surveys.records import SurveyTotals


@dataclass(frozen=True, eq=False)
class CountedReports:
    """Counts of one mechanism's reports, one for each person, from which bounds are computed.

    Attributes
    ----------
    matrix : array of shape (b, a)
        Probabilities of the b reports for each cell of the joint distribution.
    counts : array of shape (b,)
        Number of reports of each kind.
    digest : str
        SHA-256 of the mechanism's JSON, which identifies the mechanism.
    """

    matrix: Floats
    counts: NDArray[np.int64]
    digest: str = ""

    @property
    def n(self) -> int:
        """Number of reports."""
        return int(self.counts.sum())


@dataclass(frozen=True, eq=False)
class JointDistribution(ReadOnly):
    """Counts of public records, and their empirical distribution.

    Parameters
    ----------
    counts : array of shape (a1, a2)
        Number of public records of each cell: secrets in rows, values of U in columns.
    secrets : sequence of length a1, optional
        Names of the secrets; 0, 1, ... if not given.
    values : sequence of length a2, optional
        Names of the values of U.
    alphabet : {"declared", "frequent", "cut", "learned"}, optional
        The source of the values of U, on which confidence levels depend: declared; learned from the
        counted records, where each value has many of them ("frequent"); one of these except for
        edges of bins, which are quantiles of the counted records ("cut"); or learned from the
        counted records otherwise ("learned"). None if unknown.
    most_values : int, optional
        Maximum number of values of U in the population, for which confidence sets allow. None:
        those listed, plus one for values without records if `alphabet` is "frequent".
    beta_of_values : float, optional
        Bound on the probability that values are "frequent" falsely. For sets whose beta has a
        smaller allowance for it, they count as "learned". None if unknown.
    survey : SurveyTotals, optional
        Weighted totals of the cells, if the records are those of a survey. All distributions are
        then those of the totals, whereas `counts` and `n` count records.
    reports : tuple of CountedReports, optional
        The private reports that replace a public table. Then `counts` are integers in proportion to
        an estimate, and `n` is the number of reports. An empty tuple: there is neither a table nor
        a report. None: the counts are those of public records.

    Raises
    ------
    ValueError
        If the counts are not a finite, non-negative table of integers with a record in it,
        if some are masked, or if there are more than 2**53 records; if `alphabet` is not one of
        these, or `most_values` is smaller than the number of listed values.

    Examples
    --------
    >>> joint = JointDistribution([[7, 10], [26, 57]])
    >>> joint.n, float(joint.probabilities[0, 0])
    (100, 0.07)
    """

    counts: NDArray[np.int64]
    secrets: tuple[Any, ...]
    values: tuple[Any, ...]
    alphabet: str | None = None
    most_values: int = 0
    beta_of_values: float | None = None
    survey: SurveyTotals | None = None
    reports: tuple[CountedReports, ...] | None = None

    def __init__(
        self,
        counts: ArrayLike,
        secrets: Sequence[Any] | None = None,
        values: Sequence[Any] | None = None,
        *,
        alphabet: str | None = None,
        most_values: int | None = None,
        beta_of_values: float | None = None,
        survey: SurveyTotals | None = None,
        reports: tuple[CountedReports, ...] | None = None,
    ) -> None:
        if alphabet is not None:
            check_choice("alphabet", alphabet, SOURCES)
        table = real_numbers(counts, "counts")
        if table.ndim != 2 or table.size == 0:
            raise ValueError(
                f"counts must be a table of secrets by values, got shape {table.shape}."
            )
        if not np.all(np.isfinite(table)):
            raise ValueError("counts must be finite numbers.")
        if np.any(table < 0) or np.any(table != np.floor(table)):
            raise ValueError("counts must be non-negative integers, numbers of records.")
        # The sum of floats cannot overflow; if it is small enough, neither can the exact sum.
        rough = table.sum(dtype=float)
        if rough > MOST_RECORDS or table.astype(np.int64).sum() > MOST_RECORDS:
            raise ValueError(
                "counts sum to more than 2**53 records, beyond which they are not exact; pass the "
                "number of records in each cell, not weights or shares on a large scale."
            )
        integers = table.astype(np.int64)
        if integers.sum() == 0:
            raise ValueError("counts must contain at least one public record, but all are zero.")
        names = tuple(range(integers.shape[0])) if secrets is None else tuple(secrets)
        values_given = tuple(range(integers.shape[1])) if values is None else tuple(values)
        if (len(names), len(values_given)) != integers.shape:
            raise ValueError(
                f"{len(names)} secrets and {len(values_given)} values do not match a table of "
                f"shape {integers.shape}."
            )
        object.__setattr__(self, "counts", read_only(integers))
        object.__setattr__(self, "secrets", names)
        object.__setattr__(self, "values", values_given)
        object.__setattr__(self, "alphabet", alphabet)
        if most_values is None:
            most_values = len(values_given) + (alphabet == "frequent")
        if not is_whole(most_values) or most_values < len(values_given):
            raise ValueError(
                f"most_values={most_values!r} must be None or an integer of at least "
                f"{len(values_given)}, the number of values of U."
            )
        object.__setattr__(self, "most_values", int(most_values))
        object.__setattr__(self, "beta_of_values", beta_of_values)
        if survey is not None and not np.array_equal(survey.totals > 0, integers.ravel() > 0):
            raise ValueError("the survey's totals do not match these cells in this order.")
        object.__setattr__(self, "survey", survey)
        object.__setattr__(self, "reports", reports)

    @classmethod
    def from_codes(
        cls,
        secrets: NDArray[np.integer[Any]],
        values: NDArray[np.integer[Any]],
        names: tuple[Sequence[Any], Sequence[Any]],
        sample_weight: ArrayLike | None = None,
        *,
        alphabet: str | None = None,
    ) -> "JointDistribution":
        """Count records given by their codes.

        Parameters
        ----------
        secrets, values : integer arrays of shape (n,)
            Codes of each record's secret and value of U.
        names : pair of sequences
            The secrets and values that the codes represent.
        sample_weight : array of shape (n,), optional
            How many records each row represents: integers, including zero.
        alphabet : {"declared", "frequent", "cut", "learned"}, optional
            The source of the values.

        Returns
        -------
        JointDistribution

        Raises
        ------
        ValueError
            If the weights are not counts.
        """
        shape = (len(names[0]), len(names[1]))
        cells = secrets.astype(np.int64) * shape[1] + values
        weights = None if sample_weight is None else as_counts(sample_weight, len(cells))
        counts = np.bincount(cells, weights=weights, minlength=shape[0] * shape[1])
        return cls(counts.reshape(shape), *names, alphabet=alphabet)

    def alphabet_for(self, beta: float | None) -> str | None:
        """Return the source of the values of U, for a set that misses with probability `beta`.

        Values that are "frequent" at one beta may not be at a smaller one, which has a smaller
        allowance for learning them and requires more records of each value.
        """
        spent = self.beta_of_values
        if self.alphabet != "frequent" or beta is None or spent is None:
            return self.alphabet
        return "learned" if spent_on_values(beta) < spent else "frequent"

    @property
    def n(self) -> int:
        """Number of public records, or of the private reports in their place."""
        if self.reports is not None:
            return sum(source.n for source in self.reports)
        return int(self.counts.sum())

    @cached_property
    def people(self) -> NDArray[np.int64]:
        """Integers in proportion to the distribution, (a1, a2): `counts`, or weighted shares."""
        if self.survey is None:
            return self.counts
        return read_only(self.survey.shares.reshape(self.counts.shape))

    @cached_property
    def probabilities(self) -> Floats:
        """Empirical distribution of (S, U), shape (a1, a2); read-only."""
        return self.summary().probabilities

    def smoothed(self, records: float = 0.5) -> Floats:
        """Distribution of (S, U) after adding records, spread evenly over all cells.

        Parameters
        ----------
        records : float, default=0.5
            Number of records to add, at least 0. Designs add half a record to the distribution at
            which utility is measured, because otherwise reports about a cell without public records
            would not matter. A whole record costs 0.1 % of the information in tables of 80 records.

        Returns
        -------
        array of shape (a1, a2)
        """
        return self.summary().smoothed(records)

    def summary(self, survey_size: float | None = None) -> PublicSummary:
        """Summarise the table for estimates.

        Parameters
        ----------
        survey_size : float, optional
            For surveys, the effective number of independent records.

        Returns
        -------
        PublicSummary
        """
        if self.survey is None and self.reports is None:
            return PublicSummary(self.counts)
        return PublicSummary(self.people, max(self.n, 1), survey_size)  # 1 if there is no table

    @cached_property
    def marginal(self) -> Floats:
        """Empirical distribution of S, shape (a1,); read-only."""
        return read_only(self.people.sum(axis=1) / self.people.sum())

    @cached_property
    def conditionals(self) -> Floats:
        """Empirical conditionals of U given S, (a1, a2); uniform for unseen secrets; read-only."""
        return read_only(conditionals_of(self.people, unseen=1.0 / self.counts.shape[1]))

    @property
    def record_shares(self) -> Floats:
        """Each secret's share of the records, shape (a1,): `marginal`, unless weighted."""
        shares: Floats = self.counts.sum(axis=1) / self.n
        return shares

    @property
    def entropy(self) -> float:
        """Entropy of X = (S, U), in nats."""
        return entropy(self.probabilities)

    def __repr__(self) -> str:
        a1, a2 = self.counts.shape
        return f"JointDistribution({a1} secrets x {a2} values, n={self.n:,})"


def as_counts(
    sample_weight: ArrayLike,
    n_rows: int,
    record: str = "public record",
    table: Any = None,
    *,
    weighted: str = "",
) -> Floats:
    """Check weights, the number of records that each row represents.

    `weighted` is the advice in messages for survey weights.

    Shapes: `sample_weight` (n_rows,); returns (n_rows,). Raises ValueError if the weights are not
    counts, belong to other rows, some are masked, or all are zero.
    """
    rows: Any = getattr(table, "index", None)
    index: Any = getattr(sample_weight, "index", None)
    if hasattr(rows, "equals") and hasattr(index, "equals") and not rows.equals(index):
        raise ValueError(
            "sample_weight has a different index than X, so it is ambiguous which row a "
            "weight belongs to. Pass sample_weight.loc[X.index] if the labels identify "
            "rows, or sample_weight.to_numpy() if the order does."
        )
    refuse_masked(sample_weight, "sample_weight")
    if hasattr(getattr(sample_weight, "type", None), "index_type"):
        sample_weight = decoded(sample_weight)
    weights = np.asarray(sample_weight)
    if weights.dtype == object and weights.ndim == 1:
        weights = np.array([np.nan if is_missing(x) else x for x in weights], dtype=object)
    weights = real_numbers(weights, "sample_weight")
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight.shape == {weights.shape}, expected ({n_rows},): one count per row."
        )
    numbers = weights.astype(np.float64)
    missing = np.flatnonzero(np.isnan(numbers))
    if missing.size:
        raise ValueError(
            f"sample_weight has no value in {numbered(missing)} of {n_rows:,}. Use 0 for "
            "rows that represent no record."
        )
    wrong = ~np.isfinite(numbers) | (numbers < 0) | (numbers != np.floor(numbers))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"sample_weight must be counts (integers >= 0), but row {row} has "
            f"{shown(weights[row].item())}. Survey weights are not counts{weighted and ': '}"
            f"{weighted}."
        )
    if numbers.sum() > MOST_RECORDS:
        raise ValueError("sample_weight sums to more than 2**53 records.")
    if not numbers.any():
        raise ValueError(f"sample_weight is zero in every row: there is no {record}.")
    return numbers
