"""Command ``turnwise generate``: generates entries with a model, and checks each entry."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from os.path import realpath
from pathlib import Path
from typing import Any, Literal, NamedTuple

from checkers.profile import Mode
from envs.errors import DataError, suggest_name
from extensions.authoring.graph.graph import Graph, load
from extensions.authoring.graph.sampling import Coverage, coverage, trace
from extensions.authoring.making.build import lines
from extensions.authoring.making.scenarios import written as scenario_text
from extensions.generation.answers import ANSWERS_FILE, DEFINITION_FILE, AnswerLog
from extensions.generation.entries.entry_checks import make_scenario
from extensions.generation.entries.filters import QuestionIndex
from extensions.generation.entries.instruction_kinds import GROUPS, InstructionKind, read_groups
from extensions.generation.entries.tasks import (
    PERSONAS,
    TaskSampling,
    TaskSource,
    make_dataset,
    read_personas,
)
from extensions.generation.entry_making import EntryMaker, MadeEntries, RejectedAnswer
from extensions.generation.models import GenerationEstimate, GenerationModels, GenerationOrder
from extensions.generation.writer_questions import PROMPTS, read_writer_prompts
from extensions.generation.yield_table import ERROR, MEANINGS
from extensions.judges.commands.judge_options import CachedRequestOptions
from runner.commands import DONE
from runner.commands.common_options import JsonOption, note
from runner.commands.model_requests import check_budget, exit_status
from runner.commands.options import argument, index, option, positive, switch
from runner.live.engine import JobEngine
from runner.live.progress_display import ProgressDisplay
from runner.live.run_settings import Settings
from runner.models.model_name import ModelName, ScriptedName, parse_model_name
from runner.records.durable_files import write_files
from runner.records.episode_record import RunSpending
from runner.records.run_file_mask import SecretMask
from runner.records.run_store import server_meant
from runner.records.secret_finder import redact_command
from runner.show.terminal import format_count, say, say_json
from trajectories.dataset import DATA, Dataset, load_embedded
from trajectories.prepared_trajectory import load_session
from trajectories.schema import Category

EXAMPLE = "turnwise generate new.jsonl --model gpt-4o-mini --kind I1 --number 20"

NOTES = (
    "rows of the yield table:\n"
    + "".join(f"  {name:10} {text}\n" for name, text in MEANINGS.items())
    + "exit status: 0 done, 2 bad input, 3 unanswered requests or an unusable writer model, "
    "130 interrupted\n"
)


@dataclass(frozen=True, kw_only=True)
class _EntryOptions:
    """Entries."""

    kind: str = option(
        "kinds, separated by commas: I1 (one backend), I2 (two or three backends of a "
        "category), I3 (two or three backends of a collection)",
        "KINDS",
        default="I1,I2,I3",
    )
    number: int = option("total number of entries", "N", default=30, read=positive)
    origin: Literal["paths", "functions"] = option(
        "task of the writer: describe given calls (paths) or invent a request (functions)",
        default="paths",
        flags=("--from",),
    )
    seed: int = option("seed of random draws", "S", default=0, read=index)
    turns: int | None = option(
        "turns per entry (default: 3; 1 with --from functions)", "N", read=positive
    )
    calls: int | None = option(
        "maximum calls per turn (default: 3; 4 with --from functions)", "N", read=positive
    )
    want: str | None = option(
        "functions and edges to cover, separated by commas; `missing` selects all functions "
        "and edges that the built-in data does not cover",
        "NAMES",
    )
    groups: Path = option(
        "TOML file with groups of backends (default: the built-in one)", "FILE", default=GROUPS
    )
    personas: Path = option(
        "file with one persona per line (default: the built-in one)", "FILE", default=PERSONAS
    )
    prompts: Path = option("TOML file with prompts (default: built-in)", "FILE", default=PROMPTS)


@dataclass(frozen=True, kw_only=True)
class _CheckOptions:
    """Checks."""

    tries: int = option(
        "maximum answers per entry; the writer sees why an answer was rejected",
        "N",
        default=2,
        read=positive,
    )
    solver: ModelName | None = option(
        "model that solves the entries, or scripted:SHARE (default: the writer)",
        "MODEL",
        read=parse_model_name,
    )
    trials: int = option(
        "episodes of the solver per entry; at least one must pass", "N", default=1, read=index
    )
    solutions: int | None = option(
        "searches per entry, with --from functions (default: 2)",
        "N",
        read=positive,
    )
    search_calls: int | None = option(
        "with --from functions: maximum requests per search (default: 60)", "N", read=positive
    )
    mode: Mode | None = option(
        "form in which the solver and the judge model answer: tool calls or text (default: fc)"
    )
    judge: ModelName | None = option(
        "judge model for the calls, or scripted:SHARE (default: none)",
        "MODEL",
        read=parse_model_name,
    )


@dataclass(frozen=True, kw_only=True)
class Options(_EntryOptions, _CheckOptions, JsonOption, CachedRequestOptions):
    """Options for the writer model and the output file."""

    output: Path = argument("file for the entries", "OUT.jsonl")
    model: ModelName = option(
        "writer model; scripted:0.2,only=LONG makes 20% of the texts too long",
        "MODEL",
        required=True,
        read=parse_model_name,
    )
    rejected: Path | None = option(
        "also write rejected answers to this file, one JSON line each", "FILE"
    )
    scenarios: Path | None = option(
        "also write the scenarios that `dataset build --source DIR` reads", "DIR"
    )
    resume: bool = switch("resume from the answers in OUT.jsonl.work")


def run(options: Options) -> int:
    """Make entries, and print how many entries each check rejects."""
    _check(options)
    graph, own = load(), load_embedded([Category.BASE])
    ours = _cover(graph, own) if options.want else None
    order = _make_order(options, graph, own, _wishes(options.want, graph, ours))
    order.check()
    for name in order.live:
        check_budget(name, order.settings)
    if options.dry_run:
        for line in GenerationEstimate(order).lines(order):
            say(line)
        return DONE
    work = _find_work_folder(options)
    about = {
        "created": datetime.now().isoformat(timespec="seconds"),
        "command": redact_command(sys.argv),
    }
    with AnswerLog(work, _definition(options, order), about, order.secrets) as log:
        if log.spent.requests:
            note(f"{log.spent.requests} requests of earlier runs are answered from {work}")
        models = GenerationModels(order, log, note)
        maker = asyncio.run(
            models.make(lambda total: ProgressDisplay(total, sys.stderr, time.monotonic))
        )
        outcome = _GenerationOutcome(maker, models, log.spent)
    if outcome.stopped is not None:
        note(outcome.stopped)
        made = (
            f"{len(maker.output.entries)} of {sum(order.wanted.values())} requested entries were "
            "made"
        )
        note(f"{made}; resume with --resume")
    if maker.output.yields.tasks:
        built = _write(options, maker.output, order.secrets)
    elif not options.json:
        return _status(outcome)
    else:
        built = None if options.scenarios is None else Counter()
    cover = _cover(graph, make_dataset(*maker.output.entries))
    _report(options, order, outcome, _EntryFigures(graph, cover, ours, built))
    return _status(outcome)


class _GenerationOutcome(NamedTuple):
    """The outcome of a generation."""

    maker: EntryMaker
    models: GenerationModels
    spent: RunSpending

    @property
    def stopped(self) -> str | None:
        return self._engine.stop_reason or self.maker.short

    @property
    def _engine(self) -> JobEngine[Any, Any]:
        return next(iter(self.models.askers.values())).engine

    @property
    def failed(self) -> bool:
        return self._engine.failed or self.maker.short is not None


class _EntryFigures(NamedTuple):
    """Statistics of the generated entries."""

    graph: Graph
    cover: Coverage
    ours: Coverage | None
    """Coverage of the built-in data; None if ``--want`` is not given."""
    built: Counter[str] | None
    """Number of entries without a scenario, by error. The key "" counts the entries with one."""


def _check(options: Options) -> None:
    if options.origin == "paths":
        for flag, value in (
            ("--solutions", options.solutions),
            ("--search-calls", options.search_calls),
        ):
            if value is not None:
                raise DataError(flag, "needs --from functions: add it, or leave this option out")
    if options.solutions == 1:
        raise DataError("--solutions", "must be 2 or more")
    if options.solver is not None and not options.trials and options.origin == "paths":
        raise DataError("--solver", "cannot be combined with --trials 0")
    if not options.output.name or options.output.is_dir():
        raise DataError(str(options.output), "is a folder; name a file")
    for folder in (options.output.parent, options.scenarios):
        if folder is not None and not folder.is_dir():
            raise DataError(str(folder), "is not a folder; create it first")
    output = Path(realpath(options.output))
    if options.rejected is not None and Path(realpath(options.rejected)) == output:
        raise DataError("--rejected", "is also the output file of the entries; name another file")
    if output.is_relative_to(DATA.resolve()):
        raise DataError(str(options.output), "is in the built-in data; name another folder")


def _read_kinds(names: str) -> list[InstructionKind]:
    kinds = [name.strip().upper() for name in names.split(",")]
    for kind in kinds:
        if kind not in [*InstructionKind]:
            choices = ", ".join(InstructionKind)
            raise DataError("--kind", f"unknown kind {kind!r:.40}; choose from {choices}")
    return [InstructionKind(kind) for kind in dict.fromkeys(kinds)]


def _make_order(
    options: Options, graph: Graph, own: Dataset, wishes: Sequence[str]
) -> GenerationOrder:
    kinds = _read_kinds(options.kind)
    if options.number < len(kinds):
        raise DataError("--number", f"must be at least {len(kinds)}, the number of kinds")
    groups, voices = read_groups(options.groups, graph), read_personas(options.personas)
    has_paths = options.origin == "paths"
    entries = [*own.trajectories.values()]
    sampling = TaskSampling(
        graph,
        groups,
        voices=voices,
        examples=entries,
        origin=options.origin,
        seed=options.seed,
        turns=options.turns or (3 if has_paths else 1),
        calls=options.calls or (3 if has_paths else 4),
    )
    each, more = divmod(options.number, len(kinds))
    usual = ScriptedName("scripted:0") if options.model.is_scripted else options.model
    return GenerationOrder(
        options.model,
        options.solver or usual,
        judge=options.judge,
        settings=options.settings(seed=None, prompts=None),  # not seed and prompts of requests
        prompts=read_writer_prompts(options.prompts),
        tasks=TaskSource(sampling, kinds),
        own=entries,
        wanted={kind: each + (place < more) for place, kind in enumerate(kinds)},
        wishes=wishes,
        tries=options.tries,
        trials=options.trials,
        solutions=options.solutions or 2,
        search_calls=options.search_calls or 60,
    )


def _wishes(want: str | None, graph: Graph, ours: Coverage | None) -> Sequence[str]:
    """Return the functions and edges that new entries must cover according to ``--want``."""
    if want is None:
        return ()
    if want.strip() == "missing" and ours is not None:
        return (*ours.missing_functions, *ours.missing_edges)
    names = [name.strip() for name in want.split(",") if name.strip()]
    for name in names:
        if name not in graph.functions and name not in graph.by_name:
            near = suggest_name(name, [*graph.functions, *graph.by_name, "missing"])
            raise DataError("--want", f"{name!r:.80} is neither a function nor an edge{near}")
    return names


def _find_work_folder(options: Options) -> Path:
    output = options.output
    work = output.with_name(f"{output.name}.work")
    definition, answers = work / DEFINITION_FILE, work / ANSWERS_FILE
    if options.resume:
        if not definition.exists():
            raise DataError("--resume", f"nothing to resume: {work} does not exist")
        return work
    has_answers = answers.exists() and answers.stat().st_size
    if has_answers or output.exists():
        advice = "use --resume, or " if definition.exists() else ""
        place = output if output.exists() else work
        raise DataError(str(place), f"exists already; {advice}name another file")
    # A definition without answers is discarded.
    definition.unlink(missing_ok=True)
    return work


def _definition(options: Options, order: GenerationOrder) -> dict[str, Any]:
    how = order.tasks.how
    return {
        "model": order.model,
        "solver": order.solver if order.solves else None,
        "judge": order.judge,
        **(_changed_settings(order.settings) if order.live else {}),
        "prompts_sha256": order.prompts.sha256,
        "groups_sha256": how.groups.sha256,
        "personas_sha256": how.voices.sha256,
        "from": how.origin,
        "kinds": dict(order.wanted),
        "seed": how.seed,
        "turns": how.turns,
        "calls": how.calls,
        "want": options.want,
        "tries": order.tries,
        "trials": order.trials,
        "solutions": order.solutions,
        "search_calls": order.search_calls,
    }


def _changed_settings(settings: Settings) -> dict[str, Any]:
    found = settings.defining().to_json()
    usual = Settings().defining().to_json()
    if found["base_url"] is not None:
        found = {**found, "base_url": [*server_meant(found["base_url"])]}
    return {name: value for name, value in found.items() if value != usual.get(name)}


def _write(options: Options, output: MadeEntries, secrets: SecretMask) -> Counter[str] | None:
    files: dict[Path, Iterable[bytes]] = {options.output: map(str.encode, [lines(output.entries)])}
    if options.rejected is not None:
        files[options.rejected] = (_mask(_rejected_line(each), secrets) for each in output.rejected)
    built, scenarios = _build(options.scenarios, output)
    write_files(files | scenarios, named=True)
    return built


def _mask(line: dict[str, Any], secrets: SecretMask) -> bytes:
    # An answer may contain a key.
    return secrets.of_step(line) or secrets.of_step({**line, "answer": "", "reason": ""}) or b""


def _rejected_line(rejected: RejectedAnswer) -> dict[str, Any]:
    task, lost = rejected
    return {
        "task": task.key,
        "kind": task.kind,
        "by": lost.by,
        "reason": lost.reason,
        "path_seed": task.walk.seed,
        "calls": [[*calls] for calls in task.walk.calls],
        "answer": lost.answer,
    }


def _build(
    folder: Path | None, output: MadeEntries
) -> tuple[Counter[str] | None, dict[Path, Iterable[bytes]]]:
    """Make scenario files from entries; count the entries for each error."""
    if folder is None:
        return None, {}
    files: dict[Path, Iterable[bytes]] = {}
    counted: Counter[str] = Counter()
    questions = QuestionIndex()
    for entry in output.entries:
        try:
            scenario = make_scenario(entry, output.left_out[entry.id])
        except DataError as error:
            counted[str(error).partition(": ")[2]] += 1
            continue
        note = scenario.notes.missing_parameter
        texts = [note.without, note.answer]
        if questions.like(texts):
            counted["an earlier scenario has a similar user message"] += 1
            continue
        questions.take(entry.id, texts)
        counted[""] += 1
        text = scenario_text(scenario)
        files[folder / f"{scenario.name}.json"] = map(str.encode, [text])
    return counted, files


def _cover(graph: Graph, dataset: Dataset) -> Coverage:
    entries = dataset.trajectories.values()
    truths = [[text for turn in t.turns for text in turn.ground_truth] for t in entries]
    pairs = zip(entries, truths, strict=True)
    return coverage(graph, [trace(load_session(dataset, t), truth) for t, truth in pairs])


def _report(
    options: Options, order: GenerationOrder, outcome: _GenerationOutcome, figures: _EntryFigures
) -> None:
    output, spent = outcome.maker.output, outcome.spent
    asked = {role: asker.requests for role, asker in outcome.models.askers.items()}
    walks = _count_walks(order)
    if options.json:
        say_json(
            {
                "output": str(options.output),
                "entries": len(output.entries),
                "wanted": sum(order.wanted.values()),
                "walks": walks,
                "kinds": output.yields.to_json(),
                "yield": output.yields.share(),
                "requests": asked,
                "spent": spent._asdict(),
                "functions": len(figures.cover.functions),
                "edges": len(figures.cover.edges),
                **_with_ours(figures),
                "scenarios": None if figures.built is None else figures.built[""],
                "stopped": outcome.stopped,
            }
        )
        return
    for line in output.yields.lines():
        say(line)
    tasks = sum(output.yields.tasks.values())
    rejected = ", ".join(f"{why} {n}" for why, n in walks["passed_over"].items())
    say(f"{walks['drawn']} random walks tried for {tasks} tasks; rejected: {rejected or 'none'}")
    for line in _coverage_lines(figures):
        say(line)
    if figures.built is not None and options.scenarios is not None:
        say(f"{format_count(figures.built.pop('', 0), 'scenario')} in {options.scenarios}")
        for why, times in figures.built.most_common():
            say(f"  {format_count(times, 'entry')} without a scenario: {why}")
    requests = ", ".join(f"{role} {n}" for role, n in asked.items())
    cost = "" if spent.cost is None else f", ${spent.cost:.2f}"
    total = f"{format_count(spent.requests, 'request')}, {spent.tokens} tokens{cost}"
    say(f"requests of this run: {requests}; all runs for this file: {total}")
    say(f"{format_count(len(output.entries), 'entry')} in {options.output}")


def _with_ours(figures: _EntryFigures) -> dict[str, int]:
    """Return the coverage of the built-in data, alone and together with the new entries.

    Without ``--want``, the result is empty.
    """
    ours, cover = figures.ours, figures.cover
    if ours is None:
        return {}
    return {
        "functions_with_ours": len({*ours.functions, *cover.functions}),
        "functions_of_ours": len(ours.functions),
        "edges_with_ours": len({*ours.edges, *cover.edges}),
        "edges_of_ours": len(ours.edges),
    }


def _count_walks(order: GenerationOrder) -> dict[str, Any]:
    reasons = Counter[str]()
    for (_, why), times in order.tasks.drawn.items():
        reasons[why or ""] += times
    drawn = reasons.pop("", 0)
    return {"drawn": drawn, "passed_over": dict(reasons.most_common())}


def _coverage_lines(figures: _EntryFigures) -> Iterator[str]:
    graph, cover = figures.graph, figures.cover
    functions, edges = len(graph.functions), len(graph.edges)
    yield (
        f"the entries cover {len(cover.functions)} of {functions} functions and "
        f"{len(cover.edges)} of {edges} edges"
    )
    if both := _with_ours(figures):
        yield (
            f"the built-in data covers {both['functions_of_ours']} functions and "
            f"{both['edges_of_ours']} edges; with the new entries, "
            f"{both['functions_with_ours']} functions and {both['edges_with_ours']} edges"
        )


def _status(outcome: _GenerationOutcome) -> int:
    errors = any(name == ERROR for _, name in outcome.maker.output.yields.lost)
    failed = outcome.stopped != "interrupted" and (outcome.failed or errors)
    return exit_status(outcome.stopped, failed=failed)
