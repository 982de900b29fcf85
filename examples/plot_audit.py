"""
======================================
Does my sampler do what was certified?
======================================

A certificate proves a bound for the probabilities in a mechanism. The reports, however, are drawn
by code: for example by an app in a different language, with a shortcut for speed, or with a test
switch that was left on. None of this changes the certificate, but any of it may reveal people's
secrets.

``audit`` observes only records and their reports. It computes a lower bound on the leakage and
tests for typical faults. It can show that something is wrong, but only a proof can show that
nothing is wrong.

Here a sanitizer for Fair's survey (6,366 married women, Redbook, 1974; bundled with statsmodels) is
audited, and then several other samplers for the same mechanism. Most of them are faulty on purpose.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skrldp import PolyOptSanitizer, audit
from skrldp.datasets import load_affairs

EPS = 0.5
public, _, answers = load_affairs(["affair", "religious"])
sanitizer = PolyOptSanitizer(EPS, sensitive="affair", categories=answers, time_limit=4.0)
sanitizer.fit(public)
print(audit(sanitizer, n=30_000, level=0.99))

# %%
# Other samplers
# --------------
# The audit accepts any function that maps an array of records, secrets first, to reports. It needs
# the claimed ε, and a distribution from which to draw records, here the public one.

mechanism, joint = sanitizer.mechanism_, sanitizer.joint_
known = pd.MultiIndex.from_tuples(mechanism.cells)


def cells_of(records):
    """Return the cell of each record; reject unknown values."""
    cells = known.get_indexer(pd.MultiIndex.from_arrays(np.asarray(records).T))
    if np.any(cells < 0):
        raise ValueError("there are unknown values")
    return cells


def sound(records):
    """Draw from the certified mechanism."""
    return mechanism.sample(cells_of(records))


def frank(records):
    """Omit the secret, and send the harmless column unchanged."""
    return cells_of(records) % len(joint.values)


def seeded(records):
    """Use the same seed in every call, because a test switch was left on."""
    return mechanism.sample(cells_of(records), random_state=0)


SIZES = (1_000, 3_000, 10_000, 30_000)
found = {
    sampler.__name__: [audit(sampler, n=n, distribution=joint, eps=EPS, level=0.99) for n in SIZES]
    for sampler in (sound, frank, seeded)
}
for name, audits in found.items():
    faults = "; ".join(f"{fault.name}: {fault.message}" for fault in audits[-1].findings)
    print(f"{name:<8} leaks at least {audits[-1].eps:.3f}; {faults or 'no fault found'}")


# %%
# What cannot be seen in a function
# ---------------------------------
# One more sampler sends the most probable report, without noise, for one record in twenty. As a
# function it may pass, because this need not raise the leakage above ε. A *sanitizer* specifies the
# distribution of its reports, so the audit can compare them with it.


def hasty(records):
    """Omit the noise for one record in twenty."""
    likely = mechanism.matrix.argmax(axis=0)[cells_of(records)]
    lucky = np.random.default_rng().random(len(records)) < 0.05
    return np.where(lucky, likely, sound(records))


class HastySanitizer(PolyOptSanitizer):
    """The same fault in a sanitizer."""

    def transform(self, X):
        """Report each record, without noise for one in twenty."""
        reports = super().transform(X)
        likely = self.mechanism_.matrix.argmax(axis=0)[cells_of(X)]
        lucky = np.random.default_rng().random(len(reports)) < 0.05
        return reports.assign(report=np.where(lucky, likely, reports["report"]))


broken = HastySanitizer(EPS, sensitive="affair", categories=answers, time_limit=4.0).fit(public)
found["hasty, a function"] = [
    audit(hasty, n=n, distribution=joint, eps=EPS, level=0.99) for n in SIZES
]
found["hasty, a sanitizer"] = [audit(broken, n=n, level=0.99) for n in SIZES]
for name in list(found)[-2:]:
    faults = "; ".join(f"{fault.name}: {fault.message}" for fault in found[name][-1].findings)
    print(f"{name:<18} leaks at least {found[name][-1].eps:.3f}; {faults or 'no fault found'}")

# %%
# How many records it takes
# -------------------------
# The picture shows lower bounds on the leakage at confidence 0.99, with a cross if a fault was
# found. The bounds grow towards the leakage at the public distribution. Those of the correct
# sampler exceed ε in at most one audit in a hundred.

STYLES = {
    "sound": ("black", "o"),
    "frank": ("#D55E00", "s"),
    "seeded": ("#0072B2", "^"),
    "hasty, a function": ("#E69F00", "D"),
    "hasty, a sanitizer": ("#CC79A7", "P"),
}
figure, axes = plt.subplots(figsize=(9.0, 4.4), layout="constrained")
for place, (name, (color, marker)) in enumerate(STYLES.items()):
    apart = np.array(SIZES) * 1.04 ** (place - 2)
    bounds = np.array([each.eps for each in found[name]])
    faulty = np.array([not each.passed for each in found[name]])
    axes.plot(apart, bounds, color=color, marker=marker, label=name, linewidth=1.2)
    axes.plot(apart[faulty], bounds[faulty], "x", color="black", markersize=13, markeredgewidth=2)
axes.plot([], [], "x", color="black", markersize=10, markeredgewidth=2, label="fault found")
axes.axhline(EPS, color="black", linestyle=":", label="ε claimed")
axes.set(xscale="log", xlabel="records in the audit", ylabel="leaks at least, nats")
axes.set_xticks(SIZES, [f"{n:,}" for n in SIZES])
axes.minorticks_off()
figure.legend(loc="outside right upper")

# %%
# Sending the harmless column unchanged leaks more than ε, which the bound shows once there are
# enough records. Reused randomness need not leak anything in one report, so only the check for
# repetition detects it. Occasionally omitted noise is the hardest fault to detect: only a
# comparison with the mechanism reveals it, after thousands of records.
#
# That ``sound`` passes the audit proves nothing. The proof is its certificate, for code that draws
# from the certified probabilities.

plt.show()
