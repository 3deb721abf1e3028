"""The model that errs: the same mistake at the same place, whatever else was said."""

from __future__ import annotations

import json

import pytest

from tests.servers.answers import DONE, STRANGE
from tests.servers.erring import MISTAKES, Erring
from tests.servers.serving import Asked
from trajectories.dataset import load_embedded
from trajectories.schema import Category

DATA = load_embedded([Category.BASE])
ENTRY = next(iter(DATA.trajectories.values()))
FIRST = {"role": "user", "content": ENTRY.turns[0].messages[0].content}


def answered(model, *messages):
    """Return the message in the answer to a conversation."""
    asked = Asked(0, "/v1/chat/completions", {}, {"messages": [FIRST, *messages]})
    return json.loads(model(asked).body)["choices"][0]["message"]


def functions(message):
    return [call["function"] for call in message["tool_calls"]]


def test_without_mistakes_it_does_the_ground_truth_call_by_call():
    model, said = Erring(DATA, 0.0), []
    for _ in ENTRY.turns[0].ground_truth:
        said.append(answered(model, *said))
    names = [text.partition("(")[0] for text in ENTRY.turns[0].ground_truth]
    assert [functions(message)[0]["name"] for message in said] == names
    assert answered(model, *said)["content"] == DONE
    nobody = {"messages": [{"role": "user", "content": "?"}]}
    strange = json.loads(model(Asked(0, "", {}, nobody)).body)["choices"][0]["message"]
    assert strange["content"] == STRANGE


def test_an_answer_follows_from_its_place_and_the_seed_alone():
    said = {"role": "assistant", "content": "x"}
    one = answered(Erring(DATA, 0.5), said)
    assert one == answered(Erring(DATA, 0.5), {**said, "content": "y"}, {"role": "tool"})
    others = [answered(Erring(DATA, 0.5, seed=seed), said) for seed in range(9)]
    assert any(other != one for other in others)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_every_mistake_is_one(mistake):
    given = {"name": "a", "number": 1}
    assert MISTAKES[mistake]("f", given) != [("f", json.dumps(given))]
    assert answered(Erring(DATA, 1.0, [mistake])) == answered(Erring(DATA, 1.0, [mistake]))
