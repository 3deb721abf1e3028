"""Votes on disk: whole lines, cut off where a process was killed, and none of another judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envs.errors import DataError
from extensions.judges.label_rules import TurnObservation
from extensions.judges.votes import (
    JUDGE_FILE,
    VOTES_FILE,
    JudgeDefinition,
    PreferenceVote,
    Vote,
    VoteStore,
    VoteUsage,
    find_votes_folder,
    load_votes,
)
from runner.models.model_types import Usage
from runner.records.episode_record import RunSpending
from runner.records.run_file_mask import SecretMask

JUDGE = JudgeDefinition("org/judge", {"temperature": 0.5}, "0" * 64, "steps")
SEEN = TurnObservation(0, "yes", True, False, "solved", "as asked")
FIRST = Vote(
    "a", 0, 0, "b0", [SEEN], took=VoteUsage(Usage(10, 2), 0.5, 0.01, 1), spent=RunSpending(1, 12)
)


def store(folder: Path, definition: JudgeDefinition = JUDGE, secrets: SecretMask | None = None):
    """Open votes."""
    return VoteStore(folder, definition, Vote, {"created": "now"}, secrets or SecretMask([]))


def test_votes_are_read_back_in_order(tmp_path: Path) -> None:
    with store(tmp_path) as kept:
        kept.append(FIRST)
        kept.append(FIRST._replace(draw=1, abstained="it is 7", turns=[]))
        kept.append(FIRST._replace(id="b", labels=["pass"], turns=[]))
    with store(tmp_path) as kept:
        found = kept.cast(("a", 0), "b0")
        assert [vote.draw for vote in found] == [0, 1]
        assert (found[0].turns, found[0].took, found[1].abstained) == (
            [SEEN],
            FIRST.took,
            "it is 7",
        )
        assert kept.cast(("b", 0), "b0")[0].labels == ["pass"]
        assert kept.spent == RunSpending(1, 12)


def test_a_vote_on_what_was_shown_otherwise_is_passed_over(tmp_path: Path) -> None:
    with store(tmp_path) as kept:
        kept.append(FIRST)
        assert kept.cast(("a", 0), "other") == []
        assert kept.cast(("a", 1), "b0") == []


def test_a_vote_after_a_gap_waits_for_those_before_it(tmp_path: Path) -> None:
    with store(tmp_path) as kept:
        kept.append(FIRST._replace(draw=1))
        assert kept.cast(("a", 0), "b0") == []
        kept.append(FIRST)
        assert [vote.draw for vote in kept.cast(("a", 0), "b0")] == [0, 1]


@pytest.mark.parametrize("cut", [1, 30, -1])
def test_an_unfinished_last_line_is_cut_off(tmp_path: Path, cut: int) -> None:
    with store(tmp_path) as kept:
        kept.append(FIRST)
        kept.append(FIRST._replace(draw=1))
    path = tmp_path / VOTES_FILE
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second[:cut])
    with store(tmp_path) as kept:
        assert len(kept.cast(("a", 0), "b0")) == 1
        kept.append(FIRST._replace(draw=1))
    assert path.read_bytes() == first + second


def test_other_damage_is_an_error(tmp_path: Path) -> None:
    with store(tmp_path) as kept:
        kept.append(FIRST)
    path = tmp_path / VOTES_FILE
    path.write_bytes(b"{}\n" + path.read_bytes())
    with pytest.raises(DataError, match=r"votes.jsonl:1: \$.id: is missing"):
        store(tmp_path)


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    with store(tmp_path), pytest.raises(DataError, match="another process"):
        store(tmp_path)


def test_a_folder_is_of_one_judge_asked_in_one_way(tmp_path: Path) -> None:
    store(tmp_path).close()
    other = JUDGE._replace(settings={"temperature": 1})
    with pytest.raises(DataError, match=r"settings was \{.*0\.5\}, now \{.*1\}"):
        store(tmp_path, other)
    assert other.folder != JUDGE.folder == JudgeDefinition(*JUDGE).folder
    assert JUDGE.folder.startswith("org-judge-")
    assert JUDGE._replace(judge="../..").folder.startswith("judge-")


def test_a_secret_is_in_no_file(tmp_path: Path) -> None:
    secret = "sk-123456789"
    vote = FIRST._replace(turns=[SEEN._replace(why=f"the key is {secret}")])
    with store(tmp_path, secrets=SecretMask([secret])) as kept:
        kept.append(vote)
    assert secret not in (tmp_path / VOTES_FILE).read_text(encoding="utf-8")
    with store(tmp_path) as kept:
        assert kept.cast(("a", 0), "b0")[0].turns == [SEEN._replace(why="")]


def test_preferences_are_kept_by_criterion(tmp_path: Path) -> None:
    vote = PreferenceVote("a", 0, 0, "b0", {"richness": "first"}, None, ["so", ""])
    with VoteStore(tmp_path, JUDGE, PreferenceVote, {}, SecretMask([])) as kept:
        kept.append(vote)
    with VoteStore(tmp_path, JUDGE, PreferenceVote, {}, SecretMask([])) as kept:
        assert kept.cast(("a", 0), "b0") == [vote]


def test_what_lies_beside_a_run_is_found(tmp_path: Path) -> None:
    assert [*load_votes(tmp_path)] == []
    for judge in (JUDGE, JUDGE._replace(of="preferences"), JUDGE._replace(show="answer")):
        with store(find_votes_folder(tmp_path) / judge.folder, judge) as kept:
            kept.append(FIRST)
    found = [*load_votes(tmp_path)]
    assert {each.definition.show for each in found} == {"steps", "answer"}
    assert [len(each.votes["a", 0]) for each in found] == [1, 1]


def test_votes_on_a_result_file_lie_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "BFCL_v4_multi_turn_base_result.json"
    path.write_text("", encoding="utf-8")
    assert find_votes_folder(path) == tmp_path / f"{path.name}.judged"


@pytest.mark.parametrize("text", ["", "[]", '{"format": 2}', '{"format": 1, "definition": 7}'])
def test_a_damaged_definition_is_named(tmp_path: Path, text: str) -> None:
    folder = find_votes_folder(tmp_path) / "x"
    folder.mkdir(parents=True)
    (folder / JUDGE_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=JUDGE_FILE):
        list(load_votes(tmp_path))
    whole = {"format": 1, "definition": {"judge": "x", "show": "all"}}
    (folder / JUDGE_FILE).write_text(json.dumps(whole), encoding="utf-8")
    with pytest.raises(DataError, match=r"\$\.settings: is missing"):
        list(load_votes(tmp_path))
