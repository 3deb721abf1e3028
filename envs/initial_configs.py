"""Initial configs of a session: what is wrong with one, and a backend loaded from its part."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import envs
from envs.backend import Backend, Behaviour
from envs.errors import ConfigError, ConfigProblem
from envs.long_context import Pack
from envs.registry import backend_class
from envs.tool import raised_at

_ROOT = Path(envs.__file__).resolve().parents[1]


def file_folder(backend: type[Backend], ours: Path) -> Path:
    """Return the folder of a backend's files: beside its module, ``ours`` for one of ``envs``."""
    beside = Path(inspect.getfile(backend)).parent
    return ours if backend.__module__.startswith(f"{envs.__name__}.") else beside


def example_file(backend: type[Backend]) -> Path:
    """Return the path of a backend's example initial config, which not every backend has."""
    return file_folder(backend, _ROOT / "configs" / "initial") / f"{backend.__name__}.json"


def check_config(environments: Sequence[str], config: Mapping[str, Any]) -> list[ConfigProblem]:
    """Return every defect of a trajectory's initial config, in the order of the config."""
    problems = [
        ConfigProblem(f"$.{name}", f"is not a backend of this session: {', '.join(environments)}")
        for name in config
        if name not in environments
    ]
    for name in environments:
        try:
            problems += backend_class(name).check_config(config.get(name, {}))
        except ConfigError as error:
            problems += error.problems
    return problems


def load_backend(name: str, config: Any, pack: Pack | None, behaviour: Behaviour) -> Backend:
    """Load one backend, turning what an unchecked config may do to it into a ConfigError.

    Raises:
        ConfigError: It cannot be loaded.
    """
    backend = backend_class(name)
    try:
        return backend.load(config, pack, behaviour)
    except ConfigError:
        raise
    except (Exception, SystemExit) as error:  # an author's _load may raise anything
        problems = backend.check_config(config)
        said = f"loading broke with {type(error).__name__}: {error} ({raised_at(error)})"
        raise ConfigError(problems or [ConfigProblem(f"$.{name}", said)]) from error
