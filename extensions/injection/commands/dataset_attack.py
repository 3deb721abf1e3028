"""Command ``turnwise dataset attack``: plants instructions in entries and checks each attack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from extensions.authoring.making.build import lines
from extensions.injection import planting
from extensions.injection.attack import Attack
from extensions.injection.attack_families import FAMILIES, check_family
from runner.commands import DONE
from runner.commands.common_options import EntriesOptions, note
from runner.commands.options import index, option, switch
from runner.data import dataset_choice
from runner.records.durable_files import check_writable, write_output
from runner.show.terminal import format_count, say
from trajectories.schema import Trajectory

EXAMPLE = "turnwise dataset attack --category base --limit 40 -o attacked.jsonl"


@dataclass(frozen=True, kw_only=True)
class Options(EntriesOptions):
    """Options for the entries and the attacks on these entries."""

    families: str = option(
        f"attack families, separated by commas: {', '.join(FAMILIES)} (default: all, in rotation)",
        "NAMES",
        default=",".join(FAMILIES),
    )
    each_family: bool = switch("attack each entry with every family (default: with one family)")
    controls: bool = switch("also write each entry without an attack, and with a harmless text")
    seed: int = option(
        "seed for choosing each attack's place, goal and wording", "S", default=0, read=index
    )
    output: Path = option(
        "file of attacked entries", "FILE", required=True, flags=("--output", "-o")
    )


def run(options: Options) -> int:
    """Write attacked entries."""
    check_writable(options.output)
    families = [name.strip() for name in options.families.split(",")]
    for name in families:
        check_family(name, "--families")
    dataset = dataset_choice.load_named(options.dataset, options.category, note)
    everything = dataset_choice.list_entries(dataset, None, options.subset, options.tag)
    chosen = dataset_choice.select_entries(everything, options.ids, options.limit)
    found = [
        planting.make_attack(dataset, trajectory, family, options.seed)
        for number, trajectory in enumerate(chosen)
        if not trajectory.expects and not trajectory.extensions
        for family in (families if options.each_family else [families[number % len(families)]])
    ]
    made = [each for each in found if each is not None]
    clashing = {id for id, _ in planting.clashes(dataset, made)}
    made = [each for each in made if each.id not in clashing]
    skipped = len({each.id for each in chosen} - {each.id.rpartition("~")[0] for each in made})
    pairs = [planting.make_controls(each) for each in made if options.controls]
    controls = [control for pair in pairs for control in pair]
    write_output(options.output, [lines([*made, *controls])])
    for line in _counts(made):
        say(line)
    say(
        f"{format_count(len(made), 'attacked entry')} in {options.output}; "
        f"not injectable: {format_count(skipped, 'entry')}"
    )
    return DONE


def _counts(entries: list[Trajectory]) -> Iterator[str]:
    attacks = [Attack.of(each) for each in entries]
    for label, values in (
        ("families", [each.family for each in attacks]),
        ("carriers", [each.carrier for each in attacks]),
        ("goals", [each.kind for each in attacks]),
        ("patterns", [each.pattern for each in attacks]),
    ):
        counted = sorted(Counter(values).items())
        yield f"{label}: {', '.join(f'{name} {count}' for name, count in counted)}"
