"""Training of an encoder with sentence-transformers, from a checkpoint or a configuration.

The library sentence-transformers implements the loss, the batches, the optimiser and the
checkpoints. Nothing is downloaded.
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

from envs.errors import DataError
from extensions.retrieval.encoder import TrainingSchedule, read_configuration
from extensions.retrieval.learner import Epoch
from extensions.retrieval.training_pairs import ContrastExample

logging.set_verbosity_error()
logging.disable_progress_bar()

_VOCABULARY = 4096
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_WARM_UP = 0.1
"""Share of the training steps for the warm-up; the learning rate rises in these steps."""
_DECAY = 0.01


def make(what: str, texts: Sequence[str], schedule: TrainingSchedule, folder: Path) -> None:
    """Create the initial encoder in a folder.

    ``what`` is the word ``small``, the path of a configuration file, or the path of a checkpoint
    folder. The tokenizer of a new encoder is trained on the texts.

    Raises DataError if the encoder does not exist.
    """
    try:
        if Path(what).is_dir():
            model = SentenceTransformer(what, device="cpu", local_files_only=True)
            own = model.max_seq_length or schedule.tokens
            model.max_seq_length = min(own, schedule.tokens)
        else:
            model = _make_encoder(read_configuration(what), texts, schedule, folder)
    except DataError:
        raise
    except Exception as error:  # any error of the libraries
        message = " ".join(f"{type(error).__name__}: {error}".split())
        raise DataError("--encoder", f"{what} is not a text encoder: {message:.200}") from None
    model.save(str(folder), create_model_card=False)


def _make_encoder(
    settings: dict[str, Any], texts: Sequence[str], schedule: TrainingSchedule, folder: Path
) -> Any:
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=_train_tokenizer(texts),
        pad_token=_SPECIAL[0],
        unk_token=_SPECIAL[1],
        cls_token=_SPECIAL[2],
        sep_token=_SPECIAL[3],
        mask_token=_SPECIAL[4],
    )
    torch.manual_seed(schedule.seed)
    kind = {name: value for name, value in settings.items() if name != "vocab_size"}
    config = AutoConfig.for_model(**kind, vocab_size=len(tokenizer))
    AutoModel.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    longest = min(schedule.tokens, int(getattr(config, "max_position_embeddings", 512)))
    words = Transformer(str(folder), max_seq_length=longest)
    modules = [words, Pooling(words.get_embedding_dimension(), "mean")]
    return SentenceTransformer(modules=modules, device="cpu")


def _train_tokenizer(texts: Sequence[str]) -> Any:
    """Train a byte-pair tokenizer, because this training is reproducible."""
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
    """Encoder training that can be resumed.

    ``base`` is the folder that ``make`` wrote. ``state`` is the folder of the checkpoints.
    """

    def __init__(
        self, base: Path, pairs: Sequence[ContrastExample], schedule: TrainingSchedule, state: Path
    ) -> None:
        self._schedule, self._state = schedule, state
        self._pairs = pairs
        device = "cuda" if _has_gpu() else "cpu"
        self._model = SentenceTransformer(str(base), device=device, local_files_only=True)
        # Without a model card no examples are needed; computing them is slow and prints progress.
        self._model.model_card_data.set_widget_examples = lambda _: None

    def learn(self, last: Epoch | None, after: Callable[[Epoch], None]) -> None:
        """Train the remaining epochs; call ``after`` at the end of each epoch."""
        trainer = SentenceTransformerTrainer(
            model=self._model,
            args=self._make_arguments(),
            train_dataset=self._make_dataset(),
            loss=MultipleNegativesRankingLoss(self._model),
            callbacks=[_AfterSaving(after)],
        )
        trainer.remove_callback(PrinterCallback)
        kept = self._state / f"checkpoint-{last.steps}" if last else None
        if kept and not kept.is_dir():
            message = (
                "this checkpoint is missing, so the training cannot resume; start a new training"
            )
            raise DataError(str(kept), message)
        trainer.train(resume_from_checkpoint=kept and str(kept))

    def save(self, folder: Path) -> None:
        """Write the current encoder into a folder."""
        self._model.save(str(folder), create_model_card=False)

    def _make_arguments(self) -> Any:
        schedule = self._schedule
        return SentenceTransformerTrainingArguments(
            output_dir=str(self._state),
            num_train_epochs=schedule.epochs,
            per_device_train_batch_size=schedule.batch,
            learning_rate=schedule.rate,
            warmup_steps=_WARM_UP,
            weight_decay=_DECAY,
            seed=schedule.seed,
            full_determinism=_has_gpu(),
            use_cpu=not _has_gpu(),
            # A text that occurs twice in a batch would be right and wrong at once.
            batch_sampler=BatchSamplers.NO_DUPLICATES,
            save_strategy="epoch",
            save_total_limit=2,
            logging_strategy="epoch",
            report_to="none",
            disable_tqdm=True,
        )

    def _make_dataset(self) -> Any:
        least = min(len(pair.negatives) for pair in self._pairs)
        columns = {
            "anchor": [pair.query for pair in self._pairs],
            "positive": [pair.positive for pair in self._pairs],
        }
        for number in range(least):
            columns[f"negative_{number + 1}"] = [pair.negatives[number] for pair in self._pairs]
        return Dataset.from_dict(columns)


class _AfterSaving(TrainerCallback):  # type: ignore[misc]
    """Callback that reports an epoch when its checkpoint is on disk."""

    def __init__(self, after: Callable[[Epoch], None]) -> None:
        self._after = after

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        # Making models and naming files may have drawn random numbers before.
        set_seed(args.seed)

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        losses = [each["loss"] for each in state.log_history if "loss" in each]
        self._after(Epoch(round(state.epoch), state.global_step, float(losses[-1])))


def _has_gpu() -> bool:
    return bool(torch.cuda.is_available())
