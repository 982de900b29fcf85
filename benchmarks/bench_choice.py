"""Which sanitizer is best at what: estimates, means, crosstabs, information, readable records.

Run it with ``python benchmarks/bench_choice.py [--quick]``: a quarter of an hour, or half a minute.
It needs Adult's file: ``SKRLDP_ADULT``, or ``../shared/data/adult/adult.data``.

The secret is sex; hours a week (in six groups) and income are U. Standard errors are from 10,000
reports at the public distribution, means in hours. Beside them are the share of records whose U is
read rightly from the report, and the root mean square of the error of hours read from it.
Designs have ``--seconds`` of processor time, whatever else the machine does.
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from bench_large import COLUMNS, adult_file
from sklearn.exceptions import ConvergenceWarning

from skrldp import (
    AOptimalSanitizer,
    GRRSanitizer,
    IRSanitizer,
    PolyOptSanitizer,
    RobustMSESanitizer,
    SRRSanitizer,
    expected_std_error,
)
from skrldp.design import limits
from skrldp.estimation import expected_std_error_of_mean
from skrldp.information import entropy, mutual_information
from skrldp.targets import Mean

N = 10_000
OBJECTIVES = ("I(X;Y)", "I(U;Y)")


def records_of(*columns):
    """Columns of Adult, with hours a week in groups."""
    records = pd.read_csv(adult_file(), names=COLUMNS, skipinitialspace=True)
    limits, middles = [0, 20, 35, 40, 50, 60, 99], [13, 30, 40, 47, 57, 72]
    groups = pd.cut(records["hours-per-week"], limits, labels=middles).astype(int)
    return records.assign(hours=groups)[list(columns)]


def fit(sanitizer, records):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return sanitizer.fit(records)


def joint_with_reports(sanitizer):
    """Probabilities of (report, secret, value)."""
    shape = sanitizer.joint_.counts.shape
    matrix = sanitizer.mechanism_.matrix
    return matrix.reshape(-1, *shape) * sanitizer.joint_.probabilities


def _far_apart(value, other):
    """Squared distance of hours, in tens, plus 1 if incomes differ."""
    return ((value[0] - other[0]) / 10.0) ** 2 + (value[1] != other[1])


def read_from(sanitizer):
    """Share of records whose U is read rightly, and the error of hours: by the best guess."""
    given = joint_with_reports(sanitizer).sum(axis=1)
    hours = np.array([value[0] for value in sanitizer.joint_.values], dtype=float)
    mass = given.sum(axis=1)
    guess = given @ hours / np.maximum(mass, 1e-300)
    squares = (given * (hours - guess[:, None]) ** 2).sum()
    return given.max(axis=1).sum(), np.sqrt(squares)


def about_u(sanitizer):
    """I(U; Y), in nats."""
    given = joint_with_reports(sanitizer).sum(axis=1)
    shares = given.sum(axis=0)
    return mutual_information(given / shares, shares)


def figures(levels, seconds):
    """One line for each sanitizer."""
    records = records_of("sex", "hours", "income")
    print(f"sex x (hours, income), {N:,} reports: standard errors, worst of a share\n")
    print(
        f"{'eps':>4} {'sanitizer':<22} {'S x U':>8} {'U':>8} {'income':>8} {'hours':>8} "
        f"{'mean':>7} {'S':>8} {'I(U;Y)':>7} {'I(X;Y)':>7} {'read':>6} {'error':>6} {'s':>5}"
    )
    for eps in levels:
        limited = {"eps": eps, "sensitive": "sex", "time_limit": seconds}
        for name, sanitizer in {
            "A-optimal, U": AOptimalSanitizer(**limited),
            "A-optimal, mean": AOptimalSanitizer(**limited, targets=Mean("hours")),
            "A-optimal, S x U": AOptimalSanitizer(**limited, targets="all"),
            "A-optimal, S": AOptimalSanitizer(**limited, targets="sensitive"),
            "PolyOpt": PolyOptSanitizer(**limited),
            "PolyOpt, I(U;Y)": PolyOptSanitizer(**limited, objective="I(U;Y)"),
            "RobustMSE, squared": RobustMSESanitizer(**limited, distance=_far_apart),
            "RobustMSE, Hamming": RobustMSESanitizer(**limited, distance="hamming"),
            "IR": IRSanitizer(eps, sensitive="sex"),
            "SRR": SRRSanitizer(eps, sensitive="sex"),
            "GRR": GRRSanitizer(eps, sensitive="sex"),
        }.items():
            start = time.process_time()
            fit(sanitizer.set_params(sensitive="sex"), records)
            spent = time.process_time() - start
            print(f"{eps:>4g} {name:<22} {_line(sanitizer)} {spent:>5.1f}", flush=True)


def _line(sanitizer):
    wanted = [{"part": "all"}, {"part": "nonsensitive"}, {"columns": "income"}]
    wanted += [{"columns": "hours"}]
    errors = [expected_std_error(sanitizer, N, **what).max() for what in wanted]
    mean = expected_std_error_of_mean(sanitizer, N, "hours")
    secret = expected_std_error(sanitizer, N, part="sensitive").max()
    joint = sanitizer.joint_.probabilities
    told = about_u(sanitizer) / entropy(joint.sum(axis=0))
    told_of_record = mutual_information(sanitizer.mechanism_.matrix, joint.ravel())
    told_of_record /= entropy(joint)
    read, error = read_from(sanitizer)
    return (
        " ".join(f"{one:>8.4f}" for one in errors)
        + f" {mean:>7.3f} {secret:>8.4f} {told:>7.3f} "
        + f"{told_of_record:>7.3f} {read:>6.3f} {error:>6.2f}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one epsilon, little time for each")
    parser.add_argument("--seconds", type=float, default=10.0, help="processor time of a design")
    options = parser.parse_args()
    if adult_file() is None:
        print("no file of Adult: set SKRLDP_ADULT")
        return
    limits.time.perf_counter = time.process_time  # what the time limit is measured with
    quick, seconds = options.quick, 1.0 if options.quick else options.seconds
    figures([1.0] if quick else [0.5, 1.0, 2.0], seconds)


if __name__ == "__main__":
    main()
