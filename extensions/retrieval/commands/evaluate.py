"""The command ``turnwise retrieve evaluate``: how often rankings find what is needed."""

from __future__ import annotations

from dataclasses import dataclass

from extensions.retrieval.commands.options import METHODS, CorpusOptions, listed, measures_row
from extensions.retrieval.evaluating import Division, asked_of, measure
from extensions.retrieval.queries import Unseen
from extensions.retrieval.rankings import DEFAULT, Ranking
from runner.commands import DONE
from runner.commands.options import index, option, positive
from runner.commands.shared import JsonOption, note
from runner.show.terminal import say, say_json, table

EXAMPLE = "turnwise retrieve evaluate --queries own,exec --by bm25,default"

NOTES = (
    "A query is what the user says in one turn; relevant are the functions of its ground truth, "
    "by signature: name and parameter names. NDCG is scikit-learn's; all in 5: the share of "
    "queries all of whose functions are among the first five. Figures are percentages.\n\n"
)

_HEADING = ["queries", "corpus", "ranked by", "NDCG@1", "NDCG@5", "recall@5", "recall@10"]


@dataclass(frozen=True, kw_only=True)
class Options(CorpusOptions, JsonOption):
    """What is measured."""

    queries: str = option(
        "own (turns of our base), exec (executable entries), bfcl (turns of BFCL's base), "
        "bfcl-single (its single turns), a run folder (turns that passed), a file of trajectories "
        'or of {"query": TEXT, "relevant": [NAME, ...]}; several with commas',
        "NAMES",
        default="own",
    )
    by: str = option(f"several with commas: {METHODS}", "METHODS", default=f"bm25,{DEFAULT}")
    split: str | None = option(
        "only one fold of the queries, which shares with the rest no scenario (instruction), no "
        "backend (tool) or no group of backends (category): to hold out of a training",
        choices=[kind.value for kind in Unseen],
    )
    fold: int = option("which fold is held out, from 0", "N", default=0, read=index)
    folds: int = option("how many folds there are", "N", default=5, read=positive)
    split_seed: int = option("seed of who is in which fold", "S", default=0, read=index)


def run(options: Options) -> int:
    """Print how good rankings are."""
    rows, found = [[*_HEADING, "all in 5"]], []
    methods = listed("--by", options.by)
    for name in listed("--queries", options.queries):
        asked = asked_of(name, options.corpus, options.dataset, note)
        queries = asked.queries
        if options.split is not None:
            kind = Unseen(options.split)
            division = Division(kind, options.fold, options.folds, options.split_seed)
            queries = division.of(asked).held_out
        about = {"queries": name, "corpus": asked.corpus.name, "split": options.split}
        for by in methods:
            result = measure(Ranking(asked.corpus, by), queries)
            found.append({**about, "by": by, **result.to_json()})
            heads = [f"{name} ({len(queries)})", f"{asked.corpus.name} ({asked.corpus.size})", by]
            rows.append([*heads, *measures_row(result)])
    if options.json:
        say_json(found)
    else:
        say(table(rows))
    return DONE
