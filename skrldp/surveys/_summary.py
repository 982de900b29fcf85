"""What a fitted sanitizer tells of the survey that its public table is."""

from dataclasses import dataclass
from typing import Any

from skrldp.surveys._design import SurveyDesign

__all__ = ["SurveySummary"]


@dataclass(frozen=True)
class SurveySummary:
    """How the design of a survey was taken into account.

    Attributes
    ----------
    design : SurveyDesign
        The design, as it was stated.
    exact : bool
        Whether an independent part of the records was kept; if not, the covariance of the estimates
        was estimated.
    n_rows, n_records : int
        Rows of the table, and records that were counted.
    n_clusters : int
        Clusters, or records where none are stated.
    degrees : int
        Degrees of freedom of the estimated covariance.
    effective : tuple of (secret, float)
        How many independent records tell as much of each secret's conditional; empty if `exact`, or
        where no confidence set needs it.
    """

    design: SurveyDesign
    exact: bool
    n_rows: int
    n_records: int
    n_clusters: int
    degrees: int
    effective: tuple[tuple[Any, float], ...] = ()

    def describe(self) -> str:
        """Say what was done, and what it assumes."""
        of = f"a survey of {self.n_rows:,} records ({self.design!r})"
        what = "clusters" if self.design.clusters is not None else "records"
        if self.exact:
            most, within = self.design.max_weight, ""
            most = f"that in column {most!r}" if isinstance(most, str) else f"{most:g}"
            if self.design.strata is not None:
                within = f" within strata, whose sizes are those in {self.design.stratum_sizes!r}"
            return (
                f"{of}; {self.n_records:,} of them were kept at random, in proportion to their "
                f"weights, and are an independent sample of the population if {what} were drawn "
                f"independently{within}, with probabilities inverse to their weights, of which "
                f"{most} is the greatest that there could be"
            )
        if not self.effective:
            return (
                f"{of}, whose weights the distribution has; no confidence set rests on its design"
            )
        how = "replicate weights" if self.design.replicate_weights else "Taylor linearisation"
        told = ", ".join(f"{n:,.0f} for {secret!r}" for secret, n in self.effective[:5])
        more = len(self.effective) - 5
        return (
            f"{of}; variances are those of {how} with {self.degrees:,} degrees of freedom, which "
            "needs many clusters with records of each secret; as much as so many independent "
            f"records: {told}" + (f" and {more:,} more" if more > 0 else "")
        )
