"""The votes of a judge on the episodes of a run, kept beside it in a folder of their own.

A vote names what it was cast on by a hash, so that one on an episode that was done again
since is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from extensions.judges.judging import Choice, Criterion, JudgeLabel, Observed
from runner.models.base import Usage
from runner.records.codec import members_of, read
from runner.records.files import lines
from runner.records.ledger import Ledger, LedgerFiles, read_definition
from runner.records.masking import Secrets
from runner.records.record import Key, Spent

JUDGED_FOLDER = "judged"
"""Within a run's folder: a folder for each judge and way of asking."""
JUDGE_FILE = "judge.json"
"""What defines the judge, and what else is worth knowing of the start."""
VOTES_FILE = "votes.jsonl"
"""One line per vote."""

_DIGITS = 10


class JudgeDefinition(NamedTuple):
    """All that decides what a judge says of an episode; how labels are made of it is no part."""

    judge: str
    """The model's name."""
    settings: Mapping[str, Any] | None
    """How it was reached and asked; null of a scripted judge."""
    prompts_sha256: str
    """Hash of the texts that were put to it, in hex."""
    show: Literal["answer", "steps", "changes"]
    """What it was shown of an episode."""
    of: Literal["episodes", "preferences", "probes"] = "episodes"
    """What it was asked about."""
    more: Mapping[str, Any] | None = None
    """Of preferences the run compared with and the criteria, of probes the data and the seed."""

    @property
    def folder(self) -> str:
        """The name of the folder for its votes."""
        text = json.dumps(members_of(self), sort_keys=True)
        name = "".join(c if c.isalnum() or c in "._-" else "-" for c in self.judge)[:60]
        return f"{name.strip('.-') or 'judge'}-{sha256(text.encode()).hexdigest()[:_DIGITS]}"


class Took(NamedTuple):
    """What a vote took."""

    usage: Usage = Usage()
    latency: float = 0.0
    cost: float | None = None
    attempts: int = 0
    """How many requests; none where answers were kept."""

    def and_more(self, usage: Usage, latency: float, cost: float | None, attempts: int) -> Took:
        """Return what it took with one more answer."""
        if not attempts:
            return self
        return Took(
            Usage(
                _sum(self.usage.prompt, usage.prompt), _sum(self.usage.completion, usage.completion)
            ),
            self.latency + latency,
            cost if self.cost is None else self.cost + (cost or 0.0),
            self.attempts + attempts,
        )


class Vote(NamedTuple):
    """What a judge said once of one episode: a line of ``votes.jsonl``."""

    id: str
    trial: int
    draw: int
    """Which vote on the episode, from 0."""
    brief: str
    """Hash of what it was shown."""
    turns: Sequence[Observed] = ()
    """What it observed of each turn that it was asked about."""
    labels: Sequence[JudgeLabel] | None = None
    """Of a scripted judge, which observes nothing: the label of every turn."""
    abstained: str | None = None
    """Why there is no vote, where its answers did not fit."""
    took: Took = Took()
    spent: Spent = Spent()
    """What had been used by then."""

    @property
    def key(self) -> Key:
        """Trajectory and trial."""
        return self.id, self.trial


class PreferenceVote(NamedTuple):
    """Which of two episodes a judge preferred, asked in both orders: a line of ``votes.jsonl``."""

    id: str
    trial: int
    draw: int
    brief: str
    a_first: Mapping[Criterion, Choice] | None = None
    """What it said by criterion with A shown first; null where no answer fitted."""
    b_first: Mapping[Criterion, Choice] | None = None
    why: Sequence[str] = ()
    """Its reason in either order."""
    took: Took = Took()
    spent: Spent = Spent()

    @property
    def key(self) -> Key:
        """Trajectory and trial."""
        return self.id, self.trial


AnyVote = TypeVar("AnyVote", Vote, PreferenceVote)


class VoteStore(Ledger[AnyVote]):
    """The votes of one judge, asked in one way.

    Args:
        folder: Where they are kept; made if need be.
        definition: What defines the judge.
        kind: What a vote is.
        note: What else to keep of the start.
        secrets: What stands in no file.

    Raises:
        DataError: The folder holds other votes, is in use, or cannot be read or written.
    """

    def __init__(
        self,
        folder: Path,
        definition: JudgeDefinition,
        kind: type[AnyVote],
        note: Mapping[str, Any],
        secrets: Secrets,
    ) -> None:
        self._secrets = secrets
        self._votes: dict[tuple[Key, str], dict[int, AnyVote]] = {}
        files = LedgerFiles(JUDGE_FILE, VOTES_FILE)
        # By its class, since mypy knows no constrained variable behind super().
        Ledger.__init__(self, folder, files, kind, members_of(definition), note)

    def cast(self, key: Key, brief: str) -> list[AnyVote]:
        """Return the votes on an episode as it was shown, in order, up to the first missing one."""
        known = self._votes.get((key, brief), {})
        found: list[AnyVote] = []
        while len(found) in known:
            found.append(known[len(found)])
        return found

    def append(self, vote: AnyVote) -> None:
        """Add a vote, which from then on survives the end of this process.

        Raises:
            DataError: The file cannot be written.
        """
        raw = self._secrets.of_step(members_of(vote))
        if raw is None:
            # What it observed stays; only its words can hold a secret.
            raw = self._secrets.of_step(members_of(_without_words(vote)))
        self._add(vote, raw)

    def _take(self, line: AnyVote) -> None:
        self.spent = line.spent
        self._votes.setdefault((line.key, line.brief), {}).setdefault(line.draw, line)


class KeptVotes(NamedTuple):
    """The votes of one judge that lie beside a run."""

    definition: JudgeDefinition
    votes: Mapping[Key, Sequence[Vote]]
    """By episode, in order."""


def votes_beside(run: Path) -> Iterator[KeptVotes]:
    """Yield what judges said of the episodes of a run, by the names of their folders.

    Raises:
        DataError: A file cannot be read.
    """
    for path in sorted(judged_folder(run).glob(f"*/{JUDGE_FILE}")):
        definition = read(JudgeDefinition, read_definition(path), str(path))
        if definition.of == "episodes":
            votes: dict[Key, list[Vote]] = {}
            for line in lines(path.parent / VOTES_FILE):
                vote = read(Vote, line.value, line.where)
                votes.setdefault(vote.key, []).append(vote)
            yield KeptVotes(definition, votes)


def judged_folder(run: Path) -> Path:
    """Return where the votes on a run are kept: in its folder, or beside a result file."""
    if run.is_dir():
        return run / JUDGED_FOLDER
    return run.with_name(f"{run.name}.{JUDGED_FOLDER}")


def _sum(known: int | None, more: int | None) -> int | None:
    return known if more is None else (known or 0) + more


def _without_words(vote: AnyVote) -> AnyVote:
    if isinstance(vote, Vote):
        return vote._replace(turns=[turn._replace(why="") for turn in vote.turns])
    return vote._replace(why=())
