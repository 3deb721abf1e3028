"""Why episodes failed, and what a wrong setting would explain in a run, with the remedy.

Everything is counted from records that come one by one, so that a large run is never held whole.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from checkers.profile import Mode
from checkers.reasons import Reason
from envs.state import cut
from runner.records.record import EpisodeRecord, Why

_MANY = 0.05
"""Share of turns that is worth a warning."""
_ALIKE = 0.5
"""Share of errors that are the same, likewise."""
_MOST_CAUSES = 6
_LONGEST = 160
_NUMBER = re.compile(r"\d+")


class _Notation(NamedTuple):
    """How some models write calls, and who reads them from it."""

    looks: re.Pattern[str]
    vllm: str
    """The parser's name in vLLM."""
    sglang: str
    """The parser's name in SGLang."""


_NOTATIONS = (
    _Notation(re.compile(r"<\|tool_calls_section_begin\|>"), "kimi_k2", "kimi_k2"),
    _Notation(
        re.compile(r"<[|\uff5c]tool[\u2581_]calls?[\u2581_](begin|sep)"),
        "deepseek_v3",
        "deepseekv3",
    ),
    _Notation(re.compile(r"<\|(channel|start|message)\|>"), "openai", "gpt-oss"),
    _Notation(re.compile(r"<tool_call>\s*<function="), "qwen3_coder", "qwen3_coder"),
    _Notation(re.compile(r"<tool_call>[^<]*<arg_key>"), "glm45", "glm"),
    _Notation(re.compile(r"<tool_call>"), "hermes", "qwen"),
    _Notation(re.compile(r"\[TOOL_CALLS\]"), "mistral", "mistral"),
    _Notation(re.compile(r'<\|python_tag\|>|"(name|parameters)"\s*:'), "llama3_json", "llama3"),
    _Notation(re.compile(r"^\s*\[?\w+\("), "pythonic", "pythonic"),
)
"""The first that fits counts."""


class Symptoms:
    """Counts what speaks of trouble in the records of a run."""

    def __init__(self) -> None:
        self._reasons: Counter[Reason] = Counter()
        self._ends: Counter[Why] = Counter()
        self._notations: Counter[_Notation | None] = Counter()
        self._errors: Counter[str] = Counter()
        self._example: dict[str, str] = {}

    def add(self, record: EpisodeRecord) -> None:
        """Take note of an episode."""
        if record.verdict and record.verdict.failure:
            self._reasons[record.verdict.failure.reason] += 1
        if record.error is not None:
            # Numbers are ids, sizes and times, which differ where the trouble is one.
            kind = _NUMBER.sub("#", record.error)
            self._errors[kind] += 1
            self._example.setdefault(kind, record.error)
        said = {step.turn: step.reply.text for step in record.steps}
        for end in record.turn_ends:
            self._ends[end.why] += 1
            if end.why == "unreadable":
                self._notations[_notation(said.get(end.turn) or "")] += 1

    def causes(self) -> Iterator[str]:
        """Yield lines that say why episodes failed, the most frequent reasons first."""
        for reason, number in self._reasons.most_common(_MOST_CAUSES):
            yield f"failed {number}: {reason.meaning} ({reason.value})"
        for kind, number in self._errors.most_common(_MOST_CAUSES):
            yield f"error {number}: {cut(self._example[kind], _LONGEST)}"

    def warnings(
        self, mode: Mode, max_tokens: int | None, protocol: str | None = None
    ) -> Iterator[str]:
        """Yield what is wrong with the server or the settings rather than with the model.

        Args:
            mode: How the model calls functions.
            protocol: In which protocol it was asked to write them, if in one.
            max_tokens: Longest answer that was asked for, or None.
        """
        if share := self._share("unreadable"):
            yield f"{share} end with calls left in the text; {self._parser(mode, protocol)}"
        if share := self._share("cut_off"):
            limit = "give" if max_tokens is None else f"it is {max_tokens}; raise"
            yield f"{share} end with an answer that was cut off: {limit} --max-tokens"
        if share := self._share("empty"):
            yield (
                f"{share} end with an empty answer; where the model thinks, thoughts may have used "
                "up the answer: raise --max-tokens, or see the server's reasoning and chat template"
            )
        errors = self._errors.total()
        for kind, number in self._errors.most_common(1):
            if number > 1 and number >= _ALIKE * errors:
                said = cut(self._example[kind], _LONGEST)
                yield f"{number} of {errors} errors are the same: {said}"

    def _share(self, why: Why) -> str | None:
        """Return how many turns end so, where these are many."""
        number, turns = self._ends[why], self._ends.total()
        if not turns or number <= _MANY * turns:
            return None
        return f"{number} of {turns} turns ({number / turns:.0%})"

    def _parser(self, mode: Mode, protocol: str | None) -> str:
        if protocol is not None:
            return f"the model does not write them as {protocol} has it: try another --protocol"
        if mode == "prompt":
            return "--profile strict also reads those in fences, tags and between words"
        ((notation, _),) = self._notations.most_common(1)
        if notation is None:
            return (
                "see which parser the server has for this model: --enable-auto-tool-choice "
                "--tool-call-parser NAME of vLLM, --tool-call-parser NAME of SGLang"
            )
        return (
            "the server does not parse them: vLLM needs --enable-auto-tool-choice "
            f"--tool-call-parser {notation.vllm}, SGLang --tool-call-parser {notation.sglang}"
        )


def _notation(text: str) -> _Notation | None:
    return next((known for known in _NOTATIONS if known.looks.search(text)), None)
