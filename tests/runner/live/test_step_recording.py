from __future__ import annotations

import pytest

from checkers.profile import STRICT
from runner.episodes.dialogue import ExecutedAnswer
from runner.episodes.script_playback import start_episode
from runner.live.step_recording import end_of
from runner.models.model_types import Reply, Usage
from trajectories.prepared_trajectory import prepare


@pytest.mark.parametrize(
    ("text", "stop", "why"),
    [
        ("Done.", "stop", "answer"),
        ("Don", "length", "cut_off"),
        ("", "content_filter", "content_filter"),
        ("I found", "content_filter", "content_filter"),
        ("No.", "refusal", "refusal"),
        ("", "stop", "empty"),
        ("[ls()]", "stop", "unreadable"),
        ("I called `ls()` for you.", "stop", "answer"),
    ],
)
def test_the_stop_reason_of_the_server_says_why_a_turn_ended(dataset_of, folders, text, stop, why):
    episode = start_episode(prepare(dataset_of(folders), folders, STRICT), STRICT, 20)
    reply = Reply(text, (), None, stop, Usage(), 0.5)
    assert end_of(ExecutedAnswer(0, (), None), reply, episode).why == why
