"""A report on a scenario for its author: world, replayed ground truth and findings.

``python -m tools.show_scenario NAME...`` takes names of scenarios or paths of their files.
``--full`` shows complete results. The script writes no file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from checkers.known_values import clip_text, contains_value, list_literals
from envs.calls import Call
from envs.errors import ConfigError, DataError
from envs.registry import check_config
from envs.results import Result
from extensions.authoring.making.build import make
from extensions.authoring.making.maker_helpers import start
from extensions.authoring.making.scenario_worlds import sizes
from extensions.authoring.making.scenarios import SCENARIOS, Scenario, read_scenario
from extensions.authoring.rule_sets import RULES, validate
from extensions.authoring.rules.finding import Severity, apply, read_exemptions
from trajectories.dataset import DATA, Dataset
from trajectories.replay_queries import list_messages, read_truth_calls
from trajectories.schema import MULTI_TURN, Category, Trajectory

_RESULT = 300
"""Maximum number of characters in a shown result."""


def report(scenario: Scenario, *, full: bool = False) -> Iterator[str]:
    """Yield the lines of a report on a scenario.

    Raises:
        DataError: The scenario cannot be executed.
    """
    base = scenario.base
    defects = check_config(base.environments, base.config)
    if defects:
        raise DataError(scenario.id, f"config: {defects[0]}")
    yield f"{base.id}: {base.tier} {' '.join(base.labels)}".rstrip()
    yield from _world(scenario)
    try:
        yield from _played(base, full=full)
    except ConfigError as error:
        raise DataError(base.id, f"config: {error}") from None
    made = {Category.BASE: base}
    for category in MULTI_TURN[1:]:
        try:
            variant = make(scenario, category)
        except DataError as error:
            yield f"{category}: CANNOT BE MADE: {error}"
            continue
        if variant is None:
            why = scenario.not_long or "the ground truth reads hardly any of the generated items"
            yield f"{category}: none: {why}"
        else:
            made[category] = variant
    yield f"made: {', '.join(made)}"
    yield from _found(list(made.values()))


def _world(scenario: Scenario) -> Iterator[str]:
    for name, config in scenario.base.config.items():
        own = sizes(scenario.config.get(name, {}))
        shown = [
            f"{member} {count} ({own.get(member, 0)} by hand)"
            if scenario.world
            else f"{member} {count}"
            for member, count in sizes(config).items()
        ]
        yield f"  {name}: {', '.join(shown) or 'nothing to count'}"


def _played(base: Trajectory, *, full: bool) -> Iterator[str]:
    session = start(base)
    for index, turn in enumerate(base.turns):
        said = "\n".join(list_messages([turn]))
        yield f"turn {index}: {said}"
        for call in read_truth_calls(turn):
            result = session.call(call)
            yield f"  {call}{_unsaid(call, said) if result.changed else ''}"
            yield f"    {'' if result.ok else 'FAILS: '}{_text(result, full=full)}"
        for accepted in turn.accepts:
            yield f"  accepted in place of {accepted.call}: {', '.join(accepted.instead)}"
        for fact in turn.tells:
            yield f"  tells {fact}"
        if not turn.ground_truth:
            yield "  no call"


def _unsaid(call: object, said: str) -> str:
    """Return a line with the argument values that the user's message does not contain."""
    values = list_literals(dict(call.kwargs)) if isinstance(call, Call) else ()
    unsaid = [value for value in values if not contains_value(value, said)]
    return (
        f"   CHANGES; missing in the user message: {unsaid}"
        if unsaid
        else "   CHANGES, all in words"
    )


def _text(result: Result, *, full: bool) -> str:
    return result.text if full else clip_text(result.text, _RESULT)


def _found(made: Sequence[Trajectory]) -> Iterator[str]:
    """Yield the findings of the authoring rules in a scenario's trajectories."""
    dataset = Dataset("scenarios", "unknown", "", {t.id: t for t in made})
    rules = [rule for rule in RULES if not rule.documents]
    exemptions = read_exemptions(DATA / "allowed.jsonl")
    allowed = apply(validate(dataset, made, rules), exemptions, made, [rule.id for rule in rules])
    serious = [problem for problem in allowed.problems if problem.severity is not Severity.INFO]
    said: dict[tuple[str, str, str], list[str]] = {}
    for problem in serious:
        key = (problem.rule, problem.field, problem.message)
        place = f"{problem.id} turn {problem.turn}"
        said.setdefault(key, []).append(place)
    for (rule, field, message), places in said.items():
        yield f"{rule}: {field}: {message} [{places[0]}, and {len(places) - 1} variants]"
    infos = len(allowed.problems) - len(serious)
    yield f"{len(serious)} errors and warnings, {infos} infos, {len(allowed.excepted)} excepted"


def main(arguments: Sequence[str]) -> int:
    """Print reports on scenarios; return 1 if a scenario cannot be read or executed, else 0."""
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}.check", description=__doc__)
    parser.add_argument("name", nargs="+", help="name of a scenario, or path of its file")
    parser.add_argument("--full", action="store_true", help="show complete results")
    options = parser.parse_args(arguments)
    status = 0
    for name in options.name:
        path = Path(name) if name.endswith(".json") else SCENARIOS / f"{name}.json"
        try:
            for line in report(read_scenario(path), full=options.full):
                print(line)
        except DataError as error:
            print(error)
            status = 1
        print()
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
