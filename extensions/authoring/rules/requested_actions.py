"""Rule ASKED: the ground truth makes exactly the calls that the user asks for.

A person has to check each finding, because the rule only compares words. For example, the rule
reports a read call that shares no word with the user's message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from checkers.known_values import contains_value, list_literals, unescape_text
from checkers.required_info import Date, Items, Number, Text, YesNo
from envs.calls import Call
from envs.schema import make_spec
from envs.tool import Tool
from extensions.authoring.rules.finding import Finding, Severity, brief
from extensions.authoring.rules.lookups import is_small
from extensions.authoring.rules.nested_values import list_values
from extensions.authoring.rules.replayed_entry import Entry, TruthStep
from extensions.authoring.rules.word_matching import (
    cues,
    plain,
    split_name,
    split_words,
    stem,
    stems,
)
from trajectories.message_language import is_english
from trajectories.replay_queries import list_messages

ASKED = "ASKED"

_QUOTED = re.compile(r"(?<![\w'])'([^'\n]{4,200})'(?![\w'])|\"([^\"\n]{4,200})\"|“([^”\n]{4,200})”")
_TOKEN = re.compile(
    r"(?<!\w)[@#]\w{2,}|\b\d{6,}\b|\b[\w-]+\.(?:txt|csv|md|pdf|log|json|py|docx?)\b"
)
_CLAUSE = re.compile(r"[.;:!?,\n]|\b(?:and|then|but|so|also)\b")
_BLANK = re.compile(r"xxx|[{<\[]", re.IGNORECASE)
"""Placeholder in a user's text."""
_DENIED = re.compile(r"\b(?:no|not|never|without|don't|dont|didn't|isn't|already)\b", re.IGNORECASE)
_CHECKING = re.compile(r"\b(?:check|verify|confirm|make sure|double-check|read)\b", re.IGNORECASE)
MIN_ALIKE = 3
"""A user message describes an object if both have at least this number of words in common."""


def check_asked(entry: Entry) -> Iterator[Finding]:
    """Report requests that no call fulfils, and calls that nobody requested.

    In entries that are not in English, only function names are reported, because the other checks
    look for English words.
    """
    yield from _find_function_names(entry)
    if not is_english(entry.trajectory):
        return
    used = _collect_used_text(entry)
    for index, steps in enumerate(entry.turns):
        said = _words_for(entry, index)
        if steps and said:
            yield from _find_ignored_texts(entry, index, used)
            yield from _find_missing_calls(entry, index, said)
            yield from _find_unrequested_reads(entry, index, said)
            yield from _find_mistaken_ids(entry, index, said)


def _words_for(entry: Entry, index: int) -> str:
    turns = entry.trajectory.turns
    first = index
    while first and not turns[first - 1].ground_truth:
        first -= 1
    return "\n".join(list_messages(turns[first : index + 1]))


def named_function(names: Iterable[str], text: str) -> str | None:
    """Return the first function name in a text. Ordinary words do not count as function names."""
    special = [name for name in names if "_" in name or not name.islower()]
    found = re.search(rf"\b(?:{'|'.join(map(re.escape, special))})\b", text) if special else None
    return found and found[0]


def _find_function_names(entry: Entry) -> Iterator[Finding]:
    for index, turn in enumerate(entry.trajectory.turns):
        for number, message in enumerate(turn.messages):
            name = named_function(entry.template.tools, message.content)
            if name and message.role == "user":
                text = f"names the function {name}; a user would describe the task instead"
                field = f"messages[{number}].content"
                yield entry.finding(ASKED, Severity.WARNING, index, field, text)


def _collect_used_text(entry: Entry) -> str:
    texts = [unescape_text(step.result.text) for step in entry.steps]
    texts += [
        str(value) for step in entry.steps for value in list_literals(entry.arguments(step.call))
    ]
    texts += [text for turn in entry.trajectory.turns for text in turn.ground_truth]
    return plain("\n".join(texts))


def _find_ignored_texts(entry: Entry, index: int, used: str) -> Iterator[Finding]:
    for message in entry.trajectory.turns[index].messages:
        if message.role != "user":
            continue
        quoted = ["".join(found) for found in _QUOTED.findall(message.content)]
        for text in dict.fromkeys([*quoted, *_TOKEN.findall(message.content)]):
            if plain(text).strip() and plain(text) not in used and not _BLANK.search(text):
                why = f"the user says {brief(text, 60)!r}, but no call and no result contains it"
                yield entry.finding(ASKED, Severity.WARNING, index, "ground_truth", why)


def _find_missing_calls(entry: Entry, index: int, said: str) -> Iterator[Finding]:
    called = {stem(word) for step in entry.turns[index] for word in cues(step.function)}
    clauses = [clause for clause in _CLAUSE.split(said) if not _DENIED.search(clause)]
    offered = entry.offered(index)
    forbidden = {text.partition("(")[0] for text in entry.trajectory.turns[index].never}
    for name, tool in entry.template.tools.items():
        order = cues(name)
        if not tool.writes or name not in offered or name in forbidden or len(order) < 2:
            continue
        if called & {stem(word) for word in order}:
            continue
        if any(_requests(clause, order) for clause in clauses):
            why = f"the user asks for {name}, but no call does this"
            yield entry.finding(ASKED, Severity.WARNING, index, "ground_truth", why)


def _requests(clause: str, order: list[str]) -> bool:
    verb, *objects = order
    heard = split_words(clause)
    return verb in heard and {stem(word) for word in objects} <= set(map(stem, heard))


def _find_unrequested_reads(entry: Entry, index: int, said: str) -> Iterator[Finding]:
    heard = stems(said)
    low = plain(said)
    for step in entry.turns[index]:
        call = step.call
        if not isinstance(call, Call) or not step.result.ok or step.result.changed:
            continue
        tool = entry.template.tools[call.name]
        if tool.writes or heard & _stems_of(tool) or _CHECKING.search(said):
            continue
        given = [str(value) for value in list_literals(entry.arguments(call))]
        if any(plain(value) in low for value in given) or _is_used_later(entry, step):
            continue
        if _is_reported(entry, step):
            continue
        why = f"the user did not ask for {call.name}, and nothing uses its result"
        # An entry with required information says for sure which reads the user asked for. A
        # refusal may need a read as its reason.
        turns = entry.trajectory.turns
        states = any(turn.tells for turn in turns) and not turns[index].never
        severity = Severity.WARNING if states else Severity.INFO
        yield entry.finding(ASKED, severity, index, step.field, why)


def _is_reported(entry: Entry, step: TruthStep) -> bool:
    text = step.result.text
    text = f"{unescape_text(text)} {plain(text)}"
    for fact in entry.trajectory.turns[step.turn].tells:
        match fact:
            case Number(number=value) | Text(text=value) | Date(date=value):
                values = [value]
            case Items(items=items):
                values = list(items)
            case YesNo():
                return True
        if any(contains_value(value, text) for value in values):
            return True
    return False


def _find_mistaken_ids(entry: Entry, index: int, said: str) -> Iterator[Finding]:
    """Report calls that have the id of one object although the user describes another object."""
    shown = [step.result.held for step in entry.steps if step.turn <= index and step.result.ok]
    there = [entry.trajectory.config, *shown]
    things = [value for _, value in list_values(there) if _has_id(value) and len(value) > 1]
    heard = stems(said)
    for step in entry.turns[index]:
        for name, value in entry.arguments(step.call).items():
            key = split_name(name)[-1:]
            if (
                key != ["id"]
                or not isinstance(value, (int, str))
                or plain(str(value)) in plain(said)
            ):
                continue
            meant = [thing for thing in things if value in (thing.get("id"), thing.get(name))]
            if not meant or any(heard & stems(_texts(thing)) for thing in meant):
                continue
            others = [t for t in things if t.keys() == meant[0].keys() and t not in meant]
            best = max(others, key=lambda t: len(heard & stems(_texts(t))), default=None)
            if best is not None and len(heard & stems(_texts(best))) >= MIN_ALIKE:
                why = f"the user describes {brief(str(best), 60)}, not {value!r}"
                yield entry.finding(ASKED, Severity.WARNING, index, f"{step.field}.{name}", why)


def _has_id(value: object) -> bool:
    return isinstance(value, Mapping) and any(split_name(str(key))[-1:] == ["id"] for key in value)


def _texts(thing: Mapping[str, object]) -> str:
    return " ".join([value for value in list_literals(thing) if isinstance(value, str)])


def _is_used_later(entry: Entry, step: TruthStep) -> bool:
    shown = {v for v in list_literals(step.result.held) if not is_small(v)}
    for later in entry.steps:
        if (later.turn, later.position) > (step.turn, step.position):
            taken = list(list_literals(entry.arguments(later.call)))
            if any(value in shown for value in taken):
                return True
            texts = [value for value in taken if isinstance(value, str)]
            if any(str(value) in text for value in shown for text in texts if len(str(value)) > 3):
                return True
    return False


@lru_cache(maxsize=512)
def _stems_of(tool: Tool) -> frozenset[str]:
    document = make_spec(tool)
    text = f"{' '.join(split_name(tool.name))} {document.description} {document.returns}"
    return frozenset(stems(text))
