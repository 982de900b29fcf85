"""What a mechanism gives and leaks, computed from its matrix at the true distribution.

Nothing is simulated but the models: errors come from the information matrix, leakage and attacks
from the probabilities of the reports given the secrets. Errors are those of 10,000 reports.
"""

from itertools import combinations

import numpy as np

from skrldp import LikelihoodRatioSet, certify

REPORTS = 10_000
DRAWS = 100  # sets of reports on which models are trained: of 3, the mean AUC has an error of .03
VERSION = 2  # of all measures: raise it if one changes, so that kept results are computed again

# A function of the cells is determined if so much of it, relatively, is seen by the reports.
_SEEN = 1e-6
# Cells without people have so much together.
_RARE = 1e-6
# Pairs of reports that are looked at at a time, to bound the memory.
_PAIRS = 1 << 22


def measured(task, mechanism):
    """All measures of a mechanism, by name."""
    matrix = mechanism.matrix
    proof = certify(mechanism, LikelihoodRatioSet(), task.joint)
    return {
        **errors(task, matrix),
        **model(task, matrix),
        **information(task, matrix),
        "eps_proven": proof.eps,
        "eps_worst_case": proof.eps_worst_case,
        "eps_knows_u": proof.eps_given_u,
        **leakage(task, matrix),
        **attack(matrix, task.truth),
        "n_reports": len(matrix),
    }


# --- errors of estimates


class Spread:
    """Standard errors of linear functions of the cells, by maximum likelihood from many reports."""

    def __init__(self, matrix, truth):
        self.truth = truth.ravel()
        if not self.truth.all():  # the limit of small probabilities
            self.truth = (1.0 - _RARE) * self.truth + _RARE / truth.size
        told = matrix @ self.truth
        seen = matrix[told > 0] / np.sqrt(told[told > 0])[:, None]
        _, sizes, self.directions = np.linalg.svd(seen, full_matrices=False)
        kept = sizes > 1e-9 * sizes[0]
        self.sizes, self.directions = sizes[kept], self.directions[kept]

    def errors(self, functions):
        """Standard errors of functions (m, cells): infinite where reports do not determine them."""
        parts = functions @ self.directions.T
        rest = functions - parts @ self.directions
        variances = ((parts / self.sizes) ** 2).sum(axis=1) - (functions @ self.truth) ** 2
        hidden = np.abs(rest).max(axis=1) > _SEEN * np.abs(functions).max(axis=1)
        return np.where(hidden, np.inf, np.sqrt(np.maximum(variances, 0.0) / REPORTS))


def indicators(task, columns):
    """Functions that are the shares of all combinations of some columns' categories."""
    sizes = [len(task.categories[place]) for place in columns]
    groups = np.ravel_multi_index(tuple(task.codes[:, list(columns)].T), sizes)
    return (groups == np.arange(np.prod(sizes))[:, None]).astype(float)


def mean_square(errors):
    return float(np.sqrt(np.mean(np.square(errors))))


def numbers_of(task):
    """The wanted number of each cell."""
    place = task.columns.index(task.number)
    return np.array(task.categories[place], dtype=float)[task.codes[:, place]]


def errors(task, matrix):
    spread, own = Spread(matrix, task.truth), range(1, len(task.columns))
    truth, numbers = task.truth.ravel(), numbers_of(task)
    singles = np.concatenate([indicators(task, [place]) for place in own])
    pairs = [indicators(task, pair) for pair in combinations(own, 2)]
    groups = indicators(task, [0])
    totals = groups @ truth
    means = (groups * numbers) @ truth / totals
    by_group = groups * (numbers - means[:, None]) / totals[:, None]
    middle = median(numbers, truth)
    return {
        "error_u": mean_square(spread.errors(singles)),
        "error_pairs": mean_square(spread.errors(np.concatenate(pairs))) if pairs else np.nan,
        "error_crosstab": mean_square(spread.errors(np.eye(len(truth)))),
        "error_mean_by_s": mean_square(spread.errors(by_group)),
        "error_median": mean_square(spread.errors((numbers <= middle)[None].astype(float))),
        "error_s": mean_square(spread.errors(groups)),
    }


def median(numbers, truth):
    """The median, but not the greatest number: all are at most that."""
    order = np.argsort(numbers, kind="stable")
    found = numbers[order][np.searchsorted(np.cumsum(truth[order]), 0.5)]
    below = numbers[numbers < numbers.max()]
    return min(found, below.max())


# --- models that are trained on reports


def sample(matrix, truth, n, rng):
    """Counts of the reports of n records."""
    told = matrix @ truth.ravel()
    return rng.multinomial(n, told / told.sum())


def estimate(matrix, counts, rounds=300):
    """The distribution of the records by maximum likelihood: expectation maximisation."""
    seen, weights = matrix[counts > 0], counts[counts > 0] / counts.sum()
    found = np.full(matrix.shape[1], 1.0 / matrix.shape[1])
    for _ in range(rounds):
        found = found * (seen.T @ (weights / (seen @ found)))
    return found


def model(task, matrix):
    """AUC and log-loss, on true records, of a table of shares that reports of records have taught.

    The model tells whether the label is its first category from all other columns of U.
    """
    place = task.columns.index(task.label)
    yes = task.codes[:, place] == 0
    others = [one for one in range(1, len(task.columns)) if one != place]
    groups = indicators(task, others) if others else np.ones((1, len(yes)))
    truth = task.truth.ravel()
    positive, negative = groups @ (truth * yes), groups @ (truth * ~yes)
    found = []
    for draw in range(DRAWS):
        counts = sample(matrix, truth, REPORTS, np.random.default_rng(draw))
        shares = estimate(matrix, counts) + 1.0 / REPORTS / len(truth)
        chance = groups @ (shares * yes) / (groups @ shares)
        loss = -(positive @ np.log(chance) + negative @ np.log1p(-chance))
        found.append((area(positive, negative, chance), loss))
    auc, loss = np.mean(found, axis=0)
    return {"model_auc": float(auc), "model_log_loss": float(loss)}


def area(positive, negative, score):
    """Area under the ROC curve of a score, from masses of positives and negatives."""
    _, place = np.unique(score, return_inverse=True)
    up, down = np.bincount(place, positive), np.bincount(place, negative)
    below = np.concatenate([[0.0], np.cumsum(down)[:-1]])
    return float(up @ (below + down / 2.0) / (up.sum() * down.sum()))


def information(task, matrix):
    """Shares of the entropies of X and U that reports tell, and how well U is read from them."""
    shape = task.truth.shape
    mass = (matrix * task.truth.ravel()).reshape(-1, *shape)
    of_u = mass.sum(axis=1)
    return {
        "information": told(mass.reshape(len(matrix), -1)),
        "information_u": told(of_u),
        "readable": float(of_u.max(axis=1).sum()),
    }


def told(mass):
    """Mutual information of the rows and columns, over the entropy of the columns."""
    rows, columns = mass.sum(axis=1, keepdims=True), mass.sum(axis=0)
    some = mass > 0
    joint = mass[some] @ np.log(mass[some] / (rows * columns)[some])
    return float(joint / -(columns[columns > 0] @ np.log(columns[columns > 0])))


# --- leakage


def given_secret(matrix, distribution):
    """Probabilities of the reports given each secret, (b, a1)."""
    shape = distribution.shape
    conditionals = distribution / distribution.sum(axis=1, keepdims=True)
    return (matrix.reshape(-1, *shape) * conditionals).sum(axis=2)


def greatest(reports):
    """Logarithm of the greatest ratio of two columns, in rows that are possible at all."""
    most, least = reports.max(axis=1), reports.min(axis=1)
    possible = most > 0
    with np.errstate(divide="ignore"):
        return float(np.log(most[possible] / least[possible]).max(initial=0.0))


def leakage(task, matrix):
    found = {"eps_true": greatest(given_secret(matrix, task.truth))}
    shifted = task.shifted
    found["eps_shifted"] = np.nan if shifted is None else greatest(given_secret(matrix, shifted))
    found["eps_knows_column"] = knows_column(task, matrix)
    found["eps_two_reports"] = two_reports(matrix, task.truth)
    return found


def knows_column(task, matrix):
    """Leakage to somebody who knows one column of U: the worst column and value.

    With one column, that is all of U, and all is known.
    """
    worst = 0.0
    for place in range(1, len(task.columns)):
        for code in range(len(task.categories[place])):
            within = (task.truth.ravel() * (task.codes[:, place] == code)).reshape(task.truth.shape)
            some = within.sum(axis=1) > 0
            if some.sum() > 1:
                cells = np.repeat(some, task.truth.shape[1])
                worst = max(worst, greatest(given_secret(matrix[:, cells], within[some])))
    return worst


def two_reports(matrix, distribution):
    """Leakage of two independent reports about one record."""
    conditionals = distribution / distribution.sum(axis=1, keepdims=True)
    table = matrix.reshape(-1, *distribution.shape).transpose(1, 0, 2)  # (a1, b, a2)
    worst, step = 0.0, max(1, _PAIRS // len(matrix))
    for start in range(0, len(matrix), step):
        some = table[:, start : start + step] * conditionals[:, None]
        both = some @ table.transpose(0, 2, 1)
        worst = max(worst, greatest(both.reshape(len(table), -1).T))
    return worst


def attack(matrix, truth):
    """How well the secret is guessed from a report by somebody who knows the true distribution."""
    reports, prior = given_secret(matrix, truth), truth.sum(axis=1)
    areas = []
    for first, second in combinations(reports.T, 2):
        score = first / np.maximum(first + second, 1e-300)
        areas.append(area(first, second, score.round(12)))
    return {
        "attack_auc": float(np.mean(areas)),
        "attack_success": float((reports * prior).max(axis=1).sum()),
        "guess_without": float(prior.max()),
    }
