"""Means of numbers by bins' middles, by bins' public means, and by knots: bias, coverage, error.

    make coverage     runs this as well; it needs the file of UCI Adult

The mean of a number by group, with sex as the secret: hours by race on Adult, of which a random
half is public, and log-normal wages with a long tail by region. Each draw samples people of the
other half, or of a changed population, with replacement. Standard errors are relative to those of
the raw numbers: measured; planned at the known public distribution, which no confidence set
enlarges; and expected from rounding alone.
"""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
from bench_large import COLUMNS, adult_file

from skrldp import AOptimalSanitizer, Bins, FrequencyEstimator, Knots, RenyiBall
from skrldp.estimation import expected_std_errors_of_targets
from skrldp.sanitizers.access import codec_of
from skrldp.targets import Mean

# A list is edges of bins that are named by their middles.
HOURS = {
    "middles": [0, 15, 30, 38, 42, 60, 100],
    "public means": Bins([0, 15, 30, 38, 42, 60, 100]),
    "4 knots": Knots([0, 40, 60, 99]),
    "5 knots": Knots([0, 20, 40, 60, 99]),
    "7 knots": Knots([0, 20, 30, 40, 50, 60, 99]),
    "12 knots": Knots([0, 10, 20, 30, 35, 40, 45, 50, 55, 60, 70, 99]),
}
WAGES = {
    "middles": [0, 10, 20, 30, 50, 100, 1000],
    "public means": Bins([0, 10, 20, 30, 50, 100, 1000]),
    "4 knots": Knots([0, 50, 200, 1000]),
    "7 knots": Knots([0, 25, 50, 100, 200, 400, 1000]),
    "12 knots": Knots([0, 10, 20, 30, 45, 60, 80, 120, 180, 300, 500, 1000]),
}
DRAWS = 200


def hours():
    """Public records, private ones, and those of a population with other hours."""
    names = ["sex", "race", "hours-per-week"]
    table = pd.read_csv(adult_file(), names=COLUMNS, skipinitialspace=True)[names]
    table = table.set_axis(["sex", "group", "x"], axis=1).sample(frac=1.0, random_state=0)
    table["group"] = table["group"].where(table["group"].isin(["White", "Black"]), "Other")
    public, private = table[::2], table[1::2]
    # Nobody but full-time workers works less: half of them by a fifth.
    less = private["x"].between(38, 60) & (np.arange(len(private)) % 2 == 0)
    other = private.assign(x=private["x"].where(~less, (0.8 * private["x"]).round()))
    return {"public": public, "same hours": private, "other hours": other}


def wages():
    """Log-normal wages in thousands by sex and region; half of high ones are a half higher."""
    rng, n = np.random.default_rng(0), 32_000
    sex, region = rng.integers(0, 2, n), rng.integers(0, 2, n)
    x = np.exp(rng.normal(3.2 + 0.2 * sex + 0.1 * region, 0.8, n)).clip(0.0, 999.0).round(1)
    table = pd.DataFrame({"sex": sex, "group": region, "x": x})
    public, private = table[::2], table[1::2]
    is_raised = (private["x"] > 50.0) & (np.arange(len(private)) % 2 == 0)
    raised = (1.5 * private["x"]).clip(0.0, 999.0).round(1)
    other = private.assign(x=private["x"].where(~is_raised, raised))
    return {"public": public, "same wages": private, "other wages": other}


def cut(table, edges):
    """Replace numbers by the middles of bins."""
    middles = (np.array(edges[1:]) + edges[:-1]) / 2.0
    return table.assign(x=middles[np.searchsorted(edges, table["x"], side="right") - 1])


def cell_shares(sanitizer, private, numbers):
    """Distribution of the cells of people whose numbers are rounded one by one."""
    codec = codec_of(sanitizer)

    def cells(draw):
        draws = lambda name, knots, n: np.full(n, draw, dtype=np.uint32)  # noqa: E731
        return codec.encode(private, draws=draws).cells(codec.n_values)

    up = 0.0
    if isinstance(numbers, Knots):
        up = numbers.thresholds(private["x"].to_numpy())[1] / 2.0**32
    raised, not_raised = cells(0), cells(2**32 - 1)
    counts = np.bincount(raised, np.broadcast_to(up, len(raised)), codec.n_cells)
    counts += np.bincount(not_raised, np.broadcast_to(1.0 - up, len(raised)), codec.n_cells)
    return counts / counts.sum()


def designed(public, numbers, uncertainty=None):
    """Return an A-optimal design for the means by group beside shares, with sex as the secret."""
    known = {name: sorted(public[name].unique()) for name in ("sex", "group")} | {"x": numbers}
    targets = ["nonsensitive", Mean("x", by="group", weight=3.0 / public["x"].var())]
    design = AOptimalSanitizer(sensitive="sex", categories=known, targets=targets)
    return design.set_params(uncertainty=uncertainty, time_limit=None).fit(public)


def raw_errors(table):
    """Standard errors of the means of raw numbers by group."""
    groups = table.groupby("group")["x"]
    return (groups.std() / np.sqrt(groups.size())).to_numpy()


def planned(public, numbers):
    """Mean standard error relative to raw: at the known distribution, and of rounding alone."""
    mechanism = designed(public, numbers, RenyiBall(alpha=1.0, radius=0.0)).mechanism_
    target, raw = Mean("x", by="group"), raw_errors(public)
    errors = expected_std_errors_of_targets(mechanism, len(public), target)
    if not isinstance(numbers, Knots):
        return np.mean([*errors.values()] / raw), np.nan
    rounding = [
        1.0 + numbers.rounding_variance(x.to_numpy()).mean() / x.var()
        for _, x in public.groupby("group")["x"]
    ]
    return np.mean([*errors.values()] / raw), np.sqrt(rounding).mean()


def measure(sanitizer, private, sent, numbers, rng):
    """Worst bias in standard errors, lowest coverage, and mean standard error relative to raw."""
    truth = private.groupby("group")["x"].mean().to_numpy()
    report = sanitizer.mechanism_.matrix @ cell_shares(sanitizer, sent, numbers)
    # Without the public table's size, `fit` has no drift test, whose bound takes seconds.
    public = replace(sanitizer.mechanism_.public, survey_records=1, survey_size=None)
    mechanism = replace(sanitizer.mechanism_, public=public)
    is_covered, errors, estimates = [], [], []
    for _ in range(DRAWS):
        counts = rng.multinomial(len(private), report / report.sum())
        estimator = FrequencyEstimator(mechanism).fit(range(len(report)), sample_weight=counts)
        means = estimator.mean("x", by="group")
        low, high = means.confidence_interval().T
        is_covered.append((low <= truth) & (truth <= high))
        errors.append(means.std_error)
        estimates.append(means.unbiased)
    std_errors = np.mean(errors, axis=0)
    bias = (np.mean(estimates, axis=0) - truth) / std_errors
    worst = bias[np.abs(bias).argmax()]
    return worst, np.mean(is_covered, axis=0).min(), np.mean(std_errors / raw_errors(private))


def main():
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    print("                                             error / raw error")
    print("population    numbers         bias coverage  measured   known rounding")
    if adult_file() is None:
        print("no file of Adult, so the hours are skipped: set SKRLDP_ADULT")
    of_adult = [(hours(), HOURS)] if adult_file() else []
    for tables, ways in (*of_adult, (wages(), WAGES)):
        public = tables.pop("public")
        for way, numbers in ways.items():
            is_cut = isinstance(numbers, list)
            shown, categories = public, numbers
            if is_cut:
                categories = list((np.array(numbers[1:]) + numbers[:-1]) / 2.0)
                shown = cut(public, numbers)
            known, rounding = planned(shown, categories)
            sanitizer = designed(shown, categories)
            for population, private in tables.items():
                sent = cut(private, numbers) if is_cut else private
                bias, coverage, error = measure(sanitizer, private, sent, numbers, rng)
                print(
                    f"{population:<13} {way:<14} {bias:6.2f} {coverage:7.3f} {error:10.3f} "
                    f"{known:7.3f} {rounding:8.3f}  {sanitizer.solution_.status}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
