"""The command ``turnwise``: arguments and printing only, one thin function per command."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from io import TextIOWrapper
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

from checkers.profile import BFCL, PROFILES, STRICT, Profile
from checkers.verdict import Verdict
from envs import __version__
from envs.errors import BackendFault, ConfigProblem
from envs.session import check_config
from runner import choose, export_cli, graph_cli, result_file, validate_cli
from runner.episode import STEP_LIMIT
from runner.evaluate import Judged, evaluate, run_recorded, run_script
from runner.execute import execute, read_script
from runner.live_options import add_options, positive
from runner.prepare import Prepared, prepare
from runner.progress import progress
from runner.replay import replay
from runner.scripts import Script, null, oracle, recorded
from runner.summary import outcome_of_judged, summary
from runner.table import table
from trajectories import bfcl
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.jsonl import parse_object
from trajectories.schema import Category, Trajectory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envs.long_context import Pack

DONE, USER_ERROR, RUN_ERROR, INTERRUPTED = 0, 2, 3, 130
"""Exit statuses: done; bad input; the run had errors that are not the model's; Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    options = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # What the terminal cannot show must not end the run.
            stream.reconfigure(errors="backslashreplace")
    try:
        status: int = options.command(options)
    except DataError as error:
        return _complain(error, USER_ERROR)
    except BackendFault as error:
        return _complain(error, RUN_ERROR)
    except BrokenPipeError:
        # The reader of our output has gone; there is nobody left to tell.
        sys.stderr.close()
        return DONE
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)
    return status


def _complain(error: object, status: int) -> int:
    print(f"turnwise: {error}", file=sys.stderr)
    return status


def _note(line: str) -> None:
    print(f"turnwise: {line}", file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(USER_ERROR, f"{self.prog}: {message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="turnwise", description="Simulate and judge tool-calling agents.")
    parser.add_argument("--version", action="version", version=f"turnwise {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_eval(commands)
    _add_score(commands)
    _add_replay(commands)
    _add_exec(commands)
    _add_dataset(commands)
    graph_cli.add_command(commands)
    validate_cli.add_commands(commands)
    export_cli.add_command(commands)
    return parser


def _command(
    commands: Any, name: str, run: Callable[[Any], int], text: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(command=run)
    return parser


def _add_data_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dataset",
        metavar="NAME",
        help="bfcl, bfcl:FOLDER, or a trajectory file; by default the data set that comes along",
    )
    parser.add_argument(
        "--category",
        metavar="NAMES",
        help=f"only these categories, separated by commas: {', '.join(Category)}",
    )


def _add_profile_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--profile",
        choices=list(PROFILES),
        help="how runs are executed and judged (default: bfcl for its data, strict for other data)",
    )
    parser.add_argument(
        "--step-limit",
        type=positive,
        default=STEP_LIMIT,
        metavar="N",
        help="steps with calls that a turn may take (default: %(default)s)",
    )


def _add_output_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write one JSON verdict line per entry"
    )


# --- eval -------------------------------------------------------------------------------------


def _add_eval(commands: Any) -> None:
    parser = _command(commands, "eval", _eval, "Run a model on a data set and print its score.")
    parser.add_argument(
        "--model",
        required=True,
        metavar="NAME",
        help="oracle (plays the ground truth), null (never calls), replay:PATH (recorded run), or "
        "a live model: NAME, if need be with --base-url, or provider/NAME",
    )
    _add_data_options(parser)
    parser.add_argument("--ids", metavar="IDS", help="only these entries, separated by commas")
    parser.add_argument("--limit", type=positive, metavar="N", help="only the first N entries")
    parser.add_argument("--sample", type=positive, metavar="N", help="a stratified sample")
    parser.add_argument("--sample-seed", type=int, default=0, metavar="S", help="(0)")
    _add_profile_option(parser)
    _add_output_option(parser)
    add_options(parser)


def _eval(options: argparse.Namespace) -> int:
    model = choose.model(options.model, options.base_url)
    categories = choose.categories(options.category, options.dataset)
    runs = choose.recorded_runs(model.path) if model.path else {}
    dataset = choose.dataset(options.dataset, categories, _note)
    profile = _profile(options, dataset)
    everything = choose.trajectories(dataset, runs if model.path else None)
    trajectories = choose.part(
        everything, options.ids, options.limit, options.sample, options.sample_seed
    )
    population = len(everything) if options.sample else len(trajectories)
    if dataset.tolerant:
        _note_irregularities(dataset)
    if model.live:
        # Imports what makes schemas and runs many things at once; no other command needs it.
        from runner.live_cli import evaluate_live

        return evaluate_live(options, dataset, profile, trajectories, population)

    def run(prepared: Prepared) -> Verdict:
        trajectory = prepared.trajectory
        if model.path:
            entry, mode = runs[trajectory.id]
            return run_recorded(prepared, entry.turns, mode, profile, options.step_limit)
        script = oracle(trajectory) if model.name == "oracle" else null(trajectory)
        return run_script(prepared, script, profile, options.step_limit)

    outcomes = _judge_all(dataset, trajectories, profile, run, options)
    return _report(dataset, profile, trajectories, outcomes, population)


def _note_irregularities(dataset: Dataset) -> None:
    problems = choose.irregularities(dataset)
    if problems:
        configs = len({id for id, _ in problems})
        print(
            f"turnwise: warning: {len(problems)} irregularities in {configs} initial configs, taken"
            f" as they are (turnwise dataset show {dataset.name} --warnings lists them)",
            file=sys.stderr,
        )


# --- score ------------------------------------------------------------------------------------


def _add_score(commands: Any) -> None:
    parser = _command(commands, "score", _score, "Execute and judge recorded result files.")
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="result file, or folder of them"
    )
    parser.add_argument(
        "--dataset",
        metavar="NAME",
        default="bfcl",
        help="what the recorded runs are of: bfcl or bfcl:FOLDER (default: %(default)s)",
    )
    parser.add_argument(
        "--mode",
        choices=["fc", "prompt"],
        help="how the model called functions (default: seen from the files)",
    )
    _add_profile_option(parser)
    _add_output_option(parser)


def _score(options: argparse.Namespace) -> int:
    runs = choose.recorded_runs(*options.paths, mode=options.mode)
    wanted = result_file.categories_of(entry.id for entry, _ in runs.values())
    dataset = choose.dataset(options.dataset, wanted, _note)
    profile = _profile(options, dataset)
    trajectories = choose.trajectories(dataset, runs)

    def run(prepared: Prepared) -> Verdict:
        entry, mode = runs[prepared.trajectory.id]
        return run_recorded(prepared, entry.turns, mode, profile, options.step_limit)

    outcomes = _judge_all(dataset, trajectories, profile, run, options)
    return _report(dataset, profile, trajectories, outcomes, len(trajectories))


def _profile(options: argparse.Namespace, dataset: Dataset) -> Profile:
    if options.profile:
        return PROFILES[options.profile]
    return BFCL if dataset.folder else STRICT


def _judge_all(
    dataset: Dataset,
    trajectories: Sequence[Trajectory],
    profile: Profile,
    run: Callable[[Prepared], Verdict],
    options: argparse.Namespace,
) -> list[Judged]:
    """Judge trajectories, show progress, and write verdict lines where they are wanted."""
    judged = evaluate(dataset, trajectories, profile, run)
    shown = progress(judged, len(trajectories), "judged", sys.stderr)
    if options.output is None:
        return list(shown)
    header = {"profile": profile.name, "dataset": dataset.name, "data_sha256": dataset.sha256}
    with _written(options.output) as file:
        return list(_written_lines(shown, header, file))


def _written_lines(
    outcomes: Iterable[Judged], header: dict[str, str], file: IO[str]
) -> Iterator[Judged]:
    for outcome in outcomes:
        file.write(json.dumps({**outcome.to_json(), **header}) + "\n")
        yield outcome


@contextmanager
def _written(path: Path) -> Iterator[IO[str]]:
    """Open a file for writing that appears under its name only when all of it is there."""
    if not path.name:
        raise DataError(str(path), "cannot be written: it names no file")
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        with unfinished.open("w", encoding="utf-8") as file:
            yield file
        unfinished.replace(path)
    except OSError as error:
        raise DataError(str(path), f"cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            unfinished.unlink()


def _report(
    dataset: Dataset,
    profile: Profile,
    trajectories: Sequence[Trajectory],
    outcomes: Sequence[Judged],
    population: int,
) -> int:
    counted = [outcome_of_judged(outcome) for outcome in outcomes]
    for line in summary(counted, trajectories, 1, population, allow_errors=False):
        print(line)
    print(
        f"data {dataset.name} {dataset.version}, sha256 {dataset.sha256[:12]}; "
        f"profile {profile.name}; turnwise {__version__}"
    )
    errors = [outcome for outcome in outcomes if outcome.verdict is None]
    for outcome in errors:
        print(f"turnwise: {outcome.id}: {outcome.error}", file=sys.stderr)
    return RUN_ERROR if errors else DONE


# --- replay -----------------------------------------------------------------------------------


def _add_replay(commands: Any) -> None:
    parser = _command(commands, "replay", _replay, "Show one trajectory, call by call.")
    parser.add_argument("id", metavar="ID", help="id of the trajectory")
    parser.add_argument(
        "--run", type=Path, metavar="PATH", help="recorded run to show instead of the ground truth"
    )
    _add_data_options(parser)
    _add_profile_option(parser)


def _replay(options: argparse.Namespace) -> int:
    name = options.dataset or ("bfcl" if options.id.startswith("multi_turn_") else None)
    wanted = choose.categories(options.category, None)
    dataset = choose.dataset(name, wanted, _note)
    profile = _profile(options, dataset)
    trajectory = choose.trajectory(dataset, options.id)
    prepared = prepare(dataset, trajectory, profile)
    script: Script | None = oracle(trajectory)
    if options.run:
        entry, mode = choose.recorded_entry(options.run, options.id)
        script = None
        if entry.turns is not None:
            script = recorded(entry.turns, profile.decoders[mode], profile)
    for line in replay(prepared, script, profile, options.step_limit):
        print(line)
    return DONE


# --- exec -------------------------------------------------------------------------------------


def _add_exec(commands: Any) -> None:
    parser = _command(
        commands,
        "exec",
        _exec,
        "Read call scripts as JSON lines on standard input, write their results and states.",
    )
    parser.add_argument(
        "--dataset",
        metavar="NAME",
        default="bfcl",
        help="where long-context material comes from: bfcl or bfcl:FOLDER (default: %(default)s)",
    )


def _exec(options: argparse.Namespace) -> int:
    @cache
    def pack() -> Pack:
        return bfcl.load_pack(choose.bfcl_folder(options.dataset, _note))

    status = DONE
    for number, line in enumerate(_input_lines(), start=1):
        where = f"<stdin>:{number}"
        if not line.strip():
            continue
        script = read_script(parse_object(line, where), where)
        problems = check_config(script.environments, script.config)
        try:
            answer = execute(script, where, pack, irregular=bool(problems))
        except BackendFault as fault:
            status = _complain(f"{where}: {fault}", RUN_ERROR)
            continue
        _warn(where, problems)
        print(json.dumps(answer), flush=True)
    return status


def _input_lines() -> Iterator[str]:
    try:
        yield from sys.stdin
    except UnicodeDecodeError as error:
        raise DataError("<stdin>", f"is not UTF-8 text: {error.reason}") from None


def _warn(where: str, problems: Iterable[ConfigProblem]) -> None:
    for problem in problems:
        print(f"turnwise: warning: {where}: {problem}; taken as it is", file=sys.stderr)


# --- dataset ----------------------------------------------------------------------------------


def _add_dataset(commands: Any) -> None:
    parser = _command(commands, "dataset", _dataset_list, "List, show and fetch data sets.")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    _command(actions, "list", _dataset_list, "List the data sets there are.")
    show = _command(actions, "show", _dataset_show, "Show what is in a data set.")
    show.add_argument("dataset", nargs="?", metavar="NAME", help="as for --dataset of eval")
    show.add_argument("--category", metavar="NAMES", help="only these categories")
    show.add_argument("--id", metavar="ID", help="print one trajectory as JSON")
    show.add_argument(
        "--warnings", action="store_true", help="list what is irregular in the initial configs"
    )
    build = _command(actions, "build", _dataset_build, "Build the four harder categories anew.")
    build.add_argument("folder", type=Path, metavar="FOLDER", help="where to write them")
    build.add_argument(
        "--source", type=Path, metavar="DIR", help="base.jsonl and notes.jsonl (default: ours)"
    )
    build.add_argument(
        "--size", type=positive, metavar="N", help="items of each kind in long contexts (200)"
    )
    build.add_argument("--seed", type=int, metavar="S", help="of the bulk (default: by entry)")
    fetch = _command(actions, "fetch", _dataset_fetch, "Download a data set into the cache.")
    fetch.add_argument("dataset", choices=["bfcl"], metavar="NAME", help="bfcl")


def _dataset_list(_: argparse.Namespace) -> int:
    rows = [["data set", "version", "trajectories", "where"]]
    rows += choose.known_datasets()
    print(table(rows))
    return DONE


def _dataset_show(options: argparse.Namespace) -> int:
    dataset = choose.dataset(
        options.dataset, choose.categories(options.category, options.dataset), _note
    )
    if options.id:
        from trajectories.validation import to_json

        print(json.dumps(to_json(choose.trajectory(dataset, options.id)), indent=2))
        return DONE
    print(table(choose.contents(dataset)))
    problems = choose.irregularities(dataset)
    if options.warnings:
        for id, problem in problems:
            print(f"warning: {id}: {problem}")
    print(
        f"{dataset.name} {dataset.version}, sha256 {dataset.sha256}; "
        f"{len(problems)} irregularities in {len({id for id, _ in problems})} initial configs"
    )
    return DONE


def _dataset_build(options: argparse.Namespace) -> int:
    # Plays every ground truth, and only this command needs what that takes.
    from trajectories.build import FOLDER, ITEMS, texts

    files = texts(options.source or FOLDER, options.seed, options.size or ITEMS)
    for path, text in files.items():
        with _written(options.folder / path.name) as file:
            file.write(text)
        print(options.folder / path.name)
    return DONE


def _dataset_fetch(options: argparse.Namespace) -> int:
    print(choose.bfcl_folder(options.dataset, _note))
    return DONE


if __name__ == "__main__":
    sys.exit(main())
