"""Mutants of the code that decides verdicts and keeps records: ``make mutants``.

cosmic-ray changes one comparison, condition, boolean, number or operator; the tests should fail.
Each process works in a copy of the checkout. First, the unchanged code passes all tests, and the
lines that each test runs are recorded. A mutant then meets the tests that run its line, those of
its own module first, until these tests take ``--seconds``.
"""

from __future__ import annotations

import argparse
import ast
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from compileall import compile_dir
from functools import cache, partial
from pathlib import Path
from py_compile import PycInvalidationMode
from random import Random
from typing import Any, NamedTuple

from cosmic_ray.commands import init
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome

from checkers.statistics import wilson
from tests.mutation.equivalents import (
    MUTATED,
    RECORD_VARIABLE,
    ROOT,
    Change,
    is_equivalent,
    read_equivalents,
)

TESTS = "tests/checkers tests/envs tests/trajectories tests/runner tests/live"
"""Tests that may find mutants."""
BACKENDS = "envs/backends"
OPERATORS = re.compile(
    r"core/(ReplaceComparison|ReplaceBinary|ReplaceUnary|ReplaceTrue|ReplaceFalse|ReplaceAnd|"
    r"ReplaceOr|ReplaceBreak|ReplaceContinue|AddNot|NumberReplacer|ZeroIteration)"
)
PLUGINS = "-p no:cacheprovider -p no:xdist"
TIMEOUT_SECONDS = 240
_PATIENCE = 4
"""Factor on ``--seconds`` for a mutant that survives its first tests."""


class Mutant(NamedTuple):
    """A tested mutant."""

    spec: MutationSpec
    survived: bool
    change: Change


def main() -> int:
    """Test a sample of mutants; return 1 if one survives that is not known as equivalent."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--python", default=".venv/bin/python", help="interpreter of the tests")
    parser.add_argument("--only", default="", help="files whose path contains this text")
    parser.add_argument(
        "--seconds", type=float, default=12, help="maximum CPU time of a mutant's tests"
    )
    parser.add_argument("--record", type=Path, help="file of recorded lines; made if missing")
    parser.add_argument("--results", type=Path, help="file to which each result is added")
    options = parser.parse_args()
    python = str(Path(options.python).absolute())
    places = find_places(options.only)
    random = Random(options.seed)
    sample = random.sample(places, min(options.sample, len(places)))
    specs = [random.choice(place) for place in sample]
    print(f"{len(specs)} of {len(places)} places, seed {options.seed}", flush=True)
    equivalents = read_equivalents()
    killed = equivalent = 0
    with tempfile.TemporaryDirectory() as folder:
        record = (options.record or Path(folder) / "record.json").absolute()
        test = partial(_test_mutant, python, record, options.seconds)
        with multiprocessing.Pool(options.processes, _enter_copy, (Path(folder),)) as pool:
            if not record.exists():
                pool.apply(_record, (python, record))
            for mutant in pool.imap_unordered(test, specs):
                known = mutant.survived and is_equivalent(mutant.change, equivalents)
                killed += not mutant.survived
                equivalent += known
                if mutant.survived and not known:
                    print(_describe(mutant), flush=True)
                if options.results:
                    with options.results.open("a", encoding="utf-8") as file:
                        print(json.dumps(_summarize(mutant)), file=file)
    counted = len(specs) - equivalent
    low, high = wilson(killed, counted)
    print(
        f"{killed} of {counted} mutants killed: {killed / counted:.1%} "
        f"(95% {low:.1%} to {high:.1%}); {equivalent} equivalent ones left out"
    )
    return 1 if killed < counted else 0


def find_places(only: str) -> list[list[MutationSpec]]:
    """Return the mutants of each place in the code, in the order of the files."""
    os.chdir(ROOT)
    listed = subprocess.check_output(["git", "ls-files", *MUTATED], text=True).split()
    paths = [
        Path(name)
        for name in listed
        if name.endswith(".py") and not name.startswith(BACKENDS) and only in name
    ]
    with use_db(":memory:", WorkDB.Mode.create) as work:
        init(paths, work, {})
        specs = [item.mutations[0] for item in work.work_items]
    unused = {path: {*_find_unused(path)} for path in paths}
    places = defaultdict(list)
    for spec in specs:
        if OPERATORS.match(spec.operator_name) and spec.start_pos not in unused[spec.module_path]:
            places[str(spec.module_path), spec.start_pos, spec.end_pos].append(spec)
    order = sorted(places)
    return [sorted(places[key], key=lambda s: (s.operator_name, s.occurrence)) for key in order]


def _find_unused(path: Path) -> Iterator[tuple[int, int]]:
    """Yield positions in annotations, decorators and TYPE_CHECKING, which no test runs."""
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        found = [getattr(node, name, None) for name in ("annotation", "returns")]
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            found.append(node.test)
        for part in (*found, *getattr(node, "decorator_list", ())):
            if isinstance(part, ast.AST):
                for line in range(part.lineno, part.end_lineno + 1):
                    begin = part.col_offset if line == part.lineno else 0
                    end = part.end_col_offset if line == part.end_lineno else len(lines[line - 1])
                    yield from ((line, column) for column in range(begin, end))


def _enter_copy(folder: Path) -> None:
    """Make a copy of the checkout for this process, and work there."""
    copy = folder / str(os.getpid())
    for name in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split("\n"):
        if name and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    # Tests of the repository ask git.
    subprocess.run(["git", "init", "-q"], cwd=copy, check=True)
    os.chdir(copy)
    # Commands in other folders import the copy, too.
    os.environ["PYTHONPATH"] = str(copy)
    # A mutant's bytecode is never taken for its original's, whatever their times of change.
    compile_dir(".", quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)


def _record(python: str, record: Path) -> None:
    """Record the lines of each test. Raises CalledProcessError if a test of the code fails."""
    command = [python, "-m", "pytest", "-q", "-m", "not slow", "-p", "tests.mutation.recording"]
    # CPython 3.11 cannot start the recording in two threads at once: the second is not recorded.
    command += ["-p", "no:threadexception", "-p", "no:unraisableexception"]
    environment = {**os.environ, RECORD_VARIABLE: str(record)}
    subprocess.run([*command, *TESTS.split()], env=environment, check=True)


def _test_mutant(python: str, record: Path, seconds: float, spec: MutationSpec) -> Mutant:
    tests = _select_tests(record, spec, seconds * _PATIENCE)
    quick = _select_tests(record, spec, seconds)
    commands = []
    for name, some in (("quick.txt", quick), ("rest.txt", tests[len(quick) :])):
        Path(name).write_text("\n".join(some), encoding="utf-8")
        if some:
            commands.append(f"{python} -m pytest -qx {PLUGINS} @{name}")
    command = " && ".join(commands) or "true"
    result = mutate_and_test([spec], f'sh -c "{command}"', TIMEOUT_SECONDS)
    if result.test_outcome is None or result.diff is None:
        raise RuntimeError(f"{spec}: {result.output}")
    survived = not tests or result.test_outcome == TestOutcome.SURVIVED
    lines = result.diff.split("\n")
    # The diff of a last line ends in an empty line.
    was, now = (
        " ".join([x[1:].strip() for x in lines if x[:1] == s != x[1:2]]).strip() for s in "-+"
    )
    return Mutant(spec, survived, Change(str(spec.module_path), was, now))


def _select_tests(record: Path, spec: MutationSpec, seconds: float) -> list[str]:
    """Return tests that run a mutant's line; tests of its module come first, then quick tests."""
    recorded, path = _read_record(record), spec.module_path
    lines = recorded["lines"].get(str(path), {})
    begin, end = spec.start_pos[0], spec.end_pos[0]
    # An import runs the lines outside of functions, in whichever test comes first.
    wanted = range(begin, end + 1) if begin in _find_body_lines(path) else lines
    found = {test for line in wanted for test in lines.get(str(line), ())}
    # Imports also run some functions, of which no test is recorded.
    found = found or {test for tests in lines.values() for test in tests}
    names, durations = recorded["tests"], recorded["seconds"]
    folder = f"{Path('tests') / path.parent}/"
    own = f"{folder}test_{path.stem}"
    if wanted is lines:  # tests of constants need not run a line of the module
        found |= {test for test, name in enumerate(names) if name.startswith(folder)}
    order = sorted(found, key=lambda test: (not names[test].startswith(own), durations[test]))
    chosen, total = [], 0.0
    for test in order:
        total += durations[test]
        if chosen and total > seconds:
            break
        chosen.append(names[test])
    return chosen


@cache
def _find_body_lines(path: Path) -> set[int]:
    """Return the lines of functions' bodies."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, kinds)]
    return {n for body in bodies for n in range(body[0].lineno, (body[-1].end_lineno or 0) + 1)}


@cache
def _read_record(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _summarize(mutant: Mutant) -> dict[str, object]:
    operator, line = mutant.spec.operator_name, mutant.spec.start_pos[0]
    return {
        **mutant.change._asdict(),
        "line": line,
        "operator": operator,
        "survived": mutant.survived,
    }


def _describe(mutant: Mutant) -> str:
    path, was, becomes = mutant.change
    line = mutant.spec.start_pos[0]
    return f"survived {path}:{line} {mutant.spec.operator_name}\n  - {was}\n  + {becomes}"


if __name__ == "__main__":
    raise SystemExit(main())
