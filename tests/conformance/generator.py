"""Random call scripts: seeded, over all functions, on the initial configs of BFCL's own data.

A script is made by playing it: most arguments name what exists in the session at that moment, so
that calls reach deep states; some are odd, and some calls are no calls at all. The configs are read
at run time, and half of them are changed a little.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from envs.calls import read_call
from envs.errors import SimulatorError
from envs.long_context import LongContextPack
from envs.registry import BACKENDS
from envs.session import Session
from envs.state import copy_json
from envs.tool import Tool
from tests.conformance.sides import Script
from tests.conformance.values import CHAINS, LEADS, ODD, SITUATIONS, World, fitting
from trajectories.schema import Trajectory

CALLS = 24
"""Calls of one script; each is a turn of its own, so that states are compared after every call."""
_SEEDED = ("MessageAPI", "TradingBot", "TravelAPI", "VehicleControlAPI")
_NULLABLE = ("access_token", "budget_limit", "current_user", "token_expires_in")
_NO_CALLS = (
    "",
    "ls(",
    "cd('a'",
    "mkdir(dir_name=)",
    "x = ls()",
    "pwd();pwd()",
    "no_such_function()",
)
_STRINGS = ("", "x", "Open", "Closed", "Zoë ✓", "USR002", "0", "two words", "a\nb\n")


class Generator:
    """Makes scripts without end.

    Args:
        trajectories: Where initial configs and likely argument values are taken from.
        pack: Long-context material.
        seed: Same seed, same scripts (as long as the backends do the same).
    """

    def __init__(
        self, trajectories: Sequence[Trajectory], pack: LongContextPack, seed: int
    ) -> None:
        self._random = Random(seed)
        self._pack = pack
        self._configs = _configs(trajectories)
        self._seen = _seen_arguments(trajectories)
        self._drawn: Counter[str] = Counter()

    def scripts(self, count: int) -> Iterator[Script]:
        """Yield scripts."""
        for number in range(count):
            yield self._script(f"random_{number}")

    def _script(self, name: str) -> Script:
        environments = self._random.sample(list(BACKENDS), self._random.choice((1, 1, 1, 2, 2, 3)))
        config = {name: self._config(name) for name in environments if self._random.random() < 0.97}
        long_context = self._random.random() < 0.3
        script = Script(name, config, environments, long_context, [])
        try:
            pack = self._pack if long_context else None
            session = Session.load(environments, config, pack, tolerant=True)
        except SimulatorError:
            return script
        return script._replace(turns=[[text] for text in self._calls(session)])

    def _config(self, environment: str) -> dict[str, Any]:
        random = self._random
        choices = self._configs[environment]
        config: dict[str, Any] = copy_json(random.choice(choices)) if random.random() < 0.95 else {}
        if random.random() < 0.5:
            for _ in range(random.randint(1, 3)):
                self._mutate(environment, config)
        return config

    def _mutate(self, environment: str, config: dict[str, Any]) -> None:
        random = self._random
        kind = random.randrange(6)
        if kind == 0 and environment in _SEEDED:
            config["random_seed"] = random.randrange(1_000_000)
        elif kind < 3 and environment in SITUATIONS:
            key = random.choice(list(SITUATIONS[environment]))
            config[key] = copy_json(random.choice(SITUATIONS[environment][key]))
        elif kind == 3:
            config.update(
                copy_json(_some_member(random, random.choice(self._configs[environment])))
            )
        elif config:
            self._change_leaf(config)

    def _change_leaf(self, config: dict[str, Any]) -> None:
        random = self._random
        holder: Any = config
        while True:
            key = random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
            value = holder[key]
            if not isinstance(value, (dict, list)) or not value or random.random() < 0.1:
                break
            holder = value
        if isinstance(holder, dict) and key != "root" and random.random() < 0.3:
            del holder[key]
        elif key in _NULLABLE and random.random() < 0.4:
            holder[key] = None
        else:
            holder[key] = self._like(value)

    def _like(self, value: Any) -> Any:
        """Return another value of the same type."""
        random = self._random
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return random.choice((0, 1, -1, value + 1, value * 10, 2))
        if isinstance(value, float):
            return random.choice((0.0, -1.5, value / 10, value * 10, 50.0, int(value)))
        return random.choice(_STRINGS) if isinstance(value, str) and value != "directory" else value

    def _calls(self, session: Session) -> Iterator[str]:
        random = self._random
        chains = [iter(random.choice(CHAINS[name])) for name in session.backends]
        length = random.choice((CALLS // 4, CALLS, CALLS, CALLS * 2))
        for _ in range(length):
            text = self._call(session, self._lead(session, chains))
            yield text
            try:
                session.call(read_call(text))
            except SimulatorError:
                return
        if random.random() < 0.3:
            yield self._nested(session)

    def _lead(self, session: Session, chains: Sequence[Iterator[str]]) -> str | None:
        """Return a function that leads somewhere, or None where any will do."""
        lot = self._random.random()
        if lot < 0.15:
            return self._random.choice(LEADS[self._random.choice(list(session.backends))])
        return next(self._random.choice(chains), None) if lot < 0.5 else None

    def _call(self, session: Session, name: str | None) -> str:
        random = self._random
        if name is None and random.random() < 0.01:
            return random.choice(_NO_CALLS)
        tool = session.tools[name or self._rarely_drawn(session)]
        self._drawn[tool.name] += 1
        arguments = self._arguments(session, tool)
        if random.random() < 0.12:
            self._spoil(arguments)
        if tool.name == "power":
            # BFCL would compute for days.
            arguments = {name: _at_most_10000(value) for name, value in arguments.items()}
        return _written(random, tool.name, arguments)

    def _rarely_drawn(self, session: Session) -> str:
        names = list(session.tools)
        weights = [1 / (10 + self._drawn[name]) for name in names]
        return self._random.choices(names, weights)[0]

    def _arguments(self, session: Session, tool: Tool) -> dict[str, Any]:
        world = World(session, self._random)
        as_seen = self._random.random() < 0.2
        arguments = {}
        for parameter in parameters(tool):
            if parameter.default is not parameter.empty and self._random.random() < 0.4:
                continue
            seen = self._seen.get((tool.name, parameter.name))
            if seen and as_seen:
                arguments[parameter.name] = self._random.choice(seen)
            else:
                arguments[parameter.name] = fitting(world, tool.name, parameter.name)
        return arguments

    def _spoil(self, arguments: dict[str, Any]) -> None:
        random = self._random
        kind = random.randrange(10) if arguments else 0
        if kind == 0:
            arguments[random.choice(("zzz", "file_name", "price"))] = random.choice(ODD)
        elif kind == 1:
            del arguments[random.choice(list(arguments))]
        else:
            name = random.choice(list(arguments))
            arguments[name] = _twisted(random, arguments[name])

    def _nested(self, session: Session) -> str:
        """Return a call that has another one as its argument."""
        outer = session.tools[self._rarely_drawn(session)]
        arguments = self._arguments(session, outer)
        inner = self._call(session, self._rarely_drawn(session))
        if not arguments:
            return inner
        replaced = self._random.choice(list(arguments))
        members = [f"{k}={inner if k == replaced else repr(v)}" for k, v in arguments.items()]
        return f"{outer.name}({', '.join(members)})"


def _configs(trajectories: Sequence[Trajectory]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the different configs of each backend."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {name: {"{}": {}} for name in BACKENDS}
    for trajectory in trajectories:
        for name in trajectory.environments:
            config = trajectory.config.get(name, {})
            if name in found:
                found[name][repr(config)] = config
    return {name: list(configs.values()) for name, configs in found.items()}


def _seen_arguments(trajectories: Sequence[Trajectory]) -> dict[tuple[str, str], list[Any]]:
    """Return the arguments that the ground truth gives, by function and parameter."""
    tools = {name: tool for backend in BACKENDS.values() for name, tool in backend.TOOLS.items()}
    seen: dict[tuple[str, str], dict[str, Any]] = {}
    for trajectory in trajectories:
        for text in (text for turn in trajectory.turns for text in turn.ground_truth):
            call = read_call(text)
            if isinstance(call, Exception) or call.name not in tools or call.nested:
                continue
            names = [parameter.name for parameter in parameters(tools[call.name])]
            for name, value in [*zip(names, call.args, strict=False), *call.kwargs.items()]:
                seen.setdefault((call.name, name), {})[repr(value)] = value
    return {key: list(values.values()) for key, values in seen.items()}


def parameters(tool: Tool) -> list[inspect.Parameter]:
    """Return the parameters of a function as a model sees them."""
    return list(inspect.signature(tool.function).parameters.values())[1:]


def _at_most_10000(value: Any) -> Any:
    return min(value, 10_000) if isinstance(value, int) else value


def _some_member(random: Random, config: Mapping[str, Any]) -> dict[str, Any]:
    if not config:
        return {}
    key = random.choice(list(config))
    return {key: config[key]}


def _twisted(random: Random, value: Any) -> Any:
    """Return a value that is almost the given one, or an odd one."""
    if random.random() < 0.5:
        return random.choice(ODD)
    if isinstance(value, bool):
        return random.choice((int(value), str(value)))
    if isinstance(value, (int, float)):
        return random.choice((str(value), -value, float(value), int(value), bool(value), [value]))
    if isinstance(value, str):
        return random.choice((value.upper(), f" {value}", [value], value[:-1], value * 50))
    if isinstance(value, list):
        return random.choice((tuple(value), value * 2, [], value[:1], [value], str(value)))
    return [value]


def _written(random: Random, name: str, arguments: Mapping[str, Any]) -> str:
    """Write a call; some of the first arguments may go without their names."""
    positional = random.randint(0, len(arguments)) if random.random() < 0.2 else 0
    members = [
        repr(value) if position < positional else f"{parameter}={value!r}"
        for position, (parameter, value) in enumerate(arguments.items())
    ]
    return f"{name}({random.choice((', ', ',', ' , ')).join(members)})"
