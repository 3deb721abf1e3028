"""The pictures in the documents: ``make pictures`` takes them of report, viewer and debugger.

What they show is a made-up run on our own data: the ground truth as a model would have written it,
with a mistake in some turns, the same ones every time.
"""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

from playwright.sync_api import Browser, sync_playwright

from extensions.authoring.author.author_app import Author
from extensions.authoring.author.author_app import serve as serve_author
from extensions.viewer.chat_room import ChatRoom
from extensions.viewer.viewer import Viewer, serve
from runner.episodes.turn_loop import STEP_LIMIT
from runner.live.run_settings import Settings
from runner.models.model_name import OracleName
from runner.models.prompting import read_prompts
from tests.extensions.viewer.viewing import serving, viewing, write_noted
from tests.runner.analysis.replayed_runs import definition, record
from trajectories.dataset import load_embedded
from trajectories.record_validation import to_json
from trajectories.schema import MULTI_TURN, Category, Trajectory

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
DEBUGGED = "base_vehicle_winter_morning"
KEYS = "d,2"
"""Keys that go to the first difference from the ground truth and show the state there."""
TURNWISE = [sys.executable, "-m", "runner.cli"]
WINDOW = {"width": 1200, "height": 760}
TERMINAL = {"COLUMNS": "112", "LINES": "30", "TERM": "xterm-256color", "COLORTERM": "truecolor"}
SEEN = 24
"""Entries of each run in the viewer."""
STUCK = 3
"""Number of the entry at which the models loop."""
PAGES = ("viewer", "run", "episodes", "episode", "loop", "comparison")
LOOKS: Mapping[str, Any] = {
    "": {"viewport": {"width": 1280, "height": 760}, "color_scheme": "light"},
    "_dark": {"viewport": {"width": 1280, "height": 760}, "color_scheme": "dark"},
    "_narrow": {"viewport": {"width": 400, "height": 760}, "color_scheme": "light"},
    "_narrow_dark": {"viewport": {"width": 400, "height": 760}, "color_scheme": "dark"},
}
"""Windows of the viewer's pictures, by the end of their names."""
ONE_IN = 11
"""A mistake is made in one of so many turns."""


def calls_of(place: str, truth: list[str]) -> list[str]:
    """Return the calls that are made instead of those of the ground truth.

    Args:
        place: Trajectory and turn; decides what goes wrong, if anything.
        truth: Calls of the ground truth.
    """
    number = crc32(place.encode())
    if not truth or number % ONE_IN:
        return truth
    kinds = {
        0: truth[:-1],
        1: [re.sub(r"=(\d+)", lambda found: f"={int(found[1]) + 1}", text) for text in truth],
        2: [],
        3: [*truth, truth[-1]],
    }
    return kinds[number // ONE_IN % len(kinds)]


def recorded(trajectory: Trajectory, model: str = "") -> dict[str, Any]:
    """Return a line of a result file; models err at other places."""
    steps = [
        [f"[{', '.join(calls)}]", "Done."] if calls else ["Which one do you mean?"]
        for number, turn in enumerate(trajectory.turns)
        for calls in [calls_of(f"{model}{trajectory.id}/{number}", list(turn.ground_truth))]
    ]
    return {"id": trajectory.id, "result": steps}


def in_a_terminal(command: list[str]) -> None:
    """Run a command that asks for a terminal; what it draws there is thrown away."""
    process, terminal = pty.fork()
    if not process:
        os.execv(command[0], command)
    # On Linux a terminal whose program has ended cannot be read.
    with suppress(OSError):
        while os.read(terminal, 1 << 16):
            pass
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    assert status == 0, f"{command} ends with status {status}"


def picture_debugger(run: list[str], folder: Path) -> None:
    """Take the debugger's picture, by the means that its library has for it."""
    os.environ |= {
        **TERMINAL,
        "TEXTUAL_SCREENSHOT": "1",
        "TEXTUAL_SCREENSHOT_LOCATION": str(folder),
        "TEXTUAL_SCREENSHOT_FILENAME": "debugger.svg",
        "TEXTUAL_PRESS": KEYS,
    }
    in_a_terminal([*TURNWISE, "debug", DEBUGGED, "--run", *run])


def picture_report(run: list[str], folder: Path, browser: Browser) -> None:
    """Take the report's picture, as it opens."""
    page = folder / "report.html"
    subprocess.run([*TURNWISE, "report", *run, "--output", str(page)], check=True)
    seen = browser.new_page(viewport=WINDOW)
    seen.goto(page.as_uri())
    seen.wait_for_selector("h1")
    seen.screenshot(path=folder / "report.png")


def picture_viewer(folder: Path, browser: Browser) -> None:
    """Take pictures of the viewer's list and of two runs compared there."""
    known = [*load_embedded([Category.BASE]).trajectories.values()][:SEEN]
    stuck = known[STUCK]
    runs, data = Path("runs"), Path("some_scenarios.jsonl")
    data.write_text("".join(f"{json.dumps(to_json(entry))}\n" for entry in known))
    for number, model in enumerate(("small-1", "small-1", "large-2")):
        said = {each.id: recorded(each, f"{number}")["result"] for each in known}
        first, *_ = stuck.turns[0].ground_truth
        said[stuck.id] = [[f"[{first}]"] * STEP_LIMIT]
        records = [record(data, id, turns) for id, turns in said.items()]
        failed = next(
            each.id for each in records if each.outcome == "failed" and each.id != stuck.id
        )
        place = runs / f"{number + 1}-{model}"
        created = f"2026-03-0{number + 1}T12:00:00"
        write_noted(place, definition(data, model=model), records, SEEN, created)
    with viewing(runs) as viewer:
        for suffix, window in LOOKS.items():
            seen = browser.new_page(**window)
            for name, path, there in (
                ("viewer", "", ".col-latency:text('s')"),
                ("run", "run/3-large-2", ".bars"),
                ("episodes", "run/3-large-2", "table.episodes"),
                ("episode", f"run/3-large-2#e/{failed}/0", ".problem"),
                ("loop", f"run/3-large-2#e/{stuck.id}/0/0/0", ".equal-steps"),
                ("comparison", "compare?run=1-small-1&run=3-large-2", ".finding"),
            ):
                seen.goto(viewer.url + path)
                seen.wait_for_selector(there, state="attached")
                # Causes and more figures follow after the recorded outcomes.
                seen.wait_for_selector(".notes", state="detached")
                if name == "episodes":
                    top = "document.querySelector('.filters').scrollIntoView()"
                    seen.evaluate(f"{top}; scrollBy(0, -80)")
                seen.screenshot(path=folder / f"{name}{suffix}.png")


def picture_author(folder: Path, browser: Browser) -> None:
    """Take the picture of a draft on the author page."""
    author = Author(Path("mine.jsonl"), lambda: load_embedded([Category.BASE]), "Ada")
    key = author.new({"id": "desk_0", "category": "base", "environments": ["TicketAPI"]})["draft"]
    entry = author.draft({"id": key})["entry"]
    words = "Log in as ada with the password secret99. Then open a ticket titled 'No light'."
    calls = ["ticket_login(username='ada', password='secret99')", "create_ticket(title='No light')"]
    entry["turns"] = [{"messages": [{"role": "user", "content": words}], "ground_truth": calls}]
    author.play({"draft": key, "revision": 0, "entry": entry})
    with serving(lambda started: serve_author(author, 0, "token", started)) as url:
        seen = browser.new_page(viewport={"width": 1200, "height": 980})
        seen.goto(f"{url}draft?id={key}")
        seen.wait_for_selector("li.made .changes")
        seen.screenshot(path=folder / "author.png")


def picture_chat(folder: Path, browser: Browser) -> None:
    """Take the picture of a chat with the oracle."""
    data = load_embedded([Category.BASE])
    room = ChatRoom(
        folder, OracleName("oracle"), Settings(), read_prompts(nests=True), lambda: data
    )
    key = room.start({"entry": DEBUGGED})["chat"]
    viewer = Viewer(folder, chats=room)
    with serving(lambda started: serve(viewer, 0, "token", started)) as url:
        seen = browser.new_page(viewport={"width": 1200, "height": 980})
        seen.goto(f"{url}chat?id={key}")
        seen.click("#send")
        seen.wait_for_selector("#stop:disabled")
        seen.wait_for_selector(".says.answer:has-text('Done.')")
        seen.evaluate("scrollTo(0, 0)")
        seen.screenshot(path=folder / "chat.png")


def main() -> None:
    """Take all pictures and put them where the README shows them from."""
    chromium = (
        os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    )
    assert chromium, "there is no Chromium here; say where: CHROMIUM=path"
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        # Names without a folder, for the report shows them.
        os.chdir(folder)
        entries = load_embedded(list(MULTI_TURN)).trajectories.values()
        path, data = Path("made_up_model.jsonl"), Path("scenarios.jsonl")
        path.write_text("".join(f"{json.dumps(recorded(entry))}\n" for entry in entries))
        data.write_text("".join(f"{json.dumps(to_json(entry))}\n" for entry in entries))
        run = [str(path), "--dataset", str(data)]
        picture_debugger(run, folder)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        picture_report(run, folder, browser)
        picture_viewer(folder, browser)
        picture_author(folder, browser)
        picture_chat(folder, browser)
        FOLDER.mkdir(parents=True, exist_ok=True)
        pages = [f"{name}{suffix}.png" for name in PAGES for suffix in LOOKS]
        for picture in ("debugger.svg", "report.png", "author.png", "chat.png", *pages):
            shutil.copy(folder / picture, FOLDER / picture)


if __name__ == "__main__":
    main()
