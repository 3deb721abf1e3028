"""Session of one trajectory: it holds the live backends and executes calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from envs.backend import AS_BFCL, OWN, Backend, BfclDeviations, check_call, explain_failure
from envs.bounds import (
    BOUNDS,
    NEW_ACCOUNT,
    UNCOUNTED,
    UNMEASURED,
    check_arguments,
    make_state_refusal,
    measure_growth,
)
from envs.calls import Call
from envs.errors import (
    BackendFault,
    ConfigError,
    DataError,
    InvalidArgument,
    MalformedCall,
    ToolError,
    require_type,
)
from envs.registry import check_args, check_config, list_tools, load_backend, with_worlds
from envs.results import Result, get_inner_value
from envs.state import ATOMS, Snapshot, copy_lists, has_changed
from envs.tool import Tool, make_unknown_function_error

if TYPE_CHECKING:
    from envs import notices
    from envs.long_context import LongContextPack

_NOTHING: Mapping[str, Any] = {}


class Session:
    """Live backends of one trajectory; only the session calls their functions.

    Attributes:
        backends: Maps names to backends, in the trajectory's order.
        tools: Maps names to all functions of the backends.
        offered: Names of the functions that may be called; None means all functions.
        checks_arguments: Whether to validate arguments and to unwrap the results of inner calls.
        tolerant: Whether the initial config was loaded unchecked; the state may then be invalid.
        has_worlds: Whether events may change the state without a call; see ``envs.worlds``.
    """

    has_worlds: ClassVar[bool] = False
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
        require_type("backends", backends, dict, described="backends by name")
        self.backends = backends
        self.tools = list_tools(tuple(backends))
        self.offered: frozenset[str] | None = None
        self.checks_arguments, self.tolerant = checks_arguments, tolerant
        self._calls, self._unmeasured, self._account = 0, UNMEASURED, NEW_ACCOUNT

    @classmethod
    def load(
        cls,
        environments: Sequence[str],
        config: Mapping[str, Mapping[str, Any]],
        pack: LongContextPack | None = None,
        *,
        tolerant: bool = False,
        checks_arguments: bool | None = None,
        checks_config: bool | None = None,
        behaviour: BfclDeviations | None = None,
    ) -> Self:
        """Create a session from an initial config.

        Raises ConfigError for an unknown name or a wrong config, and DataError for a wrong type.

        Args:
            environments: Names of the backends, in the order of comparison; worlds may be omitted.
            config: Initial config by backend; default: the backend's defaults.
            pack: Long-context material, if any.
            tolerant: See the class.
            checks_arguments: See the class; default: True, unless the backends behave as BFCL's do.
            checks_config: Whether to check the config; default: True, unless ``tolerant`` is set.
            behaviour: Deviations from BFCL's backends; default: all, unless ``tolerant`` is set.
        """
        check_args(environments, config, pack, behaviour, tolerant, checks_arguments, checks_config)
        checked = not tolerant if checks_config is None else checks_config
        if checked and (problems := check_config(environments, config)):
            raise ConfigError(problems)
        behaviour = behaviour or (AS_BFCL if tolerant else OWN)
        names = with_worlds(tuple(environments))
        backends = {n: load_backend(n, config.get(n, {}), pack, behaviour) for n in names}
        needed = [each.session_class for each in backends.values() if each.session_class]
        kind: type[Self] = needed[0] if needed and not cls.has_worlds else cls
        checks = behaviour.keeps_all if checks_arguments is None else checks_arguments
        return kind(backends, checks_arguments=checks, tolerant=tolerant)

    def fork(self, *, checks_arguments: bool | None = None) -> Self:
        """Return an independent copy; ``checks_arguments`` is copied unless a value is given."""
        copy = object.__new__(type(self))
        copy.backends = {name: backend.fork() for name, backend in self.backends.items()}
        copy.tools, copy.offered = self.tools, self.offered
        copy.checks_arguments = (
            self.checks_arguments if checks_arguments is None else checks_arguments
        )
        copy.tolerant, copy._account = self.tolerant, self._account
        copy._calls, copy._unmeasured = self._calls, self._unmeasured
        return copy

    def offer(self, names: frozenset[str] | None) -> None:
        """Allow calls of the named functions only; None allows all functions."""
        self.offered = names

    def replace(self, tool: Tool) -> None:
        """Use ``tool`` in this session in place of the function with the same name."""
        require_type("tool", tool, Tool, described="a Tool")
        self.tools = {**self.tools, tool.name: tool}

    def __repr__(self) -> str:
        """Return the names of the backends and the number of functions."""
        return f"Session({', '.join(self.backends)}: {len(self.tools)} functions)"

    def call(self, call: Call | MalformedCall) -> Result:
        """Execute one call; if the call is wrong, the result is an error message for the model.

        Raises BackendFault for a bug in a backend, and DataError for a ``call`` of another type.
        """
        if type(call) is not Call or type(call.args) is not tuple:
            if isinstance(call, MalformedCall):
                return Result.refused(call)
            raise DataError("call", f"must be a Call whose args are a tuple, but is {call!r:.60}")
        count = self._calls = self._calls + 1
        if count > UNCOUNTED:
            refusal = self._account.refusal(count)
            if refusal is not None:
                return Result.refused(refusal)
        name, args, kwargs, nested = call
        tool = self.tools.get(name)
        offered = self.offered
        if tool is None or (offered is not None and name not in offered):
            return Result.refused(make_unknown_function_error(name, self.tools, offered))
        result = self._call_nested(tool, call) if nested else self._run(tool, args, kwargs)
        if count > UNCOUNTED:
            self._account = self._account.with_result(result.held)
        return result

    def restated(self, calls: Sequence[Call | MalformedCall]) -> Sequence[Call | MalformedCall]:
        """Return ground-truth calls with this session's function names."""
        return calls

    def play(self, calls: Iterable[Call | MalformedCall]) -> list[Result]:
        """Execute calls in order, also after a failed call. Raises errors like ``call``."""
        require_type("calls", calls, list, tuple, Iterable, described="a list of calls")
        return [self.call(call) for call in calls]

    @property
    def notices(self) -> Sequence[notices.Notice]:
        """Notices of events so far; empty for a session without worlds."""
        return ()

    def end_turn(self) -> None:
        """End a turn; in a session with worlds, events may then change the state."""

    def snapshot(self) -> Snapshot:
        """Return the state of all backends."""
        return Snapshot({name: backend.__dict__.copy() for name, backend in self.backends.items()})

    def restore(self, snapshot: Snapshot) -> None:
        """Restore the state in a snapshot. Raises DataError for any other value."""
        require_type("snapshot", snapshot, Snapshot, described="a Snapshot")
        self._put_back(snapshot.checked(self.backends))
        self._calls = 0
        self._unmeasured = 1
        self._account = self._account._replace(results=0)

    def _put_back(self, snapshot: Snapshot) -> None:
        for name, backend in self.backends.items():
            backend.__dict__.update(snapshot.states[name])

    def _call_nested(self, tool: Tool, call: Call) -> Result:
        # Inner calls may change state even if the outer one fails.
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
        if isinstance(value, Call):
            result = self.call(value)
            if result.error is not None:
                raise result.error
            return get_inner_value(result.held) if self.checks_arguments else result.held
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
                check_call(tool, args, kwargs)
            except ToolError as error:
                return Result.refused(error)
        _, name, function, writes, keeps_on_refusal, _ = tool
        backend = self.backends[name]
        state = backend.__dict__
        before = state.copy() if writes else _NOTHING
        # Copies: the state may keep an argument, and the function may change an argument.
        args = args and tuple([copy_lists(value) for value in args])
        for argument in kwargs.values():
            if type(argument) is not str and type(argument) not in ATOMS:
                kwargs = {key: copy_lists(value) for key, value in kwargs.items()}
                break
        try:
            # Unpacking an empty `args` takes longer than this test.
            value = function(backend, *args, **kwargs) if args else function(backend, **kwargs)
        except ToolError as error:
            changed = keeps_on_refusal is not None and has_changed(before, state)
            if not changed or self._overgrown(before, state):
                state.update(before)
                changed = False
            return Result.refused(error, changed)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            state.update(before)
            return Result.refused(self._blame(tool, args, kwargs, error))
        if not (writes and has_changed(before, state)):
            return Result(value)
        if self._unmeasured > 1:
            self._unmeasured -= 1
        elif (refusal := self._overgrown(before, state)) is not None:
            state.update(before)
            return Result.refused(refusal)
        return Result(value, None, True)

    def _overgrown(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> ToolError | None:
        account = self._account.measured(self.snapshot().compared())
        fits = account.size <= BOUNDS.state
        if not fits and measure_growth(before, after, BOUNDS.state) > 0:
            return make_state_refusal()
        self._unmeasured, self._account = (UNMEASURED, account) if fits else (1, self._account)
        return None

    def _blame(
        self, tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any], error: BaseException
    ) -> ToolError:
        """Return the reason why a function failed: an error in its arguments or in the state.

        Raises BackendFault if arguments and state are valid; then the bug is in the backend.
        """
        if self.tolerant:
            return InvalidArgument(lambda: explain_failure(tool, args, kwargs, error), error)
        try:
            check_call(tool, args, kwargs)
        except ToolError as reason:
            return reason
        raise BackendFault(f"{tool.backend}.{Call(tool.name, args, kwargs)}", error) from error
