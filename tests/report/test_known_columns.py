"""What a report says of observers who know columns, of sets that miss, and on each page."""

import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest
import reports_of_fits
from conftest import few_iterations
from reports_of_fits import leakage, row, words_of

from skrldp import (
    AllDistributions,
    LikelihoodRatioSet,
    PolyOptSanitizer,
    RenyiBall,
    privacy_report,
)
from skrldp._params import at_most
from skrldp.claims_in_words import set_lines
from skrldp.mechanism.manifest import read_json
from skrldp.mechanism.messages import lines_of, notes_of

pytestmark = [
    pytest.mark.usefixtures("few_reports"),
    pytest.mark.filterwarnings(
        "ignore:the values of U were learned",  # tables are small
        "ignore::sklearn.exceptions.ConvergenceWarning",
    ),
]

# Two sensitive columns of two values each, or one of three, and U of two columns.
PEOPLE = pd.DataFrame(
    itertools.product(["ill", "well"], ["rich", "poor"], ["young", "old"], ["0", "1+"]),
    columns=["health", "means", "age", "visits"],
)
RECORDS = [90, 40, 30, 60, 80, 20, 50, 70, 60, 90, 20, 40, 30, 80, 70, 50]
LISTED = {"categories": {"age": ["young", "old"], "visits": ["0", "1+"]}}
LISTED["categories"] |= {"health": ["ill", "well"], "means": ["rich", "poor"]}


def fitted(rows=PEOPLE, counts=RECORDS, **parameters):
    with few_iterations():
        return reports_of_fits.fitted(PolyOptSanitizer, rows, counts, **parameters)


def test_who_knows_one_of_several_grouped_values_is_told_apart():
    """Of half of the rare values U = S, of the others U = 1 - S: "other" tells nothing, they do."""
    rows = [[s, k, u] for s in (0, 1) for k in "A" for u in (0, 1)]
    rare = [[s, f"{kind}{i}", s ^ kind] for s in (0, 1) for i in range(2) for kind in (0, 1)]
    own = {"sensitive": 0, "observer_columns": [1], "categories": "product"}
    own["uncertainty"] = RenyiBall(radius=0.01)
    counts = [900] * len(rows) + [200] * len(rare)
    sanitizer = fitted(rows + rare, counts, min_frequency=500, **own)
    report, mechanism = privacy_report(sanitizer), sanitizer.mechanism_
    first, second = (mechanism.values.index(("other", s)) for s in (0, 1))
    told = mechanism.matrix.reshape(-1, 2, len(mechanism.values))
    who_knows_one = np.stack([told[:, 0, first], told[:, 1, second]], axis=1)
    assert leakage(who_knows_one, [(0, 1), (1, 0)]) > report.claims.known.eps + 0.1
    words = "For column 1, observers are assumed to know the category"
    assert words in " ".join(report.notes)
    loaded = read_json(mechanism.to_json())  # inspect and verify have nothing else
    assert words in str(lines_of(loaded)) and words in str(notes_of(loaded))
    plain = fitted(rows, [900] * len(rows), **own)
    assert words not in " ".join(privacy_report(plain).notes)
    assert words not in str(lines_of(plain.mechanism_))


@pytest.mark.parametrize(
    ("uncertainty", "more", "together", "words"),
    [
        (None, LISTED, 0.1, "one of them with probability at most 0.1"),
        (None, {}, 0.05, ""),  # the same event, as values are learned
        (LikelihoodRatioSet(0.01, radius="asymptotic"), {}, 0.02, "with probability about 0.02"),
        (LikelihoodRatioSet(radius=0.01, drift=0.01), {}, None, "how often they miss is unknown"),
        (RenyiBall(1), {}, 0.05, ""),
    ],
)
def test_known_columns_and_how_often_sets_miss(uncertainty, more, together, words):
    sanitizer = fitted(observer_columns="age", uncertainty=uncertainty, **more)
    report, proof = privacy_report(sanitizer), sanitizer.certificate_
    known = proof.claims.known
    assert report.claims.known == known and known.known == ("age",)
    assert row(report, "'age'") == at_most(known.eps, ".6g")
    assert report.claims.beta == together
    assert words in words_of(report)
    moved = "that the population has changed by at most the drift since"
    assert (moved in words_of(report)) == (getattr(uncertainty, "drift", 0.0) > 0.0)


def test_pages_for_auditors_and_programs():
    """The same figures and sentences, and what beta rests on wherever there is one."""
    san = fitted()
    report = privacy_report(san)
    read = json.loads(report.to_json())
    assert read["digest"] == san.mechanism_.digest and report.digest in report.to_markdown()
    assert set(read) == set(report.to_dict())
    assert read["claims"][0]["eps"] == report.claims.eps and read["notes"] == list(report.notes)
    card = report.to_markdown()
    plain = re.sub(r"\\(.)", r"\1", card)
    for said in (
        *report.warnings,
        *report.notes,
        *dict(set_lines(report.claims.main.around)).values(),
    ):
        assert said in plain
    assert "independently" in words_of(report)
    assert read["in_short"] == [line[2:] for line in plain.splitlines()[4:9]]
    everywhere = privacy_report(fitted(uncertainty=AllDistributions()))
    assert "assumes" not in str(everywhere)
