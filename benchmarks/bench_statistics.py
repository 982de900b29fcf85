"""Statistics from reports: changes between waves, naive ways beside regressions, and time.

Three tables (Adult, the Fair survey, a random one) with a secret, a group and a number; reports of
six mechanisms, designed on 5,000 public records; 2,000 to 50,000 reports, drawn ``--runs`` times.

- *naive ways*: the mean of a logistic regression's coefficients from reports, beside those of the
  most probable record of each report, and of records weighted by their posterior probabilities; the
  people who report have columns that go together half as much as those of the public table
- *panel*: coverage of changes between two waves in which 60 % of the persons are the same, and the
  size of the test that nothing has changed; errors as shares of those for different persons.
  Reports of the second wave are fresh, or repeat those of unchanged records (permanent)
- *time*: processor time for a million reports, 240 cells and ten coefficients

The table of Adult needs its file: ``SKRLDP_ADULT``, or ``../shared/data/adult/adult.data``.
"""

import argparse
import time
import warnings
from collections import defaultdict

import numpy as np
import pandas as pd
import statsmodels.api as sm
from bench_large import COLUMNS, adult_file
from statsmodels.datasets import fair

from skrldp import (
    AOptimalSanitizer,
    FrequencyEstimator,
    GRRSanitizer,
    IRSanitizer,
    Mechanism,
    PolyOptSanitizer,
    RobustMSESanitizer,
    SRRSanitizer,
)
from skrldp.estimation import PairedReports, difference, ratio, same_distribution_test
from skrldp.regression import logit, mnlogit, ols

NAMES = ["secret", "group", "number"]
N_PUBLIC = 5_000
SIZES = (2_000, 10_000, 50_000)
MODELS = {
    "logit": (logit, "{{secret == {secret!r}}} ~ number + C(group)"),
    "ols": (ols, "number ~ C(secret) + C(group)"),
    "mnlogit": (mnlogit, "group ~ number + C(secret)"),
}


# -- tables and mechanisms ------------------------------------------------------------------------


def adult():
    """Married or not, sex, and three degrees of schooling."""
    if adult_file() is None:
        return None
    records = pd.read_csv(adult_file(), names=COLUMNS, skipinitialspace=True)
    married = records["marital-status"].str.startswith("Married").map({False: "no", True: "yes"})
    schooling = np.digitize(records["education-num"], [9, 13])
    return pd.DataFrame({"secret": married, "group": records["sex"], "number": schooling})


def fair_survey():
    """An affair or not, the marriage's rating, and how religious somebody is."""
    answers = fair.load_pandas().data
    return pd.DataFrame(
        {
            "secret": np.where(answers["affairs"] > 0, "yes", "no"),
            "group": np.maximum(answers["rate_marriage"].astype(int), 2),
            "number": answers["religious"].astype(int),
        }
    )


def random_table():
    """Three secrets, two groups and four numbers, whose distribution is drawn."""
    rng = np.random.default_rng(7)
    shares = rng.dirichlet(np.full(24, 2.0))
    cells = pd.MultiIndex.from_product([["a", "b", "c"], ["p", "q"], [0, 1, 2, 3]], names=NAMES)
    return cells.to_frame(index=False).loc[rng.choice(24, 50_000, p=shares)]


TABLES = {"Adult": adult, "Fair": fair_survey, "random": random_table}


def sanitizers(eps):
    shared = {"sensitive": "secret", "categories": "product", "random_state": 0}
    return {
        "GRR": GRRSanitizer(eps, **shared),
        "SRR": SRRSanitizer(eps, **shared),
        "IR": IRSanitizer(eps, **shared),
        "A-optimal": AOptimalSanitizer(eps, targets="all", time_limit=60.0, **shared),
        "PolyOpt": PolyOptSanitizer(eps, time_limit=20.0, **shared),
        "RobustMSE": RobustMSESanitizer(eps, distance="hamming", time_limit=20.0, **shared),
    }


def cases(eps, only):
    """For each table and mechanism: names, the fitted sanitizer and the true distribution."""
    for table, make in TABLES.items():
        records = make()
        if records is None:
            print("Adult left out: set SKRLDP_ADULT to the path of its file.")
            continue
        records = records[NAMES]
        public = records.sample(N_PUBLIC, random_state=1)
        for name, sanitizer in sanitizers(eps).items():
            if only and name not in only and table not in only:
                continue
            sanitizer.fit(public)
            mechanism = sanitizer.mechanism_
            places = {
                (s, *u): (i, j)
                for i, s in enumerate(mechanism.secrets)
                for j, u in enumerate(mechanism.values)
            }
            truth = np.zeros((len(mechanism.secrets), len(mechanism.values)))
            for cell, share in records.value_counts(normalize=True).items():
                truth[places[cell]] = share
            yield table, name, sanitizer, truth


def estimate(mechanism, counts):
    return FrequencyEstimator(mechanism, encode="symbol").fit(
        np.arange(len(counts)), sample_weight=counts
    )


def stating(mechanism, truth):
    """An estimator that knows the distribution: its reports are cells, and nearly without end."""
    cells = truth.size
    exact = Mechanism.from_matrix(np.eye(cells), mechanism.secrets, mechanism.values)
    return estimate(exact.named(None, mechanism.columns), np.rint(1e15 * truth.ravel()))


def results(estimator):
    """By model: the result, or why there is none."""
    found = {}
    secret = estimator.mechanism_.secrets[-1]
    for kind, (model, formula) in MODELS.items():
        try:
            found[kind] = model(formula.format(secret=secret), estimator)
        except ValueError as error:
            found[kind] = str(error).split(":")[0]
    return found


# -- quantiles ------------------------------------------------------------------------------------


# -- tests and power ------------------------------------------------------------------------------


def independent_of(truth, mechanism):
    """The distribution with the same margins in which all columns are independent."""
    groups = len({group for group, _ in mechanism.values})
    cells = truth.reshape(len(truth), groups, -1)
    margins = cells.sum(axis=(1, 2)), cells.sum(axis=(0, 2)), cells.sum(axis=(0, 1))
    return np.einsum("i,j,k->ijk", *margins).reshape(truth.shape)


def other_distribution(truth):
    """Fewer people with the first secret, and more with the last one."""
    moved = truth.copy()
    step = 0.03
    moved[0] *= 1 - step / moved[0].sum()
    moved[-1] *= 1 + step / moved[-1].sum()
    return moved


# -- the same persons in two waves ----------------------------------------------------------------


def panel(eps, sizes, runs, only):
    print(f"\nThe same persons in two waves, {runs:,} runs: coverage (error, if all were others)")
    scenes = [(kept, permanent) for kept in (0.7, 0.99) for permanent in (False, True)]
    for table, name, sanitizer, truth in cases(eps, only):
        for n in sizes:
            for kept, permanent in scenes:
                line = panel_of(sanitizer.mechanism_, truth, n, kept, permanent, runs)
                kind = "permanent" if permanent else "fresh"
                case = f"{table}, {name}, n = {n:,}, {kept:.0%} unchanged, {kind}"
                print(f"{case}: {line}", flush=True)


def panel_of(mechanism, truth, n, kept, permanent, runs):
    """Records stay with probability `kept`, and are drawn from another distribution otherwise."""
    rng, matrix = np.random.default_rng(n), mechanism.matrix
    moved = (truth + independent_of(truth, mechanism)) / 2
    moved = (moved + other_distribution(truth)) / 2
    exact = stating(mechanism, truth), stating(mechanism, kept * truth + (1 - kept) * moved)
    truth, moved = truth.ravel(), moved.ravel()
    held, shares, p_values = defaultdict(int), defaultdict(list), []
    for run in range(2 * runs):
        new = truth if run >= runs else moved  # the second half: nothing changes, for the test
        later = kept * truth + (1 - kept) * new
        changed = (1 - kept) * np.outer(matrix @ truth, matrix @ new)
        same = np.diag(matrix @ truth) if permanent else (matrix * truth) @ matrix.T
        both = rng.multinomial(round(0.6 * n), (kept * same + changed).ravel())
        both = both.reshape(len(matrix), -1)
        alone = [rng.multinomial(round(0.2 * n), matrix @ one) for one in (truth, later)]
        first, second = (
            estimate(mechanism, own)
            for own in (both.sum(axis=1) + alone[0], both.sum(axis=0) + alone[1])
        )
        rows, columns = np.nonzero(both)
        pairs = PairedReports(first, second, rows, columns, sample_weight=both[rows, columns])
        if run < runs:
            for kind, found, apart, aim in panel_figures(first, second, exact, pairs):
                ends = found.confidence_interval()
                held[kind] += (ends[:, 0] - 1e-9 <= aim) & (aim <= ends[:, 1] + 1e-9)
                shares[kind].append(found.std_error / apart.std_error)
            continue
        p_values.append(same_distribution_test(first, second, "number", paired=pairs).p_value)
    lines = []
    for kind, own in held.items():
        stated = [one for one in np.concatenate(shares[kind]) if np.isfinite(one)]
        lines.append(f"{kind} {np.mean(own / runs):.3f} ({np.mean(stated or [np.nan]):.2f})")
    rejected = np.mean([p <= 0.05 for p in p_values] or [np.nan])
    return ", ".join([*lines, f"test {rejected:.3f} of {len(p_values)}"])


def panel_figures(first, second, exact, pairs):
    """Kinds of figures: of the pairs, as of different persons, and what is true."""
    figures_ = {
        "shares": lambda e: e.marginal("number"),
        "mean": lambda e: e.mean("number"),
        "means": lambda e: e.mean("number", by="group"),
    }
    for kind, figure in figures_.items():
        for between in (difference, ratio) if kind == "mean" else (difference,):
            own = figure(second), figure(first)
            aim = between(figure(exact[1]), figure(exact[0])).estimate
            name = "ratio" if between is ratio else kind
            yield name, between(*own, paired=pairs), between(*own), aim


# -- naive ways -----------------------------------------------------------------------------------


def naive(eps, n, runs, only):
    print(
        f"\nLogistic regression of the secret on number and group, {n:,} reports: mean coefficients"
    )
    for table, name, sanitizer, truth in cases(eps, only):
        mechanism, joint = sanitizer.mechanism_, sanitizer.joint_
        truth = (truth + independent_of(truth, mechanism)) / 2
        cells = pd.DataFrame(
            [(s, *u) for s in mechanism.secrets for u in mechanism.values], columns=NAMES
        )
        report = mechanism.matrix @ truth.ravel()
        ways = {
            "public prior": joint.smoothed(0.5).ravel(),
            "flat prior": np.full(truth.size, 1 / truth.size),
        }
        rng, sums, solved = np.random.default_rng(0), defaultdict(float), 0
        exact = results(stating(mechanism, truth))["logit"].params.to_numpy()
        for _ in range(runs):
            counts = rng.multinomial(n, report / report.sum())
            found = results(estimate(mechanism, counts))["logit"]
            if not isinstance(found, str):
                solved += 1
                sums["reports"] += found.params.to_numpy()
            for way, prior in ways.items():
                given = mechanism.matrix * prior
                given = given / np.maximum(given.sum(axis=1, keepdims=True), 1e-300)
                sums[f"posterior, {way}"] += weighted_logit(cells, counts @ given) / runs
            probable = np.bincount(given_cells(mechanism, joint), counts, minlength=truth.size)
            sums["most probable"] += weighted_logit(cells, probable) / runs
        sums["reports"] = sums["reports"] / max(solved, 1)
        print(f"{table}, {name}: true {np.round(exact, 2)}")
        for way, values in sums.items():
            print(f"  {way:<24}{np.round(values, 2)}", flush=True)


def given_cells(mechanism, joint):
    return (mechanism.matrix * joint.smoothed(0.5).ravel()).argmax(axis=1)


def weighted_logit(cells, weights):
    """Coefficients of statsmodels for weighted records, in the order of the formula's columns."""
    kept = weights > 0
    secret = cells["secret"] == cells["secret"].iloc[-1]
    design = pd.get_dummies(cells["group"], drop_first=True, dtype=float)
    design = pd.concat([cells["number"].astype(float), design], axis=1)
    design = sm.add_constant(design.set_axis(design.columns.map(str), axis=1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = sm.GLM(
            secret[kept].astype(float),
            design[kept],
            sm.families.Binomial(),
            freq_weights=weights[kept],
        ).fit()
    return fitted.params.to_numpy()


# -- time -----------------------------------------------------------------------------------------


def timing():
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {
            "secret": rng.choice(["no", "yes"], 1_000_000),
            "a": rng.integers(0, 5, 1_000_000),
            "b": rng.integers(0, 4, 1_000_000),
            "c": rng.integers(0, 6, 1_000_000),
        }
    )
    sanitizer = SRRSanitizer(2.0, sensitive="secret", encode="symbol", random_state=0).fit(people)
    reports = sanitizer.transform(people)
    print(f"\nTime: {len(reports):,} reports, {sanitizer.joint_.probabilities.size} cells")
    start = time.process_time()
    estimator = FrequencyEstimator(sanitizer).fit(reports)
    fitted = time.process_time()
    found = logit("secret ~ a + C(b) + C(c)", estimator)
    done = time.process_time()
    print(
        f"  {len(found.params)} coefficients: estimate {fitted - start:.2f} s, regression "
        f"{done - fitted:.2f} s"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="20 runs of 10,000 reports")
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--eps", type=float, default=2.0)
    parser.add_argument("--parts", nargs="*", default=["panel", "naive", "time"])
    parser.add_argument("--only", nargs="*", metavar="NAME", help="mechanisms or tables")
    given = parser.parse_args()
    runs, sizes = (20, (10_000,)) if given.quick else (given.runs, given.sizes)
    warnings.filterwarnings("ignore", "the reports do not determine", UserWarning)
    if "time" in given.parts:
        timing()
    if "naive" in given.parts:
        naive(given.eps, 10_000, min(runs, 100), given.only)
    if "panel" in given.parts:
        panel(given.eps, sizes, runs, given.only)


if __name__ == "__main__":
    main()
