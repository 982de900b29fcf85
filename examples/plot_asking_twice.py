"""
======================================
May I ask the same person twice?
======================================

A report a week from the same phone, a survey every year, an app that is installed again: sooner or
later the same person is asked twice. Of plain local differential privacy one learns that k reports
leak at most k·ε. For mechanisms that are private over a confidence set **this is false**. Such a
mechanism relies on what the harmless columns U tell of the secret at the laws of the set. The first
report changes what is known of U, and takes it outside.

This page computes what one, two, three and more reports about one person tell together, about the
affairs in Fair's survey (6,366 married women, Redbook, 1974), and shows what can be done.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from statsmodels.datasets import fair

from skrldp import (
    AllDistributions,
    GRRSanitizer,
    IRSanitizer,
    PolyOptSanitizer,
    SRRSanitizer,
    certify,
    client,
)

EPS = 0.5
answers = fair.load_pandas().data
survey = pd.DataFrame(
    {
        "affair": np.where(answers["affairs"] > 0, "yes", "no"),
        "marriage": np.select(
            [answers["rate_marriage"] <= 3, answers["rate_marriage"] == 4],
            ["fair or poor", "good"],
            "very good",
        ),
    }
)
public = survey.sample(frac=0.5, random_state=0)

sanitizers = {
    "GRR": GRRSanitizer(),
    "SRR": SRRSanitizer(),
    "IR": IRSanitizer(),
    "PolyOpt": PolyOptSanitizer(time_limit=6.0),
}
for sanitizer in sanitizers.values():
    sanitizer.set_params(eps=EPS, sensitive="affair").fit(public)

# %%
# Many reports are one
# --------------------
# k independent reports about a record are one report of a larger mechanism, whose columns are products.
# Only how often each symbol came matters, not the order: reports with the same counts have the same
# likelihood ratio, and are put together. What they tell at the public law is then an exact sum.


def leakage(mechanism, law, k):
    """Return what k reports about one person tell at a law, in nats."""
    worst = 0.0
    given = law / law.sum(axis=1, keepdims=True)  # of U, for each secret
    columns = np.log(np.maximum(mechanism.matrix, 1e-300))
    for symbols in itertools.combinations_with_replacement(range(mechanism.shape[0]), k):
        probability = np.exp(columns[list(symbols)].sum(axis=0)).reshape(law.shape)
        by_secret = (probability * given).sum(axis=1)
        if by_secret.min() > 0:
            worst = max(worst, np.log(by_secret.max() / by_secret.min()))
    return worst
