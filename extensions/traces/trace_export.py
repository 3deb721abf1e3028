"""Export of episodes as traces: ``turnwise export --format openai-messages --traces FORMAT``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from envs.errors import DataError
from extensions.export.commands.export import TranscriptsOfRun
from extensions.traces.trace_writers import (
    inspect_logs,
    langsmith_runs,
    openai_conversations,
    otel_document,
)
from runner.commands.options import option
from runner.records.durable_files import write_whole
from runner.show.terminal import format_count, say


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TraceOptions:
    """Traces."""

    traces: Literal["openai", "otel", "langsmith", "inspect"] | None = option(
        "with --format openai-messages: write traces for turnwise import (otel: OTLP spans; "
        "inspect: a log of inspect_ai)",
        excludes=("--split",),
    )


def check(options: Any, own: TraceOptions) -> None:
    """Check that the format allows traces. Raises DataError for another format."""
    if own.traces is not None and options.format != "openai-messages":
        raise DataError("--traces", f"is for --format openai-messages, not {options.format}")


def write(options: Any, own: TraceOptions, found: Sequence[TranscriptsOfRun]) -> None:
    """Write the episodes of runs as one file of traces.

    Raises DataError if the file cannot be written.
    """
    suffix = "jsonl" if own.traces in ("openai", "langsmith") else "json"
    path = options.output or options.runs[0] / f"{own.traces}.{suffix}"
    texts: Iterable[str]
    if own.traces == "openai" or own.traces == "langsmith":
        values = (openai_conversations if own.traces == "openai" else langsmith_runs)(found)
        texts = (json.dumps(value, allow_nan=False) + "\n" for value in values)
    else:
        texts = otel_document(found) if own.traces == "otel" else inspect_logs(found)
    write_whole(path, map(str.encode, texts), named=options.output is not None)
    say(f"{path}: {format_count(sum(len(some) for _, some in found), 'trace')}")
