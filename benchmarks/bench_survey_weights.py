"""Do intervals of regressions hold if those who report have survey weights?

40,000 people have a secret, an age and a job. In samples of 8,000 of them those with the secret
are three times and those with the first job twice as likely to be, and every second sample has
weights that are noisy besides. Printed for each coefficient: how often its 95 % interval holds the
population's (with 300 runs: ±.025), the median error over the spread, and how often the
interval holds that takes each report once.
"""

import argparse

import numpy as np
import pandas as pd

from skrldp import AOptimalSanitizer, FrequencyEstimator, SRRSanitizer, SurveyDesign
from skrldp.regression import logit, mnlogit, ols, poisson

N_PEOPLE, N_REPORTS = 40_000, 8_000
MODELS = {
    "logit": (logit, "ill ~ age + job"),
    "ols": (ols, "age ~ ill + job"),
    "mnlogit": (mnlogit, "job ~ age"),
    "poisson": (poisson, "age ~ ill + job"),
}


def people():
    rng = np.random.default_rng(5)
    age = rng.integers(2, 5, N_PEOPLE)
    ill = rng.random(N_PEOPLE) < 1 / (1 + np.exp(2.5 - 0.5 * age))
    job = np.minimum((rng.random(N_PEOPLE) * (3 + age * 0.2)).astype(int), 2)
    names = np.array(["a", "b", "c"])
    return pd.DataFrame({"ill": np.where(ill, "yes", "no"), "age": age, "job": names[job]})


def coefficients(estimate):
    """Find coefficients and errors of each model, (2, p)."""
    found = {name: model(formula, estimate) for name, (model, formula) in MODELS.items()}
    return {name: np.stack([one.params, one.bse]) for name, one in found.items()}


def held(found, truth):
    return (np.abs(found[:, 0] - truth) < 1.96 * found[:, 1]).mean(axis=0).round(3)


def measure(name, sanitizer, runs):
    mechanism, population = sanitizer.mechanism_, sanitizer.joint_.probabilities.ravel()
    report = np.rint(1e13 * mechanism.matrix @ population)  # as good as without noise
    symbols = range(len(report))
    truth = coefficients(FrequencyEstimator(mechanism).fit(symbols, sample_weight=report))
    cell = np.arange(len(population))
    often = np.where(cell >= 9, 3.0, 1.0) * np.where(cell % 3 == 0, 2.0, 1.0)
    asked, of_cells = population * often, mechanism.matrix.cumsum(axis=0).T
    asked /= asked.sum()
    weighted = {model: [] for model in MODELS}
    once = {model: [] for model in MODELS}
    for run in range(runs):
        rng = np.random.default_rng(run)
        cells = rng.choice(len(asked), size=N_REPORTS, p=asked)
        sent = (rng.random(N_REPORTS)[:, None] > of_cells[cells]).sum(axis=1)
        weights = 1.0 / often[cells]
        if run % 2:
            weights = weights * rng.gamma(4.0, 0.25, N_REPORTS)
        table = pd.DataFrame({"report": sent, "weight": weights})
        design = SurveyDesign(weights="weight")
        estimate = FrequencyEstimator(mechanism, encode="symbol", survey=design).fit(table)
        for found, one in ((weighted, estimate), (once, FrequencyEstimator(mechanism).fit(sent))):
            for model, values in coefficients(one).items():
                found[model].append(values)
    for model in MODELS:
        own, other = np.array(weighted[model]), np.array(once[model])
        errors = np.median(own[:, 1], axis=0) / own[:, 0].std(axis=0)
        own_holds, other_holds = held(own, truth[model][0]), held(other, truth[model][0])
        print(f"{name} {model}: holds {own_holds}, error / spread {errors.round(2)}; ", end="")
        print(f"each report once {other_holds}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=300)
    given = parser.parse_args()
    designs = {
        "SRR, eps = 2": SRRSanitizer(2.0, sensitive="ill", encode="symbol"),
        "A-optimal, eps = 1.5": AOptimalSanitizer(
            1.5, sensitive="ill", targets="all", random_state=0
        ),
    }
    for name, sanitizer in designs.items():
        measure(name, sanitizer.fit(people()), given.runs)


if __name__ == "__main__":
    main()
