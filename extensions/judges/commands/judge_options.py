"""What ``turnwise judge`` and ``turnwise label`` take, and the episodes that this chooses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from checkers.profile import Mode, Profile
from extensions.judges.brief import Show
from extensions.judges.exhibit import Exhibit, SolvableBy, Unit, exhibits
from extensions.judges.judging import JudgingRules
from runner.analysis.runs import dataset_of, executed_again
from runner.commands.asking import CachedAskingOptions
from runner.commands.one_episode import rules_of
from runner.commands.options import argument, index, option, positive, switch
from runner.commands.shared import EntriesOptions, JsonOption, JudgingOptions, note
from runner.data import choose
from runner.records.run import Run, open_run
from trajectories.dataset import Dataset
from trajectories.errors import DataError


@dataclass(frozen=True, kw_only=True)
class ExhibitOptions(EntriesOptions, JudgingOptions):
    """Episodes."""

    sample: int | None = option(
        "only N entries, drawn so that every category and backend has its share",
        "N",
        read=positive,
    )
    sample_seed: int = option("seed of the sample", "S", default=0, read=index)
    show: Show | None = option(
        "what is shown: the words that end turns (answer); calls and results too (steps); and what "
        "calls changed (changes) (default: steps)"
    )


@dataclass(frozen=True, kw_only=True)
class JudgeOptions(ExhibitOptions, JsonOption, CachedAskingOptions):
    """Who judges, what and how."""

    runs: tuple[Path, ...] = argument(
        "a run folder, a result file, or a folder of such; of several, the first is what the "
        "others are compared with",
        "RUN",
        required=False,
        default=(),
    )
    judge: str | None = option(
        "a live model, or scripted:SHARE[,first=SHARE][,unsure=SHARE], which knows the verdict and "
        "says so in this share of its votes",
        "MODEL",
    )
    votes: int | None = option(
        "votes on each episode, at most (default: 5; 3 with --rules stable or fac)",
        "N",
        read=positive,
    )
    all_votes: bool = switch("draw all votes, also those that can change nothing")
    rules: JudgingRules = option(
        "how labels are made of what the judge saw: as ToolLLM's paper or ToolBench's code has it, "
        "as StableToolBench, or by the answer alone",
        default="paper",
    )
    solvable: SolvableBy = option(
        "whether a turn can be solved: as the ground truth says, or the judge", default="known"
    )
    unit: Unit = option("what a label is of", default="episode")
    criteria: Literal["mixed", "judged"] = option(
        "how two runs are compared, by six criteria: the last three counted, or all judged",
        default="mixed",
    )
    probe: bool = switch("judge 300 episodes with known faults instead of a run (--sample N)")
    labels: Path | None = option("labels of people, as turnwise label saves them", "FILE")
    mode: Mode | None = option("answers by a forced tool call, or as a JSON object (default: fc)")
    prompts: str | None = option(
        "TOML file of the texts put to the judge (default: configs/prompts/judge.toml)", "FILE"
    )
    seed: int | None = option(
        "seed of its sampling, vote k having S+k (default: none is sent); of a scripted judge",
        "S",
        read=index,
    )
    keep: Path | None = option(
        "where to keep the votes (default: judged in RUN; of probes: a folder in runs)", "DIR"
    )
    resume: bool = switch("only go on with votes that are there; they are never asked for again")
    output: Path | None = option("write one JSON line per label", "FILE", flags=("--output", "-o"))
    disagreements: Path | None = option(
        "write what judge and verdict disagree on, with what the judge read", "FILE"
    )
    allow_errors: bool = switch("give a rate in spite of failed votes")


class JudgedRun(NamedTuple):
    """A run with those of its episodes that can be judged."""

    source: Run
    dataset: Dataset
    profile: Profile
    exhibits: list[Exhibit]
    errors: int
    """Episodes that were chosen and have no verdict through no fault of the model."""


def load_run(options: ExhibitOptions, path: Path, show: Show) -> JudgedRun:
    """Execute again what the user chose of a run.

    Raises:
        DataError: There is no such run, or nothing of it was chosen.
    """
    source = open_run(path)
    if not source.episodes:
        raise DataError(str(path), "has no finished episode")
    dataset = dataset_of(source, options.dataset, note)
    profile, limit = rules_of(source, dataset, options)
    entries = choose.trajectories(dataset, source, options.split)
    if options.category is not None:
        wanted = choose.categories(options.category, dataset.name)
        entries = [entry for entry in entries if entry.category in wanted]
    chosen = choose.part(entries, options.ids, options.limit, options.sample, options.sample_seed)
    if not chosen:
        raise DataError(str(path), "has nothing of what was chosen")
    places = {entry.id: place for place, entry in enumerate(chosen)}
    keys = [key for key in source.episodes if key[0] in places]
    keys.sort(key=lambda key: (places[key[0]], key[1]))
    found = list(exhibits(executed_again(source, keys, dataset, profile, limit), show))
    return JudgedRun(source, dataset, profile, found, len(keys) - len(found))
