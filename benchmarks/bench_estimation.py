"""From reports to estimates: speed, and distance from the maximum of the likelihood.

Run it with ``python benchmarks/bench_estimation.py``. EM is compared with cvxpy's Clarabel at its
default tolerances, and with plain EM for the same number of seconds.
"""

import argparse
import time
import warnings

import cvxpy as cp
import numpy as np

from skrldp import FrequencyEstimator, Mechanism


def seconds(function, repeat=3):
    """Shortest of several runs: the others were disturbed."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return min(times), result


def response(k, eps):
    matrix = np.ones((k, k)) + (np.exp(eps) - 1.0) * np.eye(k)
    return matrix / matrix.sum(axis=0)


def channels(k):
    rng = np.random.default_rng(0)
    yield "GRR, eps=1", response(k, 1.0)
    yield "lopsided", rng.dirichlet(np.full(k, 0.3), k).T
    yield "k/3 symbols", rng.dirichlet(np.full(k // 3, 0.3), k).T


def counting(n):
    print(f"Counting {n:,} reports of 40 symbols and fitting them, seconds")
    mechanism = Mechanism.from_matrix(response(40, 1.0), range(2), range(20))
    for dtype in (np.uint8, np.int64):
        reports = np.random.default_rng(0).integers(0, 40, n).astype(dtype)
        for method in ("unbiased", "em"):
            estimator = FrequencyEstimator(mechanism, method)
            spent, _ = seconds(lambda e=estimator, r=reports: e.fit(r))
            print(f"  {np.dtype(dtype).name:<6} {method:<14} {spent:8.3f}")
    print("target: below 1 s")


def log_likelihood(matrix, counts, distribution):
    seen = counts > 0
    with np.errstate(divide="ignore"):
        return counts[seen] @ np.log((matrix @ distribution)[seen]) / counts.sum()


def convex_solve(matrix, counts):
    seen, distribution = counts > 0, cp.Variable(matrix.shape[1], nonneg=True)
    gain = counts[seen] / counts.sum() @ cp.log(matrix[seen] @ distribution)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cp.Problem(cp.Maximize(gain), [cp.sum(distribution) == 1]).solve(solver=cp.CLARABEL)
    except cp.error.SolverError:
        return None
    found = np.maximum(distribution.value, 0.0)
    return found / found.sum()


def plain_em(matrix, counts, spent):
    """EM as it is written, for as long as ours took."""
    distribution, shares = np.full(matrix.shape[1], 1.0 / matrix.shape[1]), counts / counts.sum()
    start = time.perf_counter()
    while time.perf_counter() - start < spent:
        distribution = distribution * (matrix.T @ (shares / (matrix @ distribution)))
    return distribution


def likelihood(sizes, numbers):
    print("The most likely distribution: seconds, and nats per report below ours")
    print(
        f"  {'cells':>5} {'channel':<12} {'reports':>9} {'ours, s':>8} {'cvxpy, s':>9} "
        f"{'below ours':>10} {'plain EM':>9}"
    )
    for k in sizes:
        for name, matrix in channels(k):
            mechanism = Mechanism.from_matrix(matrix, range(1), range(k))
            for n in numbers:
                rng = np.random.default_rng(1)
                report = mechanism.matrix @ rng.dirichlet(np.full(k, 0.5))
                counts = rng.multinomial(n, report)
                estimator = FrequencyEstimator(mechanism, "em", encode="symbol")
                symbols = np.arange(len(counts))
                spent, _ = seconds(lambda e=estimator, s=symbols, c=counts: e.fit(s, None, c))
                ours = log_likelihood(mechanism.matrix, counts, estimator.frequencies_[0])
                other, distribution = seconds(
                    lambda m=mechanism, c=counts: convex_solve(m.matrix, c), 1
                )
                theirs = "fails"
                if distribution is not None:
                    theirs = f"{ours - log_likelihood(mechanism.matrix, counts, distribution):.1e}"
                distribution = plain_em(mechanism.matrix, counts, spent)
                em = ours - log_likelihood(mechanism.matrix, counts, distribution)
                print(f"  {k:5} {name:<12} {n:9,} {spent:8.3f} {other:9.3f} {theirs:>10} {em:9.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller problems")
    quick = parser.parse_args().quick
    counting(10_000_000)
    likelihood((40,) if quick else (40, 240), (1_000, 1_000_000))


if __name__ == "__main__":
    main()
