"""Take pictures of the web survey in all states, to look at; some are in the documentation.

python tests/browser/pictures.py FOLDER          (in the environment of make test-browser)
python tests/browser/pictures.py --docs          replaces docs/images/web_survey_*.png
"""

import secrets
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


def fill(folder, people=2000):
    """Store reports of made-up persons, by the Python client."""
    import simulate
    from store import Store

    from skrldp import client

    device = client.load((folder / "mechanism.json").read_text("utf-8"))
    store = Store(folder / "reports.sqlite", device.digest)
    store.add_many(
        (secrets.token_hex(16), y)
        for y in device.report_many(simulate.people(people, seed=0)).tolist()
    )


def tour(browser, relay, name, take):
    """Go through the questionnaire; `take` is called with a page and the name of a state."""
    context = browser.new_context(**VIEWS[name])
    page = context.new_page()
    page.goto(relay.url, wait_until="networkidle")
    take(page, "empty")
    page.get_by_role("button", name="Show me").click()
    take(page, "missing")
    page.get_by_label("How old are you?").fill("47")
    page.get_by_label("in a city or town").check()
    page.get_by_label("at least once").check()
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
    from playwright.sync_api import sync_playwright

    sys.path.append(str(ROOT / "examples" / "web_survey"))
    import design
    import questions

    def take(page, state):
        if name != "docs":
            page.screenshot(path=target / f"{name}_{state}.png", full_page=True)
        elif state == "preview":
            page.locator("#preview").screenshot(path=images / "web_survey_preview.png")
        elif state == "results":
            page.locator("#questions").screenshot(path=images / "web_survey_results.png")

    images = ROOT / "docs" / "images"
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as tools:
        folder = Path(temporary)
        design.write(folder, questions.SURVEY, questions.public_table())
        browser = tools.chromium.launch(
            executable_path=survey_site.chromium(), args=["--no-sandbox", *survey_site.FLAGS]
        )
        with survey_site.site(folder) as relay:
            fill(folder)
            for name in ["docs"] if target is None else ["desktop", "phone", "dark"]:
                tour(browser, relay, name, take)
        browser.close()


if __name__ == "__main__":
    main(None if sys.argv[1] == "--docs" else Path(sys.argv[1]))
