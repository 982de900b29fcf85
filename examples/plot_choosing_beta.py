"""
=========================================
How sure should I be of the public table?
=========================================

The confidence set around the public table misses the distribution that the table was drawn from
with probability β at most. A smaller β makes a larger set and a safer promise, and leaves fewer
mechanisms to choose from. How much utility does it cost? And what does it cost that β holds for any
number of records, not only for very many?

To answer this one has to know the true distribution. So a large survey *is* the truth here. Small
public tables are drawn from it again and again, a mechanism is designed from each, and its reports
are measured at the truth. The survey is the RAND Health Insurance Experiment (20,190 person-years,
bundled with statsmodels). S is whether health was called fair or poor. U is the number of visits to
a doctor, where 5 stands for five and more. Reports should be close to U.
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
# No design is needed for this. Given each secret, U has a distribution of its own, a *conditional*,
# and the set says how large the likelihood-ratio statistics of the true conditionals may be: each
# of them, and the sum of two (``single`` and ``pair``, for each record). So draw tables of n
# records, and count how often the true conditionals exceed that. Seeds are fixed on this page so
# that it can be repeated; nothing here protects anybody.

SIZES = (200, 1_000, 5_000, 20_000)
BETAS = (0.5, 0.2, 0.05, 0.01, 0.001)
DRAWS = 40_000
RULES = ("finite-sample", "asymptotic")
rng = np.random.default_rng(0)
of_secret = truth.reshape(2, 6).sum(axis=1)
conditionals = truth.reshape(2, 6) / of_secret[:, None]
missed = {}
for n in SIZES:
    numbers = np.rint(n * of_secret).astype(int)  # records of each secret
    drawn = [rng.multinomial(*each, DRAWS) for each in zip(numbers, conditionals, strict=True)]
    statistics = np.zeros((DRAWS, 2))
    for s, counts in enumerate(drawn):
        expected = numbers[s] * conditionals[s]
        statistics[:, s] = (counts * np.log(np.maximum(counts, 1) / expected)).sum(axis=1)
    example = JointDistribution(np.stack([counts[0] for counts in drawn]))
    for beta in BETAS:
        for rule in RULES:
            around = LikelihoodRatioSet(beta, radius=rule).fit_set(example)
            outside = statistics.max(axis=1) > around.single * example.n
            outside |= statistics.sum(axis=1) > around.pair * example.n
            missed[n, beta, rule] = outside.mean()

print("Share of tables whose set misses the truth, finite-sample / asymptotic:")
print(f"{'beta':>8}" + "".join(f"{f'n = {n:,}':>18}" for n in SIZES))
for beta in BETAS:
    shares = [" / ".join(f"{missed[n, beta, rule]:.4f}" for rule in RULES) for n in SIZES]
    print(f"{beta:>8}" + "".join(f"{share:>18}" for share in shares))

# %%
# The default set is ``"finite-sample"``: it is valid for every n and every truth, and here it
# misses less often than it may. The asymptotic set is right for very many records of each cell. It
# misses about as often as β says, with 200 records somewhat more often, and far more often for
# tables with rare cells: the guide's page on confidence sets has them.
#
# What does it cost?
# ------------------
# From each of some tables a mechanism is designed for each β, and one without any set (radius 0).
# At the truth each has a mean squared distance between number and report, and a leakage. The tables
# that are drawn are the same for all β.

TABLES = 6
SETS = {"no set": LikelihoodRatioSet(radius=0.0)}
SETS |= {f"{beta:g}": LikelihoodRatioSet(beta) for beta in BETAS}
SETS |= {"0.05\nasymptotic": LikelihoodRatioSet(0.05, radius="asymptotic")}
visits = cells["visits"].to_numpy(float)
constant = min(truth @ (visits - y) ** 2 for y in range(6))


def at_the_truth(counts, uncertainty):
    """Design from counts; return the mean squared distance and the leakage at the truth."""
    sanitizer = RobustMSESanitizer(
        EPS,
        sensitive="health",
        uncertainty=uncertainty,
        categories=[sorted(set(cells["health"])), range(6)],
        tol=1e-3,
    )
    with warnings.catch_warnings():
        # That few records for a cell or no set at all are risky is what this page is about.
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
    f"{'n':>7}  {'beta':<17}{'distance':>9}{'median leakage':>16}{'greatest':>10}{'above eps':>11}"
)
for (n, name), values in measured.items():
    far, leaks = np.transpose(values)
    print(
        f"{n:>7,}  {' '.join(name.split()):<17}{far.mean():>9.3f}{np.median(leaks):>16.3f}"
        f"{leaks.max():>10.3f}{(leaks > EPS).sum():>8} of {TABLES}"
    )

# %%
# In the middle picture the mean squared distance is shown as a share of that of the best report
# that is the same for everybody, which says nothing.

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11.0, 4.2), layout="constrained")
for n, color, marker in ((200, "#D55E00", "o"), (5_000, "#0072B2", "s")):
    style = {"color": color, "marker": marker}
    shares = [missed[n, beta, "finite-sample"] or np.nan for beta in BETAS]  # 0 has no logarithm
    left.plot(BETAS, shares, **style, label=f"n = {n:,}")
    style |= {"markerfacecolor": "white", "linestyle": "--"}
    shares = [missed[n, beta, "asymptotic"] or np.nan for beta in BETAS]
    left.plot(BETAS, shares, **style, label=f"n = {n:,}, asymptotic")
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
# A smaller β is cheap compared with more public records: the bounds of the statistics grow like
# log(1/β), and those of divergences are these by the number of records. From β = 0.05 to 0.001 they
# less than double here, and ten times the records make them a tenth. So take β as small as your
# promise needs, and spend your effort on the public table.
#
# Even where the set misses the truth, a design need not exceed ε. For that the truth must be
# outside the set *in the direction in which the design is sensitive*. So β is a cautious figure.
# That is no reason to raise it, because this direction cannot be known.
#
# That β holds for every number of records costs little: at β = 0.05 the asymptotic set is worth
# about as much as the finite-sample one at 0.2. For a proof, take the default.

plt.show()
