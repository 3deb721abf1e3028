"""Command ``turnwise env serve``: serves the functions of a session over MCP."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any

from envs.errors import ConfigError
from envs.lazy_modules import lazy_module
from envs.session import Session
from extensions.serving.session_pool import SessionPool
from runner.commands import DONE
from runner.commands.options import argument, option, port, positive
from runner.commands.shared import DatasetOption, note
from runner.data import choose
from runner.data.wording import wording_of
from runner.models.conversation import Observe
from runner.models.settings import Observations
from runner.records.result_file import categories_of
from trajectories.errors import DataError, require_extra
from trajectories.jsonl import parse_object
from trajectories.prepare import load_session

if TYPE_CHECKING:
    from extensions.serving import mcp_server
else:
    # It needs an extra.
    mcp_server = lazy_module("extensions.serving.mcp_server")

EXAMPLE = "turnwise env serve TicketAPI --http 8000"

_TOKEN = "TURNWISE_CONTROL_TOKEN"
"""Environment variable with the token of the control server."""


@dataclass(frozen=True, kw_only=True)
class Options(DatasetOption):
    """The environments, and the servers."""

    environments: tuple[str, ...] = argument(
        "environments to serve (default: those of the config or entry)",
        "NAME",
        required=False,
        default=(),
    )
    config: Path | None = option("initial config as JSON, by environment", "FILE", one_of="source")
    trajectory: str | None = option(
        "serve the functions that an entry offers in its last turn", "ID", one_of="source"
    )
    observations: Observations | None = option(
        "with --trajectory: texts of refused calls (default: own)", needs="--trajectory"
    )
    http: int | None = option(
        "serve over HTTP (0: any free port; default: standard input/output)", "PORT", read=port
    )
    control: int | None = option(
        f"serve a control API for sessions; token: {_TOKEN}, or printed at the start",
        "PORT",
        read=port,
    )
    max_sessions: int = option("maximum number of sessions", "N", default=100, read=positive)
    idle: int = option(
        "time without requests after which a session ends", "SECONDS", default=1800, read=positive
    )


def run(options: Options) -> int:
    """Serve until the client or the user stops it."""
    # Output of environments must not reach a client on standard output.
    with redirect_stdout(sys.stderr):
        template, observe = _make_template(options)
    with require_extra("serve", "env serve"):
        serve = mcp_server.serve
    pool = SessionPool(template, options.max_sessions, options.idle, time.monotonic, observe)
    given = os.environ.get(_TOKEN)
    token = given or token_urlsafe(32)

    def started(url: str | None, control_url: str | None) -> None:
        note(f"serving {', '.join(template.backends)} {_place(url)}")
        if control_url:
            shown = f"the token in {_TOKEN}" if given else f"token {token}"
            note(f"control at {control_url}/sessions with {shown}")

    asyncio.run(serve(pool, options.http, options.control, token, started))
    return DONE


def _place(url: str | None) -> str:
    return f"at {url}/mcp; Ctrl-C stops it" if url else "on standard input and output"


def _make_template(options: Options) -> tuple[Session, Observe | None]:
    """Return the session to fork for each client, and the function for texts of results.

    Raises DataError if the environments, their config or the trajectory cannot be used.
    """
    if options.trajectory is not None:
        return _load_entry(options, options.trajectory)
    if options.dataset is not None:
        raise DataError("--dataset", "needs --trajectory ID: add it, or leave --dataset out")
    config = _read_config(options.config) if options.config else {}
    environments = options.environments or list(config)
    if not environments:
        raise DataError("NAME", "is missing; name an environment, --config or --trajectory")
    try:
        return Session.load(environments, config, checks_arguments=True), None
    except ConfigError as error:
        raise DataError(str(options.config or "NAME"), str(error)) from None


def _load_entry(options: Options, id: str) -> tuple[Session, Observe | None]:
    if options.environments:
        raise DataError("NAME", "cannot be combined with --trajectory; leave the names out")
    name = choose.dataset_name(options.dataset, [id])
    dataset = choose.dataset(name, categories_of([id]), note)
    trajectory = choose.trajectory(dataset, id)
    if not trajectory.environments:
        raise DataError("--trajectory", f"{trajectory.id} has no environment; name another entry")
    session = load_session(dataset, trajectory, checks_arguments=True)
    last = len(trajectory.turns) - 1
    session.offer(trajectory.offered(tuple(session.tools), last))
    return session, wording_of(options.observations or "own", dataset)


def _read_config(path: Path) -> dict[str, Any]:
    try:
        return parse_object(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DataError(str(path), f"is not UTF-8 text: {error.reason}") from None
