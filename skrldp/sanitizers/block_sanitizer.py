"""The sanitizer of wide tables: each person reports one block of columns."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from skrldp._arrays import ReadOnly
from skrldp._frames import refuse_index
from skrldp._params import check_beta, check_eps, check_seed
from skrldp._typing import Floats
from skrldp.alphabet.combinations import group_cells
from skrldp.joint import JointDistribution
from skrldp.mechanism.manifest import BlockColumns, Manifest
from skrldp.pooling import CommonMargins, Pool, best_shares, information_of
from skrldp.sampling.random_bits import RandomStream, fresh_draws
from skrldp.sanitizers.base import BaseSanitizer
from skrldp.sanitizers.block_designs import checked_base, design_blocks
from skrldp.sanitizers.fitted_state import FromFit, columns_of, snapshot
from skrldp.sanitizers.parameters import (
    Categories,
    Columns,
    Seed,
    check_seconds,
    check_verbose,
    with_parameters,
)
from skrldp.sanitizers.private_reports import blank_table, pilots_of
from skrldp.sanitizers.reports import (
    TableTransformer,
    as_categories,
    as_frame,
    blank_frame,
    to_container,
)
from skrldp.sanitizers.warnings import warn_of_first_column
from skrldp.table.codec import manifest_codes
from skrldp.table.lazy import lazy_names
from skrldp.table.read import lazy_frame
from skrldp.table.select import column_names, resolve_columns, with_columns

# --- What the reports of blocks reveal together ---------------------------------------------------


def margins_of(blocks: BlockColumns) -> CommonMargins:
    """Find the parameters that the margins of blocks have in common."""
    sizes = [len(values) for values in blocks.categories.values()]
    return CommonMargins.of(len(blocks.secrets), sizes, blocks.places)


def models(
    blocks: BlockColumns, joints: Sequence[JointDistribution]
) -> tuple[CommonMargins, list[tuple[int, Floats]], list[Floats]]:
    """Return the blocks' margins, the functions to estimate, and a report's information.

    The functions are, for each block, the shares of its values of U.
    """
    margins = margins_of(blocks)
    functions, information = [], []
    for number, (joint, model) in enumerate(zip(joints, margins.blocks, strict=True)):
        mechanism = blocks.mechanisms[number]
        cells = blocks.in_order(number, joint.smoothed().ravel())  # positive
        matrix = blocks.in_order(number, mechanism.matrix)
        information.append(information_of(model, matrix, cells).matrix)
        which = "nonsensitive" if blocks.in_every_block else "all"
        shares = group_cells(mechanism, None, which).indicators
        functions.append((number, blocks.in_order(number, shares)))
    return margins, functions, information


def errors_of(
    margins: CommonMargins,
    information: Sequence[Floats],
    functions: Sequence[tuple[int, Floats]],
    shares: Floats,
) -> Floats:
    """Square root of the summed variances of each block's shares, for one report."""
    scaled = tuple(r * matrix for r, matrix in zip(shares, information, strict=True))
    pool = Pool(margins, scaled)
    return np.array(
        [
            math.sqrt(pool.gains([function])[0]) if pool.determines(*function).all() else math.inf
            for function in functions
        ]
    )


# --- The sanitizer --------------------------------------------------------------------------------


_OUT = ("block", "report")


@dataclass(frozen=True, eq=False)
class _FittedBlocks(ReadOnly):
    """The results of `fit`; stored by one assignment."""

    columns: Any
    manifest: Manifest
    sanitizers: tuple[BaseSanitizer, ...]
    margins: CommonMargins
    order: tuple[Any, ...]  # names of all columns in table order
    known: tuple[Any, ...] = ()
    figures: dict[str, Any] = field(default_factory=dict)
    asked: dict[str, Any] = field(default_factory=dict)  # the parameters, as they were in `fit`
    reported_itself: bool = False


@with_parameters
class BlockSanitizer(TableTransformer):
    """A sanitizer for wide tables: each person reports one randomly drawn block of columns.

    A design can have about a thousand cells, but a dozen columns have millions. Therefore a
    mechanism is designed for each of several *blocks* of columns together with S. A person's block
    is drawn independently of the record. The person sends the block's index and a report of its
    mechanism, and this pair leaks no more than the mechanism of the block that leaks most. Official
    statistics calls this matrix sampling, or a split questionnaire. :class:`~skrldp.BlockEstimator`
    combines the reports of all blocks.

    Parameters
    ----------
    eps : float, default=1.0
        Privacy parameter ε, in nats, of each report: no report may be more than exp(ε) times as
        probable under one secret as under another.
    sensitive : str, int, list or callable, default=None
        The columns of the secret S, which are part of every block. All other columns are U. None is
        the first column, with a warning about the unprotected ones. If all columns are sensitive,
        ``slice(None)``, each block is the secret of its own mechanism: plain local differential
        privacy, for all distributions.
    blocks : {"singles", "pairs"} or list, default="singles"
        The blocks: each column of U, or every pair of them; or a list of columns and lists of
        columns that together contain all of U.
    base : sanitizer, optional
        The sanitizer that designs the mechanism of a block; None is
        ``AOptimalSanitizer(tol=0.1)``, which is fast and whose manifests are small. Its `eps` and
        `categories` are those given here, and so is `beta` of its uncertainty set;
        `eps_worst_case`, `sensitive`, `observer_columns` and columns by position (of targets, say)
        are given here and not there; its `encode` and `random_state` have no effect; all other
        parameters (``drift``, ``tol``, ``min_frequency``, …) are those of `base`.
    beta : float, default=0.05
        Bound on the probability that the confidence set of any block misses the true distribution:
        each of m blocks gets ``beta / m``. With `observer_columns`, each block has a second set
        with the same probability, and ``manifest_.claims.beta`` is up to twice `beta`. If blocks
        were chosen by looking at the public table, multiply ``beta`` by their number divided by the
        number of candidate blocks.
    eps_worst_case : float, optional
        Privacy parameter over all distributions, in nats: the limit for each further report about a
        person, of any block, and for an observer who knows U. None: no guarantee about further
        reports.
    observer_columns : str, int, list or callable, optional
        Columns of U that observers know about a person. They become part of every block. Numbers in
        the same bin, and values grouped as "other", are a single known value.
    categories : "auto", list or dict, default="auto"
        Alphabets of the columns, as in the other sanitizers: a list with one for each column in
        table order, or a dict for selected columns. :class:`~skrldp.Bins` and
        :class:`~skrldp.Knots` are for columns of numbers.
    time_limit : float, default=300.0
        Limit in seconds for the designs of all blocks together; each block also has the time limit
        of `base`. None: the limit of `base` alone.
    n_jobs : int, optional
        Number of processes that design blocks; -1 for one for each processor. None is 1, unless in
        a :func:`joblib.parallel_config` context. The mechanisms do not depend on it.
    random_state : None, int, Generator or RandomState, default=None
        None uses the operating system's entropy. An int makes `transform` repeatable, for tests:
        **it voids the guarantee**. `fit` is deterministic and does not use it.
    verbose : int, default=0
        If positive, `fit` prints a line for each designed block and the number of blocks done.

    Attributes
    ----------
    manifest_ : Manifest
        The mechanisms of all blocks and the blocks' probabilities; a client needs only
        ``manifest_.to_json()``.
    blocks_ : tuple of m tuples
        Names of the columns of U in each block.
    block_probabilities_ : array of shape (m,)
        Probability of each block. They minimise the total variance of the shares of all blocks'
        values of U, if the reports of all blocks are pooled (A-optimality).
    certificate_ : Certificate
        The proof of the block that leaks most, so that ``certificate_.eps`` bounds the whole
        mechanism.
    certificates_ : tuple of m Certificate
        The proofs of all blocks.
    sanitizers_ : tuple of m fitted sanitizers
        The sanitizers of the blocks, in the order of ``blocks_``; they are copies, so that changing
        or refitting them has no effect here.
    std_error_ : array of shape (m,)
        Square root of the summed variances of the shares of each block's values of U, for one
        report. With n reports of all blocks together, divide it by √n.
    column_names_ : tuple
        Names of all columns, or their positions, in the table's order.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns, if all are strings.

    Raises
    ------
    ValueError
        By `fit` and `transform`, for parameters and tables that are not as described.
    CertificateError
        By `fit`, if the mechanism of a block cannot be proved private.

    Warns
    -----
    PrivacyLeakWarning
        By `fit`, as by the sanitizers of the blocks; each warning names the blocks.

    See Also
    --------
    BlockEstimator : Shares, means and crosstabs from the reports.
    AOptimalSanitizer : The design of one block.

    Notes
    -----
    **A person must report only one block, ever.** Reports of two blocks about a person are two
    reports, which leak up to ``eps + eps_worst_case``, and have no bound without `eps_worst_case`.
    Every call of `transform` draws blocks again, so keep the reports;
    :class:`skrldp.batches.BlockReporter` makes block and report functions of a key and the person's
    id. People must not be able to refuse a block after seeing it, because which block was refused,
    and by whom, would be a report that no proof covers.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skrldp import BlockSanitizer
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame(rng.integers(0, 2, (4000, 4)), columns=["ill", "a", "b", "c"])
    >>> known = {name: [0, 1] for name in table}
    >>> sanitizer = BlockSanitizer(eps=1.0, sensitive="ill", categories=known).fit(table)
    >>> sanitizer.blocks_
    (('a',), ('b',), ('c',))
    >>> sanitizer.certificate_.holds(1.0)
    True
    >>> sanitizer.transform(table).columns.tolist()
    ['block', 'report']
    """

    eps: float = field(default=1.0, kw_only=False)
    sensitive: Columns = None
    blocks: str | Sequence[Any] = "singles"
    base: BaseSanitizer | None = None
    beta: float = 0.05
    eps_worst_case: float | None = None
    observer_columns: Columns = None
    categories: Categories = "auto"
    time_limit: float | None = 300.0
    n_jobs: int | None = None
    random_state: Seed = None
    verbose: int = 0

    manifest_ = FromFit("manifest")
    blocks_ = FromFit("manifest.blocks")
    block_probabilities_ = FromFit("manifest.shares")
    sanitizers_ = FromFit("sanitizers", copied=True)
    certificate_ = FromFit("figures.certificate_")
    certificates_ = FromFit("figures.certificates_")
    std_error_ = FromFit("figures.std_error_")
    column_names_ = FromFit("order")
    n_features_in_ = FromFit("columns.n_features_in_")
    feature_names_in_ = FromFit("columns.feature_names_in_")

    # -- from a public table to mechanisms --------------------------------------------------------

    def fit(self, X: Any = None, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Design, round and certify a mechanism for each block, and find the blocks' shares.

        Parameters
        ----------
        X : array, list of rows, data frame or lazy frame of shape (n, n_columns), optional
            The public table, as for the other sanitizers. Alternatively, private reports: a fitted
            :class:`BlockEstimator`, or a list of them, about different people, whose blocks have
            exactly the columns of these blocks and S. None needs no data, and is for whole records
            of each block (``sensitive=slice(None)``).
        y : ignored
            Not used; present for API consistency.
        sample_weight : array of shape (n,), optional
            How many records each row represents: integers, including zero.

        Returns
        -------
        self
        """
        check_eps("eps", self.eps)
        check_seed(self.random_state)
        check_verbose("verbose", self.verbose)
        check_beta("beta", self.beta)
        if self.time_limit is not None:
            check_seconds("time_limit", self.time_limit)
        base = checked_base(self)
        pilots = [] if X is None else pilots_of(X)
        if pilots is not None:
            X = blank_table(pilots, self.categories)
        lazy = lazy_frame(X)
        names = column_names(X) if lazy is None else lazy_names(lazy)
        if self.sensitive is None:
            warn_of_first_column(names)
        secret = resolve_columns(X, slice(1) if self.sensitive is None else self.sensitive)
        if len(secret) == len(names):  # all are sensitive: none is in every block
            secret = ()
        observed = self.observer_columns
        known = () if observed is None else resolve_columns(X, observed, "observer")
        mechanisms, fitted = design_blocks(
            self, base, X, sample_weight, names, secret, known, pilots
        )
        joints = [design.joint_ for design in fitted]
        margins, functions, information = models(BlockColumns(mechanisms), joints)
        manifest = Manifest.of(mechanisms, best_shares(margins, information, functions))
        certificates = tuple(design.certificate_ for design in fitted)
        self._fitted = _FittedBlocks(
            columns=columns_of(self, X if lazy is None else blank_frame(names)),
            manifest=manifest,
            sanitizers=fitted,
            margins=margins,
            order=tuple(names),
            known=tuple(names[p] for p in known),
            asked=snapshot(self),
            figures={
                "certificate_": max(certificates, key=lambda design: design.eps),
                "certificates_": certificates,
                "std_error_": errors_of(margins, information, functions, manifest.shares),
            },
        )
        return self

    # -- from private records to reports ----------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """Draw a block for each record, and report the record's block.

        Every call draws again, unless `random_state` is an int. The guarantee is for one report
        about each person, so keep it. All columns of every record are checked before anything is
        drawn, so that an error does not depend on the block.

        Parameters
        ----------
        X : array, list of rows, or data frame of shape (n, n_columns)
            Private records, with the columns of the public table.

        Returns
        -------
        array or data frame of shape (n, 2)
            Indices of the block and of the report, in the container of X unless `set_output`
            specifies a different one.

        Raises
        ------
        ValueError
            If the columns are not those seen in `fit`, or a value is unknown, or a column is the
            index of X, too, which the output keeps. No record is reported then.
        """
        fitted = self._state_for(X)
        refuse_index(X, fitted.order)
        manifest = fitted.manifest
        sees = manifest.observe != "nonsensitive"
        stream = RandomStream(self.random_state)
        draws = fresh_draws(stream)
        secrets, values = manifest_codes(manifest, X, fitted.order, secrets=sees, draws=draws)
        drawn, reports = fitted.manifest.sample(secrets, values, stream)
        numbers = np.column_stack([drawn.astype(np.int64), reports.astype(np.int64)])
        written = to_container(as_frame(numbers, _OUT, X), _OUT, chosen := self._container())
        most_reports = max(mechanism.shape[0] for mechanism in fitted.manifest.mechanisms)
        sizes = dict(zip(_OUT, (len(fitted.manifest.mechanisms), most_reports), strict=True))
        return as_categories(written, sizes, chosen)

    def _state(self) -> _FittedBlocks:
        """Return the results of `fit`."""
        check_is_fitted(self)
        return self._fitted

    def _state_for(self, X: Any) -> _FittedBlocks:
        """Return the results of `fit`, after checking that a table has the columns seen there."""
        fitted = self._state()
        column_names(X)  # raises an error if X is not a table
        validate_data(fitted.columns, X, skip_check_array=True, reset=False)
        return fitted

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the sum of the squared ``std_error_`` at the distribution of a table.

        Parameters
        ----------
        X : array, list of rows, or data frame of shape (n, n_columns)
            Records, which are only counted, not reported.
        y : ignored
            Not used; present for API consistency.
        sample_weight : array of shape (n,), optional
            How many records each row represents.

        Returns
        -------
        float
            At most 0. It is not private, because it depends on X.
        """
        joints, fitted = self._distributions_of(X, sample_weight), self._fitted
        _, functions, information = models(fitted.manifest, joints)
        errors = errors_of(fitted.margins, information, functions, fitted.manifest.shares)
        return -float((errors**2).sum())

    def _distributions_of(self, X: Any, sample_weight: Any) -> list[JointDistribution]:
        """Count a table in the cells of each block."""
        fitted = self._state_for(X)
        positions = [
            sorted(fitted.order.index(name) for name, _ in block.columns)
            for block in fitted.manifest.mechanisms
        ]
        return [
            block._distribution_of(with_columns(X, columns), sample_weight, block._state())
            for block, columns in zip(fitted.sanitizers, positions, strict=True)
        ]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns of `transform`'s output.

        Parameters
        ----------
        input_features : ignored
            Not used; present for API consistency.

        Returns
        -------
        ndarray of str objects
            "block" and "report".
        """
        check_is_fitted(self)
        return np.array(_OUT, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)
