"""Command ``turnwise attacks``: shows attack scores of a run or of a scripted model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from checkers.profile import STRICT
from envs.errors import DataError
from extensions.injection import gullible_models, proof
from extensions.injection.defences import DEFENCES, Defences
from extensions.injection.measures import MEASURES
from extensions.injection.scores import BLOCKED, AttackedEpisode, score, score_lines, scores_json
from runner.analysis.replayed_runs import dataset_of
from runner.commands import DONE
from runner.commands.common_options import note
from runner.commands.options import argument, index, option, switch
from runner.data import dataset_choice
from runner.records.recorded_run import open_run
from runner.show.terminal import say, say_json
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import prepare

EXAMPLE = "turnwise attacks attacked.jsonl --model always"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of ``turnwise attacks``."""

    path: Path = argument("file of attacked entries, or folder of a run on such entries", "PATH")
    model: str | None = option(
        "scripted model for the entries: never, always, a share such as 0.3, only:FAMILY, "
        "forgetful, late, blind, refuser, wary or leaky",
        "NAME",
    )
    seed: int = option("seed of the scripted model", "S", default=0, read=index)
    defence: str | None = option(
        f"defences of the scripted model, separated by commas: {', '.join(DEFENCES)}, or your own",
        "NAME|MODULE:FUNCTION",
        needs="--model",
    )
    json: bool = switch("print one JSON object")


def run(options: Options) -> int:
    """Print the scores."""
    if options.model is not None:
        dataset = dataset_choice.load_named(str(options.path), None, note)
        defences = None if options.defence is None else Defences.named(options.defence)
        episodes = [*played(dataset, options.model, options.seed, defences)]
    else:
        episodes = [*_recorded(options.path)]
    if not episodes:
        raise DataError(str(options.path), "has no judged episode of an attacked entry")
    if options.json:
        say_json(scores_json(episodes))
        return DONE
    for line in score_lines(episodes):
        say(line)
    return DONE


def played(
    dataset: Dataset, model: str, seed: int, defences: Defences | None = None
) -> Iterator[AttackedEpisode]:
    """Play a scripted model on all attacked entries.

    Raises DataError if the model is unknown.
    """
    observe = None
    if defences is not None:
        dataset, observe = defences.with_offers(dataset), defences.observe(None)
    for trajectory in dataset.trajectories.values():
        if "injection" not in trajectory.extensions:
            continue
        prepared = prepare(dataset, trajectory, STRICT)
        if model == gullible_models.LEAKY:
            values = proof.judge_leaky(prepared).measures
            yield AttackedEpisode.of(trajectory, values)
            continue
        script = gullible_models.script_of(model, trajectory, seed)
        if script is None:
            raise DataError("--model", f"{model!r:.80} is not a scripted model; see --help")
        if observe is not None:
            seen = proof.play_prepared(prepared, observe=observe)
            script = script if seen.verdict.measures.get("exposed") else None
        found = proof.play_prepared(prepared, script, observe)
        yield AttackedEpisode.of(trajectory, found.verdict.measures, prepared.offering)


def zoo_rows(dataset: Dataset) -> Iterator[list[str]]:
    """Yield a table of all scripted models with their measures on attacked entries."""
    yield ["scripted model", *(measure.label for measure in MEASURES)]
    plays = {name: [*played(dataset, name, 0)] for name in gullible_models.ZOO}
    filtered = played(dataset, "always", 0, Defences.named("tool_filter"))
    blocked = [each for each in filtered if each.groups["filter"] == BLOCKED]
    for label, episodes in {**plays, "blocked by tool_filter": blocked}.items():
        shares = [score(episodes, measure.label) for measure in MEASURES]
        yield [label, *(f"{share.value:.1%}" if share else "-" for share in shares)]


def _recorded(path: Path) -> Iterator[AttackedEpisode]:
    source = open_run(path)
    dataset = dataset_of(source, None, note)
    for record in source.records:
        trajectory = dataset_choice.get_entry(dataset, record.id)
        data = trajectory.extensions.get("injection")
        if data is None or record.verdict is None or not record.verdict.measures:
            continue
        if isinstance(data, dict):
            offering = dataset.offering_of(trajectory)
            yield AttackedEpisode.of(trajectory, record.verdict.measures, offering)
        else:
            yield AttackedEpisode.of_dojo(trajectory, data.task, record.verdict.measures)
