"""Requirements on rows, the claims that follow from them, and repair.

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
from skrldp.privacy.private_rows import Layout, Region, exact_kind, privacy_region
from skrldp.sets.fitted_sets import FittedSet, RenyiSet

MOST_EPS = 36.0  # weights have at most 53 bits, so no ratio of two exceeds exp(36.7)
_EVERYTHING = RenyiSet(1.0, np.inf)


@dataclass(frozen=True, eq=False)
class Requirement:
    """A condition on rows: privacy of given pairs of secrets over a region."""

    region: Region  # the secrets, the pairs of them that are compared, and their conditionals
    eps: float  # privacy parameter, in nats
    # If a claim was requested: the claim that it implies, without its bound; the public counts of
    # its secrets and values; and (a1 * a2,), for each cell of S and U its position in these.
    claim: Claim | None = None
    joint: JointDistribution | None = None
    cells: Indices | None = None

    def __post_init__(self) -> None:
        """Cap ε at about the largest log-ratio of weights; a smaller ε is a stricter condition."""
        object.__setattr__(self, "eps", min(self.eps, MOST_EPS))

    @property
    def n_pairs(self) -> int:
        """Number of pairs of secrets that are compared."""
        return len(self.region.pairs[0])

    @property
    def part_pairs(self) -> tuple[Indices, Indices]:
        """The compared parts of a row, every pair once; two arrays of shape (m,).

        If secrets share a part, several pairs of secrets are the same condition.
        """
        first, second = (self.region.rows.place[secret] for secret in self.region.pairs)
        pairs = np.unique(np.stack([first, second], axis=1), axis=0)
        return pairs[:, 0], pairs[:, 1]

    @property
    def everywhere(self) -> bool:
        """Whether it is for all distributions, so that only largest and smallest entries matter."""
        return self.region.is_everything

    def over(self, kind: str, same_secret: bool = False) -> "Requirement":
        """Return the same requirement over a different kind of region of the same set."""
        region = self.region
        if kind in ("exact", exact_kind(region.uncertainty)) and not same_secret:
            return self
        assert self.joint is not None
        region = privacy_region(
            self.joint,
            region.uncertainty,
            region=kind,
            same_secret=same_secret,
            layout=region.layout,
            compared=None if same_secret else region.compared,
        )
        return replace(self, region=region)

    def whole_distribution(self, distribution: Floats, public: JointDistribution) -> Floats:
        """Convert a distribution of these secrets and values to one of S and U.

        Shapes: returns (a1, a2).
        """
        assert self.joint is not None and self.cells is not None
        counts = public.people.ravel()
        together = np.bincount(self.cells, counts, self.joint.counts.size)[self.cells]
        number = np.bincount(self.cells, minlength=self.joint.counts.size)[self.cells]
        share = np.where(together > 0, counts / np.maximum(together, 1.0), 1.0 / number)
        whole: Floats = distribution.ravel()[self.cells] * share
        return whole.reshape(public.counts.shape)


@dataclass(frozen=True, eq=False)
class Requirements:
    """All requirements on rows. The rows that satisfy them form a convex cone."""

    items: tuple[Requirement, ...]  # at least one, all on the same rows
    observe: str = "all"  # the columns that mechanisms observe

    @classmethod
    def of(cls, region: Region, eps: float) -> "Requirements":
        """Make a list of a single requirement."""
        return cls((Requirement(region, eps),))

    @classmethod
    def asked(
        cls,
        joint: JointDistribution,
        uncertainty: FittedSet,
        eps: float | None = None,
        *,
        eps_worst_case: float | None = None,
        known: Sequence[int] = (),
        observe: str = "all",
        fit: Callable[[JointDistribution], FittedSet] | None = None,
        columns: Sequence[tuple[Any, bool]] = (),
    ) -> "Requirements":
        """List the requested claims: for the report alone, known columns, and all distributions.

        `columns` are the names of the claims' columns. Without `eps`, every bound is accepted.
        Regions are the tightest that proofs can use.
        """
        a1, a2 = joint.counts.shape
        secret = tuple(name for name, flag in columns if flag)
        of_u = [name for name, flag in columns if not flag]

        def required(
            table: JointDistribution,
            around: FittedSet,
            asked: float | None,
            known: Sequence[int],
            layout: Layout,
            cells: Indices,
            compared: tuple[Indices, Indices] | None = None,
        ) -> Requirement:
            stated = around.stated(joint.alphabet_for(around.beta))
            names = tuple(of_u[place] if of_u else place for place in known)
            claim = Claim(math.inf, 0.0, stated, secret, names, asked=asked)
            region = privacy_region(table, around, region="exact", layout=layout, compared=compared)
            return Requirement(region, MOST_EPS if asked is None else asked, claim, table, cells)

        def set_around(table: JointDistribution) -> FittedSet:
            if table.counts.shape[1] == 1:  # no columns of U remain
                return _EVERYTHING
            # Groups by learned values are not fixed in advance, so the event is that of the coarser
            # table (Theorem 31 (iii)). A given radius, and the covariance of a survey, are valid
            # for any groups.
            of_any = uncertainty.n_values is None or uncertainty.rule in ("given", "survey")
            if fit is None or uncertainty.covers_groups or not of_any:
                return uncertainty
            return fit(table)

        plain = (), Layout.plain(a1, a2, observe), np.arange(a1 * a2)
        items = [required(joint, uncertainty, eps, *plain)]
        if known:
            table, layout, cells, compared = _groups(joint, tuple(known), observe)
            owned = set_around(table)
            items.append(required(table, owned, eps, known, layout, cells, compared))
        if eps_worst_case is not None and not uncertainty.is_everything:
            items.append(required(joint, _EVERYTHING, eps_worst_case, *plain))
        return cls(tuple(items), observe)

    @property
    def joint(self) -> JointDistribution:
        """The public distribution of S and U; requires that a claim was requested."""
        joint = self.items[0].joint
        assert joint is not None
        return joint

    @property
    def for_all(self) -> Requirement | None:
        """The limit for all distributions, if requested in addition to a set."""
        last = self.items[-1]
        is_limit = len(self) > 1 and last.claim is not None and not last.claim.known
        return last if is_limit else None

    def over(self, kind: str = "exact", same_secret: bool = False) -> "Requirements":
        """List the requirements over regions of this kind, without those implied by others."""
        first, *rest = self
        items = [first.over(kind, same_secret), *(item.over(kind) for item in rest)]
        if self.for_all is not None and not same_secret:
            eps_for_all = self.for_all.eps
            items = [item for item in items if item.eps < eps_for_all or item is items[-1]]
        return replace(self, items=tuple(items))

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def only(self) -> Requirement | None:
        """The only requirement; None if there are several."""
        return self.items[0] if len(self.items) == 1 else None

    @property
    def of_whole_records(self) -> bool:
        """Whether every entry is a secret, so that distributions do not matter.

        A row is then private if its largest entry is at most e^ε times its smallest.
        """
        item = self.only
        if item is None or item.region.compared is not None:
            return False
        return item.region.rows.parts.shape == (self.n_cells, 1)

    @property
    def n_cells(self) -> int:
        """Number of entries of a row."""
        return self.items[0].region.rows.n_cells

    @property
    def n_pairs(self) -> int:
        """Number of pairs of secrets that are compared, over all requirements."""
        return sum(item.n_pairs for item in self.items)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of parts of a row and of entries of each, whose product is :attr:`n_cells`.

        Searches begin with rows of this shape, that of the first requirement whose parts form a
        row.
        """
        for item in self:
            if item.region.rows.in_order:
                n_parts, size = item.region.rows.parts.shape
                return int(n_parts), int(size)
        return 1, self.n_cells

    @cached_property
    def any_pair(self) -> bool:
        """Whether any secrets are compared; if not, all rows are private."""
        return any(item.n_pairs for item in self.items)

    @cached_property
    def least_eps(self) -> float:
        """The smallest ε, in nats; infinite if nothing is compared."""
        return min((item.eps for item in self if item.n_pairs), default=np.inf)

    def describe(self) -> str:
        """Describe the requirements, for messages."""
        return " and ".join(f"eps={item.eps:g} over {type(item.region).__name__}" for item in self)

    def fold(self, distribution: Floats) -> Floats:
        """Return the distribution of the entries of a row: of X, or of U if only U is observed.

        Shapes: `distribution` (a1, a2); returns (n_cells,).
        """
        if distribution.size == self.n_cells:
            return distribution.ravel()
        return distribution.sum(axis=0)

    def shifts(
        self, rows: Floats, rounding: float = 0.0, callback: Callable[[int], None] | None = None
    ) -> Floats:
        r"""Find a number for each row that, added to all its entries, satisfies the requirements.

        If a row violates the privacy of a pair by at most δ, adding
        :math:`\delta/(e^\epsilon - 1)` to its entries makes it private for the pair, as does every
        larger number (docs/proofs.md, the repair lemma).

        Shapes: `rows` (b, ...); returns (b,).
        """
        shifts = np.zeros(len(rows))
        for item in self:
            needed = item.region.shifts(rows, item.eps, rounding, callback)
            shifts = np.maximum(shifts, needed)
        return shifts

    def shift(self, rows: Floats) -> Floats:
        """Raise rows until they satisfy the requirements, each by about as little as necessary.

        Shapes: `rows` (b, n_cells). Returns (b, n_cells): private rows of unit sum.
        """
        unit = rows / rows.sum(axis=1, keepdims=True)
        return shifted(unit, self.shifts(unit))


def shifted(rows: Floats, shifts: Floats) -> Floats:
    """Add to all entries of each row, and scale it to unit sum."""
    higher = rows + shifts[:, None]
    return higher / higher.sum(axis=1, keepdims=True)


# --- Known columns --------------------------------------------------------------------------------


def _codes(names: Sequence[Any], columns: tuple[int, ...]) -> Indices:
    """Return a number for each combination of values of given columns."""
    number: dict[Hashable, int] = {}
    rows = [name if isinstance(name, tuple) else (name,) for name in names]
    wanted = [tuple(row[column] for column in columns) for row in rows]
    return np.array([number.setdefault(row, len(number)) for row in wanted], dtype=np.intp)


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
    entries = np.array([np.pad(m, (0, size - len(m)), constant_values=m[0]) for m in members])
    index = np.array([np.searchsorted(members[g], e) for g, e in zip(group, entry, strict=True)])
    cells = group * size + index
    counts = np.bincount(cells, joint.counts.ravel(), n_groups * size).reshape(n_groups, size)
    survey = None if joint.survey is None else joint.survey.arranged(cells, n_groups * size)
    table = JointDistribution(
        counts, alphabet=joint.alphabet, beta_of_values=joint.beta_of_values, survey=survey
    )
    owner = np.arange(n_groups)
    layout = Layout(entries, owner, a1 * a2)
    if observe != "all":  # secrets that are not observed share the part of their known values
        layout = Layout(entries[:n_known], owner % n_known, a2)
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
    """Make any stochastic matrix private by adding a constant to each report's row.

    Adding a number to all entries of a row makes it private (:meth:`Requirements.shifts`);
    dividing by the new column sums preserves privacy.

    Shapes: `matrix` (b, n_cells). Returns array of the same shape: columns sum to 1 up to rounding.
    """
    clean = np.clip(matrix, 0.0, None)
    clean = clean / clean.sum(axis=0)
    shifts = requirements.shifts(clean, rounding, callback)
    shifts[~clean.any(axis=1)] = 0.0  # a report that is never sent reveals nothing
    return (clean + shifts[:, None]) / (1.0 + shifts.sum())
