"""Command ``turnwise dataset probe``: probes whether a model has seen the entries of a data set."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from envs.errors import DataError
from extensions.contamination.probes import CHOICES, SHARED_WORDS, list_texts, probe
from runner.commands import DONE, RUN_ERROR
from runner.commands.common_options import EntriesOptions, JsonOption, category_option, note
from runner.commands.options import index, option, positive
from runner.data import dataset_choice
from runner.models.model_connection import connect
from runner.models.model_name import ModelName, parse_model_name
from runner.models.model_types import ModelError, RequestOptions
from runner.show.terminal import escape_unprintable, say, say_json

EXAMPLE = "turnwise dataset probe --model gpt-5-mini --category base --limit 50"

NOTES = (
    "The command makes three requests for each scenario. The model continues half of a user "
    "message and writes paraphrases of the message. The model then chooses the published "
    "text among the paraphrases. One more request asks for the canary.\n"
    "exit status: 0 done, 2 bad input, 3 unanswered requests\n"
)


@dataclass(frozen=True, kw_only=True)
class Options(EntriesOptions, JsonOption):
    """Options for the entries and the model."""

    category: str | None = category_option("base")
    model: ModelName = option("live model", "NAME", required=True, read=parse_model_name)
    base_url: str | None = option(
        "address of an OpenAI-compatible server (default: the provider's own)", "URL"
    )
    seed: int = option("seed of the random order of the texts", "S", default=0, read=index)
    concurrency: int = option("requests at once", "N", default=4, read=positive)


def run(options: Options) -> int:
    """Print how many texts the model recognises or continues."""
    data = dataset_choice.load_named(options.dataset, options.category or "base", note)
    found = dataset_choice.list_entries(data, None, options.subset, options.tag)
    texts = list_texts(dataset_choice.select_entries(found, options.ids, options.limit))
    if not texts:
        raise DataError("--category", "no entry has a user message of 12 words or more")
    try:
        client = connect(options.model, RequestOptions(base_url=options.base_url))
        probing = probe(
            client, texts, data.name, seed=options.seed, concurrency=options.concurrency
        )
        summary, stopped = asyncio.run(probing)
    except ModelError as error:
        note(f"{error}")
        return RUN_ERROR
    counts = {"texts": len(texts), "asked": summary.asked, "recognised": summary.recognised}
    if options.json:
        more = {"p": summary.p_value, "continued": summary.continued}
        results = [each._asdict() for each in summary.results if each.id]
        say_json({**counts, **more, "canary": summary.has_canary, "results": results})
    else:
        say(
            f"recognised texts: {summary.recognised} of {summary.asked} "
            f"(guessing: {1 / CHOICES:.0%}, p-value: {summary.p_value:.4f})"
        )
        say(
            f"continuations that repeat at least {SHARED_WORDS} published words: "
            f"{summary.continued} of {len(texts)} texts"
        )
        say(f"canary in an answer: {'yes' if summary.has_canary else 'no'}")
        for each in summary.results:
            if len(each.continued.split()) >= SHARED_WORDS:
                say(f"  {each.id}: {escape_unprintable(each.continued):.100}")
    if stopped is not None:
        note(stopped)
    return DONE if stopped is None else RUN_ERROR
