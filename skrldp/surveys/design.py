"""The sampling design of a public table, in survey statisticians' terms."""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrldp._params import check_choice, check_flag, check_positive
from skrldp._typing import Floats, Indices
from skrldp.alphabet.categories import numbered
from skrldp.alphabet.values import is_missing
from skrldp.exceptions import PrivacyLeakWarning
from skrldp.surveys.records import SurveyRecords, WeightSums

# --- Columns of a survey's design, read and checked -----------------------------------------------


# Ratio between a stratum's stated share of the population and its share of the weights above which
# one of them seems wrong. With few clusters, sums of weights may be off by half.
_APART = 2.0

# Smaller weights would underflow when squared, and their inverses overflow. 1e-150 would be enough;
# no survey has such weights.
_LEAST_WEIGHT = 1e-50


def weights_of(name: Any, column: Callable[[Any], Any], *, positive: bool) -> np.ndarray:
    """Check and return a column of weights; replicate weights may be 0."""
    values = _numbers("weights", name, column)
    missing = np.flatnonzero(np.isnan(values))
    if missing.size:
        raise ValueError(
            f"column {name!r} lacks the weight of {len(missing):,} of {len(values):,} records: "
            f"{numbered(missing)}. Records without a weight represent nobody: drop them."
        )
    wrong = ~np.isfinite(values) | (values < 0) | (positive & (values == 0))
    if wrong.any():
        requirement = "positive numbers" if positive else "numbers of at least 0"
        raise _wrong_weights(name, requirement, _how_many(wrong))
    positive_weights = values[values > 0]
    if positive_weights.size:
        _check_range(name, positive_weights.min(), positive_weights.max())
    return values


def _numbers(role: str, name: Any, column: Callable[[Any], Any]) -> Floats:
    numbers = np.asarray(column(name))
    if numbers.dtype == object:
        numbers = np.array(
            [None if is_missing(value) else value for value in numbers], dtype=object
        )
    try:
        return numbers.astype(float)
    except (TypeError, ValueError):
        raise ValueError(f"column {name!r} of {role} must contain numbers.") from None


def _how_many(wrong: NDArray[np.bool_]) -> str:
    return f"{int(wrong.sum()):,} of {len(wrong):,} are not: {numbered(np.flatnonzero(wrong))}"


def check_sums(name: Any, sums: WeightSums) -> None:
    """Check sums of weights in the same way as single weights."""
    lacking = int(sums.counts.sum() - sums.present.sum())
    if lacking or not np.all(np.isfinite(sums.weights)) or not np.all(sums.least > 0):
        problem = f"{lacking:,} are missing" if lacking else "some are not"
        raise _wrong_weights(name, "positive numbers", problem)
    _check_range(name, sums.least.min(), sums.most.max())


def _wrong_weights(name: Any, requirement: str, problem: str) -> ValueError:
    return ValueError(
        f"column {name!r} of weights must contain {requirement}, but {problem}. Records with "
        "weight 0, or without a weight, represent nobody: drop them."
    )


def _check_range(name: Any, smallest: float, largest: float) -> None:
    if smallest < _LEAST_WEIGHT or largest > 1.0 / _LEAST_WEIGHT:
        raise ValueError(
            f"column {name!r} of weights has numbers below {_LEAST_WEIGHT:g} or above "
            f"{1.0 / _LEAST_WEIGHT:g}, whose squares are not exact: rescale the weights."
        )


def of_strata(role: str, name: Any, column: Callable[[Any], Any], strata: Indices) -> Floats:
    """Return a column's positive number for each stratum, shape (strata,)."""
    values = _numbers(role, name, column)
    wrong = ~(np.isfinite(values) & (values > 0))
    if wrong.any():
        raise ValueError(
            f"column {name!r} of {role} must contain positive numbers, but {_how_many(wrong)}."
        )
    of_stratum = np.zeros(int(strata.max()) + 1)
    np.maximum.at(of_stratum, strata, values)
    differs = values < of_stratum[strata] * (1.0 - 1e-9)  # more than by rounding
    if differs.any():
        raise ValueError(
            f"column {name!r} of {role} must contain one number for each stratum, but in "
            f"{len(np.unique(strata[differs])):,} of {len(of_stratum):,} strata it differs between "
            "records."
        )
    return of_stratum


def warn_of_other_sizes(sizes: Floats, weights: Any) -> None:
    """Warn if stated sizes of strata differ widely from the sums of their weights."""
    stated, summed = sizes / sizes.sum(), weights / weights.sum()
    worst = int(np.abs(np.log(summed / stated)).argmax())
    if not 1.0 / _APART < summed[worst] / stated[worst] < _APART:
        warnings.warn(
            f"stratum_sizes state that a stratum has {stated[worst]:.1%} of the population, but "
            f"its records have {summed[worst]:.1%} of the weights. Pass the number of people in "
            "each stratum, not of records.",
            PrivacyLeakWarning,
            stacklevel=2,
        )


def within_strata(strata: Indices, clusters: Indices, *, nest: bool) -> Indices:
    """Return codes of clusters, each in one stratum."""
    pairs = strata.astype(np.int64) * (int(clusters.max()) + 1) + clusters
    distinct, codes = np.unique(pairs, return_inverse=True)
    spanning = len(distinct) - len(np.unique(clusters))
    if spanning and not nest:
        raise ValueError(
            f"{spanning:,} codes of clusters are in more than one stratum. If codes are unique "
            "only within a stratum, pass nest=True; otherwise correct the codes, because clusters "
            "must be drawn within strata."
        )
    return codes


def codes_of(role: str, names: Any, column: Callable[[Any], Any]) -> Indices:
    """Encode the values of a column, or the combinations of several columns, as codes from 0."""
    if not isinstance(names, tuple):
        return _codes_of_one(role, names, column)
    codes = np.stack([_codes_of_one(role, name, column) for name in names], axis=1)
    return np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)


def _codes_of_one(role: str, name: Any, column: Callable[[Any], Any]) -> Indices:
    values = np.asarray(column(name), dtype=object)
    missing = np.flatnonzero([is_missing(value) for value in values])
    if missing.size:
        raise ValueError(
            f"column {name!r} lacks the {role} of {len(missing):,} of {len(values):,} records: "
            f"{numbered(missing)}."
        )
    code_of: dict[Any, int] = {}
    codes = np.array([code_of.setdefault(value, len(code_of)) for value in values.tolist()])
    if len({isinstance(value, str) for value in code_of}) > 1:  # 7 and "7" would count as two
        raise ValueError(
            f"column {name!r} names some {role} by a string and some by a number, as "
            "pandas.read_csv does in large files, so that one may count as two: convert the column "
            f"to a single type, for example with astype(str), or read it with dtype={{{name!r}: "
            "str}."
        )
    return codes.astype(np.intp)


# --- Dropping records with missing answers, and reweighting similar ones to represent them --------


def complete_records(
    sample: Any, design: Any, answers: Any = None, within: Sequence[Any] = ()
) -> Any:
    """Drop records with a missing answer and reweight the others; see `SurveyDesign`."""
    from skrldp.table.select import (
        column_names,
        column_reader,
        is_missing,
        resolve_columns,
        take_rows,
        with_values,
    )

    if design.weights is None:
        raise ValueError(
            "complete records need weights, which are raised so that they also represent the "
            "dropped records: add a column of ones, and name it in SurveyDesign(weights=...)."
        )
    design_columns = resolve_columns(sample, list(design.columns), "survey")
    rest = [index for index in range(len(column_names(sample))) if index not in design_columns]
    answer_columns = rest if answers is None else resolve_columns(sample, answers, "answers")
    read = column_reader(sample, "within")
    records = design.read(column_reader(sample, "survey"))
    is_complete = ~is_missing(sample, answer_columns)
    classes = np.zeros(len(is_complete), dtype=np.intp)
    for name in within:
        code = codes_of("class", name, read)
        classes = np.unique(classes * (int(code.max()) + 1) + code, return_inverse=True)[1]

    columns = {design.weights: records.weights}
    if records.replicates is not None:
        columns |= dict(zip(design.replicate_weights or (), records.replicates.T, strict=True))
    raised = {}
    for name, weights in columns.items():
        class_weights = np.bincount(classes, weights)
        answered = np.bincount(classes[is_complete], weights[is_complete], len(class_weights))
        if n_empty := int(np.sum((answered <= 0) & (class_weights > 0))):
            raise ValueError(
                f"{n_empty:,} of {len(class_weights):,} classes have no record with all answers "
                "that could represent the others: use larger classes."
            )
        factor = np.divide(
            class_weights, answered, out=np.ones_like(class_weights), where=answered > 0
        )
        (index,) = resolve_columns(sample, [name], "survey")
        raised[index] = weights * factor[classes]
    return take_rows(with_values(sample, raised), is_complete)


# --- Designs of samples of the package svy, which need not be installed ---------------------------


_SINGLETONS = {None: "error", "center": "center", "skip": "certainty"}


def design_of_svy(sample: Any) -> dict[str, Any]:
    """Return the parameters of an equivalent `SurveyDesign`; see :meth:`SurveyDesign.from_svy`."""
    design = getattr(sample, "design", None)
    if design is None or not hasattr(design, "wgt"):
        raise TypeError(f"Expected a svy.Sample with a design, got {type(sample).__name__}.")
    if design.wgt is None and design.prob is not None:
        raise ValueError(
            f"the sample has selection probabilities ({design.prob!r}) but no weights: add a "
            "column of their inverses, and name it in Design(wgt=...)."
        )
    if design.rep_wgts is not None:
        factors = list(sample.rep_coefs.values())
        if not all(math.isclose(factor, factors[0]) for factor in factors):
            raise ValueError(
                "the replicates have different coefficients, but SurveyDesign(scale=...) is the "
                "same for all: pass strata and clusters instead of replicate weights."
            )
        columns = list(sample.rep_columns)
        return {"weights": design.wgt, "replicate_weights": columns, "scale": float(factors[0])}
    rule = getattr(design.singleton, "method", None)
    rule = getattr(rule, "value", rule)
    if rule not in _SINGLETONS:
        raise ValueError(
            f"singleton={rule!r} has no equivalent here: merge strata that have a single cluster, "
            f"or choose one of {[name for name in _SINGLETONS if name]}."
        )
    return {
        "weights": design.wgt,
        "strata": design.stratum,
        "clusters": design.psu,
        "nest": design.stratum is not None and design.psu is not None,
        "singleton": _SINGLETONS[rule],
    }


# --- The design -----------------------------------------------------------------------------------


SINGLETONS = ("error", "center", "certainty")


@dataclass(frozen=True)
class SurveyDesign:
    r"""The design of a survey: the columns that describe how the public records were drawn.

    Pass it to a sanitizer as ``survey=``. These columns are then part of neither S nor U, and
    private records do not need them.

    Parameters
    ----------
    weights : str or int, optional
        Column of sampling weights: how many people a record represents. Positive numbers, not
        necessarily integers. None: all records have the same weight.
    strata : str, int or list of them, optional
        Column of strata, within which records or clusters were drawn independently; for several
        columns, their combinations.
    clusters : str, int or list of them, optional
        Column of primary sampling units, such as households, schools or places; for several
        columns, their combinations. None: records were drawn individually.
    nest : bool, default=False
        Whether the clusters' codes are unique only within each stratum. If not, as in R's
        ``survey``, a code in two strata is an error.
    singleton : {"error", "center", "certainty"}, default="error"
        What to do with a stratum of a single cluster, for which no variance can be estimated: raise
        an error; use its distance from the mean of all clusters, which is conservative (R:
        "adjust"); or treat it as drawn with certainty, so that it adds no variance.
    replicate_weights : sequence of str or int, optional
        Columns of replicate weights (balanced repeated replication, jackknife, bootstrap), from
        which variances are estimated instead of `strata` and `clusters`.
    scale : float, optional
        Factor of the sum of squared deviations of the replicates: 1/R for R balanced half samples,
        1/(R (1 - k)²) with Fay's k, (R - 1)/R for the jackknife.
    max_weight : float or str, optional
        The largest weight that the design could give a record; with `clusters`, the largest sum
        of weights that it could give a cluster. It must be known from the design, because the
        largest weight in the table may be smaller. The exact sets (``radius="finite-sample"``) need
        it. A str names a column with the largest weight of each record's stratum; this may be the
        column of `weights` itself, if all records of a stratum have the same weight by design.
    stratum_sizes : str or int, optional
        Column with the population size of each record's stratum, or numbers in proportion, known
        from the design. The exact sets need it if there are `strata`; all other sets use `weights`,
        and raise an error for sizes without weights.

    Raises
    ------
    ValueError
        If a parameter is out of range, or two parameters are incompatible.

    Notes
    -----
    ``LikelihoodRatioSet(radius="asymptotic")`` estimates the covariance of all conditionals, by
    Taylor linearisation or from replicate weights, and corrects the likelihood-ratio statistics by
    Rao and Scott's second order.

    ``LikelihoodRatioSet(radius="finite-sample")`` uses a subsample of the records: each is kept
    with a probability in proportion to its weight, and at most one per cluster. If records (or
    clusters) were drawn independently, with probabilities inverse to their weights, this subsample
    is an independent sample of the population, and the set holds for any number of records (Theorem
    39). From strata, whose sizes were fixed, as many records are kept as a sample of the population
    would have.

    References
    ----------
    J. N. K. Rao and A. J. Scott, *On chi-squared tests for multiway contingency tables with cell
    proportions estimated from survey data*, Annals of Statistics 12, 1984.

    Examples
    --------
    >>> SurveyDesign(weights="weight", strata="region", clusters="school")
    SurveyDesign(weights='weight', strata='region', clusters='school')
    """

    weights: Any = None
    strata: Any = None
    clusters: Any = None
    nest: bool = False
    singleton: str = "error"
    replicate_weights: Sequence[Any] | None = None
    scale: float | None = None
    max_weight: float | str | None = None
    stratum_sizes: Any = None

    def __post_init__(self) -> None:
        """Check the parameters as far as possible without a table."""
        check_flag("nest", self.nest)
        check_choice("singleton", self.singleton, SINGLETONS)
        for name in ("strata", "clusters"):
            if isinstance(getattr(self, name), list | tuple):
                several = tuple(getattr(self, name))
                object.__setattr__(self, name, several[0] if len(several) == 1 else several or None)
        if self.replicate_weights is not None:
            if isinstance(self.replicate_weights, str) or len(self.replicate_weights) < 2:
                raise ValueError("replicate_weights must be a list of at least two columns.")
            object.__setattr__(self, "replicate_weights", tuple(self.replicate_weights))
            if self.scale is None:
                raise ValueError(
                    "replicate_weights need scale: 1/R for R balanced half samples, (R - 1)/R for "
                    "the jackknife, 1/(R (1 - k)**2) with Fay's k."
                )
            if self.strata is not None or self.clusters is not None:
                raise ValueError(
                    "replicate_weights already define strata and clusters: omit either strata and "
                    "clusters, or replicate_weights."
                )
        elif self.scale is not None:
            raise ValueError("scale applies only to replicate_weights, which were not passed.")
        if not self.columns:
            raise ValueError(
                "a survey's design needs a column: weights, strata, clusters or replicate_weights."
            )
        for name in ("scale", "max_weight"):
            value = getattr(self, name)
            if value is not None and not (name == "max_weight" and isinstance(value, str)):
                check_positive(name, value)
        if self.nest and (self.strata is None or self.clusters is None):
            raise ValueError(
                "nest=True concerns codes of clusters within strata: pass both clusters= and "
                "strata=."
            )
        if self.stratum_sizes is not None and self.strata is None:
            raise ValueError("stratum_sizes are the sizes of strata: pass strata= as well.")

    def __repr__(self) -> str:
        settings = {name: getattr(self, name) for name in self.__dataclass_fields__}
        usual = {name: field.default for name, field in self.__dataclass_fields__.items()}
        stated = (f"{name}={value!r}" for name, value in settings.items() if value != usual[name])
        return f"SurveyDesign({', '.join(stated)})"

    @property
    def columns(self) -> tuple[Any, ...]:
        """The columns of the public table that the design names, without duplicates."""
        named: list[Any] = []
        max_weight = self.max_weight if isinstance(self.max_weight, str) else None
        drawn = (self.weights, self.strata, self.clusters, self.replicate_weights)
        for names in (*drawn, max_weight, self.stratum_sizes):
            named += names if isinstance(names, tuple) else [] if names is None else [names]
        return tuple(dict.fromkeys(named))

    def read(
        self, column: Callable[[Any], np.ndarray], sums: WeightSums | None = None
    ) -> SurveyRecords:
        """Read the design of each record.

        Parameters
        ----------
        column : callable
            Function from a column named by the design to its values, an array of shape (n,).
        sums : WeightSums, optional
            The weights, where each row stands for several records of one cluster.

        Returns
        -------
        SurveyRecords

        Raises
        ------
        ValueError
            If weights are not positive numbers, a stratum or a cluster is missing, a cluster is in
            two strata, or a stratum's size or largest weight differs between its records.

        Examples
        --------
        >>> import pandas as pd
        >>> sample = pd.DataFrame({"weight": [1.5, 2.5, 1.0], "school": ["a", "a", "b"]})
        >>> records = SurveyDesign(weights="weight", clusters="school").read(sample.get)
        >>> records.weights.tolist(), records.clusters.tolist()
        ([1.5, 2.5, 1.0], [0, 0, 1])
        """
        weights = counts = squares = None
        if sums is not None:
            check_sums(self.weights, sums)
            counts, weights, squares = sums.counts, sums.weights, sums.squares
        elif self.weights is not None:
            weights = weights_of(self.weights, column, positive=True)
        strata = None if self.strata is None else codes_of("stratum", self.strata, column)
        clusters = None if self.clusters is None else codes_of("cluster", self.clusters, column)
        replicates = None
        if self.replicate_weights is not None:
            replicates_of = [
                weights_of(name, column, positive=False) for name in self.replicate_weights
            ]
            replicates = np.stack(replicates_of, axis=1)
        first_column = next(a for a in (weights, strata, clusters, replicates) if a is not None)
        n = len(first_column)
        if strata is not None and clusters is not None:
            clusters = within_strata(strata, clusters, nest=self.nest)
        if strata is None:
            strata = np.zeros(n, dtype=np.intp)
        max_weights = sizes = None
        if sums is None:  # the exact sets need single records
            max_weights = self._most_of_strata(column, strata)
        if self.stratum_sizes is not None:
            sizes = of_strata("stratum_sizes", self.stratum_sizes, column, strata)
            if weights is not None:
                warn_of_other_sizes(sizes, np.bincount(strata, weights))
        return SurveyRecords(
            np.ones(n) if weights is None else weights,
            strata,
            clusters,
            self.singleton,
            replicates,
            self.scale,
            counts,
            squares,
            max_weights,
            sizes,
        )

    def _most_of_strata(self, column: Callable[[Any], Any], strata: Indices) -> Floats | None:
        """Return the largest weight that the design could give in each stratum, if stated."""
        if self.max_weight is None:
            return None
        if isinstance(self.max_weight, str):
            return of_strata("max_weight", self.max_weight, column, strata)
        return np.full(int(strata.max()) + 1, float(self.max_weight))

    def check_weighted(self) -> None:
        """Reject a design that states sizes of strata but has no weights.

        The exact sets keep records of each stratum by its size. Everything else weights records by
        `weights` alone, so that without them the distribution is that of the sample.

        Raises
        ------
        ValueError
            If there are sizes of strata and no weights.
        """
        if self.stratum_sizes is not None and self.weights is None:
            raise ValueError(
                "stratum_sizes= without weights are only for the exact sets "
                "(radius='finite-sample' with max_weight=). Name a column of weights, "
                "SurveyDesign(weights=...): each stratum's size divided by its number of records."
            )

    @classmethod
    def from_svy(cls, sample: Any) -> "SurveyDesign":
        """Read the design of a sample of the package ``svy``; fit sanitizers on ``sample.data``.

        Codes of ``psu`` are nested within ``stratum``, as in svy. Replicate weights replace strata
        and clusters, as in svy's estimates. Later stages of sampling (``ssu``) need no column, and
        ``pop_size`` is not used: without the correction for a finite population sets are somewhat
        wider.

        Parameters
        ----------
        sample : svy.Sample

        Returns
        -------
        SurveyDesign

        Raises
        ------
        ValueError
            If the design has no equivalent here: selection probabilities without weights,
            replicates with unequal coefficients, or a different rule for singletons.
        """
        return cls(**design_of_svy(sample))

    def complete(self, sample: Any, answers: Any = None, *, within: Sequence[Any] = ()) -> Any:
        """Drop records without an answer and raise the weights of the others in their class.

        The weights of a class's other records are multiplied by one factor, so that their sum stays
        the same. The estimates are correct if, within a class, whether an answer is missing does
        not depend on the answer ("missing at random").

        Parameters
        ----------
        sample : array, list of rows or data frame of shape (n, n_columns)
            The public table, with the columns of the design.
        answers : str, int or list, optional
            Columns whose values must not be missing. None: all columns that the design does not
            name.
        within : sequence of str or int, default=()
            Columns that define the classes, without missing values. Include the secret if values of
            U are missing. By default, all records form one class.

        Returns
        -------
        array or data frame
            In the library of `sample`; replicate weights are multiplied likewise.

        Raises
        ------
        ValueError
            If the design has no weights, a column does not exist, or a class has no complete
            record.

        Notes
        -----
        The factors are estimated, but variances treat them as known. An exact set
        (``radius="finite-sample"``) does not hold for adjusted weights.

        Examples
        --------
        >>> import pandas as pd
        >>> sample = pd.DataFrame(
        ...     {"weight": [2.0, 1.0, 3.0], "ill": ["no", "no", "yes"], "visits": [4, None, 1]}
        ... )
        >>> SurveyDesign(weights="weight").complete(sample, within=["ill"])
           weight  ill  visits
        0     3.0   no     4.0
        2     3.0  yes     1.0
        """
        return complete_records(sample, self, answers, within)


# --- What a fitted sanitizer says of the survey ---------------------------------------------------


@dataclass(frozen=True)
class SurveySummary:
    """How a fit took the design of a survey into account.

    Attributes
    ----------
    design : SurveyDesign
        The stated design.
    exact : bool
        Whether an independent part of the records was kept; if not, the covariance of the estimates
        was estimated.
    n_rows, n_records : int
        Rows of the table, and records that were counted.
    n_clusters : int
        Clusters, or records if no clusters are stated.
    degrees : int
        Degrees of freedom of the estimated covariance.
    effective : tuple of (secret, float)
        Effective number of independent records of each secret; empty if `exact`, or
        where no confidence set needs it.
    """

    design: SurveyDesign
    exact: bool
    n_rows: int
    n_records: int
    n_clusters: int
    degrees: int
    effective: tuple[tuple[Any, float], ...] = ()

    def describe(self) -> str:
        """Describe what was done, and its assumptions."""
        of = f"a survey of {self.n_rows:,} records ({self.design!r})"
        unit = "clusters" if self.design.clusters is not None else "records"
        if self.exact:
            max_weight, within = self.design.max_weight, ""
            max_weight = (
                f"that in column {max_weight!r}"
                if isinstance(max_weight, str)
                else f"{max_weight:g}"
            )
            if self.design.strata is not None:
                within = f" within strata, whose sizes are those in {self.design.stratum_sizes!r}"
            return (
                f"{of}; {self.n_records:,} of them were kept at random, in proportion to their "
                f"weights, and are an independent sample of the population if {unit} were drawn "
                f"independently{within}, with probabilities inversely proportional to their "
                f"weights, of which {max_weight} is the largest possible"
            )
        if not self.effective:
            return (
                f"{of}, whose weights determine the distribution; no confidence set uses its design"
            )
        how = "replicate weights" if self.design.replicate_weights else "Taylor linearisation"
        worth = ", ".join(f"{n:,.0f} for {secret!r}" for secret, n in self.effective[:5])
        n_further = len(self.effective) - 5
        return (
            f"{of}; variances are those of "
            f"{how} with {self.degrees:,} "
            f"degree{'s' * (self.degrees != 1)} "
            "of freedom, which needs many "
            "clusters with records of each "
            "secret; effective numbers of "
            f"independent records: {worth}" + (f" and {n_further:,} more" if n_further > 0 else "")
        )
