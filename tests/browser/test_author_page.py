"""The page on which people write ground truths: calls, results, marks, undo, saving, reviews."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from extensions.authoring.author.author_app import Author, serve
from runner.cli import main
from tests.browser.conftest import PHONE, check_with_axe, watched_page
from tests.browser.test_hostile import TEXTS
from tests.extensions.viewer.viewing import serving
from trajectories.dataset import Dataset, load_path
from trajectories.schema import Category, Trajectory

Open = Callable[..., Page]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A data file that does not exist yet."""
    return tmp_path / "mine.jsonl"


@pytest.fixture
def author(
    browser: Browser, file: Path, folders: Trajectory, dataset_of: Callable[..., Dataset]
) -> Iterator[Open]:
    """Open a page of the server, and see at the end that there was nothing to complain of."""
    complaints: list[str] = []
    served = Author(file, lambda: dataset_of(folders), "Ada")
    with serving(lambda started: serve(served, 0, "token-of-the-test", started)) as url:
        pages = []

        def open_page(path: str = "", **settings: object) -> Page:
            page = watched_page(browser, url, complaints, **settings)
            pages.append(page)
            page.goto(path if path.startswith(url) else url + path)
            page.wait_for_selector("h1")
            return page

        yield open_page
        for page in pages:
            page.context.close()
    assert complaints == []


def begin(page: Page, id: str = "mine_0", environment: str = "TicketAPI") -> None:
    """Create an entry of one environment."""
    page.get_by_label("Id", exact=True).fill(id)
    page.get_by_label("Environments").select_option(environment)
    page.get_by_role("button", name="Create entry").click()
    expect(page.locator("#saved")).to_have_text("Draft, not saved in the file")


def execute(page: Page, call: str, turn: int = 0) -> None:
    """Add a call to a turn."""
    count = page.locator("li.made").count()
    form = page.locator(f'form:has([data-name="call-{turn}"])')
    form.get_by_label("Call", exact=True).fill(call)
    form.get_by_role("button", name="Execute").click()
    expect(page.locator("li.made")).to_have_count(count + 1)


def say(page: Page, text: str, turn: int = 0) -> None:
    """Write a user message."""
    page.get_by_label("User message").nth(turn).fill(text)


def save(page: Page, expected: str = "Saved in the file") -> None:
    """Save the draft."""
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#saved")).to_have_text(expected)


TICKET = "create_ticket(title='Dark screen', priority=4)"
ASK = "Open a ticket titled 'Dark screen' with priority 4."


def write_ticket(page: Page) -> None:
    """Write an entry of one turn."""
    execute(page, "ticket_login(username='ada', password='secret99')")
    execute(page, TICKET)
    say(page, f"Log me in as ada with the password secret99. {ASK}")


def test_an_entry_is_written_saved_and_passes_as_data(author: Open, file: Path, capsys) -> None:
    page = author()
    begin(page)
    write_ticket(page)
    made = page.locator("li.made").nth(1)
    expect(made.locator("pre")).to_contain_text("Dark screen")
    expect(made.locator(".changes")).to_contain_text("ticket_counter: was 44, now 45")
    page.get_by_role("button", name="Add turn").click()
    execute(page, "logout()", 1)
    say(page, "Log me out.", 1)
    save(page)
    entry = load_path(file, list(Category)).trajectories["mine_0"]
    assert [len(turn.ground_truth) for turn in entry.turns] == [2, 1]
    assert entry.provenance == {"author": "Ada"}
    assert main(["eval", "--model", "oracle", "--dataset", str(file)]) == 0
    assert "100.0%" in capsys.readouterr().out
    assert main(["dataset", "validate", str(file)]) == 0


def test_undo_redo_edit_and_removal(author: Open) -> None:
    page = author()
    begin(page)
    write_ticket(page)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("User message")).to_have_value("")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("li.made")).to_have_count(1)
    page.get_by_role("button", name="Redo").click()
    expect(page.locator("li.made")).to_have_count(2)
    page.get_by_role("button", name="Edit turn 1, call 2").click()
    call = page.get_by_label("Call", exact=True)
    expect(call).to_have_value(TICKET)
    call.fill(TICKET.replace("4", "5"))
    page.get_by_role("button", name="Execute").click()
    expect(page.locator("li.made").nth(1)).to_contain_text("priority=5")
    page.get_by_role("button", name="Remove turn 1, call 1").click()
    expect(page.locator("li.made")).to_have_count(1)


def test_a_wrong_call_shows_its_error_and_cannot_be_saved(author: Open, file: Path) -> None:
    page = author()
    begin(page)
    execute(page, "get_ticket(ticket_id=999)")
    expect(page.locator(".badge.failed")).to_have_text("error")
    execute(page, "import os")
    expect(page.locator(".badge.failed")).to_have_count(2)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".findings")).to_contain_text("EXEC")
    assert not file.exists()


def test_marks_are_kept_in_the_entry(author: Open, file: Path) -> None:
    page = author()
    begin(page)
    write_ticket(page)
    page.get_by_text("Rules of this turn").click()
    page.get_by_label("Kind").select_option("number")
    page.get_by_label("Value, alternatives").fill("4")
    page.get_by_role("button", name="Require fact").click()
    expect(page.locator(".marks code")).to_have_text(['{"number":4}'])
    for box in page.locator(".order input").all():
        box.check()
    page.get_by_role("button", name="Require this order").click()
    expect(page.locator(".marks code")).to_have_count(2)
    page.get_by_label("Call, with some").fill("close_ticket()")
    page.get_by_role("button", name="Prohibit").click()
    expect(page.locator(".marks code")).to_have_count(3)
    save(page)
    (turn,) = load_path(file, list(Category)).trajectories["mine_0"].turns
    assert [str(fact) for fact in turn.tells] == ["4"]
    assert [len(group) for group in turn.ordered] == [2]
    assert turn.never == ("close_ticket()",)


def test_a_reload_keeps_the_draft(author: Open, file: Path) -> None:
    page = author()
    begin(page)
    write_ticket(page)
    page.reload()
    expect(page.locator("li.made")).to_have_count(2)
    expect(page.get_by_label("User message")).to_have_value(
        f"Log me in as ada with the password secret99. {ASK}"
    )
    home = author()
    expect(home.locator(".drafts a")).to_have_text("mine_0")
    assert not file.exists()


def test_two_people_do_not_overwrite_each_other(author: Open, file: Path) -> None:
    first = author()
    begin(first)
    write_ticket(first)
    save(first)
    pages = author(), author()
    for page in pages:
        page.get_by_role("button", name="Open mine_0").click()
        expect(page.locator("#saved")).to_have_text("Saved in the file")
    for page, text in zip(pages, (f"First. {ASK}", f"Second. {ASK}"), strict=True):
        say(page, text)
        expect(page.locator("#saved")).to_have_text("Draft, not saved in the file")
    save(pages[0])
    pages[1].get_by_role("button", name="Save", exact=True).click()
    expect(pages[1].locator("#problem")).to_contain_text("mine_0 was changed by somebody else")
    expect(pages[1].get_by_label("User message")).to_have_value(f"Second. {ASK}")
    assert load_path(file, list(Category)).trajectories["mine_0"].opening.startswith("First.")


def test_two_windows_of_one_draft_do_not_overwrite_each_other(author: Open) -> None:
    first = author()
    begin(first)
    second = author(first.url)
    execute(first, "logout()")
    second.get_by_role("button", name="Add turn").click()
    expect(second.locator("#problem")).to_contain_text("another window has changed this draft")


def test_a_saved_entry_is_approved_by_name(author: Open, file: Path) -> None:
    page = author()
    begin(page)
    write_ticket(page)
    save(page)
    page.get_by_label("Your name").fill("Grace")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".reviews")).to_have_text("Grace: sound")
    reviews = file.with_name("mine.jsonl.author") / "reviews.jsonl"
    (line,) = [json.loads(each) for each in reviews.read_text().splitlines()]
    assert (line["entry"], line["reader"], line["class"]) == ("mine_0", "Grace", "sound")
    say(page, "Changed.")
    page.locator("h1").click()
    home = author()
    expect(home.locator(".entries tbody tr")).to_contain_text("sound (Grace: sound)")


def test_an_entry_of_another_data_set_is_copied(author: Open, file: Path) -> None:
    page = author()
    page.get_by_label("Words of the id").fill("folders")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("button", name="Copy folders_0").click()
    expect(page.locator("li.made").first).to_be_visible()
    save(page)
    entry = load_path(file, list(Category)).trajectories["folders_0"]
    assert entry.provenance["author"] == "Ada"
    assert "folders_0" in entry.provenance["source"]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_hostile_text_is_shown_and_does_nothing(author: Open, file: Path, text: str) -> None:
    whole = text.encode("utf-8", "replace").decode()
    page = author()
    begin(page)
    execute(page, f"create_ticket(title={whole!r})")
    execute(page, whole.replace("\n", " ").replace("\x00", "") or "x")
    say(page, whole)
    page.get_by_role("button", name="Check").click()
    expect(page.locator(".findings")).to_be_visible()
    assert page.evaluate("window.ran") is None
    expect(page.locator("main img, main script, main style")).to_have_count(0)


def test_axe_finds_nothing_serious(author: Open) -> None:
    page = author()
    check_with_axe(page)
    begin(page)
    write_ticket(page)
    save(page)
    for summary in page.locator("summary").all():
        summary.click()
    expect(
        page.get_by_label("Whole entry as JSON").or_(page.get_by_label("Entry", exact=True))
    ).to_be_visible()
    check_with_axe(page)


def test_it_fits_a_phone(author: Open) -> None:
    page = author(viewport=PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    begin(page)
    write_ticket(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
