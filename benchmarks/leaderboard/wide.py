"""Twelve columns of Adult: too many cells for one mechanism; errors are of columns and of pairs.

Plain local differential privacy collects the secret as a thirteenth column. Reports that name the
column or the block tell an attacker what the mixture of their matrices tells.
"""

import time
import warnings
from functools import cached_property
from itertools import combinations, product

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from skrldp import BlockSanitizer, PrivacyLeakWarning, __version__

from .approaches import ONE_COLUMN, OVER_SET, RECORD, Approach, reordered
from .measures import Spread, attack, given_secret, greatest, mean_square
from .plain import grr, olh, oue, subset_selection
from .tables import adult, shares_of


class WideTask:
    """The secret is the first column of a table of records; the rest are U."""

    name, n = "Adult: twelve columns", 16_280

    def __init__(self):
        self.records = adult(
            "sex", "age", "workclass", "education", "marital", "occupation", "relationship",
            "race", "hours", "us", "income", "gain", "loss",
        )  # fmt: skip
        self.categories = {c: sorted(self.records[c].unique().tolist()) for c in self.records}
        self.cells = int(np.prod([len(own) for own in self.categories.values()]))

    @cached_property
    def public(self):
        return self.records.sample(self.n, replace=True, random_state=0)

    @property
    def counts(self):
        return pd.util.hash_pandas_object(self.public).to_numpy()

    @property
    def columns(self):
        return list(self.categories)

    def shares(self, *columns):
        """The true distribution of some columns, of the first one in rows."""
        return shares_of(self.records, {name: self.categories[name] for name in columns})


class WideApproach(Approach):
    """Subclasses give the blocks of :meth:`parts`, or errors of their own."""

    promise = RECORD

    def parts(self, task, eps):
        """Return (share, columns, matrix) of each kind of report; several may be of one person."""
        raise NotImplementedError

    def result(self, task, eps):
        start = time.process_time()
        parts = self.parts(task, eps)
        seconds = time.process_time() - start
        secret, *own = task.columns
        wanted = {
            "error_u": [(name,) for name in own],
            "error_pairs": list(combinations(own, 2)),
            "error_s": [(secret,)],
        }
        told = self.told(task, parts, [one for tables in wanted.values() for one in tables])
        with np.errstate(divide="ignore"):
            errors = {
                name: mean_square(np.concatenate([told[one] for one in tables]) ** -0.5)
                for name, tables in wanted.items()
            }
        return {"seconds": seconds, **errors, **self.leaks(task, eps, parts)}

    def told(self, task, parts, tables):
        """Information about the shares of tables, from all parts that have their columns."""
        told = {one: np.zeros(1) for one in tables}
        for share, block, matrix in parts:
            spread = Spread(matrix, task.shares(*block))
            for one in filter(lambda columns: self.counts(columns, block), tables):
                told[one] = told[one] + share / spread.errors(margin(task, block, one)) ** 2
        return told

    def counts(self, columns, block):
        """Whether shares of some columns are estimated from reports of a block."""
        return set(columns) <= set(block)

    def leaks(self, task, eps, parts):
        """What named blocks tell; a part of the secret alone is one of them."""
        secret, worst, area, right = task.columns[0], 0.0, 0.0, 0.0
        for share, block, matrix in parts:
            others = [name for name in block if name != secret]
            if block == (secret,):
                truth, whole = task.shares(secret), matrix
            else:
                truth = task.shares(secret, *others)
                whole = matrix if secret in block else np.tile(matrix, len(truth))
            worst = max(worst, greatest(given_secret(whole, truth)))
            found = attack(whole, truth)
            area += share * found["attack_auc"]
            right += share * found["attack_success"]
        return {
            "eps_proven": eps, "eps_worst_case": eps, "eps_true": worst, "attack_auc": area,
            "attack_success": right, "guess_without": float(task.shares(secret).sum(axis=1).max()),
        }  # fmt: skip


def margin(task, block, columns):
    """Indicators of combinations of some columns, as functions of the cells of a block."""
    sizes = [len(task.categories[name]) for name in block]
    codes = np.stack(np.unravel_index(np.arange(np.prod(sizes)), sizes), axis=1)
    places = [block.index(name) for name in columns]
    wanted = [sizes[place] for place in places]
    groups = np.ravel_multi_index(tuple(codes[:, places].T), wanted)
    return (groups == np.arange(np.prod(wanted))[:, None]).astype(float)


class WideSMP(WideApproach):
    """One block of columns, drawn at random and named, with all of ε.

    Of several protocols each block has the best for its shares, as if these were known.
    """

    def __init__(self, name, size, *protocols):
        self.name, self.size, self.uses = name, size, protocols

    def parts(self, task, eps):
        blocks = list(combinations(task.columns, self.size))
        return [(1 / len(blocks), block, self.best(task, eps, block)) for block in blocks]

    def best(self, task, eps, block):
        shares = task.shares(*block)
        tables = [protocol(shares.size, eps) for protocol in self.uses]
        tables = [table / table.sum(axis=0) for table in tables]
        if len(tables) == 1:
            return tables[0]
        cells = np.eye(shares.size)
        return min(tables, key=lambda table: mean_square(Spread(table, shares).errors(cells)))

    matrix = parts


class WideSPL(WideApproach):
    """All columns by GRR, each with its part of ε."""

    name, uses = "SPL", (grr,)

    def parts(self, task, eps):
        own = {c: grr(len(k), eps / len(task.columns)) for c, k in task.categories.items()}
        singles = [(1.0, (name,), table) for name, table in own.items()]
        return singles + [(1.0, (a, b), np.kron(own[a], own[b])) for a, b in combinations(own, 2)]

    matrix = parts

    def counts(self, columns, block):
        """The report of a pair has those of its columns in it."""
        return columns == block

    def leaks(self, task, eps, parts):
        return {"eps_proven": eps, "eps_worst_case": eps}


class WideRSFD(WideSPL):
    """RS+FD[GRR]: one column true, the others fake; records that differ in all leak more than ε."""

    name, promise = "RS+FD", ONE_COLUMN

    def amplified(self, task, eps):
        return float(np.log(len(task.columns) * (np.exp(eps) - 1.0) + 1.0))

    def parts(self, task, eps):
        d, found = len(task.columns), []
        for name, own in task.categories.items():
            told = grr(len(own), self.amplified(task, eps))
            found.append((1.0, (name,), (told + (d - 1) / len(own)) / d))
        return found

    matrix = parts

    def leaks(self, task, eps, parts):
        return {
            "eps_proven": self.amplified(task, eps),
            "eps_worst_case": self.amplified(task, eps),
        }


class Blocks(WideApproach):
    """Blocks of columns, each with an A-optimal mechanism that sees S, or has S as a column."""

    source, version, lines = "skrldp", __version__, 2

    def __init__(self, name, blocks, promise=OVER_SET, epsilons=None):
        self.name, self.blocks, self.promise, self.epsilons = name, blocks, promise, epsilons

    def parts(self, task, eps):
        shared = () if self.promise == RECORD else (task.columns[0],)
        sanitizer = BlockSanitizer(
            eps,
            sensitive=list(shared) or slice(None),
            blocks=self.blocks,
            categories=task.categories,
        )
        with warnings.catch_warnings():
            for kind in (ConvergenceWarning, PrivacyLeakWarning):
                warnings.simplefilter("ignore", kind)
            made = sanitizer.fit(task.public).manifest_
        found = []
        for share, mechanism, block in zip(
            made.shares, made.mechanisms, sanitizer.blocks_, strict=True
        ):
            values = list(product(*(task.categories[name] for name in block)))
            secrets = list(product(*(task.categories[name] for name in shared)))
            found.append((float(share), (*shared, *block), reordered(mechanism, secrets, values)))
        return found


WIDE = [
    Blocks("Blocks of columns", "singles"),
    Blocks("Blocks of pairs", "pairs", epsilons=(1.0,)),
    Blocks("Blocks of columns, records", "singles", RECORD),
    Blocks("Blocks of pairs, records", "pairs", RECORD),
    WideSMP("SMP", 1, grr),
    WideSMP("SMP, the best protocol", 1, grr, oue, olh, subset_selection),
    WideSMP("SMP of pairs", 2, grr),
    WideSMP("SMP of pairs, OUE", 2, oue),
    WideSMP("SMP of pairs, the best protocol", 2, grr, oue, olh, subset_selection),
    WideSPL(),
    WideRSFD(),
]
