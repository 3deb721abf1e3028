"""Faults of calls: timeouts, refusals, and incomplete or old results.

A fault depends on the seed, the entry and the text of the call, but not on the order of calls. A
temporary fault occurs only once. A permanent fault occurs each time that an episode repeats the
call. The fault's message tells the model whether to repeat the call. Only results of read-only
functions can be incomplete or old. A call that times out changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Literal, NamedTuple, Self, get_args

from envs.calls import Call
from envs.errors import DataError, MalformedCall, Refused
from envs.results import Result
from envs.session import Session
from extensions.faults.drift import Drift

Kind = Literal["timeout", "refusal", "partial", "stale"]
KINDS: tuple[Kind, ...] = get_args(Kind)
TEXTS: dict[Kind, str] = {
    "timeout": "The service did not answer in time, and nothing was changed. Try the call again.",
    "refusal": "The service is overloaded, and nothing was changed. Try the call again.",
    "partial": "The result is incomplete. Make the call again for all of it.",
    "stale": "The result is an old copy. Make the call again to get the current result.",
}
"""What the model reads."""
FINAL = "The service refuses this call for good, and nothing was changed. Do not try it again."
"""Text that the model reads if a timeout or refusal is permanent."""
_MARK = "notice"
"""Name of the result field that contains the text of a fault."""
_BITS = 2**64


class FaultSettings(NamedTuple):
    """Settings of faults: rate, kinds, seed, and share of permanent faults (``final``)."""

    rate: float
    kinds: tuple[Kind, ...] = KINDS
    seed: int = 0
    final: float = 0.0

    @classmethod
    def read(cls, text: str, where: str = "--faults") -> Self:
        """Read ``rate=0.1,kinds=timeout|stale,seed=3``. Raises DataError if the text is invalid."""
        found = cls(-1.0)
        for part in text.split(","):
            name, _, value = part.strip().partition("=")
            try:
                if name == "rate":
                    found = found._replace(rate=float(value))
                elif name == "seed":
                    found = found._replace(seed=int(value))
                elif name == "final":
                    found = found._replace(final=float(value))
                elif name == "kinds" and {*value.split("|")} <= {*KINDS}:
                    found = found._replace(kinds=tuple(k for k in KINDS if k in value.split("|")))
                else:
                    raise ValueError
            except ValueError:
                wanted = f"rate=0.1,kinds={'|'.join(KINDS)},seed=0,final=0"
                raise DataError(where, f"{part!r:.60} cannot be read; write {wanted}") from None
        if not 0 <= found.rate <= 1:
            raise DataError(where, "needs a rate from 0 to 1, such as rate=0.1")
        if not 0 <= found.final <= 1:
            raise DataError(where, "`final` must be from 0 to 1, such as final=0.5")
        return found

    def __str__(self) -> str:
        """Return the settings in the form that ``read`` accepts."""
        final = f",final={self.final:g}" if self.final else ""
        return f"rate={self.rate:g},kinds={'|'.join(self.kinds)},seed={self.seed}{final}"

    def draw(self, entry: str, call: str) -> Kind | None:
        """Return the fault that a call gets in an entry; None if the call gets no fault."""
        digest = sha256(f"{self.seed}\n{entry}\n{call}".encode()).digest()
        if int.from_bytes(digest[:8], "big") >= self.rate * _BITS:
            return None
        return self.kinds[digest[8] % len(self.kinds)]

    def is_final(self, entry: str, call: str) -> bool:
        """Tell whether the fault of a call is permanent."""
        digest = sha256(f"final\n{self.seed}\n{entry}\n{call}".encode()).digest()
        return int.from_bytes(digest[:8], "big") < self.final * _BITS


class FaultsAndDrift(NamedTuple):
    """Faults and drift of a run."""

    faults: FaultSettings = FaultSettings(0.0)
    drift: Drift = Drift()

    def wrap(self, session: Session, entry: str) -> Session:
        """Return a copy with faults and drift; if both are off, return ``session`` itself."""
        if not (self.faults.rate or self.drift.kinds):
            return session
        kind = _CLASSES.get(type(session)) or _make_class(type(session))
        copy, fork = object.__new__(kind), session.fork()
        for name in Session.__slots__:
            setattr(copy, name, getattr(fork, name))
        copy.begin(self, entry, session, frozenset())
        made: Session = copy.fork()
        return made


def find_kind(text: str) -> Kind | Literal["final"] | None:
    """Return the kind of fault that the text of a result reports, or None."""
    if FINAL in text:
        return "final"
    return next((kind for kind, said in TEXTS.items() if said in text), None)


_CLASSES: dict[type[Session], Any] = {}


def _make_class(base: type[Session]) -> Any:
    class FaultySession(base):  # type: ignore[misc, valid-type]
        __slots__ = ("_disturbances", "_entry", "_made", "_start")

        def begin(
            self, disturbances: FaultsAndDrift, entry: str, start: Session, made: frozenset[str]
        ) -> None:
            self._disturbances, self._entry = disturbances, entry
            self._start, self._made = start, made

        def fork(self, *, checks_arguments: bool | None = None) -> Any:
            copy = super().fork(checks_arguments=checks_arguments)
            copy.begin(self._disturbances, self._entry, self._start, self._made)
            return copy

        def restated(self, calls: Sequence[Call | MalformedCall]) -> Any:
            return tuple([self._disturbances.drift.restate(call, self.tools) for call in calls])

        def call(self, call: Call | MalformedCall) -> Result:
            faults, drift = self._disturbances
            refusal = drift.refuse(call, self.tools)
            if refusal is not None:
                return Result.refused(Refused(refusal))
            call = drift.restate(call, self.tools)
            text = str(call)
            if not isinstance(call, Call) or call.name not in self.tools:
                return super().call(call)  # type: ignore[no-any-return]
            kind = faults.draw(self._entry, text)
            if kind in ("partial", "stale") and self.tools[call.name].writes:
                kind = "timeout"
            if kind in ("timeout", "refusal") and faults.is_final(self._entry, text):
                return Result.refused(Refused(FINAL))
            if text in self._made:
                return super().call(call)  # type: ignore[no-any-return]
            self._made |= {text}
            if kind in ("timeout", "refusal"):
                return Result.refused(Refused(TEXTS[kind]))
            result: Result = super().call(call)
            if kind is None or result.error is not None:
                return result
            partial = kind == "partial"
            held = _halve(result.held) if partial else self._start.fork().call(call).held
            # Half of an empty list is an empty list: such a result would not be incomplete.
            return result if Result(held).text == result.text else Result(_mark(held, kind))

    _CLASSES[base] = FaultySession
    return FaultySession


def _halve(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [*value[: len(value) // 2]]
    if isinstance(value, dict):
        if any(isinstance(member, (list, tuple, dict)) for member in value.values()):
            return {name: _halve(member) for name, member in value.items()}
        return dict([*value.items()][: len(value) // 2])
    return None


def _mark(value: Any, kind: Kind) -> dict[str, Any]:
    members = value if isinstance(value, dict) else {"result": value}
    return {**members, _MARK: TEXTS[kind]}
