"""Fine-tune a small model on transcripts on a CPU, to show that the files load and the loss falls.

    turnwise export runs/searched/dfsdt --format trl --split instruction -o training
    python examples/fine_tune.py training

It needs ``pip install 'turnwise[training]'`` and torch. The script creates a random model and
learns a tokenizer from the files. It downloads nothing, and the model learns nothing useful.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from datasets import Dataset, load_dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    PrinterCallback,
    set_seed,
)
from trl import SFTConfig, SFTTrainer

TEMPLATE = """
{%- if tools %}<|tools|>{% for tool in tools %}{{ tool.function.name }} {% endfor %}<|end|>
{% endif %}
{%- for message in messages %}<|{{ message.role }}|>
{%- if message.content %}{{ message.content }}{% endif %}
{%- for call in message.tool_calls or [] %}<|call|>{{ call.function | tojson }}{% endfor %}<|end|>
{% endfor %}
{%- if add_generation_prompt %}<|assistant|>{% endif %}
"""
"""Chat template that writes a transcript as text; a real model has its own template."""
MARKS = ["system", "user", "assistant", "tool", "tools", "call", "end"]


def words(rows: Dataset) -> Iterator[str]:
    """Yield the texts of transcripts, as training data for a tokenizer."""
    for row in rows:
        yield json.dumps(row["messages"])
        yield row["tools"] or ""


def tokenizer_of(rows: Dataset) -> PreTrainedTokenizerFast:
    """Return a small tokenizer, learned from transcripts."""
    marks = [f"<|{mark}|>" for mark in MARKS]
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=1000, special_tokens=marks, initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(words(rows), trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="<|end|>", pad_token="<|end|>", chat_template=TEMPLATE
    )


def model_for(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """Return a random model of one layer."""
    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1}
    return LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), num_attention_heads=2, **size))


def fine_tune(folder: Path, output: Path, steps: int = 30) -> list[float]:
    """Train on a folder of transcripts; return the loss of each step and on the held-out file.

    Args:
        folder: Has ``train.jsonl`` and ``held_out.jsonl``, of ``--format trl``.
        output: Folder for the trained model.
        steps: Number of training steps.
    """
    set_seed(0)
    files = {"train": "train.jsonl", "held_out": "held_out.jsonl"}
    data: Any = load_dataset(
        "json",
        data_files={part: str(folder / name) for part, name in files.items()},
        cache_dir=str(output / "cache"),
    )
    tokenizer = tokenizer_of(data["train"])
    how = SFTConfig(
        output_dir=str(output),
        max_steps=steps,
        per_device_train_batch_size=4,
        learning_rate=1e-2,
        max_length=512,
        logging_steps=1,
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        report_to=[],
        save_strategy="no",
        seed=0,
        disable_tqdm=True,
    )
    trainer = SFTTrainer(
        model=model_for(tokenizer),
        args=how,
        train_dataset=data["train"],
        eval_dataset=data["held_out"],
        processing_class=tokenizer,
    )
    trainer.remove_callback(PrinterCallback)
    before = trainer.evaluate()["eval_loss"]
    trainer.train()
    learned = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    return [before, *learned, trainer.evaluate()["eval_loss"]]


if __name__ == "__main__":
    place = Path(sys.argv[1])
    before, first, *_, last, after = fine_tune(place, place / "model")
    print(f"loss in training: {first:.2f} at the first step, {last:.2f} at the last")
    print(f"loss on what is held out: {before:.2f} before, {after:.2f} after")
