"""Replies in the families' own forms, read by vLLM's tool parsers and by our protocols.

vLLM is heavy, so this part is run where an interpreter has it. Replies are what our protocols write
of made-up calls: alone, and after words; a family that several parsers read is put to each.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from envs.calls import Call
from extensions.formats.registry import PROTOCOLS
from runner.models.calling_formats.format_types import NativeFormat
from tests.conformance.handlers import TEXTS, WORDS, read_by_turnwise

DRIVER = Path(__file__).with_name("vllm_driver.py")
REPLIES = 1_000
"""How many each parser reads."""
_TYPES: dict[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "count": {"type": "integer"},
    "ratio": {"type": "number"},
    "flag": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "place": {"type": "object", "properties": {"city": {"type": "string"}}},
}
FUNCTIONS = [
    {
        "name": name,
        "description": "Do it.",
        "parameters": {"type": "object", "properties": _TYPES, "required": []},
    }
    for name in ("zone", "send_message", "f")
]


class Family(NamedTuple):
    """One parser, and the protocol that reads the same."""

    parser: str
    protocol: str


class Question(NamedTuple):
    """One reply, and the calls that it was made of."""

    text: str
    calls: list[Any]


class Known(NamedTuple):
    """A difference that is meant: in what vLLM reads, not in what we do."""

    parsers: tuple[str, ...]
    applies: Callable[[Question], bool]
    reason: str


FAMILIES = (
    Family("hermes", "hermes"),
    Family("pythonic", "pythonic"),
    Family("llama4_pythonic", "pythonic"),
    Family("llama3_json", "llama_json"),
    Family("mistral", "mistral"),
    Family("qwen3_xml", "qwen_xml"),
    Family("qwen3_coder", "qwen_xml"),
    Family("kimi_k2", "kimi"),
    Family("deepseek_v31", "deepseek_v3"),
    Family("deepseek_v32", "dsml"),
    Family("deepseek_v4", "dsml"),
    Family("minimax_m2", "invoke"),
    Family("glm45", "glm"),
    Family("glm47", "glm"),
    Family("granite", "granite"),
    Family("phi4_mini_json", "phi"),
    Family("xlam", "xlam"),
    Family("olmo3", "olmo"),
    Family("gemma4", "gemma"),
)
KNOWN = (
    Known(
        ("pythonic", "llama4_pythonic", "xlam"),
        lambda question: bool(question.calls) and question.text.startswith(WORDS[0]),
        "words before calls are words, and the calls calls; vLLM takes all of it for words",
    ),
    Known(
        ("phi4_mini_json",),
        lambda question: "]" in json.dumps([given for _, given in question.calls])[1:-1],
        "a bracket inside of the list is the list's; vLLM ends with it, and reads nothing",
    ),
)


def run(python: Path, seed: int, count: int = REPLIES) -> int:
    """Compare all parsers, print what differs; return the number of differences."""
    asked = [(family, questions(family, seed, count)) for family in FAMILIES]
    theirs = iter(
        read_by_vllm(python, [(family.parser, q.text) for family, made in asked for q in made])
    )
    return sum(_compare(family, made, [next(theirs) for _ in made]) for family, made in asked)


def questions(family: Family, seed: int, count: int) -> list[Question]:
    """Return made-up replies of a family: with calls, and words before some."""
    protocol = PROTOCOLS[family.protocol]
    assert not isinstance(protocol, NativeFormat)
    random = Random(f"{family.protocol}/vllm/{seed}")
    found = []
    for _ in range(count):
        number = random.choice((0, 1, 1, 1, 2, 3))
        calls = [_call(random) for _ in range(number)]
        said = random.choice(("", "", WORDS[0])) if calls else random.choice(WORDS[:2])
        wanted = [[call.name, dict(call.kwargs)] for call in calls]
        found.append(Question(protocol.write(calls, said, FUNCTIONS), wanted))
    return found


def read_by_vllm(python: Path, asked: Sequence[tuple[str, str]]) -> list[list[Any] | None]:
    """Return the calls that parsers read in texts, None where they fail.

    Raises:
        RuntimeError: The interpreter does not have vLLM, or not its parsers.
    """
    lines = [{"parser": name, "text": text, "functions": FUNCTIONS} for name, text in asked]
    # -P: what stands beside the driver is no package of vLLM's.
    driver = subprocess.run(
        [python, "-P", DRIVER],
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        check=False,
    )
    if driver.returncode:
        raise RuntimeError(f"vLLM's parsers do not run: {driver.stderr.strip()[-300:]}")
    return [json.loads(line) for line in driver.stdout.splitlines()]


def _call(random: Random) -> Call:
    keys = random.sample([*_TYPES], random.choice((0, 1, 2, 3)))
    name = random.choice([each["name"] for each in FUNCTIONS])
    return Call(str(name), (), {key: _value(key, random) for key in keys})


def _value(key: str, random: Random) -> Any:
    values: dict[str, Any] = {
        "text": random.choice(TEXTS),
        "count": random.choice((0, 5, -3, 12345678901)),
        "ratio": random.choice((0.5, -2.25, 3)),
        "flag": random.choice((True, False)),
        "tags": random.choices(TEXTS, k=random.randint(0, 2)),
        "place": {"city": random.choice(TEXTS)},
    }
    return values[key]


def _compare(family: Family, asked: Sequence[Question], theirs: Sequence[list[Any] | None]) -> int:
    unknown = equal = 0
    known: Counter[str] = Counter()
    for question, expected in zip(asked, theirs, strict=True):
        actual = read_by_turnwise(family.protocol, question.text, FUNCTIONS)
        if repr(actual or []) == repr(expected or []) == repr(question.calls):
            equal += 1
            continue
        reasons = [
            each.reason
            for each in KNOWN
            if family.parser in each.parsers and each.applies(question)
        ]
        if reasons and repr(actual or []) == repr(question.calls):
            known[reasons[0]] += 1
        else:
            unknown += 1
            print(
                f"DIFFERENT {family.parser} {question.text!r}: vLLM reads {expected}, we {actual}"
            )
    print(f"vLLM {family.parser} as {family.protocol}: {equal} of {len(asked)} replies equal")
    for reason, number in known.most_common():
        print(f"  known, {number} times: {reason}")
    return unknown
