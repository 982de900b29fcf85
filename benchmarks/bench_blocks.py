"""Wide tables: 12 columns of Adult in blocks, against plain local differential privacy.

Run it with ``python benchmarks/bench_blocks.py [--quick] [--only PART ...]``: half an hour, or half
a minute. S is sex; one half of the records is public, and people of the other half report. Each
person reports one block, of a column or of a pair of columns, with ε = 1. The parts are

- ``errors``: planned and realised, and coverage of intervals. The error of a table is the root of
  its summed squared errors, averaged over the 66 tables of two columns, or the 12 of one;
- ``drift``: the people change, by weights: calibrated public records are compared with the public
  records and with the reports alone;
- ``remedies``: what single columns leak when the people change, also with ``drift=`` and
  ``eps_worst_case=``;
- ``plain``: the same people by plain local differential privacy, and by SRR of all columns.

Where multi-freq-ldpy imports (``pip install multi-freq-ldpy``), its SMP (a column, or pair, of each
person by an adaptive oracle) and RS+FD (every column, all but one of them fake) report the same
people. The file of Adult: ``SKRLDP_ADULT``, or ``../shared/data/adult/adult.data``.
"""

import argparse
import time
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from bench_large import COLUMNS, adult_file
from sklearn.exceptions import ConvergenceWarning

from skrldp import (
    AOptimalSanitizer,
    BlockEstimator,
    BlockSanitizer,
    FrequencyEstimator,
    LikelihoodRatioSet,
    PrivacyLeakWarning,
    RakingWeights,
    SRRSanitizer,
    expected_std_error,
)

try:
    from multi_freq_ldpy.mdim_freq_est import RSpFD_solution, SMP_solution
except ImportError:
    SMP_solution = None

N = 16_280  # people who report
BATCH = 1_000_000  # rows that report at once
CLIENT = Path(__file__).parent.parent / "javascript" / "skrldp.js"
PARTS = ("errors", "drift", "remedies", "plain")


def twelve_columns():
    """S and 12 columns of a few categories each."""
    raw = pd.read_csv(adult_file(), names=COLUMNS, skipinitialspace=True)
    rare = {"Never-worked": "?", "Without-pay": "?"}
    married = {"Married-AF-spouse": "Married-civ-spouse", "Married-spouse-absent": "Separated"}
    jobs = {"Armed-Forces": "?", "Priv-house-serv": "Other-service"}
    return pd.DataFrame(
        {
            "sex": raw["sex"],
            "age": np.digitize(raw["age"], [25, 35, 45, 55, 65]),
            "workclass": raw["workclass"].replace(rare),
            "education": np.digitize(raw["education-num"], [9, 10, 11, 13, 14]),
            "marital": raw["marital-status"].replace(married),
            "occupation": raw["occupation"].replace(jobs),
            "relationship": raw["relationship"],
            "race": raw["race"],
            "hours": np.digitize(raw["hours-per-week"], [20, 40, 41, 50]),
            "us": (raw["native-country"] == "United-States").astype(int),
            "income": raw["income"].str.strip("."),
            "gain": (raw["capital-gain"] > 0).astype(int),
            "loss": (raw["capital-loss"] > 0).astype(int),
        }
    )


def drifts(people):
    """How many times as many people there are of each kind: six changes, and none."""
    rich, long = people["income"] == ">50K", people["hours"] >= 3
    young = people["age"] == 0
    return {
        "none": np.ones(len(people)),
        "young x 4": np.where(young, 4.0, 1.0),
        "more schooling": np.exp(0.5 * people["education"]),
        "not US x 5": np.where(people["us"] == 0, 5.0, 1.0),
        "hours x income": np.where(rich == long, 3.0, 1.0),
        "age x hours x income": np.where((young ^ rich) == long, 3.0, 1.0),
        "married x 3": np.where(people["marital"] == "Married-civ-spouse", 3.0, 1.0),
    }


def shares(table, columns, categories, weights=None):
    """Shares of all combinations of categories, in the order of the product."""
    size = int(np.prod([len(categories[name]) for name in columns]))
    found = np.bincount(codes_of(table, columns, categories), weights, size).astype(float)
    return found / found.sum()


def codes_of(table, columns, categories):
    """Number of each record's combination of categories."""
    codes = np.zeros(len(table), dtype=int)
    for name in columns:
        order = {category: place for place, category in enumerate(categories[name])}
        codes = codes * len(order) + table[name].map(order).to_numpy()
    return codes


def distance(found, true):
    return float(np.sqrt(((found - true) ** 2).sum()))


def in_order(estimate, columns, categories):
    """Shares of an estimate, and whether 95 % intervals hold them, in the order of `shares`."""
    product = pd.MultiIndex.from_product([categories[name] for name in columns])
    places = pd.MultiIndex.from_tuples(estimate.labels).get_indexer(product)
    return estimate.estimate[places], estimate.confidence_interval()[places]


def designed(name, blocks, public, categories, n_jobs):
    start = time.perf_counter()
    sanitizer = BlockSanitizer(
        sensitive="sex",
        blocks=blocks,
        categories=categories,
        n_jobs=n_jobs,
        random_state=0,  # of the benchmark: reports are to be repeatable
    ).fit(public)
    seconds = time.perf_counter() - start
    size = len(sanitizer.manifest_.to_json()) / 1e6
    print(
        f"{name}: {len(sanitizer.blocks_)} blocks, fit {seconds:.0f} s with {n_jobs} processes, "
        f"{size:.2f} MB of JSON, eps <= {sanitizer.certificate_.eps:.9f}, "
        f"beta {sanitizer.manifest_.claims.beta:.3g}",
        flush=True,
    )
    return sanitizer


def reported(sanitizer, people, weights, seed):
    """Reports of people who are drawn by weights."""
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(people), N, p=weights / weights.sum())
    sanitizer.set_params(random_state=seed)
    return sanitizer.transform(people.iloc[rows])


def accuracy(sanitizers, people, categories, tables, simulations):
    """Realised and planned errors, and coverage."""
    print(f"\nErrors of {N:,} reports, {simulations} simulations: planned, realised, coverage")
    even = np.ones(len(people))
    for kind, sanitizer in sanitizers.items():
        squares, covered = {one: [] for one in tables}, {one: [] for one in tables}
        for seed in range(simulations):
            estimator = BlockEstimator(sanitizer).fit(reported(sanitizer, people, even, seed))
            for columns in tables:
                if not any(set(columns) <= set(block) for block in sanitizer.blocks_):
                    continue
                true = shares(people, columns, categories)
                found, ends = in_order(estimator.marginal(list(columns)), columns, categories)
                squares[columns].append(((found - true) ** 2).sum())
                covered[columns].append(((ends[:, 0] <= true) & (true <= ends[:, 1])).mean())
        for size, name in ((1, "columns"), (2, "pairs")):
            own = [one for one in tables if len(one) == size and squares[one]]
            if own:
                planned = [
                    np.sqrt((expected_std_error(sanitizer, N, list(one)) ** 2).sum()) for one in own
                ]
                realised = np.mean([np.sqrt(np.mean(squares[one])) for one in own])
                rate = np.mean([np.mean(covered[one]) for one in own])
                print(
                    f"  blocks of {kind:<8} {name:<8} {np.mean(planned):.4f} {realised:.4f} "
                    f"{rate:.3f}",
                    flush=True,
                )


def under_drift(sanitizers, public, people, categories, pairs, simulations):
    """Errors of the public table, of reports alone, and of calibrated public records."""
    print(f"\nPairs under drift, {simulations} simulations: errors, greatest leakage of a block")
    print(f"  {'':<22} public  reports  calibrated by columns  by pairs  leakage: columns, pairs")
    for name, weights in drifts(people).items():
        errors, leakage = {}, {}
        for seed in range(simulations):
            for kind, sanitizer in sanitizers.items():
                reports = reported(sanitizer, people, weights, seed)
                calibrated = RakingWeights(sanitizer, public).fit(reports)
                leakage.setdefault(kind, []).append(calibrated.leakage_)
                estimator = BlockEstimator(sanitizer).fit(reports)
                for columns in pairs:
                    true = shares(people, columns, categories, weights)
                    own = shares(public, columns, categories, calibrated.weights_)
                    errors.setdefault(kind, []).append(distance(own, true))
                    if kind == "singles":
                        alone = shares(public, columns, categories)
                        errors.setdefault("public", []).append(distance(alone, true))
                    else:
                        found = estimator.marginal(list(columns))
                        found = in_order(found, columns, categories)[0]
                        errors.setdefault("reports", []).append(distance(found, true))
        mean = {kind: np.mean(found) for kind, found in errors.items()}
        print(
            f"  {name:<22} {mean['public']:.4f}  {mean['reports']:.4f}   "
            f"{mean['singles']:.4f}                 {mean['pairs']:.4f}    "
            f"{np.mean(leakage['singles']):.2f}, {np.mean(leakage['pairs']):.2f}",
            flush=True,
        )


def remedies(public, people, categories):
    """What single columns leak under drift, without a remedy and with each."""
    wide = AOptimalSanitizer(tol=0.1, uncertainty=LikelihoodRatioSet(drift=0.05))
    designs = {
        "nothing": {},
        "drift=0.05": {"base": wide},
        "eps_worst_case=4": {"eps_worst_case": 4.0},
    }
    print("\nLeakage of the worst column at the true distribution")
    for name, more in designs.items():
        found = BlockSanitizer(sensitive="sex", categories=categories, **more).fit(public)
        for change, weights in drifts(people).items():
            leaks = []
            for (column,), one in zip(found.blocks_, found.sanitizers_, strict=True):
                pairs = pd.MultiIndex.from_product([categories["sex"], categories[column]])
                true = shares(people, ["sex", column], categories, weights)
                own = pd.MultiIndex.from_product([one.joint_.secrets, one.joint_.values])
                cells = true[pairs.get_indexer(own)].reshape(one.joint_.counts.shape)
                leaks.append(one.mechanism_.leakage(cells))
            print(f"  {name:<12}{change:<22}{max(leaks):.2f}", flush=True)


def plain(people, categories, tables, simulations):
    """Errors of multi-freq-ldpy, which protects the columns of U and S alike."""
    if SMP_solution is None:
        print("\nmulti-freq-ldpy is not installed")
        return
    print(f"\nPlain LDP with the same eps, {simulations} simulations: realised")
    for size, name in ((1, "columns"), (2, "pairs")):
        own = [one for one in tables if len(one) == size]
        codes = np.column_stack([codes_of(people, one, categories) for one in own])
        sizes = [int(np.prod([len(categories[c]) for c in one])) for one in own]
        true = [shares(people, one, categories) for one in own]
        solutions = {
            "SMP": (SMP_solution.SMP_ADP_Client, SMP_solution.SMP_ADP_Aggregator_MI),
            "RS+FD": (RSpFD_solution.RSpFD_GRR_Client, RSpFD_solution.RSpFD_GRR_Aggregator_MI),
        }
        for label, (protocol, aggregate) in solutions.items():
            errors = []
            for seed in range(simulations):
                rng = np.random.default_rng(seed)
                np.random.seed(seed)  # noqa: NPY002  what multi-freq-ldpy draws from
                rows = codes[rng.integers(0, len(codes), N)]
                reports = [protocol(row, sizes, len(own), 1.0) for row in rows]
                found = aggregate(reports, sizes, len(own), 1.0)
                errors += [
                    distance(np.asarray(f, float), t) for f, t in zip(found, true, strict=True)
                ]
            print(f"  {label:<6} on {name:<8} {np.mean(errors):.4f}", flush=True)


def whole(public, people, categories):
    """Errors of shares of columns by SRR of all of them together, where it takes so many cells."""
    try:
        sanitizer = SRRSanitizer(sensitive="sex", categories=categories, random_state=0).fit(public)
    except ValueError as error:
        print(f"  SRR of all columns: refused ({str(error).split('.')[0]})")
        return
    estimator = FrequencyEstimator(sanitizer).fit(sanitizer.transform(people[:N]))
    names = [name for name in people if name != "sex"]
    errors = [
        distance(
            in_order(estimator.marginal(name), (name,), categories)[0],
            shares(people, (name,), categories),
        )
        for name in names
    ]
    print(f"  SRR of all columns: columns {np.mean(errors):.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="six columns, 10 simulations")
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--drifted", type=int, default=10, help="simulations of each drift")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART")
    parser.add_argument("--n-jobs", type=int, default=2, help="processes that design blocks")
    chosen = parser.parse_args()
    if adult_file() is None:
        print("no file of Adult: set SKRLDP_ADULT")
        raise SystemExit(0)
    for kind in (ConvergenceWarning, PrivacyLeakWarning):
        warnings.simplefilter("ignore", kind)
    table = twelve_columns().sample(frac=1.0, random_state=0)
    if chosen.quick:
        table = table[["sex", "age", "education", "marital", "us", "income", "hours"]]
        chosen.simulations, chosen.drifted = 10, 1
    categories = {name: sorted(table[name].unique().tolist()) for name in table}
    public, people = table[: len(table) // 2], table[len(table) // 2 :]
    names = [name for name in table if name != "sex"]
    pairs = list(combinations(names, 2))
    tables = [(name,) for name in names] + pairs
    if "remedies" in chosen.only:
        remedies(public, people, categories)
    needed = {"errors", "drift", "plain"} & set(chosen.only)
    kinds = ("singles", "pairs") if needed else ()
    sanitizers = {kind: designed(kind, kind, public, categories, chosen.n_jobs) for kind in kinds}
    if "errors" in chosen.only:
        accuracy(sanitizers, people, categories, tables, chosen.simulations)
    if "drift" in chosen.only:
        under_drift(sanitizers, public, people, categories, pairs, chosen.drifted)
    if "plain" in chosen.only:
        plain(people, categories, tables, 3)
        whole(public, people, categories)
