"""Diagnosis of a run: counts failure reasons, finds signs of wrong settings, suggests fixes.

The diagnosis reads one record at a time, so memory use does not grow with the run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from checkers.profile import Mode
from checkers.reasons import Reason
from envs.state import cut
from runner.records.episode_record import EpisodeRecord

_MIN_SHARE = 0.05
"""A problem in more than this share of turns causes a warning."""
_ALIKE = 0.5
_MAX_CAUSES = 6
_MAX_LINE_CHARS = 160
_NUMBER = re.compile(r"\d+")


class _CallNotation(NamedTuple):
    looks: re.Pattern[str]
    vllm: str
    sglang: str


_NOTATIONS = (
    _CallNotation(re.compile(r"<\|tool_calls_section_begin\|>"), "kimi_k2", "kimi_k2"),
    _CallNotation(
        re.compile(r"<[|\uff5c]tool[\u2581_]calls?[\u2581_](begin|sep)"),
        "deepseek_v3",
        "deepseekv3",
    ),
    _CallNotation(re.compile(r"<\|(channel|start|message)\|>"), "openai", "gpt-oss"),
    _CallNotation(re.compile(r"<tool_call>\s*<function="), "qwen3_coder", "qwen3_coder"),
    _CallNotation(re.compile(r"<tool_call>[^<]*<arg_key>"), "glm45", "glm"),
    _CallNotation(re.compile(r"<tool_call>"), "hermes", "qwen"),
    _CallNotation(re.compile(r"\[TOOL_CALLS\]"), "mistral", "mistral"),
    _CallNotation(re.compile(r'<\|python_tag\|>|"(name|parameters)"\s*:'), "llama3_json", "llama3"),
    _CallNotation(re.compile(r"^\s*\[?\w+\("), "pythonic", "pythonic"),
)
"""Notations of calls in the model's text. If several notations match, the first one is chosen."""


class RunDiagnosis:
    """Counter of failures, errors and turn ends in a run's records."""

    def __init__(self) -> None:
        self._reasons: Counter[Reason] = Counter()
        self._ends: Counter[str] = Counter()
        self._notations: Counter[_CallNotation | None] = Counter()
        self._errors: Counter[str] = Counter()
        self._example: dict[str, str] = {}

    def add(self, record: EpisodeRecord) -> None:
        """Add an episode."""
        if record.verdict and record.verdict.failure:
            self._reasons[record.verdict.failure.reason] += 1
        if record.error is not None:
            # Ids, sizes and times differ between equal errors.
            kind = _NUMBER.sub("#", record.error)
            self._errors[kind] += 1
            self._example.setdefault(kind, record.error)
        replies = {step.turn: step.reply for step in record.steps}
        for end in record.turn_ends:
            reply = replies.get(end.turn)
            if end.why == "unreadable" and reply is not None and reply.tool_calls:
                self._ends["broken"] += 1
                continue
            self._ends[end.why] += 1
            if end.why == "unreadable":
                self._notations[_notation((reply and reply.text) or "")] += 1

    def causes(self) -> Iterator[str]:
        """Yield lines on failures and errors, most frequent first."""
        for reason, number in self._reasons.most_common(_MAX_CAUSES):
            yield f"failed {number}: {reason.meaning} ({reason.value})"
        for kind, number in self._errors.most_common(_MAX_CAUSES):
            yield f"error {number}: {cut(self._example[kind], _MAX_LINE_CHARS)}"

    def warnings(
        self, mode: Mode, max_tokens: int | None, protocol: str | None = None
    ) -> Iterator[str]:
        """Yield probable mistakes in the server or the settings, with remedies.

        Args:
            mode: How the model calls functions.
            max_tokens: Maximum tokens per answer.
            protocol: Name of the calling format, if one is set.
        """
        if share := self._share("unreadable"):
            yield f"In {share}, the last call was not parsed: {self._parser(mode, protocol)}"
        if share := self._share("broken"):
            yield (
                f"{share} end with tool calls whose arguments cannot be read: check the server's "
                "tool-call parser, or raise --max-tokens"
            )
        if share := self._share("cut_off"):
            limit = (
                "set --max-tokens"
                if max_tokens is None
                else f"--max-tokens is {max_tokens}; raise it"
            )
            yield f"{share} end with a truncated answer: {limit}"
        if share := self._share("content_filter"):
            yield f"{share} were stopped by the provider's content filter; check its settings"
        if share := self._share("empty"):
            yield (
                f"{share} end with an empty answer. If reasoning used all tokens, raise "
                "--max-tokens; otherwise, check the server's reasoning parser and chat template"
            )
        errors = self._errors.total()
        for kind, number in self._errors.most_common(1):
            if number > 1 and number >= _ALIKE * errors:
                said = cut(self._example[kind], _MAX_LINE_CHARS)
                yield f"{number} of {errors} errors have the same message: {said}"

    def _share(self, why: str) -> str | None:
        number, turns = self._ends[why], self._ends.total()
        if not turns or number <= _MIN_SHARE * turns:
            return None
        return f"{number} of {turns} turns ({number / turns:.0%})"

    def _parser(self, mode: Mode, protocol: str | None) -> str:
        if protocol is not None:
            return (
                f"the model does not write calls in the format {protocol}; try another "
                "--calling-format"
            )
        if mode == "prompt":
            return "--profile strict also reads calls in fences, tags and prose"
        ((notation, _),) = self._notations.most_common(1)
        if notation is None:
            return (
                "set the server's parser for this model: --enable-auto-tool-choice "
                "--tool-call-parser NAME for vLLM, --tool-call-parser NAME for SGLang"
            )
        return (
            "the server does not parse the calls; vLLM needs --enable-auto-tool-choice "
            f"--tool-call-parser {notation.vllm}, SGLang --tool-call-parser {notation.sglang}"
        )


def _notation(text: str) -> _CallNotation | None:
    return next((known for known in _NOTATIONS if known.looks.search(text)), None)
