"""Warnings about privacy, and about designs that stopped early."""

import inspect
import math
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skrldp._lists_in_words import series
from skrldp._params import in_digits
from skrldp._typing import Floats
from skrldp.alphabet.categories import listed
from skrldp.alphabet.values import brief
from skrldp.claims_in_words import POINT_ALONE
from skrldp.design.solution import Solution
from skrldp.exceptions import PrivacyLeakWarning
from skrldp.joint import JointDistribution
from skrldp.sets.fitted_sets import FittedSet, estimated_miss
from skrldp.table.codec import CellCodec
from skrldp.table.encoding import Rare
from skrldp.table.numbers import FEW_OF_EACH
from skrldp.targets import WeightedFunctions, target_in_words

# Warn about an asymptotic set that may miss the truth more often than this multiple of beta. Below
# it, estimates from a table are too imprecise, and nearly correct sets would cause warnings.
_TOO_OFTEN = 2.0
_FEW_RECORDS = 10  # records in a cell
_USELESS = 0.3  # share of the range: with larger standard errors, intervals contain most of it
_NAMED = 3  # targets
_MANY_VALUES = 50  # distinct values from which a column may look like an identifier
_FEW_CLUSTERS = 10  # of a survey
_SHOWN = 3  # maximum number of unprotected columns to name
_LONGEST = 80  # maximum characters of rare values to list: combinations of many columns are omitted
_ROOM = __name__.rpartition(".")[0]


def explain_rare_cells(main_set: FittedSet, joint: JointDistribution) -> str:
    """State how often an asymptotic set may miss because of rare cells; empty if as stated.

    Returns str: a sentence without its initial capital letter and full stop.
    """
    if main_set.beta is None:
        return ""
    miss = estimated_miss(main_set, joint)
    if miss <= _TOO_OFTEN * main_set.beta:
        return ""
    kind = "chi-squared" if main_set.rule == "chi2" else "asymptotic"
    few = np.count_nonzero(joint.counts < _FEW_RECORDS)
    none, once = (np.count_nonzero(joint.counts == number) for number in (0, 1))
    return (
        f"the {kind} set may miss the true distribution in up to about {miss:.2g} of tables like "
        f"this one, although it states {main_set.beta:.2g}, because {few:,} of "
        f"{joint.counts.size:,} cells have fewer than {_FEW_RECORDS} public records ({none:,} with "
        f"none, {once:,} with one). Use LikelihoodRatioSet(), which is valid for any number of "
        "records, or coarser categories"
    )


def warn_before_design(
    sanitizer: Any,
    uncertainty: Any,
    confidence_set: FittedSet,
    joint: JointDistribution,
    tables: Sequence[tuple[FittedSet, JointDistribution]],
    codec: CellCodec,
) -> bool:
    """Warn about a public table, and the sets around it.

    `tables` are the sets of all requirements, with their tables. Returns bool: whether learned
    values were warned about.
    """
    sets, most_cells = [ball for ball, _ in tables], sanitizer._most_cells
    warn_of_weak_sets(confidence_set, joint, tables)
    warn_of_identifiers(codec, joint)
    if not getattr(uncertainty, "drift", 0.0):
        warn_of_empty_values(joint, sets)
    warned = warn_of_rare_values(joint, sets, codec, most_cells)
    if joint.counts.size > sanitizer._slow_from and sanitizer.handle_unknown == "error":
        warn_of_combinations(codec, most_cells)
    return warned


def warn_of_weak_sets(
    main_set: FittedSet,
    joint: JointDistribution,
    more_sets: Iterable[tuple[FittedSet, JointDistribution]] = (),
) -> None:
    """Warn if a set of distributions is smaller than a user may expect."""
    if main_set.is_point:
        _warn(f"the uncertainty set has radius 0: {POINT_ALONE}.", PrivacyLeakWarning)
        return
    for one_set, table in [(main_set, joint), *(p for p in more_sets if p[0] is not main_set)]:
        if explanation := explain_rare_cells(one_set, table):
            _warn(f"{explanation}.", PrivacyLeakWarning)
            return


def warn_of_rare_values(
    joint: JointDistribution, sets: Iterable[FittedSet], codec: CellCodec, most_cells: int
) -> bool:
    """Warn if a stated confidence level does not hold for learned values.

    Returns bool: whether it warned.
    """
    if joint.alphabet != "learned" or all(ball.beta is None for ball in sets):
        return False
    if joint.survey is not None:
        _warn(
            "the values of U were learned from the records of a survey, so beta is not guaranteed. "
            "Pass the possible values as categories=.",
            PrivacyLeakWarning,
        )
        return True
    first, *further = codec.frequencies.rare
    rest = f" (likewise {len(further):,} more column{'s' * (len(further) > 1)})" if further else ""
    remedy = "min_frequency='auto' reports them as 'other'."
    if len(first.names) > 1 and _of_product(codec) <= most_cells:
        remedy = "categories='product' takes all combinations."
    if not _is_fold():
        _warn(
            "the values of U were learned from the table, and "
            f"{_rare_in_words(first, codec.frequencies.least)}{rest}, so beta is not guaranteed. "
            f"{remedy}",
            PrivacyLeakWarning,
        )
    return True


def _rare_in_words(rare: Rare, minimum: int) -> str:
    """Name columns, or all of U, and the problem of their values."""
    is_single, which = len(rare.names) == 1, _named(rare.names)
    have = "has" if is_single else "have"
    if not rare.n:
        return f"{which} {have} values grouped as 'other', which does not take unknown values"
    label = f"{'value' if is_single else 'combination'}{'s' * (rare.n > 1)}"
    values = ", ".join(f"{value!r}: {count:,}" for value, count in rare.some)
    rest = ", ..." if rare.n > len(rare.some) else ""
    shown = f" ({values}{rest})" if len(values) <= _LONGEST else ""
    return f"{which} {have} {rare.n:,} {label} with fewer than {minimum} records{shown}"


def _named(names: Sequence[Any]) -> str:
    return f"column{'s' * (len(names) > 1)} {listed(names)}"


def warn_of_combinations(codec: CellCodec, most_cells: int) -> None:
    """Warn, before a long design, about combinations that `transform` will reject."""
    for group, positions, n in (
        ("S", codec.sensitive, codec.n_secrets),
        ("U", codec.nonsensitive, codec.n_values),
    ):
        every = math.prod(len(codec.columns[position]) for position in positions)
        if n == every or (group == "U" and codec.groups_unknown) or _is_fold():
            continue
        total = f"{every:,}" if every < 10**15 else "more than 10^15"
        remedy = "categories='product' takes all."
        if _of_product(codec) > most_cells:
            remedy = "handle_unknown='infrequent_if_exist' reports them as 'other'."
        if _of_product(codec) > most_cells and group == "S":
            remedy = "Protect fewer columns."
        _warn(
            f"the values of {group} are the {n:,} of {total} combinations of "
            f"{_named([codec.columns[position].name for position in positions])} in the table; "
            f"`transform` rejects others. {remedy}",
            UserWarning,
        )


def _of_product(codec: CellCodec) -> int:
    """Count the cells with all combinations."""
    return math.prod(map(len, codec.columns))


def warn_of_identifiers(codec: CellCodec, joint: JointDistribution) -> None:
    """Warn about columns of U with many values and few records of each."""
    minimum = max(_MANY_VALUES, joint.n / FEW_OF_EACH)
    for column in (codec.columns[position] for position in codec.nonsensitive):
        if not column.declared and len(column) >= minimum and not _is_fold():
            _warn(
                f"{_named([column.name])} looks like an identifier: it has {len(column):,} values "
                f"in {joint.n:,} records, so reports contain almost no information about each. "
                "Drop it (with --column, in the command), or use Bins.",
                UserWarning,
            )


def warn_of_empty_values(joint: JointDistribution, sets: Iterable[FittedSet]) -> None:
    """Warn about a frequent secret whose public records lack half of the declared values.

    This suggests that the table describes a different population, for example only married people.
    """
    if joint.alphabet != "declared" or all(ball.beta is None for ball in sets) or _is_fold():
        return
    empty = (joint.counts == 0).sum(axis=1)
    n_values = joint.counts.shape[1]
    odd = np.flatnonzero((empty > n_values / 2) & (joint.counts.sum(axis=1) >= n_values))
    if len(odd):
        index = odd[np.argmax(empty[odd])]
        _warn(
            f"{empty[index]:,} of {n_values:,} declared values of U have no public record with the "
            f"secret {brief(repr(joint.secrets[index]))}. If private records have these values, "
            "more may leak: allow for this with drift= in LikelihoodRatioSet.",
            PrivacyLeakWarning,
        )


def warn_of_useless(targets: WeightedFunctions, errors: Floats, n: int) -> None:
    """Warn about targets whose estimates would be poor from as many reports as public records.

    Shapes: `errors` (m,).
    """
    poor = np.flatnonzero(~(errors <= _USELESS * targets.scales))
    if not len(poor) or _is_fold():
        return
    first = ((target_in_words(targets.names[k]), errors[k]) for k in poor[:_NAMED])
    shown = ", ".join(f"{name}: {in_digits(error, 2)}" for name, error in first)
    rest = ", ..." if len(poor) > _NAMED else ""
    _warn(
        f"{n:,} reports, as many as there are public records, are too few to estimate "
        f"{len(poor):,} of {len(errors):,} targets ({shown}{rest}). "
        "skrldp.model_selection.smallest_n returns the number of reports needed.",
        UserWarning,
    )


def _is_fold() -> bool:
    """Whether a search or cross-validation fits this on a fold, whose mechanism nobody uses."""
    frame, searches = inspect.currentframe(), False
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if searches and module.startswith("joblib."):
            return True
        searches |= module.startswith("sklearn.model_selection.")
        frame = frame.f_back
    return False


def warn_of_few_clusters(clusters: Any, secrets: Sequence[Any], degrees: int) -> None:
    """Warn if a survey has too few clusters for a reliable covariance."""
    few = [i for i, number in enumerate(clusters) if 0 < number < _FEW_CLUSTERS]
    if few or degrees < _FEW_CLUSTERS:
        which = ", ".join(f"{clusters[i]} for {secrets[i]!r}" for i in few[:3])
        _warn(
            f"the survey has few clusters ({degrees:,} degree{'s' * (degrees != 1)} of freedom"
            f"{'; with records of a secret: ' + which if few else ''}), fewer than "
            f"{_FEW_CLUSTERS}, so beta is not guaranteed. Use SurveyDesign(max_weight=...) with "
            "LikelihoodRatioSet(radius='finite-sample').",
            PrivacyLeakWarning,
        )


def warn_of_first_column(names: Sequence[Any]) -> None:
    """Warn that the first column is used as S, and that the others are not protected."""
    if len(names) < 2:
        return
    first, *further = (repr(name) if isinstance(name, str) else str(name) for name in names)
    rest = [f"{len(further) - _SHOWN:,} more"] * (len(further) > _SHOWN)
    which = f"column{'s' * (len(further) > 1)} {series([*further[:_SHOWN], *rest])}"
    _warn(
        f"sensitive is not given, so the first column, {brief(first)}, is protected; "
        f"{brief(which)} {'is' if len(further) == 1 else 'are'} NOT protected. Name the column to "
        f"protect, such as sensitive={brief(first) if isinstance(names[0], str) else 0}.",
        PrivacyLeakWarning,
    )


def say_if_slow(sanitizer: Any, joint: JointDistribution) -> None:
    """Print before a long design, if requested, that it will take a while."""
    (a1, a2), slow_from = joint.counts.shape, sanitizer._slow_from
    if sanitizer.verbose and a1 * a2 > slow_from:
        pairs = a1 * (a1 - 1) // 2
        print(
            f"{type(sanitizer).__name__}: {a1} secrets x {a2} values = {a1 * a2:,} cells, "
            f"{pairs:,} pair{'s' * (pairs > 1)} of secrets. Designs of more than {slow_from} cells "
            "usually take more than ten seconds; time_limit= stops them earlier."
        )


_STOPPED = {
    "time_limit": (
        "its time limit after {seconds:.3g} s",
        "pass a larger time_limit (None: no limit), or use fewer categories",
    ),
    "iteration_limit": ("its limit of {iterations:,} iterations", "use fewer categories"),
}


def explain_limit(solution: Solution) -> str:
    """State at which limit a design stopped; empty if no optimality gap was left.

    Returns str: sentences, without the initial capital letter.
    """
    if solution.status not in _STOPPED or not solution.gap > 0:
        return ""
    where, remedy = _STOPPED[solution.status]
    where = where.format(seconds=solution.seconds, iterations=solution.iterations)
    return (
        f"the design stopped at {where}, {solution.gap_in_words}. Privacy is proved regardless. "
        f"For more utility, {remedy}."
    )


def warn_of_limits(solution: Solution) -> None:
    """Warn if a design stopped at one of its limits with an optimality gap left."""
    if explanation := explain_limit(solution):
        _warn(explanation, ConvergenceWarning)


def _warn(message: str, category: type[Warning]) -> None:
    """Warn at the line outside this package that made the call."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_ROOM):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
