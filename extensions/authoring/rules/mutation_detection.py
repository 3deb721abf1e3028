"""Rules NULL, DETECT and BREVITY: the verdict depends on every call and every argument.

Each mutant omits one ground-truth call, or changes one argument to a similar value, such as another
enum value or the next number. If other calls of the same turn can replace a call, no mutant omits
this call. The seed selects the new values. The checker should reject each mutant. The module
``mutations`` makes other kinds of mutants, for example with added calls.

BREVITY reports three kinds of superfluous calls:

- Read calls that return only known facts (warning).
- Write calls that change no state (warning).
- Read calls that repeat values from a user message or another call (info).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

from checkers.known_values import list_literals
from checkers.unordered_comparison import list_missing_results
from envs.calls import Call
from envs.errors import BackendFault, DataError, SimulatorError
from envs.results import Result
from envs.schema import make_spec
from extensions.authoring.rules.finding import Finding, Severity, brief
from extensions.authoring.rules.nested_values import list_values
from extensions.authoring.rules.replayed_entry import Entry, TruthStep
from runner.episodes.offline import run_null, run_oracle
from trajectories.prepared_trajectory import prepare

NULL, DETECT = "NULL", "DETECT"

SAME_EFFECT = "same effect: the result and the state are the same as in the ground truth"
READS_MORE = "larger result: it contains all facts that the ground truth reads"
SHOWN_BEFORE = "the model already knows the facts of this result, and the call changes no state"
UNDONE = "a later call of the turn restores the state, and the model sees the same results"
_STEPS = (1, -1, 5, -5, 10, -10, 0.5, -0.5)
"""Values that are added to a number. The first sum that the function accepts is used."""
_HARMLESS = (SAME_EFFECT, READS_MORE)


class Mutant(NamedTuple):
    """Altered ground truth: one call is missing, or one argument has another value."""

    step: TruthStep
    function: str
    parameter: str | None
    """Parameter with the changed argument; None if the mutant omits the call."""
    value: Any
    """New value of the argument."""
    accepted: str
    """Reason why the checker accepts the mutant; empty if the checker rejects the mutant."""

    @property
    def kind(self) -> tuple[str, str]:
        """Kind of change, and the reason why the checker accepts the mutant."""
        if self.parameter is None:
            return f"{self.function} omitted", self.accepted
        return f"{self.function}: {self.parameter} changed", self.accepted


class MutantCounts(NamedTuple):
    """Numbers of generated and rejected mutants, by kind of change."""

    left_out: int
    left_out_rejected: int
    changed: int
    changed_rejected: int
    writes: int
    """Number of mutants that omit or change a state-changing call."""
    writes_rejected: int
    accepted: Mapping[tuple[str, str], int]
    """Number of accepted mutants by kind and reason."""

    @property
    def total(self) -> int:
        """Number of mutants."""
        return self.left_out + self.changed

    @property
    def rejected(self) -> int:
        """Number of rejected mutants."""
        return self.left_out_rejected + self.changed_rejected

    @property
    def telling(self) -> int:
        """Number of mutants with a wrong effect, which the checker should reject."""
        return self.total - sum(n for (_, why), n in self.accepted.items() if why in _HARMLESS)


def check_null(entry: Entry) -> Iterator[Finding]:
    """Yield a finding if an entry passes without calls.

    If an extension judges the entry, the ground truth must also pass.
    """
    message = "a model that makes no call passes"
    if not entry.trajectory.extensions:
        if not any(entry.calls):
            yield entry.finding(NULL, Severity.ERROR, None, "turns", message)
        return
    try:
        prepared = prepare(entry.dataset, entry.trajectory, entry.profile)
        if run_null(prepared, entry.profile).valid:
            yield entry.finding(NULL, Severity.WARNING, None, "extensions", message)
        if any(entry.calls) and not (verdict := run_oracle(prepared, entry.profile)).valid:
            why = verdict.failure.calls if verdict.failure else None
            lines = " ".join(line.strip() for line in why.lines()) if why else verdict.error_type
            message = f"the ground truth fails: {lines}"
            yield entry.finding(NULL, Severity.ERROR, None, "extensions", message)
    except (DataError, SimulatorError) as error:
        yield entry.finding(NULL, Severity.ERROR, None, "extensions", str(error))


def check_detected(entry: Entry) -> Iterator[Finding]:
    """Yield findings for turns without an effect, and for mutants that the checker accepts."""
    yield from _find_turns_without_trace(entry)
    for mutant in mutants(entry):
        if not mutant.accepted:
            continue
        step = mutant.step
        if mutant.parameter is None:
            if step.result.changed:
                message = (
                    f"the checker accepts the turn without the call of {mutant.function}, although "
                    "this call changes the state"
                )
                yield entry.finding(DETECT, Severity.ERROR, step.turn, step.field, message)
            continue
        inert = step.result.changed and isinstance(mutant.value, (int, float))
        harmless = mutant.accepted in _HARMLESS and not inert
        severity = Severity.INFO if harmless else Severity.WARNING
        message = f"passes with {brief(mutant.value)!r}: {mutant.accepted}"
        field = f"{step.field}.{mutant.parameter}"
        yield entry.finding(DETECT, severity, step.turn, field, message)


def _find_turns_without_trace(entry: Entry) -> Iterator[Finding]:
    state = entry.template.snapshot()
    seen: list[Result] = []
    for index, outcome in enumerate(entry.truth):
        unchanged = outcome.snapshot == state
        if outcome.acted and unchanged and not list_missing_results(outcome.results, seen):
            message = (
                "the turn accepts any call without effect; require a new result or a change "
                "of the state"
            )
            yield entry.finding(DETECT, Severity.ERROR, index, "ground_truth", message)
        seen += outcome.results
        state = outcome.snapshot


def mutants(entry: Entry, steps: Iterable[TruthStep] | None = None) -> Iterator[Mutant]:
    """Yield judged mutants of the calls in ``steps`` (default: all ground-truth calls).

    A call that fails has no mutants.
    """
    texts = sorted(set(_texts(entry.trajectory.config)))
    for step in entry.steps if steps is None else steps:
        call = step.call
        if not isinstance(call, Call) or call.nested or not step.result.ok:
            continue
        if not entry.is_told_by_others(step):
            why = UNDONE if step.result.changed else SHOWN_BEFORE
            accepted = why if entry.accepts_without(step) else ""
            yield Mutant(step, call.name, None, None, accepted)
        arguments = entry.arguments(call)
        schemas = {p.name: p.schema for p in make_spec(entry.template.tools[call.name]).parameters}
        for name, value in arguments.items():
            place = f"{entry.trajectory.id} {step.turn} {step.position} {name}"
            found = others(value, schemas[name], texts, Random(place))
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                found = iter([_take_step(step, call.name, arguments, name)])
            for other in found:
                instead = Call(call.name, (), {**arguments, name: other})
                accepted = _explain_acceptance(entry, step, instead)
                yield Mutant(step, call.name, name, other, accepted)


def _take_step(step: TruthStep, function: str, arguments: Mapping[str, Any], name: str) -> Any:
    value = arguments[name]
    for by in _STEPS:
        instead = Call(function, (), {**arguments, name: value + by})
        try:
            if step.before.fork().call(instead).ok:
                return value + by
        except BackendFault:
            continue
    return value + 1


def figures(entries: Iterable[Entry]) -> MutantCounts:
    """Count the mutants (altered ground truths) of all entries that can be executed."""
    total: Counter[bool] = Counter()
    rejected: Counter[bool] = Counter()
    writes: Counter[bool] = Counter()
    accepted: Counter[tuple[str, str]] = Counter()
    for entry in (entry for entry in entries if not entry.fault):
        for mutant in mutants(entry):
            left_out = mutant.parameter is None
            total[left_out] += 1
            writes[bool(mutant.accepted)] += mutant.step.result.changed
            if mutant.accepted:
                accepted[mutant.kind] += 1
            else:
                rejected[left_out] += 1
    return MutantCounts(
        total[True],
        rejected[True],
        total[False],
        rejected[False],
        writes.total(),
        writes[False],
        dict(accepted.most_common()),
    )


def others(
    value: Any, schema: Mapping[str, Any], texts: list[str], source: Random
) -> Iterator[Any]:
    """Yield wrong values for an argument, each similar to the right value."""
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
        yield _misspell(value, source)
    elif isinstance(value, (list, tuple)):
        yield value[:-1] if value else ["x"]


def _misspell(text: str, source: Random) -> str:
    places = [index for index, char in enumerate(text) if char.isalnum()]
    if not places:
        return f"{text}x"
    place = source.choice(places)
    letters = "0123456789" if text[place].isdigit() else "abcdefghijklmnopqrstuvwxyz"
    other = source.choice([char for char in letters if char != text[place].lower()])
    return text[:place] + other + text[place + 1 :]


def _texts(config: Any) -> Iterator[str]:
    for _, value in list_values(config):
        if isinstance(value, Mapping):
            yield from map(str, value)
        elif isinstance(value, str):
            yield value


def _explain_acceptance(entry: Entry, step: TruthStep, instead: Call) -> str:
    try:
        if entry.rejection(step.turn, entry.instead(step, instead)) is not None:
            return ""
        session = step.before.fork()
        result = session.call(instead)
    except BackendFault:
        return ""  # A crash ends the run, so it cannot pass.
    truth = step.before.fork()
    truth.call(step.call)
    if result.text == step.result.text and session.snapshot() == truth.snapshot():
        return SAME_EFFECT
    if step.result.changed or result.changed:
        return UNDONE
    return READS_MORE if _holds(result, step.result) else SHOWN_BEFORE


def _holds(more: Result, less: Result) -> bool:
    longer = [text for text in list_literals(more.value) if isinstance(text, str)]
    wanted = list(list_literals(less.value))
    return bool(wanted) and all(
        isinstance(text, str) and any(f"\n{text}\n" in f"\n{other}\n" for other in longer)
        for text in wanted
    )


BREVITY = "BREVITY"


def check_brief(entry: Entry) -> Iterator[Finding]:
    """Yield a finding for each superfluous ground-truth call."""
    for step in entry.steps:
        if not step.result.ok or step.result.changed or not isinstance(step.call, Call):
            continue
        if entry.is_told_by_others(step):
            continue
        tool = entry.template.tools[step.call.name]
        if tool.writes and _is_without_effect(entry, step, tool.backend):
            message = f"{tool.name} changes nothing: the state is already as requested"
            yield entry.finding(BREVITY, Severity.WARNING, step.turn, step.field, message)
        elif entry.accepts_without(step):
            message = f"{tool.name} may be omitted: an earlier call returned the same information"
            yield entry.finding(BREVITY, Severity.WARNING, step.turn, step.field, message)
        elif not tool.writes and (sources := _find_sources(entry, step)):
            message = (
                f"{tool.name} is redundant, because {sources} already show all values in the result"
            )
            yield entry.finding(BREVITY, Severity.INFO, step.turn, step.field, message)


def _is_without_effect(entry: Entry, step: TruthStep, environment: str) -> bool:
    steps = entry.turns[step.turn]
    if step.position + 1 < len(steps):
        after = vars(steps[step.position + 1].before.backends[environment])
    else:
        after = dict(entry.truth[step.turn].snapshot.states[environment])
    return vars(step.before.backends[environment]) == after


def _find_sources(entry: Entry, step: TruthStep) -> str:
    """Return the sources of all values in a result, such as "the user and ls", or ""."""
    held = [value for _, value in list_values(step.result.held) if value is not None]
    values = [str(value) for value in held if not isinstance(value, (dict, list, tuple))]
    others = [o for o in entry.turns[step.turn] if o.position != step.position and o.result.ok]
    if not values or not others:
        return ""
    words = [message.content for message in entry.trajectory.turns[step.turn].messages]
    told = "\n".join([*words, *(other.result.text for other in others)])
    if not all(_stands_in(value, told) for value in values):
        return ""
    names = dict.fromkeys(o.call.name for o in others if isinstance(o.call, Call))
    return f"the user and {', '.join(names)}"


def _stands_in(value: str, text: str) -> bool:
    if value not in text:
        return False
    return len(value) > 20 or bool(re.search(rf"(?<![\w.]){re.escape(value)}(?!\w|\.\d)", text))
