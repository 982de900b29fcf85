"""
========================================================
What if the private people are not like the public ones?
========================================================

A mechanism is designed from a public table and used on people who differ from it. If the design
treats the table as exactly true, its reports may then reveal more about the secret than it claims.
If the design is robust, it keeps its promise for every distribution in the confidence set F, which
contains those that the table might plausibly have been drawn from.

That set allows for *sampling* error. The distribution of a different population, for example an
older one, may be far outside the set, and nothing is promised there. A *drift* enlarges the set to
allow for such differences.

This page uses Fair's survey (6,366 married women, Redbook, 1974). The secret is an affair. How long
a woman has been married and how she rates her marriage are the other columns. Half of the women are
the public table. The private records come from all of them, and then from groups, such as the women
under 25, which differ from the table.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from statsmodels.datasets import fair

from skrldp import (
    AllDistributions,
    LikelihoodRatioSet,
    NonRobustSanitizer,
    PolyOptSanitizer,
    PrivacyLeakWarning,
    SRRSanitizer,
    certify,
)

EPS = 1.0
answers = fair.load_pandas().data.sample(frac=1.0, random_state=0).reset_index(drop=True)
survey = pd.DataFrame(
    {
        "affair": np.where(answers["affairs"] > 0, "yes", "no"),
        "married": pd.cut(
            answers["yrs_married"], [0, 3, 10, 30], labels=["0-3 years", "3-10", "over 10"]
        ).astype(str),
        "marriage": np.select(
            [answers["rate_marriage"] <= 3, answers["rate_marriage"] == 4],
            ["fair or poor", "good"],
            "very good",
        ),
    }
)
public = survey[: len(survey) // 2]
print(f"{len(public):,} public records of {len(survey):,}")

# %%
# Four designs
# ------------
# *Non-robust* treats the table as exactly true. *PolyOpt* is private for the 95 % confidence set,
# the default. *PolyOpt, drift* is private for a wider set: the distribution of the other columns
# given each secret (a *conditional*) may be further from the public one than sampling explains, by
# 0.2 nats of Kullback-Leibler divergence. *SRR* (secret randomised response) is private for all
# distributions.

wide = LikelihoodRatioSet(drift=0.2)
sanitizers = {
    "non-robust": NonRobustSanitizer(time_limit=6.0),
    "PolyOpt": PolyOptSanitizer(time_limit=6.0),
    "PolyOpt, drift": PolyOptSanitizer(time_limit=6.0, uncertainty=wide),
    "SRR": SRRSanitizer(),
}
# Ignore warnings that some designs are not private elsewhere, because this page measures that.
warnings.simplefilter("ignore", PrivacyLeakWarning)
designs = {}
for name, sanitizer in sanitizers.items():
    sanitizer.set_params(eps=EPS, sensitive="affair").fit(public)
    everywhere = certify(sanitizer.mechanism_, AllDistributions(), sanitizer.joint_)
    designs[name] = {
        "share of H(X)": sanitizer.normalized_mutual_information_,
        "proven eps": sanitizer.certificate_.eps,
        "eps for all distributions": everywhere.eps,
    }
print(pd.DataFrame(designs).T.round(3).to_string())

# %%
# Other people
# ------------
# How far is a group from the public table? Privacy depends only on conditionals, so D is the
# divergence of the public conditional from that of the group, for the secret with the larger
# divergence. The frequency of affairs does not matter. Half a record is added to each cell of a
# group, because an empty cell would make D infinite. ``mechanism_.leakage`` computes what a
# mechanism leaks at one distribution, and ``contains`` tests whether a set contains it.

GROUPS = {
    "all women": answers["age"] > 0,
    "college graduates": answers["educ"] == 16,
    "at most high school": answers["educ"] <= 12,
    "not religious": answers["religious"] == 1,
    "strongly religious": answers["religious"] == 4,
    "no children": answers["children"] == 0,
    "three children or more": answers["children"] >= 3,
    "under 25": answers["age"] < 25,
    "over 35": answers["age"] > 35,
}
joint = sanitizers["PolyOpt"].joint_
cells = {
    cell: code for code, cell in enumerate((s, *u) for s in joint.secrets for u in joint.values)
}


def distribution_of(table):
    """Return the distribution of a table, with half a record added to each cell."""
    codes = table.apply(tuple, axis=1).map(cells)
    counts = np.bincount(codes, minlength=len(cells)) + 0.5
    return (counts / counts.sum()).reshape(joint.probabilities.shape)


found, distributions = [], {}
for group, members in GROUPS.items():
    distribution = distributions[group] = distribution_of(survey[members.to_numpy()])
    given = distribution / distribution.sum(axis=1, keepdims=True)
    divergence = (joint.conditionals * np.log(joint.conditionals / given)).sum(axis=1).max()
    leaks = {name: each.mechanism_.leakage(distribution) for name, each in sanitizers.items()}
    found.append({"group": group, "women": members.sum(), "D": divergence, **leaks})
found = pd.DataFrame(found).sort_values("D").set_index("group")
print(found.round(3).to_string())

# %%
# The worst distributions, and real ones
# --------------------------------------
# Lines show what a mechanism leaks at the worst of all distributions whose conditionals are at most
# D from the public ones, proven by ``certify``. Points show what it leaks at the distributions of
# the groups.

STYLES = {
    "non-robust": ("#D55E00", "X"),
    "PolyOpt": ("#0072B2", "o"),
    "PolyOpt, drift": ("#009E73", "^"),
    "SRR": ("#E69F00", "s"),
}
moves = np.geomspace(0.002, 6.0, 25)
figure, axes = plt.subplots(figsize=(8.5, 5.2), layout="constrained")
for name, (color, marker) in STYLES.items():
    mechanism = sanitizers[name].mechanism_
    around = [LikelihoodRatioSet(radius=0.0, drift=move) for move in moves]
    axes.plot(moves, [certify(mechanism, each, joint).eps for each in around], color=color)
    axes.plot(found["D"], found[name], marker, color=color, markeredgecolor="black", label=name)
axes.axhline(EPS, color="black", linestyle=":")
axes.text(0.0022, 1.04, "ε asked", va="bottom")
axes.axvline(wide.drift, color=STYLES["PolyOpt, drift"][0], linestyle="--", linewidth=1.0)
axes.text(wide.drift, 0.33, " drift", color=STYLES["PolyOpt, drift"][0], fontsize=9)
axes.set(xscale="log", yscale="log", xlim=(moves[0], moves[-1]), ylim=(0.3, 12.0))
axes.set_yticks([0.5, 1, 2, 5, 10], ["0.5", "1", "2", "5", "10"])
axes.minorticks_off()
axes.set_xlabel("D: how far the conditionals are from those of the public table, nats")
axes.set_ylabel("leakage, nats")
axes.set_title("Points: groups of women. Lines: the worst distribution so far away")
axes.legend(loc="upper left")

# %%
# In words
# --------

for name, sanitizer in sanitizers.items():
    around = sanitizer.certificate_.uncertainty
    inside = np.array([around.contains(joint, each) for each in found.index.map(distributions)])
    above = found[name] > EPS
    print(
        f"{name:<18} {inside.sum()} of {len(found)} populations in its set, "
        f"{(above & inside).sum()} of these above ε; of the {(~inside).sum()} outside "
        f"{(above & ~inside).sum()} are"
    )

# %%
# Within its set, no robust design exceeds ε, because that is proved. The non-robust design exceeds
# it for every population here, even for the one from which its table was drawn.
#
# Outside the set, nothing is promised, as the picture shows. Slightly outside, the robust designs
# still leak less than the non-robust one, but far away they may leak as much. The confidence set
# allows for sampling error, so it does not cover women under 25 if the table has women of every
# age. What can you do?
#
# - Design from a public table that resembles the private people, group by group if necessary.
# - Allow for a drift, ``LikelihoodRatioSet(drift=...)``, if you can bound the difference. It costs
#   utility, and only you can justify the bound.
# - Use SRR, which is private for all distributions, if you cannot bound it.
#
# Whether the private people resemble the public table cannot be tested in advance, because their
# records are private. Afterwards, ``FrequencyEstimator`` estimates their distribution from the
# reports, but by then the reports have been sent.

plt.show()
