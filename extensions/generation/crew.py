"""Who writes, solves and judges: the models of one command, behind one budget."""

from __future__ import annotations

import asyncio
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from checkers.profile import STRICT
from extensions.generation.answers import AnswerLog, Asker
from extensions.generation.ask import WriterPrompts, WriterQuestions
from extensions.generation.entries.filters import Sieve
from extensions.generation.entries.kinds import InstructionKind
from extensions.generation.entries.tasks import Tasks, WritingTask, dataset_of
from extensions.generation.making import Align, Maker, MakingPlan, Write
from extensions.generation.scripted import ScriptedWriter, Shares
from extensions.generation.solve import Solver, live_solver, scripted_solver
from extensions.judges.ask import REPORT, read_judge_prompts
from extensions.judges.exhibit import Exhibit, LabelTerms
from extensions.judges.probes import probe
from extensions.judges.setting import JudgeSetting
from extensions.judges.sitting import AnyJudge, EpisodeCase, Nobody, VoteCount
from extensions.judges.votes import Vote
from extensions.search.fallible import Errors
from runner.data.cache import replies_folder
from runner.episodes.episode import STEP_LIMIT
from runner.episodes.scripted import ScriptedBehaviour
from runner.live.budget import Budget
from runner.live.conduct import limits_of, secrets_of
from runner.live.loop import ModelAnswer
from runner.live.meter import Meter
from runner.live.settings import Settings
from runner.models.base import CHARACTERS_PER_TOKEN, Model, Request, Usage
from runner.models.connect import connect, price_of
from runner.models.model_name import Scripted, chosen, parsed
from runner.records.masking import Secrets
from runner.records.replies import ReplyCache
from runner.records.store import server_meant
from trajectories.errors import DataError
from trajectories.schema import Trajectory

NOBODY = ("oracle", "null", "replay:", "python:")
"""Models of runs that write nothing."""
_PER_TURN, _PER_CALL = 90, 40
"""Tokens of an answer, roughly: a turn in words, a call."""
_TOKENS_OF_PLAY = 4000
"""Prompt tokens of a request of a solver, roughly: functions and the conversation."""
_VOTES = 5
"""At most; they are drawn until the label cannot change."""
_TERMS = LabelTerms("paper", "judged", "episode")
_ORACLE = 0
"""The kind of probe that is the ground truth with truthful words."""


@dataclass(frozen=True)
class Commission:
    """What is to be made, and by whom."""

    model: str
    solver: str
    judge: str | None
    """None for nobody."""
    settings: Settings
    prompts: WriterPrompts
    tasks: Tasks
    own: Sequence[Trajectory]
    """Entries whose questions are not to be asked again."""
    wanted: Mapping[InstructionKind, int]
    wishes: Sequence[str]
    """Functions and edges to go through."""
    tries: int
    """Answers to a task, at most."""
    trials: int
    solutions: int
    """Searches that have to agree, where there are no calls yet."""
    search_calls: int
    """Requests of a search, at most."""

    @property
    def solves(self) -> bool:
        """Whether the solver has something to do."""
        return bool(self.trials) or self.tasks.how.origin == "functions"

    @property
    def live(self) -> list[str]:
        """The models that are asked, each once."""
        names = [self.model, *([self.solver] if self.solves else []), self.judge]
        return list(dict.fromkeys([n for n in names if n and not isinstance(parsed(n), Scripted)]))

    @cached_property
    def secrets(self) -> Secrets:
        """What stands in no file."""
        found = [text for n in self.live for text in secrets_of(n, self.settings, os.environ)]
        return Secrets(list(dict.fromkeys(found)))

    @cached_property
    def judging(self) -> JudgeSetting | None:
        """How the judge judges."""
        if self.judge is None:
            return None
        seed = self.tasks.how.seed
        return JudgeSetting(self.judge, self.settings, read_judge_prompts(), "steps", seed)

    def check(self) -> None:
        """See that all can be reached, before anything is begun.

        Raises:
            DataError: One is none, or cannot be reached that way.
        """
        for option, name in (("--model", self.model), ("--solver", self.solver)):
            for other in NOBODY:
                if name == other or (other.endswith(":") and name.startswith(other)):
                    known = "a live model or scripted:SHARE"
                    raise DataError(option, f"{name!r:.80} {_DOES[option]} nothing; name {known}")
            with _named(option):
                chosen(name, self.settings.base_url)
        if isinstance(parsed(self.model), Scripted):
            Shares.named(self.model)
        with _named("--solver"):
            self.errors()
        if self.judging is not None:
            self.judging.check()
        scripted = isinstance(parsed(self.solver), Scripted)
        live = not isinstance(parsed(self.model), Scripted)
        if self.tasks.how.origin == "functions" and scripted and live:
            raise DataError("--solver", "knows no calls for what a live model makes up")
        asyncio.run(self._connect())

    async def _connect(self) -> None:
        """Connect to who writes and who solves, and let go of them."""
        options = self.settings.request_options()
        roles = {"--model": self.model, **({"--solver": self.solver} if self.solves else {})}
        for option, name in roles.items():
            if not isinstance(parsed(name), Scripted):
                with _named(option):
                    model = connect(name, options)
                await model.close()

    def errors(self) -> Errors | None:
        """Return how often a scripted solver errs; None of a live one."""
        if not isinstance(parsed(self.solver), Scripted):
            return None
        return Errors(ScriptedBehaviour.named(self.solver, policies=False).error_rate)


_DOES = {"--model": "writes", "--solver": "solves"}


@contextmanager
def _named(option: str) -> Iterator[None]:
    """Name the option that is meant where a model cannot be used."""
    try:
        yield
    except DataError as error:
        text = str(error)
        if not text.startswith("--model: "):
            raise
        raise DataError(option, text.removeprefix("--model: ")) from None


class WritingCrew:
    """The models of one command at work."""

    def __init__(self, order: Commission, log: AnswerLog, say: Callable[[str], object]) -> None:
        settings = order.settings
        self._order = order
        self._log = log
        self._say = say
        self._budget = Budget(settings.max_requests, settings.max_cost, log.spent)
        self.askers: dict[str, Asker] = {}

    async def make(self, meter: Callable[[int], Meter]) -> Maker:
        """Have all entries made, as far as the budget goes.

        Raises:
            DataError: There is no task of a kind, or an answer cannot be kept.
        """
        order = self._order
        try:
            writer, solver, align = self._writer(), self._solver(), self._align()
            plan = MakingPlan(
                order.tasks,
                writer,
                solver=solver,
                mode=order.settings.mode,
                align=align,
                wanted=order.wanted,
                tries=order.tries,
                trials=order.trials,
                solutions=order.solutions,
                search_calls=order.search_calls,
                wishes=order.wishes,
                provenance=self._provenance(),
            )
            maker = Maker(plan, Sieve(order.own), [*self.askers.values()], meter)
            await maker.make()
        finally:
            for asker in self.askers.values():
                await asker.close()
        return maker

    def _writer(self) -> Write:
        order, how = self._order, self._order.tasks.how
        if isinstance(parsed(order.model), Scripted):
            self._asker("writer", Nobody(), {})
            shares = Shares.named(order.model)
            return _scripted_writer(ScriptedWriter(how.graph, shares, how.seed, order.own))
        questions = WriterQuestions(order.prompts, how.graph)
        return _live_writer(questions, self._connected("writer", order.model))

    def _solver(self) -> Solver | None:
        order = self._order
        if not order.solves:
            return None
        errors = order.errors()
        if errors is not None:
            return scripted_solver(errors, order.tasks.how.seed)
        return live_solver(self._connected("solver", order.solver))

    def _align(self) -> Align | None:
        judging = self._order.judging
        if judging is None:
            return None
        model = judging.model(REPORT)
        asked = {"model": judging.name, "forced": REPORT, "prompts": judging.prompts.sha256}
        return _aligner(judging.judge(), self._asker("judge", model or Nobody(), asked))

    def _connected(self, role: str, name: str) -> Asker:
        with _named("--solver" if role == "solver" else "--model"):
            model = connect(name, self._order.settings.request_options())
        return self._asker(role, model, {"model": name})

    def _asker(self, role: str, model: Model, asked: Mapping[str, Any]) -> Asker:
        settings = self._order.settings
        asked = {**asked, **settings.of_requests()}
        server = asked["base_url"]
        asker = Asker(
            model,
            # The same server may have another port when the command goes on.
            {**asked, "base_url": server and [*server_meant(server)]},
            limits=limits_of(settings)._replace(waits_for_server=False),
            log=self._log,
            replies=self._replies(asked),
            budget=self._budget,
            say=self._say,
        )
        self.askers[role] = asker
        return asker

    def _replies(self, asked: Mapping[str, Any]) -> ReplyCache | None:
        folder = self._order.settings.reply_cache
        if folder is None:
            return None
        place = Path(folder) if folder else replies_folder()
        return ReplyCache(place, asked, self._order.secrets)

    def _provenance(self) -> dict[str, str]:
        order, how = self._order, self._order.tasks.how
        told = {
            "source": "generated",
            "author": f"turnwise generate, {order.model}",
            "generator": order.model,
            "from": how.origin,
            "seed": str(how.seed),
        }
        if not isinstance(parsed(order.model), Scripted):
            told["prompts"] = order.prompts.sha256
        return told | ({"solver": order.solver} if order.solves else {})


class CommissionGuess:
    """What a command would ask, where every answer is kept."""

    def __init__(self, order: Commission) -> None:
        self._asked: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for kind, wanted in order.wanted.items():
            for number in range(wanted):
                self._add(order, order.tasks.draw(kind, number, order.wishes))
        self._walks = sum(n for (_, why), n in order.tasks.drawn.items() if not why)

    def _add(self, order: Commission, task: WritingTask) -> None:
        turns, calls = len(task.bare.turns), len(task.steps)
        if not isinstance(parsed(order.model), Scripted):
            request = WriterQuestions(order.prompts, order.tasks.how.graph).ask(task)
            characters = sum(len(str(message["content"])) for message in request.messages)
            prompt = characters // CHARACTERS_PER_TOKEN
            self._asked["writer"].update(requests=1, prompt=prompt, completion=turns * _PER_TURN)
        if order.solves and not isinstance(parsed(order.solver), Scripted):
            times = order.trials
            times += order.solutions if order.tasks.how.origin == "functions" else 0
            requests = times * (turns + calls)
            prompt, completion = requests * _TOKENS_OF_PLAY, requests * _PER_CALL
            self._asked["solver"].update(requests=requests, prompt=prompt, completion=completion)
        if order.judging is not None and order.judging.is_live:
            votes = _VOTES // 2 + 1
            prompt, completion = votes * _TOKENS_OF_PLAY, votes * turns * _PER_TURN
            self._asked["judge"].update(requests=votes, prompt=prompt, completion=completion)

    def lines(self, order: Commission) -> Iterator[str]:
        """Yield what would be asked of whom, and about what it costs."""
        entries = sum(order.wanted.values())
        yield f"{entries} entries wanted; {self._walks} walks drawn for as many tasks"
        names = {"writer": order.model, "solver": order.solver, "judge": order.judge or ""}
        for role, asked in self._asked.items():
            price = price_of(names[role], order.settings.request_options())
            cost = price and price.of(Usage(asked["prompt"], asked["completion"]))
            dollars = "" if cost is None else f", about ${cost:.2f}"
            yield (
                f"{role} {names[role]}: {asked['requests']} requests, about {asked['prompt']} "
                f"tokens in and {asked['completion']} out{dollars}"
            )
        if not self._asked:
            yield "nobody is asked: all of them are scripted"
        else:
            yield "where every answer is kept; what is refused is asked for again"


def _aligner(judge: AnyJudge, asker: Asker) -> Align:
    """Return what has a judge label entries, each played by its own calls."""

    async def align(entry: Trajectory) -> str:
        viewed = probe(dataset_of(entry), entry, STRICT, STEP_LIMIT, _ORACLE, 0)
        if viewed is None or viewed.examined is None:
            return "fail"

        async def ask(request: Request) -> ModelAnswer:
            return await asker.ask((f"{entry.id} judge", request.trial), request)

        exhibit = Exhibit(viewed, viewed.examined, "steps")
        case = EpisodeCase(exhibit, judge, _TERMS, VoteCount(_VOTES))
        votes: list[Vote] = []
        while not case.is_over(votes):
            votes.append(await case.draw(len(votes), ask))
        return case.outcome(votes)

    return align


def _scripted_writer(writer: ScriptedWriter) -> Write:
    async def write(task: WritingTask, attempt: int, _reason: str) -> str:
        await asyncio.sleep(0)
        return writer.answer(task, attempt)

    return write


def _live_writer(questions: WriterQuestions, asker: Asker) -> Write:
    last: dict[str, str] = {}

    async def write(task: WritingTask, attempt: int, reason: str) -> str:
        request = questions.ask(task)
        if attempt:
            request = questions.again(request, last[task.key], reason)
        answer = await asker.ask((f"{task.key} write", attempt), request)
        last[task.key] = answer.reply.text or ""
        return last[task.key]

    return write
