"""A session: the backends of one trajectory, the calls made on them, and their state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from envs.backend import AS_BFCL, OWN, Backend, Behaviour
from envs.bounds import (
    BOUNDS,
    NEW_ACCOUNT,
    UNCOUNTED,
    UNMEASURED,
    check_arguments,
    growth,
    too_large_state,
)
from envs.calls import Call
from envs.errors import (
    BackendFault,
    ConfigError,
    InvalidArgument,
    MalformedCall,
    ToolError,
)
from envs.lazy import lazily
from envs.long_context import Pack
from envs.registry import check_config, load_backend, tools_of
from envs.results import Result, value_inside
from envs.state import Snapshot, changed_in
from envs.tool import Tool, bind, unknown

if TYPE_CHECKING:
    from envs import schema
else:
    schema = lazily(".schema", __package__)

_NOTHING: Mapping[str, Any] = {}
"""What a function that only reads can have changed."""


class Session:
    """The backends of one trajectory, live, and the one way to call their functions.

    Attributes:
        backends: The backends by name, in the trajectory's order.
        tools: All functions of the backends by name.
        offered: Names that may be called, or None where every function may.
        checks_arguments: Whether arguments are validated, and calls among them stand for the one
            value in their result; where not, both are what Python makes of them, as in BFCL.
        tolerant: Whether the initial config was not checked, so that the state may be irregular and
            a backend that stumbles over it is not to blame.
    """

    __slots__ = (
        "_account",
        "_calls",
        "_unmeasured",
        "backends",
        "checks_arguments",
        "offered",
        "tolerant",
        "tools",
    )

    def __init__(
        self,
        backends: dict[str, Backend],
        *,
        checks_arguments: bool = False,
        tolerant: bool = False,
    ) -> None:
        self.backends = backends
        self.tools = tools_of(tuple(backends))
        self.offered: frozenset[str] | None = None
        self.checks_arguments = checks_arguments
        self.tolerant = tolerant
        self._calls = 0
        self._unmeasured = UNMEASURED
        self._account = NEW_ACCOUNT

    @classmethod
    def load(
        cls,
        environments: Sequence[str],
        config: Mapping[str, Mapping[str, Any]],
        pack: Pack | None = None,
        *,
        tolerant: bool = False,
        checks_arguments: bool = False,
        checks_config: bool | None = None,
        behaviour: Behaviour | None = None,
    ) -> Self:
        """Make a session from an initial config.

        Args:
            environments: Names of the backends, in the order in which they are compared.
            config: Backend name to its initial config; a backend without one gets its defaults.
            pack: Bulky material to mix in, or None.
            tolerant: See the class.
            checks_arguments: See the class.
            checks_config: Whether the config has to pass the strict check; by default, unless the
                session is tolerant. Where not, irregular values are taken as they are.
            behaviour: Where backends do as BFCL's; by default everywhere if the session is
                tolerant, as BFCL's data needs, else nowhere. Forks do the same.

        Raises:
            ConfigError: A name is unknown, a config does not fit its backend, or it cannot be
                loaded at all.
        """
        if checks_config or (checks_config is None and not tolerant):
            problems = check_config(environments, config)
            if problems:
                raise ConfigError(problems)
        if behaviour is None:
            behaviour = AS_BFCL if tolerant else OWN
        backends = {
            name: load_backend(name, config.get(name, {}), pack, behaviour) for name in environments
        }
        return cls(backends, checks_arguments=checks_arguments, tolerant=tolerant)

    def fork(self, *, checks_arguments: bool | None = None) -> Self:
        """Return an independent copy: nothing done to one is seen by the other.

        Args:
            checks_arguments: Whether the copy validates arguments; by default as this one does.
        """
        copy = object.__new__(type(self))
        copy.backends = {name: backend.fork() for name, backend in self.backends.items()}
        copy.tools = self.tools
        copy.offered = self.offered
        copy.checks_arguments = (
            self.checks_arguments if checks_arguments is None else checks_arguments
        )
        copy.tolerant = self.tolerant
        copy._calls = self._calls
        copy._unmeasured = self._unmeasured
        copy._account = self._account
        return copy

    def offer(self, names: frozenset[str] | None) -> None:
        """Let only functions of these names be called from now on, or every function."""
        self.offered = names

    def replace(self, tool: Tool) -> None:
        """Have another function take the place of the one of its name, in this session only."""
        self.tools = {**self.tools, tool.name: tool}

    def __repr__(self) -> str:
        """Return which backends there are, and how many functions."""
        return f"Session({', '.join(self.backends)}: {len(self.tools)} functions)"

    def call(self, call: Call | MalformedCall) -> Result:
        """Make one call; whatever the model did wrong becomes a result that it can read.

        Args:
            call: The call, or the reason why there is none.

        Raises:
            BackendFault: A backend broke on well-formed arguments.
        """
        if isinstance(call, MalformedCall):
            return Result.refused(call)
        count = self._calls = self._calls + 1
        if count > UNCOUNTED:
            refusal = self._account.refusal(count)
            if refusal is not None:
                return Result.refused(refusal)
        name, args, kwargs, nested = call
        tool = self.tools.get(name)
        offered = self.offered
        if tool is None or (offered is not None and name not in offered):
            return Result.refused(unknown(name, self.tools, offered))
        result = self._call_nested(tool, call) if nested else self._run(tool, args, kwargs)
        if count > UNCOUNTED:
            self._account = self._account.with_result(result.held)
        return result

    def play(self, calls: Iterable[Call | MalformedCall]) -> list[Result]:
        """Make calls in order; one that fails does not keep the next from being made."""
        return [self.call(call) for call in calls]

    def snapshot(self) -> Snapshot:
        """Return the state of all backends."""
        return Snapshot({name: backend.__dict__.copy() for name, backend in self.backends.items()})

    def restore(self, snapshot: Snapshot) -> None:
        """Put all backends into the state of a snapshot of this session or of a fork of it."""
        for name, backend in self.backends.items():
            backend.__dict__.update(snapshot.states[name])
        self._calls = 0
        self._unmeasured = 1
        self._account = self._account._replace(results=0)

    def _call_nested(self, tool: Tool, call: Call) -> Result:
        # The calls inside may change state, whatever becomes of the one around them.
        before = self.snapshot()
        try:
            args = tuple([self._resolve(value) for value in call.args])
            kwargs = {name: self._resolve(value) for name, value in call.kwargs.items()}
            check_arguments((*args, *kwargs.values()))
        except ToolError as error:
            result = Result.refused(error)
        else:
            self._unmeasured = 1
            result = self._run(tool, args, kwargs)
            result.call = Call(tool.name, args, kwargs)
        result.changed = self.snapshot() != before
        return result

    def _resolve(self, value: Any) -> Any:
        """Replace calls inside an argument by the values that they give."""
        if isinstance(value, Call):
            result = self.call(value)
            if result.error is not None:
                raise result.error
            return value_inside(result.held) if self.checks_arguments else result.held
        if isinstance(value, list):
            return [self._resolve(member) for member in value]
        if isinstance(value, tuple):
            return tuple([self._resolve(member) for member in value])
        if isinstance(value, dict):
            return {key: self._resolve(member) for key, member in value.items()}
        return value

    def _run(self, tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Result:
        if self.checks_arguments:
            try:
                _check(tool, args, kwargs)
            except ToolError as error:
                return Result.refused(error)
        _, name, function, writes, keeps_on_refusal, _ = tool
        backend = self.backends[name]
        state = backend.__dict__
        before = state.copy() if writes else _NOTHING
        try:
            value = function(backend, *args, **kwargs)
        except ToolError as error:
            changed = keeps_on_refusal is not None and changed_in(before, state)
            if not changed or self._overgrown(before, state):
                state.update(before)
                changed = False
            return Result.refused(error, changed)
        except (Exception, SystemExit) as error:
            state.update(before)
            return Result.refused(self._blame(tool, args, kwargs, error))
        if not (writes and changed_in(before, state)):
            return Result(value)
        if self._unmeasured > 1:
            self._unmeasured -= 1
        elif (refusal := self._overgrown(before, state)) is not None:
            state.update(before)
            return Result.refused(refusal)
        return Result(value, None, True)

    def _overgrown(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> ToolError | None:
        """Take the measure of a state that a call changed in one backend; refuse what is too large.

        A call that makes a state smaller may always do so.
        """
        account = self._account.measured(self.snapshot().compared())
        fits = account.size <= BOUNDS.state
        if not fits and growth(before, after, BOUNDS.state) > 0:
            return too_large_state()
        self._unmeasured, self._account = (UNMEASURED, account) if fits else (1, self._account)
        return None

    def _blame(
        self, tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any], error: BaseException
    ) -> ToolError:
        """Tell an argument or a state that no function could digest from a bug of ours.

        Raises:
            BackendFault: Arguments and state are fine, so the backend is not.
        """
        if self.tolerant:
            return InvalidArgument(lambda: _explained(tool, args, kwargs, error), error)
        try:
            _check(tool, args, kwargs)
        except ToolError as reason:
            return reason
        raise BackendFault(str(Call(tool.name, args, kwargs)), error) from error


def _check(tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    # First what needs no types: these need pydantic, which most runs never load.
    arguments = bind(tool, args, kwargs)
    schema.check_bound(tool, arguments)


def _explained(
    tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any], error: BaseException
) -> str:
    """Say what a function stumbled over where the config was not checked."""
    try:
        _check(tool, args, kwargs)
    except ToolError as reason:
        return reason.message
    return f"The state of {tool.backend} is irregular: {error!r}."
