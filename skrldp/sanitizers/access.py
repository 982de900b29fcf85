"""Access to a fitted sanitizer, which may be frozen or at the end of a pipeline."""

from typing import Any

from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from skrldp.sanitizers.base import BaseSanitizer
from skrldp.sanitizers.block_sanitizer import BlockSanitizer
from skrldp.sanitizers.fitted_state import changes
from skrldp.sanitizers.reports import blank_table
from skrldp.sets.fitted_sets import FittedSet
from skrldp.table.codec import CellCodec


def as_sanitizer(candidate: Any) -> Any:
    """Return the sanitizer that an estimator is or contains, or None.

    Raises NotFittedError for a sanitizer that has not been fitted.
    """
    return _last_of(candidate, BaseSanitizer)


def as_block_sanitizer(candidate: Any) -> Any:
    """Return the BlockSanitizer that an estimator is or contains, as :func:`as_sanitizer` does."""
    return _last_of(candidate, BlockSanitizer)


def _last_of(candidate: Any, kind: type) -> Any:
    """Unwrap frozen estimators and pipelines; return the last step, or None if of another type."""
    while True:
        if isinstance(candidate, FrozenEstimator):
            candidate = candidate.estimator
        elif isinstance(candidate, Pipeline) and candidate.steps:
            candidate = candidate.steps[-1][1]
        else:
            break
    if not isinstance(candidate, kind):
        return None
    check_is_fitted(candidate)
    return candidate


def fitted_sanitizer(candidate: Any) -> Any:
    """Return the sanitizer, or raise an error that states what was given instead.

    Raises TypeError if it is not a sanitizer. Raises NotFittedError if it has not been fitted.
    """
    sanitizer = as_sanitizer(candidate)
    if sanitizer is not None:
        return sanitizer
    if as_block_sanitizer(candidate) is not None:
        raise TypeError(
            "Expected a fitted sanitizer with a single mechanism, got a BlockSanitizer: pass one "
            "of its sanitizers_, each of which has the mechanism of one block."
        )
    if isinstance(candidate, type):
        raise TypeError(
            f"Expected a fitted sanitizer, got the class {candidate.__name__}: write "
            f"{candidate.__name__}().fit(X)."
        )
    raise TypeError(
        f"Expected a fitted sanitizer, got {type(candidate).__name__}.{_where(candidate)}"
    )


def _where(candidate: Any) -> str:
    """State which step of a pipeline is the sanitizer, if it is not the last one."""
    for name, step in getattr(candidate, "steps", []):
        while isinstance(step, FrozenEstimator):
            step = step.estimator
        if isinstance(step, BaseSanitizer):
            return f" Its step {name!r} is a sanitizer, but not the last step: pass that step."
    return ""


def joint_of(candidate: Any, X: Any) -> Any:
    """Count the records of a table in a fitted sanitizer's cells, as its `score` does.

    Returns JointDistribution; a list of them for the blocks of a BlockSanitizer.

    Shapes: `X` (n, n_columns). Raises TypeError, NotFittedError as by :func:`fitted_sanitizer`.
    Raises ValueError if the columns or values are not those of the public table.
    """
    blocks = as_block_sanitizer(candidate)
    sanitizer = fitted_sanitizer(candidate) if blocks is None else blocks
    while candidate is not sanitizer:
        if isinstance(candidate, Pipeline):
            X = candidate[:-1].transform(X) if len(candidate.steps) > 1 else X
            candidate = candidate.steps[-1][1]
        else:
            candidate = candidate.estimator
    if blocks is not None:
        return blocks._distributions_of(X, None)
    return sanitizer._distribution_of(X, None, sanitizer._state())


def codec_of(sanitizer: BaseSanitizer) -> CellCodec:
    """Return the translation between rows of a table and the cells of the mechanism."""
    return sanitizer._state().codec


def utility_set_of(sanitizer: BaseSanitizer) -> FittedSet | None:
    """Return the set over which a design bounds the distance of reports, or None."""
    utility = sanitizer._state().design.utility
    return None if utility is None else utility[1]


def blank_record(sanitizer: BaseSanitizer) -> Any:
    """Return a table of one row without values, of the library and columns seen in `fit`.

    Shapes: returns (1, n_columns).
    """
    return blank_table(sanitizer._state().codec)


def write_reports(sanitizer: BaseSanitizer, symbols: NDArray[Any], like: Any) -> Any:
    """Write symbols as `transform` does, without drawing any.

    Shapes: `symbols` (n,).
    """
    return sanitizer._emitted(symbols, like, sanitizer._state(), sanitizer._encoding())


def changes_since_fit(sanitizer: BaseSanitizer) -> dict[str, tuple[Any, Any]]:
    """Return the parameters that were changed after `fit` and take effect only at the next fit.

    Returns dict: by name, the value in `fit` and the value now.
    """
    return changes(sanitizer, sanitizer._state().asked)


def reported_its_own_table(sanitizer: BaseSanitizer) -> bool:
    """Whether `fit_transform` reported the table on which the sanitizer was fitted."""
    return sanitizer._state().reported_itself
