"""Import of the optional package ``agentdojo``.

The clock of the package is frozen, and API clients are not imported. Only this module imports
``agentdojo``. The module uses only public names of the package's suites, tools, judges and attacks.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import cache, lru_cache, partial
from importlib import import_module, metadata, util
from types import ModuleType, SimpleNamespace
from typing import Any

from envs.errors import DataError, describe_exception, suggest_name
from extensions.injection.dojo.state_comparison import FastComparison

VERSION = "0.1.35"
"""Exact version of the package; tools and data have no separate versions."""
VERSIONS = ("v1", "v1.1", "v1.1.1", "v1.1.2", "v1.2", "v1.2.1", "v1.2.2")
"""Versions of the data, oldest first."""
SUITES = ("banking", "slack", "travel", "workspace")

_NOW = datetime.datetime(2024, 5, 15, 12, 0)
"""Frozen clock: noon of the day that is "today" in the worlds."""
_CLOCK_MODULES = ("email_client", "cloud_drive_client")
_TOOLS = "agentdojo.default_suites.v1.tools"
_PIPELINE = "agentdojo.agent_pipeline"
_CLIENT = f"{_PIPELINE}.llms.google_llm"
_HINT = f"pip install 'turnwise[agentdojo]', or pip install agentdojo=={VERSION}"


class _FrozenDatetime(datetime.datetime):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:  # type: ignore[override]
        return _NOW.replace(tzinfo=tz)


@cache
def _suites() -> ModuleType:
    """Import the suites.

    Raises DataError if the package is missing or has another version.
    """
    try:
        found = metadata.version("agentdojo")
    except metadata.PackageNotFoundError:
        raise DataError("agentdojo", f"is not installed; {_HINT}") from None
    if found != VERSION:
        raise DataError("agentdojo", f"has version {found}, but must have {VERSION}; {_HINT}")
    try:
        with _without_clients():
            module = import_module("agentdojo.task_suite.load_suites")
            import_module("agentdojo.attacks")
    except Exception as error:  # any error of a damaged package
        why = describe_exception(error)
        raise DataError("agentdojo", f"cannot be imported: {why}; {_HINT}") from None
    _make_deterministic()
    return module


@contextmanager
def _without_clients() -> Iterator[None]:
    if _PIPELINE in sys.modules:
        yield
        return
    spec = util.find_spec("agentdojo")
    assert spec is not None
    assert spec.submodule_search_locations
    pipeline, client = ModuleType(_PIPELINE), ModuleType(_CLIENT)
    pipeline.__path__ = [f"{spec.submodule_search_locations[0]}/agent_pipeline"]
    vars(client)["EMPTY_FUNCTION_NAME"] = "<empty-function-name>"
    sys.modules |= {_PIPELINE: pipeline, _CLIENT: client}
    try:
        yield
    finally:
        # If the user imports these modules later, the real modules are loaded.
        del sys.modules[_PIPELINE], sys.modules[_CLIENT]


def _make_deterministic() -> None:
    frozen = SimpleNamespace(**vars(datetime))
    frozen.datetime = _FrozenDatetime
    for name in _CLOCK_MODULES:
        vars(sys.modules[f"{_TOOLS}.{name}"])["datetime"] = frozen
    # The order of list(set(participants)) would depend on the hash seed of the process.
    vars(sys.modules[f"{_TOOLS}.calendar_client"])["set"] = dict.fromkeys
    loader = sys.modules["agentdojo.task_suite.task_suite"]
    vars(loader)["yaml"] = SimpleNamespace(**{**vars(loader.yaml), "safe_load": _read_yaml})
    slow = import_module("deepdiff").DeepDiff
    for module in [found for name, found in sys.modules.items() if name.startswith("agentdojo.")]:
        for name, member in [*vars(module).items()]:
            if isinstance(member, partial) and member.func is slow:
                vars(module)[name] = FastComparison(member)


def _read_yaml(source: Any) -> Any:
    """Parse YAML as ``yaml.safe_load`` does, with the faster C library if it is available."""
    yaml = import_module("yaml")
    return yaml.load(source, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@cache
def suite(name: str, version: str = VERSIONS[-1]) -> Any:
    """Return a suite with the definitions of a version."""
    return _suites().get_suite(version, name)


@cache
def _runtime(name: str) -> Any:
    module = _suites() and sys.modules["agentdojo.functions_runtime"]
    return module.FunctionsRuntime(suite(name).tools)


def run_tool(name: str, environment: Any, function: str, arguments: Mapping[str, Any]) -> Any:
    """Call a tool; return its result and error. The call may change ``environment``."""
    return _runtime(name).run_function(environment, function, arguments)


def function_call(name: str, arguments: Mapping[str, Any]) -> Any:
    """Return a function call as AgentDojo's own object, which AgentDojo's judges need."""
    _suites()
    return sys.modules["agentdojo.functions_runtime"].FunctionCall(function=name, args=arguments)


def load_environment(name: str, injections: Mapping[str, str]) -> Any:
    """Return the initial state of a suite with injected texts.

    Raises DataError if a vector is unknown, or if the texts make the suite's document invalid.
    """
    return deepcopy(_loaded(name, tuple(sorted(injections.items()))))


@lru_cache(maxsize=256)
def _loaded(name: str, injections: tuple[tuple[str, str], ...]) -> Any:
    unknown = [vector for vector, _ in injections if vector not in vectors(name)]
    if unknown:
        hint = suggest_name(unknown[0], vectors(name))
        where = f"AgentDojo {name}: $.injections"
        raise DataError(where, f"unknown vector {unknown[0]!r:.80}{hint}")
    try:
        return suite(name).load_and_inject_default_environment(dict(injections))
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        where = f"AgentDojo {name}: $.injections"
        raise DataError(where, f"cannot be inserted into the suite: {said:.300}") from None


def vectors(name: str) -> Mapping[str, str]:
    """Return the injection vectors of a suite with their defaults."""
    found: Mapping[str, str] = suite(name).get_injection_vector_defaults()
    return found


def attack(name: str, suite_name: str, version: str, model: str) -> Callable[[Any, Any], Any]:
    """Return AgentDojo's function that writes the texts of an attack.

    Raises DataError if the attack is unknown.
    """
    _suites()
    registry = sys.modules["agentdojo.attacks.attack_registry"]
    if name not in attacks():
        hint = suggest_name(name, attacks()) or f"; choose from {', '.join(attacks())}"
        raise DataError("--attack", f"AgentDojo has no attack {name!r}{hint}")
    found = registry.load_attack(name, suite(suite_name, version), SimpleNamespace(name=model))
    made: Callable[[Any, Any], Any] = found.attack
    return made


def attacks() -> Sequence[str]:
    """Return the names of the package's attacks, except the manual attack."""
    _suites()
    known = sys.modules["agentdojo.attacks.attack_registry"].ATTACKS
    return [name for name in known if name != "manual"]
