"""Generalised least squares over the reports of all blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skrldp._typing import Floats
from skrldp.pooling._margins import BlockModel, CommonMargins

__all__ = ["Pool", "Pooled", "ReportInformation", "information_of"]

# Share of the largest eigenvalue of the information below which an eigenvalue counts as zero: its
# direction is not estimated.
_NOTHING = 1e-10
# Part of a function, relative to its length, that may lie in directions without information.
_DETERMINED = 1e-6


class ReportInformation(NamedTuple):
    """What one report of a block tells about the block's parameters."""

    matrix: Floats  # (p, p), Fisher information of a report
    channel: Floats  # (b, p), how the distribution of the report depends on the parameters
    constant: Floats  # (b,), that distribution where all parameters are 0
    # (b,), the distribution of the report at which the information is computed, positive
    report: Floats

    def score(self, counts: Floats) -> Floats:
        """Return what reports (b,) say about the parameters (p,), by weighted least squares."""
        found: Floats = self.channel.T @ ((counts - counts.sum() * self.constant) / self.report)
        return found


def information_of(model: BlockModel, matrix: Floats, cells: Floats) -> ReportInformation:
    """Compute the information of a block's reports at a distribution of its cells.

    Shapes: `matrix` (b, a), `cells` (a,), in the order of the model's cells.
    """
    report = matrix @ cells
    report = np.maximum(report, report.max() * 1e-12)
    channel = matrix @ model.design
    return ReportInformation(
        channel.T @ (channel / report[:, None]), channel, matrix @ model.constant, report
    )


class Pooled(NamedTuple):
    """Values of linear functions of the blocks' distributions, estimated together."""

    values: Floats  # (k,)
    covariance: Floats  # (k, k)
    determined: NDArray[np.bool_]  # (k,), whether the reports determine the function


@dataclass(frozen=True, eq=False)
class _Block:
    """One block's information, parted into shared parameters and its own."""

    model: BlockModel
    information: Floats  # (p, p), of all its reports
    score: Floats  # (p,)

    @cached_property
    def inverse(self) -> "_Inverse":
        """Inverse of the information about the block's own parameters."""
        own = self.model.own
        return _Inverse.of(self.information[np.ix_(own, own)])

    @cached_property
    def _across(self) -> Floats:
        return self.information[np.ix_(self.model.own, self.model.shared)]

    @cached_property
    def of_shared(self) -> Floats:
        """Information about the shared parameters, the block's own being unknown."""
        shared = self.model.shared
        found: Floats = self.information[np.ix_(shared, shared)]
        return found - self._across.T @ self.inverse.matrix @ self._across

    @cached_property
    def score_of_shared(self) -> Floats:
        return (
            self.score[self.model.shared]
            - self._across.T @ self.inverse.matrix @ self.score[self.model.own]
        )

    def reduced_scores(self, functions: Floats) -> Floats:
        """Return what functions of reduced scores (k, shared) take off the own ones: (k, own)."""
        found: Floats = functions @ self._across.T @ self.inverse.matrix
        return found

    def reduced(self, functions: Floats) -> Floats:
        """Write functions of the block's parameters (k, p) as functions of the shared ones."""
        own = functions[:, self.model.own]
        return functions[:, self.model.shared] - own @ self.inverse.matrix @ self._across


@dataclass(frozen=True, eq=False)
class Pool:
    """The estimate from the reports of all blocks, of whatever is asked.

    Shapes: for m blocks, `information` has m matrices (p, p) and `scores` m vectors (p,).
    """

    margins: CommonMargins
    information: tuple[Floats, ...]
    scores: tuple[Floats, ...]

    @classmethod
    def of(
        cls,
        margins: CommonMargins,
        information: Sequence[ReportInformation],
        counts: Sequence[Floats],
    ) -> "Pool":
        """Put counts (b,) of the reports of each block together with what a report tells."""
        both = list(zip(information, counts, strict=True))
        matrices = tuple(own.sum() * one.matrix for one, own in both)
        return cls(margins, matrices, tuple(one.score(own) for one, own in both))

    @cached_property
    def _blocks(self) -> list[_Block]:
        found = zip(self.margins.blocks, self.information, self.scores, strict=True)
        return [_Block(*parts) for parts in found]

    @cached_property
    def _inverse(self) -> "_Inverse":
        """Covariance of the shared parameters."""
        total = np.zeros((self.margins.n_shared, self.margins.n_shared))
        for block in self._blocks:
            total[np.ix_(block.model.numbers, block.model.numbers)] += block.of_shared
        return _Inverse.of(total)

    @cached_property
    def _shared(self) -> Floats:
        score = np.zeros(self.margins.n_shared)
        for block in self._blocks:
            score[block.model.numbers] += block.score_of_shared
        return self._inverse.matrix @ score

    def evaluate(self, functions: Sequence[tuple[int, Floats]]) -> Pooled:
        """Estimate linear functions of the distributions of blocks' cells.

        Shapes: each of `functions` is the number of a block and an array (k_i, a).
        """
        values, shared, determined, own = [], [], [], []
        for number, on_cells in functions:
            block = self._blocks[number]
            on_parameters = on_cells @ block.model.design
            reduced = block.reduced(on_parameters)
            across = np.zeros((len(on_cells), self.margins.n_shared))
            across[:, block.model.numbers] = reduced
            local = on_parameters[:, block.model.own]
            values.append(
                on_cells @ block.model.constant
                + across @ self._shared
                + local @ block.inverse.matrix @ block.score[block.model.own]
            )
            determined.append(block.inverse.determines(local) & self._inverse.determines(across))
            shared.append(across)
            own.append(local)
        together = np.concatenate(shared)
        covariance = together @ self._inverse.matrix @ together.T
        start = np.cumsum([0, *map(len, own)])
        for i, (one, _) in enumerate(functions):
            for j, (two, _) in enumerate(functions):
                if one == two:
                    rows, columns = slice(start[i], start[i + 1]), slice(start[j], start[j + 1])
                    covariance[rows, columns] += (
                        own[i] @ self._blocks[one].inverse.matrix @ own[j].T
                    )
        return Pooled(np.concatenate(values), covariance, np.concatenate(determined))

    def weights(
        self, number: int, on_cells: Floats, information: Sequence[ReportInformation]
    ) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Write estimates of functions of a block's cells (k, a) as sums over reports.

        Returns a constant (k,); what one report of each symbol of each block adds, one block after
        the other (k, sum of b); and which functions the reports determine (k,).
        """
        block = self._blocks[number]
        on_parameters = on_cells @ block.model.design
        reduced, local = block.reduced(on_parameters), on_parameters[:, block.model.own]
        across = np.zeros((len(on_cells), self.margins.n_shared))
        across[:, block.model.numbers] = reduced
        along, found = across @ self._inverse.matrix, []
        for place, (one, own) in enumerate(zip(self._blocks, information, strict=True)):
            by_score = np.zeros((len(on_cells), own.channel.shape[1]))
            by_score[:, one.model.shared] = along[:, one.model.numbers]
            by_score[:, one.model.own] = -one.reduced_scores(along[:, one.model.numbers])
            if place == number:
                by_score[:, one.model.own] += local @ one.inverse.matrix
            scores = own.channel / own.report[:, None]  # (b, p)
            scores = scores - own.constant @ scores
            found.append(by_score @ scores.T)
        known = block.inverse.determines(local) & self._inverse.determines(across)
        return on_cells @ block.model.constant, np.concatenate(found, axis=1), known

    def gains(self, functions: Sequence[tuple[int, Floats]]) -> tuple[float, Floats]:
        """Return the sum of the functions' variances, and by how much each block lowers the sum.

        The second, (m,), is minus the derivative by a factor of the block's reports, at 1.
        """
        total = 0.0
        spread = np.zeros((self.margins.n_shared, self.margins.n_shared))
        gains = np.zeros(len(self._blocks))
        for number, on_cells in functions:
            block = self._blocks[number]
            on_parameters = on_cells @ block.model.design
            reduced, local = block.reduced(on_parameters), on_parameters[:, block.model.own]
            own = float(np.einsum("kp,pq,kq->", local, block.inverse.matrix, local))
            moved = reduced @ self._inverse.matrix[block.model.numbers]
            total += own + float((moved[:, block.model.numbers] * reduced).sum())
            gains[number] += own
            spread += moved.T @ moved
        for number, block in enumerate(self._blocks):
            numbers = block.model.numbers
            gains[number] += float((block.of_shared * spread[np.ix_(numbers, numbers)]).sum())
        return total, gains


class _Inverse(NamedTuple):
    """A generalised inverse of a non-negative definite matrix."""

    matrix: Floats  # (p, p)
    null: Floats  # (p, q), a basis of the null space
    scale: Floats  # (p,), roots of the diagonal

    @staticmethod
    def of(matrix: Floats) -> "_Inverse":
        scale = np.sqrt(np.maximum(np.diag(matrix), 0.0))
        scale = np.where(scale > 0, scale, 1.0)
        if not len(matrix):
            return _Inverse(matrix, matrix, scale)
        values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
        known = values > _NOTHING * max(float(values[-1]), 0.0)
        vectors = vectors / scale[:, None]
        inverse = (vectors[:, known] / values[known]) @ vectors[:, known].T
        return _Inverse(inverse, vectors[:, ~known], scale)

    def determines(self, functions: Floats) -> NDArray[np.bool_]:
        """Whether linear functions (k, p) do not change along the null space."""
        along = np.linalg.norm(functions @ self.null, axis=1)
        found: NDArray[np.bool_] = along <= _DETERMINED * np.linalg.norm(
            functions / self.scale, axis=1
        )
        return found
