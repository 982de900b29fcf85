"""Whatever is asked for, every place that states a bound states the same claims, as data."""

import io
import json
import random
import warnings
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pandas as pd
import pytest
from conftest import few_iterations

from skrldp import (
    AllDistributions,
    AOptimalSanitizer,
    BlockSanitizer,
    GRRSanitizer,
    IRSanitizer,
    LikelihoodRatioSet,
    PolyOptSanitizer,
    RenyiBall,
    SRRSanitizer,
    SurveyDesign,
    client,
    privacy_report,
)
from skrldp._pages import _LEFT
from skrldp._params import at_most
from skrldp.auditing import claims_of
from skrldp.certificate import counts_to_json, verify, witness_of
from skrldp.claims_in_words import claims_shown, claims_table
from skrldp.cli import main
from skrldp.mechanism.manifest import read_json

ROWS = np.arange(1_200)
TABLE = pd.DataFrame(
    {
        "ill": np.array(["no", "yes"])[(ROWS % 7 < 3).astype(int)],
        "job": np.array(["desk", "field"])[ROWS // 2 % 2],
        "sex": np.array(["f", "m"])[ROWS // 4 % 2],
    }
)
SURVEY = TABLE.assign(weight=1.0 + ROWS % 3, place=ROWS // 15)
GIVEN = {"ill": ["no", "yes"], "job": ["desk", "field"], "sex": ["f", "m"]}
SETS = [
    None,
    LikelihoodRatioSet(radius="asymptotic"),
    LikelihoodRatioSet(0.01, drift=0.01),
    LikelihoodRatioSet(radius=0.01),
    RenyiBall(),
    RenyiBall(1, radius="finite-sample"),
    RenyiBall(radius=0.0),
    AllDistributions(),
]


def random_sanitizer(rng):
    """A sanitizer with options of every kind, and the table that it is fitted to."""
    cls = rng.choice([GRRSanitizer, SRRSanitizer, IRSanitizer, IRSanitizer, PolyOptSanitizer])
    cls = AOptimalSanitizer if rng.random() < 0.05 else cls
    options = {"eps": rng.choice([0.5, 1.0, 2.0]), "categories": rng.choice([GIVEN, "auto"])}
    blocks, table = rng.random() < 0.2, TABLE
    designed = cls in (PolyOptSanitizer, AOptimalSanitizer)
    inner = {"uncertainty": rng.choice(SETS)}
    if rng.random() < 0.3 and options["categories"] == "auto":
        inner["min_frequency"] = "auto"
    if designed:
        options |= rng.choice([{}, {"eps_worst_case": 4.0}])
        known = {"observer_columns": "sex"} if options["categories"] == GIVEN or blocks else {}
        options |= rng.choice([{}, known])
        inner |= {"time_limit": 0.02}
    elif rng.random() < 0.3 and not blocks:
        design = SurveyDesign(weights="weight", clusters="place")
        inner["uncertainty"] = rng.choice([LikelihoodRatioSet(radius="asymptotic"), RenyiBall(1)])
        options["survey"], table = design, SURVEY
    if blocks:
        inner.pop("min_frequency", None)
        return BlockSanitizer(sensitive="ill", base=cls(**inner), **options), table
    return cls(sensitive="ill", **options, **inner), table


def stated(claims):
    """Claims as data: about whom and how many reports; at what eps, over which set."""
    found = {}
    for one in claims:
        everywhere = one["around"] == "all"
        about = tuple(one["known"]), one.get("reports", 1), one.get("record", "same"), everywhere
        found[about] = one["eps"], one["attained"], one.get("asked"), one["around"]
    return found


def named(text):
    """The claims of a JSON text, with columns by their names."""
    fields = json.loads(text)
    names = [name for name, _ in fields["columns"]]
    for one in fields["claims"]:
        if one["known"] != "all":
            one["known"] = [names[place] for place in one["known"]]
    return fields["claims"]


def inspected(text, tmp_path):
    path, said = tmp_path / "m.json", io.StringIO()
    path.write_text(text, "utf-8")
    with redirect_stdout(said), redirect_stderr(io.StringIO()):
        assert main(["inspect", str(path), "--json"]) == 0
    return json.loads(said.getvalue())["claimed"]


def places(sanitizer, tmp_path):
    """Every place that states bounds: its name, its claims as data, and its beta if it has one."""
    blocks = isinstance(sanitizer, BlockSanitizer)
    own = sanitizer.manifest_ if blocks else sanitizer.mechanism_
    text, report = own.to_json(), privacy_report(sanitizer)
    yield "mechanism or manifest", own.claims.to_json(), own.claims.beta
    if not blocks:
        yield "certificate", sanitizer.certificate_.claims.to_json(), own.claims.beta
        yield "JSON", named(text), None
        device = client.load(text)
        yield "client", device.claims.to_json(), device.claims.beta
        audited = [own.claims.main, *([own.claims.known] if own.claims.known else [])]
        assert claims_of(sanitizer) == audited
    again = read_json(text).claims
    yield "read again", again.to_json(), again.beta
    found = inspected(text, tmp_path)
    yield "inspect", found["claims"], found["beta"]
    for name, figures in (
        ("report, JSON", json.loads(report.to_json())),
        ("report, dict", report.to_dict()),
    ):
        yield name, figures["claims"], figures["beta"]
    assert report.claims.items[: len(own.claims.items)] == own.claims.items
    page = report.to_html().replace("&lt;", "<").replace("&#x27;", "'")
    text = " ".join(str(report).split())
    for one, row in zip(claims_shown(report.claims), claims_table(report.claims)[2], strict=True):
        assert row[3] in ("no bound", at_most(one.eps, ".6g"))
        assert "".join(f"<td {_LEFT}>{cell}</td>" for cell in row[1:]) in page
        assert " ".join(" ".join(row).split()) in text


def witnessed(sanitizer):
    """The bounds that a witness shows, in whole numbers."""
    if isinstance(sanitizer, BlockSanitizer):
        own, joint = sanitizer.manifest_, [one.joint_ for one in sanitizer.sanitizers_]
        witness = witness_of(own, joint)
    else:
        own, joint = sanitizer.mechanism_, sanitizer.joint_
        witness = sanitizer.certificate_.witness()
    verdict = verify(own.to_json(), counts_to_json(joint), witness)
    assert verdict.holds, verdict.message
    return [float(line.partition("eps <= ")[2].split()[0]) for line in verdict.shown]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("few_reports")
def test_every_place_states_the_same_claims(tmp_path):
    rng, seen = random.Random(5), []
    for number in range(24):
        sanitizer, table = random_sanitizer(rng)
        with warnings.catch_warnings(), few_iterations(1):
            warnings.simplefilter("ignore")
            sanitizer.fit(table)
        (_, claims, beta), *others = places(sanitizer, tmp_path)
        first = stated(claims)
        for place, claims, own in others:
            found = {about: it for about, it in stated(claims).items() if about[1] == 1}
            assert found == first, (number, place)
            assert own in (None, beta), (number, place)
        if number % 4 == 0:
            blocks = isinstance(sanitizer, BlockSanitizer)
            parts = sanitizer.manifest_.claims.parts if blocks else [sanitizer.mechanism_.claims]
            assert witnessed(sanitizer) == [one.eps for part in parts for one in part]
        seen.append((type(sanitizer).__name__, beta))
    assert len({kind for kind, _ in seen}) >= 5 and len({beta for _, beta in seen}) > 3
