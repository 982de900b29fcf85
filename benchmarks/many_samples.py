"""What the package does for one sample of reports, for thousands at once.

Operations on arrays with a row for each sample: a thousand samples take less than a second, and
some minutes one by one. ``bench_statistics.py`` compares the first samples with the package.
"""

import numpy as np

from skrldp.estimation.figures._intervals import likelihood_drops
from skrldp.regression._families import FAMILIES

STEPS, TOL = 80, 1e-7  # nats in all, between a log-likelihood and its bound
ROUGH = 1e-3  # the same, for ends of intervals
TO_BOUNDARY, CENTRING = 0.9, 0.2
ZERO = 1e-5  # a probability that counts as 0, in an end of an interval
STATED = 0.9**2  # of a variance, left if one record more of each cell is added
SECANTS = 2
MOST_LINEAR = 40.0  # a linear predictor beyond has no solution
TINY = 1e-300


# -- likelihood -----------------------------------------------------------------------------------


def likeliest(matrix, counts, condition=None, tol=TOL):
    """Distributions of greatest likelihood, also where functions of them are 0.

    Shapes: matrix (b, a), counts (r, b). A condition takes distributions (k, a) and their places
    among the samples (k,), and returns the values of functions (k, m) and their derivatives (k, m,
    a). Returns distributions (r, a) and log-likelihoods (r,), by a primal-dual interior-point
    method.
    """
    (r, _), a = counts.shape, matrix.shape[1]
    x = np.full((r, a), 1.0 / a)
    dual = counts.sum(axis=1, keepdims=True) * np.ones((r, a))
    left = np.arange(r)
    for _ in range(STEPS):
        own, z, count = x[left], dual[left], counts[left]
        rows, miss = np.ones((len(left), 1, a)), 1.0 - own.sum(axis=1, keepdims=True)
        if condition is not None:
            values, slopes = condition(own, left)
            rows = np.concatenate([rows, slopes], axis=1)
            miss = np.concatenate([miss, -values], axis=1)
        report = np.maximum(own @ matrix.T, TINY)
        barrier = (own * z).sum(axis=1)
        done = (barrier < tol) & (np.abs(miss).max(axis=1) < 1e-11)
        if done.all():
            break
        aim, k = (CENTRING * barrier / a)[:, None], rows.shape[1]
        system = np.zeros((len(left), a + k, a + k))
        system[:, :a, :a] = gram(matrix, count / report**2) * own[:, :, None] * own[:, None, :]
        system[:, np.arange(a), np.arange(a)] += own * z
        system[:, a:, :a] = rows * own[:, None, :]
        system[:, :a, a:] = system[:, a:, :a].transpose(0, 2, 1)
        right = np.concatenate([aim + own * ((count / report) @ matrix), miss], axis=1)
        move = np.linalg.solve(system, right[:, :, None])[:, :a, 0]  # in units of x
        move_dual = aim / own - z - z * move
        length = 1.0 / np.maximum(1.0, (-move / TO_BOUNDARY).max(axis=1))
        length_dual = 1.0 / np.maximum(1.0, (-move_dual / z / TO_BOUNDARY).max(axis=1))
        x[left] = own * (1.0 + length[:, None] * move)
        dual[left] = z + length_dual[:, None] * move_dual
        left = left[~done]
    report = np.maximum(x @ matrix.T, TINY)
    return x, np.sum(np.where(counts > 0, counts * np.log(report), 0.0), axis=1)


def gram(matrix, weights):
    """Products Qᵀ diag(weights) Q: (b, a) and (r, b) to (r, a, a)."""
    products = (matrix[:, :, None] * matrix[:, None, :]).reshape(len(matrix), -1)
    return (weights @ products).reshape(len(weights), matrix.shape[1], -1)


def linear(functions):
    """Return the condition that linear functions are 0: (m, a), or (r, m, a) of each sample."""
    functions = np.asarray(functions, dtype=float)

    def condition(x, places):
        own = np.broadcast_to(functions, (len(x), *functions.shape))
        own = functions[places] if functions.ndim == 3 else own
        return np.einsum("kma,ka->km", own, x), own

    return condition


def independent(first, second):
    """Return the condition that two columns are independent, with their categories as (k, a)."""
    pairs = [(one, two) for one in first[1:] for two in second[1:]]
    one, two = (np.array(part, dtype=float) for part in zip(*pairs, strict=True))

    def condition(x, places):
        shares, others = x @ one.T, x @ two.T
        slopes = one * two - shares[:, :, None] * two - others[:, :, None] * one
        return x @ (one * two).T - shares * others, slopes

    return condition


# -- errors ---------------------------------------------------------------------------------------


def covariance(matrix, found, functions, n):
    """Covariance of linear functions of the estimates: (r, a) and (r, m, a) to (r, m, m)."""
    information = gram(matrix, 1.0 / np.maximum(found @ matrix.T, TINY))
    if np.linalg.matrix_rank(matrix) == matrix.shape[1]:
        inverse = np.linalg.inv(information)
    else:
        inverse = np.linalg.pinv(information, rcond=1e-11, hermitian=True)
    means = np.einsum("rma,ra->rm", functions, found)
    centred = functions @ inverse @ functions.transpose(0, 2, 1)
    return (centred - means[:, :, None] * means[:, None, :]) / n


def away_from_zero(matrix, found, functions, n, variances):
    """Whether one record more of each cell leaves variances (r, m) nearly as they are."""
    r, a = found.shape
    information = n * gram(matrix, 1.0 / np.maximum(found @ matrix.T, TINY))
    information = information * found[:, :, None] * found[:, None, :] + np.eye(a)
    scaled = np.concatenate([functions, np.ones((r, 1, a))], axis=1) * found[:, None, :]
    both = scaled @ np.linalg.solve(information, scaled.transpose(0, 2, 1))
    own = np.einsum("rmm->rm", both)
    return own[:, :-1] - both[:, :-1, -1] ** 2 / own[:, -1:] >= STATED * variances


# -- intervals by the likelihood ratio ------------------------------------------------------------


def drops(matrix, counts, found, reached):
    """By how much the log-likelihood may fall at ends of intervals: (r,)."""
    inner, boundary, few = likelihood_drops(0.95)
    seen = counts > 0
    here, there = (part @ matrix.T * seen for part in (found, reached))
    unseen = [np.maximum(1.0 - part.sum(axis=1), 1e-12) for part in (here, there)]
    middle = np.column_stack([(here + there) / 2.0, (unseen[0] + unseen[1]) / 2.0])
    relative = np.column_stack([there - here, unseen[1] - unseen[0]]) / np.maximum(middle, TINY)
    second, fourth = (np.sum(middle * relative**power, axis=1) for power in (2, 4))
    number = np.maximum(counts.sum(axis=1) * second**2 / np.maximum(fourth, 1e-200), 1e-3)
    step = 0.05 * inner
    own = np.where((reached < ZERO).any(axis=1), boundary, inner)
    return own + step * np.round(few / np.sqrt(number) / step)


def falls(matrix, counts, greatest, condition):
    """How far the log-likelihood falls under a condition, and where: (r,) and (r, a)."""
    reached, values = likeliest(matrix, counts, condition, ROUGH)
    return np.maximum(greatest - values, 0.0), reached


def ends(matrix, counts, found, greatest, numbers, given):
    """Means of numbers over given cells, (a,), and their intervals by the likelihood ratio.

    Returns (r,), (r, 2), and the derivatives of the means by the probabilities of cells (r, a).
    """
    shares = found @ given
    means = (found * given) @ numbers / shares
    derivatives = given * (numbers - means[:, None]) / shares[:, None]
    n = counts.sum(axis=1)
    variances = covariance(matrix, found, derivatives[:, None], 1.0)[:, 0, 0] / n
    both = []
    for sign, limit in ((-1.0, numbers[given > 0].min()), (1.0, numbers[given > 0].max())):
        room = np.abs(limit - means)
        length = np.minimum(2.1 * np.sqrt(np.maximum(variances, 0.0)), 0.9 * room)
        for _ in range(SECANTS):
            functions = given * (numbers - (means + sign * length)[:, None])
            fall, reached = falls(matrix, counts, greatest, linear(functions[:, None]))
            ratio = np.sqrt(drops(matrix, counts, found, reached) / np.maximum(fall, 1e-9))
            length = np.minimum(length * np.clip(ratio, 0.3, 2.0), (1.0 - 1e-6) * room)
        both.append(means + sign * length)
    return means, np.stack(both, axis=1), derivatives


def ends_of_quantile(matrix, counts, found, greatest, numbers, q):
    """Intervals of a quantile of numbers (a,) by the likelihood ratio: (r, 2)."""
    steps = np.unique(numbers)
    maybe, surely = (np.ones((len(counts), len(steps)), dtype=bool) for _ in range(2))
    for place, step in enumerate(steps[:-1]):
        function = (numbers <= step) - q
        reaches = found @ function >= 0.0
        fall, reached = falls(matrix, counts, greatest, linear(function[None]))
        near = fall <= drops(matrix, counts, found, reached)
        maybe[:, place], surely[:, place] = reaches | near, reaches & ~near
    return steps[np.stack([maybe.argmax(axis=1), surely.argmax(axis=1)], axis=1)]


# -- regressions ----------------------------------------------------------------------------------


def coefficients(regression, kind, found):
    """Coefficients of all samples, (r, m), their derivatives by the cells, and where there are any.

    Shapes: found (r, a). The derivatives are (r, m, a).
    """
    family, x, y = FAMILIES[kind], regression.regressors, regression.outcomes
    (g, p), j, r = x.shape, y.shape[1], len(found)
    complete = regression.rows >= 0
    of_groups = np.zeros((found.shape[1], g))
    of_groups[np.flatnonzero(complete), regression.rows[complete]] = 1.0
    weights = found @ of_groups / found[:, complete].sum(axis=1, keepdims=True)
    weights = np.where(weights > 1e-8, weights, 0.0)
    solved, solutions = np.ones(r, dtype=bool), np.zeros((r, j, p))
    for _ in range(STEPS):
        predictors = np.einsum("gp,rjp->rgj", x, solutions)
        flat = predictors.reshape(-1, j)
        residuals = y - family.mean(flat).reshape(r, g, j)
        variances = family.variance(flat).reshape(r, g, j, j)
        score = np.einsum("rg,rgj,gp->rjp", weights, residuals, x).reshape(r, -1)
        information = np.einsum(
            "rg,gi,rgjk,gl->rjikl", weights, x, variances, x, optimize=True
        ).reshape(r, j * p, j * p)
        lost = (np.abs(predictors).max(axis=(1, 2)) > MOST_LINEAR) & family.of_categories
        solved &= ~lost & (np.linalg.cond(information) < 1e13)
        information[~solved] = np.eye(j * p)
        step = np.linalg.solve(information, score[:, :, None])[:, :, 0] * solved[:, None]
        if np.sum(step * score, axis=1).max() < 1e-20:
            break
        shorter = np.minimum(1.0, 4.0 / np.maximum(np.abs(step).max(axis=1), TINY))
        solutions += (shorter[:, None] * step).reshape(r, j, p)
    scores = np.einsum("rgj,gp->rjpg", residuals, x).reshape(r, -1, g)
    derivatives = np.linalg.solve(information, scores) @ of_groups.T
    derivatives /= found[:, complete].sum(axis=1)[:, None, None]
    return solutions.reshape(r, -1), derivatives, solved
