"""The debugger's screen in 80x24, driven by keys.

What it shows is frozen in ``tests/golden/debugger``; after a change that is meant, write the files
anew with ``python -m tests.extensions.debugger.test_app``.
"""

from __future__ import annotations

import asyncio
import re
from html import unescape
from pathlib import Path
from unicodedata import category

import pytest
from textual.app import App
from textual.events import Paste
from textual.widgets import ContentSwitcher, Footer, Input, OptionList, Tree

from checkers.profile import BFCL, STRICT
from extensions.debugger.app import HELP, WHAT_IF, Debugger
from extensions.debugger.widgets import HelpWindow
from runner.episodes.offline import examine_recorded
from runner.episodes.turn_loop import STEP_LIMIT
from tests.extensions.debugger.episodes import HOSTILE, NOTES, RECORDED, examined, prepared
from tests.runner.records.made import answered

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "debugger"
REFRESH = "python -m tests.extensions.debugger.test_app"

_CELL, _LINE = 12.2, 24.4
_TEXT = re.compile(r'<text [^>]*?x="([\d.]+)" y="([\d.]+)" [^>]*line-\d+\)">([^<]*)</text>')


def screen(app: Debugger) -> str:
    """Return what the terminal shows, as text."""
    rows = {}
    for x, y, text in _TEXT.findall(app.export_screenshot(simplify=True)):
        row, column = round((float(y) - 20) / _LINE), round(float(x) / _CELL)
        rows[row] = rows.get(row, "").ljust(column) + unescape(text).replace("\xa0", " ")
    return "".join(f"{rows.get(row, '').rstrip()}\n" for row in range(app.size.height))


def test_the_page_says_of_the_key_that_deletes_a_branch_what_the_help_says() -> None:
    page = Path(__file__).parents[3] / "docs" / "debugging.md"
    assert "x               delete the branch" in HELP
    assert "| `b`, `x` | next branch; delete the branch |" in page.read_text(encoding="utf-8")


def walk(*groups, turns=RECORDED, look=screen, source="made-up", profile=BFCL) -> list:
    """Press groups of keys and return, after each group, what is looked at.

    Args:
        groups: Keys separated by blanks, one text per group; ``'...'`` is pasted, not pressed.
        turns: The recording, or None for the ground truth alone.
        look: Takes the application, returns what is to be seen.
        source: Where the episode is from.
        profile: How the recording is executed.
    """
    return driven(Debugger(examined(turns, profile=profile), source), groups, look)


def driven(app: App[None], groups, look=screen, size=(80, 24)) -> list:
    """Press groups of keys in an application, and return what is looked at after each."""

    async def run():
        seen = []
        async with app.run_test(size=size) as pilot:
            while not app.query_one(Footer).children:
                await pilot.pause()
            for group in groups:
                for key, pasted in re.findall(r"([^' ]+)|'([^']*)'", group):
                    if key:
                        await pilot.press(key)
                    else:
                        app.screen.query_one(Input).post_message(Paste(pasted))
                await pilot.pause()
                seen.append(look(app))
        return seen

    return asyncio.run(run())


def shown(keys: str, **about) -> str:
    """Press keys and return the screen."""
    return walk(keys, **about)[0]


def right(screen: str) -> str:
    """Return what is on the right side of a screen, without line breaks."""
    return " ".join(line[33:].strip() for line in screen.splitlines()[3:-2])


def place(app: Debugger) -> str:
    """Return where one stands, as the heading has it."""
    return re.search(r"notes_0  (.*) \(", screen(app))[1]


def view(app: Debugger) -> str:
    """Return which view is shown."""
    return app.query_one(ContentSwitcher).current


def status(app: Debugger) -> str:
    """Return the line above the keys."""
    return screen(app).splitlines()[-2]


def opened(app: Debugger) -> list[str]:
    """Return the names in the tree of the state, as far as it is open."""
    tree = app.query_one(Tree)
    return [tree.get_node_at_line(line).data.name for line in range(tree.last_line + 1)]


EDIT = 'd e ctrl+u \'mv(source="notes.txt", destination="old")\' enter'
SCREENS = {
    "start": "",
    "divergence": "d",
    "state": "d 2",
    "truth": "d 3",
    "talk": "end 4",
    "end_of_turn": "d j",
    "branch": f"{EDIT} 3",
    "branch_played": f"{EDIT} r J",
    "prompt": "c",
    "help": "question_mark",
}
"""Keys by the name of the file that has the screen after them."""


QUICK = ("divergence", "talk", "branch")
"""The screens that are compared in the quick part."""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else [pytest.mark.slow]) for n in SCREENS]
)
def test_the_screen_is_as_frozen(name):
    golden = GOLDEN / f"{name}.txt"
    assert golden.exists(), f"make it with: {REFRESH}"
    text = shown(SCREENS[name])
    assert max(map(len, text.splitlines())) <= 80
    assert text == golden.read_text(encoding="utf-8"), f"if that is meant: {REFRESH}"


WALK = [
    ("j", "turn 1, step 1, call 1"),
    ("k", "start of turn 1"),
    ("J J", "start of turn 3"),
    ("K", "start of turn 2"),
    ("home", "start of turn 1"),
    ("d", "turn 1, step 2, call 1"),
    ("down", "end of turn 1"),
    ("up up", "turn 1, step 1, call 1"),
    ("end", "end of turn 3"),
    ("home slash 'ls(' enter", "turn 2, step 1, call 2"),
    ("home slash 'notes.txt' enter", "start of turn 1"),
    ("n", "turn 1, step 1, call 1"),
    ("N", "start of turn 1"),
    ("slash 'ls(' escape", "start of turn 1"),
    # On the right side letters step too, and arrows scroll.
    ("tab j", "turn 1, step 1, call 1"),
    ("down", "turn 1, step 1, call 1"),
]


@pytest.mark.slow
def test_keys_go_to_places():
    groups = [keys for keys, _ in WALK]
    assert list(zip(groups, walk(*groups, look=place), strict=True)) == WALK


def test_the_list_follows_the_keys_that_step():
    assert walk("j j", look=lambda app: app.query_one(OptionList).highlighted) == [2]


def test_keys_show_views():
    views = walk("2", "3", "4", "1", "v", "v v v", look=view)
    assert views == ["state", "truth", "talk", "call", "state", "call"]


def test_what_one_opens_and_closes_in_the_state_stays_so():
    first, wider, later, closed, still = walk(
        "2", "tab down enter", "j", "up enter", "j", look=opened
    )
    assert first == ["GorillaFileSystem", "root", "long_context"]
    assert wider == later == ["GorillaFileSystem", "root", "home", "long_context"]
    assert closed == still == ["GorillaFileSystem"]


def test_the_state_says_all_there_is_about_a_place():
    (text,) = walk("d 2")
    shown = "home.contents.new {'type': 'file', 'content': 'one\\ntwo'} before: nothing"
    assert shown in right(text)


def test_an_edited_call_is_shown_as_a_branch_until_that_is_dropped():
    branch, dropped = walk(EDIT, "x")
    assert "branch 1 (3 of 3)" in branch
    assert "+* 2 mv(source='notes.txt', des" in branch
    assert "recording (1 of 2)" in dropped
    assert dropped.splitlines()[-2] == "Deleted branch 1."


def test_a_new_call_is_made_after_the_moment_and_a_turn_is_ended():
    assert walk("j c 'ls()' enter", "t", look=place) == [
        "turn 1, step 2, call 1",
        "start of turn 2",
    ]


def test_a_call_is_edited_from_its_text_and_names_are_completed():
    keys = ("j e", "escape c m v right", "ctrl+u 'mv(' enter")
    typed = walk(*keys, look=lambda app: app.screen.query_one(Input).value)
    assert typed == ["cat(file_name='note.txt')", "mv(source=, destination=)", "mv("]


def test_escape_makes_no_call():
    assert "recording (1 of 2)" in shown("c 'ls()' escape")


@pytest.mark.slow
def test_a_text_that_is_no_call_is_asked_for_again_and_makes_no_branch():
    asked = shown("c '1 + 2' enter")
    assert "'1 + 2' is not a function call" in asked
    assert "1 + 2" in asked.splitlines()[-2]
    assert "recording (1 of 2)" in shown("c '1 + 2' enter escape")
    assert "branch 1" in shown("c '1 + 2' enter ctrl+u 'ls()' enter")


@pytest.mark.parametrize(
    "pane", ["2 tab", *(pytest.param(p, marks=pytest.mark.slow) for p in ("", "tab", "4 tab"))]
)
def test_home_and_end_lead_to_the_first_and_last_moment_from_everywhere(pane):
    at = walk(f"j j {pane} end", "home", look=lambda app: app.stepper.cursor)
    assert at == [9, 0]


def test_home_and_end_move_in_a_line_that_is_typed():
    keys = ("j e home 'x' end 'y'",)
    typed = walk(*keys, look=lambda app: app.screen.query_one(Input).value)
    assert typed == ["xcat(file_name='note.txt')y"]


@pytest.mark.slow
def test_the_side_that_has_the_focus_can_be_told():
    assert "┃" not in shown("j")
    assert "┃" in shown("j tab")


def test_what_was_searched_for_is_marked():
    app_of = walk("slash 'notes' enter", look=lambda app: app.query_one("#call Static").content)
    text = app_of[0]
    marks = [
        text.plain[span.start : span.end] for span in text.spans if "yellow" in str(span.style)
    ]
    assert marks
    assert {mark.casefold() for mark in marks} == {"notes"}


def test_where_a_key_does_nothing_it_is_said_why_until_the_next_key():
    said = {
        "e": "No call to edit; press j or k to select a call.",
        "n": "Press / to search first.",
        "r": "No calls are left; start a branch with e or c.",
        "x": "The recording is not a branch; only branches can be deleted.",
        "end t": "The last turn cannot be ended early.",
        "slash 'nowhere' enter": "No match for 'nowhere'.",
        "b d": "The ground truth does not diverge from the ground truth.",
        "j": WHAT_IF,
    }
    assert dict(zip(said, walk(*said, look=status), strict=True)) == said


def test_timelines_are_switched():
    truth, recording = walk("b", "b")
    assert "ground truth (2 of 2)  passed" in truth
    assert "recording (1 of 2)  FAILED: " in recording


@pytest.mark.slow
def test_help_comes_and_goes():
    keys = ("question_mark", "escape", "question_mark", "q", "question_mark", "question_mark")
    helps = walk(*keys, look=lambda app: isinstance(app.screen, HelpWindow))
    assert helps == [True, False] * 3


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
def test_keys_quit(key):
    assert walk(key, look=lambda app: app.is_running) == [False]


def test_the_ground_truth_alone_is_stepped_through():
    assert "ground truth (1 of 1)  passed" in shown("J", turns=None)


def test_hostile_text_is_shown_as_it_is():
    assert r"[bold red]x[/] :smile: \x1b[31m\x07\u202e $text-error" in right(shown("J J k 4"))


def test_the_terminal_gets_nothing_to_obey():
    turns = [["[touch(file_name='a\\x1b[31m[b].txt')]", HOSTILE], [HOSTILE], [HOSTILE]]
    keys = ("2", "3", "4", "j", "3", "2", "1", "j", "2", "1")
    text = "".join(walk(*keys, turns=turns, source=HOSTILE, profile=STRICT))
    assert r"a\x1b[31m[b].txt" in text
    assert {char for char in text if category(char) in ("Cc", "Cf")} == {"\n"}


def test_the_line_to_edit_a_call_gives_the_terminal_nothing_to_obey():
    episode = answered(NOTES.id, [[[{"\x1b]0;title\x07\u202els": "{}"}], "Done."], [], []])
    app = Debugger(examine_recorded(prepared(), episode, BFCL, STEP_LIMIT), "made-up")
    (value,) = driven(app, ["j e"], lambda app: app.screen.query_one(Input).value)
    assert value == r"\x1b]0;title\x07\u202els()"


def test_page_keys_do_nothing_in_a_terminal_without_columns():
    app = Debugger(examined(RECORDED), "made-up")
    keys = ["pagedown pageup", "2 tab pageup pagedown"]
    assert driven(app, keys, lambda app: app.stepper.cursor, size=(1, 24)) == [0, 0]


@pytest.mark.parametrize(
    ("size", "used"), [((2000, 1000), (500, 250)), ((3, 24), (20, 24)), ((80, 24), (80, 24))]
)
def test_extreme_terminals_are_drawn_in_a_usual_size(size, used):
    app = Debugger(examined(RECORDED), "made-up")
    assert driven(app, ["j", "question_mark"], lambda app: app.size, size=size) == [used, used]


def test_pasted_control_characters_are_escaped():
    keys = "j c 'ls(\x1b]0;title\x07\u202e)'"
    (value,) = walk(keys, look=lambda app: app.screen.query_one(Input).value)
    assert value == r"ls(\x1b]0;title\x07\u202e)"


@pytest.mark.slow
def test_a_huge_result_is_cut_and_says_so():
    turns = [[f"[echo(content='{'x' * 50_000}')]"], [], []]
    assert "more characters" in right(shown(f"j tab{' pagedown' * 80}", turns=turns))


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name, keys in SCREENS.items():
        (GOLDEN / f"{name}.txt").write_text(shown(keys), encoding="utf-8")
