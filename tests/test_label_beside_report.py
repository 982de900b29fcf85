"""A label beside a report is itself a mechanism, and it breaks the promise of the report alone."""

import numpy as np
import pytest
from test_docs import run

from skrldp import JointDistribution, LikelihoodRatioSet, Mechanism, certify


@pytest.mark.filterwarnings("ignore:the values of U were learned")  # from few records
def test_a_raw_label_beside_a_report_breaks_the_promise():
    """The pipelines page says how much the pair leaks: at the public table, and around it."""
    page = {}
    run("docs/guide/pipelines.md", page)
    report = page["pipe"]["priv"].mechanism_
    assert page["pipe"]["priv"].certificate_.eps <= 1.0
    records = page["pipe"]["bins"].transform(page["table"][:2_000])
    counts = np.zeros((len(report.secrets), len(report.values), 2), dtype=int)
    for (secret, *rest), label in zip(np.asarray(records).tolist(), page["buys"], strict=False):
        counts[report.secrets.index(secret), report.values.index(tuple(rest)), int(label)] += 1
    a1, a2, labels = counts.shape
    pair = np.einsum("ysu,kl->yksul", report.matrix.reshape(-1, a1, a2), np.eye(labels))
    joint = JointDistribution(counts.reshape(a1, -1))
    both = Mechanism.from_matrix(pair.reshape(-1, counts.size), joint.secrets, joint.values)
    assert round(both.leakage(joint.probabilities), 2) == 1.69
    assert round(certify(both, LikelihoodRatioSet(), joint).eps, 2) == 2.77
