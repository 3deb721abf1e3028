"""Command ``turnwise env serve``: serves sessions over MCP, or episodes over MCP and HTTP."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_urlsafe
from shlex import quote
from typing import TYPE_CHECKING, Any

from checkers.profile import BFCL
from envs.errors import ConfigError, DataError, require_extra
from envs.lazy_modules import lazy_module
from envs.session import Session
from extensions.serving.session_pool import SessionPool
from runner.analysis.figure_lines import summary
from runner.analysis.figures import RunFigures
from runner.commands import DONE
from runner.commands.common_options import JudgingOptions, SampleOptions, note
from runner.commands.options import argument, given_flags, option, port, positive, switch
from runner.commands.plan_execution import selection_of
from runner.commands.run_features import add_features
from runner.data import dataset_choice
from runner.data.bfcl_wording import wording_of
from runner.live.live_run import RunInputs
from runner.live.run_settings import Settings
from runner.models.conversation import Observe
from runner.models.model_name import LiveName, ModelName
from runner.models.prompting import read_prompts
from runner.models.settings import Observations
from runner.records.bfcl_result_file import categories_of
from runner.records.episode_record import RunProgress
from runner.records.recorded_run import read_records
from runner.show.terminal import format_count
from trajectories.jsonl import parse_object, read_text
from trajectories.prepared_trajectory import load_session
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from extensions.serving import episode_run, mcp_server
else:
    # They need an extra.
    episode_run = lazy_module("extensions.serving.episode_run")
    mcp_server = lazy_module("extensions.serving.mcp_server")

EXAMPLE = "turnwise env serve TicketAPI --http 8000"

_AGENT = "served"
_TOKEN = "TURNWISE_CONTROL_TOKEN"
"""Environment variable with the token of the control server."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ServedEpisodeOptions(SampleOptions, JudgingOptions):
    """Options for serving the episodes of a data set."""

    model: ModelName = option(
        "name of the agent in result tables", "NAME", default=LiveName(_AGENT), read=LiveName
    )
    trials: int = option("episodes per entry", "N", default=1, read=positive)
    run_dir: Path | None = option("run folder (default: a new one in runs)", "DIR", one_of="folder")
    resume: Path | None = option(
        "resume the run in this folder; episodes with errors start again", "DIR", one_of="folder"
    )
    hide_verdict: bool = switch("do not show the verdict to the agent")


@dataclass(frozen=True, kw_only=True)
class Options(ServedEpisodeOptions):
    """Options for the environments and the servers."""

    environments: tuple[str, ...] = argument(
        "environments to serve (default: those of the config or entry)",
        "NAME",
        required=False,
        default=(),
    )
    config: Path | None = option("initial config as JSON, by environment", "FILE", one_of="source")
    trajectory: str | None = option(
        "serve the functions that this entry offers in its last turn", "ID", one_of="source"
    )
    observations: Observations | None = option(
        "with --trajectory: wording of errors for refused calls (default: own)",
        needs="--trajectory",
    )
    http: int | None = option(
        "serve over HTTP (0: any free port; default: standard input/output)", "PORT", read=port
    )
    control: int | None = option(
        f"serve a control API for sessions; its token is read from {_TOKEN} or printed at the "
        "start",
        "PORT",
        read=port,
    )
    max_sessions: int = option("maximum number of sessions", "N", default=100, read=positive)
    idle: int = option(
        "time without requests after which a session ends", "SECONDS", default=1800, read=positive
    )
    extensions: Mapping[str, Any] = field(default_factory=dict)


def run(options: Options) -> int:
    """Serve until the client or the user stops the command."""
    choosing = [flag for flag in given_flags(options, SampleOptions) if flag != "--sample-seed"]
    if choosing and options.trajectory is None:
        return _serve_episodes(options)
    settings = add_features(options, options.extensions, Settings())
    flags = [feature.flag for feature in settings.features]
    for flag in (*given_flags(options, ServedEpisodeOptions), *flags):
        if flag != "--dataset":
            where = (
                "leave out --trajectory"
                if choosing
                else "select entries with --dataset or --category"
            )
            raise DataError(flag, f"this option needs entries; {where}")
    # Output of environments must not reach a client on standard output.
    with redirect_stdout(sys.stderr):
        template, observe = _make_template(options)
    with require_extra("serve", "env serve"):
        serve = mcp_server.serve
    pool = SessionPool(template, options.max_sessions, options.idle, time.monotonic, observe)
    known = os.environ.get(_TOKEN)
    token = known or token_urlsafe(32)

    def started(url: str | None, control_url: str | None) -> None:
        note(f"serving {', '.join(template.backends)} {_place(url)}")
        if control_url:
            shown = f"the token in {_TOKEN}" if known else f"token {token}"
            note(f"control API at {control_url}/sessions with {shown}")

    asyncio.run(serve(pool, options.http, options.control, token, started))
    return DONE


def _serve_episodes(options: Options) -> int:
    """Serve the episodes of entries, then print the score.

    Raises DataError if an option, the data or the folder cannot be used.
    """
    given = ("NAME", options.environments), ("--config", options.config)
    for name, value in (*given, ("--control", options.control)):
        if value not in ((), None):
            raise DataError(
                name, "cannot be combined with options that choose entries; remove one of them"
            )
    with require_extra("serve", "env serve"):
        service = episode_run.EpisodeServerSettings(
            options.http, options.max_sessions, options.idle, options.hide_verdict
        )
    with redirect_stdout(sys.stderr):
        dataset = dataset_choice.load_named(options.dataset, options.category, note)
        everything = dataset_choice.list_entries(dataset, None, options.subset, options.tag)
        entries = dataset_choice.select_entries(
            everything, options.ids, options.limit, options.sample, options.sample_seed
        )
        episode_run.require_servable(entries)
    settings = Settings(concurrency=options.max_sessions)
    settings = add_features(options, options.extensions, settings)
    profile = dataset_choice.choose_profile(dataset, options.profile)
    limit = options.step_limit
    plan = RunInputs(options.model, dataset, profile, limit, settings, read_prompts())
    selection = selection_of(
        options, options.resume, options.sample, options.sample_seed, options.trials
    )

    def started(url: str | None, folder: Path, episodes: int) -> None:
        place = f"at {url}/episode and {url}/mcp" if url else "on standard input and output"
        note(f"serving {format_count(episodes, 'episode')} {place}, stored in {folder}")

    folder = service.play(
        plan,
        entries,
        selection,
        options.resume or options.run_dir,
        resumes=options.resume is not None,
        started=started,
    )
    _report(folder, plan, entries, options)
    return DONE


def _report(folder: Path, plan: RunInputs, entries: Sequence[Trajectory], options: Options) -> None:
    """Print the score on standard error, because standard output may belong to a client."""
    records = [each._replace(messages=(), steps=(), result=None) for each in read_records(folder)]
    progress = RunProgress(len(records), len(entries) * options.trials)
    shown = quote(str(folder))
    if progress.is_unfinished:
        note(f"{progress.done} of {progress.planned} episodes are finished; add --resume {shown}")
    if not records:
        return
    figures = RunFigures(records, entries, progress=progress)
    for text in summary(figures, options.trials, len(entries), field=plan.profile is BFCL):
        for line in text.splitlines():
            note(line)
    note(f"next: turnwise report {shown} -o report.html")


def _place(url: str | None) -> str:
    return f"at {url}/mcp; Ctrl-C stops the server" if url else "on standard input and output"


def _make_template(options: Options) -> tuple[Session, Observe | None]:
    """Return the session to fork for each client, and the function that renders results.

    Raises DataError if the environments, their config or the trajectory cannot be used.
    """
    if options.trajectory is not None:
        return _load_entry(options, options.trajectory)
    config: dict[str, Any] = {}
    if options.config:
        config = parse_object(read_text(options.config), str(options.config))
    environments = options.environments or list(config)
    if not environments:
        raise DataError("NAME", "is missing; give an environment, or use --config or --trajectory")
    try:
        return Session.load(environments, config, checks_arguments=True), None
    except ConfigError as error:
        raise DataError(str(options.config or "NAME"), str(error)) from None


def _load_entry(options: Options, id: str) -> tuple[Session, Observe | None]:
    if options.environments:
        raise DataError("NAME", "cannot be combined with --trajectory; leave out the environments")
    name = dataset_choice.guess_dataset_name(options.dataset, [id])
    dataset = dataset_choice.open_dataset(name, categories_of([id]), note)
    trajectory = dataset_choice.get_entry(dataset, id)
    if not trajectory.environments:
        raise DataError("--trajectory", f"{trajectory.id} has no environment; use another entry")
    session = load_session(dataset, trajectory, checks_arguments=True)
    last = len(trajectory.turns) - 1
    session.offer(trajectory.offered(tuple(session.tools), last))
    return session, wording_of(options.observations or "own", dataset)
