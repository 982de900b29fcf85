"""
=========================================================
What if the phone does not know the secret?
=========================================================

A phone knows what its owner buys, reads or answers, but not what that gives away: an illness nobody
has told it of, a vote not yet cast. What does not see the secret can protect it all the same, for
the public table says how the columns that are seen tell about it.

``observe="nonsensitive"`` designs a mechanism that sees U alone. It makes the same promise as any
other: no report changes the odds of the secret by more than e^ε, for every law of the confidence
set. What does it cost not to see the secret?

The data are a survey on the American election of 1996 (944 persons, bundled with statsmodels). The
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
# The leaning tells a lot: that is why it cannot be sent as it is.
#
# Two designs each
# ----------------
# RobustMSE reports a leaning close to the true one, from -2 (liberal) to 2 (conservative). PolyOpt
# tells as much as it may. Each is designed with the secret in view, and without it.

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
# The client needs the columns of U alone, and its JSON says so. A record with a vote is accepted
# too; the vote is not looked at.

blind = sanitizers["RobustMSE", "nonsensitive"]
device = client.load(blind.mechanism_.to_json())
print([blind.mechanism_.symbols[device.report({"leaning": 2})] for _ in range(10)])
print(blind.transform(private[["leaning"]]).head(3))

# %%
# The price of not knowing
# ------------------------
# Left: what is reported for each leaning. Right: how far reports are from the truth at the public
# law, for several ε; the grey line is the best report that is the same for everybody.

steps = [0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0]
STYLES = {"all": ("#0072B2", "o", "sees the vote"), "nonsensitive": ("#D55E00", "s", "does not")}
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
leanings = [-2, -1, 0, 1, 2]
matrix = blind.mechanism_.matrix[:, : len(leanings)]  # the same for both votes
order = np.argsort(blind.mechanism_.symbols)
image = left.imshow(matrix[order], origin="lower", cmap="cividis", vmin=0, vmax=1)
left.set_xticks(range(len(leanings)), leanings)
left.set_yticks(range(len(order)), [blind.mechanism_.symbols[place] for place in order])
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

seen, unseen = sanitizers["RobustMSE", "all"].distortion_, blind.distortion_
print(f"Mean squared distance at ε = {EPS:g}: {seen:.2f} if the vote is seen, {unseen:.2f} if not;")
print(f"{same:.2f} if all reports are the same.")

# %%
# A mechanism that sees the secret can balance its reports: it moves a liberal voter of Dole and
# leaves others as they are. One that does not must blur the leanings themselves until they tell no
# more than they may. That costs most where U tells most, and nothing where U tells nothing.
#
# The promise rests on the public table alone here: if the private people are unlike it, see
# ``plot_distribution_shift.py``. For *all* laws U would have to be hidden as if it were the secret,
# for it might give the secret away entirely: that is plain local differential privacy.

plt.show()
