"""Secrets in run files: where they are masked, and where they are ordinary words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runner.records.run_file_mask import SecretMask

SECRET = "abc-DEF.12"
CALL = '"f(1)x"y'
QUOTED = "k%2Fe%3Dy55"


def episode(**changed: Any) -> dict[str, Any]:
    """Return an episode as fields, with some of them changed."""
    return {
        "id": "entry_1",
        "trial": 2,
        "category": "base",
        "verdict": None,
        "messages": [{"role": "user", "content": "Hello."}],
        "steps": [step()],
        "turn_ends": [{"turn": 0, "why": "answer"}],
        "result": [["Done."]],
        **changed,
    }


def step(**changed: Any) -> dict[str, Any]:
    """Return a step as fields, with some of them changed."""
    return {"tools": None, "calls": [], "results": [], "reply": {"text": None}, **changed}


def message(role: str, content: object) -> dict[str, Any]:
    """Return the changed messages."""
    return {"messages": [{"role": "user", "content": "Hello."}, {"role": role, "content": content}]}


def in_steps(**changed: Any) -> dict[str, Any]:
    """Return the changed steps."""
    return {"steps": [step(), step(**changed)]}


@pytest.mark.parametrize("secret", [SECRET, CALL, QUOTED])
@pytest.mark.parametrize(
    ("place", "effect"),
    [
        (lambda s: message("user", f"a {s} b"), "masked"),
        (lambda s: message("tool", [{"a": [s, f"{s}{s}"]}]), "masked thrice"),
        (lambda s: in_steps(reply={"text": f"a {s}"}), "masked"),
        (lambda s: in_steps(results=[s]), "masked"),
        (lambda s: {"result": [["Done.", f"a {s}"]]}, "masked"),
        (lambda s: {"evidence": {s: {s: 1}}}, "masked twice"),
        (lambda s: {"after": [{s: 1}]}, "masked"),
        # The names of fields, except in a model's values, and the words of the data are ordinary.
        (lambda s: {"other": {"x": [{s: 1}]}}, "kept"),
        (lambda s: {"result": [[{"f": {s: 1}}]]}, "altered"),
        (lambda s: message("system", {"a": [{s: 1}]}), "kept"),
        (lambda s: message("system", f"a {s}"), "kept"),
        (lambda s: message(s, "a"), "kept"),
        (lambda s: {"id": f"entry {s}"}, "kept"),
        (lambda s: {"category": s}, "kept"),
        (lambda s: {"verdict": {"error_type": s}}, "kept"),
        (lambda s: {"verdict": {"evidence": s}}, "masked"),
        (lambda s: in_steps(tools=s), "kept"),
        (lambda s: {"turn_ends": [{"turn": 0, "why": "answer"}, {"why": s}]}, "kept"),
        # A masked call gives another result.
        (lambda s: in_steps(calls=["g()", f"f('{s}')"]), "altered"),
        (lambda s: in_steps(calls=["g()"], reply={"text": s}), "altered"),
        (lambda s: {"result": [[], [[{"g": "{}"}, {"f": s}]]]}, "altered"),
    ],
)
def test_a_secret_is_masked_unless_it_is_an_ordinary_word(
    secret: str, place: Any, effect: str
) -> None:
    mask = SecretMask([secret])
    made = episode(**place(secret))
    line = mask.of_episode(made)
    assert line.endswith(b"}\n")
    if effect == "altered" and secret == CALL:
        # It could be syntax of a call, so that the mask would damage the call.
        effect = "kept"
    text = json.dumps(json.loads(line), ensure_ascii=False)
    kept = effect == "kept"
    assert (json.dumps(secret)[1:-1] in text) is kept
    number = {"masked twice": 2, "masked thrice": 3, "kept": 0}.get(effect, 1)
    assert (mask.masked, text.count("***")) == (number, number)
    where = f"{made['id']}, trial 2"
    assert mask.kept == [where] * kept
    assert mask.altered == [where] * (effect == "altered")


def test_words_of_the_entry_are_no_secrets() -> None:
    mask = SecretMask([SECRET], lambda id: f"{id}: {SECRET}" if id == "entry_1" else "")
    made = episode(**message("user", SECRET))
    assert json.loads(mask.of_episode(made)) == made
    assert (mask.masked, mask.kept, mask.altered) == (0, ["entry_1, trial 2"], [])
    assert b"***" in mask.of_episode({**made, "id": "entry_2"})


def test_an_episode_without_a_secret_is_written_as_it_is() -> None:
    mask = SecretMask([SECRET])
    made = episode()
    assert json.loads(mask.of_episode(made)) == made
    known = mask.of_episode(made, {"result": [["Known."]]})
    assert json.loads(known) == {**made, "result": [["Known."]]}
    # A field that is already encoded is encoded again with its mask.
    assert json.loads(mask.of_episode({**made, "result": [[SECRET]]}, {"trial": [SECRET]})) == {
        **made,
        "result": [["***"]],
    }


@pytest.mark.parametrize(("size", "is_masked"), [(0, False), (7, False), (8, True)])
def test_a_secret_has_eight_characters_at_least(size: int, is_masked: bool) -> None:
    mask = SecretMask(["k" * size, "k" * size])
    line = mask.of_episode(episode(**message("user", f"a{'k' * size}")))
    assert (b"***" in line) is is_masked


def test_the_longer_of_two_secrets_is_masked_first() -> None:
    mask = SecretMask(["12345678", "abc12345678", "45678901"])
    line = json.loads(mask.of_episode(episode(**message("user", "abc12345678 45678901"))))
    assert line["messages"][1]["content"] == "*** ***"
    assert mask.masked == 2


@pytest.mark.parametrize("secret", ['ab"cd\\efgh', "it's\\a'key", "b\"o't\\h-key", "schlüssel\n1"])
def test_a_secret_is_masked_in_every_escaped_form(secret: str) -> None:
    forms = [secret, json.dumps(secret), json.dumps(json.dumps(secret)), repr(secret)]
    forms += [
        ascii(secret),
        json.dumps({"a": secret}),
        json.dumps({"a": secret}, ensure_ascii=False),
    ]
    forms += [repr({"a": f'{secret}"'}), json.dumps({"a": repr(secret)})]
    for form in forms:
        mask = SecretMask([secret])
        content = json.loads(mask.of_episode(episode(**message("user", form))))["messages"][1]
        assert "***" in content["content"], form
        assert not set(content["content"]) & set(secret) - set("\"\\'a:{} n"), form
        assert mask.masked == 1


def test_the_run_file_has_no_secret_in_its_settings_and_note() -> None:
    run = {
        "format": 1,
        "definition": {
            "model": SECRET,
            "settings": {"extra_headers": [SECRET], "extra_body": {SECRET: [f"a {SECRET}"]}},
        },
        "note": {"command": ["eval", f"--key={SECRET}"], "episodes": 5},
    }
    text = SecretMask([SECRET]).of_run(run).decode()
    assert text == json.dumps(json.loads(text), indent=2) + "\n"
    assert json.loads(text) == {
        "format": 1,
        "definition": {
            "model": SECRET,
            "settings": {"extra_headers": [SECRET], "extra_body": {"***": ["a ***"]}},
        },
        "note": {"command": ["eval", "--key=***"], "episodes": 5},
    }
    bare = {"definition": {"settings": None}, "note": {}}
    assert json.loads(SecretMask([SECRET]).of_run(bare)) == bare


def test_a_word_of_a_tool_list_is_no_secret_from_then_on() -> None:
    mask = SecretMask([SECRET, "12345678"])
    line = mask.of_tools({"digest": "d", "tools": [{"name": SECRET}]})
    assert line == b'{"digest":"d","tools":[{"name":"abc-DEF.12"}]}\n'
    assert mask.of_tools({"digest": "e", "tools": []}).endswith(b"\n")
    assert mask.kept == ["a tool list"]
    content = f"{SECRET} 12345678"
    shown = json.loads(mask.of_episode(episode(**message("user", content))))["messages"][1]
    assert shown["content"] == f"{SECRET} ***"


def test_a_step_with_a_secret_is_not_written() -> None:
    mask = SecretMask([SECRET])
    assert mask.of_step({"a": ["b"]}) == b'{"a":["b"]}\n'
    assert mask.of_step({"a": [f"b {SECRET}"]}) is None
    assert mask.masked == 0
