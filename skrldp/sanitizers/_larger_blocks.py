"""Larger blocks in place of several that targets name: where one report tells more than several."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skrldp.joint import JointDistribution
from skrldp.mechanism import Manifest, Mechanism
from skrldp.sanitizers._pooled_blocks import errors_of, models

__all__ = ["Larger", "kept_blocks", "larger_blocks", "restated"]

# A larger block takes the place of others if the variances from its reports are below this share of
# those from as many reports of the others, each estimated from its own alone. Reports of several
# blocks tell of one another as well, so that they come off worse here than they are: on 24 groups
# of census columns a block paid where the share was .52 or less, and did not where it was .65.
_PAYS = 0.6

Block = tuple[int, ...]  # places of columns


@dataclass(frozen=True)
class Larger:
    """A block that may take the place of several others.

    Attributes
    ----------
    block : tuple of int
        Places of its columns.
    instead_of : tuple of blocks
    """

    block: Block
    instead_of: tuple[Block, ...]


def larger_blocks(
    groups: Sequence[Block], sizes: dict[int, float], secret: Sequence[int], max_cells: int
) -> list[Larger]:
    """Find blocks of few cells that each hold several groups of columns.

    Each group is in at most one of them; those that hold most come first. They depend on `sizes`
    alone: where these do not depend on the records of U, no other blocks count as candidates.
    """

    def cells(block: Block) -> float:
        return math.prod(sizes[place] for place in (*secret, *block))

    unions: dict[Block, None] = {}
    ends = list(dict.fromkeys(groups))
    while ends:
        wider = {tuple(sorted({*end, *group})): None for end in ends for group in groups}
        ends = [one for one in wider if one not in unions and cells(one) <= max_cells]
        unions |= dict.fromkeys(ends)
    found: list[Larger] = []
    left = dict.fromkeys(groups)
    while True:
        held = {one: [group for group in left if set(group) <= set(one)] for one in unions}
        several = [one for one in unions if len(held[one]) > 1 and one not in held[one]]
        if not several:
            return found
        best = min(several, key=lambda one: (-len(held[one]), cells(one), one))
        found.append(Larger(best, tuple(held[best])))
        for group in held[best]:
            del left[group]


def kept_blocks(
    larger: Sequence[Larger],
    blocks: Sequence[Block],
    mechanisms: Sequence[Mechanism],
    joints: Sequence[JointDistribution],
    names: Sequence[Any],
) -> list[int]:
    """Return which blocks stay: larger ones that pay, or those in whose place they would be.

    Shapes: m `blocks`, the larger ones among them, `mechanisms` and `joints`.
    """
    number_of = {block: number for number, block in enumerate(blocks)}

    def variance(block: Block, tables: Sequence[Block]) -> float:
        """Sum of the variances of some tables, from one report of a block."""
        number = number_of[block]
        manifest = Manifest.of([mechanisms[number]], [1.0])
        wanted = [[names[place] for place in table] for table in tables]
        margins, functions, information = models(manifest, [joints[number]], [wanted])
        return float(errors_of(margins, information, functions, np.ones(1))[0] ** 2)

    gone: set[Block] = set()
    for one in larger:
        together = variance(one.block, one.instead_of)
        each = sum(math.sqrt(variance(own, [own])) for own in one.instead_of) ** 2
        gone |= {*one.instead_of} if together < _PAYS * each else {one.block}
    return [number for number, block in enumerate(blocks) if block not in gone]


def restated(mechanism: Mechanism, factor: float) -> Mechanism:
    """State that sets miss with a probability that is greater by a factor.

    Where blocks were chosen by their designs, the sets of all that were designed count.
    """
    claim = mechanism.guarantee
    if claim is None or factor == 1.0:
        return mechanism

    def wider(bound: Any) -> Any:
        around = bound.distributions
        if isinstance(around, str) or around.beta is None:
            return bound
        return replace(bound, distributions=replace(around, beta=around.beta * factor))

    further = tuple(wider(bound) for bound in claim.further)
    return replace(mechanism, guarantee=replace(wider(claim), further=further))
