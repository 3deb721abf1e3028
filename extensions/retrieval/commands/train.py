"""The command ``turnwise retrieve train``: a ranking learns what queries need."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from envs.lazy import lazily
from extensions.retrieval.commands.options import CorpusOptions, listed, measures_row
from extensions.retrieval.definition import Recipe, defined
from extensions.retrieval.epochs import Epoch
from extensions.retrieval.evaluating import asked_of
from extensions.retrieval.queries import Unseen
from runner.commands import DONE
from runner.commands.options import argument, flags_of, index, option, positive, switch
from runner.commands.shared import JsonOption, note
from runner.records.codec import written
from runner.records.files import written as file_written
from runner.show.terminal import say, say_json, table
from trajectories.errors import DataError, needing

if TYPE_CHECKING:
    from extensions.retrieval import training
    from extensions.retrieval.measures import Measures
else:
    training = lazily("extensions.retrieval.training")

EXAMPLE = "turnwise retrieve train runs/layer --queries own,bfcl --split tool"

NOTES = (
    "Without --encoder a small linear layer over words and pieces of words is trained (extra "
    "lexical), with it an encoder by sentence-transformers (extra training). FOLDER then ranks as "
    "--by trained:FOLDER: functions that no query of the training needed keep the rank that they "
    "have lexically. An encoder without that gate is --by local:FOLDER/epochs/N.\n\n"
)


def rate(text: str) -> float:
    """Read a number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r:.40} is not a number between 0 and 1")
    return value


@dataclass(frozen=True, kw_only=True)
class Options(CorpusOptions, JsonOption):
    """What is trained."""

    folder: Path = argument("where the training is kept: a new folder", "FOLDER")
    resume: bool = switch("go on with the training in FOLDER, as it began")
    queries: str = option(
        "what is learned from, as turnwise retrieve evaluate has it; several with commas",
        "NAMES",
        default="own",
    )
    split: str = option(
        "what is held out and measured: queries of other scenarios (instruction), of other "
        "backends (tool), of other groups of backends (category), or none: then it is measured on "
        "what it learned from",
        choices=[*(kind.value for kind in Unseen), "none"],
        default=Unseen.INSTRUCTION.value,
    )
    fold: int = option("which fold is held out, from 0", "N", default=0, read=index)
    folds: int = option("how many folds there are", "N", default=5, read=positive)
    split_seed: int = option("seed of who is in which fold", "S", default=0, read=index)
    seed: int = option("seed of where it begins and of all orders", "S", default=0, read=index)
    epochs: int | None = option(
        "how often it goes through the queries (default: 6, of an encoder 5)", "N", read=positive
    )
    batch: int = option("queries, or pairs, of a step", "N", default=32, read=positive)
    rate: float | None = option(
        "how far a step goes (default: 0.002; of a checkpoint 0.00002, of an encoder that is made "
        "0.0005)",
        "X",
        read=rate,
    )
    dim: int | None = option(
        "numbers of a linear layer's vectors (default: 256)", "N", read=positive
    )
    encoder: str | None = option(
        "train an encoder: small (made here, with a tokenizer trained on the queries and "
        "functions), a JSON file (made by this configuration of transformers), or a folder with a "
        "checkpoint",
        "WHAT",
    )
    negatives: int | None = option(
        "of an encoder: functions that BM25 finds and that are not needed, for each pair, beside "
        "those of the batch (default: 2)",
        "N",
        read=index,
    )
    tokens: int | None = option(
        "of an encoder: tokens of a text that it reads, at most (default: 256)", "N", read=positive
    )
    export_pairs: Path | None = option(
        "also write queries beside functions that they need and do not need, as JSON lines", "FILE"
    )

    @property
    def settings(self) -> Recipe:
        """The user's choice.

        Raises:
            DataError: Options contradict each other.
        """
        made = self.encoder is not None and not Path(self.encoder).is_dir()
        if self.encoder is None:
            for flag, value in (("--negatives", self.negatives), ("--tokens", self.tokens)):
                if value is not None:
                    raise DataError(flag, "is for an encoder; add --encoder")
        elif self.dim is not None:
            raise DataError("--dim", "is for a linear layer, and not for --encoder")
        usual = _LAYER if self.encoder is None else _MADE if made else _CHECKPOINT
        return usual._replace(
            queries=tuple(listed("--queries", self.queries)),
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

    def began(self) -> Recipe:
        """Return how the training in the folder began.

        Raises:
            DataError: There is none, or what the user gives now differs.
        """
        before = defined(self.folder).settings
        typed = {**before._asdict(), "queries": ",".join(before.queries)}
        typed["split"] = before.split or "none"
        for member in fields(self):
            value, then = vars(self)[member.name], typed.get(member.name)
            if member.name in typed and value not in (member.default, then):
                [flag] = flags_of(member)
                raise DataError(flag, f"is {value}, and the training began with {then}")
        return before


_USUAL = ("epochs", "rate", "dim", "negatives", "tokens")
"""What depends on what is trained, where the user does not say."""
_LAYER = Recipe(
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
    """Train, and print what came of it."""
    settings = options.began() if options.resume else options.settings
    sets = [asked_of(name, settings.corpus, settings.dataset, note) for name in settings.queries]
    learning = training.Training(options.folder, settings, sets)
    if options.export_pairs is not None:
        with needing("lexical", "--export-pairs"), file_written(options.export_pairs) as file:
            for pair in learning.pairs(_MADE.negatives if settings.negatives is None else None):
                file.write(json.dumps(pair.to_json()) + "\n")
    if not options.resume:
        learning.begin()

    def report(epoch: Epoch, measures: Measures) -> None:
        at = f"epoch {epoch.number} of {settings.epochs}: loss {epoch.loss:.3f}"
        note(f"{at}, NDCG@5 {100 * measures.ndcg_5:.1f}")

    found = learning.learn(report)
    if options.json:
        say_json([written(each) for each in found])
        return DONE
    rows = [["queries", "by", "NDCG@1", "NDCG@5", "recall@5", "recall@10", "all in 5"]]
    rows += [[_heading(each), each.by, *measures_row(each.measures)] for each in found]
    say(table(rows))
    say(f"--by trained:{options.folder}")
    return DONE


def _heading(found: training.Evaluated) -> str:
    kind = "held out" if found.held_out else "learned from"
    return f"{found.queries} ({found.measures.queries} {kind})"
