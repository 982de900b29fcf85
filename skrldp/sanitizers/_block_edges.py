"""Columns of numbers that blocks cut at fixed edges."""

from collections.abc import Mapping, Sequence
from typing import Any

from skrldp.alphabet import Bins

__all__ = ["bins_of", "with_labels"]


def bins_of(edges: Any, names: Sequence[Any], secret: Sequence[int]) -> dict[Any, Bins]:
    """Read the parameter `edges`: the bins of each column that it names."""
    if edges is None:
        return {}
    if not isinstance(edges, Mapping):
        raise ValueError(
            f"edges={edges!r} must be a dict of lists, such as {{'age': [0, 18, 65, 120]}}."
        )
    strange = [name for name in edges if name not in names]
    if strange:
        raise ValueError(f"edges has keys that are no columns: {strange}; they are {list(names)}.")
    inside = [names[place] for place in secret if names[place] in edges]
    if inside:
        raise ValueError(
            f"edges has the sensitive column {inside[0]!r}. They cut columns of U: cut the secret "
            "before, with pandas.cut for example, and give clients its categories."
        )
    found = {}
    for name, own in edges.items():
        try:
            found[name] = Bins.of_edges(own)
        except ValueError as error:
            raise ValueError(f"column {name!r}: {error}") from None
    return found


def with_labels(categories: Any, bins: Mapping[Any, Bins], names: Sequence[Any]) -> Any:
    """Add the labels of bins to the parameter `categories`."""
    if not bins:
        return categories
    if isinstance(categories, str):
        return {name: list(own.labels) for name, own in bins.items()}
    if hasattr(categories, "get"):
        found = dict(categories)
    else:
        given = list(categories)
        if len(given) != len(names):
            return given  # which is refused
        found = dict(zip(names, given, strict=True))
    twice = [name for name in bins if not isinstance(found.get(name, "auto"), str)]
    if twice:
        raise ValueError(f"column {twice[0]!r} has edges and categories: give one of them.")
    return found | {name: list(own.labels) for name, own in bins.items()}
