"""From reports to estimates: speed, distance from the maximum, and whether the errors are right.

Run it with ``python benchmarks/bench_estimation.py``. EM is compared with cvxpy's
Clarabel at its default tolerances, and with plain EM for the same number of seconds. The standard
errors of GRR are compared with theory: q(1 - q) / (N (p - q)^2) for a value that nobody has. Where
multi-freq-ldpy imports (``pip install multi-freq-ldpy``), its estimates of GRR reports are timed
beside ours.
"""

import argparse
import importlib
import time
import warnings

import cvxpy as cp
import numpy as np
from sklearn.base import clone

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


def errors(n, repeat):
    print(f"Standard errors of GRR on 10 values at eps=1, {n:,} reports, {repeat:,} samples")
    k, rng = 10, np.random.default_rng(2)
    mechanism = Mechanism.from_matrix(response(k, 1.0), range(1), range(k))
    distribution = np.array([0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.03, 0.02, 0.0])
    p, q = mechanism.matrix[0, 0], mechanism.matrix[0, 1]
    symbols = np.arange(k)
    estimator = FrequencyEstimator(mechanism, encode="symbol")
    fits = [
        clone(estimator).fit(symbols, sample_weight=counts).marginal()
        for counts in rng.multinomial(n, mechanism.matrix @ distribution, size=repeat)
    ]
    found = np.array([fit.unbiased for fit in fits])
    said = np.array([fit.std_error for fit in fits]).mean(axis=0)
    intervals = np.array([fit.confidence_interval() for fit in fits])
    covered = ((intervals[..., 0] <= distribution) & (distribution <= intervals[..., 1])).mean(
        axis=0
    )
    print(f"  {'truth':>5} {'mean':>7} {'spread':>8} {'said':>8} {'theory':>8} {'covered':>8}")
    for x in (0, 4, 8, 9):
        theory = np.sqrt(q * (1 - q) / n) / (p - q)
        print(
            f"  {distribution[x]:5.2f} {found[:, x].mean():7.4f} {found[:, x].std():8.5f} "
            f"{said[x]:8.5f} {theory:8.5f} {covered[x]:8.1%}"
        )
    reports = rng.choice(k, size=100 * n, p=mechanism.matrix @ distribution)
    ours, _ = seconds(lambda: FrequencyEstimator(mechanism).fit(reports))
    print(f"  {len(reports):,} reports: ours {ours:.4f} s, with errors", end="")
    try:
        module = importlib.import_module("multi_freq_ldpy.pure_frequency_oracles.GRR")
    except Exception as error:  # peers fail to import in many ways
        print(f"; multi-freq-ldpy n/a ({type(error).__name__}: {error})")
        return
    theirs, _ = seconds(lambda: module.GRR_Aggregator_MI(reports, k, 1.0), 1)
    print(f"; multi-freq-ldpy {theirs:.4f} s, without")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller problems")
    quick = parser.parse_args().quick
    counting(10_000_000)
    likelihood((40,) if quick else (40, 240), (1_000, 1_000_000))
    errors(10_000, 500 if quick else 2_000)


if __name__ == "__main__":
    main()
