"""Rollout environment: a trajectory with the methods ``reset`` and ``step`` of Gymnasium.

``step`` takes the model's answer and returns observation, reward, terminated, truncated and info.
The environment uses the turn loop of live runs, does no I/O and starts no thread.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cache, partial
from typing import Any, Literal, NamedTuple, Self

from checkers.profile import STRICT, Mode, Profile
from checkers.verdict import Verdict
from envs.calls import Call
from envs.errors import DataError, ToolError, require_type
from envs.registry import backend_class
from envs.state import copy_json
from envs.tool import bind
from runner import extension
from runner.data.api_parameters import require_choice, require_number
from runner.data.bfcl_wording import BfclWording, observations_for, wording_of
from runner.data.web_services import FIXTURE_ONLY, connect
from runner.episodes.dialogue import Dialogue, ExecutedAnswer
from runner.episodes.turn_loop import STEP_LIMIT
from runner.extension import RunFeature
from runner.live.run_settings import Settings
from runner.models.conversation import ConversationSettings
from runner.models.model_types import ChatMessage, ModelError, Reply, ToolCall, Usage
from runner.models.prompting import read_prompts
from runner.models.reply_reader import read_completion
from runner.models.settings import Observations
from runner.models.toolbox import OWN_FOOTNOTES, toolbox_of
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import PreparedTrajectory, prepare
from trajectories.schema import Trajectory

FORMAT = 1
"""Format version of ``snapshot``; other versions are rejected."""

Action = str | Mapping[str, Any] | Sequence[Call]
"""Text, a chat-completions assistant message, or calls. An empty list ends the turn."""

_COURSE = ("_dialogue", "_replies", "_passed", "_shown")
"""Attributes that a snapshot restores."""
_prompts = cache(read_prompts)

RewardName = Literal["verdict", "turns_passed", "progress"]


class Observation(NamedTuple):
    """New messages and available tools."""

    messages: tuple[ChatMessage, ...]
    """Chat messages since the last observation, without the model's messages."""
    tools: Sequence[dict[str, Any]]
    """Available functions as chat-completions tools; empty in ``prompt`` mode. An episode's
    observations share this list until the available functions change."""


class Transition(NamedTuple):
    """Result of a step, in Gymnasium's order."""

    observation: Observation
    reward: float
    terminated: bool
    """Whether the trajectory is over."""
    truncated: bool
    """Whether the step limit ended the trajectory."""
    info: dict[str, Any]
    """JSON object. ``turn``, ``calls`` and ``results`` describe the step. ``turns_passed`` is the
    number of passed turns. ``problem`` is null if the answer is readable. ``verdict`` is null until
    the end.
    """


class ActionError(DataError, ValueError):
    """Error: the environment cannot execute an action."""


class EpisodeStatus(NamedTuple):
    """Status of an episode after a step. The reward is computed from this status."""

    turns: int
    passed_now: int
    """1 if this step passed a turn, else 0."""
    verdict: Verdict | None


REWARDS: Mapping[RewardName, Callable[[EpisodeStatus], float]] = {
    "verdict": lambda s: float(s.verdict is not None and s.verdict.valid),
    "turns_passed": lambda s: s.verdict.turns_passed / s.turns if s.verdict else 0.0,
    "progress": lambda s: s.passed_now / s.turns,
}
"""Rewards by name. At the end, ``verdict`` is 1 if the trajectory passed, and ``turns_passed`` is
the share of turns before the first failure. After each passed turn, ``progress`` is 1 / turns.
"""


@dataclass(eq=False, repr=False)
class RolloutEnv:
    """One trajectory as an environment.

    Raises DataError in three cases: the config does not fit the backends, the ground truth fails
    with this seed, or ``observations`` needs texts that are missing.

    Args:
        seed: Seed of the backends' random streams, in place of the trajectory's seed. The ground
            truth must not contain identifiers that a backend draws at random.
        dataset: Data set of the trajectory; required for BFCL's data only.
        mode: ``fc`` for tool calls, ``prompt`` for calls in text.
        step_limit: Maximum steps with calls per turn, or None.
        observations: Source of the error messages that the model reads. Default: BFCL's messages
            for BFCL's data under the profile ``bfcl``, otherwise Turnwise's.
        extensions: Settings of extensions by name, as in a run definition, such as
            ``{"compression": {"compress": "1024,ends"}}``.
    """

    trajectory: Trajectory
    profile: Profile = STRICT
    seed: int | None = None
    _: KW_ONLY
    dataset: Dataset | None = None
    reward: RewardName = "verdict"
    mode: Mode = "fc"
    step_limit: int | None = STEP_LIMIT
    observations: Observations | None = None
    extensions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    _dialogue: Dialogue = field(init=False)
    _replies: list[Any] = field(init=False)
    _passed: int = field(init=False)
    _shown: tuple[object, Sequence[dict[str, Any]]] = field(init=False)
    """The tools of the last observation, and the caller's copy of these tools."""
    _is_reset: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        """Check the parameters, prepare and start the trajectory."""
        described = "a Trajectory, such as a value of load_dataset().trajectories"
        require_type("trajectory", self.trajectory, Trajectory, described=described)
        if not self.trajectory.turns:
            raise DataError("trajectory", f"{self.trajectory.id} has no turns")
        require_type("profile", self.profile, Profile, described="BFCL or STRICT")
        require_type("seed", self.seed, None, int, described="an integer or None")
        require_type("dataset", self.dataset, None, Dataset, described="a Dataset or None")
        require_choice("reward", self.reward, REWARDS)
        require_choice("mode", self.mode, ("fc", "prompt"))
        require_number("step_limit", self.step_limit, optional=True)
        require_choice("observations", self.observations or "own", ("own", "bfcl"))
        data = self.dataset or single_dataset(self.trajectory)
        self._prepared = _prepare(self.trajectory, self.profile, self.seed, data)
        observations = observations_for(self.observations, data, self.profile)
        self._wording = wording_of(observations, data)
        self._features = extension.make_features(self.extensions, "RolloutEnv")
        self._begin()

    @property
    def verdict(self) -> Verdict | None:
        """The verdict, or None until the trajectory is over."""
        return self._dialogue.verdict() if self._dialogue.episode.finished else None

    @property
    def messages(self) -> Sequence[ChatMessage]:
        """A copy of the whole chat so far."""
        return tuple(copy_json(list(self._dialogue.conversation.messages)))

    def reset(self) -> Observation:
        """Restart the trajectory and return the first observation."""
        self._begin()
        self._is_reset = True
        return self._observe(self._dialogue.request().messages)

    def step(self, action: Action) -> Transition:
        """Execute the model's action.

        Raises ActionError before ``reset``, after the end, and for an invalid action. A bug in a
        backend raises BackendFault and ends the trajectory.
        """
        if not self._is_reset or self._dialogue.episode.finished:
            problem = "is over" if self._is_reset else "is not running"
            raise ActionError("action", f"the trajectory {problem}; call reset()")
        reply, self._is_reset = self._reply(action), False
        transition = self._take(reply)
        self._is_reset = True
        return transition

    async def astep(self, action: Action) -> Transition:
        """Execute the model's action like ``step``; asynchronous code can await this method."""
        return self.step(action)

    def fork(self) -> Self:
        """Return an independent copy."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._dialogue = self._dialogue.fork()
        copy._replies, copy._shown = self._replies.copy(), (None, ())
        return copy

    def snapshot(self) -> bytes:
        """Return bytes for ``restore``: the model's replies and the hash of the resulting state.

        Snapshots after equal replies have equal bytes, also in different processes.
        """
        held = {
            "format": FORMAT,
            "trajectory": self.trajectory.id,
            "profile": self.profile.name,
            "mode": self.mode,
            "seed": self.seed,
            "start": self._prepared.template.snapshot().digest(),
            "replies": self._replies,
            "state": self._dialogue.episode.session.snapshot().digest(),
        }
        return json.dumps(held, separators=(",", ":")).encode()

    def restore(self, snapshot: bytes) -> None:
        """Restore a snapshot of this trajectory, from this or another process.

        Raises DataError if the bytes are not a snapshot, belong to another environment, or lead to
        another state.
        """
        held = _read_snapshot(snapshot)
        restored = self.fork()
        restored._begin()
        expected = json.loads(restored.snapshot())
        for name in ("format", "trajectory", "profile", "mode", "seed", "start"):
            if held.get(name) != expected[name]:
                here, there = expected[name], held.get(name)
                raise DataError("snapshot", f"the snapshot's {name} is {there!r}, not {here!r}")
        try:
            for text, calls in held["replies"]:
                restored._dialogue.request()
                restored._take(_as_reply(text, calls))
        except (AssertionError, IndexError, KeyError, TypeError, ValueError):
            raise DataError("snapshot", "has replies that do not fit this trajectory") from None
        if json.loads(restored.snapshot()) != held:
            raise DataError("snapshot", "the same replies lead to another state in this version")
        self.__dict__ |= {name: vars(restored)[name] for name in _COURSE}
        self._is_reset = True

    def __getstate__(self) -> dict[str, Any]:
        """Return the settings, a data set with only this trajectory, and a snapshot."""
        held = {name: v for name, v in vars(self).items() if name not in _COURSE}
        if self.dataset is not None:
            own = {self.trajectory.id: self.trajectory}
            held["dataset"] = replace(self.dataset, trajectories=own)
        return {**held, "snapshot": self.snapshot()}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore the settings and the snapshot."""
        snapshot = state["snapshot"]
        self.__dict__.update({name: v for name, v in state.items() if name != "snapshot"})
        self._begin()
        self.restore(snapshot)

    def _begin(self) -> None:
        style = _style(self.trajectory, self._wording, self._features)
        self._dialogue = Dialogue(self._prepared, style, self.mode, self.profile, self.step_limit)
        self._replies = []
        self._passed = 0
        self._shown = None, ()

    def _take(self, reply: Reply) -> Transition:
        dialogue = self._dialogue
        asked = len(dialogue.request().messages)
        calls = [[call.id, call.name, call.arguments] for call in reply.tool_calls]
        self._replies.append([reply.text, calls])
        taken = dialogue.take(reply)
        passed_now = self._count_passed(taken)
        over = dialogue.episode.finished
        # The model's own message is the first one after the request.
        answered = dialogue.conversation.messages if over else dialogue.request().messages
        standing = EpisodeStatus(len(self.trajectory.turns), passed_now, self.verdict)
        return Transition(
            self._observe(answered[asked + 1 :]),
            REWARDS[self.reward](standing),
            over,
            dialogue.episode.terminated,
            self._info(taken, standing.verdict),
        )

    def _count_passed(self, taken: ExecutedAnswer) -> int:
        outcomes = self._dialogue.episode.outcomes
        turn = taken.turn
        if len(outcomes) <= turn or self._passed != turn or self._dialogue.episode.terminated:
            return 0
        self._passed += self._dialogue.passes_so_far
        return self._passed - turn

    def _observe(self, messages: Sequence[ChatMessage]) -> Observation:
        tools = self._dialogue.conversation.tools
        if self._shown[0] is not tools:
            # Callers may change them, but forks and later episodes share the originals.
            self._shown = tools, tuple(copy_json(list(tools.tools))) if tools else ()
        return Observation(tuple(copy_json(list(messages))), self._shown[1])

    def _info(self, taken: ExecutedAnswer, verdict: Verdict | None) -> dict[str, Any]:
        return {
            "turn": taken.turn,
            "calls": [str(call) for call in taken.calls],
            "results": [result.observation for result in taken.results],
            "problem": taken.problem,
            "turns_passed": self._passed,
            "verdict": verdict.to_json() if verdict else None,
        }

    def _reply(self, action: Action) -> Reply:
        if isinstance(action, str):
            return _as_reply(action, ())
        if isinstance(action, Mapping) and action.get("role") == "assistant":
            try:
                return read_completion({"choices": [{"message": action}]}, 0.0)
            except ModelError as error:
                raise ActionError("action", f"not an assistant message: {error}") from None
        given = action if isinstance(action, list | tuple) else (action,)
        calls = [each for each in given if isinstance(each, Call) and _is_well_formed(each)]
        if isinstance(action, Call) or len(calls) < len(given):
            expected = "a string, an assistant message or a list of Call; parse_call makes a Call"
            raise ActionError("action", f"must be {expected}, but is {action!r:.60}")
        if self.mode == "prompt":
            return _as_reply(f"[{', '.join(map(str, calls))}]" if calls else "Done.", ())
        tools = self._dialogue.episode.session.tools
        return _as_reply(None, [(None, call.name, _arguments(call, tools)) for call in calls])


def single_dataset(trajectory: Trajectory) -> Dataset:
    """Return a data set of one trajectory."""
    reach = partial(connect, reach=FIXTURE_ONLY)
    return Dataset("rollout", "unknown", "", {trajectory.id: trajectory}, connect=reach)


def _prepare(
    trajectory: Trajectory, profile: Profile, seed: int | None, data: Dataset
) -> PreparedTrajectory:
    own = prepare(data, trajectory, profile)
    if seed is None:
        return own
    seeded = prepare(data, _with_seed(trajectory, seed), profile)
    if _successes(seeded) != _successes(own):
        message = f"{trajectory.id}: its ground truth depends on randomly drawn values"
        raise DataError(f"seed {seed}", message)
    return seeded


def _style(
    trajectory: Trajectory, wording: BfclWording | None, features: Sequence[RunFeature]
) -> ConversationSettings:
    toolbox = toolbox_of(trajectory, notes=wording.notes() if wording else OWN_FOOTNOTES)
    prompts = wording.prompts(_prompts()) if wording else _prompts()
    style = ConversationSettings(toolbox, prompts, "all", observe=wording)
    for feature in features:
        style = style._replace(observe=feature.observe(style.observe))
        style = feature.style(style, Settings())
    return style


def _with_seed(trajectory: Trajectory, seed: int) -> Trajectory:
    seeded = {
        name: {**trajectory.config.get(name, {}), "random_seed": seed}
        for name in trajectory.environments
        if "random_seed" in backend_class(name).Config.__annotations__
    }
    return replace(trajectory, config={**trajectory.config, **seeded})


def _successes(prepared: PreparedTrajectory) -> list[bool]:
    return [result.ok for outcome in prepared.truth for result in outcome.results]


def _is_well_formed(call: Call) -> bool:
    has_arguments = isinstance(call.args, tuple | list) and isinstance(call.kwargs, Mapping)
    return has_arguments and isinstance(call.name, str)


def _as_reply(text: str | None, calls: Sequence[Sequence[Any]]) -> Reply:
    return Reply(text, tuple(ToolCall(*call) for call in calls), None, None, Usage(), 0.0)


def _arguments(call: Call, tools: Mapping[str, Any]) -> dict[str, Any]:
    if call.nested:
        message = "a tool call cannot take a call as an argument; make the inner call first"
        raise ActionError(str(call), message)
    if not call.args:
        return dict(call.kwargs)
    if call.name not in tools:
        raise ActionError(str(call), "pass the arguments of an unknown function by name")
    try:
        return bind(tools[call.name], call.args, call.kwargs)
    except ToolError as error:
        raise ActionError(str(call), str(error)) from None


def _read_snapshot(snapshot: bytes) -> dict[str, Any]:
    try:
        held = json.loads(snapshot)
    except (TypeError, ValueError, RecursionError):
        held = None
    if not isinstance(held, dict) or not isinstance(held.get("replies"), list):
        raise DataError("snapshot", "was not made by RolloutEnv.snapshot")
    return held
