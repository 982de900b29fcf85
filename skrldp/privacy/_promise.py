"""What is promised about a table: statements, and the requirements that make them true.

The proofs are those of Theorem 30 (known columns) and Theorem 31 (their sets), docs/proofs.md.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skrldp._typing import Floats, Indices
from skrldp.joint import JointDistribution
from skrldp.privacy._build import exact_kind, privacy_region
from skrldp.privacy._layout import Layout
from skrldp.privacy._polyhedra import SimplexRegion
from skrldp.privacy._region import Region
from skrldp.privacy._requirements import Requirement, Requirements
from skrldp.sets import FittedSet, RenyiSet

__all__ = ["Promise", "Statement"]

_EVERYTHING = RenyiSet(1.0, np.inf)


@dataclass(frozen=True, eq=False)
class Statement:
    """Privacy of pairs of secrets over a set of distributions.

    The secrets are those of `joint`: the values of S, or each of these together with the values of
    known columns of U. Its values are what is left of U.
    """

    joint: JointDistribution  # public counts of these secrets and values
    uncertainty: FittedSet  # the set of distributions of them
    eps: float  # privacy parameter, in nats
    layout: Layout  # which entries of a row belong to which of these secrets
    cells: Indices  # (a1 * a2,), for each cell of S and U its place in ``joint.counts``, flattened
    known: tuple[int, ...] = ()  # places of the known columns of U, among those of U
    # The pairs of secrets that are compared, each in both orders: with the same known values; None:
    # all
    compared: tuple[Indices, Indices] | None = None

    @cached_property
    def _regions(self) -> dict[tuple[str, bool], Region]:
        return {}

    def region(self, kind: str = "joint", same_secret: bool = False) -> Region:
        """Return the region of conditionals, which is built once."""
        key = exact_kind(self.uncertainty) if kind == "exact" else kind, same_secret
        if key not in self._regions:
            self._regions[key] = privacy_region(
                self.joint,
                self.uncertainty,
                region=key[0],
                same_secret=same_secret,
                layout=self.layout,
                compared=None if same_secret else self.compared,
            )
        return self._regions[key]

    @property
    def exact_region(self) -> Region:
        """The tightest region that proofs can use: the exact one where that is convex."""
        return self.region("exact")

    def whole_distribution(self, distribution: Floats, public: JointDistribution) -> Floats:
        """Write a distribution of these secrets and values as one of S and U.

        Shapes: returns (a1, a2).
        """
        counts = public.people.ravel()
        together = np.bincount(self.cells, counts, self.joint.counts.size)[self.cells]
        number = np.bincount(self.cells, minlength=self.joint.counts.size)[self.cells]
        share = np.where(together > 0, counts / np.maximum(together, 1.0), 1.0 / number)
        found: Floats = distribution.ravel()[self.cells] * share
        return found.reshape(public.counts.shape)


@dataclass(frozen=True, eq=False)
class Promise:
    """All that is promised about a table."""

    joint: JointDistribution  # the public distribution of S and U
    statements: tuple[Statement, ...]  # about the report alone; then, if any are, within known ones
    # Privacy parameter over all distributions, in nats; None: nothing is required of them
    eps_all: float | None = None
    observe: str = "all"  # what mechanisms see

    @classmethod
    def of(
        cls,
        joint: JointDistribution,
        uncertainty: FittedSet,
        eps: float,
        *,
        eps_all: float | None = None,
        known: Sequence[int] = (),
        observe: str = "all",
        fit: Callable[[JointDistribution], FittedSet] | None = None,
    ) -> "Promise":
        """Make the statements that are asked for."""
        a1, a2 = joint.counts.shape

        def around(table: JointDistribution) -> FittedSet:
            if table.counts.shape[1] == 1:  # nothing is left of U
                return _EVERYTHING
            # Groups by values that were learned are no groups fixed in advance, so the event is
            # that of the coarser table (Theorem 31 (iii)). A radius that is given, and the
            # covariance of a survey, are for any groups.
            of_any = uncertainty.n_values is None or uncertainty.rule in ("given", "survey")
            if fit is None or uncertainty.covers_groups or not of_any:
                return uncertainty
            return fit(table)

        layout = Layout.plain(a1, a2, observe)
        plain = Statement(joint, uncertainty, eps, layout, np.arange(a1 * a2))
        if not known:
            return cls(joint, (plain,), eps_all, observe)
        within = _within(joint, tuple(known), eps, observe, around)
        return cls(joint, (plain, within), eps_all, observe)

    @cached_property
    def _requirements(self) -> dict[tuple[str, bool], Requirements]:
        return {}

    def requirements(self, kind: str = "exact", same_secret: bool = False) -> Requirements:
        """List what rows must satisfy, without what follows from the rest; built once."""
        key = kind, same_secret
        if key not in self._requirements:
            self._requirements[key] = self._listed(*key)
        return self._requirements[key]

    def _listed(self, kind: str, same_secret: bool) -> Requirements:
        items = [
            Requirement(one.region(kind, same_secret and not one.known), one.eps)
            for one in self.statements
        ]
        if self.eps_all is not None and not all(
            one.uncertainty.is_everything for one in self.statements if not one.known
        ):
            items = [one for one in items if one.eps < self.eps_all or same_secret]
            items.append(self.everywhere)
        a1, a2 = self.joint.counts.shape
        return Requirements(tuple(items), (a1 if self.observe == "all" else 1, a2))

    @cached_property
    def everywhere(self) -> Requirement:
        """Privacy over all distributions, at :attr:`eps_all`."""
        assert self.eps_all is not None
        a1, a2 = self.joint.counts.shape
        region = SimplexRegion(
            self.joint.conditionals,
            self.joint.marginal,
            self.joint.marginal,
            layout=Layout.plain(a1, a2, self.observe),
        )
        return Requirement(region, self.eps_all)


def _codes(names: Sequence[Any], places: tuple[int, ...]) -> Indices:
    """Return a number for each combination of values that some columns of an alphabet have."""
    number: dict[Hashable, int] = {}
    rows = [name if isinstance(name, tuple) else (name,) for name in names]
    wanted = [tuple(row[place] for place in places) for row in rows]
    return np.array([number.setdefault(row, len(number)) for row in wanted], dtype=np.intp)


def _within(
    joint: JointDistribution,
    known: tuple[int, ...],
    eps: float,
    observe: str,
    around: Callable[[JointDistribution], FittedSet],
) -> Statement:
    """Compare secrets within each combination of the values of known columns of U."""
    a1, a2 = joint.counts.shape
    code_of_value = _codes(joint.values, known)
    n_known = int(code_of_value.max()) + 1
    group = (np.arange(a1)[:, None] * n_known + code_of_value).ravel()  # of each cell
    entry = np.arange(a1 * a2) if observe == "all" else np.tile(np.arange(a2), a1)
    n_groups = a1 * n_known
    members = [np.unique(entry[group == g]) for g in range(n_groups)]
    size = max(map(len, members))
    parts = np.array([np.pad(m, (0, size - len(m)), constant_values=m[0]) for m in members])
    place = np.array([np.searchsorted(members[g], e) for g, e in zip(group, entry, strict=True)])
    cells = group * size + place
    counts = np.bincount(cells, joint.counts.ravel(), n_groups * size).reshape(n_groups, size)
    survey = None if joint.survey is None else joint.survey.arranged(cells, n_groups * size)
    table = JointDistribution(
        counts,
        alphabet=joint.alphabet,
        beta_of_values=joint.beta_of_values,
        survey=survey,
    )
    owner = np.arange(n_groups)
    layout = Layout(parts, owner, a1 * a2)
    if observe != "all":  # secrets that are not observed share the part of what is known
        layout = Layout(parts[:n_known], owner % n_known, a2)
    code, value = owner // n_known, owner % n_known
    first, second = np.nonzero((value[:, None] == value) & (code[:, None] != code))
    compared = None if n_known == 1 else (first, second)
    return Statement(table, around(table), eps, layout, cells, known, compared)
