"""Where the values of U come from, on which a confidence level depends."""

from __future__ import annotations

from collections.abc import Collection

__all__ = ["SOURCES", "source_in_words", "weakest_source"]

SOURCES = ("declared", "frequent", "learned")  # the last is the weakest

_WORDS = {
    "declared": (
        "the values of U are declared; bins and groups that were made before must not come from "
        "the counted records either"
    ),
    "frequent": (
        "the values of U were learned from the counted records, but each has so many of them that "
        "this holds all the same"
    ),
    "learned": (
        "only if the values of U come from elsewhere, but they were learned from the counted "
        "records, some from few of them, and then the set may miss far more often"
    ),
    None: (
        "only if the values of U come from elsewhere than the counted records, which is not known"
    ),
}


def source_in_words(source: str | None) -> str:
    """Say on what the probability that a confidence set misses is conditional.

    A set around a table is made for values of U (and bins, and groups) that were there before its
    records were counted. Whatever is chosen by looking at the counted records favours what
    happened to be frequent among them.

    The values of U were "declared", learned from the counted records where each value has so many
    that the set can allow for it ("frequent", Theorem 36), or learned from them otherwise
    ("learned"); None if that is not known.

    Examples
    --------
    >>> source_in_words("declared").partition(";")[0]
    'the values of U are declared'
    """
    if source not in _WORDS:
        raise ValueError(f"source={source!r} is none of {', '.join(map(repr, SOURCES))}.")
    return _WORDS[source]


def weakest_source(sources: Collection[str | None]) -> str | None:
    """Return the one of several sources on which beta depends most.

    Examples
    --------
    >>> weakest_source(["frequent", "learned", "declared"])
    'learned'
    """
    return None if None in sources else max(sources, key=SOURCES.index)
