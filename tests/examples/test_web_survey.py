"""The server of the web survey: what it takes and refuses, and what its results say."""

import dataclasses
import http.client
import json
import re
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import ROOT

pytest.importorskip("fastapi", reason="fastapi (extra: survey) is missing")
pytest.importorskip("httpx2", reason="httpx2, which FastAPI's test client needs, is missing")

from fastapi.testclient import TestClient

HOME = ROOT / "examples" / "web_survey"
sys.path += [str(HOME), str(ROOT / "tests" / "browser")]

import design  # noqa: E402
import questions  # noqa: E402
import results  # noqa: E402
import server  # noqa: E402
import simulate  # noqa: E402
from survey_site import serving  # noqa: E402

from skrldp import Mechanism, certify, client  # noqa: E402

ID = "00112233445566778899aabbccddeeff"


@pytest.fixture(scope="module")
def designed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("survey")
    return folder, design.write(folder, questions.SURVEY, questions.public_table())


@pytest.fixture
def folder(designed, tmp_path):
    """The folder that design.py writes, for one test alone."""
    for name in ("mechanism.json", "survey.json", "public.csv"):
        (tmp_path / name).write_bytes((designed[0] / name).read_bytes())
    return tmp_path


@pytest.fixture
def site(folder):
    with TestClient(server.create_app(folder)) as site:
        yield site


@pytest.fixture
def sent(designed):
    """A valid report."""
    return {"digest": designed[1].mechanism_.digest, "id": ID, "report": 1}


@pytest.fixture(scope="module")
def many_sent(designed):
    """Reports of 600 persons; the same one 600 times would contradict the mechanism."""
    device = client.load(designed[1].mechanism_.to_json())
    return [
        {"digest": device.digest, "id": f"{number:032x}", "report": int(report)}
        for number, report in enumerate(device.report_many(simulate.people(600, seed=2)))
    ]


def counted(site):
    return site.get("/results.json").json()["reports"]


def test_the_design_keeps_its_promise_and_is_made_once(designed):
    folder, sanitizer = designed
    text = (folder / "mechanism.json").read_text("utf-8")
    mechanism = Mechanism.from_json(text)
    assert certify(mechanism, sanitizer.uncertainty_, sanitizer.joint_).holds(1.0)
    assert mechanism.guarantee.eps_given_u <= mechanism.guarantee.eps_all <= 2.0
    with pytest.raises(FileExistsError, match="second report"):
        design.write(folder, questions.SURVEY, questions.public_table())
    assert (folder / "mechanism.json").read_text("utf-8") == text


def test_the_pages_need_nothing_from_elsewhere(site):
    seen, todo = set(), ["/", "/results.html", "/survey.json", "/mechanism.json", "/results.json"]
    while todo:
        address = todo.pop()
        seen.add(address)
        answer = site.get(address)
        assert answer.status_code == 200, address
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "form-action 'none'" in policy
        assert "unsafe" not in policy
        text = answer.text.replace('xmlns="http://www.w3.org/2000/svg"', "")
        text = text.replace('"http://www.w3.org/2000/svg"', "").replace("http://localhost", "")
        if not address.endswith(".json"):
            assert not re.search(r"(https?:)?//\w+\.", text), address
        for name in re.findall(r'(?:src|href|from)[= ]"(?:\./)?([\w.]+)"', text):
            if f"/{name}" not in seen:
                todo.append(f"/{name}")
    assert {"/skrldp.js", "/survey.js", "/common.js", "/style.css", "/icon.svg"} <= seen
    given = site.get("/skrldp.js")
    assert given.content == (ROOT / "javascript" / "skrldp.js").read_bytes()
    assert given.headers["content-type"].startswith("text/javascript")


def test_one_report_for_each_id(site, sent):
    assert site.post("/reports", json=sent).status_code == 201
    assert site.post("/reports", json=sent).status_code == 200
    refused = site.post("/reports", json={**sent, "report": 2})
    assert refused.status_code == 409
    assert "another report" in refused.json()["error"]
    assert counted(site) == 1
    assert site.post("/reports", json={**sent, "id": ID[::-1]}).status_code == 201
    assert counted(site) == 2


JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"report": -1}, 422, "report"),
        ({"report": 10**6}, 422, "report: there is none above"),
        ({"report": 1.0}, 422, "report"),
        ({"report": "1"}, 422, "report"),
        ({"report": True}, 422, "report"),
        ({"report": None}, 422, "report"),
        ({"id": "0" * 31}, 422, "id"),
        ({"id": ID + "\n"}, 422, "id"),
        ({"id": "somebody@example.org"}, 422, "id"),
        ({"digest": "0" * 64}, 409, "another mechanism"),
        ({"drove": "quicksilver"}, 422, "drove: Extra inputs"),
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


def test_long_bodies_are_refused(site, sent):
    def without_a_length():
        for _ in range(100):
            yield b" " * 100

    assert site.post("/reports", content=without_a_length(), headers=JSON).status_code == 413
    padded = json.dumps(sent) + " " * server.MOST_BYTES
    assert site.post("/reports", content=padded, headers=JSON).status_code == 413
    assert counted(site) == 0


def test_many_connections_at_once(folder, many_sent):
    """200 connections, open at the same time, with three reports each."""
    everybody = threading.Barrier(200)

    def somebody(port, bodies):
        line, statuses = http.client.HTTPConnection("127.0.0.1", port, timeout=60), []
        line.connect()
        everybody.wait(60)
        for body in bodies:
            line.request("POST", "/reports", json.dumps(body), JSON)
            answer = line.getresponse()
            answer.read()
            statuses.append(answer.status)
        line.close()
        return statuses

    with serving(folder) as port, ThreadPoolExecutor(200) as people:
        found = list(
            people.map(somebody, [port] * 200, [many_sent[i : i + 3] for i in range(0, 600, 3)])
        )
    assert found == [[201] * 3] * 200
    with TestClient(server.create_app(folder)) as site:
        assert counted(site) == 600


def test_aborted_uploads_are_no_errors_of_the_server(folder, sent, capfd):
    """Nothing is stored of them, and nothing is written about who sent them."""
    body = json.dumps(sent).encode()
    head = b"POST /reports HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with serving(folder) as port:
        for end in (0, 1, len(body) - 1):
            with socket.create_connection(("127.0.0.1", port)) as line:
                line.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body[:end])
                time.sleep(0.1)
        assert simulate.answer(f"http://127.0.0.1:{port}", _Always(sent), {}) == 201
    assert capfd.readouterr() == ("", "")
    with TestClient(server.create_app(folder)) as site:
        assert counted(site) == 1


class _Always:
    def __init__(self, sent):
        self.digest, self.report = sent["digest"], lambda person: sent["report"]


@pytest.mark.parametrize("end", ["", "/"])
def test_the_address_that_the_server_prints_is_one_to_simulate_at(folder, capsys, monkeypatch, end):
    with serving(folder) as port:
        address = f"http://127.0.0.1:{port}"
        arguments = ["simulate.py", "--people", "3", "--server", address + end]
        monkeypatch.setattr(sys, "argv", arguments)
        simulate.main()
    assert capsys.readouterr().out == f"3 reports sent; see {address}/results.html\n"
    with pytest.raises(SystemExit, match="does not take reports"):
        simulate.main()


def test_what_does_not_belong_together_is_refused(folder, sent):
    with TestClient(server.create_app(folder)) as site:
        assert site.post("/reports", json=sent).status_code == 201
    text = (folder / "survey.json").read_text("utf-8")
    (folder / "survey.json").write_text(text.replace(sent["digest"], "0" * 64), "utf-8")
    with pytest.raises(ValueError, match="do not belong together"):
        server.create_app(folder)
    (folder / "survey.json").write_text(text.replace('"place"', '"region"'), "utf-8")
    with pytest.raises(ValueError, match="other columns"):
        server.create_app(folder)
    # Another mechanism, as a new design would be, is not counted with the reports of the first one.
    other = Mechanism.from_json((folder / "mechanism.json").read_text("utf-8"))
    doc = json.loads(other.to_json())
    doc["symbols"] = doc["symbols"][::-1]
    doc["weights"] = doc["weights"][::-1]
    other = Mechanism.from_json(json.dumps(doc))
    (folder / "mechanism.json").write_text(other.to_json(), "utf-8")
    (folder / "survey.json").write_text(text.replace(sent["digest"], other.digest), "utf-8")
    with pytest.raises(ValueError, match="reports of another mechanism"):
        server.create_app(folder)
    (folder / "mechanism.json").unlink()
    with pytest.raises(ValueError, match=r"run design\.py first"):
        server.create_app(folder)


def test_few_reports_give_no_estimates(site, many_sent):
    for one in many_sent[: results.NEEDED - 1]:
        site.post("/reports", json=one)
    said = site.get("/results.json").json()
    assert (said["reports"], said["questions"]) == (results.NEEDED - 1, [])
    site.post("/reports", json=many_sent[-1])
    assert len(site.get("/results.json").json()["questions"]) == 3


def test_results_are_near_the_truth(designed, monkeypatch):
    """At level 1 − 10⁻⁶, one of the seven intervals misses in about one of 100,000 runs."""
    monkeypatch.setattr(results, "CONFIDENCE", 1.0 - 1e-6)
    mechanism = designed[1].mechanism_
    device = client.load(mechanism.to_json())
    people = simulate.people(20_000, seed=1)
    counts = np.bincount(device.report_many(people), minlength=len(mechanism.symbols))
    found = results.results(questions.SURVEY, mechanism, counts.tolist())
    assert found["reports"] == 20_000
    truth = simulate.distribution()
    widths = []
    for asked in found["questions"]:
        shares = truth.groupby(asked["column"])["share"].sum()
        assert len(asked["shares"]) == len(shares)
        for share in asked["shares"]:
            assert 0.0 <= share["lower"] <= share["estimate"] <= share["upper"] <= 1.0
            assert share["lower"] <= shares[share["answer"]] <= share["upper"], share["answer"]
            widths.append(share["upper"] - share["lower"])
    assert max(widths) < 0.25  # they say something


def test_statements_round_upwards(designed):
    guarantee = designed[1].mechanism_.guarantee
    promise = results.promise(guarantee)
    said = " ".join([promise["hidden"], promise["others"], *results.statements(guarantee)])
    assert float(re.search(r"at most ([\d.]+) times", said)[1]) >= np.exp(guarantee.eps)
    assert float(re.search(r"and at most ([\d.]+) times", said)[1]) >= np.exp(guarantee.eps_given_u)
    assert "not protected" in said
    unbounded = dataclasses.replace(guarantee, eps_all=None, eps_given_u=None)
    assert "may learn more" in results.promise(unbounded)["hidden"]
    assert results.promise(unbounded)["times_known"] is None
    assert results.factor(np.log(3.0)) in ("3.00", "3.01")
    assert results.factor(1.0) == "2.72"
