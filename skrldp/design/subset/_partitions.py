"""Partitions of the values into groups that have the same probability under every secret.

Whether U is in a set tells little about S if the set has about the same probability under each
secret, so reports may say a lot about it. The groups of a partition also share the values among
them evenly. With many values a search by small changes of simple sets takes long to find such sets.
"""

import numpy as np

from skrldp._typing import Booleans, Floats
from skrldp.design.subset._sets import distinct_sets, simple_sets

__all__ = ["MANY_VALUES", "even_groups", "first_sets"]


MANY_VALUES = 40  # up to so many, a search by small changes of simple sets finds what there is
# Chosen by hand, on tables of 2 x 300, 3 x 200, 5 x 60 and 10 x 100 cells.
_MOST_GROUPS, _GROWTH = 40, 1.25  # numbers of groups: up to so many, each so many times the last
_SPREAD = 0.7  # standard deviation of the logarithms of what the order of the values is shuffled by


def first_sets(conditionals: Floats, most: int, quick: bool = False) -> Booleans:
    """Return the sets that a search begins with: the simple ones, and even groups of many values.

    Shapes: `conditionals` (a1, k); returns (m, k).
    """
    simple = simple_sets(conditionals.shape[1])
    if not quick and conditionals.shape[1] <= MANY_VALUES:
        return simple
    return distinct_sets(np.concatenate([simple, even_groups(conditionals, most)]))


def even_groups(conditionals: Floats, most: int) -> Booleans:
    """Make groups of values by dealing them out, each value to where there is least.

    Shapes: `conditionals` (a1, k). Returns (m, k): the groups of partitions into 2, 3 and more
    groups, each group once; partitions differ by the order in which values are dealt out.
    """
    size, rng = conditionals.shape[1], np.random.default_rng(0)  # the design is deterministic
    numbers = [2]
    while (more := int(np.ceil(numbers[-1] * _GROWTH))) <= min(_MOST_GROUPS, size // 2):
        numbers.append(more)
    found = [
        _dealt(conditionals, number, max(most // (number * len(numbers)), 1), rng)
        for number in numbers
    ]
    return distinct_sets(np.concatenate(found))


def _dealt(
    conditionals: Floats, groups: int, partitions: int, rng: np.random.Generator
) -> Booleans:
    """Deal values out, large ones first: each to the group whose greatest sum stays least."""
    a1, size = conditionals.shape
    shuffled = np.exp(rng.normal(scale=_SPREAD, size=(partitions, size)))
    order = np.argsort(-conditionals.mean(axis=0) * shuffled, axis=1)
    sums, each = np.zeros((partitions, groups, a1)), np.arange(partitions)
    found = np.zeros((partitions, groups, size), dtype=bool)
    for value in order.T:
        added = conditionals[:, value].T
        group = (sums + added[:, None, :]).max(axis=2).argmin(axis=1)
        sums[each, group] += added
        found[each, group, value] = True
    return found.reshape(-1, size)
