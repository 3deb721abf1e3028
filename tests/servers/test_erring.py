"""The model that errs: the same mistake at the same place, whatever else was said."""

from __future__ import annotations

import json
from functools import cache

import pytest

from tests.servers.answers import DONE, STRANGE
from tests.servers.erring import MISTAKES, Erring
from tests.servers.serving import Asked
from trajectories.dataset import load_embedded
from trajectories.schema import Category


@cache
def data():
    return load_embedded([Category.BASE])


def first_turn():
    return next(iter(data().trajectories.values())).turns[0]


def answered(model, *messages):
    """Return the message in the answer to a conversation."""
    first = {"role": "user", "content": first_turn().messages[0].content}
    asked = Asked(0, "/v1/chat/completions", {}, {"messages": [first, *messages]})
    return json.loads(model(asked).body)["choices"][0]["message"]


def functions(message):
    return [call["function"] for call in message["tool_calls"]]


def test_without_mistakes_it_does_the_ground_truth_call_by_call():
    model, said = Erring(data(), 0.0), []
    for _ in first_turn().ground_truth:
        said.append(answered(model, *said))
    names = [text.partition("(")[0] for text in first_turn().ground_truth]
    assert [functions(message)[0]["name"] for message in said] == names
    assert answered(model, *said)["content"] == DONE
    nobody = {"messages": [{"role": "user", "content": "?"}]}
    strange = json.loads(model(Asked(0, "", {}, nobody)).body)["choices"][0]["message"]
    assert strange["content"] == STRANGE


def test_an_answer_follows_from_its_place_and_the_seed_alone():
    said = {"role": "assistant", "content": "x"}
    one = answered(Erring(data(), 0.5), said)
    assert one == answered(Erring(data(), 0.5), {**said, "content": "y"}, {"role": "tool"})
    others = [answered(Erring(data(), 0.5, seed=seed), said) for seed in range(9)]
    assert any(other != one for other in others)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_every_mistake_is_one(mistake):
    given = {"name": "a", "number": 1}
    assert MISTAKES[mistake]("f", given) != [("f", json.dumps(given))]
    assert answered(Erring(data(), 1.0, [mistake])) == answered(Erring(data(), 1.0, [mistake]))
