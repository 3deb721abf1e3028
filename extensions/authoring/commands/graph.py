"""Command ``turnwise dataset graph``: shows the data flow between functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from envs.errors import DataError
from envs.registry import BACKENDS
from extensions.authoring.graph.drawing import to_dot, to_svg
from extensions.authoring.graph.graph import Graph, load
from extensions.authoring.graph.sampling import Coverage, PathStep, cover, coverage, sample, trace
from extensions.authoring.graph.sampling import Path as Walk
from runner.commands import DONE
from runner.commands.common_options import DataOptions, note
from runner.commands.options import index, option, positive, switch
from runner.data import dataset_choice
from runner.records.durable_files import check_writable, write_files
from runner.show.terminal import say, table
from trajectories.prepared_trajectory import load_session

EXAMPLE = "turnwise dataset graph --coverage --category base"


@dataclass(frozen=True, kw_only=True)
class Options(DataOptions):
    """Options for the output."""

    dot: Path | None = option("write the graph as DOT", "FILE")
    svg: Path | None = option("write the graph as a picture", "FILE")
    coverage: bool = switch("show the coverage of a data set")
    missing: bool = switch("with --coverage: list uncovered functions and edges")
    sample: int | None = option(
        "print N random paths (with --coverage: paths through uncovered edges)", "N", read=positive
    )
    seed: int = option("seed for sampling the first path", "S", default=0, read=index)
    world: str | None = option("initial state of the paths (default: the first state)", "NAME")
    turns: int = option("number of turns per path", "N", default=4, read=positive)
    calls: int = option("maximum calls per turn", "N", default=3, read=positive)
    want: str | None = option("functions and edges to cover, separated by commas", "NAMES")


def run(options: Options) -> int:
    """Print statistics of the function graph, the coverage of a data set, or sampled paths."""
    check_writable(options.dot, options.svg)
    graph = load()
    # Nothing is written if the data set or a name is wrong.
    covered = _coverage_of(graph, options) if options.coverage else None
    paths = _sampled(graph, options, covered, options.sample) if options.sample else ()
    pictures = ((options.dot, to_dot), (options.svg, to_svg))
    files = {path: map(str.encode, [draw(graph)]) for path, draw in pictures if path is not None}
    write_files(files, named=True)
    for path in files:
        say(f"wrote {path}")
    if covered is not None:
        _print_coverage(graph, covered, options.missing)
    elif not options.sample:
        _print_statistics(graph)
    _print_paths(paths)
    return DONE


def _print_statistics(graph: Graph) -> None:
    say(f"{len(graph.functions)} functions with a successful call, {len(graph.edges)} edges\n")
    say(_matrix("edges from, to", graph.pairs))
    kinds = sorted(graph.kinds.items(), key=lambda item: (-item[1], item[0]))
    say(f"\nvalues: {', '.join(f'{kind} {times}' for kind, times in kinds)}")
    say(f"\n{len(graph.alone)} functions without an edge:")
    for name, alone in graph.alone.items():
        say(f"  {name}: {alone.reason}")


def _matrix(title: str, pairs: Mapping[tuple[str, str], int]) -> str:
    rows = [[title, *[name.removesuffix("API") for name in BACKENDS]]]
    rows += [[a, *[str(pairs.get((a, b), 0) or ".") for b in BACKENDS]] for a in BACKENDS]
    return table(rows)


def _coverage_of(graph: Graph, options: Options) -> Coverage:
    dataset = dataset_choice.load_named(options.dataset, options.category, note)
    return coverage(
        graph,
        (
            trace(
                load_session(dataset, t), [text for turn in t.turns for text in turn.ground_truth]
            )
            for t in dataset.trajectories.values()
        ),
    )


def _print_coverage(graph: Graph, covered: Coverage, missing: bool) -> None:
    possible = len(BACKENDS) * (len(BACKENDS) - 1) // 2
    rows = [
        [f"of {covered.paths} entries", "covered", "of"],
        ["functions that can succeed", str(len(covered.functions)), str(len(graph.functions))],
        ["edges", str(len(covered.edges)), str(len(graph.edges))],
        ["backends", str(len(covered.backends)), str(len(BACKENDS))],
        ["pairs of backends", str(len(covered.pairs)), str(possible)],
    ]
    say(table(rows))
    say()
    say(_matrix("entries with both", covered.pairs))
    if missing:
        _print_list("functions not covered", covered.missing_functions)
        _print_list("edges not covered", covered.missing_edges)


def _print_list(title: str, names: Iterable[str]) -> None:
    say(f"\n{title}:")
    for name in names:
        say(f"  {name}")


def _sampled(
    graph: Graph, options: Options, covered: Coverage | None, count: int
) -> Sequence[Walk]:
    world = options.world or next(iter(graph.worlds))
    if world not in graph.worlds:
        raise DataError(
            "--world", f"unknown world {world!r}; the worlds are {', '.join(graph.worlds)}"
        )
    want = [name.strip() for name in (options.want or "").split(",") if name.strip()]
    for name in want:
        if name not in graph.functions and name not in graph.by_name:
            raise DataError(
                "--want", f"{name!r} is neither a function nor an edge of the function graph"
            )
    size = (options.turns, options.calls)
    if covered is not None:
        missing = [*want, *covered.missing_functions, *covered.missing_edges]
        return cover(graph, world, options.seed, *size, missing, count)
    seeds = range(options.seed, options.seed + count)
    return [sample(graph, world, s, *size, want) for s in seeds]


def _print_paths(paths: Sequence[Walk]) -> None:
    for path in paths:
        say(f"path {path.seed} in {path.world}: {', '.join(path.environments)}")
        number = 1
        for place, turn in enumerate(path.turns, start=1):
            for step in turn:
                say(f"  turn {place}  step {number}  {step.text}")
                _print_bindings(step)
                number += 1


def _print_bindings(step: PathStep) -> None:
    for binding in step.bindings:
        place = f" {binding.place}" if binding.place else ""
        origin = binding.origin if binding.step is None else f"step {binding.step + 1}:"
        say(f"      {binding.argument}: {origin}{place}")
