"""Votes of a judge model, stored in a folder of the run.

A vote stores the hash of the brief that describes the judged episode. Votes on an earlier version
of an episode are therefore ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from extensions.judges.label_rules import Choice, Criterion, JudgeLabel, TurnObservation
from extensions.judges.ledger import Ledger, LedgerFiles, read_definition
from runner.models.model_types import Usage
from runner.records.durable_files import read_lines
from runner.records.episode_record import Key, RunSpending
from runner.records.json_codec import members_of, read
from runner.records.run_file_mask import SecretMask

JUDGED_FOLDER = "judged"
"""Subfolder of a run that contains the votes of all judge models."""
JUDGE_FILE = "judge.json"
"""File that contains the judge definition, the start time and the command."""
VOTES_FILE = "votes.jsonl"
"""File with one line per vote."""

_DIGITS = 10


class JudgeDefinition(NamedTuple):
    """All settings that determine votes. It omits the label rules, which do not affect votes."""

    judge: str
    settings: Mapping[str, Any] | None
    """Connection and request settings; for a scripted judge, only ``seed`` and ``by_turn``."""
    prompts_sha256: str
    show: Literal["answer", "steps", "changes"]
    """Parts of the episode that the judge model's prompt shows."""
    of: Literal["episodes", "preferences", "probes", "facts"] = "episodes"
    more: Mapping[str, Any] | None = None
    """Other settings, such as the criteria of ``preferences``."""

    @property
    def folder(self) -> str:
        """Folder name of the votes."""
        text = json.dumps(members_of(self), sort_keys=True)
        name = "".join(c if c.isalnum() or c in "._-" else "-" for c in self.judge)[:60]
        return f"{name.strip('.-') or 'judge'}-{sha256(text.encode()).hexdigest()[:_DIGITS]}"


class VoteUsage(NamedTuple):
    """Tokens, latency and cost of a vote."""

    usage: Usage = Usage()
    latency: float = 0.0
    cost: float | None = None
    attempts: int = 0
    """Number of requests; 0 if all answers were cached."""


class Vote(NamedTuple):
    """One vote on one episode: a line of ``votes.jsonl``."""

    id: str
    trial: int
    draw: int
    """Number of the vote, starting at 0."""
    brief: str
    """Hash of the brief."""
    turns: Sequence[TurnObservation] = ()
    """Observations of the requested turns."""
    labels: Sequence[JudgeLabel] | None = None
    """Label of each turn, if the judge model is scripted; such a model makes no observations."""
    abstained: str | None = None
    """Reason for an abstention."""
    took: VoteUsage = VoteUsage()
    spent: RunSpending = RunSpending()
    """Budget spent up to this vote."""

    @property
    def key(self) -> Key:
        """Entry id and trial."""
        return self.id, self.trial


class PreferenceVote(NamedTuple):
    """Vote on a pair of episodes. The judge model sees the pair in both orders."""

    id: str
    trial: int
    draw: int
    brief: str
    a_first: Mapping[Criterion, Choice] | None = None
    """Choices in the request that shows A first. Null if the request got no valid answer."""
    b_first: Mapping[Criterion, Choice] | None = None
    why: Sequence[str] = ()
    """Reasons that the judge model gives, one per request."""
    took: VoteUsage = VoteUsage()
    spent: RunSpending = RunSpending()

    @property
    def key(self) -> Key:
        """Entry id and trial."""
        return self.id, self.trial


AnyVote = TypeVar("AnyVote", Vote, PreferenceVote)


class VoteStore(Ledger[AnyVote]):
    """Store of the votes of one judge definition, with the start time and the command.

    Raises DataError if the folder has votes of another judge, is in use, or is not accessible.
    """

    def __init__(
        self,
        folder: Path,
        definition: JudgeDefinition,
        kind: type[AnyVote],
        note: Mapping[str, Any],
        secrets: SecretMask,
    ) -> None:
        self._secrets = secrets
        self._votes: dict[tuple[Key, str], dict[int, AnyVote]] = {}
        files = LedgerFiles(JUDGE_FILE, VOTES_FILE)
        # Not super(): mypy does not resolve constrained type variables behind it.
        Ledger.__init__(self, folder, files, kind, members_of(definition), note)

    def cast(self, key: Key, brief: str) -> list[AnyVote]:
        """Return the stored votes on an episode's brief, up to the first missing vote."""
        known = self._votes.get((key, brief), {})
        found: list[AnyVote] = []
        while len(found) in known:
            found.append(known[len(found)])
        return found

    def append(self, vote: AnyVote) -> None:
        """Write a vote to the file.

        Raises DataError if the file cannot be written.
        """
        raw = self._secrets.of_step(members_of(vote))
        if raw is None:
            # Only the reasons can hold a secret; the observations stay.
            raw = self._secrets.of_step(members_of(_remove_reasons(vote)))
        self._add(vote, raw)

    def _take(self, line: AnyVote) -> None:
        self.spent = line.spent
        self._votes.setdefault((line.key, line.brief), {}).setdefault(line.draw, line)


class StoredVotes(NamedTuple):
    """Stored votes of one judge model on a run."""

    definition: JudgeDefinition
    votes: Mapping[Key, Sequence[Vote]]
    """Votes by episode, in order."""


def load_votes(run: Path) -> Iterator[StoredVotes]:
    """Yield the votes of each judge model on a run, sorted by folder name.

    Raises DataError if a file cannot be read.
    """
    for path in sorted(find_votes_folder(run).glob(f"*/{JUDGE_FILE}")):
        definition = read(JudgeDefinition, read_definition(path), str(path))
        if definition.of == "episodes":
            votes: dict[Key, list[Vote]] = {}
            for line in read_lines(path.parent / VOTES_FILE):
                vote = read(Vote, line.value, line.where)
                votes.setdefault(vote.key, []).append(vote)
            yield StoredVotes(definition, votes)


def find_votes_folder(run: Path) -> Path:
    """Return the folder of the votes: in the run's folder, or beside a result file."""
    if run.is_dir():
        return run / JUDGED_FOLDER
    return run.with_name(f"{run.name}.{JUDGED_FOLDER}")


def _remove_reasons(vote: AnyVote) -> AnyVote:
    if isinstance(vote, Vote):
        return vote._replace(turns=[turn._replace(why="") for turn in vote.turns])
    return vote._replace(why=())
