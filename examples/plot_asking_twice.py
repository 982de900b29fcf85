"""
================================
May I ask the same person twice?
================================

A phone may send a report every week, a survey may be repeated every year, and an app may be
installed again. Sooner or later, the same person is asked twice. Under plain local differential
privacy, k reports leak at most k·ε. For mechanisms that are private over a confidence set of
distributions, **this is false**. Such a mechanism relies on the set to bound how strongly the
harmless columns U are correlated with the secret. The first report changes what an observer knows
about U, so the distribution given this report may be outside the set.

This page computes what one, two, three and more reports reveal together about a person's affair, in
Fair's survey (6,366 married women, Redbook, 1974). It also shows what to do.
"""

import secrets

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

# %%
# Two of these sanitizers are private for all distributions: SRR and GRR (two kinds of randomised
# response). PolyOpt can be designed for all distributions, too. The other two are private for the
# confidence set. For any mechanism, ``certify`` computes the ε at which it is private for all
# distributions.

sanitizers = {
    "GRR": GRRSanitizer(),
    "SRR": SRRSanitizer(),
    "PolyOpt, all distributions": PolyOptSanitizer(uncertainty=AllDistributions(), time_limit=6.0),
    "IR": IRSanitizer(),
    "PolyOpt": PolyOptSanitizer(time_limit=6.0),
}
for name, sanitizer in sanitizers.items():
    sanitizer.set_params(eps=EPS, sensitive="affair").fit(public)
    everywhere = certify(sanitizer.mechanism_, AllDistributions(), sanitizer.joint_)
    print(
        f"{name:<27}{sanitizer.normalized_mutual_information_:>6.1%} of H(X), proven eps "
        f"{sanitizer.certificate_.eps:.2f} for its set, {everywhere.eps:.2f} for all distributions"
    )

# %%
# Many reports are one
# --------------------
# k independent reports about a record are one report of a larger mechanism, whose probabilities are
# products. The order of the reports does not matter, only how often each symbol occurs. Therefore,
# ``certify`` with ``reports=k`` only has to compare a short list of products. It proves a bound on
# what k reports leak over a set of distributions, here the sanitizer's confidence set.

MOST = 6
steps = np.arange(1, MOST + 1)
told = {}
for name, each in sanitizers.items():
    around = each.certificate_.uncertainty
    told[name] = [certify(each.mechanism_, around, each.joint_, reports=int(k)).eps for k in steps]
print(pd.DataFrame(told, index=pd.Index(steps, name="reports")).T.round(2).to_string())

# %%
# The three mechanisms that are private for all distributions share one line: k reports leak k·ε.

STYLES = {
    "PolyOpt": ("#0072B2", "o"),
    "IR": ("#009E73", "^"),
    "PolyOpt, all distributions": ("#CC79A7", "s"),
    "SRR": ("#56B4E9", "v"),
    "GRR": ("#E69F00", "D"),
}
figure, axes = plt.subplots(figsize=(9.0, 4.4), layout="constrained")
for name, (color, marker) in STYLES.items():
    axes.plot(steps, told[name], color=color, marker=marker, label=name)
axes.plot(steps, EPS * steps, color="black", linestyle=":", label="k·ε")
axes.plot(
    steps,
    np.full(MOST, told["PolyOpt"][0]),
    color="#0072B2",
    linestyle="--",
    label="PolyOpt, the same report again",
)
axes.set_yscale("log")
axes.set_yticks([0.3, 1, 3, 10, 30], ["0.3", "1", "3", "10", "30"])
axes.minorticks_off()
axes.set_xlabel("independent reports about one person")
axes.set_ylabel("proven leakage over the set, nats")
figure.legend(loc="outside right upper", fontsize=9)

# %%
# Draw once, then send the same report again
# ------------------------------------------
# A client may send the same report as often as it likes. ``skrldp.client`` does not even have to
# store the report, because a secret key determines the report for a person and a record.

device = client.load(
    sanitizers["PolyOpt"].mechanism_.to_json(), permanent_key=secrets.token_bytes(32)
)
record = public.iloc[0].to_dict()
print([device.report(record, id="Ada") for _ in range(10)])

# %%
# In words
# --------

distribution = sanitizers["PolyOpt"].joint_
given = distribution.probabilities / distribution.probabilities.sum(axis=1, keepdims=True)
matrix = sanitizers["PolyOpt"].mechanism_.matrix
pairs = (matrix[:, None] * matrix[None]).reshape(-1, *given.shape)  # of reports, by cell
no, yes = (pairs * given).sum(axis=2).T
print(
    f"One report of PolyOpt changes odds by a factor of {np.exp(told['PolyOpt'][0]):.2f} at most."
)
print(
    f"Two change them more than a hundredfold for {yes[yes > 100 * no].sum():.0%} of those with an"
)
print(f"affair, and for {no[no > 100 * yes].sum():.0%} of those without.")

# %%
# Two reports of PolyOpt may reveal the secret completely. That is not an error of the design,
# because it was only required to protect one report. IR here reports the harmless column with
# noise, so many reports reveal as much as that column itself, which is also more than ε.
#
# - Ask once, and let devices repeat their report (``permanent_key=``). If the *record* changes, a
#   new report is drawn, and this page applies again.
# - For k independent reports, use GRR, SRR or ``uncertainty=AllDistributions()`` with ε/k each.
#   Only for mechanisms that are private for all distributions do k reports leak at most k·ε.
# - Or set ``eps_worst_case``, a second and larger ε for all distributions. Then k reports leak at
#   most ε + (k - 1)·eps_worst_case. See ``plot_second_report.py`` for its price.
# - Two *surveys* of the same people with different columns are two reports as well.

plt.show()
