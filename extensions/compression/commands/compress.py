"""Command ``turnwise compress``: measures the savings and losses of compressed results."""

from __future__ import annotations

from dataclasses import dataclass

from envs.errors import DataError
from extensions.compression.compression import WAYS, Compression
from extensions.compression.savings import measure_saving
from runner.commands import DONE
from runner.commands.common_options import EntriesOptions, JsonOption, category_option, note
from runner.commands.options import option, positive
from runner.data import dataset_choice
from runner.show.terminal import say, say_json, table
from trajectories.schema import JudgingMethod

EXAMPLE = "turnwise compress --category long_context --limit 20"

NOTES = (
    "The command shortens the results of ground-truth calls. It counts tokens and lost values. "
    "If a later call uses a value that the model no longer sees, this value is lost. "
    "The second table divides each result above the limit "
    "into ten equal parts and counts the needed values in each part. It counts only values that "
    "occur exactly once in all results.\n"
)


@dataclass(frozen=True, kw_only=True)
class Options(EntriesOptions, JsonOption):
    """Options for the entries and the compression methods."""

    category: str | None = category_option("long_context")
    tokens: int = option("maximum tokens per result", "N", default=1024, read=positive)
    by: str = option(
        f"compression methods, separated by commas: {', '.join(WAYS)}",
        "METHODS",
        default="cut,ends,keys",
    )
    tokenizer: str | None = option("tokenizer.json (default: 4 characters per token)", "PATH")


def run(options: Options) -> int:
    """Print the savings and losses of each kind of compression."""
    made = [
        Compression.named(f"{options.tokens},{way.strip()}", options.tokenizer, "--tokens", "--by")
        for way in options.by.split(",")
    ]
    category = options.category or "long_context"
    dataset = dataset_choice.load_named(options.dataset, category, note)
    found = dataset_choice.list_entries(dataset, None, options.subset, options.tag)
    chosen = dataset_choice.select_entries(found, options.ids, options.limit)
    chosen = [each for each in chosen if each.judged_by is not JudgingMethod.CALLS]
    if not chosen:
        raise DataError("--category", f"{category} has no results; choose a multi-turn category")
    heading = ["way", "results", "over", "tokens", "kept", "saved", "values", "lost", "entries"]
    rows, lines = [[*heading, "losing"]], []
    for one in made:
        sum_of = measure_saving(dataset, chosen, one)
        kept = sum_of.kept / max(1, sum_of.tokens)
        lost = sum_of.lost / max(1, sum_of.values)
        counts = [str(sum_of.results), str(sum_of.over), str(sum_of.tokens), f"{kept:.1%}"]
        ends = [f"{1 - kept:.1%}", str(sum_of.values), f"{sum_of.lost} ({lost:.1%})"]
        rows.append([str(one), *counts, *ends, str(sum_of.entries), str(sum_of.losing)])
        tenths = [sum_of.tenths.count(tenth) for tenth in range(10)]
        lines.append({"limit": one.limit, "way": one.way, **sum_of._asdict(), "tenths": tenths})
    if options.json:
        say_json(lines)
        return DONE
    say(table(rows))
    say(table([["tenth", *map(str, range(1, 11))], ["values", *map(str, tenths)]]))
    counted = options.tokenizer or "4 characters per token"
    say(f"data set: {dataset.name}; category: {category}; token count: {counted}")
    return DONE
