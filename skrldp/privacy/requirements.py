"""Requirements on rows, the promises that they make true, and repair.

The proofs are those of Lemma 25 (lists of requirements), Theorem 30 (known columns), Theorem 31
(their sets) and Lemma 18 (repair), docs/proofs.md.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from skrldp._typing import Floats, Indices
from skrldp.claims import Claim
from skrldp.joint import JointDistribution
from skrldp.privacy.private_rows import Layout, Region, SimplexRegion, exact_kind, privacy_region
from skrldp.sets.fitted_sets import FittedSet, RenyiSet


@dataclass(frozen=True, eq=False)
class Requirement:
    """What a row must satisfy: privacy of some pairs of secrets over a region."""

    region: Region  # the secrets, the pairs of them that are compared, and their conditionals
    eps: float  # privacy parameter, in nats

    @property
    def n_pairs(self) -> int:
        """Number of pairs of secrets that are compared."""
        return len(self.region.pairs[0])

    @property
    def part_pairs(self) -> tuple[Indices, Indices]:
        """The parts of a row that are compared, each two once; two arrays of shape (m,).

        Where secrets share their part, pairs of secrets may say the same.
        """
        first, second = (self.region.rows.place[secret] for secret in self.region.pairs)
        pairs = np.unique(np.stack([first, second], axis=1), axis=0)
        return pairs[:, 0], pairs[:, 1]

    @property
    def everywhere(self) -> bool:
        """Whether it is for all distributions: a matter of greatest and least entries."""
        return self.region.is_everything


@dataclass(frozen=True, eq=False)
class Requirements:
    """All that a row must satisfy. The rows that do form a convex cone, with the all-ones row."""

    items: tuple[Requirement, ...]  # at least one; all are about the same rows
    # The rows as tables, of a part for each secret or one for all; see :attr:`shape`
    table: tuple[int, int] | None = None

    @classmethod
    def of(cls, region: Region, eps: float) -> "Requirements":
        """Make a list of one requirement."""
        return cls((Requirement(region, eps),))

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def only(self) -> Requirement | None:
        """The requirement, if there is no other; else None."""
        return self.items[0] if len(self.items) == 1 else None

    @property
    def of_whole_records(self) -> bool:
        """Whether every entry is a secret of its own, so that no distribution plays a part.

        A row is then private if its greatest entry is at most e^ε times its least.
        """
        one = self.only
        if one is None or one.region.compared is not None:
            return False
        return one.region.rows.parts.shape == (self.n_cells, 1)

    @property
    def n_cells(self) -> int:
        """Number of entries of a row."""
        return self.items[0].region.rows.n_cells

    @property
    def n_pairs(self) -> int:
        """Number of pairs of secrets that are compared, over all requirements."""
        return sum(one.n_pairs for one in self.items)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of parts of a row and of entries of each, whose product is :attr:`n_cells`.

        Searches begin with rows of this shape. Without a table it is that of the first requirement
        whose parts make up a row.
        """
        if self.table is not None:
            return self.table
        for one in self:
            if one.region.rows.in_order:
                parts, size = one.region.rows.parts.shape
                return int(parts), int(size)
        return 1, self.n_cells

    @cached_property
    def any_pair(self) -> bool:
        """Whether anything is compared; otherwise all rows will do."""
        return any(one.n_pairs for one in self.items)

    @cached_property
    def least_eps(self) -> float:
        """The least ε, in nats; infinite if nothing is compared."""
        return min((one.eps for one in self if one.n_pairs), default=np.inf)

    def at_most(self, eps: float) -> "Requirements":
        """Limit every ε, for the arithmetic of designs."""
        if all(one.eps <= eps for one in self):
            return self
        limited = tuple(replace(one, eps=min(one.eps, eps)) for one in self)
        return replace(self, items=limited)

    def describe(self) -> str:
        """Name the requirements, for messages."""
        return " and ".join(f"eps={one.eps:g} over {type(one.region).__name__}" for one in self)

    def fold(self, distribution: Floats) -> Floats:
        """Take the distribution of the entries of a row: of X, or of U if U alone is observed.

        Shapes: `distribution` (a1, a2); returns (n_cells,).
        """
        if distribution.size == self.n_cells:
            return distribution.ravel()
        return distribution.sum(axis=0)

    def shifts(
        self, rows: Floats, rounding: float = 0.0, callback: Callable[[int], None] | None = None
    ) -> Floats:
        r"""Find what must be added to all entries of each row, so that it meets the requirements.

        If a row violates the privacy of a pair by at most δ, adding
        :math:`\delta/(e^\epsilon - 1)` to its entries makes it private for the pair, and so does
        anything more (docs/proofs.md, the repair lemma).

        Shapes: `rows` (b, ...); returns (b,).
        """
        shifts = np.zeros(len(rows))
        for one in self:
            needed = one.region.shifts(rows, one.eps, rounding, callback)
            shifts = np.maximum(shifts, needed)
        return shifts

    def shift(self, rows: Floats) -> Floats:
        """Lift rows until they meet the requirements, each by as little as it needs.

        Shapes: `rows` (b, n_cells). Returns (b, n_cells): private rows of unit sum.
        """
        unit = rows / rows.sum(axis=1, keepdims=True)
        return shifted(unit, self.shifts(unit))


def shifted(rows: Floats, shifts: Floats) -> Floats:
    """Add to all entries of each row, and scale it to unit sum."""
    higher = rows + shifts[:, None]
    return higher / higher.sum(axis=1, keepdims=True)


# --- What is promised about a table ---------------------------------------------------------------


MOST_EPS = 36.0  # weights have at most 53 bits, so no ratio of two can pass exp(36.7)
_EVERYTHING = RenyiSet(1.0, np.inf)


@dataclass(frozen=True, eq=False)
class Statement:
    """A claim that is asked for: privacy of pairs of secrets over a set of distributions.

    The secrets are those of `joint`: the values of S, or each of these together with the values of
    known columns of U. Its values are what is left of U.
    """

    claim: Claim  # what is asked, with no bound yet
    joint: JointDistribution  # public counts of these secrets and values
    uncertainty: FittedSet  # the set of distributions of them
    layout: Layout  # which entries of a row belong to which of these secrets
    cells: Indices  # (a1 * a2,), for each cell of S and U its place in ``joint.counts``, flattened
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
    of_all: Claim | None = None  # what is asked at all distributions; None: nothing
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
        columns: Sequence[tuple[Any, bool]] = (),
    ) -> "Promise":
        """Make the statements that are asked for; `columns` name those that claims are about."""
        a1, a2 = joint.counts.shape
        secret = tuple(name for name, flag in columns if flag)
        of_u = [name for name, flag in columns if not flag]

        def claim(around: FittedSet, asked: float, known: Sequence[int] = ()) -> Claim:
            stated = around.stated(joint.alphabet_for(around.beta))
            names = tuple(of_u[place] if of_u else place for place in known)
            return Claim(math.inf, 0.0, stated, secret, names, asked=asked)

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
        of_all = None if eps_all is None else claim(_EVERYTHING, eps_all)
        cells = np.arange(a1 * a2)
        plain = Statement(claim(uncertainty, eps), joint, uncertainty, layout, cells)
        if not known:
            return cls(joint, (plain,), of_all, observe)
        groups = _groups(joint, tuple(known), observe)
        table, owned = groups[0], around(groups[0])
        within = Statement(claim(owned, eps, known), table, owned, *groups[1:])
        return cls(joint, (plain, within), of_all, observe)

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
            _required(one.claim, one.region(kind, same_secret and not one.claim.known))
            for one in self.statements
        ]
        if self.of_all is not None and not self.statements[0].uncertainty.is_everything:
            everywhere = _required(self.of_all, self._everywhere)
            items = [one for one in items if one.eps < everywhere.eps or same_secret]
            items.append(everywhere)
        a1, a2 = self.joint.counts.shape
        return Requirements(tuple(items), (a1 if self.observe == "all" else 1, a2))

    @property
    def _everywhere(self) -> Region:
        """The region of all distributions."""
        a1, a2 = self.joint.counts.shape
        return SimplexRegion(
            self.joint.conditionals,
            self.joint.marginal,
            self.joint.marginal,
            layout=Layout.plain(a1, a2, self.observe),
        )


def _codes(names: Sequence[Any], places: tuple[int, ...]) -> Indices:
    """Return a number for each combination of values that some columns of an alphabet have."""
    number: dict[Hashable, int] = {}
    rows = [name if isinstance(name, tuple) else (name,) for name in names]
    wanted = [tuple(row[place] for place in places) for row in rows]
    return np.array([number.setdefault(row, len(number)) for row in wanted], dtype=np.intp)


def _required(claim: Claim, region: Region) -> Requirement:
    """Require of rows what is asked for."""
    assert claim.asked is not None
    return Requirement(region, min(claim.asked, MOST_EPS))


def _groups(
    joint: JointDistribution, known: tuple[int, ...], observe: str
) -> tuple[JointDistribution, Layout, Indices, tuple[Indices, Indices] | None]:
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
        counts, alphabet=joint.alphabet, beta_of_values=joint.beta_of_values, survey=survey
    )
    owner = np.arange(n_groups)
    layout = Layout(parts, owner, a1 * a2)
    if observe != "all":  # secrets that are not observed share the part of what is known
        layout = Layout(parts[:n_known], owner % n_known, a2)
    code, value = owner // n_known, owner % n_known
    first, second = np.nonzero((value[:, None] == value) & (code[:, None] != code))
    compared = None if n_known == 1 else (first, second)
    return table, layout, cells, compared


# --- Repair of mechanisms that are not quite private ----------------------------------------------


def repair(
    matrix: Floats,
    requirements: Requirements,
    rounding: float = 0.0,
    callback: Callable[[int], None] | None = None,
) -> Floats:
    """Make any stochastic matrix private by mixing in a little of each report.

    Adding a number to all entries of a row makes it private (:meth:`Requirements.shifts`);
    dividing by the new column sums keeps it so.

    Shapes: `matrix` (b, n_cells). Returns array of the same shape: columns sum to 1 up to rounding.
    """
    clean = np.clip(matrix, 0.0, None)
    clean = clean / clean.sum(axis=0)
    shifts = requirements.shifts(clean, rounding, callback)
    shifts[~clean.any(axis=1)] = 0.0  # a report that is never sent tells nothing
    return (clean + shifts[:, None]) / (1.0 + shifts.sum())
