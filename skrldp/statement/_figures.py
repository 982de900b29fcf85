"""The figures of a privacy report."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._arrays import ReadOnly

__all__ = ["Figures"]


@dataclass(frozen=True, eq=False)
class Figures(ReadOnly):
    """What is known of a fitted sanitizer; :class:`PrivacyReport` says what each is."""

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
    secrets: tuple[Any, ...]
    records_by_secret: NDArray[np.int64]
    information_by_secret: NDArray[np.float64]
    normalized_information_by_secret: NDArray[np.float64]
    normalized_information_given_secret: float
    distortion: float | None
    worst_case_distortion: float | None
    worst_case_set: str | None
    status: str
    gap: float
    gap_in_words: str
    zero_cells: int
    unseen_secrets: tuple[Any, ...]
    few_records: bool
    adds_up: bool
    eps_all: float
    eps_given_u: float
    eps_of_reports: dict[int, float]
    attained_of_reports: dict[int, float]
    summed_reports: tuple[int, ...]
    known: tuple[Any, ...] = ()
    eps_known: float | None = None
    known_set: str | None = None
    eps_each: dict[str, float] = field(default_factory=dict)
    eps_pairs: NDArray[np.float64] | None = None
    beta_together: float | None = None
    sets: str = ""
    expected_errors: dict[str, dict[str, float]] = field(default_factory=dict)
