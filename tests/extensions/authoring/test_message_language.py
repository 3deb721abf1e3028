"""The language of user messages: entries in other languages are named, and not read as English."""

from __future__ import annotations

from dataclasses import replace

import pytest

from extensions.authoring.rule_sets import select_rules, validate
from runner.data.dataset_choice import load_dataset
from trajectories.message_language import is_english
from trajectories.schema import Message

ID = "base_files_quarterly_report"
TEXTS = {
    "German": "Zeig mir bitte meinen Ordner und wechsle dann zu den Berichten vom letzten Jahr.",
    "Spanish": "Por favor, muestra mi carpeta y luego abre los informes antiguos del año pasado.",
    "French": "Montre-moi mon dossier, puis ouvre tous les anciens rapports de l'année dernière.",
    "Chinese": "请显示我的文件夹然后打开去年的报告。",
    "Japanese": "フォルダーを表示して、去年の報告書を開いてください。",
    "Arabic": "من فضلك اعرض المجلد ثم افتح تقارير العام الماضي.",
}


def in_other_words(text: str):
    """Return an entry whose messages are a text."""
    entry = load_dataset(categories="base").trajectories[ID]
    turns = [replace(turn, messages=(Message("user", text),)) for turn in entry.turns]
    return replace(entry, turns=tuple(turns))


@pytest.mark.parametrize("language", TEXTS)
def test_an_entry_in_another_language_is_named_and_not_read_as_english(language: str) -> None:
    entry, data = in_other_words(TEXTS[language]), load_dataset(categories="base")
    assert not is_english(entry)
    found = validate(data, [entry], select_rules(["LANGUAGE", "ASKED"]))
    assert [(each.rule, each.severity.value) for each in found] == [("LANGUAGE", "info")]
    assert "The rule ASKED" in found[0].message


def test_a_short_message_with_names_is_english() -> None:
    assert is_english(in_other_words("Buy 3 AAPL."))
    assert is_english(in_other_words("42?"))


def test_our_own_entries_are_in_english() -> None:
    entries = load_dataset(categories="all").trajectories.values()
    assert [each.id for each in entries if not is_english(each)] == []
