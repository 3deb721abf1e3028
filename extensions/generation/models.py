"""Generation models: they write, solve and judge entries within one budget."""

from __future__ import annotations

import asyncio
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from checkers.profile import STRICT
from envs.errors import DataError
from extensions.generation.answers import AnswerLog, CachedModel
from extensions.generation.entries.filters import FilterChain
from extensions.generation.entries.tasks import WritingTask, make_dataset
from extensions.generation.entry_making import Align, EntryMaker, EntryModels, MakingPlan, Write
from extensions.generation.scripted import ScriptedWriter, WriterErrorRates
from extensions.generation.solver import Solver, make_live_solver, make_scripted_solver
from extensions.generation.writer_questions import WriterPrompts, WriterQuestions
from extensions.judges.judge_questions import REPORT, read_judge_prompts
from extensions.judges.judge_setting import JudgeSetting, check_name, report_as
from extensions.judges.judged_episode import JudgedEpisode, LabelOptions
from extensions.judges.probes import make_probe
from extensions.judges.vote_collection import EpisodeCase, ModelPlaceholder, VoteCount
from extensions.judges.votes import Vote
from extensions.search.fallible_model import ErrorRates
from runner.episodes.scripted_models import ScriptedBehaviour
from runner.episodes.turn_loop import STEP_LIMIT
from runner.live.budget import Budget
from runner.live.episode_player import ModelAnswer
from runner.live.progress_display import ProgressDisplay
from runner.live.run_control import limits_of, open_replies, secrets_of
from runner.models.model_connection import connect, price_of
from runner.models.model_name import LiveName, ModelName
from runner.models.model_types import CHARACTERS_PER_TOKEN, Model, Request, Usage
from runner.records.run_file_mask import SecretMask
from runner.records.run_store import server_meant
from trajectories.schema import Trajectory

_PER_TURN, _PER_CALL = 90, 40
"""Estimated completion tokens."""
_TOKENS_OF_PLAY = 4000
"""Approximate prompt tokens of a solver's request."""
_VOTES = 5
"""Maximum votes on an entry."""
_TERMS = LabelOptions("paper", "judged", "episode")
_ORACLE = 0
"""Index of the oracle among the kinds of probes."""


@dataclass(frozen=True)
class GenerationOrder(MakingPlan):
    """Plan for generating entries, with the names of writer, solver and judge models."""

    model: ModelName
    solver: ModelName
    judge: ModelName | None
    prompts: WriterPrompts
    own: Sequence[Trajectory]
    """New entries must not repeat the questions of these entries."""

    @property
    def solves(self) -> bool:
        """Whether a solver model is needed, to solve entries or to search for calls."""
        return bool(self.trials) or self.tasks.how.origin == "functions"

    @property
    def live(self) -> list[ModelName]:
        """Distinct models that receive requests."""
        names = [self.model, *([self.solver] if self.solves else []), self.judge]
        return list(dict.fromkeys([n for n in names if n and not n.is_scripted]))

    @cached_property
    def secrets(self) -> SecretMask:
        """Secrets to mask in files."""
        found = [text for n in self.live for text in secrets_of(n, self.settings, os.environ)]
        return SecretMask(list(dict.fromkeys(found)))

    @cached_property
    def judging(self) -> JudgeSetting | None:
        """Settings of the judge model; None if the command uses no judge model."""
        if self.judge is None:
            return None
        seed = self.tasks.how.seed
        return JudgeSetting(self.judge, self.settings, read_judge_prompts(), "steps", seed)

    def check(self) -> None:
        """Check the models before any request.

        Raises:
            DataError: A model does not exist, or cannot be reached with these settings.
        """
        for option, name, task in (
            ("--model", self.model, "write"),
            ("--solver", self.solver, "solve"),
        ):
            check_name(name, option, task)
            with report_as(option):
                name.check(self.settings.base_url)
        if self.model.is_scripted:
            WriterErrorRates.named(self.model)
        with report_as("--solver"):
            self.errors()
        if self.judging is not None:
            self.judging.check()
        scripted = self.solver.is_scripted
        live = not self.model.is_scripted
        if self.tasks.how.origin == "functions" and scripted and live:
            message = "a scripted solver cannot solve requests that a live model has written"
            raise DataError("--solver", f"{message}; name a live model")
        asyncio.run(self._check_connections())

    async def _check_connections(self) -> None:
        options = self.settings.request_options()
        roles = {"--model": self.model, **({"--solver": self.solver} if self.solves else {})}
        for option, name in roles.items():
            if not name.is_scripted:
                with report_as(option):
                    model = connect(name, options)
                await model.close()

    def errors(self) -> ErrorRates | None:
        """Return the error rates of a scripted solver; None if the solver is live."""
        if not self.solver.is_scripted:
            return None
        return ErrorRates(ScriptedBehaviour.named(self.solver, policies=False).error_rate)


class GenerationModels:
    """The models of a ``generate`` command, with a common log of answers and a common budget."""

    def __init__(
        self, order: GenerationOrder, log: AnswerLog, say: Callable[[str], object]
    ) -> None:
        settings = order.settings
        self._order = order
        self._log = log
        self._say = say
        self._budget = Budget(settings.max_requests, settings.max_cost, log.spent)
        self.askers: dict[str, CachedModel] = {}

    async def make(self, meter: Callable[[int], ProgressDisplay]) -> EntryMaker:
        """Make all entries within the budget.

        Raises DataError if a kind has no suitable task, or an answer cannot be written.
        """
        order = self._order
        try:
            models = EntryModels(
                self._make_writer(),
                self._make_solver(),
                self._make_aligner(),
                self._make_provenance(),
            )
            askers = [*self.askers.values()]
            maker = EntryMaker(order, models, FilterChain(order.own), askers, meter)
            await maker.make()
        finally:
            for asker in self.askers.values():
                await asker.close()
        return maker

    def _make_writer(self) -> Write:
        order, how = self._order, self._order.tasks.how
        if order.model.is_scripted:
            self._add_asker("writer", ModelPlaceholder(), {})
            shares = WriterErrorRates.named(order.model)
            return _make_scripted_writer(ScriptedWriter(how.graph, shares, how.seed, order.own))
        questions = WriterQuestions(order.prompts, how.graph)
        return _make_live_writer(questions, self._connect("writer", order.model))

    def _make_solver(self) -> Solver | None:
        order = self._order
        if not order.solves:
            return None
        errors = order.errors()
        if errors is not None:
            return make_scripted_solver(errors, order.tasks.how.seed)
        return make_live_solver(self._connect("solver", order.solver))

    def _make_aligner(self) -> Align | None:
        judging = self._order.judging
        if judging is None:
            return None
        asked = {"model": judging.name, "forced": REPORT, "prompts": judging.prompts.sha256}
        asker = self._add_asker("judge", judging.model(REPORT) or ModelPlaceholder(), asked)
        judge = judging.judge()

        async def align(entry: Trajectory) -> str:
            viewed = make_probe(make_dataset(entry), entry, STRICT, STEP_LIMIT, _ORACLE, 0)
            if viewed is None or viewed.examined is None:
                return "fail"

            async def ask(request: Request) -> ModelAnswer:
                return await asker.ask((f"{entry.id} judge", request.trial), request)

            exhibit = JudgedEpisode(viewed, viewed.examined, "steps")
            case = EpisodeCase(exhibit, judge, _TERMS, VoteCount(_VOTES))
            votes: list[Vote] = []
            while not case.is_over(votes):
                votes.append(await case.draw(len(votes), ask))
            return case.outcome(votes)

        return align

    def _connect(self, role: str, name: ModelName) -> CachedModel:
        with report_as("--solver" if role == "solver" else "--model"):
            model = connect(name, self._order.settings.request_options())
        return self._add_asker(role, model, {"model": name})

    def _add_asker(self, role: str, model: Model, asked: Mapping[str, Any]) -> CachedModel:
        settings = self._order.settings
        asked = {**asked, **settings.of_requests()}
        server = asked["base_url"]
        asker = CachedModel(
            model,
            # The same server may have another port when the command resumes.
            {**asked, "base_url": server and [*server_meant(server)]},
            limits=limits_of(settings)._replace(waits_for_server=False),
            log=self._log,
            replies=open_replies(settings, asked, self._order.secrets),
            budget=self._budget,
            say=self._say,
        )
        self.askers[role] = asker
        return asker

    def _make_provenance(self) -> dict[str, str]:
        order, how = self._order, self._order.tasks.how
        provenance = {
            "source": "generated",
            "author": f"turnwise generate, {order.model}",
            "generator": order.model,
            "from": how.origin,
            "seed": str(how.seed),
        }
        if not order.model.is_scripted:
            provenance["prompts"] = order.prompts.sha256
        return provenance | ({"solver": order.solver} if order.solves else {})


class GenerationEstimate:
    """Estimated requests and tokens, if every answer passes all checks."""

    def __init__(self, order: GenerationOrder) -> None:
        self._asked: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for kind, wanted in order.wanted.items():
            for number in range(wanted):
                self._add(order, order.tasks.draw(kind, number, order.wishes))
        self._walks = sum(n for (_, why), n in order.tasks.drawn.items() if not why)

    def _add(self, order: GenerationOrder, task: WritingTask) -> None:
        turns, calls = len(task.bare.turns), len(task.steps)
        if not order.model.is_scripted:
            request = WriterQuestions(order.prompts, order.tasks.how.graph).ask(task)
            characters = sum(len(str(message["content"])) for message in request.messages)
            prompt = characters // CHARACTERS_PER_TOKEN
            self._asked["writer"].update(requests=1, prompt=prompt, completion=turns * _PER_TURN)
        if order.solves and not order.solver.is_scripted:
            times = order.trials
            times += order.solutions if order.tasks.how.origin == "functions" else 0
            requests = times * (turns + calls)
            prompt, completion = requests * _TOKENS_OF_PLAY, requests * _PER_CALL
            self._asked["solver"].update(requests=requests, prompt=prompt, completion=completion)
        if order.judging is not None and order.judging.is_live:
            votes = _VOTES // 2 + 1
            prompt, completion = votes * _TOKENS_OF_PLAY, votes * turns * _PER_TURN
            self._asked["judge"].update(requests=votes, prompt=prompt, completion=completion)

    def lines(self, order: GenerationOrder) -> Iterator[str]:
        """Yield requests, tokens and cost of each model."""
        entries = sum(order.wanted.values())
        yield f"{entries} entries requested, from {self._walks} random walks"
        names = {
            "writer": order.model,
            "solver": order.solver,
            "judge": order.judge or LiveName(""),
        }
        for role, asked in self._asked.items():
            price = price_of(names[role], order.settings.request_options())
            cost = price and price.of(Usage(asked["prompt"], asked["completion"]))
            dollars = "" if cost is None else f", ${cost:.2f}"
            yield (
                f"{role} {names[role]}: about {asked['requests']} requests, {asked['prompt']} "
                f"prompt tokens, {asked['completion']} completion tokens{dollars}"
            )
        if not self._asked:
            yield "no requests: all models are scripted"
        else:
            yield "the estimate does not include requests after a rejected answer"


def _make_scripted_writer(writer: ScriptedWriter) -> Write:
    async def write(task: WritingTask, attempt: int, _reason: str) -> str:
        await asyncio.sleep(0)
        return writer.answer(task, attempt)

    return write


def _make_live_writer(questions: WriterQuestions, asker: CachedModel) -> Write:
    last: dict[str, str] = {}

    async def write(task: WritingTask, attempt: int, reason: str) -> str:
        request = questions.ask(task)
        if attempt:
            request = questions.again(request, last[task.key], reason)
        answer = await asker.ask((f"{task.key} write", attempt), request)
        last[task.key] = answer.reply.text or ""
        return last[task.key]

    return write
