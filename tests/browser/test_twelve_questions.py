"""The web survey with its twelve questions in a real Chromium, from invitation to results."""

import csv
import datetime as dt
import io
import json
import re
import sys

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright (extra: browser) is missing")
pytest.importorskip("fastapi", reason="fastapi (extra: survey) is missing")

import survey_site
from conftest import ROOT

sys.path.append(str(ROOT / "examples" / "web_survey"))

import design
import people
import server
from invitations import new_tokens
from questions import SURVEY

NEEDED = 300
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
ANSWERS = {"age": 47, "place": "in the countryside", "drives": "every day", "checked": "checked"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("survey")
    closes = dt.datetime.now(dt.UTC) + dt.timedelta(days=1)
    design.write(folder, SURVEY, people.public_table(), closes, NEEDED)
    return folder


@pytest.fixture(scope="module")
def chromium():
    if survey_site.chromium() is None:
        pytest.skip("there is no Chromium (SKRLDP_CHROMIUM may name one)")
    with survey_site.started() as browser:
        yield browser


@pytest.fixture
def relay(folder):
    (folder / "reports.sqlite").unlink(missing_ok=True)
    with survey_site.site(folder) as relay:
        yield relay


@pytest.fixture(params=SIZES)
def visit(chromium, relay, request):
    """Open a page in a browser of its own, on a desktop and on a phone."""
    made = []

    def visit(path):
        width, height = SIZES[request.param]
        made.append(chromium.new_context(viewport={"width": width, "height": height}))
        page = made[-1].new_page()
        page.set_default_timeout(30_000)
        page.goto(relay.url + path, wait_until="networkidle")
        return page

    yield visit
    for context in made:
        context.close()


def fits(page):
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def show(page):
    page.get_by_role("button", name="Show me what would be sent").click()


def send(page):
    page.get_by_role("button", name=re.compile("^Send report")).click()
    page.locator("#status").wait_for(state="visible")


def test_an_invitation_is_good_for_one_report_about_one_question(visit, relay, folder):
    (token,) = new_tokens(1)
    survey_site.invite_all(folder, [token])
    page = visit(f"/#{token}")
    legends = page.locator("legend").all_inner_texts()
    assert [each.partition(" of 12 ")[0] for each in legends] == [str(n + 1) for n in range(12)]
    assert page.get_by_label("rather not say").count() == 12
    assert page.locator(".secret").count() == 1
    show(page)
    assert sum(map(bool, page.locator(".missing").all_inner_texts())) == 12
    survey_site.answer_all(page, ANSWERS)
    show(page)
    page.locator("#preview").wait_for(state="visible")
    assert fits(page)
    shown = page.locator("#body").text_content()
    body = json.loads(shown)
    about = SURVEY["questions"][body["block"]]["text"]  # the secret is the last question
    assert f"“{about}”" in page.locator("#about").inner_text()
    assert page.locator("#chances tbody tr").count() == 3
    send(page)
    assert f"Report {body['report']} has arrived" in page.locator("#status").inner_text()
    assert fits(page)
    assert shown.encode() in b"".join(relay.requests)

    page.reload(wait_until="networkidle")
    assert "has arrived" in page.locator("#status").inner_text()
    assert not page.locator("form").is_visible()
    for _ in range(2):  # in other browsers
        page = visit(f"/#{token}")
        survey_site.answer_all(page, {"age": 20})
        show(page)
        page.locator("#preview").wait_for(state="visible")
        send(page)
        page.locator("#error").wait_for(state="visible")
        assert "invitation has been used" in page.locator("#error").inner_text()
        assert not page.get_by_role("button", name="Try again").is_visible()
    assert survey_site.count_reports(folder) == 1


def test_results_are_there_from_the_least_number_on(visit, folder):
    persons = people.respondents(NEEDED, seed=4)
    survey_site.fill(folder, persons[:-1])
    page = visit("/results.html")
    assert f"from {NEEDED} reports on" in page.locator("#summary").inner_text()
    assert not page.locator("table").count()
    survey_site.fill(folder, persons[-1:])
    page.reload(wait_until="networkidle")
    assert f"Estimated from {NEEDED} reports" in page.locator("#summary").inner_text()
    assert page.locator("#questions section").count() == 12
    assert page.locator("#questions tbody tr").count() == sum(
        len(asked["options"]) for asked in SURVEY["questions"]
    )
    assert fits(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="as CSV").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text("utf-8"))))
    assert {row["question"] for row in rows} == {asked["column"] for asked in SURVEY["questions"]}


def test_a_closed_survey_asks_nothing(visit, folder, monkeypatch):
    (token,) = new_tokens(1)
    survey_site.invite_all(folder, [token])
    late = visit(f"/#{token}")
    survey_site.answer_all(late, {})
    show(late)
    late.locator("#preview").wait_for(state="visible")
    monkeypatch.setattr(server, "now", lambda: dt.datetime.now(dt.UTC) + dt.timedelta(days=2))
    page = visit(f"/#{token}")
    assert "closed on" in page.locator("#status").inner_text()
    assert not page.locator("form").is_visible()
    send(late)
    late.locator("#error").wait_for(state="visible")
    assert "survey is closed" in late.locator("#error").inner_text()
    assert survey_site.count_reports(folder) == 0
