"""The results of a design and of a fit, with the parameters used, as immutable objects."""

from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from skrldp._arrays import ReadOnly, read_only
from skrldp._typing import Floats
from skrldp.alphabet.combinations import Record
from skrldp.alphabet.numbers import Numbers
from skrldp.certificate import Certificate
from skrldp.design.solution import Solution
from skrldp.information import shares_of_entropy
from skrldp.joint import JointDistribution
from skrldp.mechanism.mechanism import Mechanism
from skrldp.public_summary import PublicNumbers
from skrldp.sets.fitted_sets import FittedSet
from skrldp.surveys.design import SurveySummary
from skrldp.table.codec import CellCodec


@dataclass(frozen=True, eq=False)
class Designed(ReadOnly):
    """The sampled mechanism of a design, with its proof."""

    mechanism: Mechanism  # the rounded mechanism, which is sampled
    certificate: Certificate  # the proof that it is private
    solution: Solution  # how the mechanism was found: solver, status, objective and its bound, time
    # (b,), the cell that each report represents; None if report y represents cell y
    cells: NDArray[np.intp] | None = None
    # (a2, b), distance of each report from each value of U, if the design minimised it
    distance: Floats | None = None
    # the set of the worst distance: a parameter object, and its value
    utility: tuple[Any, FittedSet] | None = None
    # (b,), names of the reports; None keeps those of the mechanism
    symbols: Sequence[Any] | None = None

    @property
    def reported_cells(self) -> NDArray[np.intp]:
        """The cell that each report represents, shape (b,)."""
        return np.arange(self.mechanism.shape[0]) if self.cells is None else self.cells

    def numbered(self, joint: JointDistribution) -> "Designed":
        """Assign integers from 0 to reports; each represents its most likely cell."""
        cells = self.mechanism.likely_cells(joint.probabilities)
        return replace(self, symbols=range(len(cells)), cells=cells)


@dataclass(frozen=True)
class _NamedRecord:
    secrets: tuple[Any, ...]
    values: tuple[Any, ...]
    columns: tuple[tuple[Any, bool], ...]
    numbers_by_name: Mapping[Any, Numbers]
    public_numbers: Mapping[Any, PublicNumbers]


def named_record(
    joint: JointDistribution,
    names: Sequence[tuple[Any, bool]],
    codec: CellCodec,
    public: Sequence[PublicNumbers | None] | None,
) -> Record:
    """Combine the alphabets of a distribution with the columns and their bins or knots."""
    cut = {column.name: column.numbers for column in codec.columns if column.numbers is not None}
    known = zip((column.name for column in codec.columns), public or (), strict=False)
    means = {name: mean for name, mean in known if mean is not None}
    return _NamedRecord(tuple(joint.secrets), tuple(joint.values), tuple(names), cut, means)


@dataclass(frozen=True, eq=False)
class Fitted(ReadOnly):
    """The results of `fit`.

    A sanitizer contains one of these, which `transform` reads once, so that a concurrent or
    interrupted second `fit` cannot mix the alphabets of one table with the mechanism of another.

    Attributes
    ----------
    columns : object
        The columns seen in `fit`; see :func:`columns_of`.
    codec : CellCodec
        The table's alphabets.
    joint : JointDistribution
        The public distribution.
    uncertainty : LikelihoodRatioSet, RenyiBall or AllDistributions
        The sanitizer's copy, with its fitted attributes.
    design : Designed
        The mechanism with its proof.
    known : tuple
        Columns of U that observers may know, by name or position.
    figures : mapping
        The mechanism's utility: values of public attributes by name.
    asked : mapping
        The parameters on which the design depends, as they were in `fit`.
    reported_itself : bool
        Whether `fit_transform` reported the table of the fit.
    survey : SurveySummary or None
        How the design of a survey was taken into account; None if the table is not a survey.
    """

    columns: Any = field(repr=False)
    codec: CellCodec
    joint: JointDistribution
    uncertainty: Any
    design: Designed
    known: tuple[Any, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    asked: Mapping[str, Any] = field(default_factory=dict, repr=False)
    reported_itself: bool = False
    survey: SurveySummary | None = None

    @property
    def in_words(self) -> str:
        """Summarise the table, the design and the proof."""
        words = f"{self.joint!r}, {self.mechanism.shape[0]} reports, {self.certificate!r}"
        return f"{words}, {self.solution.status} in {self.solution.seconds:.2f} s"

    @property
    def names(self) -> Any:
        """Names of the columns, an array; None if not all are strings."""
        return getattr(self.columns, "feature_names_in_", None)

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that is sampled."""
        return self.design.mechanism

    @property
    def certificate(self) -> Certificate:
        """The proof that it is private."""
        return self.design.certificate

    @property
    def solution(self) -> Solution:
        """The solver's result."""
        return self.design.solution

    @cached_property
    def information_by_secret(self) -> Floats:
        """Information I(U; Y | S=s) at the public distribution, (a1,), in nats; read-only."""
        return read_only(self.mechanism.information_by_secret(self.joint.probabilities))

    @cached_property
    def normalized_information_by_secret(self) -> Floats:
        """The same divided by H(U | S=s); NaN if that is 0 or the secret has no records."""
        return read_only(shares_of_entropy(self.information_by_secret, self.joint.people)[0])


class FromFit:
    """An attribute of a fitted sanitizer, read from its state by a dotted name.

    Before `fit` there is no such attribute. It returns copies of estimators, so that refitting them
    leaves the state unchanged.
    """

    def __init__(self, source: str, *, copied: bool = False) -> None:
        self._source, self._copied = source.split("."), copied

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, sanitizer: Any, owner: type | None = None) -> Any:
        if sanitizer is None:
            return self
        value = vars(sanitizer).get("_fitted")
        for name in self._source:
            missing = value is None or (
                name not in value if isinstance(value, Mapping) else not hasattr(value, name)
            )
            if missing:
                raise AttributeError(
                    f"{type(sanitizer).__name__!r} object has no attribute {self._name!r}"
                )
            value = value[name] if isinstance(value, Mapping) else getattr(value, name)
        return tuple(map(copy, value)) if self._copied else value


def columns_of(sanitizer: Any, X: Any) -> Any:
    """Store number and names of a table's columns as scikit-learn does, on a separate object.

    Returns an object with the attributes ``n_features_in_`` and, if all names are strings,
    ``feature_names_in_``. Its class is the sanitizer's, which scikit-learn names in messages.
    """
    columns = object.__new__(type(sanitizer))
    validate_data(columns, X, skip_check_array=True, reset=True)
    return columns


def information_of(mechanism: Mechanism, joint: JointDistribution) -> tuple[float, float]:
    """Mutual information I(X; Y) at a distribution.

    Returns (float, float): in nats, and as a share of the entropy of X; the share is 0 if X is
    constant.
    """
    information, entropy = mechanism.mutual_information(joint.probabilities), joint.entropy
    return information, (min(1.0, information / entropy) if entropy > 0 else 0.0)


# --- Parameters when the sanitizer was fitted -----------------------------------------------------


# These parameters are read by `transform`, so a change takes effect without another fit.
_AT_ONCE = {"encode", "handle_unknown", "random_state", "verbose"}


def snapshot(sanitizer: Any) -> dict[str, tuple[Any, Any]]:
    """Copy the parameters on which `fit` depends.

    Returns dict: a value and its hash by name, those of the uncertainty set as
    ``uncertainty__beta`` and so on; for the set itself, its class.
    """
    parameters = sanitizer.get_params(deep=True).items()
    return {
        name: _hashed(type(value) if hasattr(value, "get_params") else value)
        for name, value in parameters
        if name not in _AT_ONCE
    }


def changes(sanitizer: Any, before: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Compare the present parameters with those of a snapshot.

    Returns dict: for each parameter that differs, by name, its values before and now; None if there
    was or is no such parameter.
    """
    now, absent = snapshot(sanitizer), (None, None)
    pairs = {
        name: (before.get(name, absent), now.get(name, absent))
        for name in [*now, *(before.keys() - now.keys())]
    }
    return {name: (old[0], new[0]) for name, (old, new) in pairs.items() if old[1] != new[1]}


def _hashed(value: Any) -> tuple[Any, Any]:
    """Copy a value, and return a hash of its contents, so that changes inside it are detected."""
    try:
        return deepcopy(value), joblib.hash(value)
    # A user's callable may be neither copyable nor picklable; changes inside it are not detected
    except Exception:
        return value, id(value)
