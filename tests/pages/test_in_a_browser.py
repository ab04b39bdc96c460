"""The page in a real browser, as a person uses it: by mouse, by keys alone, on a phone, and with axe's eyes.

With MIXBAYES_PICTURES=docs/pictures it writes the pictures that the documents show.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright

from mixbayes.keys.authority import sign
from mixbayes.pages.door import Role
from mixbayes.pages.frame import OF_HOSPITAL, OF_MIXER
from tests.pages.test_hospital_pages import left
from tests.pages.ward import Ward, patients, ward, write
from tests.report.browser import browser as executable

PATIENCE = 60_000
"""Milliseconds."""
BUDGET = 120
"""Room for one evaluation, and some questions."""
QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
PICTURES = os.path.abspath(os.environ.get("MIXBAYES_PICTURES", ""))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    path = executable()
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=list(QUIET))
        yield started
        started.close()


@pytest.fixture(scope="module")
def wards(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ward]:
    """Needs the browser first: elsewhere than in ci no node is started for a test that is skipped."""
    policy, recipes = {"budget": BUDGET, "timeout": 10.0}, ["personal:weight=10:prior=own"]
    folder, before = tmp_path_factory.mktemp("seen"), Path.cwd()
    (folder / "site").mkdir()
    os.chdir(folder / "site")  # pictures show the names of folders, and none of this machine's
    try:
        with ward(folder, keys=Path("keys"), policy=policy, recipes=recipes) as made:
            yield made
    finally:
        os.chdir(before)


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    made = chromium.new_context(viewport={"width": 1000, "height": 760}, locale="en-GB", accept_downloads=True)
    made.set_default_timeout(PATIENCE)
    yield made
    made.close()


def entered(context: BrowserContext, link: str, first: str = "Overview") -> Page:
    """Somebody who was given a link, and presses what it shows."""
    page = context.new_page()
    page.goto(link)
    page.get_by_role("button", name="Enter").click()
    expect(page.get_by_role("heading", name=first, level=1)).to_be_visible()
    return page


def picture(page: Page, name: str, folder: Path) -> None:
    """Into the documents if they are asked for; else it is only seen that there is one."""
    path = Path(PICTURES if "MIXBAYES_PICTURES" in os.environ else folder) / f"{name}.png"
    page.screenshot(path=path, full_page=True)
    assert path.stat().st_size > 10_000


def nothing_to_say(page: Page) -> None:
    """Of axe, at whatever level."""
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_a_doctor_with_a_link_classifies_a_patient(
    wards: Ward, context: BrowserContext, chromium: Browser, tmp_path: Path
) -> None:
    manager = entered(context, wards.link())
    manager.get_by_role("link", name="Classifiers").click()
    manager.get_by_role("button", name="Evaluate now").click()
    until_said(manager, "The whole report, with pictures")
    picture(manager, "page-classifiers", tmp_path)
    manager.get_by_role("link", name="Access").click()
    manager.get_by_role("button", name="Make a link for a doctor").click()
    link = manager.locator(".label code").first.inner_text()

    elsewhere = chromium.new_context(viewport={"width": 1000, "height": 760})
    doctor = entered(elsewhere, link, "Classify a patient")
    expect(doctor.get_by_role("link", name="Audit trail")).to_have_count(0)
    doctor.get_by_label("Age", exact=True).fill("61")
    doctor.get_by_label("Sex", exact=True).select_option(label="male")
    doctor.get_by_label("Chest pain", exact=True).select_option(label="no pain")
    doctor.get_by_label("Blood pressure", exact=True).fill("16o")
    doctor.get_by_label("diabetes").check()
    picture(doctor, "page-classify", tmp_path)
    doctor.get_by_role("button", name="Classify", exact=True).click()
    expect(doctor.get_by_role("heading", name="Please check the form")).to_be_visible()
    nothing_to_say(doctor)
    doctor.get_by_role("link", name="Blood pressure: this is not a number").click()
    assert doctor.evaluate("location.hash") == "#a3"
    doctor.get_by_label("Blood pressure", exact=True).fill("160")
    doctor.get_by_role("button", name="Classify", exact=True).click()
    expect(doctor.get_by_role("heading", name="Predicted for Coronary heart disease")).to_be_visible()
    expect(doctor.get_by_text("On 120 of this hospital's own patients")).to_be_visible()
    picture(doctor, "page-answer", tmp_path)
    nothing_to_say(doctor)
    before = left(wards)
    doctor.reload()  # which sends the form again
    expect(doctor.get_by_role("heading", name="Predicted for Coronary heart disease")).to_be_visible()
    assert left(wards) == before
    elsewhere.close()


def test_a_file_of_patients_comes_back_as_a_file_of_labels(
    wards: Ward, context: BrowserContext, tmp_path: Path
) -> None:
    page = entered(context, wards.link())
    page.get_by_role("link", name="Classify").click()
    page.get_by_role("link", name="Classify a file of patients").click()
    page.get_by_label("File", exact=True).set_input_files(write(tmp_path / "new.csv", patients(5, rows=3)))
    page.get_by_label("Who answers").select_option("own")
    nothing_to_say(page)
    page.get_by_role("button", name="Classify the file").click()
    expect(page.get_by_role("heading", name="3 patients are classified")).to_be_visible()
    nothing_to_say(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Save all labels").click()
    assert download.value.suggested_filename == "labels.csv"
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0].removeprefix("\ufeff") == "row,label,meaning"
    assert len(lines) == 4


@pytest.mark.parametrize("width", [320, 1280])
def test_axe_has_nothing_to_say_and_nothing_is_fetched_from_elsewhere(
    wards: Ward, chromium: Browser, width: int, tmp_path: Path
) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 800})
    context.set_default_timeout(PATIENCE)
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    context.on("request", note)
    page = context.new_page()
    page.goto(wards.link())
    nothing_to_say(page)
    page.get_by_role("button", name="Enter").click()
    for path in (*OF_HOSPITAL[Role.MANAGER], "/classify/table", "/evaluation"):
        page.goto(f"{home(page)}{path}")
        nothing_to_say(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    page.goto(f"{home(page)}/table")
    page.get_by_role("button", name="Look at the table now").click()
    until_said(page, "Columns of the table")
    nothing_to_say(page)
    if width > 1000:
        picture(page, "page-table", tmp_path)
    page.goto(f"{home(page)}/examination")
    page.get_by_role("button", name="Examine the node").click()
    expect(page.get_by_role("heading", name="In order")).to_be_visible()
    nothing_to_say(page)
    assert {url.split("/")[2] for url in asked if not url.startswith("data:")} == {f"127.0.0.1:{wards.port}"}
    context.close()


def test_without_scripts_and_by_keys_alone(wards: Ward, chromium: Browser) -> None:
    context = chromium.new_context(java_script_enabled=False, viewport={"width": 1000, "height": 760})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(wards.link())
    press_until(page, "button", "Enter")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="To the content")).to_be_focused()
    press_until(page, "link", "Classify")
    page.keyboard.press("Enter")
    press_until(page, "textbox", "Age")
    page.keyboard.type("61")
    press_until(page, "combobox", "Who answers")
    page.keyboard.type("this")
    press_until(page, "button", "Classify")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="The answer")).to_be_visible()
    expect(page.get_by_text("Age").first).to_be_visible()
    context.close()


def test_a_mixers_page(wards: Ward, context: BrowserContext, tmp_path: Path) -> None:
    page = entered(context, wards.link("a"))
    picture(page, "page-mixer", tmp_path)
    for path in OF_MIXER[Role.MANAGER]:
        page.goto(f"{home(page)}{path}")
        nothing_to_say(page)
    expect(page.get_by_role("link", name="Classify")).to_have_count(0)


def test_a_budget_that_is_spent_a_certificate_that_ends_and_a_mixer_that_is_away(
    wards: Ward, context: BrowserContext, tmp_path: Path
) -> None:
    """Last: nothing of it is mended."""
    page = entered(context, wards.link())
    keys = wards.site.keys
    sign(keys / "north.csr", wards.site.authority, keys / "north.pem", 12)
    remain = left(wards)
    ask_about(page, wards, write(tmp_path / "many.csv", patients(5, rows=remain + 1)))
    expect(page.get_by_role("heading", name="There is no answer")).to_be_visible()
    expect(page.get_by_text("Nothing was charged")).to_be_visible()
    nothing_to_say(page)
    ask_about(page, wards, write(tmp_path / "all.csv", patients(5, rows=remain)))
    expect(page.get_by_role("heading", name="classified")).to_be_visible()
    page.goto(f"{home(page)}/")
    until_said(page, "No patient can be asked about any more")
    expect(page.get_by_text("This node's certificate ends in 11 days")).to_be_visible()
    nothing_to_say(page)
    wards.mixer_b.close()
    until_said(page, "Waiting for mixer b, which does not answer")
    expect(page.get_by_text("no answer since")).to_be_visible()
    picture(page, "page-trouble", tmp_path)
    nothing_to_say(page)


def ask_about(page: Page, wards: Ward, file: Path) -> None:
    page.goto(f"{home(page)}/classify/table")
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_label("Who answers").select_option("joint")
    page.get_by_role("button", name="Classify the file").click()


def until_said(page: Page, words: str) -> None:
    """Load the page again and again, as a person who waits."""
    for _ in range(200):
        if page.get_by_text(words).count():
            return
        page.wait_for_timeout(200)
        page.reload()
    raise AssertionError(f"{words} is never on {page.url}")


def home(page: Page) -> str:
    """Where the pages of this visit are."""
    return "/".join(page.url.split("/")[:4])


def press_until(page: Page, role: Literal["button", "combobox", "link", "textbox"], name: str) -> None:
    """Press the key that goes on, until it is there."""
    wanted = page.get_by_role(role, name=name, exact=True)
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.locator("*:focus").and_(wanted).count():
            return
    raise AssertionError(f"no key leads to the {role} {name}")
