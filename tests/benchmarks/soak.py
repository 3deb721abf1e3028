"""Resets and steps without end, many live sessions at once: ``python -m tests.benchmarks.soak``.

Memory is this process's resident set, so it takes a Linux. It must stay flat while sessions come
and go; what ten thousand of them take, each after its ground truth, is stated.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

from envs.calls import Call, read_call
from envs.session import Session
from runner.data import dataset_choice
from trajectories.prepared_trajectory import load_session
from trajectories.schema import Category

_PAGE = os.sysconf("SC_PAGE_SIZE")
_SAMPLES = 20
_GROWTH = 4 << 20
"""Bytes that memory may grow by between the first fifth of a soak and its end."""


class World(NamedTuple):
    """How to make a session, and calls to make on it."""

    load: Callable[[], Session]
    calls: list[Call]


def main() -> int:
    """Run the three soaks and say what memory they took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resets", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=10_000_000)
    parser.add_argument("--sessions", type=int, default=10_000)
    options = parser.parse_args()
    worlds = list(_worlds())
    _live(worlds, options.sessions)
    flat = _soak("resets", _resets(worlds), options.resets)
    flat &= _soak("steps", _steps(worlds), options.steps)
    return 0 if flat else 1


def _worlds() -> Iterator[World]:
    """Yield the embedded base category."""
    dataset = dataset_choice.open_dataset(None, [Category.BASE], print)
    for trajectory in dataset.trajectories.values():
        calls = [read_call(text) for turn in trajectory.turns for text in turn.ground_truth]
        yield World(
            lambda trajectory=trajectory: load_session(dataset, trajectory),
            [call for call in calls if isinstance(call, Call)],
        )


def _resets(worlds: list[World]) -> Iterator[None]:
    for world in cycle(worlds):
        world.load()
        yield


def _steps(worlds: list[World]) -> Iterator[None]:
    """Play ground truth from call to result text, on a fork that is dropped when it ends."""
    for world, template in cycle([(world, world.load()) for world in worlds]):
        session = template.fork()
        for call in world.calls:
            session.call(call).text  # noqa: B018 - written out on first access
            yield


def _soak(name: str, work: Iterable[None], count: int) -> bool:
    """Work, look at memory now and then, and tell whether it stayed flat."""
    source = iter(work)
    samples = []
    for _ in range(_SAMPLES):
        for _ in islice(source, count // _SAMPLES):
            pass
        samples.append(_resident())
    early, late = max(samples[: _SAMPLES // 5]), max(samples)
    flat = late - early <= _GROWTH
    shown = " ".join(f"{sample / 2**20:.1f}" for sample in samples)
    print(f"{count:,} {name}: {'flat' if flat else 'NOT FLAT'}; MB after each twentieth: {shown}")
    return flat


def _live(worlds: list[World], count: int) -> None:
    gc.collect()
    before = _resident()
    sessions = [world.load() for world in islice(cycle(worlds), count)]
    for session, world in zip(sessions, cycle(worlds), strict=False):
        session.play(world.calls)
    taken = _resident() - before
    print(
        f"{count:,} live sessions: {taken / 2**20:.1f} MB, {taken / count / 1024:.1f} KB each, "
        f"after {sum(len(w.calls) for w in islice(cycle(worlds), count)):,} calls on them"
    )


def _resident() -> int:
    """Return the bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE


if __name__ == "__main__":
    sys.exit(main())
