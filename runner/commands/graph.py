"""The command ``turnwise graph``: what can feed what, in figures and pictures, and paths."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from envs.registry import BACKENDS
from runner.commands.common import DONE, new_command, note, positive
from runner.data import choose
from runner.show.table import table
from trajectories.errors import DataError
from trajectories.graph.drawing import to_dot, to_svg
from trajectories.graph.graph import Graph, load, statistics
from trajectories.graph.sampling import Coverage, Origin, PathStep, cover, coverage, sample, trace
from trajectories.graph.sampling import Path as Walk
from trajectories.prepare import load_session

_EMBEDDED = ""
"""What ``--coverage`` without a value stands for: the data set that comes along."""


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "Show which results can feed which arguments, and sample paths."
    parser = new_command(commands, "graph", _graph, text)
    parser.add_argument("--dot", type=Path, metavar="FILE", help="write the graph as DOT")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write the graph as a picture")
    parser.add_argument(
        "--coverage",
        nargs="?",
        const=_EMBEDDED,
        metavar="DATASET",
        help="what a data set covers, named as for eval; by default the one that comes along",
    )
    parser.add_argument("--category", metavar="NAMES", help="with --coverage: only these")
    parser.add_argument("--missing", action="store_true", help="with --coverage: list what is not")
    parser.add_argument(
        "--sample",
        type=positive,
        metavar="N",
        help="print N sampled paths; with --coverage, paths that go through what is not covered",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the first path (0)")
    parser.add_argument("--world", metavar="NAME", help="where paths start (default: the first)")
    parser.add_argument("--turns", type=positive, default=4, metavar="N", help="(%(default)s)")
    parser.add_argument(
        "--calls", type=positive, default=3, metavar="N", help="in a turn at most (%(default)s)"
    )
    parser.add_argument(
        "--want", metavar="NAMES", help="functions and edges to go through, with commas"
    )


def _graph(options: argparse.Namespace) -> int:
    graph = load()
    for path, draw in ((options.dot, to_dot), (options.svg, to_svg)):
        if path is not None:
            _write(path, draw(graph))
    covered = None if options.coverage is None else _coverage_of(graph, options)
    if covered is not None:
        _print_coverage(graph, covered, options.missing)
    elif not options.sample:
        _print_statistics(graph)
    if options.sample:
        _print_paths(_sampled(graph, options, covered))
    return DONE


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(str(path), f"cannot be written: {error.strerror}") from None
    print(f"wrote {path}")


def _print_statistics(graph: Graph) -> None:
    counted = statistics(graph)
    print(f"{counted.functions} functions that can succeed, {counted.edges} edges\n")
    print(_matrix("edges from, to", counted.pairs))
    kinds = sorted(counted.kinds.items(), key=lambda item: (-item[1], item[0]))
    print(f"\nvalues: {', '.join(f'{kind} {times}' for kind, times in kinds)}")
    print(f"\n{len(counted.alone)} functions without an edge:")
    for name, reason in counted.alone.items():
        print(f"  {name}: {reason}")


def _matrix(title: str, pairs: Mapping[tuple[str, str], int]) -> str:
    """Return a table of pairs of backends."""
    rows = [[title, *[name.removesuffix("API") for name in BACKENDS]]]
    rows += [[a, *[str(pairs.get((a, b), 0) or ".") for b in BACKENDS]] for a in BACKENDS]
    return table(rows)


def _coverage_of(graph: Graph, options: argparse.Namespace) -> Coverage:
    name = options.coverage or None
    dataset = choose.dataset(name, choose.categories(options.category, name), note)
    return coverage(
        graph,
        (
            trace(
                load_session(dataset, t),
                [text for turn in t.turns for text in turn.ground_truth],
            )
            for t in dataset.trajectories.values()
        ),
    )


def _print_coverage(graph: Graph, covered: Coverage, missing: bool) -> None:
    possible = len(BACKENDS) * (len(BACKENDS) - 1) // 2
    rows = [
        [f"of {covered.paths} trajectories", "covered", "of"],
        ["functions that can succeed", str(len(covered.functions)), str(len(graph.functions))],
        ["edges", str(len(covered.edges)), str(len(graph.edges))],
        ["backends", str(len(covered.backends)), str(len(BACKENDS))],
        ["pairs of backends", str(len(covered.pairs)), str(possible)],
    ]
    print(table(rows))
    print()
    print(_matrix("trajectories with both", covered.pairs))
    if missing:
        _print_list("functions not covered", covered.missing_functions)
        _print_list("edges not covered", covered.missing_edges)


def _print_list(title: str, names: Iterable[str]) -> None:
    print(f"\n{title}:")
    for name in names:
        print(f"  {name}")


def _sampled(graph: Graph, options: argparse.Namespace, covered: Coverage | None) -> Sequence[Walk]:
    world = options.world or next(iter(graph.worlds))
    if world not in graph.worlds:
        raise DataError("--world", f"{world!r} is not a world: {', '.join(graph.worlds)}")
    want = [name.strip() for name in (options.want or "").split(",") if name.strip()]
    for name in want:
        if name not in graph.functions and name not in graph.by_name:
            raise DataError(
                "--want", f"{name!r} is neither a function that can succeed nor an edge"
            )
    size = (options.turns, options.calls)
    if covered is not None:
        missing = [*want, *covered.missing_functions, *covered.missing_edges]
        return cover(graph, world, options.seed, *size, missing, options.sample)
    seeds = range(options.seed, options.seed + options.sample)
    return [sample(graph, world, s, *size, want) for s in seeds]


def _print_paths(paths: Sequence[Walk]) -> None:
    for path in paths:
        print(f"path {path.seed} in {path.world}: {', '.join(path.environments)}")
        number = 0
        for index, turn in enumerate(path.turns, start=1):
            for step in turn:
                print(f"  turn {index}  step {number}  {step.text}")
                _print_bindings(step)
                number += 1


def _print_bindings(step: PathStep) -> None:
    for binding in step.bindings:
        place = f" {binding.place}" if binding.place else ""
        origin = f"step {binding.step}:" if binding.origin is Origin.RESULT else binding.origin
        print(f"      {binding.argument}: {origin}{place}")
