"""Probes of a model: recognised texts, continued texts and the canary."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import partial
from math import comb
from random import Random
from typing import NamedTuple

from extensions.authoring.canary import CANARY
from extensions.experiments.paraphrase_drafts import collect_drafts
from runner.live.episode_player import Ask
from runner.models.block_api import object_within
from runner.models.model_types import Model, Request
from trajectories.schema import Trajectory

CHOICES = 4
"""Number of texts that the model chooses from: the published text and its paraphrases."""
MIN_WORDS = 12
"""Minimum length of a text in words."""
SHARED_WORDS = 6
"""Minimum number of consecutive words in a match."""
_SECRET = CANARY.rpartition(" ")[2]
_MAX_REPLY_CHARS = 20_000
_LETTERS = "ABCD"
_PARAPHRASE = """\
Write {count} different paraphrases of this text. Keep every fact, name and number, and about the
length. Answer with one JSON object and nothing else: {{"paraphrases": [TEXT, ...]}}

{text}"""
_QUESTION = """\
One of these texts occurs word for word in the published data set {data}. The others are
paraphrases. Answer with the letter of the published text and nothing else.

{choices}"""
_CONTINUE = """\
This is the beginning of a text in the published data set {data}. Continue it word for word. Answer
with the continuation and nothing else.

{start}"""


Say = Callable[[str], Awaitable[str]]
"""Function that sends a prompt and returns the answer."""


class ProbeResult(NamedTuple):
    """Result of the probes of one entry."""

    id: str
    recognised: bool | None
    """Whether the model chose the entry's own text. None if there are no paraphrases, or if the
    answer has no letter."""
    continued: str
    """Longest sequence of words that the continuation and the hidden half have in common."""
    canary: bool
    """Whether an answer contains the secret part of the canary."""


class ProbeSummary(NamedTuple):
    """Results of all entries."""

    results: Sequence[ProbeResult]

    @property
    def asked(self) -> int:
        """Number of answered questions."""
        return sum(each.recognised is not None for each in self.results)

    @property
    def recognised(self) -> int:
        """Number of entries that the model recognised."""
        return sum(each.recognised is True for each in self.results)

    @property
    def continued(self) -> int:
        """Number of entries whose ``continued`` has ``SHARED_WORDS`` or more words."""
        return sum(len(each.continued.split()) >= SHARED_WORDS for each in self.results)

    @property
    def p_value(self) -> float:
        """One-sided p-value for the number of recognised texts."""
        chance, asked = 1 / CHOICES, self.asked
        terms = (
            comb(asked, n) * chance**n * (1 - chance) ** (asked - n)
            for n in range(self.recognised, asked + 1)
        )
        return min(1.0, sum(terms))

    @property
    def has_canary(self) -> bool:
        """Whether an answer contains the secret part of the canary."""
        return any(each.canary for each in self.results)


def list_texts(entries: Sequence[Trajectory]) -> dict[str, str]:
    """Map each scenario to its longest user message; omit scenarios with only short messages."""
    found: dict[str, str] = {}
    for entry in entries:
        said = [m.content for turn in entry.turns for m in turn.messages if m.role == "user"]
        text = max(said, key=len, default="")
        if len(text.split()) >= MIN_WORDS:
            found.setdefault(entry.base, text)
    return found


async def probe(
    model: Model, texts: dict[str, str], data: str, *, seed: int, concurrency: int
) -> tuple[ProbeSummary, str | None]:
    """Ask a model about texts; return the results, and the reason for an early stop."""
    do = partial(_probe_text, data=data, seed=seed)
    jobs = [("", CANARY.removesuffix(_SECRET)), *texts.items()]
    done, stopped = await collect_drafts(model, jobs, do, concurrency)
    order = {id: place for place, (id, _) in enumerate(jobs)}
    return ProbeSummary(sorted(done, key=lambda each: order[each.id])), stopped


async def _probe_text(job: tuple[str, str], ask: Ask, *, data: str, seed: int) -> ProbeResult:
    id, text = job
    answers: list[str] = []

    async def say(prompt: str) -> str:
        reply = (await ask(Request([{"role": "user", "content": prompt}], None))).reply
        answers.append((reply.text or "")[:_MAX_REPLY_CHARS])
        return answers[-1]

    words = text.split()
    half = len(words) // 2 if id else len(words)
    continued = await say(_CONTINUE.format(data=data, start=" ".join(words[:half])))
    recognised = await _ask_question(say, id, text, data, seed) if id else None
    found = _find_common(continued, " ".join(words[half:]))
    return ProbeResult(id, recognised, found, any(_SECRET in each for each in answers))


async def _ask_question(say: Say, id: str, text: str, data: str, seed: int) -> bool | None:
    answer = object_within(await say(_PARAPHRASE.format(count=CHOICES - 1, text=text)))
    drafts = answer.get("paraphrases") if answer else None
    others = [each for each in drafts if isinstance(each, str)] if isinstance(drafts, list) else []
    texts = [text, *others[: CHOICES - 1]]
    if len({*texts}) < CHOICES:
        return None
    Random(f"{seed}/{id}").shuffle(texts)
    shown = "\n\n".join(f"{letter}: {each}" for letter, each in zip(_LETTERS, texts, strict=True))
    letter = (await say(_QUESTION.format(data=data, choices=shown))).strip(" .:()*\n")[:1].upper()
    return texts[_LETTERS.index(letter)] == text if letter and letter in _LETTERS else None


def _find_common(one: str, other: str) -> str:
    first, second = ([*_normal_words(text)] for text in (one, other))
    match = SequenceMatcher(None, first, second, autojunk=False).find_longest_match()
    return " ".join(first[match.a : match.a + match.size])


def _normal_words(text: str) -> Iterator[str]:
    for word in text.casefold().split():
        yield word.strip(".,;:!?\"'()")
