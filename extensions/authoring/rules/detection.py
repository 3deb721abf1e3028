"""NULL, DETECT and BREVITY: the verdict depends on every call and every argument.

Every ground-truth call is left out once, unless the entry itself accepts others of the turn in its
place, and every argument of it is changed, by seed, to a value like it: another choice of a closed
set, a value that something else has, a slip of one letter, the next number, the list without its
last member. The checker should reject what results; `mutations` has further alterations.

A read that says something new is never superfluous by itself. Superfluous is, in three degrees:

- a read without which the checker accepts the rest: its facts are known already (warning);
- a write that leaves all state as it is (warning);
- a read all of whose values the user or another call of the same turn tells too (info).

A write with an effect that may be left out all the same is what DETECT reports.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

from checkers.order import missing_results
from checkers.told import literals
from envs.calls import Call
from envs.errors import BackendFault
from envs.results import Result
from envs.schema import spec
from extensions.authoring.rules.entry import Entry, TruthStep
from extensions.authoring.rules.problem import Problem, Severity, brief

NULL, DETECT = "NULL", "DETECT"

SAME_EFFECT = "it does the same: result and state are those of the ground truth"
READS_MORE = "it reads more, and all that the ground truth reads is in it"
SHOWN_BEFORE = "the result that is required was shown before, and no state hangs on the call"
UNDONE = "a later call of the turn leads to the same state, and the results are shown"


_HARMLESS = (SAME_EFFECT, READS_MORE)


class Mutant(NamedTuple):
    """The ground truth with one call left out or one argument changed."""

    step: TruthStep
    function: str
    parameter: str | None
    """Whose argument is changed; None where the call is left out."""
    value: Any
    """What it is changed to."""
    accepted: str
    """Why the checker does not notice; empty where it rejects."""

    @property
    def kind(self) -> tuple[str, str]:
        """What mutants that are accepted for the same reason have in common."""
        if self.parameter is None:
            return f"{self.function} left out", self.accepted
        return f"{self.function}: other {self.parameter}", self.accepted


class Figures(NamedTuple):
    """How many mutants there are and which of them pass."""

    left_out: int
    left_out_rejected: int
    changed: int
    changed_rejected: int
    accepted: Mapping[tuple[str, str], int]
    """Kind and reason to how often."""

    @property
    def total(self) -> int:
        """Number of mutants."""
        return self.left_out + self.changed

    @property
    def rejected(self) -> int:
        """Number of those that the checker rejects."""
        return self.left_out_rejected + self.changed_rejected

    @property
    def telling(self) -> int:
        """Number of those that do something else than the ground truth: the world tells them."""
        return self.total - sum(n for (_, why), n in self.accepted.items() if why in _HARMLESS)


def check_null(entry: Entry) -> Iterator[Problem]:
    """Yield an entry that a model passes by doing nothing."""
    if not any(entry.calls):
        message = "a model that never calls anything passes"
        yield entry.problem(NULL, Severity.ERROR, None, "turns", message)


def check_detected(entry: Entry) -> Iterator[Problem]:
    """Yield turns that leave nothing to check_detected, and mutants that pass."""
    yield from _turns_without_trace(entry)
    for mutant in mutants(entry):
        if not mutant.accepted:
            continue
        step = mutant.step
        if mutant.parameter is None:
            if step.result.changed:
                message = f"{mutant.function} may be left out though it changes state"
                yield entry.problem(DETECT, Severity.ERROR, step.turn, step.field, message)
            continue
        severity = Severity.INFO if mutant.accepted in _HARMLESS else Severity.WARNING
        message = f"may as well be {brief(mutant.value)!r}: {mutant.accepted}"
        field = f"{step.field}.{mutant.parameter}"
        yield entry.problem(DETECT, severity, step.turn, field, message)


def _turns_without_trace(entry: Entry) -> Iterator[Problem]:
    state = entry.template.snapshot()
    seen: list[Result] = []
    for index, outcome in enumerate(entry.truth):
        unchanged = outcome.snapshot == state
        if outcome.acted and unchanged and not missing_results(outcome.results, seen):
            message = "any call that changes nothing passes: all results were shown before"
            yield entry.problem(DETECT, Severity.ERROR, index, "ground_truth", message)
        seen += outcome.results
        state = outcome.snapshot


def mutants(entry: Entry, steps: Iterable[TruthStep] | None = None) -> Iterator[Mutant]:
    """Yield the mutants of an entry's ground truth, judged; calls that fail have none.

    Args:
        entry: Whose ground truth.
        steps: Those of its calls that are left out or changed; all by default.
    """
    texts = sorted(set(_texts(entry.trajectory.config)))
    for step in entry.steps if steps is None else steps:
        call = step.call
        if not isinstance(call, Call) or call.nested or not step.result.ok:
            continue
        if not entry.is_told_by_others(step):
            yield Mutant(step, call.name, None, None, _without(entry, step))
        arguments = entry.arguments(call)
        schemas = {p.name: p.schema for p in spec(entry.template.tools[call.name]).parameters}
        for name, value in arguments.items():
            place = f"{entry.trajectory.id} {step.turn} {step.position} {name}"
            for other in others(value, schemas[name], texts, Random(place)):
                instead = Call(call.name, (), {**arguments, name: other})
                yield Mutant(step, call.name, name, other, _accepted(entry, step, instead))


def figures(entries: Iterable[Entry]) -> Figures:
    """Count the mutants of many entries; one that cannot be played has none."""
    total: Counter[bool] = Counter()
    rejected: Counter[bool] = Counter()
    accepted: Counter[tuple[str, str]] = Counter()
    for entry in (entry for entry in entries if not entry.fault):
        for mutant in mutants(entry):
            left_out = mutant.parameter is None
            total[left_out] += 1
            if mutant.accepted:
                accepted[mutant.kind] += 1
            else:
                rejected[left_out] += 1
    return Figures(
        total[True], rejected[True], total[False], rejected[False], dict(accepted.most_common())
    )


def others(
    value: Any, schema: Mapping[str, Any], texts: list[str], source: Random
) -> Iterator[Any]:
    """Yield values that an argument may be mistaken for, none of them equal to it."""
    choices = [choice for choice in schema.get("enum", ()) if choice != value]
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield value + 1
    elif choices:
        yield source.choice(choices)
    elif isinstance(value, str):
        known = [text for text in texts if text != value]
        if known:
            yield source.choice(known)
        yield _slip(value, source)
    elif isinstance(value, (list, tuple)):
        yield value[:-1] if value else ["x"]


def _slip(text: str, source: Random) -> str:
    """Return a text with one of its letters or digits replaced by another one."""
    places = [index for index, char in enumerate(text) if char.isalnum()]
    if not places:
        return f"{text}x"
    place = source.choice(places)
    letters = "0123456789" if text[place].isdigit() else "abcdefghijklmnopqrstuvwxyz"
    other = source.choice([char for char in letters if char != text[place].lower()])
    return text[:place] + other + text[place + 1 :]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield str(key)
            yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)
    elif isinstance(value, str):
        yield value


def _without(entry: Entry, step: TruthStep) -> str:
    if not entry.accepts_without(step):
        return ""
    return UNDONE if step.result.changed else SHOWN_BEFORE


def _accepted(entry: Entry, step: TruthStep, instead: Call) -> str:
    """Return why the checker does not notice a call in another's place; empty if it does."""
    try:
        if entry.rejection(step.turn, entry.instead(step, instead)) is not None:
            return ""
        session = step.before.fork()
        result = session.call(instead)
    except BackendFault:
        # A crash ends the run, so nobody passes by it.
        return ""
    truth = step.before.fork()
    truth.call(step.call)
    if result.text == step.result.text and session.snapshot() == truth.snapshot():
        return SAME_EFFECT
    if step.result.changed or result.changed:
        return UNDONE
    return READS_MORE if _holds(result, step.result) else SHOWN_BEFORE


def _holds(more: Result, less: Result) -> bool:
    """Tell whether the texts of a result stand, line by line, in those of another one."""
    longer = [text for text in literals(more.value) if isinstance(text, str)]
    wanted = list(literals(less.value))
    return bool(wanted) and all(
        isinstance(text, str) and any(f"\n{text}\n" in f"\n{other}\n" for other in longer)
        for text in wanted
    )


BREVITY = "BREVITY"


def check_brief(entry: Entry) -> Iterator[Problem]:
    """Yield the calls that could be left out."""
    for step in entry.steps:
        if not step.result.ok or step.result.changed or not isinstance(step.call, Call):
            continue
        if entry.is_told_by_others(step):
            continue
        tool = entry.template.tools[step.call.name]
        if tool.writes and _leaves_all(entry, step, tool.backend):
            message = f"{tool.name} changes nothing: the state was so before"
            yield entry.problem(BREVITY, Severity.WARNING, step.turn, step.field, message)
        elif entry.accepts_without(step):
            message = f"{tool.name} may be left out: its result is shown already"
            yield entry.problem(BREVITY, Severity.WARNING, step.turn, step.field, message)
        elif not tool.writes and (teller := _told_by(entry, step)):
            message = f"{tool.name} tells nothing that {teller} do not tell in this turn"
            yield entry.problem(BREVITY, Severity.INFO, step.turn, step.field, message)


def _leaves_all(entry: Entry, step: TruthStep, environment: str) -> bool:
    steps = entry.turns[step.turn]
    if step.position + 1 < len(steps):
        after = vars(steps[step.position + 1].before.backends[environment])
    else:
        after = dict(entry.truth[step.turn].snapshot.states[environment])
    return vars(step.before.backends[environment]) == after


def _told_by(entry: Entry, step: TruthStep) -> str:
    """Return who else tells all that a read shows, or nothing."""
    values = list(_leaves(step.result.held))
    others = [o for o in entry.turns[step.turn] if o.position != step.position and o.result.ok]
    if not values or not others:
        return ""
    words = [message.content for message in entry.trajectory.turns[step.turn].messages]
    told = "\n".join([*words, *(other.result.text for other in others)])
    if not all(_stands_in(value, told) for value in values):
        return ""
    names = dict.fromkeys(o.call.name for o in others if isinstance(o.call, Call))
    return f"the user and {', '.join(names)}"


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for member in value.values():
            yield from _leaves(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _leaves(member)
    elif value is not None:
        yield str(value)


def _stands_in(value: str, text: str) -> bool:
    if value not in text:
        return False
    return len(value) > 20 or bool(re.search(rf"(?<![\w.]){re.escape(value)}(?!\w|\.\d)", text))
