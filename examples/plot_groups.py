"""
=========================================
Do reports tell something about everyone?
=========================================

A city asks people what it should spend more on. The secret is the language that a person speaks at
home. Reports keep nearly all that there is to know about the answers, says the figure for the whole
table. But nine in ten people speak the same language, and such a figure is about them: of the
answers of a small group the reports may tell next to nothing, and nobody notices.

This page shows how to see it, why it happens, and what helps. Its table is invented, so that we
know the truth: each group wants something else.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skrldp import GroupUtilityDisplay, IRSanitizer, PolyOptSanitizer, SRRSanitizer, privacy_report

LANGUAGES = ["English", "Polish", "Urdu"]
WISHES = ["buses", "housing", "parks", "schools"]
SPEAKERS = np.array([0.90, 0.08, 0.02])
WANTED = np.array([[0.25, 0.30, 0.20, 0.25], [0.30, 0.40, 0.10, 0.20], [0.25, 0.20, 0.10, 0.45]])
CELLS = [[language, wish] for language in LANGUAGES for wish in WISHES]


def fit(sanitizer, people):
    """Fit to a public table with so many people of each language."""
    counts = np.round(np.asarray(people)[:, None] * WANTED).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a few seconds are enough here
        return sanitizer.set_params(eps=0.5).fit(CELLS, sample_weight=counts.ravel())


public = 3_000 * SPEAKERS
sanitizers = {
    "PolyOpt": fit(PolyOptSanitizer(time_limit=6.0), public),
    "IR": fit(IRSanitizer(), public),
    "SRR": fit(SRRSanitizer(), public),
}
for name, sanitizer in sanitizers.items():
    print(f"{name:<8}{sanitizer.normalized_mutual_information_:>7.1%} of H(X)")

# %%
# One figure hides it
# -------------------
# PolyOpt is far ahead, and for those who speak English it says all there is to say. Take somebody
# who knows a person's language and gets the report. How much does the report tell about the wish?
# That is I(U;Y|S=s), the mutual information among the people with one secret. Divided by the
# entropy H(U|S=s) of their wishes it is between 0 (nothing) and 1 (everything).
# Every sanitizer has it: ``information_by_secret_`` and ``normalized_information_by_secret_``.

figure, axes = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
GroupUtilityDisplay.from_estimator(sanitizers, ax=axes)
axes.set_title("What reports tell about wishes, for each language")

# %%
# About Urdu speakers PolyOpt's reports tell next to nothing, no more than IR's. The privacy report
# warns of it:

for warning in privacy_report(sanitizers["PolyOpt"]).warnings:
    if "groups" in warning:
        print(warning)

# %%
# What it means
# -------------
# Let somebody guess each person's wish, as well as possible, from the language and the report. How
# often is the guess right?


def right(sanitizer):
    """Return how often the best guess is right, for each language."""
    given = sanitizer.mechanism_.matrix.reshape(-1, *WANTED.shape)
    return (given * WANTED).max(axis=2).sum(axis=0)


print(f"{'':<16}" + "".join(f"{language:>9}" for language in LANGUAGES))
print(f"{'without reports':<16}" + "".join(f"{share:>9.1%}" for share in WANTED.max(axis=1)))
for name, sanitizer in sanitizers.items():
    print(f"{name:<16}" + "".join(f"{share:>9.1%}" for share in right(sanitizer)))

# %%
# Why it happens, and what helps
# ------------------------------
# Privacy must hold for all distributions that are plausible given the public table. What 60 people
# answered says little about what all who speak Urdu would answer, so the design must be prepared
# for much, and blurs their reports. Blurring few people costs little of the information over all
# records, which is what the design maximises.
#
# So what is missing is public records *of that group*. Privacy compares the distributions of U
# given two secrets and never asks how frequent the secrets are. The default confidence set is
# conditional on the number of records of each, and so a public table may hold more of some groups
# than the population does. Ask 540 more Urdu speakers for the public table, then also 480 more
# Polish ones.

tables = {
    "3,000 people": public,
    "and 540 Urdu": np.add(public, [0, 0, 540]),
    "and 480 Polish": np.add(public, [0, 480, 540]),
}
designs = {"3,000 people": sanitizers["PolyOpt"]}
for name, people in tables.items():
    if name not in designs:
        designs[name] = fit(PolyOptSanitizer(time_limit=6.0), people)
told = {name: one.normalized_information_by_secret_ for name, one in designs.items()}
display = GroupUtilityDisplay(told, SPEAKERS, secrets=LANGUAGES).plot()
display.figure_.suptitle("PolyOpt, by public table")

# %%
# With all of them, nearly everything is told about everyone, at the same ε. (The shares on the
# right are those of the people who will be asked.) With 540 Urdu speakers alone the Polish ones
# lose: whom to blur is the design's choice. A table with other shares also changes what it
# maximises, because information over all records counts people as the public table does.
#
# Where no more public records are to be had, a greater ε helps small groups most. IR and SRR tell
# about as much of each group, but less of the majority. Whatever you choose, look at the groups
# before you look at the figure for all.

plt.show()
