"""The parameters of all sanitizers: their descriptions, checks and requirements."""

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, TypeVar, dataclass_transform

import numpy as np

from skrldp._params import (
    check_choice,
    is_finite,
    is_number,
    is_whole,
    shown,
)
from skrldp.alphabet.values import spent_on_values
from skrldp.joint import JointDistribution
from skrldp.privacy.requirements import Requirements
from skrldp.sets.fitted_sets import FittedSet
from skrldp.sets.parameter_objects import AllDistributions, LikelihoodRatioSet, RenyiBall
from skrldp.table.codec import CellCodec
from skrldp.table.encoding import Grouping
from skrldp.table.select import resolve_columns

_Class = TypeVar("_Class", bound=type)

# As in scikit-learn's ColumnTransformer; None is explained in a parameter's description.
Columns = str | int | slice | Sequence[str] | Sequence[int] | Callable[[Any], Any] | None
Categories = str | Sequence[Any] | Mapping[Any, Any]
UncertaintySet = LikelihoodRatioSet | RenyiBall | AllDistributions
Seed = int | np.random.Generator | np.random.RandomState | None


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def with_parameters(cls: _Class) -> _Class:
    """Make an estimator's annotated attributes parameters of its constructor, which assigns them.

    Those of base classes come first. A line ``{eps, known}`` of the docstring is replaced by the
    descriptions of these names in base classes; the nearest base comes first.

    Raises KeyError if no base class describes a name.
    """
    known: dict[str, str] = {}
    for base in reversed(cls.__mro__[1:]):
        known |= _texts(vars(base).get("__doc__") or "")

    def texts(names: re.Match[str]) -> str:
        return "\n".join(known[name] for name in names[1].split(", "))

    if cls.__doc__ is not None:  # Python's -OO removes docstrings
        lines = inspect.cleandoc(cls.__doc__)
        cls.__doc__ = re.sub(r"^\{([\w, ]+)\}$", texts, lines, flags=re.MULTILINE)
    estimator: Any = dataclass(eq=False, repr=False, kw_only=True)(cls)
    return estimator


def _texts(doc: str) -> dict[str, str]:
    """Return the items of a docstring's sections by name, and its paragraphs by their title."""
    return {re.split(r" ?[,:\n]", text)[0]: text for text in _blocks(inspect.cleandoc(doc))}


def _blocks(doc: str) -> Iterator[str]:
    """Split a docstring at empty lines, below titles of sections, and where indented lines end."""
    block: list[str] = []
    for line in doc.split("\n"):
        above = block[-1] if block else ""
        ends = not line or above.startswith("---") or (above[:1] == " " and line[0] != " ")
        if ends and block:
            yield "\n".join(block)
            block = []
        if line:
            block.append(line)
    if block:
        yield "\n".join(block)


# Function of a parameter's name and value that raises ValueError
Check = Callable[[str, Any], object]


def one_of(choices: Sequence[str]) -> Check:
    """Make a check for one of several words."""
    return lambda name, value: check_choice(name, value, choices)


def or_none(check: Check) -> Check:
    """Make a check that accepts None."""
    return lambda name, value: None if value is None else check(name, value)


def check_seconds(name: str, value: Any) -> None:
    """Reject a time limit that is not a positive number."""
    if not (is_finite(value) and value > 0):
        raise ValueError(
            f"{name}={shown(value)} must be a positive number of seconds, or None for no limit."
        )


def check_jobs(name: str, value: Any) -> None:
    """Reject an invalid number of threads."""
    if not (is_whole(value) and value != 0):
        raise ValueError(
            f"{name}={value!r} must be a number of threads or processes, -1 for one for each "
            "processor, or None."
        )


def check_gap(name: str, value: Any) -> None:
    """Reject a relative gap that is not between 0 and 1."""
    if not (is_number(value) and 0 < value < 1):
        raise ValueError(f"{name}={value!r} must be a number between 0 and 1: a relative gap.")


def set_such_as(examples: str) -> Check:
    """Make a check for an uncertainty set, with examples in its message."""

    def check(name: str, value: Any) -> None:
        if isinstance(value, type):
            raise ValueError(
                f"{name} must be an instance, got the class {value.__name__}: write "
                f"{name}={value.__name__}()."
            )
        if not hasattr(value, "fit_set"):
            raise ValueError(
                f"{name}={value!r} must be None or an uncertainty set, such as {examples}."
            )

    return check


def default_uncertainty() -> Any:
    """Return a new default set, for ``uncertainty=None``."""
    return LikelihoodRatioSet()


def check_verbose(name: str, value: Any) -> None:
    """Reject a verbosity that is not an integer >= 0."""
    if not isinstance(value, Integral | np.bool_) or value < 0:
        raise ValueError(f"{name}={value!r} must be an integer >= 0.")


MOST_CELLS = 1_000_000  # of a mechanism by formula
MOST_CELLS_OF_DESIGNS = 2_000  # a design and its proof take minutes there
MOST_CELLS_OF_IR = 4_000  # its proof examines every pair of secrets for every value
_LARGE = {"IRSanitizer": MOST_CELLS_OF_IR, "SRRSanitizer": MOST_CELLS, "GRRSanitizer": MOST_CELLS}


def larger_designs(most_cells: int) -> str:
    """Name the sanitizers for more than `most_cells` cells, and that for wide tables."""
    larger = [f"{name} {limit:,}" for name, limit in _LARGE.items() if limit > most_cells]
    return f"Larger limits: {', '.join([*larger, 'BlockSanitizer'])}."


# --- From parameters to requirements --------------------------------------------------------------


def _given(known: Any) -> bool:
    return known is not None and not (isinstance(known, list | tuple) and len(known) == 0)


def known_places(sanitizer: Any, X: Any) -> tuple[int, ...]:
    """Find the columns of a table that observers may know.

    Returns tuple of int: positions in the table.
    """
    columns = getattr(sanitizer, "observer_columns", None)
    return resolve_columns(X, columns, "observer") if _given(columns) else ()


def _groups_what_is_known(codec: CellCodec, known: tuple[int, ...]) -> bool:
    """Whether a record's known values may become "other" because of unknown ones."""
    if not codec.groups_unknown or set(known) >= set(codec.nonsensitive):
        return False
    return codec.n_values < math.prod(len(codec.columns[i]) for i in codec.nonsensitive)


def grouping_of(sanitizer: Any, uncertainty: Any) -> Grouping:
    """Return which values are reported as "other", and the part of beta spent on learning them."""
    sets = (uncertainty, getattr(sanitizer, "utility_uncertainty", None))
    betas = [getattr(uncertainty_set, "beta", None) for uncertainty_set in sets]  # not checked yet
    valid_betas = [float(beta) for beta in betas if is_number(beta) and 0.0 < beta < 1.0]
    return Grouping(
        sanitizer.min_frequency,
        unknown=sanitizer.handle_unknown == "infrequent_if_exist",
        beta=spent_on_values(min(valid_betas, default=0.05)),
    )


def design_requirements(promise: Requirements, uncertainty: Any) -> Requirements:
    """List the requirements on rows of a design, in the region of an uncertainty set."""
    same_secret = getattr(uncertainty, "same_secret", False)
    return promise.over(getattr(uncertainty, "region", "joint"), same_secret)


def asked_of(
    sanitizer: Any,
    joint: JointDistribution,
    uncertainty: FittedSet,
    fit: Callable[[JointDistribution], FittedSet],
    codec: CellCodec,
    known: tuple[int, ...],
) -> Requirements:
    """List the claims that a sanitizer must prove, in the form of requirements.

    Raises ValueError if `eps_worst_case` is too small, or a known column is sensitive.
    """
    names = [str(column.name) for column in codec.columns]
    secret = [names[position] for position in known if position in codec.sensitive]
    if codec.nonsensitive:
        for column in (codec.columns[position] for position in codec.sensitive):
            if column.is_rounded:
                raise ValueError(
                    f"column {column.name!r} is sensitive and has Knots, but other columns are not "
                    "protected and may reveal the number between its knots. Give it Bins, or "
                    "protect the whole record with sensitive=slice(None)."
                )
    if secret:
        raise ValueError(
            f"column {secret[0]} is both sensitive and in observer_columns, the columns of U that "
            "observers know. Remove it from one of the two."
        )
    if rounded := [names[position] for position in known if codec.columns[position].is_rounded]:
        raise ValueError(
            f"column {rounded[0]} is known and has Knots, but observers know the number itself, "
            "and a guarantee could only be about the knot. Use Bins or a list of values for known "
            "columns."
        )
    if known and _groups_what_is_known(codec, known):
        raise ValueError(
            "handle_unknown='infrequent_if_exist' or min_frequency='auto' requires all "
            "combinations of values of U if some columns are known. Use categories='product'."
        )
    eps = float(sanitizer.eps)
    eps_worst_case = getattr(sanitizer, "eps_worst_case", None)
    if eps_worst_case is not None and eps_worst_case < eps:
        raise ValueError(
            f"eps_worst_case={eps_worst_case:g} must be at least eps={eps:g}, because all "
            "distributions include those of the set. To guarantee only eps_worst_case, set eps to "
            "the same value."
        )
    return Requirements.asked(
        joint,
        uncertainty,
        eps,
        eps_worst_case=None if eps_worst_case is None else float(eps_worst_case),
        known=[codec.nonsensitive.index(position) for position in known],
        observe=getattr(sanitizer, "observe", "all"),
        fit=fit,
        columns=[(c.name, position in codec.sensitive) for position, c in enumerate(codec.columns)],
    )
