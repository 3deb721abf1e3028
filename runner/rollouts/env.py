"""Rollouts: a trajectory as an environment that a training loop or a search steps.

``RolloutEnv`` follows the step interface of Gymnasium: ``reset`` gives an observation, ``step``
takes what the model said and gives observation, reward, terminated, truncated and info. It steps
the same machine as a live run, does no I/O and starts no thread.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cache, partial
from typing import Any, Literal, NamedTuple, Self

from checkers.profile import STRICT, Mode, Profile
from checkers.verdict import Verdict
from envs.backend import copy_json
from envs.calls import Call
from envs.errors import ToolError
from envs.registry import backend_class
from envs.tool import bind
from runner import extension
from runner.data.services import FIXTURE_ONLY, connect
from runner.data.wording import Wording, observations_for, wording_of
from runner.episodes.dialogue import Dialogue, Taken
from runner.episodes.episode import STEP_LIMIT
from runner.extension import RunFeature
from runner.models.base import ChatMessage, ModelError, Reply, ToolCall, Usage
from runner.models.conversation import Observe, Style
from runner.models.prompting import PromptTexts, read_prompts
from runner.models.reply import read_completion
from runner.models.settings import Observations
from runner.models.tools import toolbox_of
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.prepare import Prepared, prepare
from trajectories.schema import Trajectory

FORMAT = 1
"""Version of the bytes that ``snapshot`` gives; others are refused."""

Action = str | Mapping[str, Any] | Sequence[Call]
"""What the model does: a text, an assistant message as chat servers have it, or calls; no calls
end the turn."""

_COURSE = ("_dialogue", "_replies", "_passed")
"""What a snapshot stands for."""

RewardName = Literal["verdict", "turns_passed", "progress"]


class Observation(NamedTuple):
    """What the model is shown."""

    messages: tuple[ChatMessage, ...]
    """The chat messages since the last observation, the model's own message left out."""
    tools: Sequence[dict[str, Any]]
    """Functions that may be called now, as chat-completions tools; none for a prompting model."""


class Transition(NamedTuple):
    """What a step led to, in the order of Gymnasium."""

    observation: Observation
    reward: float
    terminated: bool
    """Whether the trajectory is over."""
    truncated: bool
    """Whether the step limit ended it."""
    info: dict[str, Any]
    """JSON: ``turn`` in which the step was, ``calls`` and ``results`` as texts, ``problem`` with an
    unreadable answer or null, ``turns_passed`` so far, ``verdict`` at the end or null."""


class Standing(NamedTuple):
    """How an episode stands, for a reward."""

    turns: int
    """Turns of the trajectory."""
    passed_now: int
    """Turns that passed by this step: 1 or 0."""
    verdict: Verdict | None
    """Once the episode is over."""


REWARDS: Mapping[RewardName, Callable[[Standing], float]] = {
    "verdict": lambda s: float(s.verdict is not None and s.verdict.valid),
    "turns_passed": lambda s: s.verdict.turns_passed / s.turns if s.verdict else 0.0,
    "progress": lambda s: s.passed_now / s.turns,
}
"""Rewards by name: 1 for a passed trajectory at the end; the share of turns passed at the end; that
share in parts, each when a turn passes that no failed one went before."""


@dataclass(eq=False, repr=False)
class RolloutEnv:
    """One trajectory as an environment.

    Args:
        trajectory: What is asked.
        profile: How steps are decoded, executed and judged.
        seed: Seed of the backends' random streams, instead of the trajectory's own. Identifiers
            that a backend draws change with it, so the ground truth must not name any.
        dataset: Where the trajectory is from; needed for BFCL's data only.
        reward: Name of the reward, one of REWARDS.
        mode: How the model calls functions: by tool calls, or in its text.
        step_limit: Steps with calls that a turn may take, or None for no limit.
        observations: Whose texts the model reads where calls are refused; by default BFCL's for
            its data under its profile, else ours.
        extensions: What extensions change, by their names, as a run definition has it, such as
            ``{"compression": {"compress": "1024,ends"}}``.

    Raises:
        DataError: The initial config does not fit the backends, or the ground truth does not work
            under the seed; or the texts that the model shall read are not there.
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

    def __post_init__(self) -> None:
        """Prepare the trajectory and begin it."""
        self._prepared = _prepared(self.trajectory, self.profile, self.seed, self.dataset)
        data = self.dataset or _alone(self.trajectory)
        observations = observations_for(self.observations, data, self.profile)
        self._wording = wording_of(observations, data)
        self._features = [
            extension.named(name).recorded(member, "RolloutEnv")
            for name, member in self.extensions.items()
        ]
        self._begin()

    @property
    def verdict(self) -> Verdict | None:
        """The verdict, once the trajectory is over."""
        return self._dialogue.verdict() if self._dialogue.episode.finished else None

    @property
    def messages(self) -> Sequence[ChatMessage]:
        """The whole chat so far, to be shown to a model; a copy, as observations are."""
        return tuple(copy_json(list(self._dialogue.conversation.messages)))

    def reset(self) -> Observation:
        """Begin the trajectory anew and return what the model is shown first."""
        self._begin()
        return self._observe(self._dialogue.request().messages)

    def step(self, action: Action) -> Transition:
        """Take what the model does.

        Raises:
            ValueError: The trajectory is over, or the action is none.
        """
        if self._dialogue.episode.finished:
            raise ValueError("the trajectory is over: reset the environment")
        return self._take(self._reply(action))

    async def astep(self, action: Action) -> Transition:
        """Step, for callers that await their environments; it never waits."""
        return self.step(action)

    def fork(self) -> Self:
        """Return an independent copy: nothing done to one is seen by the other."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._dialogue = self._dialogue.fork()
        copy._replies = self._replies.copy()
        return copy

    def snapshot(self) -> bytes:
        """Return where the trajectory stands, as bytes for ``restore``.

        They hold what the model did, from which everything else follows, and the hash of the state
        that it led to. Equal courses give equal bytes in every process.
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
        """Go to where a snapshot of this trajectory was taken, in this process or another.

        Raises:
            DataError: It is no snapshot, is of something else, or leads to another state here than
                where it was taken.
        """
        held = _read_snapshot(snapshot)
        restored = self._anew()
        expected = json.loads(restored.snapshot())
        for name in ("format", "trajectory", "profile", "mode", "seed", "start"):
            if held.get(name) != expected[name]:
                here, there = expected[name], held.get(name)
                raise DataError("snapshot", f"{name}: taken with {there!r}, here it is {here!r}")
        try:
            for text, calls in held["replies"]:
                restored._dialogue.request()
                restored._take(_as_reply(text, calls))
        except (AssertionError, IndexError, KeyError, TypeError, ValueError):
            raise DataError("snapshot", "holds replies that do not fit this trajectory") from None
        if json.loads(restored.snapshot()) != held:
            raise DataError("snapshot", "the same replies lead to another state in this version")
        self._dialogue, self._replies = restored._dialogue, restored._replies
        self._passed = restored._passed

    def __getstate__(self) -> dict[str, Any]:
        """Return what makes the environment, and where it stands."""
        made_of = {name: v for name, v in vars(self).items() if name not in _COURSE}
        return {**made_of, "snapshot": self.snapshot()}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Make the environment anew and go to where it stood."""
        snapshot = state["snapshot"]
        self.__dict__.update({name: v for name, v in state.items() if name != "snapshot"})
        self._begin()
        self.restore(snapshot)

    def _begin(self) -> None:
        style = _style(self.trajectory, self._wording, self._features)
        self._dialogue = Dialogue(self._prepared, style, self.mode, self.profile, self.step_limit)
        self._replies = []
        self._passed = 0

    def _anew(self) -> Self:
        """Return another environment of the same kind, at its beginning."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._begin()
        return copy

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
        standing = Standing(len(self.trajectory.turns), passed_now, self.verdict)
        return Transition(
            self._observe(answered[asked + 1 :]),
            REWARDS[self.reward](standing),
            over,
            dialogue.episode.terminated,
            self._info(taken, standing.verdict),
        )

    def _count_passed(self, taken: Taken) -> int:
        """Return 1 if this step ended a turn that passed, and no failed one went before."""
        outcomes = self._dialogue.episode.outcomes
        turn = taken.turn
        if len(outcomes) <= turn or self._passed != turn or self._dialogue.episode.terminated:
            return 0
        self._passed += self._dialogue.passes_so_far
        return self._passed - turn

    def _observe(self, messages: Sequence[ChatMessage]) -> Observation:
        tools = self._dialogue.conversation.tools
        # Copies, for what is given away may be changed, and forks and later episodes share these.
        shown = tuple(copy_json(list(tools.tools))) if tools else ()
        return Observation(tuple(copy_json(list(messages))), shown)

    def _info(self, taken: Taken, verdict: Verdict | None) -> dict[str, Any]:
        return {
            "turn": taken.turn,
            "calls": [str(call) for call in taken.calls],
            "results": [result.observation for result in taken.results],
            "problem": taken.problem,
            "turns_passed": self._passed,
            "verdict": verdict.to_json() if verdict else None,
        }

    def _reply(self, action: Action) -> Reply:
        """Return an action as the reply that a model would have given.

        Raises:
            ValueError: It is no action.
        """
        if isinstance(action, str):
            return _as_reply(action, ())
        if isinstance(action, Mapping):
            try:
                return read_completion({"choices": [{"message": action}]}, 0.0)
            except ModelError as error:
                raise ValueError(f"no assistant message: {error}") from None
        if self.mode == "prompt":
            return _as_reply(f"[{', '.join(map(str, action))}]" if action else "Done.", ())
        tools = self._dialogue.episode.session.tools
        return _as_reply(None, [(None, call.name, _arguments(call, tools)) for call in action])


def _alone(trajectory: Trajectory) -> Dataset:
    """Return a data set of one trajectory."""
    return Dataset(
        "rollout",
        "unknown",
        "",
        {trajectory.id: trajectory},
        connect=partial(connect, reach=FIXTURE_ONLY),
    )


def _prepared(
    trajectory: Trajectory, profile: Profile, seed: int | None, dataset: Dataset | None
) -> Prepared:
    """Return what every episode starts from.

    Raises:
        DataError: The ground truth does not work under the seed.
    """
    data = dataset or _alone(trajectory)
    own = prepare(data, trajectory, profile)
    if seed is None:
        return own
    seeded = prepare(data, _with_seed(trajectory, seed), profile)
    if _successes(seeded) != _successes(own):
        message = f"{trajectory.id}: its ground truth names what is drawn at random"
        raise DataError(f"seed {seed}", message)
    return seeded


def _style(
    trajectory: Trajectory, wording: Wording | None, features: Sequence[RunFeature]
) -> Style:
    """Return how the model is talked to."""
    observe: Observe | None = wording
    for feature in features:
        observe = feature.observe(observe)
    if wording is None:
        return Style(toolbox_of(trajectory), _prompts(), "all", observe=observe)
    toolbox = toolbox_of(trajectory, notes=wording.notes())
    return Style(toolbox, wording.prompts(_prompts()), "all", observe=observe)


def _with_seed(trajectory: Trajectory, seed: int) -> Trajectory:
    seeded = {
        name: {**trajectory.config.get(name, {}), "random_seed": seed}
        for name in trajectory.environments
        if "random_seed" in backend_class(name).Config.__annotations__
    }
    return replace(trajectory, config={**trajectory.config, **seeded})


def _successes(prepared: Prepared) -> list[bool]:
    return [result.ok for outcome in prepared.truth for result in outcome.results]


@cache
def _prompts() -> PromptTexts:
    return read_prompts()


def _as_reply(text: str | None, calls: Sequence[Sequence[Any]]) -> Reply:
    return Reply(text, tuple(ToolCall(*call) for call in calls), None, None, Usage(), 0.0)


def _arguments(call: Call, tools: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by name, as a tool call has them.

    Raises:
        ValueError: A tool call cannot say this.
    """
    if call.nested:
        raise ValueError(f"{call}: a tool call takes no call as an argument; make it first")
    if not call.args:
        return dict(call.kwargs)
    if call.name not in tools:
        raise ValueError(f"{call}: an unknown function takes arguments by name only")
    try:
        return bind(tools[call.name], call.args, call.kwargs)
    except ToolError as error:
        raise ValueError(str(error)) from None


def _read_snapshot(snapshot: bytes) -> dict[str, Any]:
    try:
        held = json.loads(snapshot)
    except (ValueError, RecursionError):
        held = None
    if not isinstance(held, dict) or not isinstance(held.get("replies"), list):
        raise DataError("snapshot", "is none that RolloutEnv.snapshot gave")
    return held
