"""Command ``turnwise retrieve evaluate``: measures the quality of rankings."""

from __future__ import annotations

from dataclasses import dataclass

from extensions.retrieval.commands.options import (
    CORPUS_NOTES,
    METHOD_NOTES,
    CorpusOptions,
    mean_row,
    measures_row,
    split_names,
)
from extensions.retrieval.evaluation import load_query_set, measure
from extensions.retrieval.queries import SplitKind, parts
from extensions.retrieval.rankings import DEFAULT, Ranking, mask_ranking
from runner.commands import DONE
from runner.commands.common_options import JsonOption, note
from runner.commands.options import index, option, positive
from runner.show.terminal import say, say_json, table

EXAMPLE = "turnwise retrieve evaluate --queries own,exec --by bm25,default"

NOTES = (
    "queries:\n"
    "  own             user messages of the built-in category base\n"
    "  exec            BFCL's executable entries\n"
    "  bfcl            user messages of BFCL's category base\n"
    "  bfcl-single     BFCL's single turns\n"
    "  FOLDER          passed turns of a run\n"
    "  FILE            entries, or lines of\n"
    '                  {"query": TEXT, "relevant": [NAME, ...]}\n\n'
    f"{CORPUS_NOTES}\n{METHOD_NOTES}\n"
    "A function is relevant if a ground-truth function has the same name and parameter names. "
    "NDCG is computed as in scikit-learn. The column `all in 5` counts a query if all "
    "its relevant functions are among the first five. All numbers are percentages.\n"
)

_HEADING = ["queries", "corpus", "ranked by", "NDCG@1", "NDCG@5", "recall@5", "recall@10"]


@dataclass(frozen=True, kw_only=True)
class Options(CorpusOptions, JsonOption):
    """Options for queries, rankings and the held-out fold."""

    queries: str = option("query sets, separated by commas", "NAMES", default="own")
    by: str = option("rankings, separated by commas", "METHODS", default=f"bm25,{DEFAULT}")
    split: str | None = option(
        "evaluate only the held-out fold; two folds never share a scenario (`instruction`), a "
        "backend (`tool`) or a group of backends (`category`)",
        choices=[kind.value for kind in SplitKind],
    )
    fold: int = option("number of the held-out fold, starting at 0", "N", default=0, read=index)
    folds: int = option("number of folds", "N", default=5, read=positive)
    split_seed: int = option("seed of the folds", "S", default=0, read=index)


def run(options: Options) -> int:
    """Print the quality of rankings."""
    rows, found = [[*_HEADING, "all in 5"]], []
    methods = split_names("--by", options.by)
    names = split_names("--queries", options.queries)
    for name in names:
        asked = load_query_set(name, options.corpus, options.dataset, note)
        queries = asked.queries
        if options.split is not None:
            [(_, queries)] = parts(
                [(queries, asked.corpus)],
                SplitKind(options.split),
                fold=options.fold,
                folds=options.folds,
                seed=options.split_seed,
            )
        about = {"queries": name, "corpus": asked.corpus.name, "split": options.split}
        for by in methods:
            result, shown = measure(Ranking(asked.corpus, by), queries), mask_ranking(by)
            found.append({**about, "by": shown, **result.to_json()})
            heads = [f"{name} ({len(queries)})", f"{asked.corpus.name} ({asked.corpus.size})"]
            rows.append([*heads, shown, *measures_row(result)])
    if len(names) > 1:
        for by in map(mask_ranking, methods):
            rows.append(["mean", f"of {len(names)} sets", by, *mean_row(found, by)])
    if options.json:
        say_json(found)
    else:
        say(table(rows))
    return DONE
