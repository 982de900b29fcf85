"""AOptimal: variances of estimates, compared with those from the other mechanisms.

Run it with ``python benchmarks/bench_a_optimal.py [--quick] [--only PART ...]``: an hour, or two
minutes. The parts are

- ``tables``: sums of variances on ten tables, at three ε; and
- ``speed``: processor time without a limit, from 10 to 90 cells, with the sum of variances.

A variance is the asymptotic one of the estimate by maximum likelihood at the public distribution,
times the number of reports, from the mechanism as it is sampled. Every mechanism is certified for
the same promise. Designs have ``--seconds`` of processor time, whatever else the machine does.
"Non-robust" is AOptimal for the public distribution alone. Optimised unary encoding (OUE) of what
is to be estimated, at ε, keeps the promise whatever the set is: its column is the usual estimate's
variance, with that of the records, and optimised local hashing has the same. ``!``
marks a table on which AOptimal is worse than another by more than 1e-4 of its variance.
The tables of Adult need its file: ``SKRLDP_ADULT``, or ``../shared/data/adult/adult.data``; Fair's
survey needs statsmodels. Both are left out where they are missing.
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from bench_large import COLUMNS, adult_file, rows_of
from sklearn.exceptions import ConvergenceWarning

from skrldp import (
    AOptimalSanitizer,
    GRRSanitizer,
    IRSanitizer,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    RenyiBall,
    RobustMSESanitizer,
    SRRSanitizer,
    expected_std_error,
)
from skrldp.design import limits

ADULT = {
    "sex x occupation": ("sex", "occupation"),
    "race x sex": ("race", "sex"),
    "race x relationship": ("race", "relationship"),
    "sex x marital status": ("sex", "marital-status"),
    "income x relationship": ("income", "relationship"),
}
FAIR = ("affair x faith, marriage", "faith x marriage")
RANDOM = {  # shape, concentration, records
    "random 2x4, n=1e3": ((2, 4), 0.5, 1_000),
    "random 3x5, n=1e4": ((3, 5), 0.5, 10_000),
    "random 4x8, n=1e5": ((4, 8), 0.3, 100_000),
}
SPEED = (  # secret, and columns of U
    ("race", "sex"),
    ("sex", "workclass"),
    ("sex", "occupation"),
    ("sex", "education"),
    ("sex", "race", "relationship"),
    ("sex", "native-country"),
    ("relationship", "race"),
    ("marital-status", "workclass"),
    ("relationship", "occupation"),
)
PARTS = ("nonsensitive", "sensitive", "all")
SHORT = {"nonsensitive": "U", "sensitive": "S", "all": "S x U"}
LARGE = ("occupation", "education")


def counts_of(name):
    """Counts of a table, secrets in rows; None where its file is missing."""
    if name in RANDOM:
        shape, concentration, n = RANDOM[name]
        return drawn(shape, concentration, n, seed=0)
    if name in ADULT:
        return adult(*ADULT[name])
    try:
        from statsmodels.datasets import fair
    except ImportError:
        return None
    answers = fair.load_pandas().data
    faith, marriage = (answers[key].astype(int) for key in ("religious", "rate_marriage"))
    if name == FAIR[1]:
        return pd.crosstab(faith, marriage).to_numpy()
    counts = np.zeros((2, 20), dtype=int)
    np.add.at(counts, ((answers["affairs"] > 0).astype(int), (faith - 1) * 5 + marriage - 1), 1)
    return counts


def adult(secret, *values):
    if adult_file() is None:
        return None
    records = pd.read_csv(adult_file(), names=COLUMNS, skipinitialspace=True)
    return pd.crosstab(records[secret], [records[value] for value in values]).to_numpy()


def drawn(shape, concentration, n, seed):
    rng = np.random.default_rng(seed)
    distribution = rng.dirichlet(np.full(int(np.prod(shape)), concentration))
    return rng.multinomial(n, distribution).reshape(shape)


def fit(sanitizer, counts):
    """Fit, and return the sanitizer with its processor time."""
    rows, weights = rows_of(counts)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        sanitizer.set_params(sensitive=0).fit(rows, sample_weight=weights)
    return sanitizer, time.process_time() - start


def total(sanitizer, part):
    """Sum of the variances of the shares of a part, times the number of reports."""
    return float((expected_std_error(sanitizer, 1, part=part) ** 2).sum())


def others(eps, seconds, uncertainty=None):
    return {
        "PolyOpt": PolyOptSanitizer(eps, time_limit=seconds, uncertainty=uncertainty),
        "IR": IRSanitizer(eps, uncertainty=uncertainty),
        "SRR": SRRSanitizer(eps),
        "GRR": GRRSanitizer(eps),
        "R.MSE": RobustMSESanitizer(
            eps, distance="hamming", time_limit=seconds, uncertainty=uncertainty
        ),
    }


def oue(shares, eps):
    """Sum of the variances of optimised unary encoding; local hashing has the same."""
    p, q = 0.5, 1.0 / (np.exp(eps) + 1.0)
    seen = shares * p + (1.0 - shares) * q
    return float((seen * (1.0 - seen)).sum() / (p - q) ** 2)


def oue_of(joint, part, eps):
    """The same for U alone, S alone, or the whole record: what is to be estimated."""
    if part == "sensitive":
        return oue(joint.probabilities.sum(axis=1), eps)
    return oue(
        joint.probabilities.sum(axis=0) if part == "nonsensitive" else joint.probabilities.ravel(),
        eps,
    )


def shares_of(joint, part):
    """What is to be estimated."""
    axis = {"nonsensitive": 0, "sensitive": 1, "all": ()}[part]
    return joint.probabilities.sum(axis=axis).ravel()


def raw(joint, part):
    """Sum of the variances from the records themselves."""
    return 1.0 - float((shares_of(joint, part) ** 2).sum())


def head(names):
    print(
        f"{'table':<25} {'eps':>4} {'of':<5} {'A-opt.':>9} {'seconds':>7} {'non-rob.':>9}"
        + "".join(f"{name:>9}" for name in (*names, "OUE", "records"))
        + f" {'gain':>6}"
    )


def line(name, eps, part, counts, fitted, seconds, uncertainty=None, bound=True):
    """One line: AOptimal for a part, and everything else."""
    ours, spent = fit(
        AOptimalSanitizer(eps, targets=part, time_limit=seconds, uncertainty=uncertainty), counts
    )
    mine = total(ours, part)
    least = np.nan
    if bound:
        public = RenyiBall(radius=0.0)
        without = AOptimalSanitizer(eps, targets=part, time_limit=seconds, uncertainty=public)
        least = total(fit(without, counts)[0], part)
    theirs = {key: total(one, part) for key, one in fitted.items()}
    theirs["OUE"] = oue_of(ours.joint_, part, eps)
    best = min(theirs.values())
    print(
        f"{name:<25} {eps:>4g} {SHORT[part]:<5} {mine:>9.4g} {spent:>7.1f} {least:>9.4g}"
        + "".join(f"{one:>9.4g}" for one in (*theirs.values(), raw(ours.joint_, part)))
        + f" {best / mine:>6.3f}{' !' if mine > best * (1 + 1e-4) else ''}",
        flush=True,
    )


def tables(names, levels, seconds):
    """Sums of variances over the default confidence set."""
    print("Sums of variances, default set; gain: the best other over A-optimal\n")
    head(others(1.0, 1.0))
    for name in names:
        counts = counts_of(name)
        if counts is None:
            print(f"{name:<25} no data")
            continue
        for eps in levels:
            fitted = {key: fit(one, counts)[0] for key, one in others(eps, seconds).items()}
            for part in PARTS if eps == 1.0 else ("nonsensitive", "all"):
                line(name, eps, part, counts, fitted, seconds, bound=eps == 1.0)


def speed():
    """Processor time of designs of the shares of U; run it with another checkout to compare."""
    print(f"\n{'table':<34} {'cells':>5} {'seconds':>8} {'sum':>9} {'eps':>9} {'reports':>7}")
    for secret, *values in SPEED:
        counts = adult(secret, *values)
        if counts is None:
            continue
        ours, spent = fit(AOptimalSanitizer(1.0), counts)
        name = " x ".join([secret, ", ".join(values)])
        print(
            f"{name:<34} {counts.size:>5} {spent:>8.2f} {total(ours, 'nonsensitive'):>9.5f} "
            f"{ours.certificate_.eps:>9.6f} {len(ours.mechanism_.matrix):>7}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small tables, half a minute")
    parser.add_argument("--only", nargs="*", help="parts to run")
    parser.add_argument("--seconds", type=float, default=10.0, help="processor time of a design")
    options = parser.parse_args()
    limits.time.perf_counter = time.process_time  # what the time limit is measured with
    quick, seconds = options.quick, 2.0 if options.quick else options.seconds
    wanted = options.only or (["tables"] if quick else None)
    levels = [1.0] if quick else [0.5, 1.0, 2.0]
    names = [*RANDOM][:2] if quick else [*ADULT, *FAIR, *RANDOM]
    parts = {
        "tables": lambda: tables(names, levels, seconds),
        "speed": speed,
    }
    for part, work in parts.items():
        if wanted is None or part in wanted:
            work()


if __name__ == "__main__":
    main()
