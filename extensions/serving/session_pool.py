"""Pool of sessions, one per client, which are forked from a template.

When a client disconnects, the pool keeps the session, so that its state can still be read. The pool
drops a session after the idle timeout. A full pool also drops ended sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from envs.calls import Call
from envs.errors import MalformedCall
from envs.results import Result
from envs.session import Session
from envs.state import Snapshot
from runner.models.conversation import Observe

MAX_SNAPSHOTS = 1_000
"""Maximum number of snapshots per session."""


class SessionOrSnapshotNotFound(Exception):
    """A session or snapshot does not exist."""


class SessionOrSnapshotLimit(Exception):
    """The limit of sessions or snapshots is reached."""


@dataclass
class ServedSession:
    """Session of one client."""

    session: Session
    used: float
    """Time of the last use, in seconds of the pool's clock."""
    calls: int = 0
    """Number of calls made."""
    ended: bool = False
    """Whether the client has disconnected."""
    snapshots: list[Snapshot] = field(default_factory=list)
    observe: Observe | None = None
    """Function that renders a result for the client; None leaves results as they are."""
    notices: Sequence[str] = ()
    """Messages to the client about world events during its last call."""

    def call(self, call: Call | MalformedCall) -> Result:
        """Make a call. Raises what ``Session.call`` raises."""
        self.calls += 1
        known = len(self.session.notices)
        result = self.session.call(call)
        new = self.session.notices[known:]
        self.notices = [str(notice) for notice in new if notice.to == "agent"]
        result.shown = self.observe and self.observe(self.session, call, result, "")
        return result


class SessionPool:
    """Sessions by name, with a limit and an idle timeout.

    Args:
        template: Initial session, which is forked and never called.
        limit: Maximum number of sessions.
        idle: Idle timeout in seconds.
        observe: Function that returns the text that clients read for a call; None for the plain
            result.
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
        self._served: dict[str, ServedSession] = {}

    @property
    def served(self) -> Mapping[str, ServedSession]:
        """All sessions in the order of opening."""
        self._drop_idle()
        return self._served

    def open(self, name: str) -> ServedSession:
        """Return a new session in the initial state.

        Raises SessionOrSnapshotLimit if the pool is full and no session in the pool has ended.
        """
        self._drop_idle()
        if len(self._served) >= self.limit:
            self._drop_one_that_ended()
        self._served[name] = ServedSession(
            self.template.fork(), self._clock(), observe=self._observe
        )
        return self._served[name]

    def find(self, name: str) -> ServedSession:
        """Return a session. Raises SessionOrSnapshotNotFound if the session is missing."""
        if name not in self._served:
            raise SessionOrSnapshotNotFound(
                f"Session {name[:100]!r} does not exist, or it ended after {self.idle:g} idle "
                "seconds; open a new session."
            )
        served = self._served[name]
        served.used = self._clock()
        return served

    def find_or_open(self, name: str) -> ServedSession:
        """Return a session; open it if it does not exist.

        Raises:
            SessionOrSnapshotLimit: See ``open``.
        """
        return self.find(name) if name in self._served else self.open(name)

    def reset(self, name: str) -> None:
        """Reset a session to the initial state.

        Raises SessionOrSnapshotNotFound if the session does not exist.
        """
        self.find(name).session.restore(self.template.snapshot())

    def snapshot(self, name: str) -> int:
        """Save the state of a session and return the snapshot's number.

        Raises:
            SessionOrSnapshotNotFound: The session does not exist.
            SessionOrSnapshotLimit: The session has the maximum number of snapshots.
        """
        served = self.find(name)
        if len(served.snapshots) >= MAX_SNAPSHOTS:
            raise SessionOrSnapshotLimit(
                f"Session {name} already has {MAX_SNAPSHOTS} snapshots, the maximum."
            )
        served.snapshots.append(served.session.snapshot())
        return len(served.snapshots) - 1

    def restore(self, name: str, number: int) -> None:
        """Restore a snapshot of a session.

        Raises SessionOrSnapshotNotFound if the session or snapshot does not exist.
        """
        served = self.find(name)
        if not 0 <= number < len(served.snapshots):
            count = len(served.snapshots)
            raise SessionOrSnapshotNotFound(
                f"Session {name} has no snapshot number {number}; it has {count} snapshots, "
                "numbered from 0."
            )
        served.session.restore(served.snapshots[number])

    def end(self, name: str) -> None:
        """Mark a session as ended. A full pool may drop an ended session."""
        if name in self._served:
            self._served[name].ended = True

    def close(self, name: str) -> None:
        """Drop a session. Raises SessionOrSnapshotNotFound if the session does not exist."""
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
        raise SessionOrSnapshotLimit(
            f"All {self.limit} sessions are in use; close one, or wait until one is idle."
        )
