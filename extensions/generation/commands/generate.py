"""The command ``turnwise generate``: entries whose users speak in a model's words, verified."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from checkers.profile import Mode
from extensions.authoring.graph.graph import Graph, load
from extensions.authoring.graph.sampling import Coverage, coverage, trace
from extensions.authoring.making.build import lines
from extensions.authoring.making.scenarios import written as scenario_text
from extensions.generation.answers import ANSWERS_FILE, DEFINITION_FILE, AnswerLog
from extensions.generation.ask import PROMPTS, read_writer_prompts
from extensions.generation.crew import Commission, CommissionGuess, WritingCrew
from extensions.generation.entries.filters import AskedBefore
from extensions.generation.entries.kinds import GROUPS, InstructionKind, read_groups
from extensions.generation.entries.sound import scenario_of
from extensions.generation.entries.tasks import PERSONAS, Sampling, Tasks, dataset_of, read_personas
from extensions.generation.making import Maker, Output, Rejected
from extensions.generation.yields import ERROR, MEANINGS
from runner.commands import DONE
from runner.commands.asking import CachedAskingOptions, check_budget, exit_status
from runner.commands.options import argument, index, option, positive, switch
from runner.commands.shared import JsonOption, note
from runner.live.engine import Engine
from runner.live.meter import Meter
from runner.live.settings import Settings
from runner.models.model_name import Scripted, parsed
from runner.records.files import written
from runner.records.masking import Secrets
from runner.records.record import Spent
from runner.records.secret import command_without
from runner.records.store import server_meant
from runner.show.terminal import say, say_json
from trajectories.dataset import DATA, Dataset, load_embedded
from trajectories.errors import DataError, did_you_mean
from trajectories.prepare import load_session
from trajectories.schema import Category

EXAMPLE = "turnwise generate new.jsonl --model gpt-4o-mini --kind I1 --number 20"

NOTES = (
    "what the rows of the yield table mean:\n"
    + "".join(f"  {name:10} {text}\n" for name, text in MEANINGS.items())
    + "exit status: 0 done, 2 bad input, 3 a request got no answer or the writer is no use, "
    "130 interrupted\n\n"
)


@dataclass(frozen=True, kw_only=True)
class Options(JsonOption, CachedAskingOptions):
    """Who writes what."""

    output: Path = argument("where to write the entries", "OUT.jsonl")
    model: str = option(
        "who writes: a live model, or scripted:SHARE[,only=FILTER], which needs no server and puts "
        "a fault into this share of its answers",
        "MODEL",
        required=True,
    )
    kind: str = option(
        "kinds of entries, with commas: I1: one backend; I2: two or three of a category; I3: of a "
        "collection",
        "KINDS",
        default="I1,I2,I3",
    )
    number: int = option(
        "entries to write in all, shared by the kinds", "N", default=30, read=positive
    )
    origin: Literal["paths", "functions"] = option(
        "what the writer is shown: calls with results, which it puts into words; or functions, "
        "for which it makes something up, and searches find the calls",
        default="paths",
        flags=("--from",),
    )
    seed: int = option("seed of all that is drawn", "S", default=0, read=index)
    turns: int | None = option(
        "turns of an entry (default: 3; 1 from functions)", "N", read=positive
    )
    calls: int | None = option(
        "calls in a turn of a path, at most (default: 3; 4 from functions)", "N", read=positive
    )
    want: str | None = option(
        "functions and edges to go through, with commas; missing: those that the data that comes "
        "along does not cover",
        "NAMES",
    )
    tries: int = option(
        "answers for an entry, at most: what a filter refuses is asked for again, with the reason",
        "N",
        default=2,
        read=positive,
    )
    solver: str | None = option(
        "who solves, by words and functions alone: a live model, or scripted:SHARE, which knows "
        "the calls and errs in this share of them (default: who writes)",
        "MODEL",
    )
    trials: int = option(
        "how often the solver plays an entry, to pass once at least; 0: not at all",
        "N",
        default=1,
        read=index,
    )
    solutions: int | None = option(
        "with --from functions: searches that have to agree (default: 2)", "N", read=positive
    )
    search_calls: int | None = option(
        "with --from functions: requests of a search, at most (default: 60)", "N", read=positive
    )
    mode: Mode | None = option(
        "how solver and judge answer: function calling, or in text (default: fc)"
    )
    judge: str | None = option(
        "who judges whether the calls do what is said: a live model, or scripted:SHARE "
        "(default: nobody)",
        "MODEL",
    )
    groups: Path = option(
        "which backends belong together, as TOML (default: ours)", "FILE", default=GROUPS
    )
    personas: Path = option(
        "whose voice users have, a line each (default: ours)", "FILE", default=PERSONAS
    )
    prompts: Path = option(
        "what writers are told, as TOML (default: ours)", "FILE", default=PROMPTS
    )
    rejected: Path | None = option("write what was not kept, one JSON line each", "FILE")
    scenarios: Path | None = option(
        "also write scenarios, of which turnwise dataset build --source DIR makes the harder "
        "categories",
        "DIR",
    )
    resume: bool = switch("go on with OUT.jsonl.work; nothing is asked twice")


def run(options: Options) -> int:
    """Make entries, and print how many passed what."""
    _check(options)
    graph, own = load(), load_embedded([Category.BASE])
    ours = _covered(graph, own) if options.want else None
    order = _order(options, graph, own, _wishes(options.want, graph, ours))
    order.check()
    for name in order.live:
        check_budget(name, order.settings)
    if options.dry_run:
        guess = CommissionGuess(order)
        for line in guess.lines(order):
            say(line)
        return DONE
    work = _work(options)
    about = {
        "created": datetime.now().isoformat(timespec="seconds"),
        "command": command_without(sys.argv),
    }
    with AnswerLog(work, _definition(options, order), about, order.secrets) as log:
        if log.spent.requests:
            note(f"{log.spent.requests} requests were made before; their answers are in {work}")
        crew = WritingCrew(order, log, note)
        maker = asyncio.run(crew.make(lambda total: Meter(total, sys.stderr, time.monotonic)))
        done = _Done(maker, crew, log.spent)
    if done.stopped is not None:
        note(done.stopped)
        made = f"{len(maker.output.entries)} of {sum(order.wanted.values())} entries are made"
        note(f"{made}; --resume goes on")
    if maker.output.yields.tasks:
        _write(options, maker.output, order.secrets)
    elif not options.json:
        return _status(done)
    built = _build(options.scenarios, maker.output)
    cover = _covered(graph, dataset_of(*maker.output.entries))
    _report(options, order, done, _Figures(graph, cover, ours, built))
    return _status(done)


class _Done(NamedTuple):
    """How it went."""

    maker: Maker
    crew: WritingCrew
    spent: Spent

    @property
    def stopped(self) -> str | None:
        """Why there are fewer entries than were wanted."""
        return self._engine.stop_reason or self.maker.short

    @property
    def _engine(self) -> Engine[Any, Any]:
        return next(iter(self.crew.askers.values())).engine

    @property
    def failed(self) -> bool:
        """Whether it was an error that ended it."""
        return self._engine.failed or self.maker.short is not None


class _Figures(NamedTuple):
    """What the entries come to besides their yield."""

    graph: Graph
    cover: Coverage
    ours: Coverage | None
    """What the data that comes along covers, where that was asked for."""
    built: Counter[str] | None
    """How many scenarios there are under no reason, and why there are no more."""


def _check(options: Options) -> None:
    """Refuse what does not go together, before anything is read.

    Raises:
        DataError: It does not.
    """
    if options.origin == "paths":
        for flag, value in (
            ("--solutions", options.solutions),
            ("--search-calls", options.search_calls),
        ):
            if value is not None:
                raise DataError(flag, "is of searches: add --from functions")
    if options.solutions == 1:
        raise DataError("--solutions", "one agrees with nobody: 2 at least")
    if options.solver is not None and not options.trials and options.origin == "paths":
        raise DataError("--solver", "has nothing to do with --trials 0")
    if not options.output.name or options.output.is_dir():
        raise DataError(str(options.output), "is a folder; name a file")
    if not options.output.parent.is_dir():
        raise DataError(str(options.output.parent), "is no folder; make it first")
    if options.rejected is not None and options.rejected.resolve() == options.output.resolve():
        raise DataError("--rejected", "is the file of the entries; name another one")
    if options.output.resolve().is_relative_to(DATA.resolve()):
        raise DataError(str(options.output), "is in the data that comes along: write elsewhere")
    if options.scenarios is not None and not options.scenarios.is_dir():
        raise DataError(str(options.scenarios), "is no folder; make it first")


def _kinds(names: str) -> list[InstructionKind]:
    """Return the kinds of a list, each once.

    Raises:
        DataError: One is none.
    """
    kinds = []
    for name in names.split(","):
        wanted = name.strip().upper()
        if wanted not in [*InstructionKind]:
            raise DataError(
                "--kind", f"{name.strip()!r:.40} is no kind; there are {', '.join(InstructionKind)}"
            )
        kinds.append(InstructionKind(wanted))
    return list(dict.fromkeys(kinds))


def _order(options: Options, graph: Graph, own: Dataset, wishes: Sequence[str]) -> Commission:
    """Return what is to be made, and by whom.

    Raises:
        DataError: A file cannot be used, or there is nothing of a kind.
    """
    kinds = _kinds(options.kind)
    if options.number < len(kinds):
        raise DataError("--number", f"{options.number} are too few for {len(kinds)} kinds")
    groups, voices = read_groups(options.groups, graph), read_personas(options.personas)
    shown = options.origin == "paths"
    entries = [*own.trajectories.values()]
    sampling = Sampling(
        graph,
        groups,
        voices=voices,
        examples=entries,
        origin=options.origin,
        seed=options.seed,
        turns=options.turns or (3 if shown else 1),
        calls=options.calls or (3 if shown else 4),
    )
    each, more = divmod(options.number, len(kinds))
    scripted = isinstance(parsed(options.model), Scripted)
    return Commission(
        options.model,
        options.solver or ("scripted:0" if scripted else options.model),
        judge=options.judge,
        settings=options.settings(seed=None, prompts=None),  # these are of other things here
        prompts=read_writer_prompts(options.prompts),
        tasks=Tasks(sampling, kinds),
        own=entries,
        wanted={kind: each + (place < more) for place, kind in enumerate(kinds)},
        wishes=wishes,
        tries=options.tries,
        trials=options.trials,
        solutions=options.solutions or 2,
        search_calls=options.search_calls or 60,
    )


def _wishes(want: str | None, graph: Graph, ours: Coverage | None) -> Sequence[str]:
    """Return the functions and edges that entries should go through.

    Raises:
        DataError: One of them is neither.
    """
    if want is None:
        return ()
    if want.strip() == "missing" and ours is not None:
        return (*ours.missing_functions, *ours.missing_edges)
    names = [name.strip() for name in want.split(",") if name.strip()]
    for name in names:
        if name not in graph.functions and name not in graph.by_name:
            near = did_you_mean(name, [*graph.functions, *graph.by_name, "missing"])
            raise DataError("--want", f"{name!r:.80} is neither a function nor an edge{near}")
    return names


def _work(options: Options) -> Path:
    """Return where answers are kept, which is new, or there to go on with.

    Raises:
        DataError: It is not as the user has it.
    """
    output = options.output
    work = output.with_name(f"{output.name}.work")
    definition, answers = work / DEFINITION_FILE, work / ANSWERS_FILE
    if options.resume:
        if not definition.exists():
            raise DataError("--resume", f"there is nothing to go on with: {work} is not there")
        return work
    answered = answers.exists() and answers.stat().st_size
    if answered or output.exists():
        there = output if output.exists() else work
        advice = "; --resume goes on with it" if definition.exists() else ""
        raise DataError(str(there), f"is there already{advice}; or name another file")
    # What ended before there was any answer binds nobody.
    definition.unlink(missing_ok=True)
    return work


def _definition(options: Options, order: Commission) -> dict[str, Any]:
    """Return all that decides what is written, as a JSON object."""
    how = order.tasks.how
    return {
        "model": order.model,
        "solver": order.solver if order.solves else None,
        "judge": order.judge,
        **(_asked(order.settings) if order.live else {}),
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


def _asked(settings: Settings) -> dict[str, Any]:
    """Return how models are asked, where it is not as usual."""
    asked = settings.defining().to_json()
    usual = Settings().defining().to_json()
    if asked["base_url"] is not None:
        asked = {**asked, "base_url": [*server_meant(asked["base_url"])]}
    return {name: value for name, value in asked.items() if value != usual.get(name)}


def _write(options: Options, output: Output, secrets: Secrets) -> None:
    """Write the entries, and what was not kept."""
    with written(options.output) as file:
        file.write(lines(output.entries))
    if options.rejected is not None:
        with written(options.rejected) as file:
            for each in output.rejected:
                line = _rejected(each)
                # What a model says may hold a key.
                raw = secrets.of_step(line) or secrets.of_step({**line, "answer": "", "reason": ""})
                file.write((raw or b"").decode())


def _rejected(rejected: Rejected) -> dict[str, Any]:
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


def _build(folder: Path | None, output: Output) -> Counter[str] | None:
    """Write the scenarios that entries are bases of; count them, and why there are no more."""
    if folder is None:
        return None
    counted: Counter[str] = Counter()
    asked = AskedBefore()
    for entry in output.entries:
        try:
            scenario = scenario_of(entry, output.left_out[entry.id])
        except DataError as error:
            counted[str(error).partition(": ")[2]] += 1
            continue
        texts = [scenario.missing_parameter.without, scenario.missing_parameter.answer]
        if asked.like(texts):
            counted["what is said without the value was said before"] += 1
            continue
        asked.take(entry.id, texts)
        counted[""] += 1
        with written(folder / f"{scenario.name}.json") as file:
            file.write(scenario_text(scenario))
    return counted


def _covered(graph: Graph, dataset: Dataset) -> Coverage:
    return coverage(
        graph,
        [
            trace(
                load_session(dataset, t), [text for turn in t.turns for text in turn.ground_truth]
            )
            for t in dataset.trajectories.values()
        ],
    )


def _report(options: Options, order: Commission, done: _Done, figures: _Figures) -> None:
    """Print the yield table, and what the entries come to."""
    output, spent = done.maker.output, done.spent
    asked = {role: asker.requests for role, asker in done.crew.askers.items()}
    tasks = sum(output.yields.tasks.values())
    if options.json:
        say_json(
            {
                "output": str(options.output),
                "entries": len(output.entries),
                "wanted": sum(order.wanted.values()),
                "walks": _walks(order),
                "kinds": output.yields.to_json(),
                "yield": output.yields.share(),
                "requests": asked,
                "spent": spent._asdict(),
                "functions": len(figures.cover.functions),
                "edges": len(figures.cover.edges),
                **_with_ours(figures),
                "scenarios": None if figures.built is None else figures.built[""],
                "stopped": done.stopped,
            }
        )
        return
    for line in output.yields.lines():
        say(line)
    walks = _walks(order)
    passed_over = ", ".join(f"{why} {n}" for why, n in walks["passed_over"].items())
    say(f"{walks['drawn']} walks drawn for {tasks} tasks; passed over: {passed_over or 'none'}")
    for line in _coverage_lines(figures):
        say(line)
    if figures.built is not None and options.scenarios is not None:
        say(f"{figures.built.pop('', 0)} scenarios in {options.scenarios}")
        for why, times in figures.built.most_common():
            say(f"  {times} without: {why}")
    requests = ", ".join(f"{role} {n}" for role, n in asked.items())
    cost = "" if spent.cost is None else f", ${spent.cost:.2f}"
    say(f"requests now: {requests}; in all {spent.requests}, {spent.tokens} tokens{cost}")
    say(f"{len(output.entries)} entries in {options.output}")


def _with_ours(figures: _Figures) -> dict[str, int]:
    """Return what is covered together with the data that comes along, where that was asked for."""
    ours, cover = figures.ours, figures.cover
    if ours is None:
        return {}
    return {
        "functions_with_ours": len({*ours.functions, *cover.functions}),
        "functions_of_ours": len(ours.functions),
        "edges_with_ours": len({*ours.edges, *cover.edges}),
        "edges_of_ours": len(ours.edges),
    }


def _walks(order: Commission) -> dict[str, Any]:
    drawn, reasons = 0, Counter[str]()
    for (_, why), times in order.tasks.drawn.items():
        if why:
            reasons[why] += times
        else:
            drawn += times
    return {"drawn": drawn, "passed_over": dict(reasons.most_common())}


def _coverage_lines(figures: _Figures) -> Iterator[str]:
    graph, cover = figures.graph, figures.cover
    functions, edges = len(graph.functions), len(graph.edges)
    yield (
        f"the entries go through {len(cover.functions)} of {functions} functions and "
        f"{len(cover.edges)} of {edges} edges"
    )
    if both := _with_ours(figures):
        yield (
            f"with the data that comes along {both['functions_with_ours']} functions and "
            f"{both['edges_with_ours']} edges, without {both['functions_of_ours']} and "
            f"{both['edges_of_ours']}"
        )


def _status(done: _Done) -> int:
    errors = any(name == ERROR for _, name in done.maker.output.yields.lost)
    stopped = done.stopped
    return exit_status(stopped, failed=stopped != "interrupted" and (done.failed or errors))
