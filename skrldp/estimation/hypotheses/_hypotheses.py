"""What a hypothesis says about the distribution of the cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._params import is_finite
from skrldp.alphabet import CellGroups, Record, group_cells
from skrldp.estimation.hypotheses._factors import Factor

__all__ = [
    "Hypothesis",
    "Independence",
    "Model",
    "SameDistribution",
    "StatedDistribution",
    "columns_of",
]


@dataclass(frozen=True, eq=False)
class Model:
    """A hypothesis about cells.

    Attributes
    ----------
    factors : tuple of Factor
        Those of one population. The last one is free: how each group of cells is made up.
    shared : tuple of bool
        Which factors are the same in all populations.
    groups : CellGroups
        The table that the hypothesis is about, which the reports have to determine.
    degrees_of_freedom : int
        By how many parameters the table has more without the hypothesis.
    """

    factors: tuple[Factor, ...]
    shared: tuple[bool, ...]
    groups: CellGroups
    degrees_of_freedom: int


@dataclass(frozen=True)
class Independence:
    """Two columns are independent, or independent given others.

    Parameters
    ----------
    first, second : name, position or list of them
        Columns of the table; several are one combination.
    given : name, position or list of them, optional
        Columns within whose categories the two are independent.

    Examples
    --------
    >>> from skrldp.estimation import Independence
    >>> print(Independence("religion", "wage", given="region"))
    'religion' and 'wage' are independent given 'region'
    """

    first: Any
    second: Any
    given: Any = None

    n_populations = 1

    def __str__(self) -> str:
        words = f"{_words(self.first)} and {_words(self.second)} are independent"
        return words if self.given is None else f"{words} given {_words(self.given)}"

    def model(self, record: Record) -> Model:
        """Write the hypothesis as factors of the distribution of a record's cells.

        Raises ValueError if there are no such columns, one is named twice, or some combinations
        cannot occur.
        """
        if not (_listed(self.first) and _listed(self.second)):
            raise ValueError(f"two columns are needed, got {self.first!r} and {self.second!r}.")
        table = group_cells(record, columns_of(self), "all")
        one, two = (group_cells(record, c, "all").labels for c in (self.first, self.second))
        nothing = np.zeros(len(one), dtype=np.intp)
        stratum = nothing if self.given is None else group_cells(record, self.given, "all").labels
        freedom = 0
        for part in np.unique(stratum):
            within = stratum == part
            sizes = [len(np.unique(labels[within])) for labels in (one, two, table.labels)]
            if sizes[2] < sizes[0] * sizes[1]:
                raise ValueError(
                    f"{self}: some combinations of these columns are no cells of the mechanism, so "
                    'that the columns cannot be independent. Fit it with categories="product".'
                )
            freedom += (sizes[0] - 1) * (sizes[1] - 1)
        factors = (
            Factor.of(stratum, nothing),
            Factor.of(one, stratum),
            Factor.of(two, stratum),
            _rest(table),
        )
        return Model(factors, (False,) * 4, table, freedom)


@dataclass(frozen=True)
class StatedDistribution:
    """Some columns have a stated distribution.

    Parameters
    ----------
    columns : name, position or list of them
        The columns.
    shares : dict
        The share of each category, of several columns of each tuple of categories. All that are
        not named have share 0.

    Examples
    --------
    >>> from skrldp.estimation import StatedDistribution
    >>> print(StatedDistribution("sex", {"female": 0.5, "male": 0.5}))
    'sex' has the stated distribution
    """

    columns: Any
    shares: Mapping[Any, float]

    n_populations = 1

    def __str__(self) -> str:
        return f"{_words(self.columns)} has the stated distribution"

    def model(self, record: Record) -> Model:
        """Write the hypothesis as factors of the distribution of a record's cells.

        Raises ValueError if there are no such columns or categories, or the shares are no
        distribution.
        """
        table = group_cells(record, self.columns, "all")
        if not isinstance(self.shares, Mapping):
            raise ValueError(
                f"shares must be a dict such as {{{table.categories[0]!r}: 0.5, ...}}, got "
                f"{type(self.shares).__name__}."
            )
        unknown = [one for one in self.shares if one not in table.categories]
        if unknown:
            raise ValueError(
                f"shares: {unknown[0]!r} is no category of {_words(self.columns)}; the categories "
                f"are {list(table.categories)}."
            )
        for one, share in self.shares.items():
            if not (is_finite(share) and share >= 0):
                raise ValueError(f"shares: that of {one!r} must be a number >= 0, got {share!r}.")
        known = np.array([float(self.shares.get(one, 0.0)) for one in table.categories])
        if abs(known.sum() - 1.0) > 1e-9:
            raise ValueError(f"shares must have the sum 1, got {known.sum():g}.")
        nothing = np.zeros(len(table.categories), dtype=np.intp)
        factors = Factor(table.labels, nothing, known), _rest(table)
        return Model(factors, (False, False), table, int((known > 0).sum()) - 1)


@dataclass(frozen=True)
class SameDistribution:
    """Some columns have the same distribution in two populations.

    Parameters
    ----------
    columns : name, position or list of them
        The columns.

    Examples
    --------
    >>> from skrldp.estimation import SameDistribution
    >>> print(SameDistribution(["sex", "wage"]))
    'sex', 'wage' has the same distribution in both populations
    """

    columns: Any

    n_populations = 2

    def __str__(self) -> str:
        return f"{_words(self.columns)} has the same distribution in both populations"

    def model(self, record: Record) -> Model:
        """Write the hypothesis as factors of the distribution of a record's cells.

        Raises ValueError if there are no such columns.
        """
        table = group_cells(record, self.columns, "all")
        nothing = np.zeros(len(table.labels), dtype=np.intp)
        factors = Factor.of(table.labels, nothing), _rest(table)
        return Model(factors, (True, False), table, len(table.categories) - 1)


Hypothesis = Independence | StatedDistribution | SameDistribution


def columns_of(hypothesis: Hypothesis) -> list[Any]:
    """List the columns that a hypothesis is about; refuse what is none."""
    if not isinstance(hypothesis, Hypothesis):
        raise TypeError(
            "hypothesis must be Independence(...), StatedDistribution(...) or "
            f"SameDistribution(...), got {type(hypothesis).__name__}."
        )
    if isinstance(hypothesis, Independence):
        asked = [hypothesis.given, hypothesis.first, hypothesis.second]
    else:
        asked = [hypothesis.columns]
    return [name for one in asked for name in _listed(one)]


def _rest(table: CellGroups) -> Factor:
    """How the groups of a table are made up of cells."""
    cells: NDArray[np.intp] = np.arange(len(table.labels))
    return Factor.of(cells, table.labels)


def _listed(columns: Any) -> Sequence[Any]:
    if columns is None:
        return []
    return list(columns) if isinstance(columns, list | tuple) else [columns]


def _words(columns: Any) -> str:
    return ", ".join(map(repr, _listed(columns)))
