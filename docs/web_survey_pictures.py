"""Take the documentation's pictures of the web survey, docs/images/web_survey_*.png.

python docs/web_survey_pictures.py        (in the environment of make test-browser)
"""

import datetime as dt
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "browser"))

import survey_site  # noqa: E402

VIEW = {"viewport": {"width": 640, "height": 800}, "color_scheme": "light"}
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


def main():
    """Answer the questionnaire, and replace the pictures of its preview and of the results."""
    sys.path.append(str(ROOT / "examples" / "web_survey"))
    import design
    import invitations
    import people
    import questions

    images = ROOT / "docs" / "images"
    with tempfile.TemporaryDirectory() as temporary, survey_site.started() as browser:
        folder = Path(temporary)
        closes = design.end_of(dt.date.today() + dt.timedelta(days=30))
        design.write(folder, questions.SURVEY, people.public_table(), closes)
        with survey_site.site(folder) as relay:
            survey_site.fill(folder, people.respondents(5000, seed=0))
            (token,) = invitations.new_tokens(1)
            survey_site.invite_all(folder, [token])
            page = browser.new_context(**VIEW).new_page()
            page.goto(f"{relay.url}/#{token}", wait_until="networkidle")
            survey_site.answer_all(page, ANSWERS)
            page.get_by_role("button", name="Show me").click()
            page.locator("#preview").wait_for(state="visible")
            page.locator("#preview").screenshot(path=images / "web_survey_preview.png")
            page.get_by_role("button", name="Send report").click()
            page.get_by_text("Thank you").wait_for()
            page.goto(f"{relay.url}/results.html", wait_until="networkidle")
            page.locator("#questions section").evaluate_all(  # the first and the last question
                "all => all.slice(1, -1).forEach((one) => { one.hidden = true; })"
            )
            page.locator("#questions").screenshot(path=images / "web_survey_results.png")


if __name__ == "__main__":
    main()
