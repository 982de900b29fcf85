"""What is said about a fitted sanitizer needs one that is fitted."""

from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from skrldp.sanitizers._base import BaseSanitizer

__all__ = ["as_sanitizer", "fitted_sanitizer"]


def as_sanitizer(candidate: Any) -> Any:
    """Return the sanitizer inside a FrozenEstimator; None for what is no sanitizer.

    Parameters
    ----------
    candidate : object
        Anything.

    Returns
    -------
    BaseSanitizer or None

    Raises
    ------
    NotFittedError
        If it is a sanitizer that has not been fitted.
    """
    while isinstance(candidate, FrozenEstimator):
        candidate = candidate.estimator
    if not isinstance(candidate, BaseSanitizer):
        return None
    check_is_fitted(candidate)
    return candidate


def fitted_sanitizer(candidate: Any) -> Any:
    """Return the sanitizer, or say what was given in its place.

    Parameters
    ----------
    candidate : object
        A fitted sanitizer, or one inside a FrozenEstimator.

    Returns
    -------
    BaseSanitizer

    Raises
    ------
    TypeError
        If it is no sanitizer.
    NotFittedError
        If it has not been fitted.
    """
    sanitizer = as_sanitizer(candidate)
    if sanitizer is not None:
        return sanitizer
    if isinstance(candidate, type):
        raise TypeError(
            f"a fitted sanitizer is needed, got the class {candidate.__name__}: write "
            f"{candidate.__name__}().fit(X)."
        )
    steps = getattr(candidate, "steps", None)
    mend = " A pipeline's last step is pipeline[-1]." if steps else ""
    raise TypeError(f"a fitted sanitizer is needed, got {type(candidate).__name__}.{mend}")
