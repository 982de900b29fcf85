"""What a bound over all distributions costs: information against eps_worst_case.

Run it with ``python benchmarks/bench_eps_worst_case.py [--quick]``: two hours on one core, or half
a minute. For each table, ε and eps_worst_case it prints the information of PolyOpt's mechanism as
it is sampled, at the public distribution, divided by H(X). Beside them: SRR and independent
reporting, which hold a bound over all distributions by themselves, and the baseline of *mixing*:
the mechanism without the bound, mixed with SRR, GRR or noise (on the same reports) until the bound
holds, the best of the three. Designs have ``--seconds`` of processor time, whatever else the
machine does. The tables of Adult need its file: ``SKRLDP_ADULT``, or
``../shared/data/adult/adult.data``; Fair's survey needs statsmodels.
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from bench_large import COLUMNS, adult_file
from sklearn.exceptions import ConvergenceWarning

from skrldp import (
    GRRSanitizer,
    IRSanitizer,
    LikelihoodRatioSet,
    PolyOptSanitizer,
    RenyiBall,
    SRRSanitizer,
)
from skrldp.design import limits
from skrldp.information import mutual_information

ADULT = {
    "sex x race": ("sex", "race"),
    "race x sex": ("race", "sex"),
    "relationship x occupation": ("relationship", "occupation"),
    "occupation x education": ("occupation", "education"),
    "native-country x relationship": ("native-country", "relationship"),
}
FAIR = "affair x marriage, years, religious"
SETS = {"renyi": RenyiBall, "likelihood-ratio": LikelihoodRatioSet}
LEVELS = (None, 2.0, 3.0, 4.0, 6.0, 8.0, np.inf)  # None: ε itself


def records_of(name):
    """The public table, the secret first."""
    if name in ADULT:
        records = pd.read_csv(adult_file(), names=COLUMNS, skipinitialspace=True)
        return records[list(ADULT[name])].astype(str)
    from statsmodels.datasets import fair

    answers = fair.load_pandas().data
    return pd.DataFrame(
        {
            "affair": np.where(answers["affairs"] > 0, "yes", "no"),
            "marriage": np.minimum(answers["rate_marriage"], 5).astype(int).clip(lower=3),
            "years": pd.cut(answers["yrs_married"], [-1, 3, 10, 99], labels=[0, 1, 2]).astype(int),
            "religious": (answers["religious"] > 2).astype(int),
        }
    )


def fit(sanitizer, records):
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        sanitizer.fit(records)
    return sanitizer, time.process_time() - start


def over_all(matrix, shape):
    """Leakage over all distributions."""
    table = matrix.reshape(len(matrix), *shape)
    most, least = table.max(axis=2), table.min(axis=2)
    apart = ~np.eye(shape[0], dtype=bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.log(most[:, :, None] / least[:, None])[:, apart].max())


def mixed(without, others, eps_worst_case):
    """The most information of the mechanism without a bound, mixed with others on its reports."""
    matrix, joint = without.mechanism_.matrix, without.joint_
    best, x = 0.0, joint.probabilities.ravel()
    spread = [np.full_like(matrix, 1.0 / len(matrix))]
    for other in others:  # each of its reports becomes the report that is likeliest for the cell
        report = matrix[:, [joint_cell(joint, cell) for cell in other.mechanism_.symbols]]
        to = report.argmax(axis=0)
        moved = np.zeros_like(matrix)
        np.add.at(moved, to, other.mechanism_.matrix)
        spread.append(moved)
    for noise in spread:
        if over_all(noise, joint.counts.shape) > eps_worst_case:
            continue
        low, high = 0.0, 1.0
        for _ in range(50):
            share = (low + high) / 2.0
            inside = (
                over_all(share * matrix + (1 - share) * noise, joint.counts.shape) <= eps_worst_case
            )
            low, high = (share, high) if inside else (low, share)
        best = max(best, mutual_information(low * matrix + (1 - low) * noise, x))
    return best / joint.entropy


def joint_cell(joint, cell):
    secret, value = cell
    return joint.secrets.index(secret) * len(joint.values) + joint.values.index(value)


def informative(name, eps, limit, kind):
    """A line of the table for each ε."""
    records, around = records_of(name), SETS[kind]()
    options = {"sensitive": records.columns[0], "uncertainty": around}
    srr, _ = fit(SRRSanitizer(eps, sensitive=records.columns[0]), records)
    grr, _ = fit(GRRSanitizer(eps, sensitive=records.columns[0]), records)
    ir, _ = fit(IRSanitizer(eps, **options), records)
    found = {}
    for level in LEVELS:
        eps_worst_case = eps if level is None else level
        if eps_worst_case < eps:
            continue
        asked = None if np.isinf(eps_worst_case) else eps_worst_case
        sanitizer = PolyOptSanitizer(eps, eps_worst_case=asked, time_limit=limit, **options)
        sanitizer, seconds = fit(sanitizer, records)
        assert sanitizer.certificate_.eps <= eps
        assert asked is None or sanitizer.certificate_.eps_worst_case <= asked
        found[level] = sanitizer
        print(
            f"  {name}, eps {eps}, eps_worst_case {eps_worst_case:g}: "
            f"{sanitizer.normalized_mutual_information_:.4f} {sanitizer.solution_.status} "
            f"{seconds:.0f} s",
            flush=True,
        )
    without = found[np.inf]
    cells = " ".join(
        f"{found[level].normalized_mutual_information_:>7.4f}" if level in found else f"{'':>7}"
        for level in LEVELS
    )
    print(
        f"{name:<36} {eps:>4} {srr.normalized_mutual_information_:>7.4f} "
        f"{ir.normalized_mutual_information_:>7.4f} "
        f"({ir.certificate_.eps_worst_case:>5.2f}) {cells}",
        flush=True,
    )
    mixes = " ".join(
        f"{mixed(without, (srr, grr), eps if level is None else level):>7.4f}"
        if level in found and not np.isinf(level or 0.0)
        else f"{'':>7}"
        for level in LEVELS
    )
    print(f"{'  mixing instead':<36} {'':>4} {'':>7} {'':>7} {'':>7} {mixes}", flush=True)


if __name__ == "__main__":
    names = [*(ADULT if adult_file() else ()), FAIR]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one small table, half a minute")
    parser.add_argument("--set", choices=SETS, default="likelihood-ratio", help="around the table")
    parser.add_argument("--table", choices=names, action="append", help="these tables alone")
    parser.add_argument("--eps", type=float, action="append", help="these ε alone")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each design")
    options = parser.parse_args()
    limits.time.perf_counter = time.process_time  # what the time limit is measured with
    names, epsilons = options.table or names, options.eps or [0.5, 1.0, 1.5]
    if options.quick:
        names, epsilons, options.seconds = [FAIR], [1.0], 2.0
    heads = " ".join(
        f"{'eps' if level is None else 'none' if np.isinf(level) else f'{level:g}':>7}"
        for level in LEVELS
    )
    print(f"{'table':<36} {'eps':>4} {'SRR':>7} {'IR':>7} {'(all)':>7} {heads}")
    for name in names:
        for eps in epsilons:
            informative(name, eps, options.seconds, options.set)
