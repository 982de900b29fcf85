"""
=========================================
What if people were asked place by place?
=========================================

Many public tables are surveys: places were sampled, and then people in these places, with unequal
probabilities. People in the same place are alike, so ten thousand records from 62 places contain
far less information than ten thousand records from the whole country. A confidence set that treats
them as independent is too small, and there is no sign of it.

Here, a mechanism is designed twice from one table: once as if its records were independent, and
once with the survey's design. How much does the first mechanism leak within the set of the second?

The data are the second National Health and Nutrition Examination Survey of the United States
(10,335 people in 31 strata of two places each, with weights), if the package samplics is installed.
Otherwise, a similar sample is drawn. S is whether somebody has diabetes. U is the region, and
whether blood pressure is high.
"""

from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skrldp import LikelihoodRatioSet, PolyOptSanitizer, SurveyDesign, certify

NAMES = {"stratid": "stratum", "psuid": "place", "finalwgt": "weight", "highbp": "pressure"}


def drawn():
    """Draw a sample of 31 strata of two places, whose people are alike, with weights."""
    rng = np.random.default_rng(0)
    own = rng.gamma(1.5, size=(62, 4)) * np.array([0.54, 0.4, 0.026, 0.034]) + 1e-3
    cells = rng.multinomial(167, own / own.sum(axis=1, keepdims=True))
    place, cell = np.repeat(np.indices(cells.shape).reshape(2, -1), cells.ravel(), axis=1)
    return pd.DataFrame(
        {
            "stratum": place // 2,
            "place": place % 2 + 1,
            "weight": rng.lognormal(9.2, 0.6, size=len(cell)).round(),
            "region": place * 4 // 62 + 1,
            "diabetes": cell // 2,
            "pressure": cell % 2,
        }
    )


package = find_spec("samplics")
if package is None:
    sample = drawn()
else:
    folder = Path(package.submodule_search_locations[0])
    sample = pd.read_csv(folder / "datasets" / "data" / "nhanes2.csv").rename(columns=NAMES)
    sample = sample.dropna(subset=["diabetes"])
design = SurveyDesign(weights="weight", strata="stratum", clusters="place", nest=True)
record = ["diabetes", "region", "pressure"]
sample = sample[[*record, *design.columns]].astype({"diabetes": int})
print(sample.head())

# %%
# Two sets around one table
# -------------------------
# Codes of places are only unique within each stratum, which ``nest=True`` specifies. The columns of
# the survey design are not part of the record, so respondents do not need them. The region is the
# same for all people in a place, so the table contains little information about regions: the 62
# places are worth only 62 records.

values = {"diabetes": [0, 1], "region": [1, 2, 3, 4], "pressure": [0, 1]}
many = LikelihoodRatioSet(radius="asymptotic")


def fit(eps, survey):
    columns = record if survey is None else list(sample.columns)
    sanitizer = PolyOptSanitizer(
        eps, sensitive="diabetes", categories=values, uncertainty=many, survey=survey
    )
    return sanitizer.fit(sample[columns])


stated = fit(1.0, design)
for secret, records in stated.survey_.effective:
    n = int((sample["diabetes"] == secret).sum())
    print(f"diabetes={secret}: {n:,} records, as much as {records:,.0f} independent ones")

# %%
# The cost of ignoring the survey design
# --------------------------------------
# Each mechanism is certified over the set that allows for the survey design, around the weighted
# distribution. The first one keeps its promise only over a set that is far too small.

ROWS = (0.5, 1.0, 1.5, 2.0)
leaks, kept = {}, {}
for name, survey in {"taken for independent": None, "as the survey was drawn": design}.items():
    made = [fit(eps, survey) for eps in ROWS]
    proofs = [certify(one.mechanism_, stated.uncertainty_, stated.joint_) for one in made]
    leaks[name] = [proof.eps for proof in proofs]
    truth = stated.joint_.probabilities
    entropy = stated.joint_.entropy
    kept[name] = [one.mechanism_.mutual_information(truth) / entropy for one in made]
    for eps, leak, share in zip(ROWS, leaks[name], kept[name], strict=True):
        print(f"{name:<24} eps={eps}: leaks at most {leak:.2f}, keeps {share:.0%} of the record")

# %%
# The grey line is the promised ε. The first mechanism keeps more information about the record, but
# only because it leaks.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot(ROWS, ROWS, color="grey", linewidth=1)
for (name, own), marker in zip(leaks.items(), "so", strict=True):
    left.plot(ROWS, own, marker=marker, label=name)
    right.plot(ROWS, kept[name], marker=marker, label=name)
left.set(xlabel="ε asked for", ylabel="leakage over the survey's set", ylim=(0, None))
right.set(xlabel="ε asked for", ylabel="share of the record kept", ylim=(0, 1))
left.legend(frameon=False)
plt.show()
