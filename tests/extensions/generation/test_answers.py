"""Answers are kept whole, found by what was asked, and never another command's."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.errors import DataError
from extensions.generation.answers import ANSWERS_FILE, DEFINITION_FILE, AnswerLog
from runner.models.model_types import Reply, Request, Usage
from runner.records.episode_record import RunSpending
from runner.records.run_file_mask import SecretMask

ASKED = {"model": "m"}
REQUEST = Request([{"role": "user", "content": "Well?"}], None)


def log(folder: Path, *secrets: str, **definition: object) -> AnswerLog:
    return AnswerLog(folder, {"seed": 0, **definition}, {"created": "today"}, SecretMask(secrets))


def reply(text: str) -> Reply:
    return Reply(text, (), None, "stop", Usage(3, 4), 0.5, 0.01)


def keep(answers: AnswerLog, text: str, draw: int = 0) -> None:
    answers.keep(ASKED, ("a", draw), REQUEST, reply(text), RunSpending(draw + 1, 7, 0.01))


def test_an_answer_is_found_by_all_that_was_asked(tmp_path: Path) -> None:
    with log(tmp_path / "work") as answers:
        keep(answers, "Fine.")
    with log(tmp_path / "work") as answers:
        assert answers.find(ASKED, ("a", 0), REQUEST) == reply("Fine.")
        assert answers.find(ASKED, ("a", 1), REQUEST) is None
        assert answers.find(ASKED, ("b", 0), REQUEST) is None
        assert answers.find({"model": "n"}, ("a", 0), REQUEST) is None
        other = REQUEST._replace(messages=[{"role": "user", "content": "And?"}])
        assert answers.find(ASKED, ("a", 0), other) is None
        assert answers.found == 1


def test_what_was_used_is_of_all_lives(tmp_path: Path) -> None:
    with log(tmp_path / "work") as answers:
        assert answers.spent == RunSpending()
        keep(answers, "Fine.", 0)
        keep(answers, "Good.", 1)
    with log(tmp_path / "work") as answers:
        assert answers.spent == RunSpending(2, 7, 0.01)


def test_an_unfinished_line_is_cut_off_and_other_damage_told(tmp_path: Path) -> None:
    path = tmp_path / "work" / ANSWERS_FILE
    with log(tmp_path / "work") as answers:
        keep(answers, "Fine.", 0)
        keep(answers, "Good.", 1)
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    with log(tmp_path / "work") as answers:
        assert answers.find(ASKED, ("a", 0), REQUEST) is not None
        assert answers.find(ASKED, ("a", 1), REQUEST) is None
        keep(answers, "Good.", 1)
    assert path.read_bytes() == whole
    path.write_bytes(b"{]\n" + whole)
    with pytest.raises(DataError, match=f"{ANSWERS_FILE}:1"):
        log(tmp_path / "work")


def test_another_command_does_not_go_on_with_it(tmp_path: Path) -> None:
    with log(tmp_path / "work", turns=3):
        pass
    with pytest.raises(DataError, match="has other settings: turns was 3, now 4"):
        log(tmp_path / "work", turns=4)
    path = tmp_path / "work" / DEFINITION_FILE
    path.write_text('{"format": 9}', encoding="utf-8")
    with pytest.raises(DataError, match="must have format 1"):
        log(tmp_path / "work")


def test_two_processes_do_not_write_it_at_once(tmp_path: Path) -> None:
    with log(tmp_path / "work"), pytest.raises(DataError, match="another process is writing"):
        log(tmp_path / "work")


def test_an_answer_with_a_secret_is_not_kept(tmp_path: Path) -> None:
    with log(tmp_path / "work", "sk-0123456789") as answers:
        keep(answers, "Your key is sk-0123456789.")
        assert answers.find(ASKED, ("a", 0), REQUEST) is not None
    assert (tmp_path / "work" / ANSWERS_FILE).read_bytes() == b""
