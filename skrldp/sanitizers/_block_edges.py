"""The alphabets of wide tables: the categories that are given, and numbers cut at fixed edges."""

from collections.abc import Mapping, Sequence
from typing import Any

from skrldp.alphabet import Bins

__all__ = ["alphabets_of", "bins_of"]


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


def alphabets_of(categories: Any, bins: Mapping[Any, Bins], names: Sequence[Any]) -> Any:
    """Read the parameter `categories`: a word, or a dict of columns that holds the bins' labels."""
    if isinstance(categories, str):
        found: dict[Any, Any] = {}
        if categories == "dtype" and bins:
            found = dict.fromkeys(names, "dtype")
    elif hasattr(categories, "get"):
        found = dict(categories)
        strange = [key for key in found if key not in names]
        if strange:
            raise ValueError(f"categories has keys that are no columns: {strange}.")
    else:
        given = list(categories)
        if len(given) != len(names):
            raise ValueError(
                f"categories lists {len(given)} alphabets, but the table has {len(names)} columns."
            )
        found = dict(zip(names, given, strict=True))
    twice = [name for name in bins if not isinstance(found.get(name, "auto"), str)]
    if twice:
        raise ValueError(f"column {twice[0]!r} has edges and categories: give one of them.")
    found |= {name: list(own.labels) for name, own in bins.items()}
    return found or categories
