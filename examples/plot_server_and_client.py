"""
======================================================
What can a survey learn if no answer leaves the phone?
======================================================

Whether somebody has an affair is nobody's business. How religious they are and how they rate their
marriage is harmless, but correlated with it. A *server* has half of Fair's survey (Redbook, 1974;
6,366 women, bundled with statsmodels) as a public table. It designs a mechanism (the probabilities
of the reports) and publishes it as JSON. A hundred thousand *clients*, drawn here from the other
half, load it on their phones. Each sends one report, an integer. An *aggregator*, who sees only the
JSON and these integers, estimates the distribution of the answers, with intervals.

How much more precise is this than plain local differential privacy, which hides the harmless
answers as well?
"""

import matplotlib.pyplot as plt
import numpy as np
from statsmodels.datasets import fair

from skrldp import AOptimalSanitizer, FrequencyEstimator, GRRSanitizer, IRSanitizer, client

EPS, CLIENTS = 1.0, 100_000

answers = fair.load_pandas().data
survey = answers[[]].assign(
    affair=np.where(answers["affairs"] > 0, "yes", "no"),
    religious=answers["religious"].map({1: "not", 2: "mildly", 3: "fairly", 4: "strongly"}),
    marriage=answers["rate_marriage"].map(
        {1: "very poor", 2: "poor", 3: "fair", 4: "good", 5: "very good"}
    ),
)
survey = survey.sample(frac=1.0, random_state=0).reset_index(drop=True)
public, rest = survey[: len(survey) // 2], survey[len(survey) // 2 :]

# %%
# The server
# ----------
# The server designs three mechanisms from the public half. IR and A-optimal protect only the
# affair, for every distribution that is plausible given the public table. IR reports the harmless
# columns by a separate randomised response, and A-optimal is designed for the crosstab of all
# columns. GRR protects the whole record, for all distributions. The server publishes text.

sanitizers = {
    "IR": IRSanitizer(eps=EPS, sensitive="affair"),
    "A-optimal": AOptimalSanitizer(eps=EPS, sensitive="affair", targets="all", time_limit=15.0),
    "GRR": GRRSanitizer(eps=EPS, sensitive="affair"),
}
published = {}
for name, sanitizer in sanitizers.items():
    sanitizer.fit(public)
    published[name] = sanitizer.mechanism_.to_json()
    print(
        f"{name:<10} {sanitizer.mechanism_.shape[0]} reports, {len(published[name]):>6,} bytes, "
        f"proven eps <= {sanitizer.certificate_.eps:.4f}"
    )

# %%
# The clients
# -----------
# Each client loads the JSON and reports its record. On a phone this is ``device.report(record)``,
# which needs only NumPy. ``report_many`` stands for all phones at once. The reports are drawn from
# the operating system's randomness, so they differ if you run this page twice.

people = rest.sample(CLIENTS, replace=True, random_state=1)
record = people.iloc[0].to_dict()
reports = {}
print("A record:", record)
for name, text in published.items():
    device = client.load(text)
    reports[name] = device.report_many(people)
    print(f"{name:<10} might report {[device.report(record) for _ in range(8)]}")

# %%
# The aggregator
# --------------
# Reports determine only the columns that the mechanism reports. GRR reports all of them. IR here
# reports only the harmless columns, because it is best for IR to spend none of its ε on the affair.
# Its intervals for the affair are therefore the full range.

estimators = {name: FrequencyEstimator(published[name]).fit(reports[name]) for name in published}


def compare(columns):
    """Print the distribution of some columns with intervals; return the errors."""
    names = [columns] if isinstance(columns, str) else columns
    counts = people[names].value_counts()
    estimates = {name: estimator.marginal(columns) for name, estimator in estimators.items()}
    labels = estimates["GRR"].labels
    truth = np.array([counts.get(label, 0) / CLIENTS for label in labels])
    title = " x ".join(names)
    print(f"\n{title:<17}{'truth':>7}" + "".join(f"{name:>18}" for name in estimates))
    ends = {name: found.confidence_interval() for name, found in estimates.items()}
    for place, label in enumerate(labels):
        cells = [f"{low:>9.3f} to {high:.3f}" for low, high in (e[place] for e in ends.values())]
        print(f"{' x '.join(label):<17}{truth[place]:>7.3f}" + "".join(cells))
    return {name: np.sqrt(np.mean((e.estimate - truth) ** 2)) for name, e in estimates.items()}


questions = ["affair", "religious", "marriage", ["affair", "marriage"]]
off = {
    question if isinstance(question, str) else " x ".join(question): compare(question)
    for question in questions
}

# %%
# The picture shows these estimates for one harmless question and for one about the secret. Black
# lines are the truth among the clients, and bars are 95 % intervals.

STYLES = {"IR": ("#009E73", "^"), "A-optimal": ("#0072B2", "o"), "GRR": ("#E69F00", "D")}
figure, panels = plt.subplots(1, 2, figsize=(9.5, 4.6), layout="constrained")
for axes, columns in zip(panels, ("marriage", ["affair", "religious"]), strict=True):
    asked = [columns] if isinstance(columns, str) else columns
    shares = people[asked].value_counts() / CLIENTS
    estimates = {name: estimator.marginal(columns) for name, estimator in estimators.items()}
    for place, label in enumerate(estimates["GRR"].labels):
        line = axes.plot([shares.get(label, 0.0)] * 2, [place - 0.4, place + 0.4], color="black")
    line[0].set_label("truth")
    for place, (name, (color, marker)) in enumerate(STYLES.items()):
        ends = estimates[name].confidence_interval()
        heights = np.arange(len(ends)) + 0.2 * (place - 1)
        axes.hlines(heights, *ends.T, color=color)
        axes.plot(estimates[name].estimate, heights, marker, color=color, markersize=5, label=name)
    names = [", ".join(label) for label in estimates["GRR"].labels]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    for place in range(1, len(names)):
        axes.axhline(place - 0.5, color="0.85", linewidth=0.8)
    axes.set_xlabel("share of the clients")
    axes.set_title(" and ".join(asked))
handles, labels = panels[0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=4)

# %%
# What was gained
# ---------------
# Errors shrink in proportion to one over the square root of the number of clients, so a tenth of
# the error is worth a hundred times as many people. Mechanisms that protect only the secret gain
# this much: IR for the harmless columns, and A-optimal for the crosstab as well.

print(f"\n{'root mean square error':<26}" + "".join(f"{name:>18}" for name in estimators))
for question, errors in off.items():
    print(f"{question:<26}" + "".join(f"{error:>18.4f}" for error in errors.values()))

plt.show()
