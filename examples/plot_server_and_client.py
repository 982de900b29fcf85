"""
=============================================================
What can a survey tell when nobody's answer leaves the phone?
=============================================================

Whether somebody has an affair is nobody's business. How religious they are and how they rate their
marriage is harmless, but says something about it. A *server* has half of Fair's survey (Redbook,
1974; 6,366 women, bundled with statsmodels) as a public table. It designs a mechanism (the
probabilities of the reports) and publishes it as JSON. A hundred thousand *clients*, drawn here
from the other half, load it on their phones. Each sends one report: a whole number. An
*aggregator*, who has the JSON and these numbers and nothing else, estimates the distribution of the
answers, with intervals.

How much is gained over plain local differential privacy, which hides the harmless answers as well?
"""

import matplotlib.pyplot as plt
import numpy as np
from statsmodels.datasets import fair

from skrldp import FrequencyEstimator, GRRSanitizer, IRSanitizer, PolyOptSanitizer, client

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
# The server designs three mechanisms from the public half. IR and PolyOpt protect the affair alone,
# for every distribution that is plausible given the public table. IR reports the harmless columns
# by a randomised response of their own; PolyOpt says as much as possible about the record. GRR
# protects the whole record, for all distributions. What the server publishes is text.

sanitizers = {
    "IR": IRSanitizer(eps=EPS, sensitive="affair"),
    "PolyOpt": PolyOptSanitizer(eps=EPS, sensitive="affair", time_limit=15.0),
    "GRR": GRRSanitizer(eps=EPS, sensitive="affair"),
}
published = {}
for name, sanitizer in sanitizers.items():
    sanitizer.fit(public)
    published[name] = sanitizer.mechanism_.to_json()
    print(
        f"{name:<8} {sanitizer.mechanism_.shape[0]} reports, {len(published[name]):>6,} bytes, "
        f"proven eps <= {sanitizer.certificate_.eps:.4f}"
    )

# %%
# The clients
# -----------
# Each client loads the JSON and reports its record. On a phone this is ``device.report(record)``,
# with NumPy alone; ``report_many`` stands for all phones at once. Randomness is the operating
# system's: if you run this page twice, the reports differ.

people = rest.sample(CLIENTS, replace=True, random_state=1)
record = people.iloc[0].to_dict()
reports = {}
print("A record:", record)
for name, text in published.items():
    device = client.load(text)
    reports[name] = device.report_many(people)
    print(f"{name:<8} might report {[device.report(record) for _ in range(8)]}")

# %%
# The aggregator
# --------------
# Reports alone determine only what the mechanism reports on. GRR reports on everything. IR here
# reports on the harmless columns only, because the best way to divide its ε leaves nothing for the
# affair. Least squares gives NaN for what the reports do not determine. PolyOpt's reports determine
# nearly everything in principle, but some combinations so weakly that the public table is needed as
# well. As ``prior`` it counts as additional records from the same distribution.

prior = sanitizers["PolyOpt"].joint_
estimators = {
    "IR": FrequencyEstimator(published["IR"], method="least-squares").fit(reports["IR"]),
    "PolyOpt + public": FrequencyEstimator(published["PolyOpt"], method="ml", prior=prior).fit(
        reports["PolyOpt"]
    ),
    "GRR": FrequencyEstimator(published["GRR"], method="least-squares").fit(reports["GRR"]),
    "GRR + public": FrequencyEstimator(published["GRR"], method="ml", prior=prior).fit(
        reports["GRR"]
    ),
}


def compare(columns):
    """Print the distribution of some columns and its estimates; return how far these are off."""
    counts = people.groupby(columns).size()
    estimates = {name: estimator.marginal(columns) for name, estimator in estimators.items()}
    categories = estimates["GRR"].categories
    truth = np.array([counts.get(category, 0) / CLIENTS for category in categories])
    title = columns if isinstance(columns, str) else " x ".join(columns)
    print(f"\n{title:<17}{'truth':>7}" + "".join(f"{name:>18}" for name in estimates))
    for place, category in enumerate(categories):
        label = category if isinstance(category, str) else " x ".join(category)
        cells = [
            f"{e.frequencies[place]:>10.3f} ± {1.96 * e.std_error[place]:.3f}"
            if np.isfinite(e.std_error[place])
            else f"{'not told':>18}"
            for e in estimates.values()
        ]
        print(f"{label:<17}{truth[place]:>7.3f}" + "".join(cells))
    return {name: np.sqrt(np.mean((e.frequencies - truth) ** 2)) for name, e in estimates.items()}


questions = ["affair", "religious", "marriage", ["affair", "marriage"]]
off = {
    question if isinstance(question, str) else " x ".join(question): compare(question)
    for question in questions
}

# %%
# The picture has the same for one harmless question and for one about the secret. Black lines are
# the truth among the clients; bars are 95 % intervals.

STYLES = {
    "IR": ("#009E73", "^"),
    "PolyOpt + public": ("#0072B2", "o"),
    "GRR": ("#E69F00", "D"),
    "GRR + public": ("#D55E00", "s"),
}
figure, panels = plt.subplots(1, 2, figsize=(9.5, 4.6), layout="constrained")
for axes, columns in zip(panels, ("marriage", ["affair", "religious"]), strict=True):
    shares = people.groupby(columns).size() / CLIENTS
    estimates = {name: estimator.marginal(columns) for name, estimator in estimators.items()}
    for place, category in enumerate(estimates["GRR"].categories):
        line = axes.plot([shares.get(category, 0.0)] * 2, [place - 0.4, place + 0.4], color="black")
    line[0].set_label("truth")
    for place, (name, (color, marker)) in enumerate(STYLES.items()):
        lower, upper = estimates[name].confidence_interval().T
        axes.errorbar(
            estimates[name].frequencies,
            np.arange(len(lower)) + 0.18 * (place - 1.5),
            xerr=(upper - lower) / 2,
            color=color,
            marker=marker,
            linestyle="",
            markersize=5,
            label=name,
        )
    names = [c if isinstance(c, str) else ", ".join(c) for c in estimates["GRR"].categories]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    for place in range(1, len(names)):
        axes.axhline(place - 0.5, color="0.85", linewidth=0.8)
    axes.set_xlabel("share of the clients")
    axes.set_title(columns if isinstance(columns, str) else " and ".join(columns))
handles, labels = panels[0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=5)

# %%
# What was gained
# ---------------
# Errors shrink as one over the square root of the number of clients: a tenth of the error is worth
# a hundred times as many people. For the harmless columns, a mechanism that protects the secret
# alone gives a gain of this kind. About the secret itself it cannot say much more than GRR does.

print(f"\n{'root mean square error':<26}" + "".join(f"{name:>18}" for name in estimators))
for question, errors in off.items():
    print(f"{question:<26}" + "".join(f"{error:>18.4f}" for error in errors.values()))

plt.show()
