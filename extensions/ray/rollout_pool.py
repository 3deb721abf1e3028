"""Rollout pool: environments are stepped in batches, in a cluster's worker processes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import cycle
from typing import Any, NamedTuple, Self

from envs.errors import BackendFault
from extensions.ray.cluster import STARTING, TRIES, Cluster, connected, library
from runner.episodes.judging_limits import ENTRY_TIMEOUT
from runner.rollouts.rollout_env import (
    Action,
    ActionError,
    Observation,
    RolloutEnv,
    Transition,
)

_Call = Callable[[Any, list[int]], Any]
"""Function with two parameters: a worker, and the indices of the worker's environments."""


class _EnvRecipe(NamedTuple):
    """Data from which an environment is recreated."""

    worker: int
    origin: Any
    """Ray reference to the environment in the state before ``actions``."""
    actions: tuple[Action | None, ...] = ()
    """Actions since the environment was added; None stands for a reset."""


class RolloutPool:
    """Pool that steps many environments at once, on several processors or machines.

    If a worker dies or stalls, its environments are recreated in another worker. If an environment
    kills or stalls every worker, an error is raised, and the environment keeps its last state.

    Raises DataError if the cluster cannot be used.

    Args:
        cluster: Cluster to connect to, unless the program is already connected.
        patience: Timeout per environment and operation in seconds.
    """

    def __init__(self, cluster: Cluster, patience: float = ENTRY_TIMEOUT) -> None:
        self._opened = ExitStack()
        size = self._opened.enter_context(connected(cluster))
        self._ray = library()
        self._patience = patience
        self._courses: dict[int, _EnvRecipe] = {}
        self._workers = [self._new_worker() for _ in range(size)]
        self._turn = cycle(range(size))
        self._next = 0

    def add(self, envs: Sequence[RolloutEnv]) -> list[int]:
        """Add environments in their current state and return their numbers."""
        added = [self._number(_EnvRecipe(next(self._turn), self._ray.put(env))) for env in envs]
        self._on_each(added, lambda worker, ids: worker.hold.remote(*self._origins(ids)))
        return added

    def fork(self, ids: Sequence[int]) -> list[int]:
        """Copy the environments ``ids``, and return the numbers of the copies in the same order."""
        copies = {self._number(self._courses[id]): id for id in ids}
        self._on_each(copies, lambda worker, new: worker.fork.remote({n: copies[n] for n in new}))
        return list(copies)

    def reset(self, ids: Collection[int]) -> dict[int, Observation]:
        """Reset environments and return their first observations."""
        return self._on_each(
            ids, lambda worker, some: worker.reset.remote(some), dict.fromkeys(ids)
        )

    def step(self, actions: Mapping[int, Action]) -> dict[int, Transition]:
        """Execute an action in each environment; the keys of ``actions`` are environment numbers.

        Raises ValueError if an environment is finished, an action is invalid, a backend has a bug,
        or all workers were lost. The other environments still execute their actions.
        """
        return self._on_each(
            actions,
            lambda worker, ids: worker.step.remote({id: actions[id] for id in ids}),
            actions,
        )

    def drop(self, ids: Collection[int]) -> None:
        """Remove environments."""
        self._on_each(ids, lambda worker, some: worker.drop.remote(some))
        for id in ids:
            del self._courses[id]

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            self._ray.kill(worker)
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _number(self, course: _EnvRecipe) -> int:
        number = self._next
        self._next += 1
        self._courses[number] = course
        return number

    def _note(self, id: int, action: Action | None) -> None:
        course = self._courses[id]
        # A reset discards all earlier actions.
        before = () if action is None else course.actions
        self._courses[id] = course._replace(actions=(*before, action))

    def _on_each(
        self,
        ids: Collection[int],
        call: _Call,
        actions: Mapping[int, Action | None] | None = None,
    ) -> dict[int, Any]:
        """Run a call on all workers in parallel and merge their results.

        Raises ValueError if the call failed for an environment. Other environments are still
        processed.
        """
        for id in ids:
            if id not in self._courses:
                raise ActionError(
                    "ids",
                    f"no environment has the number {id!r:.60}; use a number that `add` returned",
                )
        parts: dict[int, list[int]] = defaultdict(list)
        for id in ids:
            parts[self._courses[id].worker].append(id)
        begun = {number: call(self._workers[number], some) for number, some in parts.items()}
        returned: dict[int, Any] = {}
        for number, result in begun.items():
            for done in self._results(number, result, call, parts[number]):
                # Noted at once, because a replacement worker replays the actions.
                for id, value in done.items():
                    if actions is not None and not isinstance(value, ValueError):
                        self._note(id, actions[id])
                returned |= done
        for value in returned.values():
            if isinstance(value, ValueError):
                raise value
        return {id: returned[id] for id in ids}

    def _results(
        self, number: int, result: Any, call: _Call, ids: list[int]
    ) -> Iterator[dict[int, Any]]:
        """Yield the results of a worker or its replacements.

        If a request for several environments fails repeatedly, each environment gets a request.
        """
        tries = TRIES if len(ids) == 1 else TRIES // 2
        for left in reversed(range(tries)):
            try:
                yield self._ray.get(result, timeout=self._patience * len(ids))
                return
            except (self._ray.exceptions.RayActorError, self._ray.exceptions.GetTimeoutError):
                self._ray.kill(self._workers[number])
                self._workers[number] = self._worker_with(number)
                if left:
                    result = call(self._workers[number], ids)
        if len(ids) == 1:
            message = "every worker that held the environment was killed or stalled"
            yield {ids[0]: ValueError(f"environment {ids[0]}: {message}")}
            return
        for id in ids:
            yield from self._results(number, call(self._workers[number], [id]), call, [id])

    def _worker_with(self, number: int) -> Any:
        worker = self._new_worker()
        had = [id for id, course in self._courses.items() if course.worker == number]
        begun = worker.hold.remote(*self._origins(had))
        # The start-up time does not count towards the timeout.
        self._ray.wait([begun], timeout=STARTING + self._patience * len(had))
        return worker

    def _origins(self, ids: Sequence[int]) -> tuple[Any, ...]:
        """Return the arguments for ``hold``; Ray resolves only references that are arguments."""
        courses = {id: self._courses[id] for id in ids}
        actions = {id: course.actions for id, course in courses.items()}
        return actions, *[course.origin for course in courses.values()]

    def _new_worker(self) -> Any:
        return self._ray.remote(_EnvHolder).options(scheduling_strategy="SPREAD").remote()


class _EnvHolder:
    """Worker that holds environments."""

    def __init__(self) -> None:
        self._envs: dict[int, RolloutEnv] = {}

    def hold(self, actions: Mapping[int, Sequence[Action | None]], *origins: RolloutEnv) -> Any:
        for (id, some), origin in zip(actions.items(), origins, strict=True):
            # Several may have the same origin.
            env = self._envs[id] = origin.fork()
            for action in some:
                if action is None:
                    env.reset()
                else:
                    env.step(action)
        return dict.fromkeys(actions)

    def fork(self, copies: Mapping[int, int]) -> dict[int, None]:
        self._envs |= {new: self._envs[id].fork() for new, id in copies.items()}
        return dict.fromkeys(copies)

    def reset(self, ids: Collection[int]) -> dict[int, Observation]:
        return {id: self._envs[id].reset() for id in ids}

    def step(self, actions: Mapping[int, Action]) -> dict[int, Transition | ValueError]:
        return {id: self._step(id, action) for id, action in actions.items()}

    def drop(self, ids: Collection[int]) -> dict[int, None]:
        for id in ids:
            self._envs.pop(id, None)
        return dict.fromkeys(ids)

    def _step(self, id: int, action: Action) -> Transition | ValueError:
        try:
            return self._envs[id].step(action)
        except ValueError as error:
            return error
        except BackendFault as fault:
            return ValueError(f"environment {id}: {fault}")
