"""
===============================================
Can I estimate a crosstab that nobody has seen?
===============================================

Each report is noisy. What you want to know is a table: how many of those who pay nothing for a
doctor see one often, and how that depends on health. ``FrequencyEstimator`` knows the probabilities
of the noise and estimates the distribution of the records from the reports, with standard errors.
It also says which questions the reports cannot answer, however many there are.

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
# GRR (randomised response) protects the whole record. IR and PolyOpt protect health alone, for all
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
# equal than those of the records. The estimate removes this effect of the noise by least squares.
# It is unbiased. It may be negative, which says that there are too few reports for this cell.
# ``projected()`` is the closest distribution.

columns = ["pays", "visits"]
truth = private.groupby(columns).size() / len(private)
cells = np.array(sanitizers["GRR"].mechanism_.cells, dtype=object)
counted = pd.Series([cells[report][1] for report in reports["GRR"]["report"]]).value_counts()
linear = FrequencyEstimator(sanitizers["GRR"], method="least-squares").fit(reports["GRR"])
crosstab = linear.marginal(columns)
frame = crosstab.to_frame()
frame.insert(0, "truth", truth)
frame.insert(1, "counted", counted / len(private))
frame["projected"] = crosstab.projected()
print(frame.drop(columns="identifiable").round(3).to_string())

# %%
# What can be answered
# --------------------
# A mechanism may leave a question open. ``identifiable`` says for each cell of a crosstab whether
# reports determine it. If they do not, least squares gives NaN.

questions = {"pays x visits": columns, "health x visits": ["health", "visits"]}
print(f"{'':<10}{'reports':>8}" + "".join(f"{question:>18}" for question in questions))
for name, sanitizer in sanitizers.items():
    estimator = FrequencyEstimator(sanitizer, method="least-squares").fit(reports[name])
    known = [estimator.marginal(question).identifiable for question in questions.values()]
    told = [f"{sum(cells)} of {len(cells)} cells" for cells in known]
    print(f"{name:<10}{sanitizer.mechanism_.shape[0]:>8}" + "".join(f"{each:>18}" for each in told))

# %%
# For this table, the best way for IR to divide its ε leaves nothing for health. So its reports
# answer questions about the harmless columns, and answer them well, but none about health.
#
# Maximum likelihood always gives a distribution, here with the public records as a ``prior``: each
# of them counts as a report without noise. That is correct if both come from one population. The
# estimate from the public table alone is shown for comparison: reports are useful if they improve
# on it.


def of_public(question):
    """Estimate from the public table alone, with standard errors."""
    shares = public.groupby(question).size() / len(public)
    return shares.to_numpy(), np.sqrt(shares * (1 - shares) / len(public)).to_numpy()


def of_reports(name, question, method="least-squares", prior=None):
    """Estimate from reports."""
    estimator = FrequencyEstimator(sanitizers[name], method=method, prior=prior)
    estimate = estimator.fit(reports[name]).marginal(question)
    return estimate.frequencies, estimate.std_error


prior = sanitizers["GRR"].joint_
estimates = {
    question: {
        "public records alone": of_public(question_columns),
        "GRR": of_reports("GRR", question_columns),
        "IR": of_reports("IR", question_columns),
        "PolyOpt": of_reports("PolyOpt", question_columns),
        "IR + public": of_reports("IR", question_columns, method="ml", prior=prior),
        "PolyOpt + public": of_reports("PolyOpt", question_columns, method="ml", prior=prior),
    }
    for question, question_columns in questions.items()
}
STYLES = {
    "public records alone": ("0.4", "|"),
    "GRR": ("#E69F00", "D"),
    "IR": ("#009E73", "v"),
    "IR + public": ("#009E73", "^"),
    "PolyOpt": ("#CC79A7", "s"),
    "PolyOpt + public": ("#0072B2", "o"),
}
figure, panels = plt.subplots(1, 2, figsize=(10.5, 6.5), layout="constrained")
for axes, (question, by_name) in zip(panels, estimates.items(), strict=True):
    counts = private.groupby(questions[question]).size() / len(private)
    for place, (name, (color, marker)) in enumerate(STYLES.items()):
        frequency, error = by_name[name]
        axes.errorbar(
            frequency,
            np.arange(len(counts)) + 0.13 * (place - 2.5),
            xerr=1.96 * error,
            color=color,
            marker=marker,
            linestyle="",
            markersize=5,
            elinewidth=1.2,
            label=name,
        )
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
figure.legend(handles, labels, loc="outside lower center", ncols=4)

# %%
# In words
# --------

print(f"{'root mean square error':<24}" + "".join(f"{question:>18}" for question in estimates))
shares = [private.groupby(question).size() / len(private) for question in questions.values()]
for name in STYLES:
    off = [
        np.sqrt(np.mean((by_name[name][0] - share) ** 2))
        for by_name, share in zip(estimates.values(), shares, strict=True)
    ]
    print(f"{name:<24}" + "".join(f"{each:>18.4f}" for each in off))
print(f"{len(private):,} reports, {len(public):,} public records")

# %%
# For a crosstab of harmless columns, ask with IR. It protects the secret by leaving it out, and
# reports the rest nearly as it is. Its intervals need no public table, and are narrow. PolyOpt's
# reports say more about each *record*, health included, but they mix all columns, so by themselves
# they determine single cells weakly. With the public table they do well for both questions. GRR's
# intervals are wider than those of the public table, so its reports are not worth the effort.
#
# Nobody learns much about the secret from reports that protect it. In the right picture, whatever
# is better than the public table alone owes it to the table and to the harmless column.

plt.show()
