"""Command ``turnwise vary``: shows experiments, and drafts paraphrased descriptions."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from envs.errors import DataError
from envs.registry import BACKENDS, list_tools, load_library
from extensions.experiments.curve_page import curve_page
from extensions.experiments.experiment_lines import csv_rows, experiment_lines
from extensions.experiments.experiment_scores import experiment_json, load_experiment
from extensions.experiments.paraphrase_drafts import NOT_REACHED, draft_paraphrases
from runner.analysis.figure_lines import csv_text
from runner.commands import DONE, RUN_ERROR
from runner.commands.common_options import DataOptions, JsonOption, note, write_pages
from runner.commands.options import argument, option, positive, switch
from runner.data import dataset_choice
from runner.models.model_connection import connect
from runner.models.model_name import ModelName, parse_model_name
from runner.models.model_types import ModelError, RequestOptions
from runner.models.toolbox import Document, documents_of
from runner.records.durable_files import check_writable, write_whole
from runner.show.terminal import say, say_json
from trajectories.dataset import Dataset

EXAMPLE = "turnwise vary runs/mine --html curves.html"
MAX_EXPERIMENTS = 5
"""Maximum number of experiments. The HTML page has five colours for curves."""


@dataclass(frozen=True, kw_only=True)
class _ParaphraseOptions:
    """Draft of descriptions=FILE."""

    paraphrase: ModelName | None = option(
        "draft paraphrased descriptions with this live model",
        "MODEL",
        read=parse_model_name,
        needs="--output",
    )
    base_url: str | None = option(
        "address of an OpenAI-compatible server (default: the provider's own)",
        "URL",
        needs="--paraphrase",
    )
    output: Path | None = option(
        "file for the draft", "FILE", flags=("--output", "-o"), needs="--paraphrase"
    )
    concurrency: int = option("requests at once", "N", default=16, read=positive)


@dataclass(frozen=True, kw_only=True)
class Options(DataOptions, JsonOption, _ParaphraseOptions):
    """Options for the experiments and the output files."""

    folders: tuple[Path, ...] = argument(
        f"folder that eval --vary wrote; up to {MAX_EXPERIMENTS} folders",
        "FOLDER",
        required=False,
        default=(),
    )
    csv: Path | None = option("also write a CSV file", "FILE")
    html: Path | None = option("also write an HTML page with curves", "FILE")
    allow_errors: bool = switch("print a score even with more than 2% errors")


def run(options: Options) -> int:
    """Print the results of experiments, and write them as CSV or HTML."""
    check_writable(options.csv, options.html, options.output)
    if options.paraphrase is not None:
        return _draft(options, options.paraphrase)
    if not options.folders:
        raise DataError(
            "FOLDER", "is missing; give the folder of an experiment, or pass --paraphrase"
        )
    if len(options.folders) > MAX_EXPERIMENTS:
        raise DataError("FOLDER", f"accepts at most {MAX_EXPERIMENTS} experiments; leave some out")
    found = [load_experiment(each, allow_errors=options.allow_errors) for each in options.folders]
    table = partial(csv_text, csv_rows(found))
    write_pages((options.csv, table), (options.html, partial(curve_page, found)))
    if options.json:
        say_json({"experiments": [experiment_json(each) for each in found]})
    else:
        for line in experiment_lines(found):
            say(line)
    return DONE


def _draft(options: Options, model: ModelName) -> int:
    if options.folders:
        raise DataError("--paraphrase", "cannot be combined with FOLDER; leave one of them out")
    dataset = dataset_choice.load_named(options.dataset, options.category, note)
    assert options.output is not None  # --paraphrase needs --output
    documents = _documents(dataset)
    names = sorted({*documents, *list_tools((*BACKENDS, *load_library()))})
    try:
        client = connect(model, RequestOptions(base_url=options.base_url))
        drafts, stopped = asyncio.run(
            draft_paraphrases(client, [*documents.values()], names, options.concurrency)
        )
    except ModelError as error:
        note(f"{error}")
        return RUN_ERROR
    left = [draft for draft in drafts if draft.problem == NOT_REACHED]
    if stopped is not None and len(left) == len(drafts):
        note(stopped)
        return RUN_ERROR
    words = {draft.name: draft.words._asdict() for draft in drafts}
    text = json.dumps(words, indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(options.output, [text.encode("utf-8", "backslashreplace"), b"\n"], named=True)
    kept = [draft for draft in drafts if draft.problem is not None]
    for draft in kept:
        if draft not in left:
            note(f"{draft.name} keeps its description: {draft.problem}")
    if left:
        note(f"{len(left)} functions keep their descriptions: {NOT_REACHED}")
    changed = len(drafts) - len(kept)
    say(f"{options.output}: {changed} of {len(drafts)} descriptions paraphrased; review them")
    if stopped is not None:
        note(stopped)
    return RUN_ERROR if stopped is not None else DONE


def _documents(dataset: Dataset) -> dict[str, Document]:
    found: dict[str, Document] = {}
    for trajectory in dataset.trajectories.values():
        for document in documents_of(trajectory, dataset.folder):
            found.setdefault(document["name"], document)
    return found
