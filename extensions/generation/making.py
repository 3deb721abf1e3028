"""Instructions from their tasks to entries: written, sifted, solved, checked, in waves.

A wave has as many tasks as entries are still wanted at most, so that none is asked about in vain.
What becomes of a task depends on no other but in one thing, whether it was asked before; that is
looked at in the order of the tasks, so that the same answers give the same entries, in whatever
order they come in.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from checkers.profile import Mode
from extensions.authoring.making.scenarios import MissingParameter
from extensions.generation.answers import Asker
from extensions.generation.entries.filters import Filter, Instruction, Sieve, SiftedOut
from extensions.generation.entries.kinds import InstructionKind
from extensions.generation.entries.sound import fault_of
from extensions.generation.entries.tasks import Tasks, WritingTask
from extensions.generation.solve import Solver, agreed, played, solutions
from extensions.generation.yields import AGREE, ALIGN, ERROR, RULES, SOLVED, Lost, Yields
from runner.live.engine import Stopped
from runner.live.meter import Meter
from runner.models.base import ModelError
from runner.records.record import Outcome
from trajectories.errors import DataError
from trajectories.schema import Trajectory

_LARGEST_WAVE = 150
"""Tasks, about; while they are drawn nobody is asked."""
FORMLESS = 20
"""After so many answers in a row without the form, the writer is no use."""
_TASKS_PER_ENTRY, _FURTHER_TASKS = 10, 20
"""After so many tasks for each entry that is wanted, and so many more, no more are drawn."""


Write = Callable[[WritingTask, int, str], Awaitable[str]]
"""Returns an answer to a task: attempt 0 or later, and why the last was refused, empty at first.

Raises Stopped where the command is being stopped, ModelError where there is no answer to be had.
"""

Align = Callable[[Trajectory], Awaitable[str]]
"""Has a judge label an entry's own calls: pass, fail or unsure."""


@dataclass(frozen=True)
class MakingPlan:
    """How entries are made: as a ``Commission`` says, and by whom."""

    tasks: Tasks
    write: Write
    solver: Solver | None
    """None for nobody."""
    mode: Mode
    align: Align | None
    """None for no judge."""
    wanted: Mapping[InstructionKind, int]
    tries: int
    trials: int
    solutions: int
    search_calls: int
    wishes: Sequence[str]
    provenance: Mapping[str, str]


@dataclass
class Made:
    """What became of a task."""

    task: WritingTask
    entry: Trajectory | None = None
    left_out: MissingParameter | None = None
    answers: int = 0
    answer: str = ""
    """The last one."""
    refused: list[Lost] = field(default_factory=list)
    lost: Lost | None = None
    """What else it failed by; none of it if it is kept, or if a filter refused the last answer."""


class Rejected(NamedTuple):
    """An answer or an entry that was not kept."""

    task: WritingTask
    lost: Lost


@dataclass
class Output:
    """What was made so far."""

    yields: Yields
    entries: list[Trajectory] = field(default_factory=list)
    """In the order of their tasks."""
    left_out: dict[str, MissingParameter | None] = field(default_factory=dict)
    """By entry, how it would leave a value out, where the writer said so."""
    rejected: list[Rejected] = field(default_factory=list)


class Maker:
    """Makes the entries of one command.

    The engine of the first asker does the tasks. ``short`` says why there are fewer entries than
    were wanted, for want of tasks.
    """

    def __init__(
        self, plan: MakingPlan, sieve: Sieve, askers: Sequence[Asker], meter: Callable[[int], Meter]
    ) -> None:
        self._plan = plan
        self._sieve = sieve
        self._askers = askers
        self._engine = askers[0].engine
        self._meter = meter
        self._formless = 0
        self.output = Output(Yields([*plan.wanted]))
        self.short: str | None = None

    async def make(self) -> None:
        """Make entries until there are as many as are wanted, or the run is stopped.

        Raises:
            DataError: There is no task of a kind, or an answer cannot be kept.
        """
        number = dict.fromkeys(self._plan.wanted, 0)
        missing = [*self._plan.wishes]
        while self._engine.stop_reason is None:
            try:
                wave = self._wave(number, missing)
            except DataError as error:
                if not self.output.yields.kept:
                    raise
                self.short = str(error)
                return
            if not wave:
                return
            made = await self._done(wave)
            for task in wave:
                if task.key in made and self._take(made[task.key]):
                    missing = task.left_of(missing)
            self.short = self._hopeless(made)
            if self.short is not None:
                return

    def _hopeless(self, made: Mapping[str, Made]) -> str | None:
        """Return why no further wave would be of use; None where one may be."""
        lost = [each.lost for each in made.values()]
        failed = [each.reason for each in lost if each is not None and each.by == ERROR]
        if made and len(failed) == len(made):
            return f"no request gets an answer, the last: {failed[-1]}"
        yields = self.output.yields
        for kind, wanted in self._plan.wanted.items():
            tasks, kept = yields.tasks[kind], yields.kept[kind]
            if kept < wanted and tasks >= _TASKS_PER_ENTRY * wanted + _FURTHER_TASKS:
                return f"{kind}: of {tasks} tasks only {kept} were kept"
        return None

    def _wave(
        self, number: dict[InstructionKind, int], missing: Sequence[str]
    ) -> list[WritingTask]:
        """Return a task for each entry that is still wanted, or many of them, and count them."""
        wave: list[WritingTask] = []
        kept = self.output.yields.kept
        left = {kind: wanted - kept[kind] for kind, wanted in self._plan.wanted.items()}
        while any(left.values()) and len(wave) < _LARGEST_WAVE:
            for kind in [kind for kind, open_tasks in left.items() if open_tasks]:
                task = self._plan.tasks.draw(kind, number[kind], missing)
                number[kind] += 1
                left[kind] -= 1
                wave.append(task)
                missing = task.left_of(missing)
        return wave

    async def _done(self, wave: Sequence[WritingTask]) -> dict[str, Made]:
        """Do the tasks of a wave, several at a time."""
        made: dict[str, Made] = {}
        meter = self._meter(len(wave))

        def keep(each: Made) -> None:
            made[each.task.key] = each
            outcome: Outcome = "failed" if each.entry is None else "passed"
            if each.lost and each.lost.by == ERROR:
                outcome = "error"
            meter.count(outcome, self._engine.budget.spent)

        try:
            await self._engine.run(wave, lambda task, _: self._make(task), keep)
        finally:
            meter.close()
        return made

    async def _make(self, task: WritingTask) -> Made:
        made = Made(task)
        try:
            written = await self._written(made)
            if written is not None:
                entry = task.said(written.words)
                if task.origin == "functions":
                    entry = await self._found(entry)
                made.entry = await self._checked(task, entry)
                made.left_out = written.left_out
        except SiftedOut as error:
            lost = Lost(error.by, str(error), made.answer)
            if isinstance(error.by, Filter):
                made.refused.append(lost)
            else:
                made.lost = lost
        except ModelError as error:
            made.lost = Lost(ERROR, str(error))
        except Stopped:
            self._halt()
            raise
        return made

    async def _written(self, made: Made) -> Instruction | None:
        """Return the first answer that passes the filters; None where none of them does.

        Raises:
            Stopped: The writer never answers in form.
        """
        while made.answers < self._plan.tries:
            reason = made.refused[-1].reason if made.refused else ""
            made.answer = await self._plan.write(made.task, made.answers, reason)
            made.answers += 1
            try:
                written = self._sieve.passed(made.task, made.answer)
            except SiftedOut as error:
                made.refused.append(Lost(error.by, str(error), made.answer))
                self._formless = self._formless + 1 if error.by == Filter.FORM else 0
            else:
                self._formless = 0
                return written
            if self._formless >= FORMLESS:
                last = made.refused[-1].reason
                self._engine.failed = True
                self._engine.stop(
                    f"{FORMLESS} answers in a row were not in form, the last: {last}", at_once=True
                )
                raise Stopped
        return None

    def _halt(self) -> None:
        """Stop all where one model is asked no more."""
        for asker in self._askers:
            reason = asker.engine.stop_reason
            if reason is not None and self._engine.stop_reason is None:
                self._engine.failed = asker.engine.failed
                self._engine.stop(reason, at_once=asker.engine.failed)

    async def _found(self, said: Trajectory) -> Trajectory:
        """Return an entry with the calls that searches agree on.

        Raises:
            SiftedOut: They agree on none, or the words do not tell what the calls need, or what
                they find.
        """
        plan = self._plan
        assert plan.solver is not None
        bare = replace(said, turns=tuple([replace(turn, ground_truth=()) for turn in said.turns]))
        found = await solutions(
            bare, said, plan.solver, plan.mode, plan.solutions, plan.search_calls
        )
        if len(found) < plan.solutions:
            reason = f"{plan.solutions - len(found)} of {plan.solutions} searches came to no end"
            raise SiftedOut(AGREE, reason)
        entry = agreed(bare, found)
        self._sieve.check_found(entry)
        return entry

    async def _checked(self, task: WritingTask, entry: Trajectory) -> Trajectory:
        """Return an entry that the rules, the solver and the judge let pass, with provenance.

        Raises:
            SiftedOut: One does not.
        """
        plan, told = self._plan, self._provenance(task)
        problem = fault_of(entry)
        if problem is not None:
            raise SiftedOut(f"{RULES} {problem.rule}", str(problem))
        if plan.solver is not None and plan.trials:
            blind = await played(entry, plan.solver, plan.mode, plan.trials)
            if blind.error is not None:
                raise SiftedOut(ERROR, blind.error)
            if not blind.passed:
                raise SiftedOut(SOLVED, f"none of {plan.trials} plays passed")
            told["solved"] = f"{blind.passed} of {plan.trials}"
        if plan.align is not None:
            label = await plan.align(entry)
            if label != "pass":
                raise SiftedOut(ALIGN, f"the judge says {label}")
            told["aligned"] = label
        return replace(entry, provenance=told)

    def _provenance(self, task: WritingTask) -> dict[str, str]:
        return {
            **self._plan.provenance,
            "kind": task.kind,
            "group": task.focus.group,
            "path_seed": str(task.walk.seed),
            "world": task.walk.world,
            "persona": task.persona,
        }

    def _take(self, made: Made) -> bool:
        """Count what became of a task; keep its entry unless it was asked before, and tell."""
        output, task = self.output, made.task
        yields, kind = output.yields, task.kind
        yields.tasks[kind] += 1
        yields.answers[kind] += made.answers
        refused, lost, entry = [*made.refused], made.lost, made.entry
        if entry is not None:
            try:
                self._sieve.take(entry.id, [turn.words for turn in entry.turns])
            except SiftedOut as error:
                refused.append(Lost(error.by, str(error)))
                entry = None
        for each in refused:
            yields.refused[kind, each.by] += 1
            output.rejected.append(Rejected(task, each))
        if entry is not None:
            yields.kept[kind] += 1
            output.entries.append(entry)
            output.left_out[entry.id] = made.left_out
        elif lost is not None:
            yields.lost[kind, lost.by] += 1
            output.rejected.append(Rejected(task, lost))
        else:
            yields.lost[kind, refused[-1].by] += 1
        return entry is not None
