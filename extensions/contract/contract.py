"""The contract that every environment keeps, as tests that its author runs.

An author's whole contract test:

    import pytest
    from turnwise.testing import contract

    @pytest.mark.parametrize("check", contract("CalendarAPI"), ids=str)
    def test_contract(check):
        check()

``turnwise env check`` runs the same checks. ``succeed`` and ``refuse`` are for tests of single
calls. Needs hypothesis, which comes with the extra ``dev``.
"""

# ruff: noqa: E501 - a check is a line.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from unittest import SkipTest

from envs.calls import Call
from envs.errors import ToolError
from envs.session import Session
from extensions.contract import apart, declared, documents, states
from extensions.contract.subject import Broken, Subject
from extensions.contract.watched import CALL_SECONDS, TooLong

__all__ = [
    "CONTRACT",
    "BoundCheck",
    "Broken",
    "Check",
    "Subject",
    "contract",
    "refuse",
    "state",
    "succeed",
]


class Check(NamedTuple):
    """One promise that every environment keeps."""

    name: str
    promise: str
    run: Callable[[Subject], None]
    """Raises Broken if the promise is not kept."""
    after: Sequence[str] = ()
    """Names of the checks that come first: what these find is not found again."""


_ENDS = "ends"
_LOADS = ("config types", "example config")
_DESCRIBED = (*_LOADS, "loading", "docstrings", "types")
_PLAYED = (*_DESCRIBED, _ENDS)
_PLAIN = (*_PLAYED, "faults", "state")
_ALONE = (*_PLAIN, "inputs", "refusals", "snapshots")
_SAME = (*_ALONE, "processes", "forks")

CONTRACT: Sequence[Check] = (
    Check("fields", "are annotated, and every key of a config has one", declared.fields),
    Check("config types", "are such as JSON has", declared.config_types),
    Check("example config", "is there and loads without a complaint", states.example, ("config types",)),
    Check("loading", "copies the config and leaves it as it was", declared.loading, _LOADS),
    Check("round trip", "a state written as a config loads as the same state", states.round_trip, (*_LOADS, "loading")),
    Check("unknown keys", "of a config are refused, with their path", states.unknown_keys, _LOADS),
    Check("wrong types", "in a config are refused, with their path", states.wrong_types, (*_LOADS, "unknown keys")),
    Check("names", "no function is named as one of another environment", documents.names),
    Check("docstrings", "say what is done, taken and returned", documents.docstrings),
    Check("types", "are on every parameter and result, and fit defaults", documents.types),
    Check(_ENDS, f"calls come back within {CALL_SECONDS:g} seconds", states.ends, _DESCRIBED),
    Check("faults", "functions refuse by raising a ToolError, nothing else", states.faults, _PLAYED),
    Check("output", "nothing is printed", states.output, _PLAYED),
    Check("state", "is plain data in every field", states.plain, _PLAYED),
    Check("inputs", "config, bulky material and defaults stay as they are", states.inputs, _PLAYED),
    Check("refusals", "leave the world as it was", states.refusals, (*_PLAIN, "inputs")),
    Check("snapshots", "are out of reach of later calls", states.snapshots, (*_PLAIN, "inputs", "refusals")),
    Check("processes", "hash seed, clock, zone, os.environ make no difference", apart.processes, _PLAIN),
    Check("forks", "are out of reach of each other, and go on alike", states.forks, (*_ALONE, "processes")),
    Check("reads", "leave the world as it was", states.reads, _ALONE),
    Check("results", "are JSON of the declared type, and errors are raised", states.results, _PLAIN),
    Check("arguments", "that fit the schema are taken", states.arguments, _SAME),
    Check("sessions", "in threads and tasks, 10,000 of them, are as alone", apart.interleaved, _SAME),
    Check("examples", "in every docstring, and true", documents.examples, (*_SAME, "round trip", "reads", "results", "arguments", "sessions")),
    Check("outcomes", "are shown: a success, and a refusal if there is one", documents.outcomes, (*_SAME, "results", "arguments", "sessions", "examples")),
    Check("frozen", "function documents are as in the golden file", documents.frozen, ("names", "docstrings", "types", "results", "arguments", "examples")),
)  # fmt: skip
"""In the order in which causes come before what follows from them."""


class BoundCheck(NamedTuple):
    """A check of one environment, to be called."""

    check: Check
    subject: Subject

    def __call__(self) -> None:
        """Run the check.

        Raises:
            Broken: The environment does not keep the promise; says which line to mend.
            SkipTest: One of the checks that come first has failed, or would.
        """
        first = [name for name in self.check.after if name in self.subject.failed]
        if first:
            raise SkipTest(f"not looked at: {first[0]} comes first")
        try:
            self.check.run(self.subject)
        except Broken:
            self.subject.failed.append(self.check.name)
            raise
        except (Exception, SystemExit, TooLong) as error:
            if isinstance(error, TooLong) and self.check.run is not states.ends:
                raise SkipTest(f"not looked at: {_ENDS} comes first") from error
            self.subject.failed.append(self.check.name)
            raise self.subject.raised(error) from error

    def __str__(self) -> str:
        """Return environment and check, as the id of a test."""
        return f"{self.subject.name}: {self.check.name}"


def contract(name: str) -> list[BoundCheck]:
    """Return the checks of a registered environment, those that read our tests only with them.

    Raises:
        ConfigError: There is no such environment, or it cannot be imported.
    """
    subject = Subject(name)
    checks = [check for check in CONTRACT if subject.has_tests or check.run is not documents.frozen]
    return [BoundCheck(check, subject) for check in checks]


def state(session: Session) -> dict[str, Any]:
    """Return the compared fields of a session's only backend."""
    [fields] = session.snapshot().compared().values()
    return fields


def succeed(session: Session, name: str, *args: Any, **changes: Any) -> Any:
    """Make a call, assert that it succeeds and changes the named fields, and return its value.

    Args:
        session: A session of one backend.
        name: The function.
        args: Its arguments.
        changes: New value by field; every other compared field must keep its own.
    """
    expected = {**state(session), **changes}
    result = session.call(Call(name, args))
    assert result.error is None, result.error
    assert state(session) == expected
    assert result.changed is bool(changes)
    return result.value


def refuse(session: Session, kind: type[ToolError], message: str, name: str, *args: Any) -> Any:
    """Make a call, assert that it is refused and leaves the state as it was, and return its value.

    Args:
        session: A session.
        kind: Class of the error.
        message: Part of what it says.
        name: The function.
        args: Its arguments.
    """
    before = session.snapshot()
    written = repr(before.states)
    result = session.call(Call(name, args))
    assert type(result.error) is kind, result
    assert message in result.error.message
    assert repr(session.snapshot().states) == written
    return result.value
