"""
==============================================================
Does a model that is trained on reports learn their noise too?
==============================================================

A bank wants to know which customers leave. It may ask them, but the answers must not reveal who is
ill. There is no public table of customers who left and who stayed, so the promise must not depend
on one: :class:`~skrldp.SRRSanitizer` protects the illness for *all* distributions.

The label ("stays") belongs to a person like the features. Therefore, it is a column of the record,
and one report is drawn about illness, age, number of accounts and label together. A raw label
beside a report would not be covered by the promise. Everything that is computed from reports is
post-processing, and costs no privacy.

The people here are made up, so that the truth is known. Two models are trained on the same reports.
The first treats reports as records. The second corrects for the noise, whose probabilities are
known.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures

from skrldp import FrequencyEstimator, SRRSanitizer

EPS = 1.0
AGES, ACCOUNTS = range(4), range(1, 4)
FEATURES, LABEL = ["age", "accounts"], "stays"
rng = np.random.default_rng(0)


def chance(age, accounts, ill):
    """Return the probability that a customer stays."""
    score = -1.5 + 0.8 * age - 1.4 * (accounts == 1) + 1.3 * (accounts == 3) * (age < 2) - 0.8 * ill
    return 1.0 / (1.0 + np.exp(-score))


def customers(n):
    """Draw n raw records."""
    ill = rng.random(n) < 0.3
    age = rng.binomial(3, np.where(ill, 0.6, 0.4))
    accounts = 1 + rng.binomial(2, np.where(ill, 0.3, 0.6))
    stays = rng.random(n) < chance(age, accounts, ill)
    return pd.DataFrame({"ill": ill, "age": age, "accounts": accounts, "stays": stays})


# %%
# One mechanism for features and label
# ------------------------------------
# SRR needs the list of possible records, but not their frequencies.

possible = itertools.product([False, True], AGES, ACCOUNTS, [False, True])
possible = pd.DataFrame(list(possible), columns=["ill", *FEATURES, LABEL])
sanitizer = SRRSanitizer(EPS, sensitive="ill").fit(possible)
print(f"for all distributions: ε is at most {sanitizer.certificate_.eps_worst_case:.3f}")

# %%
# Two ways to learn
# -----------------
# *As rows.* A report has the form of a record, so any model can be trained on it as it is.
#
# *With known noise.* ``to_training_data`` returns all combinations of features and label, each
# weighted by its estimated frequency. Any model that accepts ``sample_weight`` can be trained on
# them. The weights sum to the effective number of records, which is small because of the noise.


def train(X, y, weights):
    """Train a logistic regression with a coefficient for each combination of the features."""
    levels = OneHotEncoder(categories=[AGES, ACCOUNTS], sparse_output=False)
    model = make_pipeline(
        levels, PolynomialFeatures(2, interaction_only=True), LogisticRegression()
    )
    return model.fit(X, y, logisticregression__sample_weight=weights)


def train_on(table):
    """Train on the distinct rows of a table, weighted by their counts."""
    rows = table.groupby([*FEATURES, LABEL], as_index=False).size()
    return train(rows[FEATURES], rows[LABEL], rows["size"])


def train_both(reports):
    """Train on the same reports in both ways."""
    estimator = FrequencyEstimator(sanitizer).fit(reports)
    X, y, weights = estimator.to_training_data(FEATURES, LABEL)
    return {
        "as rows": train_on(reports),
        "known noise": train(X, y, weights),
    }


records = customers(100_000)
reports = sanitizer.transform(records)  # all that the bank gets
models = {"raw records": train_on(records), **train_both(reports)}

# %%
# What each model has learned
# ---------------------------
# The models are tested on raw records of other people. The log-loss measures whether the predicted
# probabilities are correct.

others = customers(50_000)
for name, model in models.items():
    loss = log_loss(others[LABEL], model.predict_proba(others[FEATURES])[:, 1])
    print(f"{name:<12} log-loss {loss:.3f}")

# %%
# How many reports does it take?
# ------------------------------

SIZES = np.array([1_000, 3_000, 10_000, 30_000, 100_000])
DRAWS = 5
losses = {name: np.empty((len(SIZES), DRAWS)) for name in ("as rows", "known noise")}
for place, draw in itertools.product(range(len(SIZES)), range(DRAWS)):
    drawn = sanitizer.transform(customers(SIZES[place]))
    for name, model in train_both(drawn).items():
        probability = model.predict_proba(others[FEATURES])[:, 1]
        losses[name][place, draw] = log_loss(others[LABEL], probability)

# %%
# The left picture compares the predicted with the true probability, for each combination of age and
# accounts. A model of the reports as rows predicts about one half for everybody, because most
# reports are noise. More reports do not help, as the right picture shows, because this error does
# not average out.

STYLES = {
    "raw records": {"color": "black", "marker": "x"},
    "as rows": {"color": "#E69F00", "marker": "D"},
    "known noise": {"color": "#0072B2", "marker": "o"},
}
grid = pd.DataFrame(list(itertools.product(AGES, ACCOUNTS)), columns=FEATURES)
truth = others.groupby(FEATURES)[LABEL].mean().to_numpy()  # in the order of the grid
predicted = {name: model.predict_proba(grid)[:, 1] for name, model in models.items()}

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
left.plot([0, 1], [0, 1], color="0.6", linewidth=1.0)
for name, style in STYLES.items():
    left.plot(truth, predicted[name], **style, linestyle="", markersize=8, label=name)
left.set_xlabel("share that stays, of those like this")
left.set_ylabel("predicted probability")
left.set_title(f"trained on {len(reports):,} reports, ε = {EPS:g}")
left.legend()

raw = log_loss(others[LABEL], models["raw records"].predict_proba(others[FEATURES])[:, 1])
right.axhline(raw, color="black", label="raw records")
share = others[LABEL].mean()
right.axhline(
    log_loss(others[LABEL], np.full(len(others), share)),
    color="0.6",
    linestyle=":",
    label="no features",
)
for name, found in losses.items():
    right.plot(SIZES, found.mean(axis=1), **STYLES[name], label=name)
    right.fill_between(
        SIZES, found.min(axis=1), found.max(axis=1), color=STYLES[name]["color"], alpha=0.15
    )
right.set_xscale("log")
right.set_xlabel("reports")
right.set_title(f"log-loss (less is better): mean and range of {DRAWS} draws")
right.legend()

# %%
# With a few thousand reports, no method can learn anything at this ε. With ten thousand or more,
# the model with known noise approaches that of the raw records.
#
# The page on :doc:`classifiers </guide/models>` explains which sanitizer to choose, where the label
# belongs, and what to do if a public table has labels.

plt.show()
