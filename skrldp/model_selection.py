"""The choice of ε by cross-validation: the smallest that is useful enough."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._params import is_finite

__all__ = ["smallest_eps"]


@dataclass(frozen=True)
class _SmallestEps:
    """The `refit` callable, as a class so that a search with it can be printed and pickled."""

    tolerance: float | str
    scoring: str | None
    param: str | None

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        eps = _eps_of(cv_results["params"], self.param)
        mean, deviation = _scores(cv_results, self.scoring)
        known = np.isfinite(mean)
        if not known.any():
            raise ValueError(
                f"none of the {len(mean)} candidates has a score in every fold, so there is none "
                "to choose: look at the warnings of the fits, or search with error_score='raise'."
            )
        best = int(np.where(known, mean, -np.inf).argmax())
        slack = deviation[best] if self.tolerance == "std" else self.tolerance * abs(mean[best])
        enough = np.flatnonzero(known & (mean >= mean[best] - slack))
        smallest = enough[eps[enough] == eps[enough].min()]
        return int(smallest[mean[smallest].argmax()])

    def __repr__(self) -> str:
        shown = {"tolerance": self.tolerance}
        shown |= {
            name: value
            for name, value in (("scoring", self.scoring), ("param", self.param))
            if value is not None
        }
        return f"smallest_eps({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


def smallest_eps(
    tolerance: float | str = 0.05, *, scoring: str | None = None, param: str | None = None
) -> Any:
    """Make a `refit` for ``GridSearchCV`` that picks the smallest ε which is useful enough.

    By utility alone, a search always prefers the largest ε. This callable takes the candidate with
    the smallest ε among those whose mean score is within a tolerance of the best mean score; among
    several with this ε, the one with the best score.

    Parameters
    ----------
    tolerance : float or "std", default=0.05
        How much of the score may be given up. A number is a fraction of the best score's absolute
        value: with 0.05, a score of 0.60 is as good as 0.63, and a distortion of 2.1 as good as
        2.0. "std" is one standard deviation of the best candidate's scores over the folds.
    scoring : str, optional
        Name of the score to use, if the search has several.
    param : str, optional
        Name of the parameter that is ε, such as ``"priv__eps"``. None takes the one that is called
        ``eps`` or ends in ``__eps``.

    Returns
    -------
    callable
        Maps ``cv_results_`` to the index of the chosen candidate.

    Raises
    ------
    ValueError
        If the tolerance is not as described; by the search, if ε, the score or a candidate with a
        score cannot be found.

    Notes
    -----
    **Search on public data only.** Scores and the choice depend on every record that the search is
    given, and this dependence is not private. The sanitizers' own scores need no private record:
    they are computed at the distribution of the public records left out of the fold.

    A fold has fewer public records than the whole table, so its uncertainty set is larger and its
    utility smaller. A fit on folds that lack a rare value fails on the fold that has it: give
    `categories`, or columns whose dtype declares its levels (category, Enum). If U or S has several
    columns, a combination is missing more often than a value: ``categories="product"`` allows all
    combinations. Shuffle a sorted table, as by ``cv=KFold(5, shuffle=True)``.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skrldp import SRRSanitizer
    >>> from skrldp.model_selection import smallest_eps
    >>> X = [[s, u] for s in range(2) for u in range(3)] * 40     # public records
    >>> grid = {"eps": [0.5, 1.0, 2.0, 4.0, 8.0, 12.0]}
    >>> search = GridSearchCV(SRRSanitizer(), grid, refit=smallest_eps(tolerance=0.05))
    >>> search.fit(X).best_params_
    {'eps': 8.0}
    """
    if tolerance != "std" and not (is_finite(tolerance) and tolerance >= 0):
        raise ValueError(
            f"tolerance={tolerance!r} must be a share of the best score, a number >= 0, or 'std'."
        )
    for name, value in (("scoring", scoring), ("param", param)):
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{name}={value!r} must be a name or None.")
    return _SmallestEps(tolerance, scoring, param)


def _eps_of(candidates: list[dict[str, Any]], param: str | None) -> NDArray[np.float64]:
    """ε of each candidate."""
    if param is None:
        names = {
            name
            for candidate in candidates
            for name in candidate
            if name.rpartition("__")[2] == "eps"
        }
        if len(names) > 1:
            raise ValueError(
                f"several parameters of the search may be eps: {', '.join(sorted(names))}. Say "
                "which, as in smallest_eps(param='priv__eps')."
            )
        if not names:
            searched = ", ".join(sorted({name for candidate in candidates for name in candidate}))
            raise ValueError(
                "the search has no parameter that is called eps or ends in __eps, only: "
                f"{searched}. Put eps in the grid, or name it by smallest_eps(param=...)."
            )
        (param,) = names
    for place, candidate in enumerate(candidates):
        if param not in candidate:
            raise ValueError(
                f"candidate {place} ({candidate}) does not say what {param} is: give it in every "
                "grid of the search."
            )
        if not is_finite(candidate[param]):
            raise ValueError(
                f"candidate {place} has {param}={candidate[param]!r}, which is no finite number."
            )
    return np.array([candidate[param] for candidate in candidates], dtype=float)


def _scores(
    cv_results: Mapping[str, Any], scoring: str | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of each candidate's score."""
    prefix = "mean_test_"
    names = [name.removeprefix(prefix) for name in cv_results if name.startswith(prefix)]
    if scoring is None and len(names) > 1:
        raise ValueError(
            f"the search has several scores: {', '.join(names)}. Say which, as in "
            f"smallest_eps(scoring={names[0]!r})."
        )
    name = names[0] if scoring is None else scoring
    if name not in names:
        raise ValueError(f"the search has no score {name!r}, only: {', '.join(names)}.")
    return tuple(  # type: ignore[return-value]
        np.asarray(cv_results[f"{kind}_test_{name}"], dtype=float) for kind in ("mean", "std")
    )
