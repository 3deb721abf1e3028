"""The command ``turnwise serve``: a session's functions as an MCP server.

What it does is in ``runner.serve``, which needs the extra ``serve`` and is imported only then.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from envs.errors import ConfigError
from envs.session import Session
from runner.commands.common import DONE, new_command, note, positive
from runner.data import choose
from runner.records.result_file import categories_of
from trajectories.errors import DataError
from trajectories.jsonl import parse_object
from trajectories.prepare import load_session

_TOKEN = "TURNWISE_CONTROL_TOKEN"
"""Environment variable with the token of the control."""


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "Offer the functions of environments to MCP clients, a session to each."
    parser = new_command(commands, "serve", _serve, text)
    parser.add_argument(
        "--mcp",
        nargs="*",
        required=True,
        metavar="ENV",
        help="environments to serve; by default those of the config or the trajectory",
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--config", type=Path, metavar="FILE", help="initial config as JSON, by environment"
    )
    source.add_argument(
        "--trajectory",
        metavar="ID",
        help="serve the world of a trajectory, with all functions that it offers in the end",
    )
    parser.add_argument(
        "--dataset",
        metavar="NAME",
        help="where the trajectory is from: bfcl, bfcl:FOLDER, or a trajectory file",
    )
    parser.add_argument(
        "--http",
        type=_port,
        metavar="PORT",
        help="serve over HTTP on this machine (0: any free port) instead of standard input/output",
    )
    parser.add_argument(
        "--control",
        type=_port,
        metavar="PORT",
        help="let whoever has the token read, reset and restore sessions over HTTP on this port; "
        f"the token is {_TOKEN} or one that is shown at the start",
    )
    parser.add_argument(
        "--max-sessions",
        type=positive,
        default=100,
        metavar="N",
        help="how many clients may have a session (default: %(default)s)",
    )
    parser.add_argument(
        "--idle",
        type=positive,
        default=1800,
        metavar="SECONDS",
        help="drop a session that is not used for so long (default: %(default)s)",
    )


def _serve(options: argparse.Namespace) -> int:
    template = _template(options)
    # Both bring network libraries along, which no other command should have to load.
    import asyncio

    try:
        from runner.serve.pool import SessionPool
        from runner.serve.transports import serve
    except ModuleNotFoundError as error:
        needs = f"serving needs the package {error.name}: pip install 'turnwise[serve]'"
        raise DataError("serve", needs) from None
    pool = SessionPool(template, options.max_sessions, options.idle, time.monotonic)
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
    return f"at {url}/mcp; Ctrl-C ends it" if url else "on standard input and output"


def _template(options: argparse.Namespace) -> Session:
    """Return the session that every client's is forked from.

    Raises:
        DataError: The environments, their config or the trajectory cannot be used.
    """
    if options.trajectory is not None:
        return _of_trajectory(options)
    if options.dataset is not None:
        raise DataError("--dataset", "is where a trajectory is from; name one with --trajectory")
    config = _config(options.config) if options.config else {}
    environments = options.mcp or list(config)
    if not environments:
        raise DataError("--mcp", "name the environments to serve, or a --config or --trajectory")
    try:
        return Session.load(environments, config, checks_arguments=True)
    except ConfigError as error:
        raise DataError(str(options.config or "--mcp"), str(error)) from None


def _of_trajectory(options: argparse.Namespace) -> Session:
    if options.mcp:
        raise DataError("--mcp", "a trajectory has its own environments; leave the names out")
    wanted = categories_of([options.trajectory])
    dataset = choose.dataset(options.dataset, wanted, note)
    trajectory = choose.trajectory(dataset, options.trajectory)
    if not trajectory.environments:
        raise DataError("--trajectory", f"{trajectory.id} has no environment that could be served")
    session = load_session(dataset, trajectory, checks_arguments=True)
    last = len(trajectory.turns) - 1
    session.offer(trajectory.offered(tuple(session.tools), last))
    return session


def _config(path: Path) -> dict[str, Any]:
    try:
        return parse_object(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DataError(str(path), f"is not UTF-8 text: {error.reason}") from None


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, a number from 0 to 65535")
    return int(text)
