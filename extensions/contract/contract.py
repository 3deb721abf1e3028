"""Contract of environments: the checks that an author runs as tests.

The whole contract test of an environment:

    import pytest
    from turnwise.testing import contract

    @pytest.mark.parametrize("check", contract("CalendarAPI"), ids=str)
    def test_contract(check):
        check()

``turnwise env check`` runs the same checks. ``succeed`` and ``refuse`` test single calls. The
module needs the package hypothesis.
"""

# ruff: noqa: E501 - a check is a line.

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from unittest import SkipTest

from envs.calls import Call
from envs.errors import ToolError
from envs.session import Session
from extensions.contract import (
    declaration_checks,
    document_checks,
    hidden_state,
    isolation_checks,
    reached_states,
    state_checks,
)
from extensions.contract.checked_environment import CheckedEnvironment, ContractViolation
from extensions.contract.timed_session import CALL_SECONDS, CallTimeout, ticking

__all__ = [
    "CONTRACT",
    "BoundCheck",
    "CheckedEnvironment",
    "ContractCheck",
    "ContractViolation",
    "contract",
    "refuse",
    "state",
    "succeed",
]


class ContractCheck(NamedTuple):
    """One rule of the contract and its check."""

    name: str
    promise: str
    run: Callable[[CheckedEnvironment], None]
    """Function that raises ContractViolation if the environment breaks the rule."""
    after: Sequence[str] = ()
    """Names of checks that must pass before this check."""


_ENDS = "ends"
_LOADS = ("config types", "example config")
_DESCRIBED = (*_LOADS, "loading", "unknown keys", "wrong types", "docstrings", "types")
_PLAYED = (*_DESCRIBED, _ENDS)
_PLAIN = (*_PLAYED, "faults", "state")
_ALONE = (*_PLAIN, "inputs", "refusals", "snapshots")
_SAME = (*_ALONE, "processes", "forks")

CONTRACT: Sequence[ContractCheck] = (
    ContractCheck("fields", "state fields are annotated, and every config key has a field", declaration_checks.fields),
    ContractCheck("config types", "the types of all config keys exist in JSON", declaration_checks.config_types),
    ContractCheck("example config", "the example config exists and loads without errors", state_checks.example, ("config types",)),
    ContractCheck("unknown keys", "an unknown key of a config is refused; the message names its path", state_checks.unknown_keys, _LOADS),
    ContractCheck("wrong types", "a config value of a wrong type is refused; the message names its path", state_checks.wrong_types, (*_LOADS, "unknown keys")),
    ContractCheck("references", "`references` raises no error if a config lacks a key", declaration_checks.references, (*_LOADS, "wrong types")),
    ContractCheck("loading", "loading copies the config and does not change it", declaration_checks.loading, _LOADS),
    ContractCheck("round trip", "a state stays equal after it is saved as a config and loaded again", state_checks.round_trip, (*_LOADS, "loading")),
    ContractCheck("caches", "no method has a cache", hidden_state.caches),
    ContractCheck("docstrings", "docstrings describe purpose, arguments and results", document_checks.docstrings),
    ContractCheck("types", "every parameter and result is annotated, and defaults fit the types", document_checks.types),
    ContractCheck(_ENDS, f"calls return within {CALL_SECONDS:g} seconds", state_checks.ends, _DESCRIBED),
    ContractCheck("faults", "functions raise only ToolError", state_checks.faults, _PLAYED),
    ContractCheck("output", "calls print nothing, and use no files, processes, connections or threads", state_checks.output, _PLAYED),
    ContractCheck("state", "every state field holds plain data, and planned events have their own ids", state_checks.plain, _PLAYED),
    ContractCheck("inputs", "calls do not change their inputs, such as the config", state_checks.inputs, _PLAYED),
    ContractCheck("copies", "copies of the state can be sent to other processes", hidden_state.copies, _PLAIN),
    ContractCheck("refusals", "refused calls do not change the state", state_checks.refusals, (*_PLAIN, "inputs")),
    ContractCheck("snapshots", "later calls do not change snapshots", state_checks.snapshots, (*_PLAIN, "inputs", "refusals")),
    ContractCheck("reached states", "the state after each call can be loaded as a config and keeps its types", reached_states.reached, (*_ALONE, "round trip")),
    ContractCheck("results", "results are JSON and match the declared types and keys; errors are raised as exceptions", state_checks.results, _PLAIN),
    ContractCheck("processes", "results do not depend on hash seed, clock, time zone, os.environ or the machine", isolation_checks.processes, (*_PLAIN, "inputs", "results")),
    ContractCheck("forks", "forks are independent, and equal calls in two forks have equal results", state_checks.forks, (*_ALONE, "processes", "results")),
    ContractCheck("reads", "calls of @reads functions do not change the state", state_checks.reads, _ALONE),
    ContractCheck("arguments", "arguments that fit the schema are accepted", state_checks.arguments, _SAME),
    ContractCheck("sessions", "10,000 sessions in tasks and threads do not affect each other", isolation_checks.interleaved, _SAME),
    ContractCheck("memory", "results depend only on state that a config can set", hidden_state.memory, (*_SAME, "round trip", "caches", "copies", "reads", "results", "arguments", "sessions")),
    ContractCheck("examples", "every docstring has examples, and their results are right", document_checks.examples, (*_SAME, "round trip", "reads", "results", "arguments", "sessions")),
    ContractCheck("outcomes", "examples show a successful call and, if possible, a refused call", document_checks.outcomes, (*_SAME, "results", "arguments", "sessions", "examples")),
    ContractCheck("frozen", "function documents equal the golden file", document_checks.frozen, ("docstrings", "types", "results", "arguments", "examples")),
)  # fmt: skip
"""All checks, each after the checks that it depends on."""


class BoundCheck(NamedTuple):
    """A check bound to one environment."""

    check: ContractCheck
    subject: CheckedEnvironment

    def __call__(self) -> None:
        """Run the check.

        Raises:
            ContractViolation: The environment breaks the rule; the message names the line.
            SkipTest: A prerequisite check has failed.
        """
        first = [name for name in self.check.after if name in self.subject.failed]
        if first:
            raise SkipTest(f"skipped: {first[0]} must pass first")
        try:
            with ticking():
                self.check.run(self.subject)
        except ContractViolation as found:
            self.subject.failed.append(self.check.name)
            is_played = _ENDS in self.check.after
            cause = hidden_state.find_changed_global(self.subject) if is_played else None
            if cause is None or cause.message in found.message:
                raise
            message = f"{cause.message}; a possible effect: {found}"
            raise ContractViolation(cause.place, message, found.of) from found
        except (Exception, SystemExit, CallTimeout) as error:
            if isinstance(error, CallTimeout) and self.check.run is not state_checks.ends:
                raise SkipTest(f"skipped: {_ENDS} must pass first") from error
            self.subject.failed.append(self.check.name)
            raise self.subject.raised(error) from error

    def __str__(self) -> str:
        """Return the test id: environment and check."""
        return f"{self.subject.name}: {self.check.name}"


def contract(name: str, configs: Sequence[Mapping[str, object]] = ()) -> list[BoundCheck]:
    """Return the checks of a registered environment.

    Raises ConfigError if the environment does not exist or cannot be imported.

    Args:
        name: Name of the environment.
        configs: Initial configs from which playthroughs start, besides the example config.
    """
    subject = CheckedEnvironment(name, configs)
    checks = [
        check for check in CONTRACT if subject.has_tests or check.run is not document_checks.frozen
    ]
    return [BoundCheck(check, subject) for check in checks]


def state(session: Session) -> dict[str, Any]:
    """Return one dict with the compared fields of all backends in a session."""
    states = session.snapshot().compared().values()
    return {name: value for fields in states for name, value in fields.items()}


def succeed(session: Session, name: str, *args: Any, **changes: Any) -> Any:
    """Make a call, assert that the call succeeds with the given changes, and return its value.

    Args:
        session: A session of one backend, perhaps with worlds.
        name: Name of the function.
        args: Arguments of the function, by position.
        changes: New values by field; all other compared fields must not change.
    """
    before = state(session)
    unknown = ", ".join(changes.keys() - before.keys())
    assert not unknown, f"the state has no field {unknown}; pass arguments without names"
    expected = {**before, **changes}
    result = session.call(Call(name, args))
    assert result.error is None, result.text
    assert state(session) == expected
    assert result.changed is bool(changes)
    return result.value


def refuse(session: Session, kind: type[ToolError], message: str, name: str, *args: Any) -> Any:
    """Assert that a call is refused and changes no state; return the value of the result.

    Args:
        session: Session in which the call is made.
        kind: Class of the error.
        message: Part of the error's message.
        name: Name of the function.
        args: Arguments of the function.
    """
    before = session.snapshot()
    written = repr(before.states)
    result = session.call(Call(name, args))
    assert type(result.error) is kind, result
    assert message in result.error.message
    assert repr(session.snapshot().states) == written
    return result.value
