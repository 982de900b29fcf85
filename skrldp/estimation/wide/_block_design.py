"""The mechanisms of blocks as an estimator needs them, and their reports, counted."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrldp._params import is_whole
from skrldp._typing import Floats
from skrldp.estimation._checks import check_names
from skrldp.estimation.channels import DenseChannel
from skrldp.joint import JointDistribution, as_counts
from skrldp.mechanism import Manifest, Mechanism
from skrldp.pooling import CommonMargins, Pool, Pooled, information_of
from skrldp.sanitizers import as_block_sanitizer, margins_of, smoothed_cells
from skrldp.table import column_names, numbers_of, read_table, resolve_columns

__all__ = [
    "BlockDesign",
    "OfBlock",
    "block_with",
    "blocks_with",
    "count_blocks",
    "expected_blocks",
    "expected_pool",
    "names_in",
    "read_manifest",
    "without_zeros",
]

_EVEN = 0.01  # share of the even distribution in the distribution at which reports are weighted


@dataclass(frozen=True, eq=False)
class BlockDesign:
    """A manifest, its margins, and what is known of its blocks' cells before there are reports."""

    manifest: Manifest
    margins: CommonMargins
    matrices: tuple[Floats, ...]  # of the blocks' mechanisms (b, a), cells in lexicographic order
    public: tuple[Floats, ...] | None  # distributions of the blocks' cells (a,); None: not known
    n_public: int = 0

    def channels(self, counts: Sequence[Floats]) -> Iterator[tuple[int, DenseChannel]]:
        """Give the channel of each block that has reports, after its number."""
        for number, (matrix, own) in enumerate(zip(self.matrices, counts, strict=True)):
            if own.any():
                yield number, DenseChannel(matrix)

    def information(self, cells: Sequence[Floats]) -> list[Any]:
        parts = zip(self.margins.blocks, self.matrices, cells, strict=True)
        return [information_of(*part) for part in parts]


@dataclass(frozen=True, eq=False)
class OfBlock:
    """What the reports of all blocks say about the cells of one block."""

    pool: Pool
    manifest: Manifest
    number: int

    @property
    def record(self) -> Mechanism:
        """The mechanism of the block, which has its cells."""
        return self.manifest.mechanisms[self.number]

    def pooled(self, functions: Floats) -> Pooled:
        """Estimate functions (k, a) of the block's cells, with their covariance."""
        return self.pool.evaluate([(self.number, self.manifest.in_order(self.number, functions))])

    def evaluate(self, functions: Floats) -> tuple[Floats, Floats]:
        """Estimate functions (k, a) and their standard errors: NaN where not determined."""
        found = self.pooled(functions)
        errors = np.sqrt(np.maximum(np.diag(found.covariance), 0.0))
        known = found.determined
        return np.where(known, found.values, np.nan), np.where(known, errors, np.nan)

    spread = evaluate  # an error is stated for any number of reports


def read_manifest(mechanism: Any, distribution: Any = None) -> BlockDesign:
    """Read a manifest, its JSON, or a fitted BlockSanitizer.

    `distribution` has a JointDistribution for each block, in place of the sanitizer's public ones.
    """
    public, n_public = distribution, 0
    sanitizer = as_block_sanitizer(mechanism)
    if isinstance(mechanism, str | bytes):
        manifest = Manifest.from_json(mechanism)
    elif isinstance(mechanism, Manifest):
        manifest = mechanism
    elif sanitizer is not None:
        manifest = sanitizer.manifest_
        if distribution is None:
            public = [one.joint_ for one in sanitizer.sanitizers_]
            n_public = public[0].n
    else:
        raise TypeError(
            "mechanism must be a Manifest, its JSON text or a fitted BlockSanitizer, got "
            f"{type(mechanism).__name__}."
        )
    matrices = tuple(
        manifest.in_order(number, one.matrix) for number, one in enumerate(manifest.mechanisms)
    )
    cells = None if public is None else _cells_of(manifest, public)
    return BlockDesign(manifest, margins_of(manifest), matrices, cells, n_public)


def _cells_of(manifest: Manifest, joints: Any) -> tuple[Floats, ...]:
    """Return the distributions of the blocks' cells; refuse those of other blocks."""
    mechanisms = manifest.mechanisms
    given = list(joints) if isinstance(joints, list | tuple) else []
    if len(given) != len(mechanisms) or not all(isinstance(j, JointDistribution) for j in given):
        raise ValueError(
            f"distribution must be a list of {len(mechanisms):,} JointDistribution, one for each "
            "block; None takes the public ones of a fitted BlockSanitizer."
        )
    for joint, one in zip(given, mechanisms, strict=True):
        check_names("the distribution of a block", joint, one)
    return tuple(smoothed_cells(manifest, given))


def expected_pool(mechanism: Any, n: float, distribution: Any = None) -> tuple[Manifest, Pool]:
    """Return the covariances of n reports' estimates at the public distribution, as a pool."""
    design, public = _read_plan(mechanism, distribution)
    information = design.information(public)
    shares = design.manifest.shares
    counts = [n * r * one.report for r, one in zip(shares, information, strict=True)]
    return design.manifest, Pool.of(design.margins, information, counts)


def expected_blocks(
    mechanism: Any, n: float, distribution: Any, wanted: Sequence[Any]
) -> list[tuple[Mechanism, Floats, float]]:
    """Give the blocks with some columns: the mechanism, its cells' distribution (a,), reports."""
    design, public = _read_plan(mechanism, distribution)
    found = []
    for number in blocks_with(design.manifest, wanted):
        order = np.arange(len(public[number]), dtype=float)[None]
        cells = np.empty(len(public[number]))
        cells[design.manifest.in_order(number, order)[0].astype(np.intp)] = public[number]
        reports = n * float(design.manifest.shares[number])
        found.append((design.manifest.mechanisms[number], cells, reports))
    return found


def _read_plan(mechanism: Any, distribution: Any) -> tuple[BlockDesign, tuple[Floats, ...]]:
    """Read a design, and what the cells of its blocks are taken to follow."""
    design = read_manifest(mechanism, distribution)
    if design.public is None:
        raise ValueError(
            "a manifest alone does not say what the records follow: pass the fitted "
            "BlockSanitizer, or give distribution=, a list of a JointDistribution for each block."
        )
    return design, design.public


def without_zeros(cells: Floats) -> Floats:
    """Return a distribution near an estimated one that has no cell of probability 0, (a,)."""
    return (1.0 - _EVEN) * cells + _EVEN / len(cells)


def names_in(selections: Iterable[Any]) -> list[Any]:
    """List the columns that selections name: a name, a list of them, or None for none."""
    given = [one if isinstance(one, list | tuple) else [one] for one in selections]
    return [name for names in given for name in names if name is not None]


def block_with(manifest: Manifest, wanted: Sequence[Any]) -> int:
    """Return the number of the smallest block that has some columns."""
    return blocks_with(manifest, wanted)[0]


def blocks_with(manifest: Manifest, wanted: Sequence[Any]) -> list[int]:
    """Return the numbers of the blocks that have some columns, the smallest first."""
    names = [name for name, _ in manifest.columns]
    strange = [name for name in wanted if name not in names]
    if strange:
        raise ValueError(f"there is no column {strange[0]!r}; the columns are {names}.")
    found = [
        (one.shape[1], number)
        for number, one in enumerate(manifest.mechanisms)
        if {name for name, _ in one.columns}.issuperset(wanted)
    ]
    if not found:
        raise ValueError(
            f"no block has the columns {wanted} together, so no report tells how they go together. "
            "Design with such a block (blocks=, or targets=); or calibrate the public records to "
            "the margins that there are."
        )
    return [number for _, number in sorted(found)]


def count_blocks(Y: Any, sample_weight: ArrayLike | None, manifest: Manifest) -> list[Floats]:
    """Count the reports of each symbol of each block."""
    names = column_names(Y)
    wanted: Sequence[Any] = ("block", "report")
    if not set(wanted) <= set(names):
        if len(names) != 2 or any(isinstance(name, str) for name in names):
            raise ValueError(
                f"reports have the columns 'block' and 'report', but these have {names}: give what "
                "BlockSanitizer.transform or a reporter of the manifest returned."
            )
        wanted = names
    table, places = read_table(Y), resolve_columns(Y, list(wanted), "reports")
    blocks, reports = (
        _whole(numbers_of(table, place), name) for place, name in zip(places, wanted, strict=True)
    )
    weights = None
    if sample_weight is not None:
        weights = as_counts(sample_weight, len(blocks), "report", Y)
    if len(blocks) and not (blocks.min() >= 0 and blocks.max() < len(manifest.mechanisms)):
        raise ValueError(
            f"a report has a block that the manifest does not have: its {len(manifest.mechanisms)} "
            "blocks are numbered from 0. These are reports of another manifest."
        )
    sizes = np.array([one.shape[0] for one in manifest.mechanisms])
    wrong = (reports < 0) | (reports >= sizes[blocks])
    if wrong.any():
        number = int(blocks[wrong].min())
        raise ValueError(
            f"a report of block {number} ({', '.join(map(str, manifest.blocks[number]))}) is "
            f"none of its {sizes[number]} symbols: these are reports of another manifest."
        )
    ends = np.cumsum(sizes)
    counts = np.bincount(ends[blocks] - sizes[blocks] + reports, weights, ends[-1])
    return np.split(counts.astype(float), ends[:-1])


def _whole(column: NDArray[Any], name: Any) -> NDArray[np.int64]:
    """Read whole numbers; refuse anything else, missing reports among it."""
    if column.dtype.kind == "f" and np.isfinite(column).all() and (column == np.rint(column)).all():
        column = column.astype(np.int64)
    if column.dtype == object and all(is_whole(value) for value in column):
        column = column.astype(np.int64)
    if column.dtype.kind not in "iu":
        raise ValueError(
            f"column {name!r} of the reports must hold whole numbers, none of them missing. Leave "
            "out rows without a report."
        )
    return column.astype(np.int64)
