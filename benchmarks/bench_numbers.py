"""Means of numbers by bins' middles, by bins' public means, and by knots: bias, coverage, error.

    make coverage     runs this as well; it needs the file of UCI Adult

The mean of hours by race, with sex as the secret, on Adult: a random half is public. Each draw
takes persons of the other half with replacement; "other hours" are those of a population that works
less. Wages are log-normal with a long tail. Bias is in standard errors, the worst of the groups.
"""

import warnings

import numpy as np
import pandas as pd
from bench_large import COLUMNS, adult_file

from skrldp import AOptimalSanitizer, Bins, FrequencyEstimator, Knots
from skrldp.sanitizers.access import codec_of
from skrldp.targets import Mean

HOURS = {
    "middles": [0, 15, 30, 38, 42, 60, 100],
    "public means": Bins([0, 15, 30, 38, 42, 60, 100]),
    "4 knots": Knots([0, 30, 50, 99]),
    "7 knots": Knots([0, 15, 30, 38, 42, 60, 99]),
    "12 knots": Knots([0, 8, 16, 24, 32, 38, 40, 44, 50, 60, 75, 99]),
}
WAGES = {
    "middles": [0, 10, 20, 30, 50, 100, 1000],
    "public means": Bins([0, 10, 20, 30, 50, 100, 1000]),
    "4 knots": Knots([0, 25, 100, 1000], outside="clip"),
    "7 knots": Knots([0, 10, 20, 30, 50, 120, 1000], outside="clip"),
    "12 knots": Knots([0, 5, 10, 15, 20, 25, 30, 40, 60, 100, 250, 1000], outside="clip"),
}
DRAWS, SECONDS = 200, 30.0


def hours():
    """Public records, private ones, and those of a population with other hours."""
    names = ["sex", "race", "hours-per-week"]
    table = pd.read_csv(adult_file(), names=COLUMNS, skipinitialspace=True)[names]
    table = table.set_axis(["sex", "race", "x"], axis=1).sample(frac=1.0, random_state=0)
    table["race"] = table["race"].where(table["race"].isin(["White", "Black"]), "Other")
    public, private = table[::2], table[1::2]
    # Nobody but full-time workers works less: half of them by a fifth.
    less = private["x"].between(38, 60) & (np.arange(len(private)) % 2 == 0)
    other = private.assign(x=private["x"].where(~less, (0.8 * private["x"]).round()))
    return {"public": public, "same": private, "other hours": other}


def wages():
    """Wages in thousands, whose logarithms are normal, by sex and region."""
    rng, n = np.random.default_rng(0), 32_000
    sex, race = rng.integers(0, 2, n), rng.integers(0, 2, n)
    x = np.exp(rng.normal(3.2 + 0.2 * sex + 0.1 * race, 0.8, n)).clip(0.0, 999.0).round(1)
    table = pd.DataFrame({"sex": sex, "race": race, "x": x})
    return {"public": table[::2], "long tail": table[1::2]}


def cut(table, edges):
    """Replace numbers by the middles of bins."""
    middles = (np.array(edges[1:]) + edges[:-1]) / 2.0
    return table.assign(x=middles[np.searchsorted(edges, table["x"], side="right") - 1])


def cell_shares(own, private, numbers):
    """Distribution of the cells of persons, whose numbers are rounded one by one."""
    codec = codec_of(own)

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


def designed(public, numbers):
    """Return an A-optimal design for the means by race beside shares, with sex as the secret."""
    known = {name: sorted(public[name].unique()) for name in ("sex", "race")} | {"x": numbers}
    targets = ["nonsensitive", Mean("x", by="race", weight=3.0 / public["x"].var())]
    own = AOptimalSanitizer(sensitive="sex", categories=known, targets=targets, tol=0.02)
    return own.set_params(time_limit=SECONDS).fit(public)


def measure(own, private, sent, numbers, rng):
    """Worst bias in standard errors, lowest coverage, and mean standard error relative to raw."""
    groups, held, errors, found = private.groupby("race")["x"], [], [], []
    truth = groups.mean()
    report = own.mechanism_.matrix @ cell_shares(own, sent, numbers)
    for _ in range(DRAWS):
        counts = rng.multinomial(len(private), report / report.sum())
        estimator = FrequencyEstimator(own).fit(range(len(report)), sample_weight=counts)
        means = estimator.mean("x", by="race")
        order = [label[0] for label in means.labels]
        low, high = means.confidence_interval().T
        held.append((low <= truth[order]) & (truth[order] <= high))
        errors.append(means.std_error)
        found.append(means.unbiased)
    spread = np.mean(errors, axis=0)
    bias = (np.mean(found, axis=0) - truth[order].to_numpy()) / spread
    raw = (groups.std()[order] / np.sqrt(groups.size()[order])).to_numpy()
    worst = bias[np.abs(bias).argmax()]
    return worst, np.mean(held, axis=0).min(), np.mean(spread / raw)


def main():
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    print(f"{'population':<12} {'numbers':<14} {'bias':>6} {'coverage':>9} {'error':>6}")
    for tables, ways in ((hours(), HOURS), (wages(), WAGES)):
        public = tables.pop("public")
        for way, numbers in ways.items():
            is_cut = isinstance(numbers, list)
            sent = {name: cut(own, numbers) if is_cut else own for name, own in tables.items()}
            middles = (np.array(numbers[1:]) + numbers[:-1]) / 2.0 if is_cut else None
            categories = list(middles) if is_cut else numbers
            own = designed(cut(public, numbers) if is_cut else public, categories)
            for population, private in tables.items():
                figures = measure(own, private, sent[population], numbers, rng)
                print(
                    f"{population:<12} {way:<14} {figures[0]:6.2f} {figures[1]:9.3f} "
                    f"{figures[2]:6.3f} {own.solution_.status}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
