"""
================================================
How do I ask for a number that reveals a secret?
================================================

How often somebody sees a doctor is on every bill, but it is correlated with their health. You want
reports that are numbers, each as close as possible to the person's own number. But no report may
change the odds of bad health by more than a factor of e^ε.

:class:`~skrldp.RobustMSESanitizer` designs the mechanism with the smallest expected distance
between the number and its report. You decide what *close* means: squared distance, absolute
distance, whether the numbers are equal, or any other distance.

The data are the RAND Health Insurance Experiment (20,190 person-years, bundled with statsmodels).
Each row stands for a person here. S is whether health was called fair or poor, U is the number of
visits to a doctor in a year, where 8 stands for eight and more.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from statsmodels.datasets import randhie

from skrldp import FrequencyEstimator, GRRSanitizer, PolyOptSanitizer, RobustMSESanitizer

EPS = 0.5
answers = randhie.load_pandas().data
survey = pd.DataFrame(
    {
        "health": np.where(answers["hlthf"] + answers["hlthp"] > 0, "fair or poor", "good"),
        "visits": answers["mdvis"].clip(upper=8).astype(int),
    }
)
survey = survey.sample(frac=1.0, random_state=0).reset_index(drop=True)
public, private = survey[:4000], survey[4000:]
print(public.groupby("health")["visits"].agg(["size", "mean"]).round(2))

# %%
# People who are ill see a doctor more often, so a report must not contain the number unchanged.
#
# Three distances
# ---------------
# Here are three distances at the same ε. For comparison, GRR (randomised response) hides
# everything, and PolyOpt reports as much information as possible about the record, but ignores the
# distance between numbers.

sanitizers = {
    "squared distance": RobustMSESanitizer(distance="squared"),
    "absolute distance": RobustMSESanitizer(distance="absolute"),
    "the same number": RobustMSESanitizer(distance="hamming"),
    "PolyOpt": PolyOptSanitizer(time_limit=8.0, encode="cells"),
    "GRR": GRRSanitizer(),
}
reports, figures = {}, []
for name, sanitizer in sanitizers.items():
    sanitizer.set_params(eps=EPS, sensitive="health").fit(public)
    reports[name] = sanitizer.transform(private)
    off = (reports[name]["visits"] - private["visits"]).abs()
    figures.append(((off**2).mean() ** 0.5, off.mean(), (off == 0).mean()))
names = ["root mean square", "mean distance", "the same"]
print(pd.DataFrame(figures, index=list(sanitizers), columns=names).round(3).to_string())

# %%
# Among these designs, each is the best by its own measure. The pictures show, for the two groups,
# how often each number was reported for each true number of visits.

figure, panels = plt.subplots(
    2, 3, figsize=(9.5, 6.2), sharex=True, sharey=True, layout="constrained"
)
numbers = sanitizers["squared distance"].joint_.values
for column, (name, title) in enumerate(
    {
        "squared distance": "RobustMSE, squared distance",
        "PolyOpt": "PolyOpt",
        "GRR": "GRR",
    }.items()
):
    sanitizer = sanitizers[name]
    said = reports[name]["visits"].to_numpy()
    for row, secret in enumerate(sanitizer.joint_.secrets):
        group = (private["health"] == secret).to_numpy()
        shares = pd.crosstab(said[group], private["visits"].to_numpy()[group], normalize="columns")
        shares = shares.reindex(index=numbers, columns=numbers, fill_value=0.0)
        axes = panels[row, column]
        image = axes.imshow(shares, origin="lower", cmap="cividis", vmin=0, vmax=1)
        axes.set_xticks(numbers[::2])
        axes.set_yticks(numbers[::2])
        if row == 0:
            axes.set_title(title, fontsize=11)
        if column == 0:
            axes.set_ylabel(f"health {secret}\nvisits reported")
        if row == 1:
            axes.set_xlabel("visits")
figure.colorbar(image, ax=panels, label="share of the reports", shrink=0.8)

# %%
# Most people are in good health, and their numbers are usually reported unchanged. The numbers of
# the others are changed so that both groups send the same reports about equally often. RobustMSE
# changes them as little as possible, and PolyOpt so that the least information is lost. GRR almost
# always reports a false number.
#
# The mean
# --------
# The mean of the reports may be close to the mean of the records, but it is biased, and the reports
# do not show by how much. The estimator corrects this if the reports determine the mean.
# RobustMSE's reports do not determine it, because there are fewer possible reports than cells in
# the table. (PolyOpt's do not either, if several symbols are written as the same cell.) Then the
# interval allows for the largest bias that any population could cause.

truth = private["visits"].mean()
half = 1.96 * public["visits"].sem()
intervals = {"public records alone": public["visits"].mean() + np.array([-half, half])}
naive = [np.nan]
for name, sanitizer in sanitizers.items():
    found = FrequencyEstimator(sanitizer).fit(reports[name]).mean("visits")
    intervals[name] = found.confidence_interval()[0]
    naive.append(reports[name]["visits"].mean())
    print(found.to_frame().drop(columns="n").round(3).to_string(index=False))

figure, axes = plt.subplots(figsize=(8.0, 3.8), layout="constrained")
places = np.arange(len(intervals))
axes.axvline(truth, color="black", linewidth=1.0, label="mean of the private records")
axes.hlines(
    places,
    *np.array(list(intervals.values())).T,
    color="#0072B2",
    linewidth=3.0,
    label="95 % interval",
)
axes.plot(naive, places, "X", color="#D55E00", markersize=8, label="mean of the reports")
axes.set_yticks(places, intervals)
axes.set_ylim(len(intervals) - 0.4, -0.6)
axes.set_xlabel("mean number of visits to a doctor")
figure.legend(loc="outside lower center", ncols=3, fontsize=9)

# %%
# In words
# --------

lengths = {name: ends[1] - ends[0] for name, ends in intervals.items()}
print("Lengths of the intervals, public records alone = 1:")
for name, length in lengths.items():
    print(f"{name:<22}{length / lengths['public records alone']:>6.1f}")

# %%
# If reports will be used as numbers, use RobustMSE with a distance that suits the purpose. Squared
# distance avoids large errors, absolute distance leaves more numbers unchanged, and Hamming
# distance only compares whether they are equal. To estimate a mean, design for it:
# ``AOptimalSanitizer(targets=Mean("visits"))``.
#
# The leakage is bounded for one report about each person. Before you ask again next year, read
# ``plot_asking_twice.py``.

plt.show()
