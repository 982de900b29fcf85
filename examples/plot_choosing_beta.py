"""
=========================================
How sure should I be of the public table?
=========================================

The confidence set around the public table misses the distribution that the table was drawn from
with probability at most β. A smaller β means a larger set and a safer promise, but fewer private
mechanisms. How much utility does it cost? And how accurate is β with few records?

To answer these questions, we must know the true distribution. Therefore, we treat a large survey as
the truth. We repeatedly draw small public tables from it, design a mechanism from each, and
evaluate its reports at the truth. The survey is the RAND Health Insurance Experiment (20,190
person-years, bundled with statsmodels). S is whether health was called fair or poor. U is the
number of visits to a doctor, where 5 stands for five and more. Reports should be close to U.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from statsmodels.datasets import randhie

from skrldp import (
    JointDistribution,
    LikelihoodRatioSet,
    PrivacyLeakWarning,
    RenyiBall,
    RobustMSESanitizer,
)

EPS = 0.3
answers = randhie.load_pandas().data
survey = pd.DataFrame(
    {
        "health": np.where(answers["hlthf"] + answers["hlthp"] > 0, "fair or poor", "good"),
        "visits": answers["mdvis"].clip(upper=5).astype(int),
    }
)
table = survey.groupby(["health", "visits"]).size()
cells = table.index.to_frame(index=False)
truth = (table / len(survey)).to_numpy()
print(table.unstack())

# %%
# How often is the truth in the set?
# ----------------------------------
# No design is needed to answer this: draw tables of n records, and count the sets that miss the
# truth. The default set restricts the distribution of visits given health, so each table has the
# expected number of records with good and poor health. The statistic for each is the number of its
# records times the divergence of the true distribution from the table's. The set contains the truth
# if each statistic is below one bound, and their sum below another. The ball of the papers
# restricts the joint distribution. Seeds are fixed on this page so that its results are
# reproducible, because nobody has to be protected here.

SIZES = (200, 1_000, 5_000, 20_000)
BETAS = (0.5, 0.2, 0.05, 0.01, 0.001)
DRAWS = 40_000
conditionals = truth.reshape(2, 6) / truth.reshape(2, 6).sum(axis=1, keepdims=True)
rng = np.random.default_rng(0)
missed = {}
for n in SIZES:
    records = np.rint(n * truth.reshape(2, 6).sum(axis=1)).astype(int)
    statistics = []
    for number, conditional in zip(records, conditionals, strict=True):
        drawn = rng.multinomial(number, conditional, DRAWS)
        ratio = np.where(drawn > 0, drawn / (number * conditional), 1.0)
        statistics.append((drawn * np.log(ratio)).sum(axis=1))
    largest, both = np.max(statistics, axis=0), np.sum(statistics, axis=0)
    expected = JointDistribution(np.rint(records[:, None] * conditionals))
    for rule in ("finite-sample", "asymptotic"):
        for beta in BETAS:
            around = LikelihoodRatioSet(beta, radius=rule).fit_set(expected)
            single, pair = around.single * expected.n, around.pair * expected.n
            missed[n, beta, rule] = ((largest > single) | (both > pair)).mean()
    drawn = rng.multinomial(n, truth, DRAWS) / n
    divergence = np.log((drawn**2 / truth).sum(axis=1))  # Rényi's, of order 2
    for beta in BETAS:
        missed[n, beta, "ball"] = (divergence > RenyiBall(beta=beta).radius_for(n, 12)).mean()

print("Share of tables whose set misses the truth, default / asymptotic / ball of order 2:")
print(f"{'beta':>8}" + "".join(f"{f'n = {n:,}':>26}" for n in SIZES))
for beta in BETAS:
    shares = [
        " / ".join(
            f"{missed[n, beta, kind]:.4f}" for kind in ("finite-sample", "asymptotic", "ball")
        )
        for n in SIZES
    ]
    print(f"{beta:>8}" + "".join(f"{share:>26}" for share in shares))

# %%
# The default set is valid for every n, and misses less often than β. The asymptotic set is accurate
# for very many records, and misses about as often as β. So does the ball of order 2, but with 200
# records and β = 0.001 it misses twice as often, because some cells then have fewer than five
# records.
#
# What does it cost?
# ------------------
# From several tables, a mechanism is designed for each β, and one without a set (radius 0). Each is
# evaluated at the truth, by the mean squared distance between number and report, and by its
# leakage. All β use the same tables.

TABLES = 6
SETS = {"no set": RenyiBall(radius=0.0)}
SETS |= {f"{beta:g}": LikelihoodRatioSet(beta) for beta in BETAS}
SETS |= {"0.05\nasymptotic": LikelihoodRatioSet(radius="asymptotic"), "0.05\nball": RenyiBall()}
visits = cells["visits"].to_numpy(float)
constant = min(truth @ (visits - y) ** 2 for y in range(6))


def at_the_truth(counts, uncertainty):
    """Design from counts; return the mean squared distance and the leakage at the truth."""
    sanitizer = RobustMSESanitizer(
        EPS,
        sensitive="health",
        uncertainty=uncertainty,
        categories=[sorted(set(cells["health"])), range(6)],
    )
    with warnings.catch_warnings():
        # This page shows how risky few records per cell, or no set at all, are.
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        sanitizer.fit(cells, sample_weight=counts)
    mechanism = sanitizer.mechanism_
    squares = np.subtract.outer(np.array(mechanism.symbols, float), visits) ** 2
    return (mechanism.matrix * squares).sum(axis=0) @ truth, mechanism.leakage(truth.reshape(2, 6))


measured = {}
for n in SIZES:
    for counts in rng.multinomial(n, truth, TABLES):
        for name, uncertainty in SETS.items():
            measured.setdefault((n, name), []).append(at_the_truth(counts, uncertainty))

print(
    f"{'n':>7}  {'beta':<16}{'distance':>9}{'median leakage':>16}{'greatest':>10}{'above eps':>11}"
)
for (n, name), values in measured.items():
    far, leaks = np.transpose(values)
    print(
        f"{n:>7,}  {' '.join(name.split()):<16}{far.mean():>9.3f}{np.median(leaks):>16.3f}"
        f"{leaks.max():>10.3f}{(leaks > EPS).sum():>8} of {TABLES}"
    )

# %%
# The middle picture shows the mean squared distance relative to that of the best constant report,
# which reveals nothing.

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11.0, 4.2), layout="constrained")
for n, color, marker in ((200, "#D55E00", "o"), (5_000, "#0072B2", "s")):
    for rule, line, fill in (("asymptotic", "-", color), ("finite-sample", "--", "white")):
        shares = [missed[n, beta, rule] or np.nan for beta in BETAS]  # 0 has no logarithm
        left.plot(
            BETAS,
            shares,
            color=color,
            marker=marker,
            markerfacecolor=fill,
            linestyle=line,
            label=f"n = {n:,}, {rule}",
        )
left.plot(BETAS, BETAS, color="black", linewidth=1.0, linestyle=":", label="as it says")
left.set(xscale="log", yscale="log", ylim=(1e-5, 3.0), xlabel="β", title="Is β true?")
left.set_ylabel(f"share of {DRAWS:,} tables\nwhose set misses the truth")
left.legend(fontsize=8, loc="upper left")

STYLES = {
    "no set": ("#D55E00", "X", ":"),
    "0.5": ("#E69F00", "o", "-"),
    "0.05": ("#009E73", "^", "-"),
    "0.001": ("#0072B2", "s", "-"),
    "0.05\nasymptotic": ("#CC79A7", "D", "--"),
}
for place, (name, (color, marker, line)) in enumerate(STYLES.items()):
    label = name if name == "no set" else f"β = {' '.join(name.split())}"
    values = np.array([measured[n, name] for n in SIZES])  # sizes, tables, distance and leakage
    style = {"color": color, "marker": marker, "linestyle": line}
    middle.plot(SIZES, values[:, :, 0].mean(axis=1) / constant, **style, label=label)
    apart = np.array(SIZES) * 1.13 ** (place - 2)
    spread = np.quantile(values[:, :, 1], [0.0, 0.5, 1.0], axis=1)
    bars = np.abs(spread[[0, 2]] - spread[1])
    right.errorbar(apart, spread[1], yerr=bars, **{**style, "linestyle": ""}, capsize=2)
middle.set(xscale="log", yscale="log", xlabel="n, public records", title="What does it cost?")
middle.set_ylabel("squared distance, share of\nthat of the same report for all")
middle.set_ylim(1e-3, 8.0)
middle.legend(fontsize=8, loc="upper right")
right.axhline(EPS, color="black", linestyle=":")
right.text(SIZES[-1] * 1.5, EPS * 0.98, "ε asked", ha="right", va="top")
right.set(
    xscale="log", xlabel="n, public records", title="What leaks at the truth?", ylim=(0, None)
)
right.set_ylabel("nats: median, least and greatest")

# %%
# In words
# --------

for n in SIZES:
    cost = {name: np.mean(measured[n, name], axis=0)[0] / constant for name in SETS}
    above = {name: sum(leak > EPS for _, leak in measured[n, name]) for name in SETS}
    print(
        f"n = {n:>6,}: distance {cost['0.5']:.1%} at β = 0.5, {cost['0.05']:.1%} at 0.05, "
        f"{cost['0.001']:.1%} at 0.001; above ε: {above['no set']} of {TABLES} without a set, "
        f"{sum(above.values()) - above['no set']} of {TABLES * (len(SETS) - 1)} with one"
    )

# %%
# A smaller β is cheap compared with more public records, because the bounds on the statistics grow
# in proportion to log(1/β), and the bounds on divergences are these divided by the number of
# records. From β = 0.05 to 0.001 they less than double here, whereas ten times the records make
# them a tenth. So choose β as small as your promise requires, and spend your effort on a larger
# public table.
#
# Even if the set misses the truth, a design need not exceed ε. It does so only if the truth is
# outside the set *in a direction in which the design is sensitive*. Therefore, β is conservative.
# However, this is not a reason to raise it, because this direction cannot be known.
#
# Asymptotic sets miss more often than β if cells are rare, and skrldp warns about it. The default
# set does not.

plt.show()
