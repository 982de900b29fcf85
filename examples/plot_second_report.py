"""
=============================================
What does a promise for a second report cost?
=============================================

If a mechanism is private over a confidence set of distributions, its promise covers one report and
an observer who knows nothing else about the person. A second report, or knowledge of the harmless
columns U, may reveal the secret: see ``plot_asking_twice.py``. A mechanism that is private for all
distributions has neither weakness, but its reports contain much less information.

``eps_worst_case`` is a compromise. The mechanism is private at ε over the set, and at a larger
``eps_worst_case`` over all distributions. Then k reports leak at most ε + (k - 1)·eps_worst_case,
and one report leaks at most eps_worst_case to an observer who knows U. How much utility does that
cost?

The data are the affairs in Fair's survey (6,366 married women, Redbook, 1974).
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.base import clone
from statsmodels.datasets import fair

from skrldp import PolyOptSanitizer, SRRSanitizer, certify

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
# Bounds for more than one report
# -------------------------------
# ``certify`` with ``reports=k`` proves a bound on what k reports about the same person leak
# together over the set, in nats. The certificate of one report also states how much it leaks to an
# observer who knows U, as ``eps_given_u``.

template = PolyOptSanitizer(EPS, sensitive="affair", time_limit=20.0)
sanitizers = {
    "PolyOpt": template,
    "PolyOpt, eps_worst_case=3": clone(template).set_params(eps_worst_case=3.0),
    "PolyOpt, eps_worst_case=1": clone(template).set_params(eps_worst_case=1.0),
    "SRR": SRRSanitizer(EPS, sensitive="affair"),
}
REPORTS = [1, 2, 3, 10]
leaks, facts = {}, {}
for name, sanitizer in sanitizers.items():
    sanitizer.fit(public)
    certificate = sanitizer.certificate_
    leaks[name] = [
        certify(sanitizer.mechanism_, certificate.uncertainty, sanitizer.joint_, reports=k).eps
        for k in REPORTS
    ]
    facts[name] = {
        "information kept": sanitizer.normalized_mutual_information_,
        "U known": certificate.eps_given_u,
        **{f"k = {k}": eps for k, eps in zip(REPORTS, leaks[name], strict=True)},
    }
print(pd.DataFrame(facts).T.round(2).to_string())

# %%
# Without ``eps_worst_case``, the second report adds about 20 nats, so it may reveal everything.
# With it, each further report adds at most ``eps_worst_case``.
#
# The price
# ---------
# The picture shows how much information reports keep, for several values of ``eps_worst_case``. At
# ``eps_worst_case`` = ε, the promise is that of SRR, which is private at ε for all distributions.

ALL = [0.5, 1, 2, 3, 4, 6]
kept = [
    clone(template).set_params(eps_worst_case=bound).fit(public).normalized_mutual_information_
    for bound in ALL
]
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
left.plot(ALL, kept, color="#0072B2", marker="o", label="PolyOpt with eps_worst_case")
for name, style in {"PolyOpt": "-", "SRR": ":"}.items():
    level = sanitizers[name].normalized_mutual_information_
    left.axhline(level, color="#595959", linestyle=style, label=f"{name} without")
left.set(xlabel="eps_worst_case (nats)", ylabel="information kept, I(X;Y) / H(X)", ylim=0)
left.legend(fontsize="small")
left.set_title("What eps_worst_case costs")
for name, color, marker in zip(
    sanitizers, ["#0072B2", "#E69F00", "#009E73", "#595959"], "os^*", strict=True
):
    right.plot(REPORTS, leaks[name], color=color, marker=marker, label=name)
right.plot(REPORTS, EPS * np.array(REPORTS), color="black", linestyle=":", label="k·ε")
right.set(xscale="log", yscale="log", xlabel="independent reports about one person")
right.set_xticks(REPORTS, REPORTS)
right.set_yticks([0.3, 1, 3, 10, 30, 100], ["0.3", "1", "3", "10", "30", "100"])
right.minorticks_off()
right.set_ylabel("proven leakage over the set, nats")
right.set_title("What it saves")
right.legend(loc="lower right", fontsize="small")

# %%
# If only some columns are known
# ------------------------------
# Suppose that others only know whether a person has children. If you list such columns in
# ``observer_columns=``, ε also holds among the people with the same values in these columns. That
# costs less than a bound for all distributions, but it also promises less, because it does not
# cover a second report.

survey["children"] = np.where(answers["children"] > 0, "some", "none")
survey["happy"] = np.where(answers["rate_marriage"] >= 4, "yes", "no")
with_children = survey.loc[public.index, ["affair", "happy", "children"]]
for known in (None, ["children"]):
    sanitizer = PolyOptSanitizer(EPS, sensitive="affair", observer_columns=known, time_limit=20.0)
    sanitizer.fit(with_children)
    within = sanitizer.certificate_.claims.known
    print(
        f"observer_columns={known}: {sanitizer.normalized_mutual_information_:.1%} of H(X) kept, "
        f"proven eps {sanitizer.certificate_.eps:.2f}, within known values "
        + ("not stated" if within is None else f"{within.eps:.2f}")
    )

# %%
# In words
# --------

share = {
    name: each.normalized_mutual_information_ / template.normalized_mutual_information_
    for name, each in sanitizers.items()
}
print(f"eps_worst_case=3 keeps {share['PolyOpt, eps_worst_case=3']:.0%} of PolyOpt's information,")
print(f"eps_worst_case=1 {share['PolyOpt, eps_worst_case=1']:.0%}, and SRR {share['SRR']:.0%}.")

# %%
# - If a person is asked once, and nobody who sees the report knows anything else about them, you do
#   not need ``eps_worst_case``.
# - If there may be k reports, choose ε + (k - 1)·eps_worst_case as the leakage of all of them
#   together, and read the price from the left picture. The bound is conservative, and ``certify``
#   proves a smaller one.
# - If others know columns of U, list them in ``observer_columns``, or use ``eps_worst_case``, which
#   covers any knowledge.

plt.show()
