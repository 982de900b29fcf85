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
# Two of these hold for all laws, SRR and GRR; PolyOpt can be asked to. The other two hold for the
# confidence set. ``certify`` says of any mechanism for which ε it holds at all laws.

sanitizers = {
    "GRR": GRRSanitizer(),
    "SRR": SRRSanitizer(),
    "PolyOpt, all laws": PolyOptSanitizer(uncertainty=AllDistributions(), time_limit=6.0),
    "IR": IRSanitizer(),
    "PolyOpt": PolyOptSanitizer(time_limit=6.0),
}
for name, sanitizer in sanitizers.items():
    sanitizer.set_params(eps=EPS, sensitive="affair").fit(public)
    everywhere = certify(sanitizer.mechanism_, AllDistributions(), sanitizer.joint_)
    print(
        f"{name:<18} {sanitizer.normalized_mutual_information_:>6.1%} of H(X), proven "
        f"{sanitizer.certificate_.eps:.2f} for its laws, {everywhere.eps:.2f} for all laws"
    )

# %%
# Many reports are one
# --------------------
# k independent reports about a record are one report of a larger mechanism, whose columns are
# products. Only how often each symbol came matters, not the order. What k reports tell at the
# public law is then the greatest ratio over a short list of products: computed, not simulated.


def leakage(mechanism, law, k):
    """Return what k independent reports about one record tell at a law, in nats."""
    given = law / law.sum(axis=1, keepdims=True)  # the law of U for each secret
    worst = 0.0
    for symbols in itertools.combinations_with_replacement(range(mechanism.shape[0]), k):
        together = mechanism.matrix[list(symbols)].prod(axis=0).reshape(law.shape)
        for_secret = (together * given).sum(axis=1)
        if for_secret.max() > 0:
            with np.errstate(divide="ignore"):
                worst = max(worst, float(np.log(for_secret.max() / for_secret.min())))
    return worst


MOST = 6
steps = np.arange(1, MOST + 1)
told = {
    name: [leakage(each.mechanism_, each.joint_.probabilities, k) for k in steps]
    for name, each in sanitizers.items()
}
print(pd.DataFrame(told, index=pd.Index(steps, name="reports")).T.round(2).to_string())

# %%
# The public law is in every confidence set, so one report never tells more than ε there. For two
# secrets, all laws and this table, PolyOpt finds nothing better than SRR: their lines coincide.

STYLES = {
    "PolyOpt": ("#0072B2", "o"),
    "IR": ("#009E73", "^"),
    "PolyOpt, all laws": ("#CC79A7", "s"),
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
axes.set_ylabel("leakage at the public law, nats")
figure.legend(loc="outside right upper", fontsize=9)

# %%
# Say it once, then repeat yourself
# ---------------------------------
# A client that keeps its report may send it as often as it likes. ``skrldp.client`` needs no
# storage for that: a secret key decides the report of a person and a record, the same each time.

device = client.load(sanitizers["PolyOpt"].mechanism_.to_json(), memoize=secrets.token_bytes(32))
record = public.iloc[0].to_dict()
print([device.report(record, id="Ada") for _ in range(10)])

# %%
# In words
# --------

law = sanitizers["PolyOpt"].joint_
given = law.probabilities / law.probabilities.sum(axis=1, keepdims=True)
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
# Two reports of PolyOpt may give the secret away altogether. That is no fault of the design: one
# report is what it was told to protect. IR here reports the harmless column with noise, so that
# many reports tell what that column itself tells, and no more; that is more than ε too.
#
# - Ask once, and let devices repeat themselves (``memoize=``). When the *record* changes, a new
#   report is drawn, and then this page applies.
# - For k independent reports, use GRR, SRR or ``uncertainty=AllDistributions()`` with ε/k each.
#   Only for mechanisms that hold for all laws do k reports leak at most k·ε.
# - Two *surveys* with different columns about the same people are two reports as well.

plt.show()
