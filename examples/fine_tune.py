"""Fine-tune a checkpoint with LoRA on transcripts; keep the epoch with the lowest held-out loss.

    turnwise export runs/searched/dfsdt --format trl --split tool -o training
    python examples/fine_tune.py training --model Qwen/Qwen3-8B --output model

It needs ``pip install 'turnwise[training]'`` and torch. The epochs, the learning rate, the
warm-up, the batch size and the maximum length are those that ToolLLaMA's authors published. The
settings of LoRA are ours. Without ``--model``, the script trains a tiny random model on a CPU. It
then downloads nothing, and only shows that the files load and that the loss falls.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from datasets import Dataset, load_dataset
from peft import LoraConfig
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
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
{%- if message.role == "assistant" %}{% generation %}
{%- if message.content %}{{ message.content }}{% endif %}
{%- for call in message.tool_calls or [] %}<|call|>{{ call.function | tojson }}{% endfor %}<|end|>
{%- endgeneration %}{% else %}{{ message.content }}<|end|>{% endif %}
{% endfor %}
{%- if add_generation_prompt %}<|assistant|>{% endif %}
"""
"""Chat template of the tiny model; a checkpoint has its own template."""
PUBLISHED: dict[str, Any] = {
    "num_train_epochs": 2,
    "learning_rate": 5e-5,
    "warmup_steps": 0.04,
    "per_device_train_batch_size": 1,
    "gradient_accumulation_steps": 64,
    "max_length": 8192,
}
"""Settings of ToolLLaMA; ``warmup_steps`` below 1 is a share of all steps."""
TINY: dict[str, Any] = {
    "num_train_epochs": 3,
    "learning_rate": 1e-2,
    "per_device_train_batch_size": 4,
    "max_length": 512,
    "use_cpu": True,
    "bf16": False,
}
LORA: dict[str, Any] = {"r": 16, "lora_alpha": 32, "lora_dropout": 0.05, "task_type": "CAUSAL_LM"}
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
    """Return a tiny random model of one layer."""
    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1}
    return LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), num_attention_heads=2, **size))


def fine_tune(
    folder: Path, output: Path, model: Any, tokenizer: Any, settings: dict[str, Any]
) -> list[float]:
    """Train adapters on transcripts; return held-out losses: before, by epoch, and of the result.

    The result in ``output`` is the adapters of the epoch with the lowest held-out loss.

    Args:
        folder: Has ``train.jsonl`` and ``held_out.jsonl``, of ``--format trl``.
        output: Folder for the adapters.
        model: Model that the adapters change.
        tokenizer: Tokenizer with a chat template.
        settings: Settings of ``SFTConfig``.
    """
    set_seed(0)
    # Without these tags in the template, the loss includes user messages and results, too.
    answers_only = "{% generation" in tokenizer.chat_template
    how = SFTConfig(
        output_dir=str(output),
        assistant_only_loss=answers_only,
        gradient_checkpointing=not settings.get("use_cpu"),
        eval_strategy="epoch",
        save_strategy="epoch",
        load_best_model_at_end=True,
        metric_for_best_model="eval_loss",
        save_total_limit=1,
        per_device_eval_batch_size=1,
        report_to=[],
        seed=0,
        disable_tqdm=True,
        **settings,
    )
    data = transcripts(folder, output)
    trainer = SFTTrainer(
        model=model,
        args=how,
        train_dataset=data["train"],
        eval_dataset=data["held_out"],
        processing_class=tokenizer,
        peft_config=LoraConfig(target_modules="all-linear", **LORA),
    )
    trainer.remove_callback(PrinterCallback)
    before = trainer.evaluate()["eval_loss"]
    trainer.train()
    trainer.save_model(str(output))
    losses = [each["eval_loss"] for each in trainer.state.log_history if "eval_loss" in each]
    return [before, *losses, trainer.evaluate()["eval_loss"]]


def transcripts(folder: Path, output: Path) -> Any:
    """Return the training transcripts and the held-out transcripts."""
    files = {"train": "train.jsonl", "held_out": "held_out.jsonl"}
    return load_dataset(
        "json",
        data_files={part: str(folder / name) for part, name in files.items()},
        cache_dir=str(output / "cache"),
    )


def main() -> None:
    """Read the arguments, train and print the held-out losses."""
    parser = argparse.ArgumentParser(description="Fine-tune a checkpoint on transcripts.")
    parser.add_argument("folder", type=Path, help="folder of turnwise export --format trl --split")
    parser.add_argument("--model", help="checkpoint (default: a tiny random model)")
    parser.add_argument("--output", type=Path, default=Path("model"), help="folder for adapters")
    given = parser.parse_args()
    if given.model:
        tokenizer = AutoTokenizer.from_pretrained(given.model)
        model = AutoModelForCausalLM.from_pretrained(given.model, dtype="auto", device_map="auto")
        settings = PUBLISHED
    else:
        tokenizer = tokenizer_of(transcripts(given.folder, given.output)["train"])
        model, settings = model_for(tokenizer), TINY
    before, *epochs, kept = fine_tune(given.folder, given.output, model, tokenizer, settings)
    print(f"held-out loss before training: {before:.3f}")
    for number, loss in enumerate(epochs, start=1):
        print(f"held-out loss after epoch {number}: {loss:.3f}")
    print(f"held-out loss of the adapters in {given.output}: {kept:.3f}")


if __name__ == "__main__":
    main()
