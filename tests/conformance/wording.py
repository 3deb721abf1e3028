"""Makes the table of which text of BFCL's takes the place of each refusal of ours.

``python -m tests.conformance.wording --bfcl-python PATH`` plays random scripts on both sides, as
black boxes. Where both refuse a call, what BFCL's model reads is matched with the texts that were
extracted from the package, and what fills their holes with arguments and state. For each backend,
function and kind of error of ours the place and the sources that explain most are kept, as
identifiers and numbers, in ``runner/data/bfcl_places.json``.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple

from envs.backend import AS_BFCL
from envs.calls import Call, read_call
from envs.errors import BackendFault, ConfigError, MalformedCall
from envs.long_context import LongContextPack
from envs.results import DeclinedResult, Result
from envs.session import Session
from runner.data.bfcl_wording import (
    PLACES_FILE,
    PYTHON,
    BfclWording,
    Refusal,
    RefusalTexts,
    fill,
    find_refusal,
)
from runner.data.source_literals import Given, Texts, load_texts
from tests.conformance.generator import Generator
from tests.conformance.known import failed
from tests.conformance.sides import Reply, Script, data_folder, play_on_bfcl
from trajectories.bfcl_reader import load, load_pack
from trajectories.schema import MULTI_TURN

SCRIPTS = 3000
SEED = 20
"""Of scripts that no other part of the comparison plays."""
MOST = 150
"""Refusals of one kind that are looked at."""
DEEPEST = 3
"""How far into a state a source is looked for."""

SENTENCES = {
    "raised": "eval_checker/multi_turn_eval/multi_turn_utils.execute_multi_turn_func_call.25",
    "handover": "constants/default_prompts.DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC.0",
    "python_note": "utils._get_language_specific_hint.2",
    "java_note": "utils._get_language_specific_hint.0",
    "javascript_note": "utils._get_language_specific_hint.1",
    "float_note": "model_handler/utils._cast_to_openai_type.3",
    "java_any": "utils._func_doc_language_specific_pre_processing.3",
    "java_type": "utils._func_doc_language_specific_pre_processing.4",
    "javascript_any": "utils._func_doc_language_specific_pre_processing.7",
    "javascript_type": "utils._func_doc_language_specific_pre_processing.8",
    "items_note": "utils._func_doc_language_specific_pre_processing.9",
    "members_note": "utils._func_doc_language_specific_pre_processing.10",
}
"""Found by what ``bfcl generate`` sends to a server."""


class Met(NamedTuple):
    """A call that both sides refused."""

    text: str
    call: Call | MalformedCall
    result: Result
    expected: str
    """What BFCL's model reads."""
    session: Session
    """Right after the call, on our side."""


class Sample(NamedTuple):
    """What one refusal tells about its kind."""

    value: Any
    """What BFCL's function gave, or the message that it raised."""
    raised: bool
    cause: str | None
    sources: Mapping[str, Any]
    """What may fill a hole."""
    fields: Mapping[str, object]
    """Further members of our refusal."""


class Fit(NamedTuple):
    """A text that a sample may be."""

    place: str
    own: str | None
    more: str | None
    holes: tuple[Any, ...]
    """What is in its holes."""
    literal: int
    """Characters of it that are no hole."""


Key = tuple[str, str, str]
"""Backend, function, and kind of our error."""


def met(script: Script, theirs: Reply, pack: LongContextPack) -> Iterator[Met]:
    """Yield the calls of a script that both sides refuse, up to where they part."""
    material = pack if script.long_context else None
    try:
        session = Session.load(
            script.involved_classes,
            script.initial_config,
            material,
            tolerant=True,
            behaviour=AS_BFCL,
        )
    except ConfigError:
        return
    for calls, turn in zip(script.turns, theirs.turns, strict=False):
        for text, expected in zip(calls, turn.results, strict=True):
            call = read_call(text)
            try:
                result = session.call(call)
            except BackendFault:
                return
            if failed(expected) != failed(result.text):
                return
            if failed(expected) or isinstance(result.value, DeclinedResult):
                yield Met(text, call, result, expected, session)
            elif expected != result.text:
                return
        if _text(session.snapshot().to_json()) != _text(turn.state):
            return


def _text(state: Mapping[str, Any]) -> str:
    return json.dumps(state, sort_keys=True)


def samples_of(found: Iterable[Met], raised: str) -> Iterator[tuple[Key, Sample]]:
    """Yield what refusals tell, some of each kind.

    Args:
        found: The refusals.
        raised: What stands in front of the message of a call that raised.
    """
    seen: Counter[Key] = Counter()
    for each in found:
        if isinstance(each.call, MalformedCall) or each.call.name not in each.session.tools:
            continue
        refusal = find_refusal(each.session, each.call, each.result)
        if refusal is None:
            continue
        key = (refusal.tool.backend, refusal.tool.name, refusal.kind)
        seen[key] += 1
        if seen[key] <= MOST:
            yield key, _sample(refusal, each.expected, raised)


def _sample(refusal: Refusal, expected: str, raised: str) -> Sample:
    was_raised = expected.startswith(raised)
    cause = refusal.error and refusal.error.cause
    values = refusal.error.values if refusal.error else {}
    sources = {f"argument:{name}": value for name, value in refusal.arguments.items()}
    sources |= {f"value:{name}": value for name, value in values.items()}
    sources |= dict(_in_state(refusal.state))
    if cause:
        sources["cause"] = str(cause)
    return Sample(
        expected.removeprefix(raised) if was_raised else _read(expected),
        was_raised,
        str(cause) if cause else None,
        sources,
        refusal.fields,
    )


def _read(text: str) -> Any:
    """Return the value that a result is the text of: an object as JSON, a list as Python's."""
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError):
            continue
    return text


def _in_state(state: Mapping[str, Any], path: str = "", depth: int = 0) -> Iterator[Any]:
    for name, value in state.items():
        if not isinstance(name, str) or "." in name:
            continue
        if isinstance(value, Mapping):
            yield f"keys:{path}{name}", list(value)
            if depth < DEEPEST and len(value) <= MOST:
                yield from _in_state(value, f"{path}{name}.", depth + 1)
        if len(str(value)) <= MOST:
            yield f"state:{path}{name}", value


def learn(samples: Iterable[tuple[Key, Sample]], texts: Texts) -> dict[str, Any]:
    """Return the refusals of the table."""
    groups: dict[Key, list[Sample]] = defaultdict(list)
    for key, sample in samples:
        groups[key].append(sample)
    table: dict[str, Any] = {}
    for (backend, function, kind), group in sorted(groups.items()):
        entry = _entry(backend, function, group, {**texts, **PYTHON})
        if entry is not None:
            table.setdefault(backend, {}).setdefault(function, {})[kind] = entry
    return table


def _entry(
    backend: str, function: str, group: Sequence[Sample], texts: Texts
) -> dict[str, Any] | None:
    """Return the place and the sources that explain most of a kind; None where Python's does."""
    fits = [(sample, _best(sample, backend, function, texts)) for sample in group]
    votes = Counter(fit[:2] for _, fit in fits if fit)
    by_cause = sum(sample.raised and sample.value == sample.cause for sample in group)
    if not votes or by_cause >= votes.most_common(1)[0][1]:
        return None
    for (place, own), _ in votes.most_common():
        chosen = [(sample, fit) for sample, fit in fits if fit and fit[:2] == (place, own)]
        more = next((fit.more for _, fit in chosen if fit.more), None)
        sources = [
            _source([(sample, fit.holes[index]) for sample, fit in chosen], shape, backend, texts)
            for index, shape in enumerate(_holes(_given(place, texts)))
        ]
        if None not in sources:
            entry = {"place": place, "holes": sources, "own": own, "more": more}
            return {name: value for name, value in entry.items() if value}
    return None


def _best(sample: Sample, backend: str, function: str, texts: Texts) -> Fit | None:
    """Return the most telling text that a sample may be, one of its own function if there are."""
    plain = [(None, more, value) for more, value in _without_fields(sample)]
    fits = [
        Fit(place, own, more, *found)
        for own, more, value in plain
        for place, given in _places(backend, texts)
        if bool(given.get("raised")) == sample.raised and (found := _match(given, value))
    ]
    if not any(fit.literal > 1 for fit in fits):
        fits += _renamed_fits(sample, backend, function, texts)
    return max(
        fits,
        key=lambda fit: (fit.literal, fit.place.split(".")[-2] == function, fit.more is None),
        default=None,
    )


def _renamed_fits(sample: Sample, backend: str, function: str, texts: Texts) -> Iterator[Fit]:
    """Yield texts of other functions that a sample would be if it named them."""
    written = json.dumps(sample.value)
    if sample.raised or f"{function}:" not in written:
        return
    for own in texts[backend]:
        value = json.loads(written.replace(f"{function}:", f"{own}:", 1))
        for place, given in _places(backend, texts):
            found = _match(given, value)
            if found and found[1] > len(own):
                yield Fit(place, own, None, *found)


def _without_fields(sample: Sample) -> Iterator[tuple[str | None, Any]]:
    """Yield the value, and it without the further members, which stand before or behind."""
    yield None, sample.value
    if isinstance(sample.value, dict) and sample.fields:
        rest = {k: v for k, v in sample.value.items() if k not in sample.fields}
        if len(rest) < len(sample.value):
            first = next(iter(sample.value))
            yield ("before" if first in sample.fields else "after"), rest


def _places(backend: str, texts: Texts) -> Iterator[tuple[str, Given]]:
    for owner in (backend, "Directory", "python"):
        for function, places in texts.get(owner, {}).items():
            for number, given in enumerate(places):
                yield f"{owner}.{function}.{number}", given


def _given(place: str, texts: Texts) -> Given:
    owner, function, number = place.rsplit(".", 2)
    return texts[owner][function][int(number)]


def _match(given: Given, value: Any) -> tuple[tuple[Any, ...], int] | None:
    """Return what is in the holes of a text that a value is, and how much of it is none."""
    if "text" in given:
        parts = given["text"]
        pattern = "".join(re.escape(p) if isinstance(p, str) else "(.*)" for p in parts)
        found = re.fullmatch(pattern, value, re.DOTALL) if isinstance(value, str) else None
        length = sum(len(part) for part in parts if isinstance(part, str))
        return (found.groups(), length) if found else None
    if "members" in given:
        named = dict(given["members"])
        if not isinstance(value, dict) or list(value) != list(named):
            return None
        return _match_all(named.values(), value.values())
    if "items" in given:
        if not isinstance(value, list) or len(value) != len(given["items"]):
            return None
        return _match_all(given["items"], value)
    if "value" in given:
        return ((), 1) if repr(given["value"]) == repr(value) else None
    return (value,), 0


def _match_all(given: Iterable[Given], values: Iterable[Any]) -> tuple[tuple[Any, ...], int] | None:
    matches = [_match(*pair) for pair in zip(given, values, strict=True)]
    if None in matches:
        return None
    found = [match for match in matches if match]
    return tuple([hole for holes, _ in found for hole in holes]), 1 + sum(n for _, n in found)


def _holes(given: Given) -> Iterator[Mapping[str, str] | None]:
    """Yield how each hole of a text is written, None for one that takes any value."""
    if "text" in given:
        yield from (part for part in given["text"] if not isinstance(part, str))
    elif "members" in given or "items" in given:
        inside = [m for _, m in given["members"]] if "members" in given else given["items"]
        for member in inside:
            yield from _holes(member)
    elif "value" not in given:
        yield None


def _source(
    wanted: Sequence[tuple[Sample, Any]],
    shape: Mapping[str, str] | None,
    owner: str,
    texts: Texts,
) -> str | None:
    """Return what fills a hole most often."""
    votes: Counter[str] = Counter()
    for sample, want in wanted:
        if isinstance(want, str) and (want.isidentifier() or not want):
            votes[f"constant:{want}"] += 1
        for name, value in sample.sources.items():
            votes[name] += _writes(shape, value, want)
        for function, places in texts[owner].items():
            for number, given in enumerate(places):
                if given.get("text") == [want]:
                    votes[f"place:{owner}.{function}.{number}"] += 1
    if not votes or not votes.most_common(1)[0][1]:
        return None
    return max(
        votes.items(),
        key=lambda each: (each[1], not each[0].startswith("constant:"), -len(each[0]), each[0]),
    )[0]


def _writes(shape: Mapping[str, str] | None, value: Any, want: Any) -> bool:
    given: Given = {} if shape is None else {"text": [shape]}
    try:
        made = fill(given, iter([value]))
    except (TypeError, ValueError):
        return False
    return same(made, want)


def same(made: object, want: object) -> bool:
    """Tell whether two values are equal; a set in a text is in another order in every process."""
    if isinstance(made, str) and isinstance(want, str):
        return made == want or _sets_sorted(made) == _sets_sorted(want)
    return type(made) is type(want) and bool(made == want)


def _sets_sorted(text: str) -> str:
    return re.sub(
        r"\{('[^{}':]*'(?:, '[^{}':]*')+)\}", lambda found: str(sorted(found[1].split(", "))), text
    )


def rare_scripts() -> Iterator[Script]:
    """Yield scripts that meet what random ones rarely do."""
    file, empty = {"type": "file", "content": ""}, {"type": "directory", "contents": {}}
    filled = {"type": "directory", "contents": {"a": file, "e": empty}}
    root = {"type": "directory", "contents": {"a": file, "e": empty, "d": filled}}
    config = {"GorillaFileSystem": {"root": {"r": root}}}
    for name, text in product("ae", ("cp", "mv")):
        turns = [[f"{text}(source={name!r}, destination='d')"]]
        yield Script(f"rare_{text}_{name}", config, ["GorillaFileSystem"], False, turns)


def random_scripts(data: Path, seed: int, count: int) -> Iterator[Script]:
    """Yield random scripts on the configs of the data."""
    entries = [entry for category in MULTI_TURN for entry in load(data, category)]
    return Generator(entries, load_pack(data), seed).scripts(count)


def main() -> int:
    """Make the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bfcl-python", type=Path, required=True)
    parser.add_argument("--scripts", type=int, default=SCRIPTS)
    options = parser.parse_args()
    data = data_folder(options.bfcl_python)
    pack, texts = load_pack(data), load_texts(data)
    scripts = chain(rare_scripts(), random_scripts(data, SEED, options.scripts))
    found = (
        each
        for script, theirs in play_on_bfcl(options.bfcl_python, scripts)
        if not theirs.problem
        for each in met(script, theirs, pack)
    )
    raised = BfclWording(texts, RefusalTexts(SENTENCES, {})).sentence("raised", "")
    table = {"sentences": SENTENCES, "refusals": learn(samples_of(found, raised), texts)}
    PLACES_FILE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
