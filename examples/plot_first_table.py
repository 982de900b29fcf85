"""
====================================================
How do I share a table without giving a secret away?
====================================================

You have a table with one sensitive column, the *secret*. Deleting that column is not enough,
because the other columns are correlated with it: women who have been married long and unhappily
have had an affair more often than others. Adding noise to every column is too much, because it
destroys the harmless ones as well.

A *sanitizer* is a compromise. It is fitted on a *public* table, from which it learns how strongly
the harmless columns are correlated with the secret. Then it turns each *private* record into a
*report*. A report changes the odds of the secret by a factor of at most e^ε. This holds for every
distribution of the data that is plausible given the public table: the *confidence set*.

The data are Fair's survey of 6,366 married women (Redbook, 1974; bundled with statsmodels). Half of
it serves as the public table here; the other half is private.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from statsmodels.datasets import fair

from skrldp import GRRSanitizer, PolyOptSanitizer, SRRSanitizer, privacy_report

answers = fair.load_pandas().data
survey = pd.DataFrame(
    {
        "affair": np.where(answers["affairs"] > 0, "yes", "no"),
        "married": pd.cut(
            answers["yrs_married"], [0, 3, 10, 30], labels=["0-3 years", "3-10", "over 10"]
        ),
        "marriage": pd.Categorical(
            np.select(
                [answers["rate_marriage"] <= 3, answers["rate_marriage"] == 4],
                ["fair or poor", "good"],
                "very good",
            ),
            categories=["fair or poor", "good", "very good"],
            ordered=True,
        ),
    }
)
survey = survey.sample(frac=1.0, random_state=0).reset_index(drop=True)
public, private = survey[: len(survey) // 2], survey[len(survey) // 2 :]
print(pd.crosstab(public["affair"], public["marriage"], normalize="columns").round(2))

# %%
# Even one harmless column changes the odds of an affair, and all of them together change them more.
#
# Fit, transform
# --------------
# ``sensitive`` specifies the secret. With ``eps=1``, a report may change the odds of the secret by
# a factor of at most e. ``categories="dtype"`` reads the possible values from the dtypes of the
# columns. By passing it, you assert that these values were fixed before you saw the public table;
# all of their combinations may then occur. ``encode="cells"`` returns reports that look like
# records, in a data frame with the same columns.
#
# Randomness comes from the operating system, so your reports will differ from those on this page.
# (With an integer ``random_state`` they would be repeatable, but useless as protection, because
# whoever knows the integer can remove the noise.)

known = {"sensitive": "affair", "categories": "dtype"}
sanitizer = PolyOptSanitizer(eps=1.0, **known, time_limit=20.0, encode="cells")
sanitizer.fit(public)
reports = sanitizer.transform(private)
print(private.join(reports.add_suffix(" (report)")).head(8).to_string(index=False))

# %%
# Each person sends one report. A second report may reveal far more: see ``plot_asking_twice.py``.
#
# What is promised
# ----------------
# ``certificate_.eps`` is a proved upper bound on what any report reveals about the secret, for
# every distribution in the confidence set and for the exact integers that the sampler uses. The
# privacy report states it together with all its conditions.

print(privacy_report(sanitizer))

# %%
# What is left of the table
# -------------------------
# For comparison, here are two other sanitizers, which do not use the public distribution. GRR
# (generalised randomised response) is plain local differential privacy: it protects every column as
# if it were the secret. SRR (secret randomised response) protects only the secret, but for all
# distributions, even those in which the harmless columns determine it.

others = {"GRR": GRRSanitizer(**known), "SRR": SRRSanitizer(**known)}
kept = {
    name: (private == other.fit(public).transform(private)).mean() for name, other in others.items()
}
kept["PolyOpt"] = (private == reports).mean()
guess = private.apply(lambda column: (column == public[column.name].mode()[0]).mean())
kept = pd.DataFrame(kept)
print(kept.assign(guess=guess).to_string(float_format="{:.0%}".format))

# %%
# The next question is what a report reveals about the secret. Compare the share of affairs among
# the public records that would send this report with the share among all records. Somebody who
# knows only a person's report cannot guess better than these shares allow.

distribution, secrets = sanitizer.joint_.probabilities, sanitizer.joint_.secrets
by_report = sanitizer.mechanism_.report_distribution(distribution)
probability = by_report[:, secrets.index("yes")] / by_report.sum(axis=1)
before = distribution.sum(axis=1)[secrets.index("yes")]
by_value = distribution[secrets.index("yes")] / distribution.sum(axis=0)
limits = [1 / (1 + (1 - before) / before * np.exp(-step)) for step in (-1.0, 1.0)]

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
COLORS = {"GRR": "#E69F00", "SRR": "#56B4E9", "PolyOpt": "#0072B2"}
for place, (name, color) in enumerate(COLORS.items()):
    positions = np.arange(len(kept)) + 0.26 * (place - 1)
    left.bar(
        positions, kept[name], width=0.24, color=color, label=name, edgecolor="black", linewidth=0.5
    )
for place, share in enumerate(guess):
    line = left.plot([place - 0.42, place + 0.42], [share, share], color="black", linestyle="--")
line[0].set_label("always the most frequent answer")
left.set_xticks(range(len(kept)), kept.index)
left.set_ylim(0, 1.19)
left.set_yticks(np.linspace(0, 1, 6))
left.set_ylabel("reports that agree with the record")
left.set_title("What is left of each column")
left.legend(loc="upper center", ncols=2, fontsize=9)

rng = np.random.default_rng(0)  # draws points side by side
for row, (values, color, marker) in enumerate(
    [(by_value, "#D55E00", "s"), (probability, "#0072B2", "o")]
):
    spread = row + rng.uniform(-0.18, 0.18, len(values))
    right.plot(
        values, spread, marker, color=color, alpha=0.8, markersize=7, markeredgecolor="black"
    )
right.axvline(before, color="black", label="before any report")
right.axvspan(*limits, color="0.9", label="odds within a factor e^ε")
right.set_yticks([0, 1], ["the harmless\ncolumns as\nthey are", "a report"])
right.set_ylim(-0.6, 1.95)
right.set_xlim(0, 1)
right.set_xlabel("probability of an affair")
right.set_title("What each possible answer tells")
right.legend(loc="upper right", fontsize=9)

# %%
# In words
# --------


def factor(values):
    """Return the largest factor by which the odds change, up or down."""
    ratio = values / (1 - values) / (before / (1 - before))
    return np.maximum(ratio, 1 / ratio).max()


print(
    f"The harmless columns alone move the odds of an affair by a factor of up to "
    f"{factor(by_value):.1f};\nreports, which know the affair as well, by up to "
    f"{factor(probability):.2f} at the public distribution, and by no more than\n"
    f"{np.exp(sanitizer.certificate_.eps):.2f} at any distribution of the confidence set."
)

# %%
# PolyOpt's reports keep most of the harmless columns and reveal little about the secret. Plain
# local differential privacy loses nearly everything at the same ε.
#
# A table of reports is not a table of records, however. Its rows are biased towards frequent
# values, so counting them gives wrong shares. ``plot_crosstab.py`` shows how to estimate from them,
# and ``plot_classifier.py`` how to train a model.

plt.show()
