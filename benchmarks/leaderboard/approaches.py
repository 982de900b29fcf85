"""What an approach is, and ours: sanitizers of skrldp at their defaults."""

import inspect
import resource
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skrldp import Mechanism, PrivacyLeakWarning, __version__
from skrldp.targets import Marginal, Mean

from .measures import measured

# What an approach at ε promises, from the strongest on: each implies those that follow.
RECORD = "records"
EVERYWHERE = "secrets, all distributions"
OVER_SET = "secrets, confidence set"
AT_PUBLIC = "secrets, public distribution"
IMPLIED = (RECORD, EVERYWHERE, OVER_SET, AT_PUBLIC)
# These promise something else, or nothing: records that differ in one column, posteriors of S at
# the public distribution, a part of the values of S.
ONE_COLUMN = "one column of a record"
POSTERIORS = "posteriors, public distribution"
SOME_VALUES = "some secrets"
NOTHING = "nothing"


def peak():
    """Return the most memory that this process has used, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class DoesNotApplyError(Exception):
    """The approach has no mechanism for this task."""


class Approach:
    """A way from a public table and ε to a mechanism. A subclass writes :meth:`matrix`.

    Attributes
    ----------
    name, promise, source : str
        What it is called, what it promises at ε, and who wrote the code.
    version : str
        Raised where the result changes: kept results of older ones are computed again.
    uses : tuple of functions
        Helpers whose lines count as well.
    epsilons : tuple of float, optional
        Where it is run, if not everywhere: designs that take minutes.
    """

    name = ""
    promise = NOTHING
    source = "from its formulas, here"
    version = "1"
    uses: tuple[Callable, ...] = ()
    epsilons: tuple[float, ...] | None = None

    def matrix(self, task, eps):
        """Return the probabilities of the reports given the cells, (b, a1 * a2)."""
        raise NotImplementedError

    def design(self, task, eps):
        """Return the mechanism, its cells in the order of the task."""
        table = np.asarray(self.matrix(task, eps), dtype=float)
        table = table[table.any(axis=1)]
        return Mechanism.from_matrix(
            table / table.sum(axis=0), list(task.categories[0]), task.values
        )

    def result(self, task, eps):
        """Design and measure: costs and measures by name."""
        start, before = time.process_time(), peak()
        mechanism = self.design(task, eps)
        costs = {"seconds": time.process_time() - start, "memory_mb": max(0.0, peak() - before)}
        return {**costs, **measured(task, mechanism)}

    @property
    def lines(self):
        """Lines of code that a user needs who has no library with the approach."""
        parts = [inspect.getsource(function) for function in (type(self).matrix, *self.uses)]
        return sum(bool(line.strip()) for part in parts for line in part.splitlines())


class Ours(Approach):
    """A sanitizer of skrldp: `make` returns one for ε, before the columns are named.

    `targets` are those of a task. Where records are protected, all columns are sensitive.
    """

    source, version = "skrldp", __version__
    lines = 2  # construct and fit

    def __init__(self, name, make, promise=OVER_SET, targets=None):
        self.name, self.make, self.promise, self.targets = name, make, promise, targets

    def design(self, task, eps):
        sensitive = slice(None) if self.promise == RECORD else task.columns[0]
        sanitizer = self.make(eps).set_params(
            sensitive=sensitive, categories=[list(own) for own in task.categories]
        )
        if self.targets is not None:
            sanitizer.set_params(targets=self.targets(task))
        quietly_fitted(sanitizer, task.rows, task.counts.ravel())
        secrets = [(secret,) for secret in task.categories[0]]
        table = reordered(sanitizer.mechanism_, secrets, task.values)
        return Mechanism.from_matrix(table, list(task.categories[0]), task.values)


def quietly_fitted(sanitizer, X, sample_weight=None):
    """Fit a sanitizer without its warnings."""
    with warnings.catch_warnings():
        for kind in (ConvergenceWarning, PrivacyLeakWarning):
            warnings.simplefilter("ignore", kind)
        return sanitizer.fit(X, sample_weight=sample_weight)


def reordered(mechanism, secrets, values):
    """Return the matrix of a mechanism, with cells in the order of secrets and values of U."""
    if mechanism.values == ((),):  # all columns are sensitive
        cells = [(*one, *value) for one in secrets for value in values]
        place = {cell: code for code, cell in enumerate(mechanism.secrets)}
        order = [place[cell if len(cell) > 1 else cell[0]] for cell in cells]
        return mechanism.matrix[:, order]
    secrets = [one[0] for one in secrets]
    known, shape = mechanism.values, (-1, len(mechanism.secrets), len(mechanism.values))
    places = [known.index(value[0] if len(value) == 1 else value) for value in values]
    order = np.ix_([mechanism.secrets.index(secret) for secret in secrets], places)
    table = mechanism.matrix.reshape(shape)[:, order[0], order[1]]
    return table.reshape(len(mechanism.matrix), -1)


def each_column(task):
    """The shares of every column of U by itself, as targets."""
    return [Marginal(name) for name in task.columns[1:]]


def of_u(task):
    """The shares of U, as a target where all columns are sensitive."""
    return Marginal(list(task.columns[1:]))


def of_s(task):
    """The shares of S, as a target where all columns are sensitive."""
    return Marginal(task.columns[0])


def mean_by_s(task):
    """The mean of the numbers given each secret, as a target."""
    return Mean(task.number, by=task.columns[0])
