"""Conversion of tasks to entries: writing, filtering, solving and checking.

Tasks run in batches, called waves. The order of the answers does not affect the entries.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from envs.errors import DataError
from extensions.authoring.making.scenarios import MissingParameter
from extensions.generation.answers import CachedModel
from extensions.generation.entries.entry_checks import find_first_finding
from extensions.generation.entries.filters import (
    FilterChain,
    Instruction,
    InstructionFilter,
    RefusedInstruction,
)
from extensions.generation.entries.instruction_kinds import InstructionKind
from extensions.generation.entries.tasks import TaskSource, WritingTask
from extensions.generation.solver import Solver, find_agreed_entry, play_entry, solutions
from extensions.generation.yield_table import (
    AGREE,
    ALIGN,
    ERROR,
    RULES,
    SOLVED,
    LostAnswer,
    YieldTable,
)
from runner.live.engine import RunStopped
from runner.live.progress_display import ProgressDisplay
from runner.live.run_settings import Settings
from runner.models.model_types import ModelError
from runner.records.episode_record import Outcome
from trajectories.schema import Trajectory

_MAX_WAVE = 150
"""Approximate maximum number of tasks in a wave. No request runs while the tasks are chosen."""
FORMLESS = 20
"""The command gives up after this number of malformed answers in a row."""
_TASKS_PER_ENTRY, _FURTHER_TASKS = 10, 20
"""Maximum number of tasks of a kind: 20, and 10 more for each requested entry."""


Write = Callable[[WritingTask, int, str], Awaitable[str]]
"""Function that asks the writer for an answer to a task.

The string says why the last answer was refused. The function raises RunStopped if the command is
being stopped, and ModelError if the request fails.
"""

Align = Callable[[Trajectory], Awaitable[str]]
"""Function that asks a judge model for a vote on an entry.

It returns ``pass``, ``fail`` or ``unsure``.
"""


@dataclass(frozen=True, kw_only=True)
class MakingPlan:
    """Plan of a command: wanted entries, and limits on answers, episodes and searches."""

    settings: Settings
    tasks: TaskSource
    wanted: Mapping[InstructionKind, int]
    wishes: Sequence[str]
    """Functions and edges to cover."""
    tries: int
    """Maximum number of answers to a task."""
    trials: int
    """Number of times that the solver plays each entry."""
    solutions: int
    """Number of independent searches that must find the same calls. Tasks with calls need no
    search."""
    search_calls: int
    """Maximum requests of a search."""


class EntryModels(NamedTuple):
    """Models that write, solve and judge entries; ``provenance`` is recorded in each entry."""

    write: Write
    solver: Solver | None
    align: Align | None
    provenance: Mapping[str, str]


@dataclass
class TaskOutcome:
    """Answers to a task, and the entry that was made from an answer, if any."""

    task: WritingTask
    entry: Trajectory | None = None
    left_out: MissingParameter | None = None
    answers: int = 0
    answer: str = ""
    """Last answer."""
    refused: list[LostAnswer] = field(default_factory=list)
    lost: LostAnswer | None = None
    """Reason why the entry failed after its answer passed the filters."""


class RejectedAnswer(NamedTuple):
    """A refused answer or entry."""

    task: WritingTask
    lost: LostAnswer


@dataclass
class MadeEntries:
    """Entries that have been made so far."""

    yields: YieldTable
    entries: list[Trajectory] = field(default_factory=list)
    """Entries in the order of their tasks."""
    left_out: dict[str, MissingParameter | None] = field(default_factory=dict)
    """Maps the id of an entry to the parameter that the writer proposes to omit."""
    rejected: list[RejectedAnswer] = field(default_factory=list)


class EntryMaker:
    """Maker of all entries that one command writes.

    The job engine of the first model runs the tasks. If the command makes fewer entries than
    wanted, ``short`` contains the reason.
    """

    def __init__(
        self,
        plan: MakingPlan,
        models: EntryModels,
        sieve: FilterChain,
        askers: Sequence[CachedModel],
        meter: Callable[[int], ProgressDisplay],
    ) -> None:
        self._plan = plan
        self._models = models
        self._sieve = sieve
        self._askers = askers
        self._engine = askers[0].engine
        self._meter = meter
        self._formless = 0
        self.output = MadeEntries(YieldTable([*plan.wanted]))
        self.short: str | None = None

    async def make(self) -> None:
        """Make entries until the wanted number is reached or the command is stopped.

        Raises DataError if a kind has no suitable task, or an answer cannot be written.
        """
        number = dict.fromkeys(self._plan.wanted, 0)
        missing = [*self._plan.wishes]
        while self._engine.stop_reason is None:
            try:
                wave = self._draw_wave(number, missing)
            except DataError as error:
                if not self.output.yields.kept:
                    raise
                self.short = str(error)
                return
            if not wave:
                return
            made = await self._run_wave(wave)
            for task in wave:
                if task.key in made and self._take(made[task.key]):
                    missing = task.left_of(missing)
            self.short = self._find_obstacle(made)
            if self.short is not None:
                return

    def _find_obstacle(self, made: Mapping[str, TaskOutcome]) -> str | None:
        lost = [each.lost for each in made.values()]
        failed = [each.reason for each in lost if each is not None and each.by == ERROR]
        if made and len(failed) == len(made):
            return f"the requests of all {len(made)} tasks failed; last error: {failed[-1]}"
        yields = self.output.yields
        for kind, wanted in self._plan.wanted.items():
            tasks, kept = yields.tasks[kind], yields.kept[kind]
            if kept < wanted and tasks >= _TASKS_PER_ENTRY * wanted + _FURTHER_TASKS:
                return f"{kind}: only {kept} of {tasks} tasks led to an entry"
        return None

    def _draw_wave(
        self, number: dict[InstructionKind, int], missing: Sequence[str]
    ) -> list[WritingTask]:
        """Choose the tasks of the next wave: one task per missing entry, up to ``_MAX_WAVE``."""
        wave: list[WritingTask] = []
        kept = self.output.yields.kept
        left = {kind: wanted - kept[kind] for kind, wanted in self._plan.wanted.items()}
        while any(left.values()) and len(wave) < _MAX_WAVE:
            for kind in [kind for kind, open_tasks in left.items() if open_tasks]:
                task = self._plan.tasks.draw(kind, number[kind], missing)
                number[kind] += 1
                left[kind] -= 1
                wave.append(task)
                missing = task.left_of(missing)
        return wave

    async def _run_wave(self, wave: Sequence[WritingTask]) -> dict[str, TaskOutcome]:
        made: dict[str, TaskOutcome] = {}
        meter = self._meter(len(wave))

        def keep(each: TaskOutcome) -> None:
            made[each.task.key] = each
            outcome: Outcome = "failed" if each.entry is None else "passed"
            if each.lost and each.lost.by == ERROR:
                outcome = "error"
            meter.count(outcome, self._engine.budget.spent)

        try:
            await self._engine.run(wave, lambda task, _: self._make_entry(task), keep)
        finally:
            meter.close()
        return made

    async def _make_entry(self, task: WritingTask) -> TaskOutcome:
        made = TaskOutcome(task)
        try:
            written = await self._write(made)
            if written is not None:
                entry = task.said(written.words)
                if task.origin == "functions":
                    entry = await self._find_calls(entry)
                made.entry = await self._check(task, entry)
                made.left_out = written.left_out
        except RefusedInstruction as error:
            lost = LostAnswer(error.by, str(error), made.answer)
            if isinstance(error.by, InstructionFilter):
                made.refused.append(lost)
            else:
                made.lost = lost
        except ModelError as error:
            made.lost = LostAnswer(ERROR, str(error))
        except RunStopped:
            # A stopped model stops all tasks.
            for asker in self._askers:
                stop = asker.engine.stop_reason
                if stop is not None and self._engine.stop_reason is None:
                    self._engine.failed = asker.engine.failed
                    self._engine.stop(stop, at_once=asker.engine.failed)
            raise
        return made

    async def _write(self, made: TaskOutcome) -> Instruction | None:
        """Return the first answer that passes the filters, or None.

        Raises RunStopped if too many answers in a row are malformed.
        """
        while made.answers < self._plan.tries:
            reason = made.refused[-1].reason if made.refused else ""
            made.answer = await self._models.write(made.task, made.answers, reason)
            made.answers += 1
            try:
                written = self._sieve.passed(made.task, made.answer)
            except RefusedInstruction as error:
                made.refused.append(LostAnswer(error.by, str(error), made.answer))
                self._formless = self._formless + 1 if error.by == InstructionFilter.FORM else 0
            else:
                self._formless = 0
                return written
            if self._formless >= FORMLESS:
                last = made.refused[-1].reason
                message = f"{FORMLESS} answers in a row were malformed; last error: {last}"
                self._engine.failed = True
                self._engine.stop(message, at_once=True)
                raise RunStopped
        return None

    async def _find_calls(self, said: Trajectory) -> Trajectory:
        """Search several times for an entry's calls; return the entry with the found calls.

        Raises:
            RefusedInstruction: A search did not end, two searches found different calls, or a
                filter refused the entry.
        """
        plan, solver = self._plan, self._models.solver
        assert solver is not None
        bare = replace(said, turns=tuple([replace(turn, ground_truth=()) for turn in said.turns]))
        found = await solutions(
            bare, said, solver, plan.settings.mode, plan.solutions, plan.search_calls
        )
        if len(found) < plan.solutions:
            reason = f"{plan.solutions - len(found)} of {plan.solutions} searches did not end"
            raise RefusedInstruction(AGREE, reason)
        entry = find_agreed_entry(bare, found)
        self._sieve.check_found(entry)
        return entry

    async def _check(self, task: WritingTask, entry: Trajectory) -> Trajectory:
        """Check an entry (rules, solver, judge model), and return it with its provenance.

        Raises RefusedInstruction if the entry fails a check.
        """
        models, trials = self._models, self._plan.trials
        provenance = {
            **models.provenance,
            "kind": task.kind,
            "group": task.focus.group,
            "path_seed": str(task.walk.seed),
            "world": task.walk.world,
            "persona": task.persona,
        }
        finding = find_first_finding(entry)
        if finding is not None:
            raise RefusedInstruction(f"{RULES} {finding.rule}", str(finding))
        if models.solver is not None and trials:
            blind = await play_entry(entry, models.solver, self._plan.settings.mode, trials)
            if blind.error is not None:
                raise RefusedInstruction(ERROR, blind.error)
            if not blind.passed:
                raise RefusedInstruction(SOLVED, f"all {trials} episodes of the solver failed")
            provenance["solved"] = f"{blind.passed} of {trials}"
        if models.align is not None:
            label = await models.align(entry)
            if label != "pass":
                raise RefusedInstruction(ALIGN, f"the judge says {label}")
            provenance["aligned"] = label
        return replace(entry, provenance=provenance)

    def _take(self, made: TaskOutcome) -> bool:
        output, task = self.output, made.task
        yields, kind = output.yields, task.kind
        yields.tasks[kind] += 1
        yields.answers[kind] += made.answers
        refused, lost, entry = [*made.refused], made.lost, made.entry
        if entry is not None:
            try:
                self._sieve.take(entry.id, [turn.words for turn in entry.turns])
            except RefusedInstruction as error:
                refused.append(LostAnswer(error.by, str(error)))
                entry = None
        for each in refused:
            yields.refused[kind, each.by] += 1
            output.rejected.append(RejectedAnswer(task, each))
        if entry is not None:
            yields.kept[kind] += 1
            output.entries.append(entry)
            output.left_out[entry.id] = made.left_out
        elif lost is not None:
            yields.lost[kind, lost.by] += 1
            output.rejected.append(RejectedAnswer(task, lost))
        else:
            yields.lost[kind, refused[-1].by] += 1
        return entry is not None
