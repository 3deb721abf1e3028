"""Command ``turnwise import``: judges traces of other tools."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from shlex import quote

from checkers.profile import BFCL
from envs.errors import DataError, suggest_name
from extensions.traces import inspect_logs, langsmith, message_lists, otel
from extensions.traces.conversation import RecordedTrace, limited
from extensions.traces.documents import list_files, read_documents
from extensions.traces.feature import ImportRunFeature, ImportSettings, TraceFormat
from extensions.traces.trace_execution import PlayedTrace, play_trace
from runner.analysis.figure_lines import summary
from runner.analysis.figures import RunFigures
from runner.commands import DONE, RUN_ERROR
from runner.commands.common_options import DataOptions, JudgingOptions, note
from runner.commands.options import argument, option, switch
from runner.data import dataset_choice
from runner.data.dataset_choice import choose_profile
from runner.live.live_run import RunInputs
from runner.live.run_control import open_store
from runner.live.run_settings import Settings
from runner.models.model_name import LiveName
from runner.models.prompting import read_prompts
from runner.records.episode_record import EpisodeRecord, RunProgress
from runner.records.recorded_run import is_run
from runner.records.run_definition import Selection
from runner.records.run_store import RunStore, create_folder, default_folder
from runner.show.terminal import say
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import PreparedTrajectory, prepare
from trajectories.schema import Trajectory

EXAMPLE = "turnwise import traces.jsonl --format openai -o runs/imported"

_READERS = {
    "openai": message_lists.read_traces,
    "jsonl": message_lists.read_traces,
    "otel": otel.read_traces,
    "langsmith": langsmith.read_traces,
    "inspect": inspect_logs.read_traces,
}
_MODEL = "imported"
_MAX_LINES = 100
"""Maximum number of different results that are printed."""

Episode = tuple[Trajectory, int, RecordedTrace]


@dataclass(frozen=True, kw_only=True)
class Options(DataOptions, JudgingOptions):
    """Options for the traces and the run folder."""

    traces: tuple[Path, ...] = argument("file with traces, or folder of trace files", "TRACES")
    format: TraceFormat = option(
        "openai (messages of OpenAI, Anthropic, Gemini, Bedrock or LangChain, or Responses items), "
        "jsonl (one openai trace per line), otel (OTLP JSON), langsmith (exported runs), inspect "
        "(JSON logs)",
        required=True,
    )
    output: Path | None = option(
        "run folder (default: a new one in runs)", "DIR", flags=("--output", "-o")
    )
    entry: str | None = option("entry of the trace; only for a file with a single trace", "ID")
    model: str | None = option("name of the model (default: the model named in the traces)", "NAME")
    trust_results: bool = switch(
        "judge the recorded results, even if the execution returns other results"
    )


def run(options: Options) -> int:
    """Execute and judge traces, and save them as a run."""
    if options.output is not None and is_run(options.output):
        raise DataError(str(options.output), "already contains a run; choose another folder")
    traces = _read_traces(options)
    if options.entry is not None:
        if len(traces) != 1:
            raise DataError("--entry", f"is for a single trace, but the file has {len(traces)}")
        traces = [traces[0]._replace(entry=options.entry)]
    dataset, category = _load_dataset(options, traces)
    episodes = _episodes(traces, dataset)
    entries = {trajectory.id: trajectory for trajectory, _, _ in episodes}
    dataset_choice.require_languages(entries.values())
    model = options.model or _model(traces)
    reference = ImportSettings(options.format, options.trust_results)
    settings = Settings(features=(ImportRunFeature(reference),))
    profile = choose_profile(dataset, options.profile)
    plan = RunInputs(
        LiveName(model), dataset, profile, options.step_limit, settings, read_prompts()
    )
    plan.wording()
    # An entry that cannot be prepared is reported before a folder is made.
    prepared = {id: prepare(dataset, entry, profile) for id, entry in entries.items()}
    folder = options.output or create_folder(default_folder(model, datetime.now()))
    trials = 1 + max(trial for _, trial, _ in episodes)
    selection = Selection(category, ",".join(entries), None, None, None, trials)
    with (
        _removed_after_error(folder),
        open_store(
            folder, plan, selection, sys.argv, episodes=len(episodes), resumes=False
        ) as store,
    ):
        records = _play(plan, store, episodes, prepared)
    figures = RunFigures(
        records, list(entries.values()), progress=RunProgress(len(records), len(episodes))
    )
    return _report(folder, plan, figures, trials)


@contextmanager
def _removed_after_error(folder: Path) -> Iterator[None]:
    """Remove a new or empty folder if the ``with`` block fails."""
    is_new = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    try:
        yield
    except BaseException:
        if is_new:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _load_dataset(options: Options, traces: Sequence[RecordedTrace]) -> tuple[Dataset, str | None]:
    """Return the data set that contains the traces' entries, and the selected categories.

    Raises DataError if the data set cannot be loaded.
    """
    names = {trace.entry for trace in traces if trace.entry is not None}
    name, category = dataset_choice.guess_dataset_name(options.dataset, names), options.category
    dataset = dataset_choice.load_named(name, category, note)
    if category is None and name is None and not names <= dataset.trajectories.keys():
        category = "all"
        dataset = dataset_choice.load_named(name, category, note)
    return dataset, category


def _read_traces(options: Options) -> list[RecordedTrace]:
    """Return the traces of all files.

    Raises DataError if a trace cannot be read, or no trace exists.
    """
    lines = options.format == "jsonl"
    documents = [
        document
        for path in list_files(options.traces)
        for document in read_documents(path, lines=lines)
    ]
    found = limited(_READERS[options.format](documents))
    if not found:
        raise DataError(
            str(options.traces[0]), f"contains no messages in the format {options.format}"
        )
    return found


def _episodes(traces: Sequence[RecordedTrace], dataset: Dataset) -> list[Episode]:
    """Return the traces with their entries and trials.

    Raises DataError if a trace has no known entry, or if a trial occurs twice.
    """
    found: list[Episode] = []
    taken: dict[tuple[str, int], str] = {}
    first_free: dict[str, int] = {}
    for trace in traces:
        name = trace.entry
        if name is None:
            trace.node.refuse("has no entry id; add the id to the trace, or use --entry ID")
        if name not in dataset.trajectories:
            hint = suggest_name(name, dataset.trajectories)
            more = hint or "; --dataset and --category select the entries"
            trace.node.refuse(f"{name!r:.200} is not an entry of {dataset.name}{more}")
        free = first_free.get(name, 0)
        while (name, free) in taken:
            free += 1
        first_free[name] = free
        key = name, free if trace.trial is None else trace.trial
        if key in taken:
            trace.node.refuse(f"trial {key[1]} of {name} is also at {taken[key]}; keep one")
        taken[key] = trace.node.source
        found.append((dataset.trajectories[name], key[1], trace))
    return found


def _model(traces: Sequence[RecordedTrace]) -> str:
    """Return the model if all traces have the same one; otherwise return ``imported``."""
    models = {trace.model for trace in traces if trace.model}
    return models.pop() if len(models) == 1 else _MODEL


def _play(
    plan: RunInputs,
    store: RunStore,
    episodes: Sequence[Episode],
    prepared: Mapping[str, PreparedTrajectory],
) -> list[EpisodeRecord]:
    """Execute the episodes, store the records, and print the differences.

    Returns the records without messages and steps.
    """
    printed = total = 0
    records = []
    for trajectory, trial, trace in episodes:
        played: PlayedTrace = play_trace(plan, prepared[trajectory.id], trial, trace, store)
        store.append(played.record)
        records.append(played.record.outline)
        for warning in played.warnings:
            note(f"warning: {trace.node.source}: {trajectory.id}: {warning}")
        for difference in played.differences:
            total += 1
            if printed < _MAX_LINES:
                printed += 1
                say(f"{trajectory.id}{f', trial {trial}' if trial else ''}, {difference}")
    if total > printed:
        say(f"... and {total - printed} more different results; turnwise replay shows them")
    if total:
        feature = plan.feature(ImportRunFeature)
        assert feature is not None
        rule = "recorded results" if feature.reference.trust_results else "results of the execution"
        say(f"Differences from the recorded results: {total}. The verdicts use the {rule}.")
    return records


def _report(folder: Path, plan: RunInputs, figures: RunFigures, trials: int) -> int:
    """Print the score; return the exit status."""
    population = len({each.id for each in figures.outcomes})
    for line in summary(figures, trials, population, field=plan.profile is BFCL):
        say(line)
    data = plan.dataset
    say(
        f"model {plan.model}; data {data.name} {data.version}, sha256 {data.sha256[:12]}; "
        f"profile {plan.profile.name}; run {folder}"
    )
    say(f"next: turnwise report {quote(str(folder))} -o report.html")
    errors = [record for record in figures.outcomes if record.outcome == "error"]
    for record in errors:
        note(f"{record.id}: {record.error}")
    return RUN_ERROR if errors else DONE
