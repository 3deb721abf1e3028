from __future__ import annotations

import pytest

from checkers.profile import BFCL, STRICT
from envs.calls import parse_call
from runner.episode import STEP_LIMIT
from runner.evaluate import run_recorded
from runner.prepare import prepare
from runner.replay import replay
from runner.scripts import null, oracle, recorded

both = pytest.mark.parametrize("profile", [BFCL, STRICT], ids=lambda profile: profile.name)


@pytest.fixture
def shown(dataset_of):
    """Return the lines that show a trajectory."""

    def show(trajectory, script=None, profile=BFCL, step_limit=STEP_LIMIT):
        ready = prepare(dataset_of(trajectory), trajectory, profile)
        script = oracle(trajectory) if script is None else script
        return list(replay(ready, script, profile, step_limit))

    return show


@both
def test_a_passing_replay(shown, folders, profile):
    assert shown(folders, profile=profile) == [
        "folders_0 (base; GorillaFileSystem)",
        "",
        "turn 0",
        "  user: Put the notes away.",
        "  step 0  mv(source='notes.txt', destination='old')",
        """      -> {"result": "'notes.txt' moved to 'old/notes.txt'"}""",
        "      state GorillaFileSystem.root.home.contents['notes.txt']: "
        "was {'type': 'file', 'content': 'one\\ntwo'}, now nothing",
        "      state GorillaFileSystem.root.home.contents.old.contents['notes.txt']: "
        "was nothing, now {'type': 'file', 'content': 'one\\ntwo'}",
        "",
        "turn 1",
        "  user: How long are they?",
        "  step 0  cd(folder='old')",
        '      -> {"current_working_directory": "old"}',
        "  step 0  wc(file_name='notes.txt')",
        '      -> {"count": 2, "type": "lines"}',
        "",
        "passed: 2 of 2 turns",
    ]


def test_functions_that_are_handed_over_are_shown(shown, help_desk):
    lines = shown(help_desk)
    assert lines[lines.index("turn 2") + 1] == "  functions handed over: close_ticket"


def test_steps_are_counted_from_the_start_of_their_turn(shown, folders):
    script = [[[call] for step in steps for call in step] for steps in oracle(folders)]
    steps = [line.split()[1] for line in shown(folders, script) if line.startswith("  step ")]
    assert steps == ["0", "0", "1"]


def test_a_refusal_is_shown_as_one(shown, folders):
    script = oracle(folders)
    script[0].insert(0, [parse_call("cat('nothing')")])
    lines = shown(folders, script)
    assert lines[4] == "  step 0  cat('nothing')"
    assert lines[5].startswith('      -> refused: {"error": "')
    assert lines[-1] == "passed: 2 of 2 turns"


def failure(lines):
    """Return the lines about what failed."""
    start = next(i for i, line in enumerate(lines) if line.startswith("  ground truth: "))
    return lines[start : lines.index("", start)]


def test_a_wrong_state_is_shown_with_the_truth(shown, help_desk):
    script = oracle(help_desk)
    script[0] = [[parse_call("create_ticket(title='Dark screen', priority=2)")]]
    lines = shown(help_desk, script)
    assert failure(lines) == [
        "  ground truth: create_ticket(title='Dark screen')",
        "  FAILED multi_turn:instance_state_mismatch",
        "    TicketAPI.ticket_queue[1].priority: expected 1, got 2",
    ]
    assert lines[-1] == "FAILED: 0 of 3 turns"


def test_missing_results_are_shown_with_the_truth(shown, folders):
    script = oracle(folders)
    script[1] = [[parse_call("cd('old')"), parse_call("wc('notes.txt', 'w')")]]
    lines = shown(folders, script)
    assert failure(lines) == [
        "  ground truth: cd(folder='old'); wc(file_name='notes.txt')",
        "  FAILED multi_turn:execution_response_mismatch",
        '    not seen: {"count": 2, "type": "lines"}',
    ]
    assert lines[-1] == "FAILED: 1 of 2 turns"


def test_an_empty_turn_is_shown_with_the_truth(shown, folders):
    lines = shown(folders, null(folders))
    assert failure(lines) == [
        "  ground truth: mv(source='notes.txt', destination='old')",
        "  FAILED multi_turn:empty_turn_model_response",
    ]
    # What came after is shown all the same.
    assert "turn 1" in lines


def test_a_change_where_nothing_is_to_be_done_is_shown(shown, help_desk):
    script = oracle(help_desk)
    script[1] = [[parse_call("resolve_ticket(1, 'Out.')")]]
    lines = shown(help_desk, script, STRICT)
    assert failure(lines) == [
        "  ground truth: no call",
        "  FAILED multi_turn:state_change_in_empty_turn",
    ]
    assert lines[-1] == "FAILED: 1 of 3 turns"


def test_an_episode_that_the_step_limit_ends_says_so(shown, help_desk):
    script = oracle(help_desk)
    script[0] = [[parse_call("get_ticket(1)")]] * 3
    lines = shown(help_desk, script, STRICT, step_limit=2)
    assert "turn 1" not in lines
    assert any("multi_turn:force_terminated" in line for line in lines)
    assert lines[-1] == "FAILED: 0 of 3 turns"


def test_the_step_limit_holds_in_strict_only(shown, help_desk):
    script = oracle(help_desk)
    script[0] = [[parse_call("get_ticket(1)")]] * 3 + script[0]
    assert shown(help_desk, script, BFCL, step_limit=2)[-1] == "passed: 3 of 3 turns"
    assert shown(help_desk, script, STRICT, step_limit=4)[-1] == "passed: 3 of 3 turns"
    assert shown(help_desk, script, STRICT, step_limit=3)[-1] == "FAILED: 0 of 3 turns"


@both
@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_a_replay_agrees_with_the_verdict_on_another_number_of_turns(
    shown, dataset_of, help_desk, profile, count
):
    steps = [
        [[{"create_ticket": '{"title": "Dark screen"}'}]],
        [],
        [[{"close_ticket": '{"ticket_id": 1}'}, {"get_ticket": '{"ticket_id": 1}'}]],
        [],
    ][:count]
    ready = prepare(dataset_of(help_desk), help_desk, profile)
    verdict = run_recorded(ready, steps, "fc", profile)
    lines = shown(help_desk, recorded(steps, profile.decoders["fc"], profile), profile)
    assert not verdict.valid
    assert lines[-1] == "FAILED: 0 of 3 turns"


def test_long_texts_are_cut(shown, folders):
    script = oracle(folders)
    script[0].insert(0, [parse_call(f"echo('{'x' * 10_000}')")])
    assert max(map(len, shown(folders, script))) < 400
