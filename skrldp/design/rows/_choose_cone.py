"""Which cone of private rows designs use, made once for all of them."""

from functools import cached_property

import numpy as np

from skrldp.design.interior_point import Block, path_blocks
from skrldp.design.rows._cone import CompactCone, Cone, PrivacyCone
from skrldp.design.rows._product_cone import ProductCone, product_cone
from skrldp.design.run import Limits
from skrldp.privacy import Requirements

__all__ = ["Cones"]


# How far a row of unit sum may have to be shifted into the exact cone while columns are searched.
# By hand; doubled, nothing changes.
_SEARCH_TOLERANCE = 1e-5
# Cells times pairs of secrets up to which the exact cone is searched; beyond, the complete program
# of a smaller cone. Beyond half of them, linear programs take longer than central paths.
_LARGEST = 4_000
# A cone is curved if linear programs need so many rounds of cuts, on average, for one direction. Of
# Adult's tables of 10 and 40 cells it is 1.6 to 3.9; on tables of 3x5 and 4x8 cells with 30 records
# it is 8 and 11. So many random directions are tried.
_PATIENCE, _TRIED = 6.0, 10


class Cones:
    """The cones of private rows, each made when it is first asked for.

    Parameters
    ----------
    requirements : Requirements
        What a row must satisfy.
    limits : Limits
        When to stop.
    """

    def __init__(self, requirements: Requirements, limits: Limits) -> None:
        self.requirements, self.limits = requirements, limits

    @cached_property
    def product(self) -> ProductCone | None:
        """The exact cone taken apart by secret, where that can be done."""
        return product_cone(self.requirements, self.limits)

    @cached_property
    def exact(self) -> ProductCone | PrivacyCone | None:
        """The exact cone, unless that would take too long to search."""
        if self.product is not None:
            return self.product
        if self._size > _LARGEST:
            return None
        return PrivacyCone(self.requirements, _SEARCH_TOLERANCE, self.limits)

    @property
    def large(self) -> bool:
        """Whether the exact cone has too many constraints for linear programs."""
        return 2 * self._size > _LARGEST

    @cached_property
    def _size(self) -> int:
        return self.requirements.n_cells * self.requirements.n_pairs

    @cached_property
    def blocks(self) -> list[Block] | None:
        """The constraints of central paths, where rows of the exact cone ascend along them."""
        return path_blocks(self.requirements) if isinstance(self.exact, PrivacyCone) else None

    @cached_property
    def by_paths(self) -> bool:
        """Whether linear programs over the exact cone take too long, and paths are better.

        They do if the cone is large, or so curved that they need many cuts.
        """
        cone, most = self.exact, _PATIENCE * _TRIED
        if self.blocks is None or not isinstance(cone, PrivacyCone):
            return False
        if self.large:
            return True
        directions = np.random.default_rng(0).normal(size=(_TRIED, self.requirements.n_cells))
        before = cone.solves
        cone.maximise(directions, most)
        return cone.solves - before >= most

    @cached_property
    def best(self) -> Cone:
        """The exact cone, or a smaller one that is quickly searched."""
        if self.exact is not None:
            return self.exact
        return CompactCone(self.requirements, self.limits)
