"""Views of a dialogue: both sides, and the user's calls."""

from __future__ import annotations

import json

from checkers.profile import TAU2
from extensions.debugger.stepper import Stepper
from extensions.debugger.views import call_view, transcript
from extensions.tau.entries import open_recording
from runner.analysis.replayed_runs import replay_run
from tests.extensions.tau.conftest import call, result, results, simulation

ANSWER = "It is on now."
MESSAGES = [
    {"role": "assistant", "content": "Please turn on roaming."},
    call("toggle_roaming", {}, "user"),
    result("Data Roaming is now ON.", "user"),
    {"role": "user", "content": ANSWER},
    {"role": "assistant", "content": "Anything else?"},
]


def replayed(folder):
    """Return a run with one recorded dialogue, replayed."""
    path = folder / "results.json"
    path.write_text(json.dumps(results("telecom", [simulation("[roaming]", MESSAGES)])))
    run = open_recording(path)
    return replay_run(run, run.dataset, TAU2, 20)


def test_the_debugger_shows_both_sides_and_the_calls_of_the_user(checkout, tmp_path):
    (episode,) = replayed(tmp_path).episodes
    stepper = Stepper(episode.examined)
    shown = []
    for place, moment in enumerate(stepper.timeline.moments):
        stepper.cursor = place
        if moment.traced:
            shown.append(str(call_view(stepper)))
    said, own = next(each for each in shown if "turn on roaming" in each), shown[2]
    assert ANSWER in said
    assert "the user made this call" not in said
    assert "toggle_roaming()" in own
    assert "user: the user made this call" in own
    assert ANSWER in str(transcript(stepper))
