"""The HTML report as one reads it: addresses, filters, keys, themes, widths, paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Locator, Page, expect

from runner.analysis.replayed_runs import ReplayedRun
from tests.browser.conftest import FOCUSED, becomes, check_with_axe, stays, within
from tests.runner.analysis.report.making import call, kept_tools, request, source_of, viewed
from trajectories.schema import Category

RIGHT = [
    [call("create_ticket", title="Dark screen"), "I opened ticket 2."],
    [],
    [call("close_ticket", ticket_id=1), call("get_ticket", ticket_id=1)],
]
WRONG = [[call("get_ticket", ticket_id=1), call("create_ticket", title="Dark")], *RIGHT[1:]]
STUCK = [[call("get_ticket", ticket_id=99)], [], []]
PHONE = {"width": 360, "height": 740}

Visit = Callable[..., Page]


@pytest.fixture
def run(dataset_of, help_desk) -> ReplayedRun:
    """View a run of four episodes, of which two fail."""
    turns = {"desk_0": RIGHT, "desk_1": WRONG, "desk_2": STUCK, "folder_3": RIGHT}
    trajectories = [replace(help_desk, id=id) for id in turns]
    trajectories[3] = replace(trajectories[3], category=Category.BASE)
    return viewed(dataset_of(*trajectories), source_of(turns))


@pytest.fixture
def live(dataset_of, help_desk, tmp_path) -> ReplayedRun:
    """View a run of ours, with two trials and the requests of one of them."""
    record = {
        "outcome": "passed",
        "error": None,
        "messages": [
            {"role": "system", "content": "You keep a help desk."},
            {"role": "user", "content": "My screen is dark."},
            {"role": "assistant", "content": None},
        ],
        "steps": [
            request(0, 2, reply=reply("I should look first.")),
            request(0, 3, reply=reply(None)),
        ],
    }
    tools = kept_tools(tmp_path / "run", {"function": {"name": "create_ticket"}})
    keys = {(help_desk.id, 0): RIGHT, (help_desk.id, 1): RIGHT}
    return viewed(dataset_of(help_desk), source_of(keys, {help_desk.id: record}, tools))


def reply(reasoning: str | None) -> dict[str, object]:
    """Return a recorded reply."""
    return {"text": None, "tool_calls": [], "reasoning": reasoning, "finish_reason": "stop"}


def ids(page: Page) -> Locator:
    """Find the episodes that are listed."""
    return page.locator("table.episodes td.id a")


# The list


def test_the_overview_has_score_causes_and_outcomes(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run)
    expect(page.locator(".big")).to_have_text("50.0% passed")
    expect(page.locator(".outcomes a")).to_have_text(["2 passed", "2 failed"])
    expect(page.locator(".bars")).to_contain_text("Wrong argument")
    expect(page.locator(".scores tbody th")).to_have_text(["base", "miss_func", "all"])


def test_a_figure_of_the_overview_filters_the_list(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run)
    page.click(".outcomes .failed")
    expect(ids(page)).to_have_text(["desk_1", "desk_2"])
    page.go_back()
    expect(page.locator("table.episodes tbody tr")).to_have_count(4)


def test_a_figure_leads_to_the_episodes_that_it_counts_from_a_filtered_list(
    visit: Visit, run: ReplayedRun
) -> None:
    page = visit(run, at="#?q=folder_3&category=base")
    expect(ids(page)).to_have_text(["folder_3"])
    page.click(".outcomes .failed")
    expect(ids(page)).to_have_text(["desk_1", "desk_2"])


def test_filters_are_part_of_the_address(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run)
    page.select_option('label[data-name="outcome"] select', "failed")
    page.select_option('label[data-name="cause"] select', "wrong_argument")
    expect(ids(page)).to_have_text(["desk_1"])
    page.reload()
    page.wait_for_selector("table.episodes")
    expect(ids(page)).to_have_text(["desk_1"])
    page.click(".clear")
    expect(ids(page)).to_have_count(4)


def test_a_heading_sorts_and_sorts_the_other_way(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run)
    heading = page.locator('th[data-column="turns"]')
    heading.locator("button").click()
    expect(ids(page)).to_have_text(["desk_1", "desk_2", "desk_0", "folder_3"])
    expect(heading).to_have_attribute("aria-sort", "ascending")
    heading.locator("button").click()
    expect(ids(page)).to_have_text(["desk_0", "folder_3", "desk_1", "desk_2"])
    expect(heading).to_have_attribute("aria-sort", "descending")


@pytest.mark.parametrize(
    ("text", "found"),
    [("DESK_2", ["desk_2"]), ("wrong argument", ["desk_1"]), ("no such thing", [])],
)
def test_search_looks_at_what_the_list_shows(
    visit: Visit, run: ReplayedRun, text: str, found: list[str]
) -> None:
    page = visit(run)
    page.fill("#search", text)
    expect(page.locator(".filters .count")).to_have_text(f"{len(found)} of 4")
    expect(ids(page)).to_have_text(found)


def test_search_looks_into_transcripts_too(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run)
    page.fill("#search", "ticket_id=99")
    expect(page.locator("table.episodes tbody tr")).to_have_count(1)
    expect(ids(page)).to_have_text(["desk_2"])


def test_many_episodes_are_listed_as_one_scrolls(visit: Visit, dataset_of, help_desk) -> None:
    turns = {f"desk_{index}": RIGHT for index in range(450)}
    page = visit(viewed(dataset_of(*[replace(help_desk, id=id) for id in turns]), source_of(turns)))
    rows = page.locator("table.episodes tbody tr")
    expect(rows.nth(199)).to_be_attached()
    expect(rows).not_to_have_count(450)
    for there in (400, 450):
        # The key goes to where the end was when it was pressed, while rows are being added.
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        expect(rows).to_have_count(there)


# An episode


def test_an_episode_opens_from_the_list_and_back(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run)
    page.click("text=desk_1")
    expect(page.locator("h1")).to_have_text("desk_1")
    expect(page).to_have_url(within("#e/desk_1/0"))
    page.go_back()
    expect(page.locator("h1")).to_have_text("made-up")
    becomes(page, FOCUSED, "desk_1")


def test_the_cause_is_one_sentence_that_leads_to_its_call(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run, at="#e/desk_1/0")
    (why,) = [e.examined.diagnosis for e in run.episodes if e.trajectory.id == "desk_1"]
    expect(page.locator(".summary .why p")).to_have_text(why.sentence)
    expect(page.locator(".jump")).to_have_text(f"Go to the cause: {why.place}")
    page.click(".jump")
    expect(page).to_have_url(within("#e/desk_1/0/0/1"))
    step = page.locator(".step.divergent.here")
    expect(step.locator(".problem")).to_have_text(why.sentence)
    expect(step.locator("h5")).to_have_text("Differences from the ground truth")
    row = step.locator(".expected tbody tr")
    expect(row.locator(".good")).to_have_text("'Dark screen'")
    expect(row.locator(".bad")).to_have_text("'Dark'")


def test_the_ground_truth_says_what_the_model_made_of_it(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run, at="#e/desk_1/0")
    marks = ["≈ other arguments in step 2", "✓ same in step 1", "✓ same in step 2"]
    expect(page.locator(".truth .mark")).to_have_text(marks)


def test_the_state_can_be_opened_at_every_step(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run, at="#e/desk_1/0/0/1")
    page.click(".step.here >> text=State after this step")
    tree = page.locator(".step.here .tree")
    title = tree.locator(".leaf.differs.changed")
    expect(title).to_have_text("title 'Dark' expected 'Dark screen'")
    expect(tree).not_to_contain_text("'Printer on fire'", use_inner_text=True)


def test_answers_refusals_and_idle_turns_are_shown(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run, at="#e/desk_0/0")
    expect(page.locator(".answer").first).to_contain_text("I opened ticket 2.")
    expect(page.locator(".truth").nth(1)).to_contain_text("This turn needs no calls.")
    page.goto(page.url.replace("desk_0", "desk_2"))
    expect(page.locator(".result.refused")).to_contain_text("99")


@pytest.mark.parametrize("at", ["#e/desk_1/0/2/1", "#e/desk_1/0/2"])
def test_an_address_leads_to_its_turn_or_step(visit: Visit, run: ReplayedRun, at: str) -> None:
    page = visit(run, at=at)
    here = page.locator(".turns .here")
    expect(here).to_be_in_viewport()
    expect(here).to_have_attribute("id", ("t2s1" if at.endswith("/1") else "t2"))
    page.reload()
    expect(page.locator(".turns .here")).to_be_in_viewport()


@pytest.mark.parametrize("at", ["#e/nobody/0", "#e/desk_1/7", "#e/%E0%A4%A", "#e/__proto__/0"])
def test_an_address_of_nothing_says_so(visit: Visit, run: ReplayedRun, at: str) -> None:
    page = visit(run)
    page.evaluate("at => { location.hash = at }", at)
    expect(page.locator(".problem, h1").first).to_be_visible()
    if "%E0" not in at:
        expect(page.locator(".problem")).to_contain_text("This run has no episode")
        page.click("text=All episodes")
    expect(page.locator("h1")).to_have_text("made-up")


def test_requests_and_replies_can_be_opened(visit: Visit, live: ReplayedRun) -> None:
    page = visit(live, at="#e/help_desk_0/1")
    expect(page.locator(".facts-line")).to_contain_text("trial 1")
    step = page.locator("#t0s0")
    expect(step.locator(".meta")).not_to_contain_text("500")
    expect(step.locator(".meta")).to_contain_text("10 → 2 tokens")
    step.locator("text=Reasoning").click()
    expect(step).to_contain_text("I should look first.")
    step.locator("text=Request and reply").click()
    raw = step.locator(".raw")
    expect(raw).to_contain_text("You keep a help desk.")
    raw.locator("text=1 function").click()
    expect(raw).to_contain_text("create_ticket")
    end = page.locator("#t0s1")
    end.locator("text=Request and reply").click()
    expect(end.locator(".raw > details").first).to_have_text(
        "The first 2, as in the previous request"
    )


def test_trials_and_what_they_took_are_summed_up(visit: Visit, live: ReplayedRun) -> None:
    page = visit(live)
    expect(page.locator(".overview")).to_contain_text("pass^k")
    expect(page.locator(".overview")).to_contain_text("$0.0400")


def test_the_last_of_two_places_that_are_asked_for_is_shown(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run)
    page.evaluate("""() => {
      for (const at of ["#e/desk_1/0", "#e/desk_1/0/2", "#e/desk_2/0"]) {
        history.pushState(null, "", at);
        arrive();
      }
    }""")
    expect(page.locator("h1")).to_have_text("desk_2")


# Several runs


def test_runs_have_tabs(visit: Visit, run: ReplayedRun, live: ReplayedRun) -> None:
    page = visit(run, live._replace(source=replace(live.source, name="another")))
    page.click("#heading >> text=another")
    expect(page.locator("h1")).to_have_text("another")
    expect(ids(page)).to_have_text(["trial 0", "trial 1"])
    page.click("button.fold")
    ids(page).nth(1).click()
    expect(page).to_have_url(within("#e/help_desk_0/1?run=2"))
    page.reload()
    expect(page.locator("h1")).to_have_text("help_desk_0")
    page.click("#heading >> text=made-up")
    expect(ids(page)).to_have_count(4)


# Keys


def test_the_list_can_be_walked_with_keys(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("desk_1")
    page.keyboard.press("]")
    expect(page.locator("h1")).to_have_text("desk_2")
    page.keyboard.press("[")
    expect(page.locator("h1")).to_have_text("desk_1")
    page.keyboard.press("Escape")
    expect(page.locator("h1")).to_have_text("made-up")


def test_an_episode_can_be_walked_with_keys(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run, at="#e/desk_1/0")
    page.keyboard.press("j")
    expect(page).to_have_url(within("#e/desk_1/0/0/0"))
    page.keyboard.press("n")
    expect(page).to_have_url(within("#e/desk_1/0/0/1"))
    page.keyboard.press("j")
    page.keyboard.press("p")
    expect(page).to_have_url(within("#e/desk_1/0/0/1"))
    page.keyboard.press("k")
    expect(page).to_have_url(within("#e/desk_1/0/0/0"))


def test_the_search_is_a_key_away_and_escape_leaves_it(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run)
    page.keyboard.press("/")
    page.keyboard.type("desk_2 j?")
    expect(page.locator("#search")).to_have_value("desk_2 j?")
    page.keyboard.press("Escape")
    expect(page.locator("table.episodes tbody tr")).to_have_count(4)


def test_the_keys_are_listed(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run)
    page.keyboard.press("?")
    expect(page.locator("dialog")).to_contain_text("next difference from the ground truth")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_be_hidden()


def test_everything_in_an_episode_opens_at_once(visit: Visit, live: ReplayedRun) -> None:
    page = visit(live, at="#e/help_desk_0/0")
    page.keyboard.press("e")
    expect(page.locator(".raw").first).to_contain_text("You keep a help desk.")


# Looks


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_follows_the_system_until_it_is_changed(
    visit: Visit, run: ReplayedRun, scheme: str
) -> None:
    page = visit(run, color_scheme=scheme)

    is_dark = "getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0] < 128"
    becomes(page, is_dark, scheme == "dark")
    page.click("#theme")
    becomes(page, is_dark, False)
    page.click("#theme")
    becomes(page, is_dark, True)
    stays(page, is_dark)


@pytest.mark.parametrize("at", ["", "#e/desk_1/0", "#e/desk_1/0/0/1"])
@pytest.mark.parametrize("width", [360, 700, 1000, 1600])
def test_nothing_is_wider_than_the_window(
    visit: Visit, run: ReplayedRun, at: str, width: int
) -> None:
    page = visit(run, at=at, viewport={"width": width, "height": 800})
    page.keyboard.press("e")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    beyond = """cards => cards.flatMap((card) => [...card.querySelectorAll("table")]
      .filter((table) => !table.closest(".scroll"))
      .filter((table) => table.getBoundingClientRect().right > card.getBoundingClientRect().right))
      .map((table) => table.className)"""
    assert page.eval_on_selector_all(".card", beyond) == []


def test_on_paper_there_are_no_controls_and_all_episodes(
    visit: Visit, dataset_of, help_desk
) -> None:
    turns = {f"desk_{index}": RIGHT for index in range(230)}
    page = visit(viewed(dataset_of(*[replace(help_desk, id=id) for id in turns]), source_of(turns)))
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(ids(page)).to_have_count(230)
    expect(page.locator(".filters")).to_be_hidden()
    expect(page.locator("#theme")).to_be_hidden()
    assert page.pdf().startswith(b"%PDF")


def test_on_paper_steps_look_as_on_the_screen_and_stay_in_one_piece(
    visit: Visit, run: ReplayedRun
) -> None:
    page = visit(run, at="#e/desk_1/0")
    look = """() => {
      const style = getComputedStyle(document.querySelector(".step"));
      return { color: style.color, border: style.borderTopStyle, breakInside: style.breakInside };
    }"""
    on_screen = page.evaluate(look)
    page.emulate_media(media="print")
    assert page.evaluate(look) == {**on_screen, "breakInside": "avoid"}


def test_a_long_summary_of_a_step_fits_a_narrow_window(visit: Visit, dataset_of, help_desk) -> None:
    steps = [call("get_ticket", ticket_id=1)] * 4 + [call("get_user_tickets", n="x" * 90)]
    page = visit(
        viewed(dataset_of(help_desk), source_of({help_desk.id: [steps, [], []]})),
        at="#e/help_desk_0/0",
        viewport={"width": 320, "height": 568},
    )
    expect(page.locator(".step").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


CONTRAST = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const low = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    const shown = walker.currentNode.data.trim() && node.checkVisibility();
    if (!shown || node.closest("script, noscript, .aside")) continue;
    const [one, other] = [light(parse(getComputedStyle(node).color)), light(behind(node))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < 4.5) low.push(`${node.className}: ${walker.currentNode.data} ${ratio.toFixed(2)}`);
  }
  return low;
}"""


@pytest.mark.parametrize("at", ["", "#e/desk_1/0/0/1", "#e/desk_2/0"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_what_is_behind_them(
    visit: Visit, run: ReplayedRun, at: str, scheme: str
) -> None:
    page = visit(run, at=at, color_scheme=scheme)
    page.keyboard.press("e")
    assert page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("at", ["", "#e/desk_1/0"])
def test_controls_have_names_and_the_page_has_landmarks(
    visit: Visit, run: ReplayedRun, at: str
) -> None:
    page = visit(run, at=at)
    unnamed = "node => !(node.ariaLabel || node.labels?.length || node.textContent.trim())"
    controls = page.locator("a, button, input, select, summary").element_handles()
    assert [node.inner_text() for node in controls if node.evaluate(unnamed)] == []
    expect(page.locator("main")).to_have_count(1)
    expect(page.locator("h1")).to_have_count(1)
    repeated = "() => [...document.querySelectorAll('[id]')].map(n => n.id)"
    names = page.evaluate(repeated)
    assert len(names) == len(set(names))


@pytest.mark.parametrize("at", ["", "#e/help_desk_0/1", "#e/desk_1/0/0/1?run=2"])
def test_axe_finds_nothing_serious(
    visit: Visit, run: ReplayedRun, live: ReplayedRun, at: str
) -> None:
    page = visit(live, run, at=at)
    page.keyboard.press("e")
    check_with_axe(page)


# Trials, columns and loops


def test_trials_of_an_entry_are_a_row_that_opens(visit: Visit, live: ReplayedRun) -> None:
    page = visit(live)
    fold = page.locator("button.fold")
    expect(fold).to_have_text("help_desk_0")
    expect(page.locator("tr.folded-trials .outcome")).to_have_text("2 of 2 passed")
    expect(ids(page).first).to_be_hidden()
    fold.click()
    expect(fold).to_have_attribute("aria-expanded", "true")
    ids(page).nth(1).click()
    expect(page).to_have_url(within("#e/help_desk_0/1"))
    page.go_back()
    becomes(page, FOCUSED, "trial 1")


def test_a_mean_of_trials_leaves_out_those_without_a_time(visit: Visit, live: ReplayedRun) -> None:
    timed, other = live.episodes
    record = other.recorded.record._replace(steps=())
    untimed = other._replace(recorded=other.recorded._replace(record=record))
    page = visit(live._replace(episodes=(timed, untimed)))
    mean = page.locator("tr.folded-trials td.latency")
    expect(mean).to_have_text("1.00 s")
    expect(mean).to_have_attribute("title", "mean of 1 trial")


def test_the_browser_keeps_the_choice_of_columns(visit: Visit, run: ReplayedRun) -> None:
    page = visit(run)
    heading = page.locator("thead th[data-column=place]")
    expect(heading).to_have_count(0)
    page.click(".choice summary")
    page.check(".choice label:has-text('Place') input")
    page.uncheck(".choice label:has-text('Steps') input")
    expect(heading).to_have_count(1)
    stays(page, "!!document.querySelector('thead th[data-column=place]')")
    expect(page.locator("thead th[data-column=steps]")).to_have_count(0)


def test_causes_have_a_third_of_the_list_and_nothing_overflows(
    visit: Visit, live: ReplayedRun
) -> None:
    page = visit(live)
    page.click(".choice summary")
    for box in page.locator(".choice input").all():
        box.check()
    share = (
        "document.querySelector('th[data-column=cause]').offsetWidth / "
        "document.querySelector('table.episodes').offsetWidth"
    )
    assert page.evaluate(share) >= 0.3
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_a_loop_is_folded_and_says_why_it_failed(visit: Visit, dataset_of, help_desk) -> None:
    looping = [[call("get_ticket", ticket_id=1)] * 20]
    page = visit(
        viewed(dataset_of(help_desk), source_of({help_desk.id: looping})), at="#e/help_desk_0/0"
    )
    folded = page.locator("details.equal-steps")
    expect(folded.locator("summary").first).to_have_text(
        "19 more steps with the same calls and results"
    )
    expect(page.locator(".turn .verdict")).to_contain_text("Turn failed: loop at turn 1, step 2")
    expect(page.locator(".outline a.failed")).to_have_text("Turn 1")
    expect(page.locator("#t0s7")).to_be_hidden()
    page.evaluate("location.hash = '#e/help_desk_0/0/0/7'")
    expect(page.locator("#t0s7")).to_be_visible()
