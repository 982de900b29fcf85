"""The web survey in a real Chromium: what leaves it, byte by byte, and what the person sees.

Every byte that is sent depends on the report alone; nobody gets a second report; the page shows the
promise. That the server's results hold the truth is tested in ``tests/examples``.
"""

import base64
import csv
import datetime as dt
import io
import itertools
import json
import re
import secrets
import sys
from types import SimpleNamespace

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright (extra: browser) is missing")
pytest.importorskip("fastapi", reason="fastapi (extra: survey) is missing")

import survey_site
from conftest import ROOT
from survey_site import ID, TOKEN, answer_all, count_reports, few_questions, fill, invite_all

from skrldp import client
from skrldp.mechanism.manifest import Manifest

sys.path.append(str(ROOT / "examples" / "web_survey"))

import design
import people
import server
from questions import SURVEY

# The made-up people who answer are not quite like those of the public table.
pytestmark = pytest.mark.filterwarnings("ignore:those who reported|respondents differ")
# Three questions of the example with answers that occur nowhere by chance.
WORDS = {
    "in a city or town": "Zürich-quartz 83",
    "in the countryside": "Ljubljana&teal/?",
    "no, not once": "Okapi+flute",
    "yes, at least once": "Xylophone=amber",
    "18 to 34": "Gyroscope",
    "35 to 59": "Nasturtium",
    "60 or older": "Quokka",
    "rather not say": "Saxifrage",
}
YEARS = {"Gyroscope": 27, "Nasturtium": 59, "Quokka": 97}
FIRST, SECOND, THIRD = (asked["text"] for asked in few_questions()["questions"])
FIELDS = ["block", "digest", "id", "invitation", "report"]


def reworded(value):
    if isinstance(value, dict):
        return {name: reworded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [reworded(each) for each in value]
    return WORDS.get(value, value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("survey")
    closes = dt.datetime.now(dt.UTC) + dt.timedelta(days=1)
    table = people.public_table().replace(WORDS)
    design.write(folder, reworded(few_questions()), table, closes, needed=100)
    return folder


@pytest.fixture(scope="module")
def manifest(folder):
    return Manifest.from_json((folder / "manifest.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def how():
    """How Chromium is started."""
    path = survey_site.chromium()
    if path is None:
        pytest.skip("there is no Chromium (SKRLDP_CHROMIUM may name one)")
    return {"executable_path": path, "args": ["--no-sandbox", *survey_site.FLAGS]}


@pytest.fixture(scope="module")
def chromium(how):
    with survey_site.started() as browser:
        yield browser


@pytest.fixture
def relay(folder):
    reopen(folder)
    with survey_site.site(folder) as relay:
        yield relay


def reopen(folder):
    """Forget all reports, and open the invitation."""
    (folder / "reports.sqlite").unlink(missing_ok=True)
    invite_all(folder, [TOKEN])


# The page draws an id of 16 bytes and a key of 32.
CHOSEN = """
const chosen = {16: "%s", 32: "%s"};
crypto.getRandomValues = (bytes) => {
  bytes.set(chosen[bytes.length].match(/../g).map((pair) => Number.parseInt(pair, 16)));
  return bytes;
};
"""


class Person:
    """A browser with storage of its own, and what happened in it."""

    def __init__(self, chromium, relay, id=None, key=None, **view):
        self.relay, self.elsewhere, self.complaints = relay, [], []
        self.context = chromium.new_context(locale="en-GB", **view)
        self.context.on("request", self._note)
        if key is not None:
            self.context.add_init_script(CHOSEN % (id, key))
        self.page = self.open()

    def _note(self, request):
        if not request.url.startswith(f"{self.relay.url}/"):
            self.elsewhere.append(request.url)

    def open(self, path=f"/#{TOKEN}"):
        page = self.context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda said: self.complaints.append(said.text))
        page.on("pageerror", lambda problem: self.complaints.append(str(problem)))
        page.goto(self.relay.url + path, wait_until="networkidle")
        return page

    def answer(self, record, page=None):
        page = page or self.page
        first = page.get_by_role("group", name=FIRST)
        if record["age"] in YEARS:
            first.get_by_role("textbox").fill(str(YEARS[record["age"]]))
        else:
            first.get_by_label(record["age"]).check()
        page.get_by_role("group", name=SECOND).get_by_label(record["place"]).check()
        page.get_by_role("group", name=THIRD).get_by_label(record["drove"]).check()
        page.get_by_role("button", name="Show me what would be sent").click()
        page.locator("#preview").wait_for(state="visible")
        body = json.loads(page.locator("#body").text_content())
        assert page.locator("#number").inner_text() == str(body["report"])
        assert (FIRST, SECOND)[body["block"]] in page.locator("#about").inner_text()
        return body["block"], body["report"]

    def send(self, page=None):
        page = page or self.page
        page.get_by_role("button", name=re.compile("^Send report")).click()
        page.locator("#status").wait_for(state="visible")

    def storage(self):
        return self.page.evaluate(
            "async () => [{...localStorage}, {...sessionStorage}, await indexedDB.databases(), "
            "await caches.keys(), document.cookie]"
        )


@pytest.fixture
def person(chromium, relay):
    """Make persons, each with a browser of its own."""
    made = []

    def new(**options):
        made.append(Person(chromium, relay, **options))
        return made[-1]

    yield new
    for each in made:
        each.context.close()


def reports(relay):
    """The bodies of all requests that have one."""
    return [body for request in relay.requests if (body := request.partition(b"\r\n\r\n")[2])]


def records(manifest):
    """All combinations of answers."""
    known = manifest.categories
    for drove, age, place in itertools.product(manifest.secrets, known["age"], known["place"]):
        yield {"age": age, "place": place, "drove": drove}


def test_what_is_shown_is_what_is_sent_and_nothing_else_is_kept(person, relay, manifest):
    """No answer is in it, nor in the browser's storage; the invitation stands in the body alone."""
    record = list(records(manifest))[9]
    someone = person()
    drawn = someone.answer(record)
    shown = someone.page.locator("#body").text_content()
    someone.send()
    assert "Thank you" in someone.page.locator("#status").inner_text()
    storage = json.dumps(someone.storage(), ensure_ascii=False)
    someone.open("/results.html")
    assert [body.decode() for body in reports(relay)] == [shown]
    body = json.loads(shown)
    assert sorted(body) == FIELDS
    assert (body["digest"], body["invitation"]) == (manifest.digest, TOKEN)
    assert (body["block"], body["report"]) == drawn
    assert body["report"] in range(len(manifest.mechanisms[body["block"]].symbols))
    assert re.fullmatch("[0-9a-f]{32}", body["id"])
    everything = b"\n".join(relay.requests)
    assert everything.count(TOKEN.encode()) == 1  # it is behind the # of the address
    assert not any(word in storage or word.encode() in everything for word in WORDS.values())
    assert "key" not in storage
    assert not someone.elsewhere
    assert not someone.complaints


def test_requests_are_a_function_of_the_report_alone(person, relay, folder, manifest):
    """Whatever the answers are: if the report is the same, so is every byte that is sent.

    This covers every encoding. Each combination of answers gets a key with which its permanent
    report is the same one; keys stay in the browser. Python computes these reports, so the page
    agrees with it as well.
    """
    id, matrix = secrets.token_hex(16), manifest.mechanisms[1].matrix
    wanted = 1, int(matrix.min(axis=1).argmax())
    seen = []
    for record in list(records(manifest))[::3]:
        key = secrets.token_bytes(32)
        while client.load(manifest.to_json(), permanent_key=key).report(record, id=id) != wanted:
            key = secrets.token_bytes(32)
        reopen(folder)
        someone = person(id=id, key=key.hex())
        assert someone.answer(record) == wanted
        someone.send()
        seen.append(sorted(relay.requests))
        relay.forget()
        someone.context.close()
    assert len(seen) == 12
    assert all(each == seen[0] for each in seen)
    assert sum(b"POST /reports" in request for request in seen[0]) == 1


ESCAPES = """
async (elsewhere) => {
  const refused = [];
  document.addEventListener("securitypolicyviolation", (e) => refused.push(e.effectiveDirective));
  await fetch(`${elsewhere}/fetch`, { mode: "no-cors" }).catch(() => {});
  navigator.sendBeacon(`${elsewhere}/beacon`);
  new Image().src = `${elsewhere}/image`;
  const form = document.createElement("form");
  form.action = `/form`;
  document.body.append(form);
  form.submit();
  await new Promise((done) => setTimeout(done, 500));
  return refused.sort();
}
"""


def test_the_policy_holds(person, relay):
    """Even a script in the page reaches no other server, and forms send nothing at all."""
    someone = person()
    elsewhere = f"http://127.0.0.1:{relay.port}"  # the same relay by another name
    before = len(relay.requests)
    refused = someone.page.evaluate(ESCAPES, elsewhere)
    assert refused == ["connect-src", "connect-src", "form-action", "img-src"]
    assert relay.requests[before:] == []


def test_one_person_sends_one_report(person, relay, folder, manifest):
    someone = person()
    first, second = list(records(manifest))[5], list(records(manifest))[22]
    y = someone.answer(first)
    z = someone.answer(second)
    assert someone.answer(first) == y  # nobody gets another number by trying again
    assert someone.answer(second) == z
    assert someone.answer(first) == y
    assert someone.storage() == [{}, {}, [], [], ""]
    other = someone.open()
    someone.answer(second, other)
    someone.send()
    someone.send(other)  # a second tab with other answers sends nothing more
    assert "Nothing was sent from this one" in other.locator("#status").inner_text()
    someone.page.reload(wait_until="networkidle")
    assert f"Report {y[1]} has arrived" in someone.page.locator("#status").inner_text()
    assert not someone.page.locator("form").is_visible()
    assert not someone.page.get_by_role("button").all() or not any(
        button.is_visible() for button in someone.page.get_by_role("button").all()
    )
    (body,) = map(json.loads, reports(relay))
    assert (body["block"], body["report"]) == y
    assert count_reports(folder) == 1


DRAWN = """
const drawn = globalThis.drawn = [], draw = crypto.getRandomValues.bind(crypto);
crypto.getRandomValues = (bytes) => {
  drawn.push(Array.from(draw(bytes)));
  return bytes;
};
"""


def test_the_key_is_in_no_file_of_the_browser(chromium, how, relay, manifest, tmp_path):
    """What is deleted from a browser's storage may stay in its files, so it is never put there."""
    codes, ids = set(), []
    for sends in (False, True):  # closing a browser writes its storage into files
        context = chromium.browser_type.launch_persistent_context(tmp_path, **how)
        context.add_init_script(DRAWN)
        someone = Person(SimpleNamespace(new_context=lambda context=context, **_: context), relay)
        someone.answer(list(records(manifest))[4])
        keys = [bytes(each) for each in someone.page.evaluate("drawn") if len(each) == 32]
        assert len(keys) == 1
        codes |= {keys[0], base64.b64encode(keys[0])[:-2], keys[0].hex().encode()}
        ids.append(json.loads(someone.page.locator("#body").text_content())["id"].encode())
        if sends:
            someone.send()
            assert "Thank you" in someone.page.locator("#status").inner_text()
        context.close()
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert [any(id in file for file in files) for id in ids] == [False, True]
    assert not any(code in file for file in files for code in codes)


@pytest.mark.parametrize("fault", ["off", "deaf"])
def test_a_lost_connection_gives_no_second_report(person, relay, folder, manifest, fault):
    """Whether the request or only the answer is lost: what is sent again is the same."""
    someone = person()
    y = someone.answer(list(records(manifest))[7])
    setattr(relay, fault, True)
    relay.hang_up()
    someone.send()
    assert "cannot be reached" in someone.page.get_by_role("alert").inner_text()
    assert "not certain" in someone.page.locator("#status").inner_text()
    relay.off = relay.deaf = False
    someone.page.reload(wait_until="networkidle")
    assert not someone.page.locator("form").is_visible()
    someone.page.get_by_role("button", name="Try again").click()
    someone.page.get_by_text(f"Report {y[1]} has arrived").wait_for()
    sent = set(reports(relay))
    assert len(sent) == 1
    assert count_reports(folder) == 1


def test_wrong_answers_and_mechanisms_are_refused(person, relay, manifest):
    someone = person()
    someone.page.get_by_role("button", name="Show me").click()
    missing = someone.page.locator(".missing").all_inner_texts()
    assert missing[0].startswith("Please type a whole number from 18 to 120, or choose not to say")
    assert missing[1:] == ["Please choose an answer."] * 2
    for years in ("17", "121", "-20", "3e1", "abc", " "):
        someone.page.get_by_role("group", name=FIRST).get_by_role("textbox").fill(years)
        someone.page.get_by_role("button", name="Show me").click()
        assert "whole number" in someone.page.locator(".missing").first.inner_text()
        assert not someone.page.locator("#preview").is_visible()
    cut = manifest.to_json()[:-2]
    other = json.loads(manifest.to_json())
    first = other["mechanisms"][0]
    first["symbols"], first["weights"] = first["symbols"][::-1], first["weights"][::-1]
    for body, problem in ((cut, "not a mechanism"), (json.dumps(other), "digest")):
        someone.context.unroute_all()
        someone.context.route(
            "**/manifest.json", lambda route, _, body=body: route.fulfill(body=body)
        )
        someone.page.reload(wait_until="networkidle")
        assert problem in someone.page.get_by_role("alert").inner_text()
        assert not someone.page.locator("form").is_visible()
    assert not reports(relay)


def fits(page):
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


SIZES = {"desktop": (1280, 800), "phone": (320, 658)}
NEEDED = 300


@pytest.fixture(scope="module")
def twelve(tmp_path_factory):
    """A folder of the whole survey; the design is quick where both bounds are equal."""
    folder = tmp_path_factory.mktemp("twelve")
    closes = dt.datetime.now(dt.UTC) + dt.timedelta(days=1)
    design.write(folder, SURVEY, people.public_table(), closes, NEEDED, eps=2.0, eps_worst_case=2.0)
    return folder


@pytest.mark.parametrize("size", SIZES)
def test_twelve_questions_from_the_invitation_to_the_close(chromium, twelve, size, monkeypatch):
    """An invitation is good for one report, results come from the least number on, then the end."""
    (twelve / "reports.sqlite").unlink(missing_ok=True)
    invite_all(twelve, [TOKEN, ID])
    viewport = dict(zip(("width", "height"), SIZES[size], strict=True))
    with survey_site.site(twelve) as relay:
        visitors = [Person(chromium, relay, viewport=viewport) for _ in range(2)]
        late = visitors[0].open(f"/#{ID}")
        for someone, page in zip([*visitors, visitors[0]], [None, None, late], strict=True):
            page = page or someone.page
            assert page.get_by_role("group").count() == 12
            assert fits(page)
            answer_all(page, {"age": 47, "place": "in the countryside", "checked": "checked"})
            page.get_by_role("button", name="Show me what would be sent").click()
            page.locator("#preview").wait_for(state="visible")
            body = json.loads(page.locator("#body").text_content())
            assert SURVEY["questions"][body["block"]]["text"] in page.locator("#about").inner_text()
            assert page.locator("#chances tbody tr").count() == 3
        first, second = visitors
        first.send()
        assert "has arrived" in first.page.locator("#status").inner_text()
        second.send()
        assert "invitation has been used" in second.page.get_by_role("alert").inner_text()
        assert not second.page.get_by_role("button", name="Try again").is_visible()
        assert count_reports(twelve) == 1

        persons = people.respondents(NEEDED - 1, seed=4)
        fill(twelve, persons[1:])
        page = first.open("/results.html")
        assert f"from {NEEDED} reports on" in page.locator("#summary").inner_text()
        assert not page.locator("table").count() and not page.locator("#csv").is_visible()
        fill(twelve, persons[:1])
        page.reload(wait_until="networkidle")
        assert f"Estimated from {NEEDED} reports" in page.locator("#summary").inner_text()
        answers = [
            (one["column"], answer) for one in SURVEY["questions"] for answer in one["options"]
        ]
        assert page.locator("#questions section").count() == 12
        assert page.locator("#questions tbody tr").count() == len(answers)
        assert fits(page)
        with page.expect_download() as download:
            page.get_by_role("link", name="as CSV").click()
        rows = csv.DictReader(io.StringIO(download.value.path().read_text("utf-8")))
        assert [(row["question"], row["answer"]) for row in rows] == answers

        monkeypatch.setattr(server, "now", lambda: dt.datetime.now(dt.UTC) + dt.timedelta(days=2))
        page = second.open(f"/#{ID}")
        assert "closed on" in page.locator("#status").inner_text()
        assert not page.locator("form").is_visible()
        first.send(late)
        assert "survey is closed" in late.get_by_role("alert").inner_text()
        assert count_reports(twelve) == NEEDED
        assert not first.elsewhere and not second.elsewhere
        for someone in visitors:
            someone.context.close()
