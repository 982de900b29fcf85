"""The server of the web survey: what it takes and refuses, and what its results say."""

import dataclasses
import datetime as dt
import json
import re
import sys
from collections import Counter

import numpy as np
import pytest
from conftest import ROOT

pytest.importorskip("fastapi", reason="fastapi (group: survey) is missing")
pytest.importorskip("httpx2", reason="httpx2, which FastAPI's test client needs, is missing")

from fastapi.testclient import TestClient

HOME = ROOT / "examples" / "web_survey"
sys.path += [str(HOME), str(ROOT / "tests" / "browser")]

import design  # noqa: E402
import people  # noqa: E402
import promise  # noqa: E402
import questions  # noqa: E402
import results  # noqa: E402
import server  # noqa: E402
from survey_site import ID, TOKEN, count_reports, few_questions, invite_all  # noqa: E402

from skrldp import certify, client  # noqa: E402
from skrldp.mechanism.manifest import Manifest  # noqa: E402

# The made-up people who answer are not quite like those of the public table.
pytestmark = pytest.mark.filterwarnings("ignore:those who reported|respondents differ")
NEEDED = 100


@pytest.fixture(scope="module")
def designed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("survey")
    closes = dt.datetime.now(dt.UTC) + dt.timedelta(days=1)
    return folder, design.write(folder, few_questions(), people.public_table(), closes, NEEDED)


@pytest.fixture
def folder(designed, tmp_path):
    """The folder that design.py writes, for one test alone."""
    for name in design.FILES:
        (tmp_path / name).write_bytes((designed[0] / name).read_bytes())
    return tmp_path


@pytest.fixture(scope="module")
def manifest(designed):
    return designed[1].manifest_


@pytest.fixture
def sent(manifest):
    """A valid report."""
    return {"digest": manifest.digest, "invitation": TOKEN, "id": ID, "block": 1, "report": 1}


@pytest.fixture(scope="module")
def many_sent(manifest):
    """Reports of 600 persons; the same one 600 times would contradict the mechanism."""
    device = client.load(manifest.to_json())
    drawn = np.transpose(device.report_many(people.respondents(600, seed=2))).tolist()
    names = ("digest", "invitation", "id", "block", "report")
    return [
        dict(zip(names, (device.digest, f"{n:032x}", f"{n:032x}", *pair), strict=True))
        for n, pair in enumerate(drawn)
    ]


@pytest.fixture
def site(folder, many_sent):
    invite_all(folder, [TOKEN, ID, *(one["invitation"] for one in many_sent)])
    with visited(folder) as site:
        yield site


def visited(folder):
    return TestClient(server.create_app(folder), base_url="http://localhost")


def counted(site):
    return count_reports(site.app.state.store.path.parent)


def test_the_design_keeps_its_promise_and_is_made_once(designed):
    folder, sanitizer = designed
    text = (folder / "manifest.json").read_text("utf-8")
    written = Manifest.from_json(text)
    assert written.blocks == (("age",), ("place",))
    for mechanism, one in zip(written.mechanisms, sanitizer.sanitizers_, strict=True):
        assert certify(mechanism, one.uncertainty_, one.joint_).holds(1.0)
        assert mechanism.claims.eps_given_u <= mechanism.claims.eps_worst_case <= 2.0
    with pytest.raises(FileExistsError, match="second report"):
        design.write(folder, few_questions(), people.public_table(), server.now())
    assert (folder / "manifest.json").read_text("utf-8") == text


def test_the_pages_need_nothing_from_elsewhere(site):
    given = ["", "skrldp.js", "survey.json", "manifest.json", "results.json"]
    names = {*given, *(path.name for path in (HOME / "page").iterdir())}
    for name in names:
        answer = site.get(f"/{name}")
        assert answer.status_code == 200, name
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy and "form-action 'none'" in policy
        assert "unsafe" not in policy
        if not name.endswith(".json"):
            text = re.sub(r"http://(www\.w3\.org/2000/svg|localhost)", "", answer.text)
            assert not re.search(r"(https?:)?//\w+\.", text), name
            needed = set(re.findall(r'(?:src|href|from)[= ]"(?:\./)?([\w.]+)"', text))
            assert needed <= names | {"results.csv"}  # there is none yet
    assert site.get("/").text == site.get("/index.html").text
    script = site.get("/skrldp.js")
    assert script.content == (ROOT / "javascript" / "skrldp.js").read_bytes()
    assert script.headers["content-type"].startswith("text/javascript")


def test_one_report_for_each_invitation_and_id(site, sent):
    assert site.post("/reports", json=sent).status_code == 201
    assert site.post("/reports", json=sent).status_code == 200
    for change in ({"report": 2}, {"block": 0}, {"report": 2, "invitation": ID}):
        refused = site.post("/reports", json={**sent, **change})
        assert refused.status_code == 409
        assert "another report" in refused.json()["error"]
    for _ in range(2):
        refused = site.post("/reports", json={**sent, "id": ID[::-1]})
        assert refused.status_code == 409
        assert "invitation has been used" in refused.json()["error"]
    refused = site.post("/reports", json={**sent, "id": ID[::-1], "invitation": TOKEN[::-1]})
    assert refused.status_code == 403
    assert "no invitation" in refused.json()["error"]
    assert counted(site) == 1
    other = {**sent, "id": ID[::-1], "invitation": ID}
    assert site.post("/reports", json=other).status_code == 201
    assert counted(site) == 2


JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"report": -1}, 422, "report"),
        ({"report": 10**6}, 422, "report: this block has none above"),
        ({"block": 2}, 422, "block: there is none above 1"),
        ({"report": True}, 422, "report"),
        ({"id": "somebody@example.org"}, 422, "id"),
        ({"invitation": "somebody@example.org"}, 422, "invitation"),
        ({"digest": "0" * 64}, 409, "another manifest"),
        ({"quicksilver": "no", "somebody": 1}, 422, "other fields: there are none."),
    ],
)
def test_wrong_fields_are_refused(site, sent, change, status, message):
    answer = site.post("/reports", json={**sent, **change})
    assert answer.status_code == status
    assert message in answer.json()["error"]
    assert "quicksilver" not in answer.text
    assert "somebody" not in answer.text
    assert counted(site) == 0


def test_wrong_bodies_are_refused(site, sent):
    good = json.dumps(sent)
    bodies = ["", "{", "[]", "null", "1", good[:-1], good + "x", '"' + "[" * 900, "\ud800"]
    for body in (text.encode("utf-8", "surrogatepass") for text in bodies):
        answer = site.post("/reports", content=body, headers=JSON)
        assert answer.status_code == 422, body
        assert answer.json()["error"]
    # Other pages' forms cannot send JSON, and so cannot report in a visitor's name.
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = site.post("/reports", content=good, headers={"Content-Type": kind})
        assert answer.status_code == 415
    for missing in sent:
        less = {name: value for name, value in sent.items() if name != missing}
        assert site.post("/reports", json=less).status_code == 422
    assert counted(site) == 0


def test_other_hosts_and_pages_are_refused(site, sent):
    for host in ("evil.example", "localhost.evil.example", "", "evil.example:8000"):
        assert site.get("/survey.json", headers={"Host": host}).status_code == 400
    for origin in ("http://evil.example", "null", "http://localhost:1", "localhost", ""):
        refused = site.post("/reports", json=sent, headers={"Origin": origin})
        assert refused.status_code == 403, origin
    assert counted(site) == 0
    for origin in ("http://localhost", "https://localhost"):  # a proxy may have the certificate
        assert site.post("/reports", json=sent, headers={"Origin": origin}).status_code < 300


def test_what_does_not_belong_together_is_refused(folder, site, sent):
    assert site.post("/reports", json=sent).status_code == 201
    text = (folder / "survey.json").read_text("utf-8")
    (folder / "survey.json").write_text(text.replace(sent["digest"], "0" * 64), "utf-8")
    with pytest.raises(ValueError, match="do not belong together"):
        server.create_app(folder)
    (folder / "survey.json").write_text(text.replace('"place"', '"region"'), "utf-8")
    with pytest.raises(ValueError, match="other columns"):
        server.create_app(folder)


def test_after_the_closing_date_nothing_is_taken(site, sent, monkeypatch):
    closes = dt.datetime.fromisoformat(site.get("/survey.json").json()["closes"])
    monkeypatch.setattr(server, "now", lambda: closes - dt.timedelta(seconds=1))
    assert site.get("/survey.json").json()["closed"] is False
    assert site.post("/reports", json=sent).status_code == 201
    monkeypatch.setattr(server, "now", lambda: closes)
    assert site.get("/survey.json").json()["closed"] is True
    refused = site.post("/reports", json={**sent, "invitation": ID, "id": ID[::-1]})
    assert refused.status_code == 403
    assert "closed" in refused.json()["error"]
    assert counted(site) == 1
    assert design.end_of(dt.date(2030, 12, 31)) == dt.datetime(2031, 1, 1, tzinfo=dt.UTC)


def test_results_are_near_the_truth(manifest, monkeypatch):
    """At level 1 − 10⁻⁶, one of the ten intervals misses in about one of 100,000 runs."""
    monkeypatch.setattr(results, "CONFIDENCE", 1.0 - 1e-6)
    device = client.load(manifest.to_json())
    drawn = np.transpose(device.report_many(people.respondents(20_000, seed=1))).tolist()
    survey = {**few_questions(), "needed": NEEDED, "closes": ""}
    found = results.results(survey, manifest, Counter(map(tuple, drawn)))
    assert found["reports"] == 20_000
    truth = people.respondents(200_000, seed=9)
    widths = []
    for asked in found["questions"]:
        shares = truth[asked["column"]].value_counts(normalize=True)
        assert [share["answer"] for share in asked["shares"]] == (
            questions.categories(survey)[asked["column"]]
        )
        for share in asked["shares"]:
            assert 0.0 <= share["lower"] <= share["upper"] <= 1.0
            assert 0.0 <= share["estimate"] <= 1.0
            assert share["lower"] <= shares[share["answer"]] <= share["upper"], share["answer"]
            widths.append(share["upper"] - share["lower"])
    assert max(widths) < 0.25  # they say something


def test_statements_round_upwards(manifest):
    said = promise.promise(manifest)
    once, more = (
        float(one)
        for one in re.findall(r"(?:factor of|factor is) at most ([\d.]*\d)", said["hidden"])
    )
    assert once >= np.exp(manifest.eps) and once == float(said["times"])
    known = max(one.claims.eps_worst_case for one in manifest.mechanisms)
    assert more >= np.exp(known) and more == float(said["times_known"])
    unbounded = [
        dataclasses.replace(one, claims=dataclasses.replace(one.claims, items=(one.claims.main,)))
        for one in manifest.mechanisms
    ]
    said = promise.promise(Manifest.of(unbounded, manifest.shares))
    assert "one who knows more may learn 'drove'" in said["hidden"]
    assert said["times_known"] is None
