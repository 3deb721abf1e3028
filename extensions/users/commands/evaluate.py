"""Command ``turnwise user evaluate``: measures the fidelity of the rule-based user."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, get_args, runtime_checkable

from envs.errors import DataError
from extensions.users.fidelity import (
    FidelityCounts,
    OwnCalls,
    compare,
    count_calls,
    list_own_calls,
    pair_similar,
)
from extensions.users.rules import RuleUser
from extensions.users.scenario import DialogueScenario, Persona
from runner.commands import DONE
from runner.commands.common_options import JsonOption
from runner.commands.options import argument, option
from runner.episodes.judging import kind_of
from runner.models.dialogue_user import UserExchange
from runner.records.durable_files import check_writable, write_whole
from runner.records.recorded_run import Run, open_run
from runner.show.terminal import say, say_json, table

EXAMPLE = "turnwise user evaluate results.json"


@runtime_checkable
class HasExchanges(Protocol):
    """Extension data that contains an episode's exchanges between user and agent."""

    def exchanges(self) -> Sequence[UserExchange]:
        """Return the exchanges, including the greeting."""


@dataclass(frozen=True, kw_only=True)
class Options(JsonOption):
    """Options for the recorded dialogues."""

    recorded: tuple[Path, ...] = argument("files or runs with recorded dialogues", "RECORDED")
    persona: Persona = option(
        f"persona of the user: {', '.join(get_args(Persona))} (default: helpful)",
        "NAME",
        default="helpful",
    )
    write: Path | None = option("also write the results to this JSON file", "FILE")


def run(options: Options) -> int:
    """Compare the answers of the rule-based user with the recorded answers, and print metrics."""
    check_writable(options.write)
    found: dict[str, FidelityCounts] = {}
    calls: list[list[OwnCalls]] = []
    for path in options.recorded:
        for dialogue in list_dialogues(open_run(path), options.persona):
            counts = found.get(dialogue.group, FidelityCounts())
            found[dialogue.group] = counts + dialogue.compare()
            if dialogue.scenario.steps:
                calls.append(list_own_calls(RuleUser(dialogue.scenario), dialogue.recorded))
    if not found:
        raise DataError(str(options.recorded[0]), "has no dialogue with a recorded user")
    total = sum(found.values(), FidelityCounts())
    if options.write is not None:
        text = json.dumps(total.to_json(), indent=1)
        write_whole(options.write, [f"{text}\n".encode()], named=True)
    pairs = pair_similar(calls)
    agreement = {
        "simulated": count_calls([each for each, _ in pairs]).to_json(),
        "recorded": count_calls([other for _, other in pairs]).to_json(),
    }
    if options.json:
        groups = {name: each.to_json() for name, each in found.items()}
        shown = {who: {key: each[key] for key in _CALLS} for who, each in agreement.items()}
        say_json({**groups, "all": total.to_json(), "similar_texts": {"texts": len(pairs)} | shown})
        return DONE
    if len(found) > 1:
        found["all"] = total
    columns = [each.to_json() for each in found.values()]
    rows = [["metric", *found]]
    rows += [[label, *[_write(each[key]) for each in columns]] for key, label in _LABELS.items()]
    say(table(rows))
    if pairs:
        say(f"\n{len(pairs)} agent texts resemble a text of another dialogue; users' next calls:")
        rows = [["user", "precision", "recall", "F1"]]
        for who, label in _USERS.items():
            rows.append([label, *[_write(agreement[who][key]) for key in _CALLS]])
        say(table(rows))
    return DONE


_LABELS = {
    "dialogues": "dialogues",
    "messages": "answers",
    "facts_precision": "facts precision",
    "facts_recall": "facts recall",
    "facts_f1": "facts F1",
    "wishes_f1": "wishes F1",
    "same_stops": "same stop",
    "calls_precision": "precision of calls",
    "calls_recall": "recall of calls",
    "calls_f1": "F1 of calls",
    "near_calls_precision": "precision of calls (within one answer)",
    "near_calls_recall": "recall of calls (within one answer)",
    "not_understood": "not understood",
}
_CALLS = ("calls_precision", "calls_recall", "calls_f1")
_USERS = {"simulated": "rule-based user", "recorded": "recorded user of a similar dialogue"}


def _write(value: float | None) -> str:
    return "-" if value is None else str(value) if isinstance(value, int) else f"{value:.1%}"


class RecordedDialogue(NamedTuple):
    """Recorded dialogue, and the scenario for a simulated user of this dialogue."""

    id: str
    """Id of the entry."""
    group: str
    """Environment."""
    scenario: DialogueScenario
    recorded: Sequence[UserExchange]

    def compare(self) -> FidelityCounts:
        """Return the counts of agreement."""
        return compare(RuleUser(self.scenario), self.scenario, self.recorded)


def list_dialogues(run: Run, persona: Persona = "helpful") -> Iterator[RecordedDialogue]:
    """Yield each episode that has user answers, together with the user's scenario."""
    for recorded in run.episodes.values() if run.dataset else ():
        record = recorded.record
        entry = run.dataset.trajectories.get(record.id) if run.dataset else None
        members = [each for each in record.extensions.values() if isinstance(each, HasExchanges)]
        user = kind_of(entry).user(entry) if entry and members else None
        if entry is None or not isinstance(user, RuleUser):
            continue
        scenario = user.scenario
        scenario = scenario._replace(knobs=scenario.knobs._replace(persona=persona))
        if exchanges := members[0].exchanges():
            yield RecordedDialogue(entry.id, entry.environments[0], scenario, exchanges)
