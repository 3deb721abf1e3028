"""The command ``turnwise vary``: experiments on the list of functions, and words for them."""

from __future__ import annotations

import asyncio
import csv
import json
from dataclasses import dataclass
from pathlib import Path

from envs.registry import BACKENDS, library, tools_of
from extensions.experiments.curve_page import curve_page
from extensions.experiments.drafting import NOT_REACHED, drafted
from extensions.experiments.vary_lines import csv_rows, experiment_lines
from extensions.experiments.vary_scores import experiment_json, experiment_of
from runner.commands import DONE, RUN_ERROR
from runner.commands.options import argument, option, positive, switch
from runner.commands.shared import DataOptions, JsonOption, note
from runner.data import choose
from runner.models.base import ModelError, RequestOptions
from runner.models.connect import connect
from runner.models.tools import Document, documents_of
from runner.records.files import write_whole, written
from runner.show.terminal import say, say_json
from trajectories.dataset import Dataset
from trajectories.errors import DataError

EXAMPLE = "turnwise vary runs/mine --html curves.html"
MOST = 5
"""Experiments that there are colours for."""


@dataclass(frozen=True, kw_only=True)
class Options(DataOptions, JsonOption):
    """Which experiments to sum up, and where."""

    folders: tuple[Path, ...] = argument(
        f"folder of eval --vary; up to {MOST}, one of each model",
        "FOLDER",
        required=False,
        default=(),
    )
    csv: Path | None = option("also write rows of CSV", "FILE")
    html: Path | None = option("also write a page with curves", "FILE")
    allow_errors: bool = switch(
        "give a score however many episodes ended in an error that is not the model's"
    )
    paraphrase: str | None = option(
        "instead: draft other words for functions with this live model, for descriptions=FILE; "
        "what does not hold keeps its own words",
        "MODEL",
        needs="--output",
    )
    base_url: str | None = option(
        "address of an OpenAI-compatible server (default: the provider's own)", "URL"
    )
    output: Path | None = option("where to write the draft", "FILE", flags=("--output", "-o"))
    concurrency: int = option("requests at once", "N", default=16, read=positive)


def run(options: Options) -> int:
    """Print what became of experiments, and write it where that is wanted."""
    if options.paraphrase is not None:
        return _draft(options, options.paraphrase)
    for flag, value in (("--output", options.output), ("--base-url", options.base_url)):
        if value is not None:
            raise DataError(flag, "is for a draft of other words: add --paraphrase MODEL")
    if not options.folders:
        raise DataError("FOLDER", "name the folder of an experiment, or --paraphrase MODEL")
    if len(options.folders) > MOST:
        raise DataError("FOLDER", f"up to {MOST} experiments stand beside each other")
    found = [experiment_of(each, allow_errors=options.allow_errors) for each in options.folders]
    if options.csv is not None:
        with written(options.csv) as file:
            csv.writer(file, lineterminator="\n").writerows(csv_rows(found))
        note(f"wrote {options.csv}")
    if options.html is not None:
        with written(options.html) as file:
            file.write(curve_page(found))
        note(f"wrote {options.html}")
    if options.json:
        say_json({"experiments": [experiment_json(each) for each in found]})
    else:
        for line in experiment_lines(found):
            say(line)
    return DONE


def _draft(options: Options, model: str) -> int:
    """Write other words for the functions of a data set, and say which keep their own."""
    if options.folders:
        raise DataError("--paraphrase", "drafts words for functions, and takes no FOLDER")
    dataset = choose.dataset_named(options.dataset, options.category, note)
    assert options.output is not None  # the options need each other
    documents = _documents(dataset)
    names = sorted({*documents, *tools_of((*BACKENDS, *library()))})
    try:
        client = connect(model, RequestOptions(base_url=options.base_url))
        drafts, stopped = asyncio.run(
            drafted(client, [*documents.values()], names, options.concurrency)
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
            note(f"{draft.name} keeps its own words: {draft.problem}")
    if left:
        note(f"{len(left)} functions keep their own words: {NOT_REACHED}")
    changed = len(drafts) - len(kept)
    say(f"{changed} of {len(drafts)} functions have other words in {options.output}; read them")
    if stopped is not None:
        note(stopped)
    return RUN_ERROR if stopped is not None else DONE


def _documents(dataset: Dataset) -> dict[str, Document]:
    """Return the documents of all functions that entries of a data set may call, by name."""
    found: dict[str, Document] = {}
    for trajectory in dataset.trajectories.values():
        for document in documents_of(trajectory, dataset.folder):
            found.setdefault(document["name"], document)
    return found
