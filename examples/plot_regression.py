"""
======================================================
A logistic regression without seeing anyone's answers?
======================================================

Are affairs rarer in happy marriages if faith is held fixed? A regression answers such questions,
but it needs everybody's answers, including one that many people would rather not give. Here, nobody
has to give them: each person sends one private report, and the regression is fitted to the
estimated distribution of the records, with standard errors that include the noise of the reports.

The data are the Fair survey of 1974, which is part of statsmodels. The secret is whether a married
woman reports an affair. How religious she is and how she rates her marriage are not secret.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import statsmodels.api as sm
from statsmodels.datasets import fair

from skrldp import AOptimalSanitizer, FrequencyEstimator
from skrldp.regression import logit

answers = fair.load_pandas().data
records = pd.DataFrame(
    {
        "affair": np.where(answers["affairs"] > 0, "yes", "no"),
        "faith": answers["religious"].astype(int),
        "marriage": np.maximum(answers["rate_marriage"].astype(int), 2),
    }
)
public = records.sample(frac=0.5, random_state=0)
others = records.sample(40_000, replace=True, random_state=1)  # people like these

# %%
# One report from each person
# ---------------------------
# A regression depends on how all its columns are correlated, so design for the crosstab of all of
# them: ``targets="all"``.

known = {"affair": ["no", "yes"], "faith": [1, 2, 3, 4], "marriage": [2, 3, 4, 5]}
sanitizer = AOptimalSanitizer(
    eps=1.5, sensitive="affair", targets="all", categories=known, random_state=0
)
reports = sanitizer.fit(public).transform(others)
found = logit("affair ~ faith + marriage", FrequencyEstimator(sanitizer).fit(reports))
print(found)

# %%
# Compared with the answers
# -------------------------
# Here we know the answers. The regression of the answers has small standard errors. That of the
# reports has larger ones, and its intervals contain the coefficients of the answers. The third
# regression shows what not to do: it treats the most probable record of each report as if it were
# the person's. Its standard errors are small, but its error is many standard errors larger than
# chance allows, because it mixes the relations in the public table with those of the design.

wanted = ["faith", "marriage"]
design = sm.add_constant(others[wanted])
raw = sm.Logit((others["affair"] == "yes") * 1, design).fit(disp=0)

mechanism = sanitizer.mechanism_
cells = [(secret, *rest) for secret in mechanism.secrets for rest in mechanism.values]
posterior = mechanism.matrix * sanitizer.joint_.smoothed(0.5).ravel()
probable = pd.DataFrame(cells, columns=list(records)).iloc[posterior.argmax(axis=1)]
guessed = probable.iloc[np.ravel(reports)]
naive = sm.Logit((guessed["affair"] == "yes") * 1.0, sm.add_constant(guessed[wanted])).fit(disp=0)

# %%
# The three side by side
# ----------------------

figure, axes = plt.subplots(figsize=(7.0, 3.6), layout="constrained")
fits = {
    "everybody's answers": (raw.params[wanted], raw.bse[wanted]),
    "one private report each": (found.params[wanted], found.bse[wanted]),
    "the most probable records": (naive.params[wanted], naive.bse[wanted]),
}
for place, (label, (coefficients, errors)) in enumerate(fits.items()):
    height = np.arange(2) + 0.2 * (place - 1)
    axes.errorbar(coefficients, height, xerr=1.96 * errors, fmt="o", capsize=3, label=label)
axes.axvline(0.0, color="grey", linewidth=0.8)
axes.set(
    yticks=[0, 1],
    yticklabels=["faith", "marriage"],
    xlabel="coefficient (logarithm of the odds), 95 % intervals",
    title="How affairs depend on faith and on marriage",
)
axes.invert_yaxis()
axes.legend(loc="best")
plt.show()
