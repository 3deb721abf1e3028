"""Training an encoder with sentence-transformers: from a checkpoint, or made from a configuration.

Loss, batches, optimiser and what is needed to go on are that library's. Nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from sentence_transformers.sentence_transformer.training_args import BatchSamplers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    AutoConfig,
    AutoModel,
    PreTrainedTokenizerFast,
    PrinterCallback,
    TrainerCallback,
    set_seed,
)
from transformers.utils import logging

from extensions.retrieval.encoder import Schedule, configuration
from extensions.retrieval.epochs import Epoch
from extensions.retrieval.pairs import Contrast
from trajectories.errors import DataError

logging.set_verbosity_error()
logging.disable_progress_bar()

_VOCABULARY = 4096
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_WARM_UP = 0.1
"""The share of all steps in which the rate rises."""
_DECAY = 0.01


def make(what: str, texts: Sequence[str], schedule: Schedule, folder: Path) -> None:
    """Write the encoder that a training begins with.

    Args:
        what: ``small``, a file with a configuration, or a folder with a checkpoint.
        texts: What the tokenizer of one that is made is trained on.
        schedule: Of its tokens and its seed.
        folder: Where to.

    Raises:
        DataError: There is no such encoder.
    """
    try:
        if Path(what).is_dir():
            model = SentenceTransformer(what, device="cpu", local_files_only=True)
            own = model.max_seq_length or schedule.tokens
            model.max_seq_length = min(own, schedule.tokens)
        else:
            model = _made(configuration(what), texts, schedule, folder)
    except DataError:
        raise
    except Exception as error:  # whatever the libraries make of what a stranger wrote
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise DataError("--encoder", f"{what} is no encoder of texts: {said:.200}") from None
    model.save(str(folder), create_model_card=False)


def _made(
    configuration: dict[str, Any], texts: Sequence[str], schedule: Schedule, folder: Path
) -> Any:
    """Return an encoder that has learned nothing, and a tokenizer that knows the texts."""
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=_tokenizer(texts),
        pad_token=_SPECIAL[0],
        unk_token=_SPECIAL[1],
        cls_token=_SPECIAL[2],
        sep_token=_SPECIAL[3],
        mask_token=_SPECIAL[4],
    )
    torch.manual_seed(schedule.seed)
    kind = {name: value for name, value in configuration.items() if name != "vocab_size"}
    config = AutoConfig.for_model(**kind, vocab_size=len(tokenizer))
    AutoModel.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    longest = min(schedule.tokens, int(getattr(config, "max_position_embeddings", 512)))
    words = Transformer(str(folder), max_seq_length=longest)
    modules = [words, Pooling(words.get_embedding_dimension(), "mean")]
    return SentenceTransformer(modules=modules, device="cpu")


def _tokenizer(texts: Sequence[str]) -> Any:
    """Return a tokenizer of merged bytes: one of pieces of words never comes out the same again."""
    made = Tokenizer(models.BPE(unk_token=_SPECIAL[1]))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    trainer = trainers.BpeTrainer(
        vocab_size=_VOCABULARY,
        special_tokens=list(_SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(texts, trainer)
    first, last = ((_SPECIAL[place], place) for place in (2, 3))
    made.post_processor = processors.BertProcessing(last, first)
    return made


class EncoderTraining:
    """An encoder on its way.

    Args:
        base: The folder that ``make`` wrote.
        pairs: What it learns from, with equally many negatives each.
        schedule: How.
        state: A folder for what is needed to go on.
    """

    def __init__(
        self, base: Path, pairs: Sequence[Contrast], schedule: Schedule, state: Path
    ) -> None:
        self._schedule, self._state = schedule, state
        self._pairs = pairs
        device = "cuda" if _accelerated() else "cpu"
        self._model = SentenceTransformer(str(base), device=device, local_files_only=True)
        # No model card is written, so it needs no examples, which take a while and say so.
        self._model.model_card_data.set_widget_examples = lambda _: None

    def learn(self, last: Epoch | None, after: Callable[[Epoch], None]) -> None:
        """See every pair once more in each epoch after the last; tell ``after`` of each."""
        trainer = SentenceTransformerTrainer(
            model=self._model,
            args=self._arguments(),
            train_dataset=self._dataset(),
            loss=MultipleNegativesRankingLoss(self._model),
            callbacks=[_AfterSaving(after)],
        )
        trainer.remove_callback(PrinterCallback)
        kept = self._state / f"checkpoint-{last.steps}" if last else None
        if kept and not kept.is_dir():
            raise DataError(str(kept), "is missing: the training cannot go on")
        trainer.train(resume_from_checkpoint=kept and str(kept))

    def save(self, folder: Path) -> None:
        """Write the encoder as it is."""
        self._model.save(str(folder), create_model_card=False)

    def _arguments(self) -> Any:
        schedule = self._schedule
        return SentenceTransformerTrainingArguments(
            output_dir=str(self._state),
            num_train_epochs=schedule.epochs,
            per_device_train_batch_size=schedule.batch,
            learning_rate=schedule.rate,
            warmup_steps=_WARM_UP,
            weight_decay=_DECAY,
            seed=schedule.seed,
            full_determinism=_accelerated(),
            use_cpu=not _accelerated(),
            # Of two texts that are equal, one would count as wrong where the other is right.
            batch_sampler=BatchSamplers.NO_DUPLICATES,
            save_strategy="epoch",
            save_total_limit=2,
            logging_strategy="epoch",
            report_to="none",
            disable_tqdm=True,
        )

    def _dataset(self) -> Any:
        least = min(len(pair.negatives) for pair in self._pairs)
        columns = {
            "anchor": [pair.query for pair in self._pairs],
            "positive": [pair.positive for pair in self._pairs],
        }
        for number in range(least):
            columns[f"negative_{number + 1}"] = [pair.negatives[number] for pair in self._pairs]
        return Dataset.from_dict(columns)


class _AfterSaving(TrainerCallback):  # type: ignore[misc]
    """Tells of an epoch when what is needed to go on is on the disk."""

    def __init__(self, after: Callable[[Epoch], None]) -> None:
        self._after = after

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        # What came before may have drawn numbers: models are made, files are named.
        set_seed(args.seed)

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        losses = [each["loss"] for each in state.log_history if "loss" in each]
        self._after(Epoch(round(state.epoch), state.global_step, float(losses[-1])))


def _accelerated() -> bool:
    return bool(torch.cuda.is_available())
