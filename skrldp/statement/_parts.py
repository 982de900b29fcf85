"""The parts of a privacy report; :class:`PrivacyReport` says what each figure is."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import ReadOnly
from skrldp._typing import Floats
from skrldp.claims import REPORTS, Claims

__all__ = [
    "Beyond",
    "Blocks",
    "CoveredSet",
    "Promised",
    "PublicTable",
    "ReportFigures",
    "Utility",
    "WorstCase",
]


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
