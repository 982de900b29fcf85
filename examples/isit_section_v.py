"""The experiment of ISIT section V: four designs from few records, and their actual leakage.

``plot_isit_section_v.py`` draws what this module computes, and ``benchmarks/bench_isit.py`` prints
it. A distribution P* of a secret with three values and a number from 0 to 4 is drawn from Jeffreys'
prior, and n public records are drawn from P*. The four problems of the paper are designed from the
counts alone, each through the public estimator, so that every mechanism is certified as it is
sampled. Each mechanism is then evaluated at P*: how much its reports actually leak about the secret
(ε*), and how far they are from the number (D*).
"""

import json
import sys
import time
import warnings
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from skrldp import PrivacyLeakWarning, RenyiBall, RobustMSESanitizer

SECRETS, VALUES = (0, 1, 2), (0, 1, 2, 3, 4)
CELLS = np.array([(s, u) for s in SECRETS for u in VALUES])
EPS, BETA = 0.5, 0.05  # the paper calls beta alpha
PER_CELL = (5, 20, 100, 1_000, 10_000)  # N; the number of records is n = 15 N
SIZES = tuple(len(CELLS) * each for each in PER_CELL)
SEED = 2022

# Is the utility robust? Is the privacy?
PROBLEMS = {
    "NUNP": (False, False),
    "RUNP": (True, False),
    "NURP": (False, True),
    "RURP": (True, True),
}


@dataclass(frozen=True)
class Experiment:
    """Measurements by instance (first axis), size (second) and problem (third).

    Attributes
    ----------
    sizes : tuple of int
        Numbers of public records n.
    eps : array of shape (K, len(sizes), 4)
        Realised ε*, in nats; infinite if a report rules a secret out.
    distortion : array of shape (K, len(sizes), 4)
        D* = E d(U, Y) at the true distribution.
    inside : boolean array of shape (K, len(sizes))
        Whether the true distribution is in the confidence set.
    silence : array of shape (K,)
        D* of the best report that is the same for everybody, which reveals nothing.
    cpu : array of shape (K, len(sizes), 4)
        Processor seconds of each fit.
    gap : array of shape (K, len(sizes), 4)
        Relative gap between each design and its proved lower bound.
    """

    sizes: tuple
    eps: np.ndarray
    distortion: np.ndarray
    inside: np.ndarray
    silence: np.ndarray
    cpu: np.ndarray
    gap: np.ndarray

    def at(self, n, problem):
        """Return ε* and D* of all instances for a size and a problem."""
        where = (slice(None), self.sizes.index(n), list(PROBLEMS).index(problem))
        return self.eps[where], self.distortion[where]

    def known(self, n):
        """Return for each instance whether its distribution is in the confidence set."""
        return self.inside[:, self.sizes.index(n)]

    def to_json(self):
        """Write the settings, the summaries and all values; an infinite ε* becomes null."""
        rows = {
            problem: [
                {
                    "n": n,
                    "eps": dict(zip(("mean", "sd", "kept"), summary(eps), strict=True)),
                    "distortion": dict(zip(("mean", "sd", "kept"), summary(far), strict=True)),
                    "infinite_eps": int(np.isinf(eps).sum()),
                    "share_above_eps": float((eps > EPS).mean()),
                    "every_eps": [float(f"{e:.6g}") if np.isfinite(e) else None for e in eps],
                    "every_distortion": [float(f"{d:.6g}") for d in far],
                }
                for n in self.sizes
                for eps, far in [self.at(n, problem)]
            ]
            for problem in PROBLEMS
        }
        settings = {"eps": EPS, "beta": BETA, "instances": len(self.eps), "sizes": self.sizes}
        inside = {str(n): self.known(n).tolist() for n in self.sizes}
        return json.dumps({**settings, "law_in_set": inside, "problems": rows}, indent=1)


# -- one instance ---------------------------------------------------------------------------------


def draw(instance, n, seed=SEED):
    """Draw the distribution of an instance, and counts of n records from it.

    Each size of each instance has its own random stream, so that it does not depend on the other
    instances, or on the process.

    Returns
    -------
    distribution, counts : arrays of shape (3, 5)
    """
    stream = np.random.SeedSequence(seed, spawn_key=(instance,))
    distribution = np.random.default_rng(stream).dirichlet(np.full(len(CELLS), 0.5))
    records = np.random.SeedSequence(seed, spawn_key=(instance, n))
    counts = np.random.default_rng(records).multinomial(n, distribution)
    shape = len(SECRETS), len(VALUES)
    return distribution.reshape(shape), counts.reshape(shape)


def design(counts, problem):
    """Fit the estimator to a table of counts for one of the four problems."""
    robust_utility, robust_privacy = PROBLEMS[problem]
    sanitizer = RobustMSESanitizer(
        EPS,
        sensitive=0,
        categories=[SECRETS, VALUES],  # keep values without records in the alphabet
        uncertainty=RenyiBall(alpha=2.0, beta=BETA),
        robust_utility=robust_utility,
        robust_privacy=robust_privacy,
    )
    with warnings.catch_warnings():
        # Ignore warnings about designs without a set and about few records, because we measure
        # their effect.
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        return sanitizer.fit(CELLS, sample_weight=counts.ravel())


def expected_distance(mechanism, distribution):
    """E (U - Y)² at a distribution, for a mechanism whose symbols are values of U."""
    distance = np.subtract.outer(np.array(mechanism.symbols, float), CELLS[:, 1]) ** 2
    return float((mechanism.matrix * distance).sum(axis=0) @ distribution.ravel())


def measure(instance, sizes, seed=SEED):
    """Design the four mechanisms at each size, and measure them at the true distribution.

    Returns
    -------
    list over sizes of lists over problems of (ε*, D*, in the set, seconds, gap)
    """
    found = []
    # Use one thread, because the instances occupy all cores, and rounding must not depend on their
    # number.
    with threadpool_limits(1):
        for n in sizes:
            distribution, counts = draw(instance, n, seed)
            found.append([_measured(counts, distribution, problem) for problem in PROBLEMS])
    return found


def _measured(counts, distribution, problem):
    start = time.process_time()
    sanitizer = design(counts, problem)
    seconds = time.process_time() - start
    chi2 = float(((counts / counts.sum() - distribution) ** 2 / distribution).sum())  # ISIT (2)
    return (
        sanitizer.mechanism_.leakage(distribution),  # ISIT (32)
        expected_distance(sanitizer.mechanism_, distribution),  # ISIT (31)
        np.log1p(chi2) <= sanitizer.uncertainty_.B_,
        seconds,
        sanitizer.solution_.gap,
    )


# -- all instances
# ----------------------------------------------------------------------------------


def run(instances, sizes=SIZES, *, jobs=1, seed=SEED, progress=True):
    """Measure instances 0, ..., instances - 1 at each size, on several cores.

    Returns
    -------
    Experiment
    """
    sizes = tuple(sizes)
    tasks = (delayed(measure)(instance, sizes, seed) for instance in range(instances))
    results = Parallel(n_jobs=jobs, return_as="generator")(tasks)
    if progress:
        results = _with_progress(results, instances, 4 * len(sizes))
    eps, far, inside, cpu, gap = np.moveaxis(np.array(list(results), dtype=float), -1, 0)
    distributions = np.array([draw(instance, 1, seed)[0].ravel() for instance in range(instances)])
    constant = np.subtract.outer(CELLS[:, 1], np.array(VALUES)) ** 2
    silence = (distributions @ constant).min(axis=1)
    return Experiment(sizes, eps, far, inside[:, :, 0] > 0, silence, cpu, gap)


def _with_progress(results, total, fits):
    """Yield the results; show a progress bar on a terminal, and a few lines elsewhere."""
    out, start, said = sys.stderr, time.monotonic(), 0
    for done, result in enumerate(results, 1):
        yield result
        elapsed = time.monotonic() - start
        left = elapsed * (total - done) / done
        state = (
            f"{done:,} of {total:,} instances ({done * fits:,} fits), "
            f"{elapsed:.0f} s, about {left:.0f} s left"
        )
        if out.isatty():
            bar = "#" * (30 * done // total)
            print(
                f"\r[{bar:<30}] {state} ", end="\n" if done == total else "", file=out, flush=True
            )
        elif done == total or 10 * done // total > said:
            said = 10 * done // total
            print(state, file=out, flush=True)


# -- summaries ---------------------------------------------------------------------------


def without_outliers(values):
    """Return the finite values within 1.5 interquartile ranges of the quartiles.

    Infinite values are removed first, so that the quartiles are those of the finite values.
    """
    finite = np.asarray(values, dtype=float)
    finite = finite[np.isfinite(finite)]
    if not finite.size:
        return finite
    low, high = np.percentile(finite, [25, 75])
    reach = 1.5 * (high - low)
    return finite[(finite >= low - reach) & (finite <= high + reach)]


def summary(values):
    """Return mean and standard deviation without outliers, and the number of values left."""
    kept = without_outliers(values)
    if not kept.size:
        return float("nan"), float("nan"), 0
    return float(kept.mean()), float(kept.std()), int(kept.size)


def findings(experiment, n):
    """Summarise the paper's three findings for a size, over all instances including outliers.

    Returns
    -------
    dict
        ``above``, ``excess``: for each problem, the share of instances with ε* > ε, and the median
        of ε*/ε. ``price``: by how much robust privacy raises the mean of D* if utility is not
        robust. ``utility``: by how much robust utility raises it further. ``outside``: the share of
        true distributions outside the confidence set. ``worst_inside``: the largest ε* of the
        mechanisms with robust privacy if the distribution is inside the set, which is at most ε
        unless a proof is wrong.
    """
    eps = {problem: experiment.at(n, problem)[0] for problem in PROBLEMS}
    mean = {problem: experiment.at(n, problem)[1].mean() for problem in PROBLEMS}
    inside = experiment.known(n)
    proven = np.concatenate([eps[problem][inside] for problem in ("NURP", "RURP")])
    return {
        "above": {problem: float((eps[problem] > EPS).mean()) for problem in PROBLEMS},
        "excess": {problem: float(np.median(eps[problem]) / EPS) for problem in PROBLEMS},
        "distortion": {problem: float(mean[problem]) for problem in PROBLEMS},
        "price": float(mean["NURP"] - mean["NUNP"]),
        "utility": float(mean["RURP"] - mean["NURP"]),
        "outside": float(1.0 - inside.mean()),
        "worst_inside": float(proven.max(initial=0.0)),
    }
