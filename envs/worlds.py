"""Worlds: state that several backends of a session share and that may change without a call.

A world is a backend. Other backends declare a world in ``uses`` and access it with
``self.world(Inventory)``. Each shared field belongs to the world; in configs, snapshots and
differences, the field is under the world's name. A world may act after each successful call and
between turns. The world's notices report the changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from envs.backend import Backend, NoConfig
from envs.calls import Call
from envs.errors import (
    BackendFault,
    ConfigError,
    ConfigProblem,
    DataError,
    MalformedCall,
    ToolError,
)
from envs.notices import Notice, list_notices
from envs.results import Result
from envs.session import Session
from envs.state import Snapshot
from envs.tool import Tool


class World(Backend):
    """Base class of worlds; a subclass declares fields, and optionally functions."""

    Config = NoConfig
    _notices: Sequence[Notice] = ()

    def _notify(self, notice: Notice) -> None:
        """Store a notice about a change. The runner delivers the notice to its recipient."""
        self._notices = (*self._notices, notice)

    def _settle(self, session: WorldSession, call: Call) -> None:
        """Act after a successful call. Worlds may override this method."""

    def _end_turn(self, session: WorldSession) -> None:
        """Act between two turns. Worlds may override this method."""

    def _find_problems(self, session: WorldSession) -> Iterator[ConfigProblem]:
        """Yield the errors of the world's config in a session. Worlds may override this method."""
        yield from ()


class WorldSession(Session):
    """Session with worlds. A call that is refused or raises an error does not change a world."""

    __slots__ = ()
    has_worlds = True

    def __init__(self, backends: dict[str, Backend], **options: bool) -> None:
        """Link the backends to the worlds that they use.

        Raises ConfigError if the config of a world does not fit the session.
        """
        super().__init__(backends, **options)
        self._link()
        problems = [each for world in self.worlds for each in world._find_problems(self)]
        if problems:
            raise ConfigError(problems)

    @property
    def worlds(self) -> list[World]:
        """Backends of the session that are worlds, in the order of the backends."""
        return [each for each in self.backends.values() if isinstance(each, World)]

    @property
    def notices(self) -> Sequence[Notice]:
        """Notices of all worlds since the session started."""
        return list_notices(self.snapshot())

    def fork(self, *, checks_arguments: bool | None = None) -> Self:
        """Return an independent copy; ``checks_arguments`` is copied unless a value is given."""
        copy = super().fork(checks_arguments=checks_arguments)
        copy._link()
        return copy

    def call(self, call: Call | MalformedCall) -> Result:
        """Execute one call; after a successful call, each world may change the state."""
        with self._undo_if_raised(call) as before:
            result = super().call(call)
            if result.error is None and isinstance(call, Call):
                for world in self.worlds:
                    world._settle(self, result.call or call)
                if self.tools[call.name].writes and self.snapshot() != before:
                    result.changed = True
        return result

    def end_turn(self) -> None:
        """End a turn; each world may then change the state."""
        with self._undo_if_raised("end of turn"):
            for world in self.worlds:
                world._end_turn(self)

    def act(self, what: str, run: Callable[[], object]) -> ToolError | None:
        """Run one action of an event. After a refusal, undo the changes and return the error."""
        before = self.snapshot()
        try:
            run()
        except ToolError as error:
            self._put_back(before)
            return error
        except Exception as error:
            raise BackendFault(what, error) from error
        return None

    @contextmanager
    def _undo_if_raised(self, what: object) -> Iterator[Snapshot]:
        before = self.snapshot()
        try:
            yield before
        except BaseException as error:
            self._put_back(before)
            if isinstance(error, (BackendFault, DataError, KeyboardInterrupt)):
                raise
            raise BackendFault(str(what), error) from error

    def _run(self, tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Result:
        if not tool.writes:
            return super()._run(tool, args, kwargs)
        before = self.snapshot()
        result = super()._run(tool, args, kwargs)
        if result.error is not None and tool.keeps_on_refusal is None:
            self._put_back(before)
            return result
        after = self.snapshot()
        if after == before:
            return result
        if self._unmeasured > 1:
            self._unmeasured -= not result.changed
        elif (refusal := self._overgrown(before.states, after.states)) is not None:
            self._put_back(before)
            return Result.refused(refusal)
        result.changed = True
        return result

    def _link(self) -> None:
        by_class = {type(backend): backend for backend in self.backends.values()}
        for backend in self.backends.values():
            backend._worlds = {kind: by_class[kind] for kind in backend.uses}


World.session_class = WorldSession
