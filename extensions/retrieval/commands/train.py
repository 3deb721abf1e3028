"""Command ``turnwise retrieve train``: trains a ranking on queries and their functions."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from envs.errors import DataError, require_extra
from envs.lazy_modules import lazy_module
from extensions.retrieval.commands.options import CorpusOptions, measures_row, split_names
from extensions.retrieval.evaluation import load_query_set
from extensions.retrieval.learner import Epoch
from extensions.retrieval.queries import SplitKind
from extensions.retrieval.training_definition import TrainingSettings, load_definition
from runner.commands import DONE
from runner.commands.common_options import JsonOption, note
from runner.commands.options import argument, flags_of, index, option, positive, switch
from runner.records.durable_files import check_writable, write_output
from runner.records.json_codec import to_json_value
from runner.show.terminal import say, say_json, table

if TYPE_CHECKING:
    from extensions.retrieval import training
    from extensions.retrieval.measures import RankingMeasures
else:
    training = lazy_module("extensions.retrieval.training")

EXAMPLE = "turnwise retrieve train runs/layer --queries own,bfcl --split tool"

NOTES = (
    "Without --encoder, the command trains a linear layer over words and character n-grams (extra: "
    "lexical). With --encoder, the command trains an encoder with sentence-transformers (extra: "
    "training). To rank functions with the trained model, use --by trained:FOLDER. The trained "
    "model ranks only the functions in its training data. Other functions keep their lexical "
    "rank. To rank all functions with the encoder, use --by local:FOLDER/epochs/N.\n"
)


def rate(text: str) -> float:
    """Parse a number between 0 and 1."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r:.40} is not a number between 0 and 1")
    return value


@dataclass(frozen=True, kw_only=True)
class _SplitOptions:
    """Training and held-out queries."""

    queries: str = option(
        "query sets, separated by commas (see turnwise retrieve evaluate)",
        "NAMES",
        default="own",
    )
    split: str = option(
        "unit of a fold: one scenario (instruction), one backend (tool) or several (category)",
        choices=[*(kind.value for kind in SplitKind), "none"],
        default=SplitKind.INSTRUCTION.value,
    )
    fold: int = option("number of the held-out fold, starting at 0", "N", default=0, read=index)
    folds: int = option("number of folds", "N", default=5, read=positive)
    split_seed: int = option("seed of the folds", "S", default=0, read=index)


@dataclass(frozen=True, kw_only=True)
class _TrainingOptions:
    """Training."""

    seed: int = option(
        "seed of the initial weights and the query order", "S", default=0, read=index
    )
    epochs: int | None = option("epochs (default: 6, or 5 with --encoder)", "N", read=positive)
    batch: int = option(
        "batch size, in queries (layer) or pairs (encoder)", "N", default=32, read=positive
    )
    rate: float | None = option(
        "learning rate (default: 0.002 for a layer, 0.0005 for a new encoder, 0.00002 for a "
        "checkpoint)",
        "X",
        read=rate,
    )
    dim: int | None = option(
        "dimension of the linear layer (default: 256)", "N", read=positive, excludes=("--encoder",)
    )
    encoder: str | None = option(
        "train an encoder: small, a JSON configuration of transformers, or a checkpoint folder",
        "ENCODER",
    )
    negatives: int | None = option(
        "encoder: number of hard negatives that BM25 selects per pair (default: 2)",
        "N",
        read=index,
        needs="--encoder",
    )
    tokens: int | None = option(
        "encoder: tokens per text (default: 256)", "N", read=positive, needs="--encoder"
    )


@dataclass(frozen=True, kw_only=True)
class Options(_TrainingOptions, _SplitOptions, CorpusOptions, JsonOption):
    """Options for the training folder."""

    folder: Path = argument("new folder for the trained model", "FOLDER")
    resume: bool = switch("resume the training in FOLDER")
    export_pairs: Path | None = option(
        "also write pairs of queries and functions as JSON lines", "FILE"
    )

    @property
    def settings(self) -> TrainingSettings:
        """The settings of the training. Raises DataError if the name of a query set is empty."""
        made = self.encoder is not None and not Path(self.encoder).is_dir()
        usual = _LAYER if self.encoder is None else _MADE if made else _CHECKPOINT
        return usual._replace(
            queries=tuple(split_names("--queries", self.queries)),
            corpus=self.corpus,
            dataset=self.dataset,
            batch=self.batch,
            seed=self.seed,
            encoder=self.encoder,
            split=None if self.split == "none" else self.split,
            fold=self.fold,
            folds=self.folds,
            split_seed=self.split_seed,
            **{name: value for name in _USUAL if (value := vars(self)[name]) is not None},
        )

    def began(self) -> TrainingSettings:
        """Return the settings that the training in the folder was started with.

        Raises DataError if the folder has no training, or an option differs from the stored
        setting.
        """
        before = load_definition(self.folder).settings
        typed = {**before._asdict(), "queries": ",".join(before.queries)}
        typed["split"] = before.split or "none"
        for member in fields(self):
            value, then = vars(self)[member.name], typed.get(member.name)
            if member.name in typed and value not in (member.default, then):
                [flag] = flags_of(member)
                raise DataError(
                    flag, f"is {value} now, but was {then} at the start; leave out the option"
                )
        return before


_USUAL = ("epochs", "rate", "dim", "negatives", "tokens")
"""Options whose default depends on the kind of model."""
_LAYER = TrainingSettings(
    kind="linear",
    queries=(),
    corpus=None,
    dataset=None,
    epochs=6,
    batch=32,
    rate=2e-3,
    seed=0,
    dim=256,
    encoder=None,
    negatives=None,
    tokens=None,
    split=None,
    fold=0,
    folds=5,
    split_seed=0,
)
_CHECKPOINT = _LAYER._replace(
    kind="encoder", epochs=5, rate=2e-5, dim=None, negatives=2, tokens=256
)
_MADE = _CHECKPOINT._replace(rate=5e-4)


def run(options: Options) -> int:
    """Train a ranking and print its quality."""
    check_writable(options.export_pairs)
    settings = options.began() if options.resume else options.settings
    sets = [
        load_query_set(name, settings.corpus, settings.dataset, note) for name in settings.queries
    ]
    learning = training.Training(options.folder, settings, sets)
    if options.export_pairs is not None:
        with require_extra("lexical", "--export-pairs"):
            pairs = learning.pairs(_MADE.negatives if settings.negatives is None else None)
            lines = (json.dumps(pair.to_json()) + "\n" for pair in pairs)
            write_output(options.export_pairs, lines)
    if not options.resume:
        learning.begin()

    def report(epoch: Epoch, measures: RankingMeasures) -> None:
        at = f"epoch {epoch.number} of {settings.epochs}: loss {epoch.loss:.3f}"
        note(f"{at}, NDCG@5 {100 * measures.ndcg_5:.1f}")

    found = learning.learn(report)
    if options.json:
        say_json([to_json_value(each) for each in found])
        return DONE
    rows = [["queries", "by", "NDCG@1", "NDCG@5", "recall@5", "recall@10", "all in 5"]]
    rows += [[_heading(each), each.by, *measures_row(each.measures)] for each in found]
    say(table(rows))
    say(f"--by trained:{options.folder}")
    return DONE


def _heading(found: training.RankingScores) -> str:
    kind = "held out" if found.held_out else "trained on"
    return f"{found.queries} ({found.measures.queries} {kind})"
