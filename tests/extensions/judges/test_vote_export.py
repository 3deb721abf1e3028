"""What judges said of a run, in the data of its report."""

from __future__ import annotations

from pathlib import Path

import pytest

from extensions.judges.judged_episode import exhibits
from extensions.judges.label_rules import TurnObservation
from extensions.judges.vote_export import load_opinions
from extensions.judges.votes import JudgeDefinition, Vote, VoteStore, find_votes_folder
from runner.analysis.replayed_runs import ReplayedRun
from runner.analysis.report.run_report import report
from runner.records.run_file_mask import SecretMask
from tests.runner.analysis.report.making import call, source_of, unpacked, viewed

TURNS = [
    [call("create_ticket", title="Dark screen"), "I opened ticket 2."],
    ["I cannot."],
    [call("close_ticket", ticket_id=1), call("get_ticket", ticket_id=1), "Closed."],
]
JUDGE = JudgeDefinition("j", None, "", "steps")


def voted(run: ReplayedRun, judge: JudgeDefinition, *answers: str | None, brief: str = "") -> None:
    """Keep votes on the first episode of a run, in which a judge saw this of every turn."""
    exhibit = next(exhibits(run.episodes, judge.show))
    folder = find_votes_folder(run.source.path) / judge.folder
    with VoteStore(folder, judge, Vote, {}, SecretMask([])) as store:
        for draw, answer in enumerate(answers):
            turns = (
                [TurnObservation(n, "yes", True, True, answer, f"since {n}") for n in range(3)]
                if answer
                else []
            )  # type: ignore[arg-type]
            shown = brief or exhibit.brief.sha256
            store.append(Vote(*exhibit.key, draw, shown, turns, abstained=None if answer else "7"))


@pytest.fixture
def run(dataset_of, help_desk, tmp_path: Path) -> ReplayedRun:
    """View a run of two trials."""
    keys = {(help_desk.id, 0): TURNS, (help_desk.id, 1): TURNS}
    return viewed(dataset_of(help_desk), source_of(keys, path=tmp_path))


def test_a_run_without_judges_has_none(run: ReplayedRun) -> None:
    (about,) = unpacked(report([run]))[0]
    assert "judges" not in about
    assert all("judged" not in row for row in about["rows"])


def test_label_votes_and_reasons_stand_beside_the_verdict(run: ReplayedRun) -> None:
    voted(run, JUDGE, "solved", None, "false_claim", "solved", "solved")
    packs = unpacked(report([run]))
    (about,) = packs[0]
    assert about["judges"] == ["j"]
    first, second = about["rows"]
    assert first["judged"] == [
        {"judge": "j", "label": "pass", "votes": {"pass": 3, "abstained": 1, "fail": 1}}
    ]
    assert second["judged"] == [None]
    (said,) = packs[about["first_pack"]]["judged"]
    assert [vote["label"] for vote in said["said"]] == ["pass", "abstained", "fail", "pass", "pass"]
    assert said["said"][0]["why"].startswith("turn 1: solved (since 0); turn 2: solved")
    assert said["said"][1]["why"] == "abstained: 7"
    assert "judged" not in packs[about["first_pack"] + 1]


def test_votes_on_what_was_shown_otherwise_are_left_out(run: ReplayedRun) -> None:
    voted(run, JUDGE, "solved", "solved", "solved", brief="other")
    (opinions,) = load_opinions(run)
    assert opinions.labels == {}


def test_judges_of_one_name_are_told_apart(run: ReplayedRun) -> None:
    other = JUDGE._replace(show="changes")
    voted(run, JUDGE, "solved")
    voted(run, other, "partly")
    assert {each.judge for each in load_opinions(run)} == {JUDGE.folder, other.folder}
