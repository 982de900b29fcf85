"""
===================
How small may ε be?
===================

A larger ε always has more utility, so a grid search by utility would choose the largest. The useful
question is the reverse: what is the *smallest* ε that keeps nearly all of the utility?
:func:`~skrldp.model_selection.smallest_eps` answers it inside scikit-learn's ``GridSearchCV``.

Search on **public data only**, because its scores depend on each record and are not protected.
Private records are not needed, because the utility of a mechanism is computed at the distribution
of the public records that are left out.

The data are scikit-learn's bundled breast cancer set (569 tumours). The secret is the diagnosis.
The reports are about one measurement, the texture of the cell nuclei, in five bins. Half of the
records are public here.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import KBinsDiscretizer

from skrldp import PrivacyLeakWarning, PrivacyUtilityDisplay, RobustMSESanitizer
from skrldp.model_selection import smallest_eps

cancer = load_breast_cancer(as_frame=True).frame
records = cancer[["target", "mean texture"]].rename(columns={"target": "diagnosis"})
public, private = train_test_split(
    records, test_size=0.5, random_state=0, stratify=records["diagnosis"]
)

# %%
# A pipeline to search
# --------------------
# ``KBinsDiscretizer`` turns numbers into categories. It is fitted on public data, too, because bins
# learned from private records would reveal something about them. ``categories`` lists the bins, in
# case a fold has no record in one of them.
#
# The score of ``RobustMSESanitizer`` is minus the mean squared distance between the bin and its
# report. ``smallest_eps`` compares scores by their ratio, so it needs a score with a natural zero.
# Like R², this score is 1 if all reports are true and 0 if all are the same.

BINS = 5
pipe = Pipeline(
    [
        ("bins", KBinsDiscretizer([2, BINS], encode="ordinal", strategy="kmeans")),
        ("priv", RobustMSESanitizer(sensitive=0, categories=[[0, 1], range(BINS)])),
    ]
)


def closeness(pipe, X, y=None):
    """Return the share of the variance of the bins that reports retain."""
    return 1.0 + pipe.score(X) / pipe["bins"].transform(X)[:, 1].var()


EPS = [0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0]
search = GridSearchCV(
    pipe, {"priv__eps": EPS}, scoring=closeness, cv=5, refit=smallest_eps(tolerance=0.1)
)
search.fit(public)
mean, spread = (search.cv_results_[f"{kind}_test_score"] for kind in ("mean", "std"))
chosen = search.best_params_["priv__eps"]
for eps, score, deviation in zip(EPS, mean, spread, strict=True):
    print(f"eps = {eps:<5g}{score:>8.3f} ± {deviation:.3f}{'  <- chosen' if eps == chosen else ''}")

# %%
# The choice
# ----------
# All scores within a tenth of the best are good enough, and the smallest ε among these is chosen.
# The right picture shows the same design on all public records, measured by squared distance, and
# the optimum that treats the public table as exactly true.

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
left.errorbar(
    EPS, mean, yerr=spread, color="#0072B2", marker="o", capsize=3, label="5 folds ± 1 sd"
)
left.axhspan(0.9 * mean.max(), mean.max(), color="0.88", label="good enough")
left.axvline(chosen, color="#D55E00", linestyle="--", label=f"smallest ε: {chosen:g}")
left.set(xlabel="ε, nats", ylabel="share of the variance left in the reports", ylim=(None, 1.05))
left.legend(loc="lower right")

with warnings.catch_warnings():
    warnings.simplefilter("ignore", PrivacyLeakWarning)  # of the optimum for the public table
    bins = search.best_estimator_["bins"].transform(public)
    display = PrivacyUtilityDisplay.from_table(
        search.best_estimator_["priv"], bins, eps=EPS, ax=right
    )
right.axvline(chosen, color="#D55E00", linestyle="--")
right.set_xscale("linear")

# %%
# Use it
# ------
# The search has fitted the chosen pipeline on all public records. Its ``transform`` protects
# private records. (If you use it in a larger pipeline that is fitted on reports, wrap it in
# scikit-learn's ``FrozenEstimator``. Otherwise, it is fitted again on the records that it should
# protect.)

best = search.best_estimator_
reports = best.transform(private)
print(best["priv"].certificate_)
print("bins reported for the first ten:", reports[:10].ravel().astype(int))
print("their own bins:                 ", best["bins"].transform(private)[:10, 1].astype(int))

# %%
# The rule does not consider privacy. If utility keeps rising, it chooses a large ε. Therefore,
# include only values that you are prepared to promise, and think of them as odds: with ε = 1, a
# report may change the odds by a factor of 2.7, with ε = 2 by 7.4, and with ε = 4 by 55.
#
# A fold has fewer public records than the whole table, so its confidence set is larger and its
# reports are noisier. The fitted pipeline is therefore slightly better than its score.

plt.show()
