"""The mechanism that made the reports, and how its symbols are written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from skrldp.joint import JointDistribution
from skrldp.mechanism import Mechanism
from skrldp.sanitizers import as_block_sanitizer, as_sanitizer
from skrldp.sets import FittedSet, RenyiSet

__all__ = ["Source", "as_strings", "read_mechanism", "read_source"]


@dataclass(frozen=True)
class Source:
    """Where reports come from: a mechanism, and how it writes them."""

    mechanism: Mechanism  # the mechanism that was sampled
    rows: list[tuple[Any, ...]] | None  # each symbol in a table of cells; None if not known
    columns: tuple[Any, ...]  # names of that table's columns; empty if not known
    names: tuple[Any, ...] = ()  # names of the columns that a sanitizer writes; empty if not known
    joint: JointDistribution | None = None  # the public distribution of a sanitizer
    uncertainty: FittedSet | None = None  # the set of the privacy promise
    utility_uncertainty: FittedSet | None = None  # the set of the promise of utility


# -- the mechanism --------------------------------------------------------------------------------


def read_source(mechanism: Any) -> Source:
    """Make a source from a mechanism, its JSON, or a fitted sanitizer or pipeline."""
    own, sanitizer = read_mechanism(mechanism)
    if sanitizer is None:
        return Source(own, *_written(own, None))
    names, joint = tuple(sanitizer.get_feature_names_out()), sanitizer.joint_
    written = _written(own, joint.probabilities, names)
    private = sanitizer.certificate_.uncertainty
    return Source(own, *written, names, joint, private, _utility_set(sanitizer))


def read_mechanism(mechanism: Any) -> tuple[Mechanism, Any]:
    """Read a mechanism alone, without how its reports are written."""
    if isinstance(mechanism, str):
        mechanism = Mechanism.from_json(mechanism)
    if isinstance(mechanism, Mechanism):
        return mechanism, None
    if not (hasattr(mechanism, "transform") and hasattr(mechanism, "fit")):
        raise TypeError(
            "mechanism must be a Mechanism, its JSON text or a fitted sanitizer, got "
            f"{type(mechanism).__name__}."
        )
    try:
        sanitizer = as_sanitizer(mechanism)
    except NotFittedError as error:
        raise ValueError(
            f"mechanism is a {type(mechanism).__name__} that is not fitted, so it has made no "
            "reports. scikit-learn's clone (in cross-validation, say) unfits a sanitizer: pass its "
            "`mechanism_`, or wrap it in sklearn.frozen.FrozenEstimator."
        ) from error
    if as_block_sanitizer(mechanism) is not None:
        raise TypeError(
            "mechanism is a BlockSanitizer, which has a mechanism for each block: BlockEstimator "
            "estimates from the reports of all blocks."
        )
    if sanitizer is None:
        raise TypeError(
            f"mechanism is a {type(mechanism).__name__}, which is no sanitizer: give a Mechanism, "
            "its JSON text, a fitted sanitizer or a Pipeline that ends in a sanitizer."
        )
    return sanitizer.mechanism_, sanitizer


def _utility_set(sanitizer: Any) -> FittedSet | None:
    """Return the set that a utility is stated for, with its radius as it was fitted."""
    chosen = getattr(sanitizer, "utility_uncertainty_", None)
    if chosen is None:
        return None
    return RenyiSet(chosen.alpha, float(chosen.B_), n_records=sanitizer.joint_.n)


def _written(
    mechanism: Mechanism, distribution: NDArray[Any] | None, written_names: tuple[Any, ...] = ()
) -> tuple[list[tuple[Any, ...]] | None, tuple[Any, ...]]:
    """Return what each symbol looks like as a row of cells, and the names of the columns.

    Symbols that are cells or values of U are written as such; numbered symbols as the most probable
    cell at the public distribution, if that is known. Symbols that are integers are values of U if
    the sanitizer writes the columns of U.
    """
    cells = mechanism.cells
    of_u = tuple(name for name, sensitive in mechanism.columns if not sensitive)
    numbered = mechanism.symbols == tuple(range(mechanism.shape[0]))
    if numbered and not (of_u and written_names == as_strings(of_u)):
        if distribution is None:
            return None, tuple(name for name, _ in mechanism.columns)
        written: Sequence[Any] = [cells[cell] for cell in mechanism.likely_cells(distribution)]
    else:
        written = mechanism.symbols
        if not set(written) <= set(cells):
            return [_parts(symbol, len(of_u) > 1) for symbol in written], of_u
    flags = [sensitive for _, sensitive in mechanism.columns]
    several = flags.count(True) > 1, flags.count(False) > 1
    rows = []
    for secret, value in written:
        parts = iter(_parts(secret, several[0])), iter(_parts(value, several[1]))
        rows.append(
            tuple(next(parts[0 if sensitive else 1]) for sensitive in flags or (True, False))
        )
    return rows, tuple(name for name, _ in mechanism.columns)


def _parts(value: Any, several: bool) -> tuple[Any, ...]:
    return value if several else (value,)


def as_strings(columns: Sequence[Any]) -> tuple[str, ...]:
    """Name columns as sanitizers do: those that have only a position n are "xn"."""
    return tuple(name if isinstance(name, str) else f"x{name}" for name in columns)
