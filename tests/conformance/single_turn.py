"""The comparison of single-turn checking with BFCL: texts read, values, verdicts.

``run`` has four parts: random replies are decoded; random texts of Java and JavaScript values are
converted; the data's answers, changed at random, are checked; recorded runs are judged.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from checkers.calls.call_comparison import EntryRules
from checkers.calls.call_entry import (
    TYPES,
    CallEntry,
    ExpectedType,
    Language,
    UnjudgeableEntry,
    UnreadableOutput,
)
from checkers.calls.single_turn_verdict import check_calls, judge
from checkers.profile import BFCL
from checkers.reasons import Reason
from checkers.replies.as_bfcl import single_turn as as_bfcl
from checkers.replies.as_bfcl.single_turn import UNNAMED, java_value, javascript_value
from checkers.replies.decoding import Step
from envs.calls import Call
from runner.extension import bfcl_readers
from tests.conformance import code_texts, replies
from tests.conformance.bfcl_single_turn_driver import NO_GRAMMARS, typed
from tests.conformance.mutants import Output, has_answers, random_outputs
from tests.conformance.recorded import verdicts_of
from tests.conformance.rules import deciding_rules
from trajectories import bfcl_reader
from trajectories.call_checker_tasks import make_call_entry
from trajectories.schema import SINGLE_TURN, Category, ExpectedCalls, Trajectory

DRIVER = Path(__file__).with_name("bfcl_single_turn_driver.py")
REPLIES = 10_000
"""How many random replies are decoded, and how many random values converted, per language."""
OUTPUTS = 4
"""How many random outputs are checked for each entry that expects certain calls."""
RAISED = "raised"
"""What stands for BFCL's failing to give any value or verdict."""


class Known(NamedTuple):
    """A difference that is meant."""

    part: str
    reason: str
    applies: Callable[[str, object], bool]
    """Tells of the text that was compared, and what BFCL made of it, whether this is it."""


def _does_not_close(text: str, theirs: object) -> bool:
    brackets = any(text.count(a) != text.count(b) for a, b in ("()", "[]", "{}"))
    return brackets or text.strip("`\n ").count("`") % 2 == 1


def _odd_type_arguments(text: str, theirs: object) -> bool:
    return any({*part.partition(">()")[0]} & {*"(\n"} for part in text.split("HashMap<")[1:])


def _stops_the_reference(text: str, theirs: object) -> bool:
    return theirs == RAISED


KNOWN = (
    Known(
        "decoding javascript",
        "brackets or back quotes that do not close: grammars recover from that in different ways",
        _does_not_close,
    ),
    Known(
        "values java",
        "a parenthesis or line break in the type arguments of a HashMap is not read",
        _odd_type_arguments,
    ),
    Known(
        "checking",
        "an element that is no object where one is due stops BFCL's evaluation; here it is wrong",
        _stops_the_reference,
    ),
)


def run(python: Path, data: Path, recorded: Path | None, seed: int) -> int:
    """Compare all there is; print what differs and return how much does.

    Args:
        python: An interpreter that has BFCL.
        data: BFCL's data folder.
        recorded: A folder of recorded runs with verdicts, if there is one.
        seed: Of all that is random.
    """
    entries = {
        c: list(bfcl_reader.load(data, c, bfcl_readers()))
        for c in bfcl_reader.CATEGORIES
        if c in SINGLE_TURN
    }
    differences = 0
    for language in Language:
        differences += decoding(python, language, seed)
    for language in (Language.JAVA, Language.JAVASCRIPT):
        differences += values(python, language, seed)
    differences += checking(python, entries, seed)
    if recorded is not None:
        for verdicts in sorted(recorded.rglob("single_turn/verdicts.jsonl")):
            differences += recorded_run(verdicts, entries)
    return differences


def decoding(python: Path, language: Language, seed: int) -> int:
    """Compare how random replies are decoded; return the number of differences."""
    if language is Language.PYTHON:
        texts = list(replies.random_replies(seed, REPLIES))
    else:
        texts = list(code_texts.random_replies(language, seed, REPLIES))
    questions = [{"do": "decode", "text": text, "language": language} for text in texts]
    answers = asked(python, questions)
    if answers[0] == NO_GRAMMARS:
        print(f"decoding {language}: not compared, for BFCL's tree-sitter is not installed there")
        return 0
    theirs = [_outcome(answer) for answer in answers]
    ours = [_decoded(text, language) for text in texts]
    return _compare(f"decoding {language}", texts, theirs, ours)


def values(python: Path, language: Language, seed: int) -> int:
    """Compare what random texts stand for; return the number of differences."""
    cases = list(code_texts.random_values(language, seed, REPLIES))
    questions = [
        {"do": "convert", "text": text, "language": language, "type": word, "items": items}
        for text, word, items in cases
    ]
    theirs = [answer.get("value", RAISED) for answer in asked(python, questions)]
    ours = [_converted(language, *case) for case in cases]
    return _compare(f"values {language}", [text for text, _, _ in cases], theirs, ours)


def checking(python: Path, entries: Mapping[Category, Sequence[Trajectory]], seed: int) -> int:
    """Compare the error types of changed answers; return the number of differences."""
    random = Random(f"outputs {seed}")
    cases = [
        (entry, task, output, random.random() < 0.5)
        for category in entries
        for entry in entries[category]
        if has_answers((task := make_call_entry(entry)).kind)
        for output in random_outputs(task, random, OUTPUTS)
    ]
    questions = [_check_question(entry, task, *case) for entry, task, *case in cases]
    theirs = [answer.get("value", RAISED) for answer in asked(python, questions)]
    ours = [_checked(task, *case) for _, task, *case in cases]
    what = [f"{entry.id} {output}" for entry, _, output, _ in cases]
    return _compare("checking", what, theirs, ours)


def recorded_run(verdicts: Path, entries: Mapping[Category, Sequence[Trajectory]]) -> int:
    """Compare verdicts on a recorded run; return the number of differences."""
    expected = verdicts_of(verdicts)
    steps = {
        line["id"]: line["result"]
        for file in sorted(verdicts.parent.glob("*_result.json"))
        for line in map(json.loads, file.read_text(encoding="utf-8").splitlines())
    }
    tasks = {
        entry.id: make_call_entry(entry) for category in entries.values() for entry in category
    }
    _show_strict(tasks, steps)
    theirs = [expected[id].error_type for id in steps]
    ours = [judge(tasks[id], steps[id], "fc", BFCL).error_type for id in steps]
    return _compare(
        f"recorded {verdicts.parent.parent.name} single-turn", list(steps), theirs, ours
    )


def _show_strict(tasks: Mapping[str, CallEntry], steps: Mapping[str, Step]) -> None:
    """Print on which entries the strict profile disagrees, by the rule that makes it do so."""
    differing: dict[str, list[str]] = {}
    for id, step in steps.items():
        rules = deciding_rules(tasks[id], step, "fc")
        if rules:
            differing.setdefault(", ".join(rules), []).append(id)
    for rules, ids in sorted(differing.items()):
        print(f"  strict differs by {rules} on {len(ids)} entries: {', '.join(ids)}")


def asked(python: Path, questions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return BFCL's answers to questions.

    Raises:
        RuntimeError: BFCL cannot be imported there.
    """
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    driver = subprocess.run(
        [python, DRIVER], input=lines, capture_output=True, text=True, check=False
    )
    if driver.returncode:
        raise RuntimeError(f"BFCL's checker does not run: {driver.stderr.strip()[-300:]}")
    return [json.loads(line) for line in driver.stdout.splitlines()]


def _compare(
    part: str, what: Sequence[str], theirs: Sequence[object], ours: Sequence[object]
) -> int:
    known: Counter[str] = Counter()
    differences = 0
    for text, expected, actual in zip(what, theirs, ours, strict=True):
        if expected == actual:
            continue
        reasons = [k.reason for k in KNOWN if k.part == part and k.applies(text, expected)]
        known.update(reasons[:1])
        if not reasons:
            differences += 1
            print(f"DIFFERENT {part} {text!r}: expected {expected}, got {actual}")
    equal = len(what) - differences - known.total()
    print(f"{part}: {equal} of {len(what)} equal; {', '.join(_shares(theirs))}")
    for reason, number in known.items():
        print(f"  known, {number} times: {reason}")
    return differences


def _shares(outcomes: Sequence[object]) -> Iterator[str]:
    known = {None: "valid", RAISED: RAISED, **{reason.value: reason.value for reason in Reason}}
    named = [known.get(o, "read") if isinstance(o, (str, type(None))) else "read" for o in outcomes]
    for name, number in Counter(named).most_common(4):
        yield f"{number} {name}"


def _outcome(answer: Mapping[str, Any]) -> object:
    if RAISED in answer:
        return Reason.DECODER_FAILED.value
    value = answer["value"]
    return value if isinstance(value, dict) and "list" in value else Reason.WRONG_FORMAT.value


def _decoded(text: str, language: Language) -> object:
    try:
        calls = as_bfcl.read_text(text, language)
    except UnreadableOutput as error:
        return error.reason.value
    return typed([{call.name: _with_none(call)} for call in calls])


def _with_none(call: Call) -> dict[str | None, Any]:
    return {None if key == UNNAMED else key: value for key, value in call.kwargs.items()}


def _converted(language: Language, text: str, word: str, item_word: str | None) -> object:
    types = TYPES[language]
    items = None if item_word is None else ExpectedType(item_word, types[item_word])
    convert = {Language.JAVA: java_value, Language.JAVASCRIPT: javascript_value}[language]
    try:
        return typed(convert(text, ExpectedType(word, types[word], items)))
    except UnjudgeableEntry:
        return RAISED


def _check_question(
    entry: Trajectory, task: CallEntry, output: Output, underscores: bool
) -> dict[str, Any]:
    assert isinstance(entry.expects, ExpectedCalls)
    return {
        "do": "check",
        "documents": entry.expects.functions,
        "output": typed(output),
        "answers": entry.expects.answers,
        "language": task.language,
        "kind": task.kind,
        "underscores": underscores,
    }


def _checked(task: CallEntry, output: Output, underscores: bool) -> str | None:
    calls = [Call(name, (), given) for call in output for name, given in call.items()]
    try:
        failure = check_calls(calls, task, EntryRules(task.language, BFCL.calls, underscores))
    except UnjudgeableEntry:
        return RAISED
    return failure.reason.value if failure else None
