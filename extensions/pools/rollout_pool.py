"""Rollout pool: many environments are played or stepped at once, in worker processes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import cycle
from typing import Any, NamedTuple, Self

from envs.errors import DataError, require_type
from extensions.pools.environment_holder import SAME_TOOLS, EnvironmentHolder, Policy, Rollout
from extensions.pools.pool_workers import STARTING, TRIES, PoolWorkers, WorkerLost
from extensions.pools.process_workers import ProcessWorkers
from runner.episodes.judging import ENTRY_TIMEOUT
from runner.rollouts.rollout_env import Action, ActionError, Observation, RolloutEnv, Transition

_Ask = Callable[[int, list[int]], Any]
"""Function that sends a request to a worker, and returns the request's ticket."""

_Taken = Callable[[int, Any], Iterable[Action | None]]
"""Function that returns the actions that an environment executed."""


class _EnvRecipe(NamedTuple):
    """Data for recreating an environment."""

    worker: int
    origin: Any
    """The shared environment in the state before ``actions``."""
    actions: tuple[Action | None, ...] = ()
    """Actions since the environment was added; None means a reset."""


class RolloutPool:
    """Pool that runs many environments in parallel.

    If a worker dies or stalls, its environments are recreated in another worker. If an environment
    kills or stalls every worker, the pool raises an error. The environment keeps its last state.

    Raises DataError if the workers cannot be used.

    Args:
        workers: Number of processes of this machine (default: one per processor), or other workers
            such as those of a Ray cluster.
        patience: Timeout per environment and operation in seconds.
    """

    def __init__(
        self, workers: int | PoolWorkers | None = None, patience: float = ENTRY_TIMEOUT
    ) -> None:
        described = "a number of processes, or workers such as those of a Ray cluster"
        require_type("workers", workers, None, int, PoolWorkers, described=described)
        require_type("patience", patience, int, float, described="a number of seconds")
        if not patience > 0:
            raise DataError("patience", f"must be above 0 seconds, but is {patience}")
        if workers is None or isinstance(workers, int):
            workers = ProcessWorkers(workers)
        self._workers = workers
        self._patience = patience
        self._recipes: dict[int, _EnvRecipe] = {}
        self._tools: dict[int, Sequence[dict[str, Any]]] = {}
        self._turn = cycle(range(self._workers.size))
        self._next = 0
        self._is_closed = False

    def add(self, envs: Sequence[RolloutEnv]) -> list[int]:
        """Add environments in their current state and return their numbers.

        Raises DataError for any other value.
        """
        for env in envs:
            require_type("envs", env, RolloutEnv, described="a RolloutEnv")
        shared = [self._workers.share(env) for env in envs]
        added = [self._number(_EnvRecipe(next(self._turn), env)) for env in shared]
        self._on_each(added, self._hold)
        return added

    def fork(self, ids: Sequence[int]) -> list[int]:
        """Copy the environments ``ids``, and return the numbers of the copies in the same order."""
        self._check(ids)
        copies = {self._number(self._recipes[id]): id for id in ids}
        self._on_each(copies, self._asks(EnvironmentHolder.fork, copies))
        return list(copies)

    def reset(self, ids: Collection[int]) -> dict[int, Observation]:
        """Reset environments and return their first observations."""
        shown = self._on_each(
            ids,
            lambda number, some: self._workers.ask(number, EnvironmentHolder.reset, some),
            lambda _id, _shown: (None,),
        )
        self._tools |= {id: each.tools for id, each in shown.items()}
        return shown

    def step(self, actions: Mapping[int, Action]) -> dict[int, Transition]:
        """Execute an action in each environment; the keys of ``actions`` are environment numbers.

        Raises:
            ValueError: An environment is finished, an action is invalid, a backend has a bug, or no
                worker is left. The other environments still execute their actions.
        """
        return self._on_each(
            actions,
            self._asks(EnvironmentHolder.step, actions),
            lambda id, _transition: (actions[id],),
            self._with_tools,
        )

    def play(self, policies: Mapping[int, Policy]) -> dict[int, Rollout]:
        """Play a copy of each environment from a reset to the end; keys are environment numbers.

        Each policy runs in the worker of its environment, so no step waits for another process. The
        environments keep their states.

        Raises:
            ValueError: A policy fails or cannot be sent to a worker, an action is invalid, a
                backend has a bug, or no worker is left. The other environments are still played.
        """
        return self._on_each(policies, self._asks(EnvironmentHolder.play, policies))

    def drop(self, ids: Collection[int]) -> None:
        """Remove environments."""
        self._on_each(
            ids, lambda number, some: self._workers.ask(number, EnvironmentHolder.drop, some)
        )
        for id in ids:
            del self._recipes[id]
            self._tools.pop(id, None)

    def close(self) -> None:
        """End the processes."""
        self._is_closed = True
        self._workers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _number(self, recipe: _EnvRecipe) -> int:
        number = self._next
        self._next += 1
        self._recipes[number] = recipe
        return number

    def _note(self, id: int, actions: Iterable[Action | None]) -> None:
        recipe = self._recipes[id]
        noted = [*recipe.actions]
        for action in actions:
            if action is None:
                # A reset discards all earlier actions.
                noted.clear()
            noted.append(action)
        self._recipes[id] = recipe._replace(actions=tuple(noted))

    def _with_tools(self, id: int, taken: Transition) -> Transition:
        shown = taken.observation
        if shown.tools is SAME_TOOLS:
            return taken._replace(observation=shown._replace(tools=self._tools[id]))
        self._tools[id] = shown.tools
        return taken

    def _asks(self, method: Callable[..., Any], given: Mapping[int, Any]) -> _Ask:
        return lambda number, ids: self._workers.ask(number, method, {id: given[id] for id in ids})

    def _check(self, ids: Iterable[int]) -> None:
        if self._is_closed:
            raise ActionError("pool", "is closed; make another one")
        for id in ids:
            if id not in self._recipes:
                raise ActionError(
                    "ids",
                    f"no environment has the number {id!r:.60}; use a number that `add` returned",
                )

    def _on_each(
        self,
        ids: Collection[int],
        ask: _Ask,
        taken: _Taken = lambda _id, _result: (),
        read: Callable[[int, Any], Any] = lambda _id, result: result,
    ) -> dict[int, Any]:
        """Ask all workers in parallel and merge their results.

        Raises ValueError if an environment has an error. Other environments are still processed.
        """
        self._check(ids)
        parts: dict[int, list[int]] = defaultdict(list)
        for id in ids:
            parts[self._recipes[id].worker].append(id)
        tickets = {number: _ticket(ask, number, some) for number, some in parts.items()}
        returned: dict[int, Any] = {}
        for number, ticket in tickets.items():
            for results in self._results(number, ticket, ask, parts[number]):
                for id, result in results.items():
                    if isinstance(result, ValueError):
                        returned[id] = result
                        continue
                    # Noted at once, because a replacement worker repeats the actions.
                    self._note(id, taken(id, result))
                    returned[id] = read(id, result)
        for value in returned.values():
            if isinstance(value, ValueError):
                raise value
        return {id: returned[id] for id in ids}

    def _results(
        self, number: int, ticket: Any, ask: _Ask, ids: list[int]
    ) -> Iterator[dict[int, Any]]:
        """Yield the results of a worker or its replacements.

        If a request for several environments keeps failing, each environment gets its own request.
        """
        tries = TRIES if len(ids) == 1 else TRIES // 2
        failure = ValueError("every worker that held the environment was killed or stalled")
        for left in reversed(range(tries)):
            if isinstance(ticket, ValueError):
                failure = ticket
                break
            try:
                yield self._workers.answer(number, ticket, self._patience * len(ids))
                return
            except WorkerLost:
                self._replace(number)
            except ValueError as error:
                # Some environments of the request may already have executed their actions.
                self._replace(number)
                failure = error
                break
            if left:
                ticket = _ticket(ask, number, ids)
        if len(ids) == 1:
            yield {ids[0]: ValueError(f"environment {ids[0]}: {failure}")}
            return
        for id in ids:
            yield from self._results(number, _ticket(ask, number, [id]), ask, [id])

    def _replace(self, number: int) -> None:
        self._workers.replace(number)
        held = [id for id, recipe in self._recipes.items() if recipe.worker == number]
        ticket = self._hold(number, held)
        # The start-up time does not count towards the timeout of a request.
        with suppress(WorkerLost):
            self._workers.answer(number, ticket, STARTING + self._patience * len(held))

    def _hold(self, number: int, ids: Sequence[int]) -> Any:
        """Ask a worker to recreate environments.

        Ray requires a separate argument for each origin.
        """
        recipes = [self._recipes[id] for id in ids]
        actions = {id: recipe.actions for id, recipe in zip(ids, recipes, strict=True)}
        return self._workers.ask(
            number, EnvironmentHolder.hold, actions, *[recipe.origin for recipe in recipes]
        )


def _ticket(ask: _Ask, number: int, ids: list[int]) -> Any:
    """Return the ticket of a request, or the error if the request cannot be sent."""
    try:
        return ask(number, ids)
    except ValueError as error:
        return error
