"""Entries in other languages: judged as in English, except for parts that read words."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import turnwise

from checkers.causes.answer_patterns import classify_answer
from checkers.known_values import KnownValues
from extensions.authoring.rule_sets import select_rules, validate
from runner.data.dataset_choice import load_dataset
from runner.episodes.info_verdict import find_reported_info
from tests.runner.commands.running import run as run_command
from trajectories.message_language import is_english

_DICTATED = re.compile(r"(?<!\w)'([^']{6,})'")


@pytest.fixture(scope="module")
def translated():
    """Return the translated entries."""
    return load_dataset("translated")


def test_only_the_user_messages_differ_from_the_english_entry(translated):
    english = load_dataset().trajectories
    languages = []
    for entry in translated.trajectories.values():
        base, _, language = entry.id.rpartition("_")
        languages.append(language)
        original = english[base]
        assert entry.provenance["language"] == language
        assert entry.base == original.base
        assert (
            replace(
                entry,
                id=base,
                turns=tuple(
                    replace(turn, messages=other.messages)
                    for turn, other in zip(entry.turns, original.turns, strict=True)
                ),
                provenance=original.provenance,
                tags=original.tags,
            )
            == original
        )
        for turn, other in zip(entry.turns, original.turns, strict=True):
            assert bool(turn.messages) == bool(other.messages)
            assert not turn.messages or turn.words != other.words
            for dictated in _DICTATED.findall(other.words):
                assert f"'{dictated}'" in turn.words
    assert sorted(languages) == ["de"] * 10 + ["es"] * 10 + ["zh"] * 10


def test_categories_and_ids_select_entries(capsys):
    found = load_dataset("translated", categories="miss_param").trajectories
    assert [*found] == [f"miss_param_files_band_setlist_{each}" for each in ("zh", "de", "es")]
    one = ("--ids", next(iter(found)), "--dataset", "translated")
    assert run_command("eval", "--model", "oracle", *one) == 0
    said = capsys.readouterr()
    assert "1 of 1 entries are not in English" in said.out + said.err


@pytest.mark.parametrize(("model", "passed"), [("oracle", 30), ("null", 0)])
def test_the_oracle_passes_and_null_fails(capsys, model, passed):
    assert run_command("eval", "--model", model, "--dataset", "translated") == 0
    said = capsys.readouterr().out
    assert re.search(rf"^all +30 +{passed} ", said, re.MULTILINE)
    assert "facts reported" not in said


def test_rules_find_no_error_and_name_what_does_not_apply(translated):
    entries = [*translated.trajectories.values()]
    rules = select_rules(["CONFIG", "PROVENANCE", "ASKED", "WAITS", "LANGUAGE", "TELLS"])
    found = validate(translated, entries, rules)
    assert {each.rule for each in found} == {"LANGUAGE"}
    assert len(found) == 30


@pytest.mark.parametrize("language", ["zh", "de", "es"])
def test_words_are_not_read_as_english(translated, language):
    entry = translated.trajectories[f"miss_param_files_band_setlist_{language}"]
    turns = [[["grep(file_name='x', pattern='y')"], "text"] for _ in entry.turns]
    assert find_reported_info(entry, turns) is None
    english = load_dataset().trajectories[entry.id.removesuffix(f"_{language}")]
    assert find_reported_info(english, turns).waiting == 1


def test_a_declared_language_decides(translated):
    entry = next(iter(translated.trajectories.values()))
    assert not is_english(entry)
    assert is_english(replace(entry, provenance={"language": "en-GB"}))
    assert not is_english(replace(entry, provenance={}))


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("请问文件叫什么名字\uff1f", "asked"),
        ("好的。请问温度是多少\uff1f", "asked"),
        ("Wie soll die Datei heißen?", "asked"),
        ("¿Cómo debe llamarse el archivo?", "asked"),
        ("抱歉我无法完成这个操作。", "declined"),
        ("我没有可用的工具来做这件事。", "declined"),
        ("Das kann ich leider nicht tun.", "declined"),
        ("Dafür habe ich keine Funktion.", "declined"),
        ("Lo siento, no puedo hacerlo.", "declined"),
        ("No tengo ninguna función para eso.", "declined"),
        ("已完成。", "other"),
        ("Erledigt, die Datei liegt im Ordner.", "other"),
        ("Hecho, el archivo ya está en la carpeta.", "other"),
        ("", "silent"),
    ],
)
def test_questions_and_refusals_in_other_languages(answer, kind):
    assert classify_answer(answer) == kind


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("所有带gig的消息", "gig"),
        ("把它复制成encore_backup.txt吧", "encore_backup.txt"),
        ("空调22.5摄氏度", 22.5),
        ("价格91.3的价格卖出7股NEPT", 7),
        ("22,5 Grad Celsius", 22.5),
        ("zu 91,3.", 91.3),
    ],
)
def test_values_in_messages_are_known(words, value):
    told = KnownValues()
    told.hear(words)
    assert told.doubt(value) is None


@pytest.mark.parametrize(
    ("words", "value"), [("所有带gigs的消息", "gigantic"), ("22,55 Grad", 22.5), ("122,5", 22.5)]
)
def test_other_values_stay_unknown(words, value):
    told = KnownValues()
    told.hear(words)
    assert told.doubt(value).serious


def test_a_guess_fails_in_german_as_in_english(translated):
    for id in ("base_trading_night_shift_alerts_de", "base_trading_night_shift_alerts"):
        data = translated if id.endswith("_de") else load_dataset()
        entry = data.trajectories[id]
        truth = [[[*turn.ground_truth]] for turn in entry.turns]
        assert turnwise.judge(entry, turns=_steps(truth), mode="prompt").valid
        truth[3][0][1] = truth[3][0][1].replace("91.3", "92.4")
        assert not turnwise.judge(entry, turns=_steps(truth), mode="prompt").valid


def _steps(turns):
    return [[*(f"[{call}]" for step in turn for call in step), "Fertig."] for turn in turns]
