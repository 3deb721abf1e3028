"""Outputs of a single-turn entry that are right, or nearly so: its answers, changed at random."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from checkers.calls.call_entry import CallEntry, ComparisonKind, ExpectedCall, Language

Output = list[dict[str, dict[str, Any]]]
"""Calls, each ``{function: arguments}``."""


def random_outputs(task: CallEntry, random: Random, count: int) -> Iterator[Output]:
    """Yield outputs: answers as they are, and with one to three changes."""
    for _ in range(count):
        output = [_call(answer, task.language, random) for answer in task.answers]
        for _ in range(random.choice((0, 1, 1, 1, 2, 3))):
            output = random.choice(_CHANGES)(output, task, random)
        yield output


def _call(answer: ExpectedCall, language: Language, random: Random) -> dict[str, dict[str, Any]]:
    arguments = {}
    for name, allowed in answer.allowed.items():
        value = random.choice(allowed) if allowed else ""
        if value == "" and random.random() < 0.8:
            continue
        value = _filled(value, random)
        arguments[name] = value if language is Language.PYTHON else _as_code(value, random)
    return {answer.function: arguments}


def _filled(value: Any, random: Random) -> Any:
    """Return a value; where objects list the values of their members, one of each."""
    if isinstance(value, dict):
        chosen = {k: random.choice(m) if isinstance(m, list) and m else m for k, m in value.items()}
        return {k: m for k, m in chosen.items() if m != "" or random.random() < 0.2}
    if isinstance(value, list):
        return [_filled(member, random) for member in value]
    return value


def _as_code(value: Any, random: Random) -> Any:
    """Return a value as Java or JavaScript might write it; now and then as it is."""
    if random.random() < 0.05:
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return f"{value}{random.choice(('', '', 'L', 'f', 'n', '.0'))}"
    if isinstance(value, str):
        return random.choice((value, value, f'"{value}"', f"'{value}'"))
    members = [str(_as_code(member, random)) for member in value]
    if isinstance(value, dict):
        puts = " ".join(f'put("{k}", {m});' for k, m in zip(value, members, strict=True))
        pairs = ", ".join(f"{k}: {m}" for k, m in zip(value, members, strict=True))
        return random.choice((f"new HashMap<String, Object>() {{{{ {puts} }}}}", f"{{{pairs}}}"))
    inside = ", ".join(members)
    return random.choice(
        (f"[{inside}]", f"new String[]{{{inside}}}", f"new int[] {{{inside}}}",
         f"new ArrayList<String>(Arrays.asList({inside}))", f"List.of({inside})")
    )  # fmt: skip


def _on_arguments(
    change: Callable[[dict[str, Any], CallEntry, Random], None],
) -> Callable[[Output, CallEntry, Random], Output]:
    """Return the change of an output that a change of one call's arguments makes."""

    def changed(output: Output, task: CallEntry, random: Random) -> Output:
        if not output:
            return output
        index = random.randrange(len(output))
        ((name, arguments),) = output[index].items()
        arguments = dict(arguments)
        change(arguments, task, random)
        return [*output[:index], {name: arguments}, *output[index + 1 :]]

    return changed


@_on_arguments
def _drop(arguments: dict[str, Any], task: CallEntry, random: Random) -> None:
    if arguments:
        del arguments[random.choice(list(arguments))]


@_on_arguments
def _add(arguments: dict[str, Any], task: CallEntry, random: Random) -> None:
    parameters = [name for document in task.documents for name in document.parameters]
    arguments[random.choice((*parameters, "unknown"))] = random.choice(_ODD)


@_on_arguments
def _replace(arguments: dict[str, Any], task: CallEntry, random: Random) -> None:
    if arguments:
        name = random.choice(list(arguments))
        arguments[name] = _altered(arguments[name], random)


def _rename(output: Output, task: CallEntry, random: Random) -> Output:
    names = [document.name for document in task.documents]
    other = random.choice((*names, "unknown", names[0].replace(".", "_"), names[0].upper()))
    return [{other: arguments} for call in output[:1] for arguments in call.values()] + output[1:]


def _recount(output: Output, task: CallEntry, random: Random) -> Output:
    return random.choice(([], output[:-1], [*output, *output[:1]], output[::-1]))


def _shuffle(output: Output, task: CallEntry, random: Random) -> Output:
    return random.sample(output, len(output))


_CHANGES = (_drop, _add, _replace, _replace, _replace, _replace, _rename, _recount, _shuffle)
_ODD = (
    "", "x", "5", 5, -1, 5.0, 2.5, 0, 1, True, False, None, [], [1], ["a"], [1.5], [[1]], {},
    {"a": 1}, [{}], [{"a": 1}], "true", "[1, 2]", "new int[]{1}",
)  # fmt: skip


def _altered(value: Any, random: Random) -> Any:
    """Return a value near another one."""
    if random.random() < 0.25:
        return random.choice(_ODD)
    if isinstance(value, str):
        return _altered_text(value, random)
    if isinstance(value, bool):
        return random.choice((not value, int(value), str(value)))
    if isinstance(value, (int, float)):
        return random.choice((value + 1, float(value), int(value), str(value), -value, [value]))
    if isinstance(value, Mapping):
        return _altered_object(value, random)
    if isinstance(value, (list, tuple)):
        return _altered_list(value, random)
    return value


def _altered_text(text: str, random: Random) -> Any:
    at = random.randrange(len(text) + 1)
    return random.choice(
        (text.upper(), text.replace(" ", ""), text.replace("-", "/"), f"{text}.", f"'{text}'",
         text.replace("'", '"'), text[:at] + random.choice(", ./-_*^x'(\n") + text[at:], [text],
         text[:at], f"({text})")
    )  # fmt: skip


def _altered_object(value: Mapping[str, Any], random: Random) -> Any:
    altered = dict(value)
    keys = [*value]
    random.shuffle(keys)
    for key in keys[:1]:
        altered[key] = _altered(value[key], random)
        if random.random() < 0.3:
            del altered[key]
    if random.random() < 0.2:
        altered["unknown"] = 1
    return random.choice((altered, altered, altered, [altered], {}))


def _altered_list(value: Sequence[Any], random: Random) -> Any:
    members = [*value]
    if members:
        at = random.randrange(len(members))
        members[at] = _altered(members[at], random)
    shuffled = random.sample(members, len(members))
    return random.choice(
        (members, members, shuffled, members[:-1], [*members, random.choice(_ODD)], tuple(value))
    )


def has_answers(kind: ComparisonKind) -> bool:
    """Tell whether entries of a kind expect certain calls."""
    return kind in (ComparisonKind.SIMPLE, ComparisonKind.MULTIPLE, ComparisonKind.PARALLEL)
