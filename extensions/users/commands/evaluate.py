"""Command ``turnwise user evaluate``: measures the fidelity of the rule-based user."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from extensions.users.fidelity import FidelityCounts, compare
from extensions.users.rules import RuleUser
from extensions.users.scenario import Persona
from runner.commands import DONE
from runner.commands.common_options import JsonOption
from runner.commands.options import argument, option
from runner.episodes.judging import kind_of
from runner.models.dialogue_user import UserExchange
from runner.records.durable_files import check_writable
from runner.records.recorded_run import Run, open_run
from runner.show.terminal import say, say_json, table
from trajectories.errors import DataError

EXAMPLE = "turnwise user evaluate results.json"


@runtime_checkable
class HasExchanges(Protocol):
    """Interface of record data with the exchanges of a dialogue."""

    def exchanges(self) -> Sequence[UserExchange]:
        """Return the exchanges, including the greeting."""


@dataclass(frozen=True, kw_only=True)
class Options(JsonOption):
    """The recorded dialogues."""

    recorded: tuple[Path, ...] = argument("files or runs with recorded dialogues", "RECORDED")
    persona: Persona = option("persona of the user (default: helpful)", default="helpful")
    write: Path | None = option("also write the results to this JSON file", "FILE")


def run(options: Options) -> int:
    """Replace recorded users by the rule-based user, and print the fidelity of its answers."""
    check_writable(options.write)
    found: dict[str, FidelityCounts] = {}
    for path in options.recorded:
        for _, group, fidelity in list_fidelities(open_run(path), options.persona):
            found[group] = found.get(group, FidelityCounts()) + fidelity
    if not found:
        raise DataError(str(options.recorded[0]), "has no dialogue with a recorded user")
    total = sum(found.values(), FidelityCounts())
    if options.write is not None:
        text = json.dumps(total.to_json(), indent=1)
        options.write.write_text(f"{text}\n", encoding="utf-8")
    if options.json:
        say_json({**{name: each.to_json() for name, each in found.items()}, "all": total.to_json()})
        return DONE
    labels = ("facts F1", "wishes F1", "same stop", "same calls", "calls F1", "lost")
    rows = [["dialogues of", "number", *labels]]
    for name, each in [*found.items(), *([("all", total)] if len(found) > 1 else [])]:
        figures = each.to_json()
        shown = ("facts_f1", "wishes_f1", "same_stops", "same_calls", "calls_f1", "not_understood")
        rows.append([name, str(each.dialogues), *[_write(figures[key]) for key in shown]])
    say(table(rows))
    return DONE


def _write(value: Any) -> str:
    return "-" if value is None else f"{value:.1%}"


def list_fidelities(
    run: Run, persona: Persona = "helpful"
) -> list[tuple[str, str, FidelityCounts]]:
    """Return the entry, the environment and the counts of each dialogue of a run."""
    if run.dataset is None:
        return []
    found = []
    for recorded in run.episodes.values():
        record = recorded.record
        entry = run.dataset.trajectories.get(record.id)
        members = [each for each in record.extensions.values() if isinstance(each, HasExchanges)]
        user = kind_of(entry).user(entry) if entry and members else None
        if entry is None or not isinstance(user, RuleUser):
            continue
        scenario = user.scenario
        scenario = scenario._replace(knobs=scenario.knobs._replace(persona=persona))
        exchanges = members[0].exchanges()
        if exchanges:
            group = entry.environments[0]
            counts = compare(RuleUser(scenario), scenario, exchanges)
            found.append((entry.id, group, counts))
    return found
