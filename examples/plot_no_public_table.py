"""
====================================
Can private reports replace a table?
====================================

A design that protects one secret learns about the population from a public table, but often there
is none. Then a first group of people, the pilot, can report whole records. This needs no table,
because plain local privacy holds for every population. Its private reports replace the table, so
that for everybody else only the secret has to be protected. The picture shows how many pilot
reports are needed. Errors are relative to those of raw records.
"""

import matplotlib.pyplot as plt
import numpy as np

from skrldp import AOptimalSanitizer, FrequencyEstimator, expected_std_error
from skrldp.datasets import load_affairs

# %%
# People are drawn from a survey of married women. The secret is whether a woman has an affair.
_, private, answers = load_affairs(["affair", "religious"])
people = private.sample(200_000, replace=True, random_state=0)
raw = people["religious"].value_counts(normalize=True)
raw = np.sqrt((raw * (1 - raw)).sum())


# %%
# The pilot's design needs only the categories. More pilot reports narrow the bounds on the
# population, so the next design approaches the precision of raw records.
shared = {"eps": 1.0, "categories": answers, "random_state": 0}
pilot = AOptimalSanitizer(sensitive=slice(None), targets="all", **shared).fit()
sizes, errors = [1_000, 3_000, 10_000, 30_000, 100_000], []
for n in sizes:
    reports = FrequencyEstimator(pilot).fit(pilot.transform(people[:n]))
    design = AOptimalSanitizer(sensitive="affair", **shared).fit(reports)
    errors.append(np.sqrt(design.variances_.sum()) / raw)
    print(f"{n:>7,} pilot reports: {design.certificate_}")

# %%
# With a hundred thousand pilot reports, estimates about all later people are almost as precise as
# from raw records, whereas designs for whole records remain far less precise.
fig, ax = plt.subplots()
ax.plot(sizes, errors, "o-", label="after the pilot, the secret alone")
whole = expected_std_error(pilot, 1, "religious")
ax.axhline(np.sqrt((whole**2).sum()) / raw, color="grey", ls=":", label="whole records")
ax.axhline(1.0, color="black", lw=0.8)
ax.set(xscale="log", xlabel="reports of the pilot", ylabel="error relative to raw records")
ax.legend()
plt.show()
