"""Three phases without a public table: each is designed from the reports of those before it."""

from itertools import product

import numpy as np
import pandas as pd

from skrldp import (
    AOptimalSanitizer,
    BlockEstimator,
    BlockSanitizer,
    FrequencyEstimator,
    Mechanism,
)

from .approaches import Ours, quietly_fitted, reordered
from .measures import sample
from .wide import Blocks

PEOPLE = 100_000
SHARES = (0.1, 0.2, 0.7)  # of the people in each phase


class ThreePhases(Ours):
    """Whole records, then all cells, then U; errors are those of all people together.

    The matrix is that of a person whose phase is drawn at random, so that its information is the
    average over all people.
    """

    lines = 7  # a sanitizer of each phase, their fits, and the estimators of the first two
    epsilons = (1.0,)

    def __init__(self, name):
        super().__init__(name, AOptimalSanitizer)

    def result(self, task, eps):
        """Design and measure; what is proven is proven over the set of each phase's reports."""
        self.proven = []
        return {**super().result(task, eps), "eps_proven": max(self.proven)}

    def design(self, task, eps):
        categories = dict(zip(task.columns, map(list, task.categories), strict=True))
        secrets = [(secret,) for secret in task.categories[0]]
        rng, reports, parts = np.random.default_rng(task.n), [], []
        whole, cells = {"sensitive": slice(None), "targets": "all"}, {"targets": "all"}
        for share, options in zip(SHARES, (whole, cells, {}), strict=True):
            options = {"sensitive": task.columns[0], "categories": categories, **options}
            sanitizer = quietly_fitted(self.make(eps).set_params(**options), reports or None)
            matrix = reordered(sanitizer.mechanism_, secrets, task.values)
            counts = sample(matrix, task.truth, round(share * PEOPLE), rng)
            estimator = FrequencyEstimator(sanitizer, encode="symbol")
            reports.append(estimator.fit(range(len(counts)), sample_weight=counts))
            parts.append(share * matrix)
            self.proven.append(sanitizer.certificate_.eps)
        return Mechanism.from_matrix(np.concatenate(parts), list(task.categories[0]), task.values)


class BlockPhases(Blocks):
    """The same for a block of each column and the secret."""

    lines = 7

    def parts(self, task, eps):
        secret, *rest = task.columns
        rng, reports, parts = np.random.default_rng(task.n), [], []
        whole = {"sensitive": slice(None), "blocks": [[secret, column] for column in rest]}
        cells = {"base": AOptimalSanitizer(tol=0.1, targets="all")}
        for share, options in zip(SHARES, (whole, cells, {}), strict=True):
            options = {"sensitive": secret, "categories": task.categories, **options}
            sanitizer = quietly_fitted(BlockSanitizer(eps, **options), reports or None)
            manifest, counted = sanitizer.manifest_, []
            for number, mechanism in enumerate(manifest.mechanisms):
                columns = (secret, *(c for c, _ in mechanism.columns if c != secret))
                secrets, *values = (list(product(task.categories[c])) for c in columns)
                matrix = reordered(mechanism, secrets, values[0])
                of_block = share * manifest.shares[number]
                counts = sample(matrix, task.shares(*columns), round(of_block * PEOPLE), rng)
                rows = {"block": number, "report": np.arange(len(counts)), "n": counts}
                counted.append(pd.DataFrame(rows))
                parts.append((of_block, columns, matrix))
            rows = pd.concat(counted)
            reports.append(BlockEstimator(manifest).fit(rows, sample_weight=rows["n"]))
        return parts

    matrix = parts


BLOCK_PHASES = BlockPhases(
    "Blocks of columns in three phases, no public table", "singles", epsilons=(1.0,)
)
