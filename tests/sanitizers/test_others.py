"""Rare and unknown values of U as "other", from fit to clients and estimates; what beta says."""

import json
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skrldp import (
    FrequencyEstimator,
    GRRSanitizer,
    IRSanitizer,
    Mechanism,
    RenyiBall,
    RobustMSESanitizer,
    SRRSanitizer,
    certify,
    client,
    privacy_report,
)
from skrldp.alphabet.values import source_in_words
from skrldp.claims_in_words import set_in_words
from skrldp.exceptions import PrivacyLeakWarning

FINITE = RenyiBall(alpha=1, radius="finite-sample")
OPEN = {"handle_unknown": "infrequent_if_exist"}
GROUPED = {**OPEN, "min_frequency": 100}
SANITIZERS = [GRRSanitizer, IRSanitizer, RobustMSESanitizer]  # blocks, and a matrix


def public(n=600, seed=0):
    rng = np.random.default_rng(seed)
    job = np.where(rng.random(n) < 0.8, rng.choice(["desk", "field"], n), rng.integers(9, 999, n))
    return pd.DataFrame({"ill": rng.integers(0, 2, n), "job": job.astype(str)})


def fit(cls, X=None, **options):
    if cls is RobustMSESanitizer:
        options = {"distance": "hamming", **options}
    options = {"sensitive": "ill", "uncertainty": FINITE, **options}
    return cls(3.0, **options).fit(public() if X is None else X)


@pytest.mark.filterwarnings("ignore:respondents differ")  # everybody has another job here
@pytest.mark.parametrize("cls", SANITIZERS)
def test_unknown_values_are_other_everywhere(cls):
    """In transform, on devices, and so in the estimates; errors and secrets are as before."""
    found = fit(cls, encode="symbol", random_state=0, **GROUPED)
    assert found.joint_.values == ("desk", "field", "other")
    assert found.joint_.n == 600
    assert clone(found).fit(public()).mechanism_.digest == found.mechanism_.digest
    new = pd.DataFrame({"ill": [0, 1] * 3000, "job": ["never seen", "other", "17"] * 2000})
    same = found.transform(new.assign(job="other"))
    assert np.array_equal(found.transform(new), same)
    device = client.load(found.mechanism_.to_json(), random_state=0)
    sent = device.report_many(new)
    assert np.array_equal(sent, client.load(device.mechanism.to_json(), random_state=0)
                          .report_many(new.assign(job="other")))  # fmt: skip
    assert device.report({"ill": 1, "job": None}) in range(len(device.symbols))
    assert found.set_params(encode="posterior").get_feature_names_out().tolist()[-1] == "job_other"
    if cls is not RobustMSESanitizer:  # whose reports tell little but U
        estimate = FrequencyEstimator(device.mechanism, encode="symbol").fit(sent)
        assert estimate.marginal("job").estimate[2] > 0.8
    with pytest.raises(ValueError, match="column 'ill' has a value unseen"):
        found.transform(pd.DataFrame({"ill": [2], "job": ["desk"]}))
    with pytest.raises(ValueError, match="Nothing was reported"):
        device.report({"ill": 2, "job": "desk"})
    with pytest.raises(ValueError, match="column 'job' has a value unseen in fit"):
        found.set_params(handle_unknown="error").transform(new.iloc[:1])


def test_equal_rows_of_a_grouped_table_are_no_survey_weights():
    """Rows that differ before they are grouped may have any counts."""
    X = pd.DataFrame({"ill": [0, 1] * 6, "job": [*"aabbccddeeff"]})
    joint = SRRSanitizer(sensitive="ill", min_frequency=101).fit(
        X, sample_weight=[100, 200] * 2 + [50] * 8
    ).joint_  # fmt: skip
    assert (joint.values, joint.n) == (("a", "b", "other"), 1000)
    assert joint.counts[:, 2].tolist() == [200, 200]


TABLES = {
    "learned": {},
    "frequent": {"min_frequency": "auto"},
    "declared": {"categories": {"job": ["desk", "field"]}, **OPEN},
}


@pytest.mark.parametrize("source", TABLES)
def test_beta_is_said_with_its_condition(source):
    """Certificate, report, claims and JSON, and where the proof is made anew."""
    warned = pytest.warns(PrivacyLeakWarning) if source == "learned" else nullcontext()
    with warned:
        found = fit(IRSanitizer, public(200), **TABLES[source])
    words, report = source_in_words(source), privacy_report(found)
    assert (found.joint_.alphabet, report.claims.values_from) == (source, source)
    flat = " ".join(str(report).split())
    assert f"with probability at most 0.05; {words}" in flat
    assert ("rare values were learned" in flat) == (source == "learned")
    grouped = "Values of U that are unknown are reported as 'other'"
    assert any(grouped in note for note in report.notes) == (source != "learned")
    for certificate in (found.certificate_, certify(found.mechanism_, FINITE, found.joint_)):
        assert f"with probability at most 0.05; {words}" in certificate._repr_html_()
    text = found.mechanism_.to_json()
    assert json.loads(text)["claims"][0]["around"]["values_from"] == source
    claims = Mechanism.from_json(text).claims
    assert claims == found.mechanism_.claims and claims.values_from == source
    assert set_in_words(claims.main.around).endswith(words)
    around = replace(claims.main.around, values_from=None)  # which need not be stated
    unsaid = replace(claims, items=(replace(claims.main, around=around), *claims.items[1:]))
    text = replace(found.mechanism_, claims=unsaid).to_json()
    assert "values_from" not in json.loads(text)["claims"][0]["around"]
    assert source_in_words(None) in Mechanism.from_json(text)._repr_html_()
    # Without beta there is nothing to condition.
    everywhere = fit(SRRSanitizer, **TABLES[source])
    assert words not in str(privacy_report(everywhere)) + everywhere.certificate_._repr_html_()
