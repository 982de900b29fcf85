"""Take pictures of the web survey in all states, to look at; some are in the documentation.

python tests/browser/pictures.py FOLDER          (in the environment of make test-browser)
python tests/browser/pictures.py --docs          replaces docs/images/web_survey_*.png
"""

import datetime as dt
import sys
import tempfile
from pathlib import Path

import survey_site

ROOT = Path(__file__).resolve().parents[2]
VIEWS = {
    "desktop": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2},
    "dark": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
    "docs": {"viewport": {"width": 640, "height": 800}, "color_scheme": "light"},
}


ANSWERS = {
    "age": 47,
    "gender": "woman",
    "place": "in a city or town",
    "home": "with others",
    "work": "full-time",
    "licence": "5 years or longer",
    "drives": "every week",
    "stop": "up to 10 minutes",
    "taxi": "yes, I could",
    "drinks": "some days of a month",
    "drove": "yes, at least once",
}


def tour(browser, relay, token, name, take):
    """Go through the questionnaire; `take` is called with a page and the name of a state."""
    context = browser.new_context(**VIEWS[name])
    page = context.new_page()
    page.goto(f"{relay.url}/#{token}", wait_until="networkidle")
    take(page, "empty")
    page.get_by_role("button", name="Show me").click()
    take(page, "missing")
    survey_site.answer_all(page, ANSWERS)
    page.get_by_role("button", name="Show me").click()
    page.locator("#preview").wait_for(state="visible")
    take(page, "preview")
    page.locator("summary").click()
    take(page, "text")
    relay.off = True
    relay.hang_up()
    page.get_by_role("button", name="Send report").click()
    page.locator("#error").wait_for(state="visible")
    take(page, "error")
    relay.off = False
    page.get_by_role("button", name="Try again").click()
    page.get_by_text("Thank you").wait_for()
    take(page, "sent")
    page.goto(f"{relay.url}/results.html", wait_until="networkidle")
    take(page, "results")
    context.close()


def main(target):
    """Take all pictures into a folder, or those of the documentation."""
    sys.path.append(str(ROOT / "examples" / "web_survey"))
    import design
    import invitations
    import people
    import questions

    def take(page, state):
        if name != "docs":
            page.screenshot(path=target / f"{name}_{state}.png", full_page=True)
        elif state == "preview":
            page.locator("#preview").screenshot(path=images / "web_survey_preview.png")
        elif state == "results":  # the first and the last question
            page.locator("#questions section").evaluate_all(
                "all => all.slice(1, -1).forEach((one) => { one.hidden = true; })"
            )
            page.locator("#questions").screenshot(path=images / "web_survey_results.png")

    images = ROOT / "docs" / "images"
    with tempfile.TemporaryDirectory() as temporary, survey_site.started() as browser:
        folder = Path(temporary)
        closes = design.end_of(dt.date.today() + dt.timedelta(days=30))
        design.write(folder, questions.SURVEY, people.public_table(), closes)
        with survey_site.site(folder) as relay:
            survey_site.fill(folder, people.respondents(5000, seed=0))
            for name in ["docs"] if target is None else ["desktop", "phone", "dark"]:
                (token,) = invitations.new_tokens(1)
                survey_site.invite_all(folder, [token])
                tour(browser, relay, token, name, take)


if __name__ == "__main__":
    main(None if sys.argv[1] == "--docs" else Path(sys.argv[1]))
