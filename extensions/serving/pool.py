"""The sessions that are served, one for each client, all forked from one template.

A session outlives its client, so that whoever runs the client can still read the state it led to,
until the place is needed or the session has been idle for too long. Nothing here knows a protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from envs.calls import Call
from envs.errors import MalformedCall
from envs.results import Result
from envs.session import Session
from envs.state import Snapshot
from runner.models.conversation import Observe

MAX_SNAPSHOTS = 1_000
"""Snapshots that are kept of one session."""


class NoSession(Exception):
    """There is no session of a name, or no snapshot of a number."""


class PoolFull(Exception):
    """There may be no further session, or no further snapshot of one."""


@dataclass
class Served:
    """One client's session.

    Attributes:
        session: Its own.
        used: When it was last asked for, in seconds of the pool's clock.
        calls: How many calls were made.
        ended: Whether its client has said that it is done.
        snapshots: What was kept, by number.
        observe: Says what the client reads of a call; None for results as they are.
    """

    session: Session
    used: float
    calls: int = 0
    ended: bool = False
    snapshots: list[Snapshot] = field(default_factory=list)
    observe: Observe | None = None

    def call(self, call: Call | MalformedCall) -> Result:
        """Make a call; it raises what the session raises."""
        self.calls += 1
        result = self.session.call(call)
        result.shown = self.observe and self.observe(self.session, call, result)
        return result


class SessionPool:
    """Sessions by name, not more than a number of them, and none that nobody uses.

    Args:
        template: What every session is at first; forked, never called.
        limit: How many there may be.
        idle: Seconds after which one that nobody asks for may be dropped.
        clock: Tells the time in seconds.
        observe: Says what clients read of a call; None for results as they are.
    """

    def __init__(
        self,
        template: Session,
        limit: int,
        idle: float,
        clock: Callable[[], float],
        observe: Observe | None = None,
    ) -> None:
        self.template = template
        self.limit = limit
        self.idle = idle
        self._clock = clock
        self._observe = observe
        self._served: dict[str, Served] = {}

    @property
    def served(self) -> Mapping[str, Served]:
        """All sessions that there are, in the order in which they were opened."""
        self._drop_idle()
        return self._served

    def open(self, name: str) -> Served:
        """Return a new session in the initial state.

        Raises:
            PoolFull: There are as many as may be, and none of them has ended.
        """
        self._drop_idle()
        if len(self._served) >= self.limit:
            self._drop_one_that_ended()
        self._served[name] = Served(self.template.fork(), self._clock(), observe=self._observe)
        return self._served[name]

    def find(self, name: str) -> Served:
        """Return a session.

        Raises:
            NoSession: There is none of that name, or no longer.
        """
        if name not in self._served:
            raise NoSession(
                f"There is no session {name[:100]!r}; it never was, was closed, or was not used "
                f"for {self.idle:g} seconds."
            )
        served = self._served[name]
        served.used = self._clock()
        return served

    def find_or_open(self, name: str) -> Served:
        """Return a session, a new one if there is none of that name.

        Raises:
            PoolFull: See ``open``.
        """
        return self.find(name) if name in self._served else self.open(name)

    def reset(self, name: str) -> None:
        """Put a session into the initial state.

        Raises:
            NoSession: There is none of that name.
        """
        self.find(name).session.restore(self.template.snapshot())

    def snapshot(self, name: str) -> int:
        """Keep the state of a session and return its number for ``restore``.

        Raises:
            NoSession: There is none of that name.
            PoolFull: So many are kept of this session already that there may be no more.
        """
        served = self.find(name)
        if len(served.snapshots) >= MAX_SNAPSHOTS:
            raise PoolFull(f"{MAX_SNAPSHOTS} snapshots of {name} are kept; no more may be taken.")
        served.snapshots.append(served.session.snapshot())
        return len(served.snapshots) - 1

    def restore(self, name: str, number: int) -> None:
        """Put a session into a state that was kept.

        Raises:
            NoSession: There is none of that name, or no snapshot of that number.
        """
        served = self.find(name)
        if not 0 <= number < len(served.snapshots):
            raise NoSession(f"{name} has {len(served.snapshots)} snapshots, and no {number}.")
        served.session.restore(served.snapshots[number])

    def end(self, name: str) -> None:
        """Note that a session's client is done, so that others may have its place."""
        if name in self._served:
            self._served[name].ended = True

    def close(self, name: str) -> None:
        """Drop a session.

        Raises:
            NoSession: There is none of that name.
        """
        self.find(name)
        del self._served[name]

    def _drop_idle(self) -> None:
        oldest = self._clock() - self.idle
        for name in [name for name, served in self._served.items() if served.used < oldest]:
            del self._served[name]

    def _drop_one_that_ended(self) -> None:
        for name, served in self._served.items():
            if served.ended:
                del self._served[name]
                return
        raise PoolFull(
            f"All {self.limit} sessions are in use; close one, or wait until one is idle."
        )
