"""
=======================================================================
How good is a classifier that is trained on reports instead of records?
=======================================================================

A model should learn from people who will not hand over their records. Each of them sends one
sanitized report, and the model is trained only on reports. Processing a report afterwards costs no
privacy, however often it is used.

First decide what must be protected. A sensitive *label* belongs to the secret S. Otherwise, it is
reported along with U, the rest of the record. Here, the label is harmless: in Fair's survey (6,366
married women, Redbook, 1974) the model predicts whether a woman has children from her age and the
years she has been married. The secret is whether she had an affair. All of these columns are
correlated with it. The record (S, U) has all four columns, so the certificate covers the label,
too.

For comparison, one model is trained on the raw private records, which is the best possible, and one
only on the public records, which needs no reports. All are tested on raw records that no model has
seen.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from statsmodels.datasets import fair

from skrldp import FrequencyEstimator, GRRSanitizer, IRSanitizer, PolyOptSanitizer, SRRSanitizer

EPS = 1.0
answers = fair.load_pandas().data
survey = pd.DataFrame(
    {
        "affair": np.where(answers["affairs"] > 0, "yes", "no"),
        "age": pd.cut(answers["age"], [0, 20, 25, 30, 60], labels=False),
        "married": pd.cut(answers["yrs_married"], [0, 1, 3, 8, 30], labels=False),
        "children": np.where(answers["children"] > 0, "yes", "no"),
    }
)
survey = survey.sample(frac=1.0, random_state=0).reset_index(drop=True)
public, private, test = survey[:1500], survey[1500:-1500], survey[-1500:]
FEATURES, LABEL = ["age", "married"], "children"
print(f"{len(public):,} public records, {len(private):,} private ones, {len(test):,} for the test")

# %%
# Four sanitizers
# ---------------
# All are designed on the public records. PolyOpt and IR protect the affair for every distribution
# of the confidence set, SRR protects it for all distributions, and GRR protects the whole record. A
# private record may have a combination of values that is not in the public table, so
# ``categories="product"`` allows all combinations.

sanitizers = {
    "PolyOpt": PolyOptSanitizer(time_limit=8.0),
    "IR": IRSanitizer(),
    "SRR": SRRSanitizer(),
    "GRR": GRRSanitizer(),
}
for sanitizer in sanitizers.values():
    sanitizer.set_params(eps=EPS, sensitive="affair", categories="product").fit(public)
reports = {
    name: sanitizer.set_params(encode="symbol").transform(private)
    for name, sanitizer in sanitizers.items()
}

# %%
# From here on, only the raw model uses the private records.
#
# Two ways to learn from reports
# ------------------------------
# *As rows.* Replace each report by its most probable cell of the table (a combination of values),
# and train as if this row were a record. This is simple, but biased, because noise is treated as
# data.
#
# *By their distribution.* ``FrequencyEstimator`` uses the known probabilities of the noise to
# estimate the distribution of the records. The model is trained on the cells of the table, weighted
# by their estimated probabilities.


def score(table, weights=None):
    """Train on a table; return the log-loss and the AUC on raw records."""
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    model.fit(table[FEATURES], table[LABEL], logisticregression__sample_weight=weights)
    probability = model.predict_proba(test[FEATURES])[:, 1]
    truth = test[LABEL] == "yes"
    return log_loss(truth, probability), roc_auc_score(truth, probability)


def rows(name):
    """Write each report as its most probable row, as ``encode="cells"`` does."""
    mechanism, distribution = sanitizers[name].mechanism_, sanitizers[name].joint_.probabilities
    cells = mechanism.likely_cells(distribution)[reports[name]["report"]]
    return pd.DataFrame([mechanism.cells[cell][1] for cell in cells], columns=[*FEATURES, LABEL])


def weighted(name):
    """Estimate the distribution of features and label; return its cells and their weights."""
    estimator = FrequencyEstimator(sanitizers[name], method="em").fit(reports[name])
    table = estimator.marginal([*FEATURES, LABEL]).to_frame()
    return table, table["estimate"] * len(private)


WAYS = ["as rows", "by their distribution"]
scores = {}
for name in sanitizers:
    scores[name, WAYS[0]] = score(rows(name))
    scores[name, WAYS[1]] = score(*weighted(name))
raw, alone = score(private), score(public)

print(f"{'':<10}{'':<38}{'log-loss':>9}{'AUC':>7}")
for (name, way), (loss, area) in scores.items():
    print(f"{name:<10}{way:<38}{loss:>9.3f}{area:>7.3f}")
print(f"{'raw private records':<48}{raw[0]:>9.3f}{raw[1]:>7.3f}")
print(f"{'public records alone':<48}{alone[0]:>9.3f}{alone[1]:>7.3f}")

# %%
# What is lost
# ------------
# The log-loss measures whether the predicted probabilities are correct, and the AUC only whether
# their order is.

STYLES = {
    "PolyOpt": {"color": "#0072B2", "marker": "o"},
    "IR": {"color": "#009E73", "marker": "^"},
    "SRR": {"color": "#56B4E9", "marker": "s"},
    "GRR": {"color": "#E69F00", "marker": "D"},
}
figure, panels = plt.subplots(1, 2, figsize=(9.5, 3.9), sharey=True, layout="constrained")
for which, (axes, title) in enumerate(
    zip(panels, ("log-loss (less is better)", "AUC (more is better)"), strict=True)
):
    for place, (name, style) in enumerate(STYLES.items()):
        axes.plot(
            [scores[name, way][which] for way in WAYS],
            np.arange(len(WAYS)) + 0.15 * (place - 1.5),
            **style,
            linestyle="",
            markersize=8,
            markeredgecolor="black",
            label=name,
        )
    axes.axvline(raw[which], color="black", label="raw records")
    axes.axvline(alone[which], color="#D55E00", linestyle="--", label="public records alone")
    axes.axhline(0.5, color="0.85", linewidth=0.8)
    axes.set_xlabel(title)
panels[0].set_xscale("log")
panels[0].set_xticks([0.4, 0.5, 0.6, 0.8, 1.0, 1.5], ["0.4", "0.5", "0.6", "0.8", "1", "1.5"])
panels[0].minorticks_off()
panels[0].set_yticks(range(len(WAYS)), WAYS)
panels[0].set_ylim(1.5, -0.5)
figure.suptitle("Models trained on reports, tested on raw records")
handles, labels = panels[0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=6)

# %%
# PolyOpt's reports work best as rows, because they hide the secret and little else. Rows of the
# others are mostly noise. Noise that is treated as data makes the model's probabilities wrong,
# while the order of its predictions suffers less. An estimate of the distribution corrects for the
# noise. Its quality depends on the information in the reports. With IR the model is close to that
# of the raw records, and with SRR in most runs. With GRR and so few people it is unreliable, and
# PolyOpt's reports do not determine the distribution.
#
# But look at the dashed line first. Here, the public records alone suffice for such a simple model.
# **Train on them first.** Reports are worth collecting if the public table is too small for the
# model, or if the private people differ from the public table. In the second case,
# ``plot_distribution_shift.py`` shows what remains of the promise.
#
# A model that reads reports
# --------------------------
# Conversely, a model can be trained on public records. Private people then report what it needs for
# a prediction, here without the label. ``encode="posterior"`` turns a report into numbers: the
# probability of each category given the report. The model must be trained on *reports* of the
# public records, because reports are what it will see. A pipeline does that. It would also fit the
# sanitizer again, which ``FrozenEstimator`` prevents.

KNOWN = ["affair", *FEATURES]
sender = PolyOptSanitizer(EPS, sensitive="affair", categories="product", time_limit=4.0)
sender.set_params(encode="posterior").fit(public[KNOWN])
reader = make_pipeline(FrozenEstimator(sender), LogisticRegression())
reader.fit(public[KNOWN], public[LABEL])
read = roc_auc_score(test[LABEL] == "yes", reader.predict_proba(test[KNOWN])[:, 1])
print(f"AUC for people who send one report each: {read:.3f}; for raw records: {alone[1]:.3f}")

# %%
# A report contains so much noise that predictions about one person suffer. That is the purpose of
# the noise. If the model can run on the phone, no report is needed.

plt.show()
