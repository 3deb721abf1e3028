"""Other words for functions: what does not hold, and what a live model drafts."""

from __future__ import annotations

import asyncio
import json

import pytest

from envs.errors import DataError
from extensions.experiments.arrangement import Paraphrase
from extensions.experiments.paraphrase_drafts import draft_paraphrases, own_words
from extensions.experiments.paraphrases import find_defects, read_paraphrases, read_rewordings
from runner.models.block_api import object_within
from runner.models.model_types import Reply, Usage

DOCUMENT = {
    "name": "set_speed",
    "description": "Sets the speed.",
    "parameters": {
        "type": "object",
        "properties": {
            "speed": {"type": "number", "description": "In km an hour, up to 120."},
            "mode": {"type": "string", "enum": ["slow", "fast"], "description": "slow or fast"},
            "quiet": {"type": "boolean"},
        },
    },
}
NAMES = ["set_speed", "stop_car", "ls", "go", "getUser"]
GOOD = {"speed": "Up to 120 km per hour.", "mode": "How: slow, else fast."}


def wrong(description="How fast to go.", **changed):
    """Return what is wrong with words; a parameter that is None is left out."""
    members = {name: text for name, text in {**GOOD, **changed}.items() if text is not None}
    return [*find_defects(DOCUMENT, Paraphrase(description, members), NAMES)]


def test_good_words_have_no_defect():
    assert wrong() == []
    assert [*find_defects(DOCUMENT, own_words(DOCUMENT), NAMES)] == []


@pytest.mark.parametrize(
    ("changed", "defect"),
    [
        ({"description": "As stop_car."}, "names the function stop_car"),
        ({"description": "As getUser does"}, "names the function getUser"),
        ({"speed": "Up to 120 km, see stop_car."}, "names the function stop_car"),
        ({"description": "As with ls."}, "names the function ls"),
        ({"description": "As `go`."}, "names the function go"),
        ({"description": "First go(), then wait."}, "names the function go"),
        ({"speed": "Up to 120."}, "speed: lacks hour, km"),
        ({"speed": "Up to 100 km an hour."}, "speed: the numbers have changed: 100, 120"),
        ({"mode": "How fast."}, "mode: the choice 'slow' is missing"),
        ({"mode": None}, "lacks the parameter 'mode'"),
        ({"colour": "Red."}, "has no parameter 'colour'"),
        ({"description": " "}, "is empty"),
    ],
)
def test_words_that_do_not_hold(changed, defect):
    assert defect in wrong(**changed)


def test_a_word_of_the_language_is_no_function():
    assert wrong("It will go fine.") == []


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"f": 1}', '{"f": {"description": 1, "parameters": {}}}']
)
def test_files_of_words_are_checked(tmp_path, text):
    path = tmp_path / "words.json"
    path.write_text(text)
    with pytest.raises(DataError):
        read_paraphrases(path)


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "a"}',
        '{"id": "a", "turns": [1]}',
        '{"id": "a", "turns": []}\n{"id": "a", "turns": []}',
    ],
)
def test_files_of_what_users_say_are_checked(tmp_path, text):
    path = tmp_path / "said.jsonl"
    path.write_text(text)
    with pytest.raises(DataError):
        read_rewordings(path)


class Answering:
    """A model that says one text after the other, and then the last one again."""

    def __init__(self, *texts):
        self.texts = list(texts)
        self.asked = []

    async def ask(self, request):
        self.asked.append(request.messages)
        text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
        return Reply(text, (), None, "stop", Usage(), 0.0)

    async def close(self):
        pass


def answer(**changed):
    return json.dumps({"description": "How fast to go.", "parameters": {**GOOD, **changed}})


def draft(*texts):
    """Return the draft that answers come to, and what the model was asked."""
    model = Answering(*texts)
    (found,), stopped = asyncio.run(draft_paraphrases(model, [DOCUMENT], NAMES, 4))
    assert stopped is None
    return found, model.asked


def test_a_draft_that_holds_is_taken():
    found, asked = draft(f"```json\n{answer()}\n```")
    assert (found.words.description, found.problem, len(asked)) == ("How fast to go.", None, 1)


def test_one_that_does_not_hold_is_asked_for_again_with_the_reason():
    found, asked = draft(answer(speed="Up to 100 km an hour."), answer())
    assert found.problem is None
    assert "the numbers have changed" in asked[1][-1]["content"]


@pytest.mark.parametrize("text", ["I would rather not.", "{" * 50_000, "[]", '{"description": 1}'])
def test_what_never_holds_keeps_its_own_words(text):
    found, asked = draft(text)
    assert found.words == own_words(DOCUMENT)
    assert found.problem == "the answer is not a JSON object with a description and parameters"
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ('So:\n```json\n{"a": {"b": 2}}\n``` Done.', {"a": {"b": 2}}),
        ("no object", None),
        ("} {", None),
        ('{"a": NaN}', None),
        ("{" * 100_000 + "}", None),
        ('{"a": 1} and {"b": 2}', None),
    ],
)
def test_the_object_in_what_a_model_says(text, found):
    assert object_within(text) == found
