"""Probes of models that have seen the data, that have not, and that do not answer."""

from __future__ import annotations

import json

import pytest

from extensions.authoring.canary import CANARY
from extensions.contamination.probes import ProbeResult, ProbeSummary, list_texts
from runner.cli import main
from runner.data.dataset_choice import load_dataset
from tests.servers.serving import Answer, Answerer, Asked, FakeServer, as_json
from tests.servers.shapes import completion

pytest_plugins = ["tests.live.run_fixtures"]
LIMIT = 12


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """The probed texts."""
    entries = [*load_dataset(categories="base").trajectories.values()][:LIMIT]
    return list_texts(entries)


def speaking(texts: dict[str, str], *, has_seen: bool, canary: str = "") -> Answerer:
    """Return a model that has seen the texts or not; the latter always chooses the first."""

    def say(prompt: str) -> str:
        asked, _, rest = prompt.partition("\n\n")
        if "paraphrases" in asked and "JSON" in asked:
            return json.dumps({"paraphrases": [f"{rest} ({n})" for n in "123"]})
        if "Continue" in asked:
            known = [text for text in texts.values() if text.startswith(rest[:40])]
            if not known:
                return canary
            return known[0].removeprefix(rest) if has_seen else "I do not know this text."
        choices = [line for line in rest.split("\n\n") if line[1:2] == ":"]
        own = [line[0] for line in choices if line[3:] in texts.values()]
        return f"{own[0]}." if has_seen and own else "A"

    def answer(asked: Asked) -> Answer:
        text = say(asked.body["messages"][-1]["content"])
        return as_json(completion({"role": "assistant", "content": text}))

    return answer


def probe(server: FakeServer, *more: str) -> int:
    """Run the command."""
    asked = ["--model", "fake", "--base-url", server.base_url, "--category", "base"]
    return main(["dataset", "probe", *asked, "--limit", str(LIMIT), *more])


def test_a_model_that_has_seen_the_data_recognises_and_continues_it(server, texts, capsys):
    server.answer = speaking(texts, has_seen=True, canary=CANARY)
    assert probe(server) == 0
    said = capsys.readouterr().out
    count = len(texts)
    assert f"recognised texts: {count} of {count} (guessing: 25%, p-value: 0.0000)" in said
    assert "canary in an answer: yes" in said
    assert probe(server, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["recognised"] == found["asked"] == found["texts"] == count
    assert found["continued"] > count / 2
    assert found["canary"] is True


def test_a_model_that_has_not_seen_the_data_is_near_chance(server, texts, capsys):
    server.answer = speaking(texts, has_seen=False)
    assert probe(server, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["p"] > 0.01
    assert (found["continued"], found["canary"]) == (0, False)


def test_answers_without_paraphrases_are_not_counted(server, capsys):
    server.answer = lambda _: as_json(completion({"role": "assistant", "content": "No."}))
    assert probe(server) == 0
    assert "recognised texts: 0 of 0 (guessing: 25%, p-value: 1.0000)" in capsys.readouterr().out


def test_a_server_that_refuses_ends_the_command_with_one_line(server, capsys):
    server.answer = lambda _: as_json({"error": {"message": "no such model"}}, 404)
    assert probe(server) == 3
    assert "no such model" in capsys.readouterr().err


@pytest.mark.parametrize("status", [200, 429, 503])
def test_a_server_that_never_answers_well_ends_the_command_soon(server, capsys, status):
    server.answer = lambda _: as_json([], status)
    assert probe(server, "--concurrency", "1") == 3
    assert server.requests == 3
    assert server.base_url in capsys.readouterr().err


def test_the_p_value_is_the_exact_tail() -> None:
    results = [ProbeResult("x", n < 3, "", False) for n in range(4)]
    assert ProbeSummary(results).p_value == pytest.approx((4 * 3 + 1) / 4**4)
