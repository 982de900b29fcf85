"""
===========================================
What if the phone does not know the secret?
===========================================

A phone records what its owner buys, reads or answers, but not what these things reveal: an illness
that nobody has entered, or a vote that is not yet cast. A mechanism can protect a secret that it
does not see, because the public table shows how the visible columns are correlated with it.

``observe="nonsensitive"`` designs a mechanism that sees only U, the columns that are not secret.
Its promise is the same: no report changes the odds of the secret by more than a factor of e^ε, for
every distribution in the confidence set. How much utility is lost if the mechanism does not see the
secret?

The data are a survey on the American election of 1996 (944 people, bundled with statsmodels). The
secret is the vote; U is where people place themselves from liberal to conservative.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.base import clone
from statsmodels.datasets import anes96

from skrldp import PolyOptSanitizer, RobustMSESanitizer, client

EPS = 1.0
answers = anes96.load_pandas().data
survey = pd.DataFrame(
    {
        "vote": np.where(answers["vote"] > 0, "Dole", "Clinton"),
        "leaning": pd.cut(answers["selfLR"], [0, 2, 3, 4, 5, 7], labels=False) - 2,
    }
)
survey = survey.sample(frac=1.0, random_state=0).reset_index(drop=True)
public, private = survey[:600], survey[600:]
print(pd.crosstab(public["leaning"], public["vote"]))

# %%
# The leaning is strongly correlated with the vote. Therefore, it cannot be sent unchanged.
#
# Two designs, with and without the secret
# ----------------------------------------
# RobustMSE reports a leaning close to the true one, from -2 (liberal) to 2 (conservative). PolyOpt
# reports as much information as possible about the record. Each is designed once for mechanisms
# that see the secret, and once for mechanisms that do not.

sanitizers = {}
for view in ("all", "nonsensitive"):
    sanitizers["RobustMSE", view] = RobustMSESanitizer(EPS, sensitive="vote", observe=view)
    sanitizers["PolyOpt", view] = PolyOptSanitizer(
        EPS, sensitive="vote", observe=view, time_limit=4.0
    )
for (name, view), sanitizer in sanitizers.items():
    sanitizer.fit(public)
    worth = sanitizer.score(private)
    words = "-(mean squared distance)" if name == "RobustMSE" else "share of H(X)"
    print(
        f"{name:<10} sees {view:<13} {worth:>7.3f} {words:<25} "
        f"proven eps {sanitizer.certificate_.eps:.3f}"
    )

# %%
# On the phone
# ------------
# The client needs only the columns of U, as its JSON states. A record with a vote is accepted, too,
# but the vote is ignored.

leaning_only = sanitizers["RobustMSE", "nonsensitive"]
device = client.load(leaning_only.mechanism_.to_json())
print([leaning_only.mechanism_.symbols[device.report({"leaning": 2})] for _ in range(10)])
print(leaning_only.transform(private[["leaning"]]).head(3))

# %%
# The cost of not seeing the secret
# ---------------------------------
# The left picture shows what is reported for each leaning. The right picture shows the distance of
# reports from the truth at the public distribution, for several ε. The grey line is the best
# constant report.

steps = [0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0]
STYLES = {"all": ("#0072B2", "o", "sees the vote"), "nonsensitive": ("#D55E00", "s", "does not")}
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
leanings = [-2, -1, 0, 1, 2]
matrix = leaning_only.mechanism_.matrix[:, : len(leanings)]  # the same for both votes
order = np.argsort(leaning_only.mechanism_.symbols)
image = left.imshow(matrix[order], origin="lower", cmap="cividis", vmin=0, vmax=1)
left.set_xticks(range(len(leanings)), leanings)
left.set_yticks(range(len(order)), [leaning_only.mechanism_.symbols[place] for place in order])
left.set(xlabel="leaning", ylabel="report", title=f"What is reported, ε = {EPS:g}, vote not seen")
figure.colorbar(image, ax=left, label="probability")
for view, (color, marker, label) in STYLES.items():
    template = RobustMSESanitizer(sensitive="vote", observe=view)
    designs = [clone(template).set_params(eps=eps).fit(public) for eps in steps]
    far = [design.distortion_ for design in designs]
    right.plot(steps, far, color=color, marker=marker, label=label)
same = min(((public["leaning"] - each) ** 2).mean() for each in leanings)
right.axhline(same, color="0.5", linestyle="--", label="the same report for all")
right.set(xlabel="ε, nats", ylabel="mean squared distance", ylim=(0, None))
right.set_title("How far are reports from the truth?")
right.legend()

# %%
# In words
# --------

seen, unseen = sanitizers["RobustMSE", "all"].distortion_, leaning_only.distortion_
print(f"Mean squared distance at ε = {EPS:g}: {seen:.2f} if the vote is seen, {unseen:.2f} if not;")
print(f"{same:.2f} if all reports are the same.")

# %%
# A mechanism that sees the secret can balance its reports: it changes the leaning of a liberal
# voter of Dole and leaves others unchanged. A mechanism that does not see it must add noise to the
# leanings themselves until they reveal no more about the vote than allowed. The stronger the
# correlation of U with the secret, the more this costs.
#
# Here, the promise depends only on the public table. If the private people differ from it, see
# ``plot_distribution_shift.py``. For *all* distributions, U would have to be hidden as if it were
# the secret, because it might determine the secret completely. That is plain local differential
# privacy.

plt.show()
