"""How good are models that are trained on reports? Ways to train, sanitizers and ε compared.

Run it with ``python benchmarks/bench_models.py [--quick]``: three minutes on one core. The
record is a secret, three features and a label, and the label is inside the mechanism. Every model
is a logistic regression on features alone, tested on raw records that nobody reported. Shown is the
mean over draws of the reports.

Each mechanism is designed on 8,000 public records, and people of two kinds report: people like
these, and people among whom the secret is more frequent (or less), where the public records alone
make a poor model. The promise covers both, since the default set is about U given S.
The table of Adult needs its file: ``SKRLDP_ADULT``, or ``../shared/data/adult/adult.data``.

Ways to train:

- *rows*: each report as its most probable record, as if that were one
- *posterior*: each report as all records, weighted by their probabilities given the report at the
  public distribution
- *known noise*: `FrequencyEstimator.to_training_data`: all combinations, weighted by their
  frequencies in the most likely distribution
- *shares of S*: public records, weighted so that the secrets have the shares that the reports say
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from bench_large import COLUMNS, adult_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

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

WAYS = ("rows", "posterior", "known noise", "shares of S")
FEATURES = ["x1", "x2", "x3"]
N_PUBLIC = 8_000


def adult():
    """Whether somebody is married is the secret; who earns more than 50,000 a year is predicted.

    Returns public records, and those of people who report and of people to test, of each kind.
    """
    file = adult_file()
    if file is None:
        return None
    records = pd.read_csv(file, names=COLUMNS, skipinitialspace=True)
    records = pd.DataFrame(
        {
            "secret": records["marital-status"].str.startswith("Married").astype(int),
            "x1": (records["sex"] == "Male").astype(int),
            "x2": np.digitize(records["age"], [30, 45]),
            "x3": np.digitize(records["education-num"], [9, 13]),
            "label": (records["income"] == ">50K").astype(int),
        }
    ).sample(frac=1.0, random_state=0)
    public, others = records[:N_PUBLIC], records[N_PUBLIC:]
    single = others[others["secret"] == 0]
    moved = pd.concat([single, others[others["secret"] == 1][: len(single) // 9]])
    moved = moved.sample(frac=1.0, random_state=0)
    return public, {
        "like the public ones": (others[:10_000], others[10_000:]),
        f"{moved['secret'].mean():.0%} married, not {public['secret'].mean():.0%}": (
            moved[:10_000],
            moved[10_000:],
        ),
    }


def ill_people(n, share, seed):
    """An illness is the secret; the label depends on it, and on features that depend on it."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < share
    first = rng.binomial(2, np.where(ill, 0.65, 0.3))
    second = rng.binomial(2, 0.25 + 0.2 * first)
    third = rng.binomial(1, 0.5, n)
    score = np.where(ill, 1.2 - 1.2 * second + 1.0 * third, -1.5 + 0.8 * first + 0.8 * second)
    label = rng.random(n) < 1.0 / (1.0 + np.exp(-score))
    columns = {"secret": ill, "x1": first, "x2": second, "x3": third, "label": label}
    return pd.DataFrame(columns).astype(int)


def synthetic():
    """Made-up records, as `adult` returns them."""
    return ill_people(N_PUBLIC, 0.15, 0), {
        "like the public ones": (ill_people(10_000, 0.15, 1), ill_people(20_000, 0.15, 2)),
        "60% ill, not 15%": (ill_people(10_000, 0.6, 3), ill_people(20_000, 0.6, 4)),
    }


def sanitizers(eps, seconds):
    shared = {"eps": eps, "sensitive": "secret", "categories": "product"}
    return {
        "A-optimal": AOptimalSanitizer(**shared, targets="nonsensitive", time_limit=seconds),
        "PolyOpt": PolyOptSanitizer(**shared, time_limit=seconds),
        "RobustMSE": RobustMSESanitizer(**shared, distance="hamming", time_limit=seconds),
        "IR": IRSanitizer(**shared),
        "SRR": SRRSanitizer(**shared),
        "GRR": GRRSanitizer(**shared),
    }


def trained(rows, weights, test):
    """Log-loss, AUC and accuracy on raw records of a model trained on weighted rows."""
    kept = np.asarray(weights) > 0
    rows, weights = rows[kept], weights[kept]
    if rows["label"].nunique() < 2:
        return np.nan, 0.5, np.nan
    levels = [np.arange(test[name].max() + 1) for name in FEATURES]
    model = make_pipeline(OneHotEncoder(categories=levels), LogisticRegression())
    model.fit(rows[FEATURES], rows["label"], logisticregression__sample_weight=weights)
    probability = model.predict_proba(test[FEATURES])[:, 1]
    truth = test["label"]
    return (
        log_loss(truth, probability),
        roc_auc_score(truth, probability),
        float(((probability > 0.5) == truth).mean()),
    )


def ways(sanitizer, symbols, test):
    """Train in each way on the same reports."""
    mechanism, joint = sanitizer.mechanism_, sanitizer.joint_
    n, (a1, a2) = len(symbols), joint.probabilities.shape
    counts = np.bincount(symbols, minlength=mechanism.shape[0])
    public = joint.probabilities.ravel()

    given = mechanism.matrix * public
    given /= np.maximum(given.sum(axis=1, keepdims=True), 1e-300)
    found = {"posterior": (counts @ given).reshape(a1, a2).sum(axis=0) / n}
    # Reports that are values of U are written as such; others as the most probable cell.
    if mechanism.shape[0] == a2 and mechanism.symbols == joint.values:
        found["rows"] = counts / n
    else:
        cells = mechanism.likely_cells(joint.probabilities)
        if mechanism.symbols == mechanism.cells:
            cells = np.arange(a1 * a2)
        found["rows"] = np.bincount(cells % a2, counts, minlength=a2) / n

    given_s = joint.conditionals
    by_secret = Mechanism.from_matrix(mechanism.report_distribution(given_s), joint.secrets, ["U"])
    numbers = np.arange(len(counts))
    shares = FrequencyEstimator(by_secret, "em").fit(numbers, sample_weight=counts)
    found["shares of S"] = shares.frequencies_[:, 0] @ given_s
    every = pd.DataFrame(list(joint.values), columns=[*FEATURES, "label"])
    rows = {way: (every, share * n) for way, share in found.items()}
    estimator = FrequencyEstimator(sanitizer, encode="symbol").fit(numbers, sample_weight=counts)
    features, label, weights = estimator.to_training_data(FEATURES, "label")
    rows["known noise"] = features.assign(label=label), weights
    return {way: trained(*some, test) for way, some in rows.items()}


def compare(name, public, people, eps_values, draws, seconds, only):
    print(f"\n{name}: {len(public):,} public records. Log-loss / AUC / accuracy")
    for kind, (private, test) in people.items():
        print(f"  {kind}: {len(private):,} private records, {len(test):,} to test")
        for title, some in (("raw private records", private), ("public records alone", public)):
            figures = trained(some, np.ones(len(some)), test)
            print(f"    {title}: " + " / ".join(f"{figure:.3f}" for figure in figures))
    print(f"  {'':<16}" + "".join(f"{way:>22}" for way in WAYS))
    for eps in eps_values:
        for which, sanitizer in sanitizers(eps, seconds).items():
            if only and which not in only:
                continue
            start = time.perf_counter()
            sanitizer.set_params(encode="symbol").fit(public)
            for kind, (private, test) in people.items():
                seen = []
                for _ in range(draws):
                    reports = np.asarray(sanitizer.transform(private)).ravel()
                    seen.append(ways(sanitizer, reports, test))
                cells = []
                for way in WAYS:
                    values = np.array([run[way] for run in seen if way in run])
                    one = values.mean(axis=0) if len(values) == draws else None
                    text = "-" if one is None else " / ".join(f"{value:.3f}" for value in one)
                    cells.append(f"{text:>22}")
                print(f"  {eps:<3g} {which:<12}" + "".join(cells) + f"  {kind}", flush=True)
            took = time.perf_counter() - start
            print(f"  ({took:.0f} s)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two draws")
    parser.add_argument("--eps", type=float, nargs="*", default=[1.0])
    parser.add_argument("--seconds", type=float, default=20.0, help="limit of each design")
    parser.add_argument("--only", nargs="*", metavar="SANITIZER", help="names as in the tables")
    given = parser.parse_args()
    eps_values, draws = given.eps, 2 if given.quick else 5
    warnings.simplefilter("ignore", ConvergenceWarning)
    for known in ("the reports do not determine", "those who reported are not"):
        warnings.filterwarnings("ignore", known, UserWarning)
    for name, source in (("Synthetic", synthetic), ("Adult", adult)):
        found = source()
        if found is None:
            print("Adult left out: set SKRLDP_ADULT to the path of its file.")
            continue
        compare(name, *found, eps_values, draws, given.seconds, given.only)


if __name__ == "__main__":
    main()
