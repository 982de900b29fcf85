"""Audits of what is reported about values, and combinations, that the public table lacks."""

import numpy as np
import pytest
from audited import message, names

from skrldp import GRRSanitizer, audit
from skrldp.client import RecordReader

pytestmark = [
    pytest.mark.usefixtures("fixed_entropy"),
    pytest.mark.filterwarnings("ignore:the values of U were learned"),
]

ROWS = [[s, u] for s in ("no", "yes") for u in ("high", "low", "mid", "rare")]
COUNTS = [900, 500, 600, 20, 400, 900, 700, 30]


class TellsTheSecret:
    """Of records with values that it does not know, each report says what the secret is."""

    def transform(self, X):
        X, reports = np.asarray(X), np.array(super().transform(X))
        strange = ~np.isin(X[:, 1], [u for u in self.joint_.values if isinstance(u, str)])
        last = self.mechanism_.shape[0] - 1
        reports[strange] = np.where(X[strange, 0] == "yes", last, 0)[:, None]
        return reports


def made(cls, **parameters):
    return cls(eps=1.0, sensitive=0, encode="symbol", **parameters).fit(ROWS, sample_weight=COUNTS)


# Unknown values are reported by symbols that known ones have as well, so that only their
# frequencies tell. The broken one is found for certain (64 reports), the sound one passes with
# probability above 1 - 1e-4.
@pytest.mark.parametrize(
    "parameters",
    [
        {"handle_unknown": "infrequent_if_exist"},
        {"min_frequency": "auto"},
        {"handle_unknown": "impute"},
    ],
)
def test_unknown_values_are_reported_as_the_fit_says(parameters):
    options = {"n": 400, "level": 0.9999, "calls": 4, "random_state": 0}
    sound = audit(made(GRRSanitizer, **parameters), **options)
    assert sound.passed, str(sound)
    broken = type("Broken", (TellsTheSecret, GRRSanitizer), {})
    found = audit(made(broken, **parameters), **options)
    assert names(found) == {"unknown"} and np.isinf(found.eps)
    assert "its reports do not follow the mechanism" in message(found, "unknown")


@pytest.mark.parametrize("broken", [False, True])
def test_functions_report_unknown_values_as_clients_do(broken):
    sanitizer = made(GRRSanitizer, handle_unknown="infrequent_if_exist")
    mechanism, joint = sanitizer.mechanism_, sanitizer.joint_
    reader = RecordReader(
        mechanism.columns, mechanism.secrets, mechanism.values, "all", mechanism.others
    )

    def report(records):
        reports = mechanism.sample(reader.cells(records)).astype(int)
        strange = ~np.isin(records[:, 1].astype(str), mechanism.values)
        if broken:
            reports[strange] = records[strange, 0] == "yes"
        return reports

    options = {"n": 400, "level": 0.9999, "calls": 4, "random_state": 0}
    found = audit(report, distribution=joint, mechanism=mechanism, **options)
    assert names(found) == ({"unknown"} if broken else set())


class ReportsAnyCombination:
    """Takes an unknown combination of known values for a known one, where it should refuse it."""

    def transform(self, X):
        X = np.array(X)
        X[[tuple(row[self.part]) == (1, 1) for row in X], self.part] = 0, 1
        return super().transform(X)


# A sound audit fails with probability 1e-4 at most; an unknown combination that is reported, for
# certain.
@pytest.mark.parametrize(("sensitive", "part"), [([0], slice(1, 3)), ([0, 1], slice(0, 2))])
def test_unknown_combinations_must_be_refused(sensitive, part):
    rows = np.array([list(row) for row in np.ndindex(2, 2, 2)])
    rows = rows[(rows[:, part] != [1, 1]).any(axis=1)]
    options = {"n": 400, "level": 0.9999, "calls": 4, "random_state": 0}
    for cls, failed in ((GRRSanitizer, set()), (ReportsAnyCombination, {"unknown"})):
        kind = type("Kind", (cls, GRRSanitizer), {}) if failed else cls
        kind.part = part
        sanitizer = kind(eps=1.0, sensitive=sensitive, encode="symbol").fit(rows)
        found = audit(sanitizer, **options)
        assert names(found) == failed
    assert "unknown combination with the value" in message(found, "unknown")
