"""Labels for training: beside a report they break its promise, inside the mechanism they keep it.

What somebody sees, a report together with something else, is itself a mechanism, and is certified
as one. What is certified is the guide's own code.
"""

import numpy as np
import pytest
from test_docs import run

from skrldp import JointDistribution, LikelihoodRatioSet, Mechanism, certify

# Tables are small here; what is learned from few records is looked at in test_learned_alphabets.py.
pytestmark = pytest.mark.filterwarnings("ignore:the values of U were learned")


def count(mechanism, records, label):
    """Count public records: secrets, values of U, labels. The secret is the first column."""
    secrets, values = mechanism.secrets, mechanism.values
    counts = np.zeros((len(secrets), len(values), 2), dtype=int)
    for (secret, *rest), own in zip(np.asarray(records).tolist(), label, strict=True):
        counts[secrets.index(secret), values.index(tuple(rest)), int(own)] += 1
    return counts


@pytest.fixture(scope="module")
def pipelines():
    page = {}
    run("docs/guide/pipelines.md", page)
    return page


def test_a_raw_label_beside_a_report_breaks_the_promise(pipelines):
    """The pipelines page says how much the pair leaks: at the public table, and around it."""
    report = pipelines["pipe"]["priv"].mechanism_
    records = pipelines["pipe"]["bins"].transform(pipelines["table"][:2_000])
    counts = count(report, records, pipelines["buys"][:2_000])
    assert pipelines["pipe"]["priv"].certificate_.eps <= 1.0
    a1, a2, labels = counts.shape
    pair = np.einsum("ysu,kl->yksul", report.matrix.reshape(-1, a1, a2), np.eye(labels))
    joint = JointDistribution(counts.reshape(a1, -1))
    both = Mechanism.from_matrix(pair.reshape(-1, counts.size), joint.secrets, joint.values)
    assert round(both.leakage(joint.probabilities), 2) == 1.69
    assert round(certify(both, LikelihoodRatioSet(), joint).eps, 2) == 2.77
