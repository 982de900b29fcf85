"""Tables for examples: real records with a sensitive column."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["load_affairs"]

_COLUMNS = ("affair", "religious", "happy")


def load_affairs(
    columns: Sequence[str] = _COLUMNS,
) -> "tuple[pd.DataFrame, pd.DataFrame, dict[str, list[Any]]]":
    """Load a survey of 6,366 married women, in which the secret is whether a woman has an affair.

    The women are shuffled, always in the same order, and split into halves: a public table, and
    records that represent what people would enter on their own devices. statsmodels contains the
    survey (Redbook, 1974; R. Fair, "A theory of extramarital affairs", 1978).

    Parameters
    ----------
    columns : sequence of str, default=("affair", "religious", "happy")
        The columns of the tables: "affair", "happy" (whether she rates her marriage 4 or 5 of 5),
        and columns of statsmodels' table, which are truncated to integers. Choose others to try
        designs of different sizes.

    Returns
    -------
    public : pandas.DataFrame of shape (3183, n_columns)
        Records for the design of a mechanism.
    private : pandas.DataFrame of shape (3183, n_columns)
        Records to report.
    answers : dict
        The categories of each column, for ``categories=``. They come from the questionnaire, so
        they do not depend on the records.

    Raises
    ------
    ImportError
        If statsmodels is not installed.
    ValueError
        If the survey does not contain one of `columns`.

    Examples
    --------
    >>> from skrldp.datasets import load_affairs
    >>> public, private, answers = load_affairs()
    >>> answers
    {'affair': [False, True], 'religious': [1, 2, 3, 4], 'happy': [False, True]}
    >>> public.shape
    (3183, 3)
    """
    try:
        from statsmodels.datasets import fair
    except ImportError as error:
        raise ImportError(
            "load_affairs reads statsmodels' copy: pip install statsmodels"
        ) from error
    women = fair.load_pandas().data.sample(frac=1, random_state=0)
    women = women.assign(affair=women["affairs"] > 0, happy=women["rate_marriage"] >= 4)
    if unknown := [name for name in columns if name not in women.columns]:
        raise ValueError(f"the survey has no column {unknown[0]!r}; it has {list(women.columns)}")
    booleans = ("affair", "happy")
    table = women[list(columns)].astype({name: int for name in columns if name not in booleans})
    answers = {name: sorted(table[name].unique().tolist()) for name in table.columns}
    half = len(table) // 2
    return table[:half], table[half:], answers
