"""The command ``turnwise compress``: what short results save, and what they lose."""

from __future__ import annotations

from dataclasses import dataclass

from extensions.compression.compressed import saving
from extensions.compression.compression import WAYS, Compression
from runner.commands import DONE
from runner.commands.options import option, positive
from runner.commands.shared import EntriesOptions, JsonOption, category_option, note
from runner.data import choose
from runner.show.terminal import say, say_json, table
from trajectories.errors import DataError
from trajectories.schema import JudgedBy

EXAMPLE = "turnwise compress --category long_context --limit 20"

NOTES = (
    "Counted over the results of the ground truth's calls: the tokens that are left, and the "
    "values that are lost. Lost is what a later call takes from a result, nobody has said, and no "
    "result shows any more.\n\n"
)


@dataclass(frozen=True, kw_only=True)
class Options(EntriesOptions, JsonOption):
    """What is made short."""

    category: str | None = category_option("long_context")
    tokens: int = option(
        "tokens that are shown of a result, at most", "N", default=1024, read=positive
    )
    by: str = option(f"ways, with commas: {', '.join(WAYS)}", "WAYS", default="cut,ends,keys")
    tokenizer: str | None = option(
        "a tokenizer.json that counts (default: four characters a token)", "PATH"
    )


def run(options: Options) -> int:
    """Print what each way saves and loses."""
    made = [
        Compression.named(f"{options.tokens},{way.strip()}", options.tokenizer)
        for way in options.by.split(",")
    ]
    category = options.category or "long_context"
    dataset = choose.dataset_named(options.dataset, category, note)
    found = choose.trajectories(dataset, None, options.split)
    chosen = choose.part(found, options.ids, options.limit, None, 0)
    chosen = [each for each in chosen if each.judged_by is not JudgedBy.CALLS]
    if not chosen:
        raise DataError("--category", f"{category}: these entries have calls, and no results")
    heading = ["way", "results", "over", "tokens", "kept", "saved", "values", "lost", "entries"]
    rows, lines = [[*heading, "losing"]], []
    for one in made:
        sum_of = saving(dataset, chosen, one)
        kept = sum_of.kept / max(1, sum_of.tokens)
        lost = sum_of.lost / max(1, sum_of.values)
        counts = [str(sum_of.results), str(sum_of.over), str(sum_of.tokens), f"{kept:.1%}"]
        ends = [f"{1 - kept:.1%}", str(sum_of.values), f"{sum_of.lost} ({lost:.1%})"]
        rows.append([str(one), *counts, *ends, str(sum_of.entries), str(sum_of.losing)])
        lines.append({"limit": one.limit, "way": one.way, **sum_of._asdict()})
    if options.json:
        say_json(lines)
        return DONE
    say(table(rows))
    counted = options.tokenizer or "four characters each"
    say(f"data {dataset.name}, {category}; tokens by {counted}")
    return DONE
