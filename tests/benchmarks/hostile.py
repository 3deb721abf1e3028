"""Hostile replies and calls, made at random: what they make of readers, results and states.

``python -m tests.benchmarks.hostile --seed 1 --texts 6000 --episodes 900`` prints a table, and ends
with status 1 where something is raised that is no refusal, where 10,000 characters take longer
than 200 milliseconds, or where a result or a state is beyond its bound.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any, NamedTuple

from checkers.answer_text.numbers import list_mentions
from checkers.answer_text.words import FinalAnswer
from checkers.calls.call_entry import UnjudgeableEntry, UnreadableOutput
from checkers.causes.answer_patterns import classify_unparsed_calls, is_question, is_refusal
from checkers.profile import PROFILES, Mode, Profile
from checkers.replies.formats import read_json, read_xml
from checkers.replies.single_turn import read_calls
from envs.bounds import BOUNDS, measure_size
from envs.calls import Call, parse_calls, read_call
from envs.errors import MalformedCall
from envs.registry import BACKENDS
from envs.session import Session
from envs.tool import parameters
from trajectories.schema import Language

SLOWEST = 0.2
"""Seconds that 10,000 characters may take."""
_UNIT = 10_000
_REFUSALS = (MalformedCall, UnreadableOutput, UnjudgeableEntry)
_PIECES = (
    *"()[]{}<>=,:;.'\"`\\|-+*/%!?@#$&^~ \n\t",
    *("a", "7", "0x", "1e", "9" * 60, "0." + "1" * 40, "None", "True", "lambda x:", "f'{", "}'"),
    *("f(", "f(a=", "g(x)=", "[f(a=1)", "f(a=[", "f(a={'k':", "ls()", "cd(folder='x')", "**", "=>"),
    *('{"name":', '"arguments":', '{"f":{', "<call name='f'>", "<argument name='a'>", "</call>"),
    *("```python\n", "```", "new ArrayList<>(Arrays.asList(", "new HashMap<>() {{ put(", "add("),
    *(
        "I cannot ",
        "which one? ",
        "1,234.50 ",
        "2026-01-02 ",
        "not ",
        "\ud800",
        "\x00",
        "\u202e",
        "é",
    ),
)


class Row(NamedTuple):
    """What became of the inputs of one kind."""

    name: str
    inputs: int
    raised: list[str]
    """What was raised that is no refusal."""
    slowest: float
    """Seconds for 10,000 characters."""
    largest: int
    """Of results or states, in parts of 1,000 of their bound."""

    @property
    def good(self) -> bool:
        """Whether nothing is wrong."""
        return not self.raised and self.slowest <= SLOWEST and self.largest <= 1_000

    def __str__(self) -> str:
        """Return the row of the table."""
        said = f"{self.slowest * 1000:8.1f} {self.largest / 1000:8.3f}  {self.raised[:2] or ''}"
        return f"{self.name:32} {self.inputs:8} {len(self.raised):8} {said}"


def texts(random: Random, count: int) -> Iterator[str]:
    """Yield hostile texts of up to some 30,000 characters."""
    for _ in range(count):
        few = random.choices(_PIECES, k=random.randint(1, 6))
        size = random.choice((40, 400, 4_000, 12_000, 30_000))
        again = "".join(few)
        kind = random.randrange(4)
        if kind == 0:
            yield (again * size)[:size]
        elif kind == 1:
            yield "".join(random.choices(_PIECES, k=size // 4))
        elif kind == 2:
            yield "[" + (again * size)[:size] + random.choice((")", "]", ")]", ""))
        else:
            yield "f(a=" * (size // 8) + "1" + ")" * (size // 8)


def readers() -> dict[str, Callable[[str], object]]:
    """Return all that reads what a model said."""
    found: dict[str, Callable[[str], object]] = {
        "calls in text": parse_calls,
        "one call": read_call,
        "JSON": read_json,
        "XML": read_xml,
        "numbers told": lambda text: list_mentions(FinalAnswer(text)),
        "asks": is_question,
        "declines": is_refusal,
        "unread calls": lambda text: classify_unparsed_calls(text, ["ls", "cd"]),
    }
    modes: tuple[Mode, ...] = ("prompt", "fc")
    for profile in PROFILES.values():
        for mode in modes:
            found[f"{profile.name}, {mode}"] = partial(_decoded, profile, mode)
            for language in Language:
                name = f"{profile.name}, {mode}, one turn of {language.value}"
                found[name] = partial(_one_turn, profile, mode, language)
    return found


def _decoded(profile: Profile, mode: Mode, text: str) -> object:
    return profile.replies.decoder(mode)(text if mode == "prompt" else [{"f": text}])


def _one_turn(profile: Profile, mode: Mode, language: Language, text: str) -> object:
    step: Any = text if mode == "prompt" else [{"f": text}]
    return read_calls(step, language, mode, profile.calls)


def read_all(random: Random, count: int) -> Iterator[Row]:
    """Yield what became of texts, by reader."""
    for name, read in readers().items():
        raised, slowest = [], 0.0
        for text in texts(random, count):
            begin = time.process_time()
            try:
                read(text)
            except _REFUSALS:
                pass
            except Exception as error:
                raised.append(f"{type(error).__name__}: {text[:60]!r}")
            taken = time.process_time() - begin
            slowest = max(slowest, taken * _UNIT / max(len(text), _UNIT))
        yield Row(name, count, raised, slowest, 0)


def play_all(random: Random, count: int) -> Iterator[Row]:
    """Yield what became of episodes of hostile calls, by backend."""
    for backend in BACKENDS:
        raised, slowest, largest = [], 0.0, 0
        for _ in range(count):
            session = Session.load([backend], {}, tolerant=True)
            calls = [_call(random, session) for _ in range(random.choice((20, 80, 200)))]
            length = max(len(str(calls)), _UNIT)
            begin = time.process_time()
            try:
                results = session.play(calls)
                texts = [len(result.text) for result in results]
                json_size = measure_size(session.snapshot().to_json(), 10**9)
            except Exception as error:
                raised.append(f"{type(error).__name__}: {str(calls)[:60]!r}")
                continue
            slowest = max(slowest, (time.process_time() - begin) * _UNIT / length)
            parts = max(texts) / BOUNDS.result, json_size / BOUNDS.state
            largest = max(largest, *(int(1_000 * part) for part in parts))
        yield Row(f"calls of {backend}", count, raised, slowest, largest)


def _call(random: Random, session: Session, depth: int = 0) -> Call:
    tool = session.tools[random.choice(list(session.tools))]
    kwargs = {
        name: _value(random, session, depth)
        for name in (parameter.name for parameter in parameters(tool))
        if random.random() < 0.9
    }
    return Call(tool.name, (), kwargs, any(isinstance(value, Call) for value in kwargs.values()))


def _value(random: Random, session: Session, depth: int) -> Any:
    if depth < 4 and random.random() < 0.3:
        return _call(random, session, depth + 1)
    size = random.choice((1, 3, 50, 2_000))
    return random.choice(
        (
            "a",
            random.choice(_PIECES) * size,
            0,
            -1,
            10 ** random.randrange(400),
            random.uniform(-1, 1) * 10 ** random.randrange(300),
            [random.choice((1, 10**18, -5, "a", None))] * size,
            {"a": ["b"] * size},
            None,
            True,
        )
    )


def main() -> int:
    """Print the table and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--texts", type=int, default=600, help="for each reader")
    parser.add_argument("--episodes", type=int, default=50, help="for each backend")
    asked = parser.parse_args()
    random = Random(asked.seed)
    print(f"{'what':32} {'inputs':>8} {'raised':>8} {'ms/10kB':>8} {'of bound':>8}")
    good = True
    for rows in (read_all(random, asked.texts), play_all(random, asked.episodes)):
        for row in rows:
            print(row, flush=True)
            good &= row.good
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
