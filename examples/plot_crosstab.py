"""
=======================================================
Can I estimate a crosstab that nobody has seen?
=======================================================

Reports are noisy, one by one. What you want to know is a table: how many of those who pay nothing
for a doctor see one often, and how that goes with health. ``FrequencyEstimator`` knows the noise and
estimates the law behind the reports, with standard errors; it also says which questions the reports
cannot answer, however many there are.

The data are the RAND Health Insurance Experiment (20,190 person-years, bundled with statsmodels),
which asked what people do if they pay for their doctor. Each row plays a person here. The secret S is
whether health was called fair or poor; U is the share of the costs that was paid, and how often a
doctor was seen. A tenth of the rows is public; the others are private.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from statsmodels.datasets import randhie

from skrldp import FrequencyEstimator, GRRSanitizer, IRSanitizer, PolyOptSanitizer

EPS = 1.0
answers = randhie.load_pandas().data
share = np.exp(answers["lncoins"]) - 1.0  # of the costs, in per cent
survey = pd.DataFrame(
    {
        "health": np.where(answers["hlthf"] + answers["hlthp"] > 0, "fair or poor", "good"),
        "pays": np.select([share < 1, share < 60], ["nothing", "25-50 %"], "95 %"),
        "visits": np.select([answers["mdvis"] == 0, answers["mdvis"] <= 3], ["0", "1-3"], "4+"),
    }
)
survey = survey.sample(frac=1.0, random_state=0).reset_index(drop=True)
public, private = survey[:2000], survey[2000:]

# %%
# Three mechanisms
# ----------------
# GRR protects the whole record. IR and PolyOpt protect health alone, for all laws that the public
# records leave plausible.

sanitizers = {
    "GRR": GRRSanitizer(encode="symbol"),
    "IR": IRSanitizer(encode="symbol"),
    "PolyOpt": PolyOptSanitizer(time_limit=10.0),
}
reports = {}
for name, sanitizer in sanitizers.items():
    sanitizer.set_params(eps=EPS, sensitive="health").fit(public)
    reports[name] = sanitizer.transform(private)

# %%
# Counting reports is not enough
# ------------------------------
# The shares among GRR's reports, written as cells, are drawn to those of a fair die. The estimate takes
# the noise out again, by least squares: it is unbiased, and may be negative, which says that there
# are too few reports for this cell. ``projected()`` is the closest law.

columns = ["pays", "visits"]
truth = private.groupby(columns).size() / len(private)
cells = np.array(sanitizers["GRR"].mechanism_.cells, dtype=object)
counted = pd.Series([cells[report][1] for report in reports["GRR"]["report"]]).value_counts()
crosstab = FrequencyEstimator(sanitizers["GRR"]).fit(reports["GRR"]).marginal(columns)
frame = crosstab.to_frame()
frame.insert(0, "truth", truth)
frame.insert(1, "counted", counted / len(private))
frame["projected"] = crosstab.projected()
print(frame.drop(columns="identifiable").round(3).to_string())
