"""
===============================================
Can I estimate a crosstab that nobody has seen?
===============================================

Each report is noisy, but you can estimate tables from many of them: for example, how many of the
people who pay nothing for a doctor see one often, and how this depends on health.
``FrequencyEstimator`` estimates shares of the records and their intervals, using the known
probabilities of the noise. It also shows which questions the reports cannot answer, however many
there are.

The data are the RAND Health Insurance Experiment (20,190 person-years, bundled with statsmodels),
which asked what people do if they pay for their doctor. Each row stands for a person here. The
secret S is whether health was called fair or poor. U is the share of the costs that was paid, and
how often a doctor was seen. A tenth of the rows is public; the others are private.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from statsmodels.datasets import randhie

from skrldp import FrequencyEstimator, GRRSanitizer, IRSanitizer, PolyOptSanitizer

EPS = 1.0
answers = randhie.load_pandas().data
paid = np.exp(answers["lncoins"]) - 1.0  # per cent of the costs
survey = pd.DataFrame(
    {
        "health": np.where(answers["hlthf"] + answers["hlthp"] > 0, "fair or poor", "good"),
        "pays": np.select([paid < 1, paid < 60], ["nothing", "25-50 %"], "95 %"),
        "visits": np.select([answers["mdvis"] == 0, answers["mdvis"] <= 3], ["0", "1-3"], "4+"),
    }
)
survey = survey.sample(frac=1.0, random_state=0).reset_index(drop=True)
public, private = survey[:2000], survey[2000:]

# %%
# Three mechanisms
# ----------------
# GRR (randomised response) protects the whole record. IR and PolyOpt protect only health, for all
# distributions that are plausible given the public records.

sanitizers = {
    "GRR": GRRSanitizer(encode="symbol"),
    "IR": IRSanitizer(encode="symbol"),
    "PolyOpt": PolyOptSanitizer(time_limit=10.0),
}
reports = {}
for name, sanitizer in sanitizers.items():
    sanitizer.set_params(eps=EPS, sensitive="health").fit(public)
    reports[name] = sanitizer.transform(private)

# %%
# Counting reports is not enough
# ------------------------------
# GRR's reports, written as cells (combinations of values), have shares that are much closer to
# equal than those of the records. The estimate removes this effect of the noise. ``unbiased`` is a
# mean of weights of the reports. A negative value means that there are too few reports for this
# cell. ``estimate`` is the closest distribution.

columns = ["pays", "visits"]
truth = private.groupby(columns).size() / len(private)
cells = np.array(sanitizers["GRR"].mechanism_.cells, dtype=object)
counted = pd.Series([cells[report][1] for report in reports["GRR"]["report"]]).value_counts()
estimators = {
    name: FrequencyEstimator(sanitizer).fit(reports[name]) for name, sanitizer in sanitizers.items()
}
frame = estimators["GRR"].marginal(columns).to_frame().set_index(columns)
frame.insert(0, "truth", truth)
frame.insert(1, "counted", counted / len(private))
print(frame.drop(columns="n").round(3).to_string())

# %%
# What can be answered
# --------------------
# Some questions cannot be answered from a mechanism's reports. If the reports do not determine a
# share, ``unbiased`` is NaN, and the interval contains every share that they allow.

questions = {"pays x visits": columns, "health x visits": ["health", "visits"]}
estimates = {
    question: {name: estimator.marginal(asked) for name, estimator in estimators.items()}
    for question, asked in questions.items()
}
determined = {"reports": {name: fit.mechanism_.shape[0] for name, fit in sanitizers.items()}}
for question, by_name in estimates.items():
    known = {name: np.isfinite(shares.unbiased) for name, shares in by_name.items()}
    determined[question] = {name: f"{sum(k)} of {len(k)} cells" for name, k in known.items()}
print(pd.DataFrame(determined).to_string())

# %%
# For this table, it is best for IR to spend none of its ε on health. Its reports therefore answer
# questions about the harmless columns well, but none about health.
#
# The estimate from the public table alone is shown for comparison: reports are useful if they
# improve on it.


def of_public(question):
    """Estimate from the public table alone, with 95 % intervals."""
    shares = (public.groupby(question).size() / len(public)).to_numpy()
    half = 1.96 * np.sqrt(shares * (1 - shares) / len(public))
    return shares, np.stack([shares - half, shares + half], axis=1)


STYLES = {
    "public records alone": ("0.4", "|"),
    "GRR": ("#E69F00", "D"),
    "IR": ("#009E73", "^"),
    "PolyOpt": ("#0072B2", "o"),
}
points = {
    question: {"public records alone": of_public(questions[question])}
    | {name: (found.estimate, found.confidence_interval()) for name, found in by_name.items()}
    for question, by_name in estimates.items()
}
figure, panels = plt.subplots(1, 2, figsize=(10.5, 6.5), layout="constrained")
for axes, (question, by_name) in zip(panels, points.items(), strict=True):
    counts = private.groupby(questions[question]).size() / len(private)
    for place, (name, (color, marker)) in enumerate(STYLES.items()):
        shares, ends = by_name[name]
        heights = np.arange(len(counts)) + 0.2 * (place - 1.5)
        axes.hlines(heights, *ends.T, color=color, linewidth=1.2)
        axes.plot(shares, heights, marker, color=color, markersize=5, label=name)
    for place, true in enumerate(counts):
        line = axes.plot([true, true], [place - 0.42, place + 0.42], color="black", linewidth=1.5)
    line[0].set_label("truth")
    for place in range(1, len(counts)):
        axes.axhline(place - 0.5, color="0.85", linewidth=0.8)
    axes.axvline(0.0, color="0.6", linewidth=0.8)
    axes.set_yticks(range(len(counts)), [", ".join(category) for category in counts.index])
    axes.set_ylim(len(counts) - 0.5, -0.5)
    axes.set_xlabel("share of the records, 95 % intervals")
    axes.set_title(question)
handles, labels = panels[0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=5)

# %%
# In words
# --------

errors = {}
for question, by_name in points.items():
    truth = private.groupby(questions[question]).size() / len(private)
    squares = {name: np.mean((by_name[name][0] - truth) ** 2) for name in STYLES}
    errors[question] = np.sqrt(pd.Series(squares))
print("Root mean square errors:")
print(pd.DataFrame(errors).round(4).to_string())
print(f"{len(private):,} reports, {len(public):,} public records")

# %%
# For a crosstab of harmless columns, use IR. It protects the secret by leaving it out, and reports
# the rest almost unchanged, so its intervals are narrow without the public table. PolyOpt's reports
# contain more information about each *record*, including health, but they mix all columns, so on
# their own they determine single cells imprecisely. Combined with the public table, they are
# precise for both questions. GRR's intervals are wider than those of the public table, so its
# reports are not worth the effort.
#
# Reports that protect the secret say little about it. If an estimate in the right picture is better
# than that of the public table alone, the improvement comes from the table and the harmless
# columns.

plt.show()
