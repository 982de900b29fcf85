"""A design of the package svy is read whole, or refused where it has no equivalent."""

from types import SimpleNamespace

import pytest

from skrldp import SurveyDesign


def sample(rep_coefs=None, **design):
    own = dict.fromkeys(["wgt", "prob", "stratum", "psu", "ssu", "rep_wgts", "singleton"]) | design
    found = SimpleNamespace(design=SimpleNamespace(**own))
    if rep_coefs is not None:
        found.rep_columns, found.rep_coefs = list(rep_coefs), rep_coefs
    return found


def rule(name):
    return SimpleNamespace(method=SimpleNamespace(value=name))


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (
            {"wgt": "w", "stratum": ("r", "t"), "psu": "school", "singleton": rule("center")},
            SurveyDesign("w", ["r", "t"], "school", nest=True, singleton="center"),
        ),
        (
            {"stratum": "r", "psu": ("town", "school"), "singleton": rule("skip")},
            SurveyDesign(strata="r", clusters=("town", "school"), nest=True, singleton="certainty"),
        ),
        (
            {"wgt": "w", "stratum": "r", "rep_wgts": "BRR", "rep_coefs": {"b1": 0.5, "b2": 0.5}},
            SurveyDesign(weights="w", replicate_weights=["b1", "b2"], scale=0.5),
        ),
    ],
)
def test_a_design_is_read(stated, expected):
    assert SurveyDesign.from_svy(sample(**stated)) == expected


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"prob": "p"}, r"selection probabilities \('p'\) but no weights"),
        ({"rep_wgts": "JK", "rep_coefs": {"a": 0.5, "b": 0.6}}, "different coefficients"),
        ({"wgt": "w", "singleton": rule("pool")}, "singleton='pool' has no equivalent here"),
    ],
)
def test_what_has_no_equivalent_is_refused(stated, message):
    with pytest.raises(ValueError, match=message):
        SurveyDesign.from_svy(sample(**stated))
