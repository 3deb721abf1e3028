from __future__ import annotations

import json
import sys

import pytest

from checkers.multi_turn_verdict import judge
from checkers.profile import BFCL, STRICT
from checkers.reasons import Reason
from envs.calls import parse_call
from envs.errors import DataError
from runner.analysis.episode_output import EpisodeJsonRenderer, EpisodeTextRenderer
from runner.analysis.episode_view import EpisodePart
from runner.episodes.offline import examine_recorded, examine_truth
from runner.episodes.rejudged_episode import RejudgedEpisode, RejudgedMultiTurn
from runner.episodes.script_playback import make_truth_script
from runner.episodes.script_traces import trace
from runner.episodes.turn_loop import STEP_LIMIT
from runner.show.terminal import whole_texts
from tests.judging import null, run_recorded
from tests.runner.records.made import answered
from trajectories.prepared_trajectory import prepare

AFTER = "turn 2 (after the failure, not judged)"


def failed(reason):
    """Return the line that says why a turn fails."""
    return f"  FAILED {reason}: {reason.meaning}"


both = pytest.mark.parametrize("profile", [BFCL, STRICT], ids=lambda profile: profile.name)


@pytest.fixture
def examined(dataset_of):
    """Return a trajectory run by a script, by default the ground truth's."""

    def run(trajectory, script=None, profile=BFCL, step_limit=STEP_LIMIT) -> RejudgedEpisode:
        ready = prepare(dataset_of(trajectory), trajectory, profile)
        if script is None:
            return examine_truth(ready, profile, step_limit)
        limit = step_limit if profile.execution.limits_recorded_runs else None
        model = trace(ready, script, profile, limit)
        outcomes = [turn.outcome for turn in model.turns]
        verdict = judge(ready.truth, outcomes, profile, ready.scene, terminated=model.terminated)
        return RejudgedMultiTurn(prepared=ready, profile=profile, verdict=verdict, model=model)

    return run


@pytest.fixture
def recorded(dataset_of):
    """Return a recorded episode, executed once more."""

    def run(trajectory, turns, profile=BFCL, **more) -> RejudgedEpisode:
        ready = prepare(dataset_of(trajectory), trajectory, profile)
        episode = answered(trajectory.id, turns, **more)
        return examine_recorded(ready, episode, profile, STEP_LIMIT)

    return run


def written(examined, **selection) -> list[str]:
    """Return the texts of the lines that show an episode."""
    transcript = EpisodeTextRenderer("somewhere", EpisodePart(**selection))
    return [line.text for line in examined.show(transcript)]


def as_json(examined, **selection) -> dict:
    """Return the JSON form of an episode, as another process would read it."""
    document = EpisodeJsonRenderer("somewhere", EpisodePart(**selection))
    return json.loads(json.dumps(examined.show(document), allow_nan=False))


@both
def test_a_passing_episode(examined, folders, profile):
    assert written(examined(folders, profile=profile)) == [
        "folders_0 (base; GorillaFileSystem)",
        f"somewhere, profile {profile.name}",
        "",
        "turn 1",
        "  user: Put the notes away.",
        "  step 1  mv(source='notes.txt', destination='old')",
        """          -> {"result": "'notes.txt' moved to 'old/notes.txt'"}""",
        "          changed   GorillaFileSystem.root.home.contents['notes.txt']: "
        "was {'type': 'file', 'content': 'one\\ntwo'}, now nothing",
        "          changed   GorillaFileSystem.root.home.contents.old.contents['notes.txt']: "
        "was nothing, now {'type': 'file', 'content': 'one\\ntwo'}",
        "",
        "turn 2",
        "  user: How long are they?",
        "  step 1  cd(folder='old')",
        '          -> {"current_working_directory": "old"}',
        "  step 1  wc(file_name='notes.txt')",
        '          -> {"count": 2, "type": "lines"}',
        "",
        "passed: 2 of 2 turns",
    ]


def wrong_priority(help_desk):
    """Return a script that creates the ticket with another priority."""
    script = make_truth_script(help_desk)
    script[0] = [[parse_call("create_ticket(title='Dark screen', priority=2)")]]
    return script


def test_the_call_that_leaves_the_ground_truth_is_marked(examined, help_desk):
    shown = written(examined(help_desk, wrong_priority(help_desk)))
    start = next(i for i, line in enumerate(shown) if line.startswith(">"))
    off = "TicketAPI.ticket_queue[1].priority: expected 1, got 2"
    assert shown[start] == "> step 1  create_ticket(title='Dark screen', priority=2)"
    assert f"          off path  {off}" in shown[start:]
    assert "          cause of the failure" in shown[start:]
    assert shown[shown.index("  ground truth:") + 1 : shown.index(AFTER)] == [
        "          create_ticket(title='Dark screen')",
        shown[shown.index("  ground truth:") + 2],
        "  state: differs from the ground truth",
        f"    {off}",
        failed(Reason.STATE_MISMATCH),
        "",
    ]


def test_the_end_says_what_it_came_to_where_it_left_and_why(examined, help_desk):
    *_, verdict, cause = written(examined(help_desk, wrong_priority(help_desk)))
    assert verdict == "FAILED: 0 of 3 turns passed"
    assert cause.startswith("cause: wrong_argument at turn 1, step 1, call 1: ")


def test_what_is_missing_is_marked_at_the_end_of_the_turn(examined, folders):
    shown = written(examined(folders, null(folders)))
    assert "> end of the turn: cause of the failure" in shown
    assert failed(Reason.EMPTY_TURN) in shown
    assert shown[-1].startswith("cause: missing_call (whole_turn) at end of turn 1: ")


def test_missing_results_are_shown(examined, folders):
    script = make_truth_script(folders)
    script[1] = [[parse_call("cd('old')"), parse_call("wc('notes.txt', 'w')")]]
    shown = written(examined(folders, script))
    start = shown.index(failed(Reason.RESPONSE_MISMATCH))
    assert shown[start + 1] == '    unseen result: {"count": 2, "type": "lines"}'
    assert "  state: same as the ground truth" in shown


def test_turns_after_the_failure_are_said_not_to_count(examined, folders):
    assert AFTER in written(examined(folders, null(folders)))


def test_a_change_where_nothing_is_to_be_done_is_shown(examined, help_desk):
    script = make_truth_script(help_desk)
    script[1] = [[parse_call("resolve_ticket(1, 'Out.')")]]
    shown = written(examined(help_desk, script, STRICT))
    assert "  ground truth: no call" in shown
    assert failed(Reason.CHANGE_IN_EMPTY_TURN) in shown


def test_functions_that_are_handed_over_are_shown(examined, help_desk):
    shown = written(examined(help_desk))
    assert shown[shown.index("turn 3") + 1] == "  added functions: close_ticket"


def test_a_refusal_is_shown_as_one(examined, folders):
    script = make_truth_script(folders)
    script[0].insert(0, [parse_call("cat('nothing')")])
    shown = written(examined(folders, script))
    start = shown.index("  step 1  cat('nothing')")
    assert shown[start + 1].startswith('          -> refused: {"error": "')
    assert shown[-1] == "passed: 2 of 2 turns"


def test_what_the_model_says_in_the_end_is_shown(recorded, folders):
    turns = [
        [[{"mv": '{"source": "notes.txt", "destination": "old"}'}], "Done.\nAll of it."],
        ["Two lines."],
    ]
    shown = written(recorded(folders, turns))
    start = shown.index("  assistant: Done.")
    assert shown[start + 1] == "    All of it."
    assert "  assistant: Two lines." in shown


def test_an_episode_that_the_step_limit_ends_says_so(examined, help_desk):
    script = make_truth_script(help_desk)
    script[0] = [[parse_call("get_ticket(1)")]] * 3
    shown = written(examined(help_desk, script, STRICT, step_limit=2))
    assert shown.count("  not reached") == 2
    assert failed(Reason.FORCE_TERMINATED).strip() in shown


def test_an_episode_without_steps_says_why(recorded, folders):
    shown = written(recorded(folders, None, error="the server was gone"))
    assert "no steps were recorded: the server was gone" in shown
    assert shown.count("  not reached") == 2
    assert failed(Reason.INFERENCE_ERROR).strip() in shown


@both
@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_another_number_of_turns_comes_to_the_same_verdict(
    recorded, dataset_of, help_desk, profile, count
):
    turns = [
        [[{"create_ticket": '{"title": "Dark screen"}'}]],
        [],
        [[{"close_ticket": '{"ticket_id": 1}'}, {"get_ticket": '{"ticket_id": 1}'}]],
        [],
    ][:count]
    ready = prepare(dataset_of(help_desk), help_desk, profile)
    found = recorded(help_desk, turns, profile)
    assert found.verdict == run_recorded(ready, turns, "fc", profile)
    assert "FAILED: 0 of 3 turns passed" in written(found)
    assert len(as_json(found)["turns"]) == 3


def test_a_terminal_cuts_long_texts_and_lists_are_cut(examined, folders, monkeypatch):
    script = make_truth_script(folders)
    script[0][:0] = [
        [parse_call(f"echo('{'x' * 10_000}')")],
        [parse_call(f"mkdir('{'d' * 10_000}')")],
        [parse_call(f"touch('file_{number}')") for number in range(30)],
    ]
    assert max(map(len, written(examined(folders, script)))) > 10_000
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    shown = written(examined(folders, script))
    assert max(map(len, shown)) < 400
    assert "    and 11 more places" in shown
    with whole_texts():
        assert max(map(len, written(examined(folders, script)))) > 10_000


def test_one_turn_and_one_step_can_be_chosen(examined, folders):
    script = make_truth_script(folders)
    script[1] = [[call] for step in script[1] for call in step]
    found = examined(folders, script)
    shown = written(found, turn=1, step=1)
    assert [line for line in shown if line.startswith(("turn", "  step"))] == [
        "turn 2",
        "  step 2  wc(file_name='notes.txt')",
    ]
    assert [turn["turn"] for turn in as_json(found, turn=1)["turns"]] == [1]


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        ({"turn": 2}, "--turn: 3 does not exist; the episode has turns 1 to 2"),
        ({"turn": 0, "step": 1}, "--step: 2 does not exist; the episode has steps 1 to 1"),
    ],
)
def test_what_is_not_there_cannot_be_chosen(examined, folders, selection, said):
    with pytest.raises(DataError, match=said):
        written(examined(folders), **selection)


def test_a_step_of_an_episode_without_any_cannot_be_chosen(examined, folders):
    with pytest.raises(DataError, match="--step: 1 does not exist; the episode has no steps"):
        written(examined(folders, null(folders)), step=0)


def test_only_differences_leaves_out_what_is_right(examined, help_desk):
    script = wrong_priority(help_desk)
    script[0].insert(0, [parse_call("get_ticket(1)")])
    found = examined(help_desk, script)
    shown = written(found, only_diff=True)
    assert [line for line in shown if line.startswith(("turn", "  step", "> step"))] == [
        "turn 1",
        "> step 2  create_ticket(title='Dark screen', priority=2)",
    ]
    (turn,) = as_json(found, only_diff=True)["turns"]
    assert [step["step"] for step in turn["steps"]] == [1]


def test_only_differences_of_what_is_right_is_nothing(examined, folders):
    assert as_json(examined(folders), only_diff=True)["turns"] == []


def test_the_json_form(examined, help_desk):
    found = as_json(examined(help_desk, wrong_priority(help_desk)))
    difference = {"path": "TicketAPI.ticket_queue[1].priority", "expected": 1, "actual": 2}
    assert {**found, "turns": None, "diagnosis": None} == {
        "id": "help_desk_0",
        "trial": None,
        "category": "miss_func",
        "environments": ["TicketAPI"],
        "source": "somewhere",
        "profile": "bfcl",
        "error": None,
        "verdict": {
            "valid": False,
            "error_type": "multi_turn:instance_state_mismatch",
            "failed_turn": 0,
            "turns": 3,
            "turns_passed": 0,
            "differences": [difference],
        },
        "diagnosis": None,
        "data_error": None,
        "turns": None,
    }
    assert found["diagnosis"]["cause"] == "wrong_argument"
    assert [found["diagnosis"][name] for name in ("turn", "step", "call")] == [0, 0, 0]
    first = found["turns"][0]
    (call,) = first.pop("steps")[0]["calls"]
    assert call.pop("changes")[1]["before"] == 2
    assert call == {
        "call": "create_ticket(title='Dark screen', priority=2)",
        "ok": True,
        "result": call["result"],
        "off_path": [difference],
        "diverges": True,
    }
    assert first == {
        "turn": 0,
        "messages": [{"role": "user", "content": "My screen is dark."}],
        "offers": [],
        "reached": True,
        "judged": True,
        "answer": None,
        "unreadable": None,
        "truth": first["truth"],
        "differences": [difference],
        "diverges": False,
        "failed": "multi_turn:instance_state_mismatch",
        "missing_results": [],
    }


def test_what_a_state_does_not_have_has_no_member(examined, folders):
    (gone, come) = as_json(examined(folders))["turns"][0]["steps"][0]["calls"][0]["changes"]
    assert "after" not in gone
    assert "before" not in come


def test_three_of_many_unseen_results_are_shown(examined, folders, monkeypatch):
    found = examined(folders, [[], []])
    failure = found.verdict.failure
    assert failure is not None
    unseen = tuple(f"fact {number}" for number in range(72))
    monkeypatch.setattr(type(failure), "unseen", unseen)
    shown = [line for line in written(found) if "unseen result" in line]
    assert shown[0] == "    unseen result: fact 0"
    assert shown[3:] == ["    unseen results: 69 more"]
