"""The web survey in a real Chromium: what leaves it, byte by byte, and what the person sees."""

import base64
import itertools
import json
import re
import secrets
import sys
import urllib.parse
from types import SimpleNamespace

import numpy as np
import pytest

playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright (extra: browser) is missing"
)
pytest.importorskip("fastapi", reason="fastapi (extra: survey) is missing")

import survey_site  # noqa: E402
from conftest import ROOT  # noqa: E402
from scipy.stats import chisquare  # noqa: E402

from skrldp import Mechanism, client  # noqa: E402

sys.path.append(str(ROOT / "examples" / "web_survey"))

import design  # noqa: E402
import questions  # noqa: E402
import results  # noqa: E402
import simulate  # noqa: E402
import store  # noqa: E402

# The questions of the example with answers that occur nowhere by chance.
WORDS = {
    "in a city or town": "Zürich-quartz 83",
    "in the countryside": "Ljubljana&teal/?",
    "never": "Okapi+flute",
    "at least once": "Xylophone=amber",
    "18 to 34": "Gyroscope",
    "35 to 59": "Nasturtium",
    "60 or older": "Quokka",
}
YEARS = {"Gyroscope": 27, "Nasturtium": 59, "Quokka": 97}
FIRST, SECOND, THIRD = (asked["text"] for asked in questions.SURVEY["questions"])
FIELDS = ["digest", "id", "report"]


def reworded(value):
    if isinstance(value, dict):
        return {name: reworded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [reworded(each) for each in value]
    return WORDS.get(value, value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("survey")
    table = questions.public_table().replace(WORDS)
    design.write(folder, reworded(questions.SURVEY), table)
    return folder


@pytest.fixture(scope="module")
def mechanism(folder):
    return Mechanism.from_json((folder / "mechanism.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def how():
    """How Chromium is started."""
    path = survey_site.chromium()
    if path is None:
        pytest.skip("there is no Chromium (SKRLDP_CHROMIUM may name one)")
    return {"executable_path": path, "args": ["--no-sandbox", *survey_site.FLAGS]}


@pytest.fixture(scope="module")
def chromium(how):
    with playwright.sync_playwright() as tools:
        browser = tools.chromium.launch(**how)
        yield browser
        browser.close()


@pytest.fixture
def relay(folder):
    (folder / "reports.sqlite").unlink(missing_ok=True)
    with survey_site.site(folder) as relay:
        yield relay


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

    def open(self, path="/"):
        page = self.context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda said: self.complaints.append(said.text))
        page.on("pageerror", lambda problem: self.complaints.append(str(problem)))
        page.goto(self.relay.url + path, wait_until="networkidle")
        return page

    def answer(self, record, page=None, years=None):
        page = page or self.page
        page.get_by_label(FIRST).fill(str(years or YEARS[record["age"]]))
        page.get_by_role("group", name=SECOND).get_by_label(record["place"]).check()
        page.get_by_role("group", name=THIRD).get_by_label(record["drove"]).check()
        page.get_by_role("button", name="Show me what would be sent").click()
        page.locator("#preview").wait_for(state="visible")
        return int(page.locator("#number").inner_text())

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


def cells(mechanism):
    for drove, (age, place) in itertools.product(mechanism.secrets, mechanism.values):
        yield {"age": age, "place": place, "drove": drove}


def writings(text):
    """The ways to write a text that one may think of, as bytes."""
    plain = {text, text.lower(), text.upper(), text[::-1]}
    plain |= {urllib.parse.quote(text), urllib.parse.quote_plus(text), json.dumps(text)[1:-1]}
    found = {code for each in plain for code in (each.encode(), each.encode("utf-16-le"))}
    found.add(text.encode("latin-1"))
    for code in list(found):
        found |= {code.hex().encode(), code.hex().upper().encode()}
        for shift in range(3):  # base64 writes three bytes at a time, wherever the text begins
            whole = base64.b64encode(b"\0" * shift + code)
            found.add(whole[4 * (shift > 0) : -4])
            found.add(whole[4 * (shift > 0) : -4].translate(bytes.maketrans(b"+/", b"-_")))
    return {code for code in found if len(code) >= 4}


def test_no_answer_is_in_any_request(person, relay, mechanism):
    for number, record in enumerate(cells(mechanism)):
        if number % 3:  # four persons of twelve
            continue
        someone = person()
        y = someone.answer(record)
        shown = someone.page.locator("#body").text_content()
        someone.send()
        assert "Thank you" in someone.page.locator("#status").inner_text()
        storage = json.dumps(someone.storage(), ensure_ascii=False)
        someone.open("/results.html")
        sent = relay.requests
        assert [body.decode() for body in reports(relay)] == [shown]
        body = json.loads(shown)
        assert sorted(body) == FIELDS
        assert body["digest"] == mechanism.digest
        assert body["report"] == y in range(len(mechanism.symbols))
        assert re.fullmatch("[0-9a-f]{32}", body["id"])
        everything = b"\n".join(sent)
        for word in (*record.values(), *WORDS):
            for code in writings(word):
                assert code not in everything, (word, code)
        for random in (body["id"], mechanism.digest, f"localhost:{relay.port}"):
            everything = everything.replace(random.encode(), b"")
        assert str(YEARS[record["age"]]).encode() not in everything
        # Nor is it kept on the device; the key is not either.
        assert "key" not in storage
        assert not any(word in storage for word in WORDS.values())
        assert not someone.elsewhere
        assert not someone.complaints
        relay.forget()


def test_requests_are_a_function_of_the_report_alone(person, relay, mechanism):
    """Whatever the answers are: if the report is the same, so is every byte that is sent.

    This covers every encoding. Each combination of answers gets a key with which its permanent
    report is the same one; keys stay in the browser. Python computes these reports, so the page
    agrees with it as well.
    """
    id, wanted = secrets.token_hex(16), int(mechanism.matrix.min(axis=1).argmax())
    seen = []
    for record in cells(mechanism):
        key = secrets.token_bytes(32)
        while client.Client(mechanism, memoize=key).report(record, id=id) != wanted:
            key = secrets.token_bytes(32)
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


def test_without_scripts_there_are_no_questions(person, relay):
    someone = person(java_script_enabled=False)
    assert "needs JavaScript" in someone.page.locator("noscript").inner_text()
    assert not someone.page.locator("input").count()


DRAW = """
async ([record, n]) => {
  const { load } = await import("./skrldp.js");
  const text = await (await fetch("mechanism.json")).text();
  const fresh = await load(text), counts = fresh.symbols.map(() => 0);
  for (let i = 0; i < n; i++) counts[await fresh.report(record)]++;
  const kept = fresh.symbols.map(() => 0);
  for (let i = 0; i < n; i++) {
    const memoize = crypto.getRandomValues(new Uint8Array(32));
    kept[await (await load(text, { memoize })).report(record, { id: "somebody" })]++;
  }
  return [counts, kept];
}
"""


def test_reports_follow_the_mechanism(person, mechanism):
    """False alarms: 4 tests at 10⁻⁶ each, with expected counts of at least 5."""
    page = person().page
    every = list(cells(mechanism))
    for place in (3, 10):
        expected = 600 * mechanism.matrix[:, place]
        rare = expected < 5.0
        for counts in map(np.array, page.evaluate(DRAW, [every[place], 600])):
            assert counts.sum() == 600
            assert not counts[mechanism.matrix[:, place] == 0.0].any()
            kept = np.append(counts[~rare], counts[rare].sum())
            means = np.append(expected[~rare], expected[rare].sum())
            if means[-1] < 5.0:
                kept, means = kept[:-1], means[:-1] * kept[:-1].sum() / means[:-1].sum()
            assert chisquare(kept, means).pvalue > 1e-6


def test_one_person_sends_one_report(person, relay, mechanism):
    someone = person()
    first, second = list(cells(mechanism))[5], list(cells(mechanism))[9]
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
    someone.page.reload(wait_until="networkidle")
    assert f"Report {y} has arrived" in someone.page.locator("#status").inner_text()
    assert not someone.page.locator("form").is_visible()
    assert not someone.page.get_by_role("button").all() or not any(
        button.is_visible() for button in someone.page.get_by_role("button").all()
    )
    assert [json.loads(body)["report"] for body in reports(relay)] == [y]
    assert json.loads(someone.page.request.get(f"{relay.url}/results.json").text())["reports"] == 1


DRAWN = """
const drawn = globalThis.drawn = [], draw = crypto.getRandomValues.bind(crypto);
crypto.getRandomValues = (bytes) => {
  drawn.push(Array.from(draw(bytes)));
  return bytes;
};
"""


def test_the_key_is_in_no_file_of_the_browser(chromium, how, relay, mechanism, tmp_path):
    """What is deleted from a browser's storage may stay in its files, so it is never put there."""
    codes, ids = set(), []
    for sends in (False, True):  # closing a browser writes its storage into files
        context = chromium.browser_type.launch_persistent_context(tmp_path, **how)
        context.add_init_script(DRAWN)
        someone = Person(SimpleNamespace(new_context=lambda context=context, **_: context), relay)
        someone.answer(list(cells(mechanism))[4])
        keys = [bytes(each) for each in someone.page.evaluate("drawn") if len(each) == 32]
        assert len(keys) == 1
        codes |= {keys[0], base64.b64encode(keys[0])[:-2], *writings(keys[0].hex())}
        ids.append(json.loads(someone.page.locator("#body").text_content())["id"].encode())
        if sends:
            someone.send()
            assert "Thank you" in someone.page.locator("#status").inner_text()
        context.close()
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert [any(id in file for file in files) for id in ids] == [False, True]
    assert not any(code in file for file in files for code in codes)


@pytest.mark.parametrize("fault", ["off", "deaf"])
def test_a_lost_connection_gives_no_second_report(person, relay, mechanism, fault):
    """Whether the request or only the answer is lost: what is sent again is the same."""
    someone = person()
    y = someone.answer(list(cells(mechanism))[7])
    setattr(relay, fault, True)
    relay.hang_up()
    someone.send()
    assert "cannot be reached" in someone.page.get_by_role("alert").inner_text()
    assert "not certain" in someone.page.locator("#status").inner_text()
    relay.off = relay.deaf = False
    someone.page.reload(wait_until="networkidle")
    assert not someone.page.locator("form").is_visible()
    someone.page.get_by_role("button", name="Try again").click()
    someone.page.get_by_text(f"Report {y} has arrived").wait_for()
    sent = set(reports(relay))
    assert len(sent) == 1
    assert json.loads(someone.page.request.get(f"{relay.url}/results.json").text())["reports"] == 1


def test_the_preview_compares_what_it_shows_with_the_promise_for_it(person, mechanism):
    """The probabilities are those given the other answers, so that promise counts."""
    page = person()
    factors = []
    for record in list(cells(mechanism))[::3]:
        y = page.answer(record)
        given = [
            mechanism.matrix[y, place]
            for place, each in enumerate(cells(mechanism))
            if (each["age"], each["place"]) == (record["age"], record["place"])
        ]
        said = page.page.locator("#ratio").inner_text()
        ratio, known, alone = map(float, re.findall(r"[\d.]+(?= times)", said))
        factors.append(max(given) / min(given))
        assert factors[-1] <= ratio * (1 + 1e-9) <= factors[-1] + 0.0101
        assert (known, alone) == tuple(
            float(results.factor(eps))
            for eps in (mechanism.guarantee.eps_given_u, mechanism.guarantee.eps)
        )
        assert ratio <= known
    assert len(factors) == 4


def test_what_the_server_says_is_shown(person, relay, mechanism):
    someone = person()
    y = someone.answer(next(cells(mechanism)))
    body = json.loads(someone.page.locator("#body").text_content())
    body["report"] = (y + 1) % len(mechanism.symbols)
    someone.page.request.post(f"{relay.url}/reports", data=body)  # somebody took this id
    someone.send()
    said = someone.page.get_by_role("alert").inner_text()
    assert "did not take the report: another report has come" in said


def test_wrong_answers_and_mechanisms_are_refused(person, relay, mechanism):
    someone = person()
    someone.page.get_by_role("button", name="Show me").click()
    missing = someone.page.locator(".missing").all_inner_texts()
    assert missing[0].startswith("Please type a whole number from 18 to 120")
    assert missing[1:] == ["Please choose an answer."] * 2
    for years in ("17", "121", "-20", "3e1", "abc", " "):
        someone.page.get_by_label(FIRST).fill(years)
        someone.page.get_by_role("button", name="Show me").click()
        assert "whole number" in someone.page.locator(".missing").first.inner_text()
        assert not someone.page.locator("#preview").is_visible()
    cut = mechanism.to_json()[:-2]
    other = json.loads(mechanism.to_json())
    other["symbols"], other["weights"] = other["symbols"][::-1], other["weights"][::-1]
    for body, problem in ((cut, "not a mechanism"), (json.dumps(other), "digest")):
        someone.context.unroute_all()
        someone.context.route(
            "**/mechanism.json", lambda route, _, body=body: route.fulfill(body=body)
        )
        someone.page.reload(wait_until="networkidle")
        assert problem in someone.page.get_by_role("alert").inner_text()
        assert not someone.page.locator("form").is_visible()
    assert not reports(relay)


def test_the_keyboard_is_enough(person, mechanism):
    someone = person()
    press = someone.page.keyboard.press
    press("Tab")
    someone.page.keyboard.type("59")
    press("Tab")
    press("Space")
    press("ArrowDown")
    press("Tab")
    press("Space")
    press("Tab")
    press("Enter")
    someone.page.locator("#preview").wait_for(state="visible")
    assert someone.page.evaluate("document.activeElement.id") == "preview-title"
    press("Tab")
    press("Tab")
    press("Enter")
    someone.page.get_by_text("Thank you").wait_for()
    assert someone.page.evaluate("document.activeElement.id") == "status"


def fits(page):
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_is_wider_than_the_screen(person, relay, mechanism, width):
    someone = person(viewport={"width": width, "height": 800})
    assert fits(someone.page)
    someone.answer(list(cells(mechanism))[8])
    someone.page.locator("summary").click()
    assert fits(someone.page)
    someone.send()
    assert fits(someone.page)
    assert fits(someone.open("/results.html"))


def test_the_results_hold_the_truth(person, relay, folder, mechanism, monkeypatch):
    """At level 1 − 10⁻⁶, one of the seven intervals misses in about one of 100,000 runs."""
    someone = person()
    page = someone.open("/results.html")
    assert "0 reports so far" in page.locator("#summary").inner_text()
    assert not page.locator("table").count()

    monkeypatch.setattr(results, "CONFIDENCE", 1.0 - 1e-6)
    device = client.load(mechanism.to_json())
    people = [reworded(each) for each in simulate.people(3000, seed=2)]
    store.Store(folder / "reports.sqlite", mechanism.digest).add_many(
        (secrets.token_hex(16), y) for y in device.report_many(people).tolist()
    )
    page.reload(wait_until="networkidle")
    assert "Estimated from 3,000 reports" in page.locator("#summary").inner_text()
    truth = simulate.distribution().replace(WORDS)
    shares = {
        answer: share
        for column in ("age", "place", "drove")
        for answer, share in truth.groupby(column)["share"].sum().items()
    }
    rows = page.locator("tbody tr").all()
    assert len(rows) == len(shares) == 7
    for row in rows:
        answer = row.locator("th").inner_text()
        low, high = map(float, re.findall(r"[\d.]+", row.locator("td.range").inner_text()))
        assert low - 0.05 <= 100 * shares[answer] <= high + 0.05, answer
        left, width = (
            float(row.locator(".band").get_attribute(name).rstrip("%")) for name in ("x", "width")
        )
        assert (left, left + width) == pytest.approx((low, high), abs=0.051)
    assert page.locator("#statements li").count() >= 4
    assert mechanism.digest in page.locator("#digest").inner_text()
    assert not someone.elsewhere
