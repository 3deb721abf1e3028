"""AgentDojo's suites as environments: one backend per suite with the package's tools.

The state is plain data. Every call changes a copy of AgentDojo's object, so snapshots and forks
share no mutable data.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache
from typing import Any

from typing_extensions import TypedDict

from envs import registry
from envs.backend import Backend
from envs.errors import Refused
from envs.long_context import LongContextPack
from envs.session import Session
from envs.tool import Tool
from extensions.injection.dojo import agentdojo_package, tool_execution

_READING = ("get_", "search_", "list_", "read_", "check_")
_READS_THAT_WRITE = frozenset({"get_unread_emails", "get_webpage"})
_KEEPS = "if a tool fails, AgentDojo keeps the changes that the tool made before"
_DERIVED = frozenset(
    {"initial_emails", "received", "sent", "drafts", "initial_events", "initial_files"}
)
"""Lists that repeat the content of other fields; the state omits these lists."""


class InjectionsConfig(TypedDict, total=False):
    """Initial config of a suite."""

    injections: dict[str, str]
    """Text by injection vector; the other vectors keep their harmless default text."""


class DojoBackend(Backend):
    """Base class of the environments of the four suites."""

    Config = InjectionsConfig

    suite = "banking"
    environment: Any = None

    _live: Any = None
    _unexecuted: tuple[tuple[str, Mapping[str, Any]], ...] = ()

    def _load(self, config: Mapping[str, Any], pack: LongContextPack | None) -> None:
        self._keep(agentdojo_package.load_environment(self.suite, config.get("injections", {})))

    def _keep(self, live: Any) -> None:
        self._live = live
        self.environment = _plain(live.model_dump(mode="json"))

    @property
    def live(self) -> Any:
        """The package's state object, which never changes."""
        return self._live

    def with_unexecuted(self, calls: tuple[tuple[str, Mapping[str, Any]], ...]) -> None:
        """Store the model's unexecuted calls; AgentDojo's judges also read these calls."""
        self._unexecuted = calls

    def execute(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Call a tool and return its text. Raises Refused if the tool reports an error."""
        live = deepcopy(self._live)
        result = tool_execution.call(self.suite, live, name, arguments)
        if live != self._live:
            self._keep(live)
        if result.is_error:
            raise Refused(result.text)
        return result.text


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items() if name not in _DERIVED}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def leave_checks(session: Session) -> None:
    """Turn off argument checks, because AgentDojo's tools convert or ignore some arguments."""
    if any(isinstance(backend, DojoBackend) for backend in session.backends.values()):
        session.checks_arguments = False


def backend_name(suite: str) -> str:
    """Return the name of a suite's environment."""
    return f"AgentDojo{suite.capitalize()}"


@cache
def register(suite: str) -> str:
    """Register the environment of a suite in this process, and return its name.

    Raises DataError if the package is missing.
    """
    name = backend_name(suite)
    made: Any = type(name, (DojoBackend,), {"suite": suite, "__annotations__": {}})
    made.__doc__ = f"AgentDojo's suite {suite}."
    made.TOOLS = {
        each.name: Tool(
            each.name,
            name,
            _method(each),
            not each.name.startswith(_READING) or each.name in _READS_THAT_WRITE,
            _KEEPS,
        )
        for each in agentdojo_package.suite(suite).tools
    }
    registry.register(made)
    return name


def _method(tool: Any) -> Callable[..., Any]:
    fields = tool.parameters.model_fields

    def call(live: DojoBackend, *args: Any, **kwargs: Any) -> str:
        return live.execute(tool.name, {**dict(zip(fields, args, strict=False)), **kwargs})

    described = [f"    {name}: {_line(field.description)}" for name, field in fields.items()]
    listed = "\n".join(["Args:", *described, ""]) if described else ""
    call.__name__ = tool.name
    call.__doc__ = f"{_line(tool.description)}\n\n{listed}\nReturns:\n    Text.\n"
    call.__annotations__ = {name: field.annotation for name, field in fields.items()}
    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("live", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *[
                inspect.Parameter(
                    name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=inspect.Parameter.empty if field.is_required() else field.default,
                )
                for name, field in fields.items()
            ],
        ]
    )
    return call


def _line(text: str | None) -> str:
    return " ".join((text or "").split())
