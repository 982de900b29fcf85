"""How the records of a public table were drawn, as people who run surveys state it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skrldp._params import check_choice, check_flag, check_positive
from skrldp._typing import Floats, Indices
from skrldp.surveys._columns import (
    check_sums,
    codes_of,
    of_strata,
    warn_of_other_sizes,
    weights_of,
    within_strata,
)
from skrldp.surveys._complete import complete_records
from skrldp.surveys._from_svy import design_of_svy
from skrldp.surveys._records import SurveyRecords, WeightSums

__all__ = ["SINGLETONS", "SurveyDesign"]

SINGLETONS = ("error", "center", "certainty")


@dataclass(frozen=True)
class SurveyDesign:
    r"""The design of a survey: columns of the public table that say how its records were drawn.

    Sanitizers take it as ``survey=``. These columns are then neither S nor U, and private records
    do not need them.

    Parameters
    ----------
    weights : str or int, optional
        Column of sampling weights: how many people a record stands for. Positive numbers, which
        need not be whole. None: all records have the same weight.
    strata : str, int or list of them, optional
        Column of strata, within which records or clusters were drawn independently of one another;
        of several columns, the combinations.
    clusters : str, int or list of them, optional
        Column of primary sampling units, such as households, schools or places; of several columns,
        the combinations. None: records were drawn one by one.
    nest : bool, default=False
        Whether the clusters' codes begin anew in each stratum. If not, as in R's ``survey``, a code
        in two strata is an error.
    singleton : {"error", "center", "certainty"}, default="error"
        What to do with a stratum of one cluster, of which no variance can be estimated: refuse it;
        take its distance from the mean of all clusters, which is cautious (R: "adjust"); or take it
        for drawn with certainty, so that it adds no variance.
    replicate_weights : sequence of str or int, optional
        Columns of replicate weights (balanced repeated replication, jackknife, bootstrap), from
        which variances are estimated in place of `strata` and `clusters`.
    scale : float, optional
        What the sum of squared deviations of the replicates is multiplied by: 1/R for R balanced
        half samples, 1/(R (1 - k)²) with Fay's k, (R - 1)/R for the jackknife.
    max_weight : float or str, optional
        The greatest weight that the design could give a record; with `clusters`, the greatest sum
        of weights that it could give a cluster. It must be known from the design: the greatest of
        the table will not do. The exact sets (``radius="finite-sample"``) need it. A str is a
        column with that of each record's stratum: the column of `weights` itself, if the design
        gives all records of a stratum one weight.
    stratum_sizes : str or int, optional
        Column of how many people of the population are in each record's stratum, or of numbers in
        proportion, known from the design. The exact sets need it where there are `strata`; all
        others go by `weights`, and refuse sizes without them.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or two do not go together.

    Notes
    -----
    ``LikelihoodRatioSet(radius="asymptotic")`` estimates the covariance of all conditionals, by
    Taylor linearisation or from replicate weights, and corrects the likelihood-ratio statistics by
    Rao and Scott's second order.

    ``LikelihoodRatioSet(radius="finite-sample")`` keeps a part of the records, each with a
    probability in proportion to its weight, and of each cluster one at most. If records (or
    clusters) were drawn independently, with probabilities inverse to their weights, this part is an
    independent sample of the population, and the set holds for any number of records (Theorem 39).
    Of strata, whose sizes were fixed, it keeps as many as a sample of the population would have.

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
        """Check what can be checked without a table."""
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
                    "replicate_weights already say what strata and clusters there were: leave "
                    "strata and clusters out, or replicate_weights."
                )
        elif self.scale is not None:
            raise ValueError("scale is for replicate_weights, which are not given.")
        if not self.columns:
            raise ValueError(
                "a survey's design needs a column: weights, strata, clusters or replicate_weights."
            )
        for name in ("scale", "max_weight"):
            value = getattr(self, name)
            if value is not None and not (name == "max_weight" and isinstance(value, str)):
                check_positive(name, value)
        if self.nest and (self.strata is None or self.clusters is None):
            raise ValueError("nest=True is about codes of clusters within strata: name both.")
        if self.stratum_sizes is not None and self.strata is None:
            raise ValueError("stratum_sizes say how large strata are: name the strata, too.")

    def __repr__(self) -> str:
        own = {name: getattr(self, name) for name in self.__dataclass_fields__}
        usual = {name: field.default for name, field in self.__dataclass_fields__.items()}
        stated = (f"{name}={value!r}" for name, value in own.items() if value != usual[name])
        return f"SurveyDesign({', '.join(stated)})"

    @property
    def columns(self) -> tuple[Any, ...]:
        """The columns of the public table that it names, each once."""
        named: list[Any] = []
        most = self.max_weight if isinstance(self.max_weight, str) else None
        drawn = (self.weights, self.strata, self.clusters, self.replicate_weights)
        for own in (*drawn, most, self.stratum_sizes):
            named += own if isinstance(own, tuple) else [] if own is None else [own]
        return tuple(dict.fromkeys(named))

    def read(
        self, column: Callable[[Any], np.ndarray], sums: WeightSums | None = None
    ) -> SurveyRecords:
        """Read the design of each record.

        Parameters
        ----------
        column : callable
            Given a column that the design names, returns its values, an array of shape (n,).
        sums : WeightSums, optional
            The weights, where each row stands for several records of one cluster.

        Returns
        -------
        SurveyRecords

        Raises
        ------
        ValueError
            If weights are not positive numbers, a stratum or a cluster is missing, a cluster is in
            two strata, or what is stated of strata differs within one.

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
            own = [weights_of(name, column, positive=False) for name in self.replicate_weights]
            replicates = np.stack(own, axis=1)
        given = next(a for a in (weights, strata, clusters, replicates) if a is not None)
        n = len(given)
        if strata is not None and clusters is not None:
            clusters = within_strata(strata, clusters, nest=self.nest)
        if strata is None:
            strata = np.zeros(n, dtype=np.intp)
        most = sizes = None
        if sums is None:  # the exact sets need single records
            most = self._most_of_strata(column, strata)
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
            most,
            sizes,
        )

    def _most_of_strata(self, column: Callable[[Any], Any], strata: Indices) -> Floats | None:
        """Return the greatest weight that the design could give in each stratum, if stated."""
        if self.max_weight is None:
            return None
        if isinstance(self.max_weight, str):
            return of_strata("max_weight", self.max_weight, column, strata)
        return np.full(int(strata.max()) + 1, float(self.max_weight))

    def check_weighted(self) -> None:
        """Refuse a design whose strata have stated sizes that no weights follow.

        The exact sets keep records of each stratum by its size. Everything else weighs records by
        `weights` alone: without them, the distribution is that of the sample.

        Raises
        ------
        ValueError
            If there are sizes of strata and no weights.
        """
        if self.stratum_sizes is not None and self.weights is None:
            raise ValueError(
                "stratum_sizes= alone are for the exact sets (radius='finite-sample' with "
                "max_weight=). Here records count by their weights, and without them all alike, "
                "whatever the sizes of strata: name a column of weights, SurveyDesign(weights=...),"
                " such as each stratum's size divided by its number of records."
            )

    @classmethod
    def from_svy(cls, sample: Any) -> "SurveyDesign":
        """Read the design of a sample of the package ``svy``; fit sanitizers on ``sample.data``.

        Codes of ``psu`` are nested within ``stratum`` there, and so they are here. Replicate
        weights take the place of strata and clusters, as in svy's estimates. Later stages of
        sampling (``ssu``) need no column, and ``pop_size`` is not used: without the correction for
        a finite population sets are somewhat wider.

        Parameters
        ----------
        sample : svy.Sample

        Returns
        -------
        SurveyDesign

        Raises
        ------
        ValueError
            If the design has something that has no equivalent here: selection probabilities without
            weights, replicates with coefficients that differ, or another rule for singletons.
        """
        return cls(**design_of_svy(sample))

    def complete(self, sample: Any, answers: Any = None, *, within: Sequence[Any] = ()) -> Any:
        """Drop records without an answer; others of their class then stand for them as well.

        The weights of a class's other records are multiplied by one factor, so that their sum stays
        the same. The estimates are right if, within a class, it does not depend on the answer
        whether it is missing ("missing at random").

        Parameters
        ----------
        sample : array, list of rows or data frame of shape (n, n_columns)
            The public table, with the columns of the design.
        answers : str, int or list, optional
            Columns whose values must be there. None: all columns that the design does not name.
        within : sequence of str or int, default=()
            Columns that make the classes, without missing values. If values of U are missing, the
            secret should be one of them. Without any, all records are one class.

        Returns
        -------
        array or data frame
            In the library of `sample`; replicate weights are multiplied likewise.

        Raises
        ------
        ValueError
            If the design has no weights, there are no such columns, or a class has no complete
            record.

        Notes
        -----
        The factors are estimated, and variances take them for known. An exact set
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
