"""Searches over many trajectories, with a live model or one that errs at a set rate.

The latter knows the ground truth, so that what a search is worth can be measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from checkers.profile import Mode, Profile
from envs.calls import Call, parse_call
from envs.tool import bind
from runner.data.wording import Observations, wording_of
from runner.episodes.boundary import fault_of
from runner.episodes.scripted import Made, wrong_call
from runner.live.engine import Engine, Limits, Stopped
from runner.live.loop import Ask
from runner.live.settings import Settings, with_protocol
from runner.models.base import (
    ChatMessage,
    ModelError,
    Reply,
    Request,
    ToolCall,
    Usage,
)
from runner.models.compression import Compression, observing
from runner.models.connect import connect
from runner.models.conversation import Style
from runner.models.prompting import read_prompts
from runner.models.protocols.registry import protocol_named
from runner.models.tools import OWN_FOOTNOTES, toolbox_of
from runner.records.record import EpisodeRecord
from runner.rollouts.search import GIVE_UP, Effort, Propose, SearchLimits, search
from trajectories.dataset import Dataset
from trajectories.prepare import Prepared, prepare
from trajectories.schema import Trajectory

_ATTEMPTS = 8


class Search(NamedTuple):
    """What defines the searches of one command."""

    model: str
    error_rate: float | None
    """Of a scripted model; None for a live one."""
    seed: int
    mode: Mode
    dataset: Dataset
    profile: Profile
    step_limit: int
    max_calls: int
    max_nodes: int
    base_url: str | None
    concurrency: int
    observations: Observations = "own"
    """Whose texts the model reads where calls are refused."""
    compression: Compression | None = None
    """How long results are made short before the model reads them; None for not at all."""
    protocol: str | None = None
    """How functions are shown and calls are written, where not as usual."""

    @property
    def settings(self) -> Settings:
        """How the model is reached and asked.

        Raises:
            DataError: The protocol is none, or needs a server.
        """
        settings = Settings(base_url=self.base_url, mode=self.mode)
        return settings if self.protocol is None else with_protocol(settings, self.protocol)


class Searched(NamedTuple):
    """What became of one trajectory, and what that took."""

    record: EpisodeRecord
    effort: Effort = Effort()

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as one flat JSON object."""
        line, effort = self.record.verdict_line(), self.effort
        if self.record.verdict is None:
            return line
        used = {"model_calls": effort.model_calls, "nodes": effort.nodes}
        return {**line, **used, "undone": effort.given_up}


async def run_searches(
    what: Search, trajectories: Sequence[Trajectory], children: int
) -> list[Searched]:
    """Search every trajectory, with so many children at a node, and return what became of each.

    Raises:
        DataError: The model cannot be used.
    """
    if what.error_rate is None:
        return await _live(what, trajectories, children)
    errors = Errors(what.error_rate)

    def scripted(prepared: Prepared) -> Propose:
        return FallibleModel(prepared, errors, what.seed)

    return [await _one(what, trajectory, children, scripted) for trajectory in trajectories]


async def _live(what: Search, trajectories: Sequence[Trajectory], children: int) -> list[Searched]:
    done: dict[str, Searched] = {}

    async def do(trajectory: Trajectory, ask: Ask) -> Searched:
        async def propose(request: Request) -> Reply:
            return (await ask(request)).reply

        return await _one(what, trajectory, children, lambda _: propose)

    def keep(searched: Searched) -> None:
        done[searched.record.id] = searched

    model = connect(what.model, what.settings.request_options())
    try:
        limits = Limits(concurrency=what.concurrency, attempts=_ATTEMPTS)
        await Engine[Trajectory, Searched](model, limits, Random(0)).run(trajectories, do, keep)
    finally:
        await model.close()
    missing = "was not reached: the model cannot be used"
    return [done.get(t.id) or Searched(EpisodeRecord.of(t, None, missing)) for t in trajectories]


async def _one(
    what: Search,
    trajectory: Trajectory,
    children: int,
    proposer: Callable[[Prepared], Propose],
) -> Searched:
    wording = wording_of(what.observations, what.dataset)
    toolbox = toolbox_of(trajectory, notes=wording.notes() if wording else OWN_FOOTNOTES)
    prompts = read_prompts(nests=what.profile.execution.checks_arguments)
    prompts = wording.prompts(prompts) if wording else prompts
    protocol = protocol_named(what.protocol) if what.protocol else None
    observe = observing(wording, what.compression)
    style = Style(toolbox, prompts, "all", observe=observe, protocol=protocol)
    limits = SearchLimits(children, what.max_calls, what.max_nodes)
    try:
        prepared = prepare(what.dataset, trajectory, what.profile)
        propose = proposer(prepared)
        dialogue, effort = await search(
            prepared, style, what.mode, what.profile, propose, limits, what.step_limit
        )
        return Searched(EpisodeRecord.of(trajectory, dialogue.verdict()), effort)
    except ModelError as error:
        return Searched(EpisodeRecord.of(trajectory, None, str(error)))
    except (Stopped, OSError):  # the run ends, or cannot be kept
        raise
    except Exception as error:
        return Searched(EpisodeRecord.of(trajectory, None, fault_of(error)))


class Errors(NamedTuple):
    """How often the model errs, as shares from 0 to 1."""

    wrong_call: float
    """Of all calls: another value for one argument, or a call that belongs elsewhere."""
    noticed: float = 0.8
    """Of all requests after a wrong call that went through: it sees what it has done."""


class FallibleModel:
    """One trajectory's function-calling model: one call a step, and by its seed always the same.

    A wrong call that is refused it makes right in the next step. One that goes through it can only
    take back by giving the branch up, where it is offered to.
    """

    def __init__(self, prepared: Prepared, errors: Errors, seed: int) -> None:
        tools = prepared.template.tools
        self._truth = [
            [_named(parse_call(text), tools) for text in turn.ground_truth]
            for turn in prepared.trajectory.turns
        ]
        self._errors = errors
        self._random = Random(f"{seed}/{prepared.trajectory.id}")

    async def __call__(self, request: Request) -> Reply:
        """Answer a request."""
        turn, made = _read(request.messages)
        due, mistaken = _progress(self._truth[turn], made)
        can_give_up = request.tools is not None and any(
            tool["function"]["name"] == GIVE_UP for tool in request.tools.tools
        )
        if mistaken and can_give_up and self._random.random() < self._errors.noticed:
            return _calls((GIVE_UP, {"reason": "The last call was wrong."}))
        if due is None:
            return Reply("Done.", (), None, "stop", Usage(), 0.0)
        if self._random.random() < self._errors.wrong_call:
            return _calls(self._wrong(turn, due))
        return _calls(due)

    def _wrong(self, turn: int, due: Made) -> Made:
        elsewhere = [call for t, calls in enumerate(self._truth) if t != turn for call in calls]
        return wrong_call(due, elsewhere, self._random)


def _read(messages: Sequence[ChatMessage]) -> tuple[int, list[tuple[Made, bool]]]:
    """Return the turn, and the calls made in it with whether each went through."""
    turn = 0
    made: list[tuple[Made, bool]] = []
    results = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    for message in messages:
        if message["role"] != "assistant":
            continue
        if not message.get("tool_calls"):
            turn, made = turn + 1, []
        for call in message.get("tool_calls", ()):
            function = call["function"]
            call_made = function["name"], json.loads(function["arguments"])
            made.append((call_made, not _is_error(results[call["id"]])))
    return turn, made


def _progress(truth: Sequence[Made], made: Sequence[tuple[Made, bool]]) -> tuple[Made | None, bool]:
    """Return the call that is due, or None, and whether a wrong one went through."""
    done, mistaken = 0, False
    for call, went_through in made:
        if done < len(truth) and call == truth[done]:
            done += 1
        elif went_through:
            mistaken = True
    return (truth[done] if done < len(truth) else None), mistaken


def _is_error(text: str) -> bool:
    try:
        shown = json.loads(text)
    except ValueError:
        return False
    return isinstance(shown, dict) and "error" in shown


def _calls(*made: Made) -> Reply:
    calls = tuple(ToolCall(None, name, arguments) for name, arguments in made)
    return Reply(None, calls, None, "tool_calls", Usage(), 0.0)


def _named(call: Call, tools: Mapping[str, Any]) -> Made:
    # As the conversation shows it later: tuples, for one, come back as lists.
    arguments = bind(tools[call.name], call.args, call.kwargs)
    return call.name, json.loads(json.dumps(arguments))
