"""Replies of models with formats of their own, read by BFCL's handlers and by our protocols.

Each handler is asked about made-up replies in its family's form: whole, with words around, cut off,
damaged. A reply without calls and one that cannot be read are alike: nothing is executed.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from envs.calls import Call
from envs.errors import MalformedCall
from extensions.formats.registry import PROTOCOLS
from runner.models.calling_formats.format_types import NativeFormat

DRIVER = Path(__file__).with_name("bfcl_handlers_driver.py")
REPLIES = 10_000
"""How many each handler reads."""

_NAMES = ("cd", "send_message", "get_zipcode", "ls", "f")
_KEYS = ("a", "folder", "unit", "content")
TEXTS = (
    *("", "a", "it's", 'say "x"', "a\nb", "é😀", "5", "true", "null", "{}", "[1]", "a; b", "\\n"),
    *("<b>", "```", "f(a=1)", "[x]", "(y)", "<tool_call>", "functools", "{'a': 1}", "a\\b", "%"),
)
WORDS = ("I cannot do that.", "It is 5 (five).", "", "Which folder? [a] or {b}?", "Done; bye.")
_DAMAGE = ('"', "{", "}", "[", "]", ",", ":", "x", "\n", "\\", "'", "<", "|")


class Family(NamedTuple):
    """One handler, and the protocol that reads the same."""

    handler: str
    protocol: str
    write: Callable[[Sequence[Call], Random], str]
    """Makes a reply of calls."""
    ours: Callable[[str], str] = str
    """Makes our reply of BFCL's, where the marks are others."""
    after: bool = True
    """Whether words may stand after calls."""


class Question(NamedTuple):
    """One reply."""

    text: str
    kind: str
    """How it was made: ``whole``, ``words``, ``around``, ``cut`` or ``damaged``."""


class Known(NamedTuple):
    """A difference that is meant."""

    handlers: tuple[str, ...]
    applies: Callable[[Question, list[Any] | None, list[Any] | None], bool]
    """Tells by the reply, what BFCL reads in it and what we do."""
    reason: str


def _objects(calls: Sequence[Call], key: str = "arguments") -> list[str]:
    return [json.dumps({"name": call.name, key: call.kwargs}) for call in calls]


def _listed(calls: Sequence[Call], _: Random) -> str:
    return f"[{', '.join(_objects(calls))}]"


def _tagged(calls: Sequence[Call], random: Random) -> str:
    blank = random.choice(("\n", "\n", "\n", "\n", "", " "))
    each = [f"<tool_call>{blank}{text}{blank}</tool_call>" for text in _objects(calls)]
    return random.choice(("\n", "\n", "\n", "\n", "")).join(each)


def _with_semicolons(calls: Sequence[Call], random: Random) -> str:
    tag = random.choice(("", "", "<|python_tag|>"))
    return tag + random.choice(("; ", ";")).join(_objects(calls, "parameters"))


def _granite(calls: Sequence[Call], random: Random) -> str:
    return f"{random.choice(('<|tool_call|>', '<tool_call>'))}{_listed(calls, random)}"


def _hammer(calls: Sequence[Call], random: Random) -> str:
    text = _listed(calls, random)
    return random.choice((text, f"```\n{text}\n```"))


def _phi(calls: Sequence[Call], random: Random) -> str:
    return f"<|tool_call|>{_listed(calls, random)}<|/tool_call|>"


def _minicpm(calls: Sequence[Call], _: Random) -> str:
    lines = "\n".join(map(str, calls))
    return f"<|tool_call_start|>\n```python\n{lines}\n```\n<|tool_call_end|>"


def _marked(text: str) -> str:
    """Return a reply with the mark that is taken off before BFCL sees it."""
    return f"[TOOL_CALLS]{text}"


def _in_tags(text: str) -> str:
    """Return a reply with OLMo's tags, between which stand the same lines."""
    text = text.replace("<|tool_call_start|>\n```python\n", "<function_calls>\n")
    return text.replace("\n```\n<|tool_call_end|>", "\n</function_calls>")


FAMILIES = (
    Family("qwen_fc.QwenFCHandler", "hermes", _tagged),
    Family("llama_3_1.LlamaHandler_3_1", "llama_json", _with_semicolons, after=False),
    Family("mistral_fc.MistralFCHandler", "mistral", _listed, _marked, after=False),
    Family("granite_3.Granite3FCHandler", "granite", _granite, after=False),
    Family("hammer.HammerHandler", "xlam", _hammer, after=False),
    Family("phi_fc.PhiFCHandler", "phi", _phi),
    Family("minicpm_fc.MiniCPMFCHandler", "olmo", _minicpm, _in_tags),
)

_ANY = tuple([family.handler for family in FAMILIES])
_QWEN, _LLAMA, _MISTRAL, _GRANITE, _HAMMER, _PHI, _MINICPM = _ANY
_MARKS = ("tool_call", "```", "functools")


def _more(_: Question, theirs: list[Any] | None, ours: list[Any] | None) -> bool:
    return not theirs and bool(ours)


def _has(kinds: tuple[type, ...], value: Any) -> bool:
    members = value.values() if isinstance(value, dict) else value
    if isinstance(value, (dict, list)):
        return any(_has(kinds, member) for member in members)
    return isinstance(value, kinds)


KNOWN = (
    Known(
        (_LLAMA,),
        lambda q, theirs, ours: _more(q, theirs, ours) and _has((bool, type(None)), ours),
        "JSON's true, false and null are no names of Python, as which BFCL reads them",
    ),
    Known(
        (_LLAMA,),
        lambda q, theirs, ours: _more(q, theirs, ours) and ";" in json.dumps(ours),
        "a semicolon inside of a text is text",
    ),
    Known(
        (_QWEN,),
        lambda q, theirs, ours: len(theirs or []) < len(ours or []),
        "a call is read by its JSON, whether its tags stand on lines of their own or not",
    ),
    Known(
        (_HAMMER, _GRANITE, _QWEN, _PHI, _MINICPM),
        lambda q, theirs, ours: any(mark in json.dumps(ours or theirs) for mark in _MARKS),
        "a mark inside of a text is text",
    ),
    Known(
        (_LLAMA, _MISTRAL, _GRANITE, _HAMMER, _PHI, _MINICPM),
        lambda q, theirs, ours: _more(q, theirs, ours) and q.kind != "whole",
        "whole calls are read with words or damage around them, or their last mark cut off",
    ),
    Known(
        _ANY,
        lambda q, theirs, ours: bool(theirs) and not ours and q.kind in ("damaged", "cut"),
        "a reply with one call that cannot be read is refused as a whole",
    ),
)


def run(python: Path, seed: int, count: int = REPLIES) -> int:
    """Compare all handlers, print what differs; return the number of differences."""
    return sum(_compare(python, family, seed, count) for family in FAMILIES)


def questions(family: Family, seed: int, count: int) -> Iterator[Question]:
    """Yield made-up replies of a family."""
    random = Random(f"{family.handler}/{seed}")
    for _ in range(count):
        calls = [_call(random) for _ in range(random.choice((1, 1, 1, 2, 3)))]
        text = family.write(calls, random)
        kind = random.choice((*["whole"] * 6, "words", "around", "cut", "damaged"))
        if kind == "words":
            text = random.choice(WORDS)
        elif kind == "around":
            after = random.choice(WORDS[:2]) if family.after else ""
            text = f"{random.choice(WORDS)}\n{text}\n{after}".rstrip("\n")
        elif kind == "cut":
            text = text[: random.randint(0, len(text) - 1)]
        elif kind == "damaged":
            at = random.randint(0, len(text))
            text = text[:at] + random.choice(_DAMAGE) + text[at + random.randint(0, 2) :]
        yield Question(text, kind)


def _call(random: Random) -> Call:
    keys = random.sample(_KEYS, random.choice((0, 1, 1, 2)))
    return Call(random.choice(_NAMES), (), {key: _value(random, 0) for key in keys})


def _value(random: Random, depth: int) -> Any:
    kind = random.random() if depth < 3 else 0.0
    if kind < 0.5:
        return random.choice(TEXTS)
    if kind < 0.8:
        return random.choice((0, 5, -3, 2.5, 1e3, True, False, None))
    if kind < 0.9:
        return [_value(random, depth + 1) for _ in range(random.randint(0, 2))]
    return {random.choice(_KEYS): _value(random, depth + 1) for _ in range(random.randint(0, 2))}


def read_by_bfcl(python: Path, handler: str, texts: Sequence[str]) -> list[list[Any] | None]:
    """Return the calls that a handler of BFCL's reads, None where it fails.

    Raises:
        RuntimeError: The handler does not run there.
    """
    answers: list[list[Any] | None] = asked_of_bfcl(
        python, handler, [{"text": text} for text in texts]
    )
    return answers


def asked_of_bfcl(python: Path, handler: str, questions: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return what a handler of BFCL's answers questions.

    Raises:
        RuntimeError: The handler does not run there.
    """
    lines = "".join(json.dumps({"handler": handler, **each}) + "\n" for each in questions)
    driver = subprocess.run(
        [python, DRIVER], input=lines, capture_output=True, text=True, check=False
    )
    if driver.returncode:
        raise RuntimeError(f"{handler} does not run: {driver.stderr.strip()[-300:]}")
    return [json.loads(line) for line in driver.stdout.splitlines()]


def read_by_turnwise(
    protocol: str, text: str, documents: Sequence[Mapping[str, Any]] = ()
) -> list[Any] | None:
    """Return the calls that a protocol reads, None where they cannot be read."""
    spoken = PROTOCOLS[protocol]
    assert not isinstance(spoken, NativeFormat)
    try:
        return [[call.name, dict(call.kwargs)] for call in spoken.read(text, documents)]
    except MalformedCall:
        return None


def _compare(python: Path, family: Family, seed: int, count: int) -> int:
    asked = [*questions(family, seed, count)]
    theirs = read_by_bfcl(python, family.handler, [question.text for question in asked])
    unknown, equal, with_calls = 0, 0, 0
    known: Counter[str] = Counter()
    for question, expected in zip(asked, theirs, strict=True):
        actual = read_by_turnwise(family.protocol, family.ours(question.text))
        with_calls += bool(expected)
        if (expected or []) == (actual or []):
            equal += 1
            continue
        reasons = [
            each.reason
            for each in KNOWN
            if family.handler in each.handlers and each.applies(question, expected, actual)
        ]
        if reasons:
            known[reasons[0]] += 1
        else:
            unknown += 1
            print(f"DIFFERENT {family.handler} {question!r}: expected {expected}, got {actual}")
    print(
        f"handlers {family.handler} as {family.protocol}: {equal} of {count} replies equal, "
        f"{with_calls} with calls"
    )
    for reason, number in known.most_common():
        print(f"  known, {number} times: {reason}")
    return unknown
