"""The command ``turnwise dataset validate``: a data set, checked by rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from extensions.authoring.rules.detection import Figures, figures
from extensions.authoring.rules.entry import Entry
from extensions.authoring.rules.mutations import Tally, tallies
from extensions.authoring.rules.problem import (
    ALLOW,
    Allowed,
    Problem,
    Severity,
    apply,
    read_exemptions,
)
from extensions.authoring.validate import RULES, Rule, rules_named, validate
from runner.commands import DONE
from runner.commands.options import argument, option, switch
from runner.commands.shared import JsonOption, note
from runner.data import choose
from runner.show.terminal import say, say_json, table
from trajectories.dataset import DATA, Dataset
from trajectories.schema import MULTI_TURN, Trajectory

EXAMPLE = "turnwise dataset validate --category base"

PROBLEMS = 1
"""Exit status: errors were found, or warnings where they count."""
PAGE = 30
"""Lines that problems take up, unless all are asked for."""


@dataclass(frozen=True, kw_only=True)
class Options(JsonOption):
    """Which data to check, and by which rules."""

    dataset: str | None = argument(
        "bfcl, bfcl:FOLDER, or a trajectory file or folder (default: what comes along)",
        "NAME",
        required=False,
    )
    category: str | None = option("only these categories, separated by commas", "NAMES")
    rules: str | None = option("only these rules, separated by commas", "IDS")
    allow: Path | None = option(
        "reviewed exceptions, each with its reason; for the data that comes along its own", "FILE"
    )
    severity: str = option(
        "list findings of this severity and above; all are counted",
        default=Severity.WARNING.value,
        choices=[severity.value for severity in Severity],
    )
    all: bool = switch("list every finding, not only the first ones of each rule")
    strict_warnings: bool = switch("end with status 1 for warnings as well")
    mutations: bool = switch(
        "print which share of altered ground truths the checker rejects, and nothing else"
    )


def run(options: Options) -> int:
    """Print what is wrong in a data set."""
    dataset = _dataset(options)
    trajectories = list(dataset.trajectories.values())
    if options.mutations:
        return _print_mutations(dataset, trajectories, as_json=options.json)
    rules = rules_named(_listed(options.rules)) if options.rules else list(RULES)
    problems = validate(dataset, trajectories, rules)
    path = options.allow or _own_exceptions(dataset)
    exemptions = read_exemptions(path) if path else []
    named, whole = [rule.id for rule in rules], options.category is None
    allowed = apply(problems, exemptions, trajectories, named, whole=whole)
    if options.json:
        say_json(_as_json(dataset, rules, allowed))
    else:
        shown = _shown(allowed, Severity(options.severity))
        for line in _listed_by_rule(shown, None if options.all else PAGE):
            say(line)
        for line in _as_table(rules, allowed, len(trajectories)):
            say(line)
    failing = {Severity.ERROR, Severity.WARNING} if options.strict_warnings else {Severity.ERROR}
    return PROBLEMS if any(p.severity in failing for p in allowed.problems) else DONE


def _dataset(options: Options) -> Dataset:
    wanted = choose.categories(options.category, options.dataset)
    if choose.is_bfcl(options.dataset) and options.category is None:
        # BFCL's retired category counts in no score, but can be checked like the others.
        wanted = list(MULTI_TURN)
    return choose.dataset(options.dataset, wanted, note)


def _own_exceptions(dataset: Dataset) -> Path | None:
    path = DATA / "allowed.jsonl"
    return path if dataset.name == "turnwise" and path.is_file() else None


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",")]


def _counts(rules: Sequence[Rule], allowed: Allowed) -> Iterator[tuple[str, list[int]]]:
    """Yield per rule how many errors, warnings, infos, entries and exceptions there are."""
    found = Counter([(p.rule, p.severity) for p in allowed.problems])
    excepted = Counter([problem.rule for problem, _ in allowed.excepted])
    for id in [*(rule.id for rule in rules), ALLOW]:
        entries = {p.id for p in allowed.problems if p.rule == id and p.severity != Severity.INFO}
        yield id, [*(found[id, s] for s in Severity), len(entries), excepted[id]]


def _shown(allowed: Allowed, least: Severity) -> dict[str, list[Problem]]:
    """Return what is listed, by rule and the worst first."""
    order = list(Severity)
    shown: dict[str, list[Problem]] = {}
    for problem in sorted(allowed.problems, key=lambda p: order.index(p.severity)):
        if order.index(problem.severity) <= order.index(least):
            shown.setdefault(problem.rule, []).append(problem)
    return shown


def _listed_by_rule(shown: Mapping[str, Sequence[Problem]], lines: int | None) -> Iterator[str]:
    """Yield problems; where lines are few, each rule that finds any gets as many as the others."""
    for rule, problems in shown.items():
        share = len(problems) if lines is None else max(1, lines // len(shown) - 1)
        for problem in problems[:share]:
            yield str(problem)
        left = len(problems) - share
        if left > 0:
            yield f"... and {left} more of {rule} (--all lists them, --rules {rule} more of them)"
    if shown:
        yield ""


def _as_table(rules: Sequence[Rule], allowed: Allowed, entries: int) -> Iterator[str]:
    rows = [["rule", "errors", "warnings", "infos", "entries", "excepted"]]
    rows += [[id, *map(str, counts)] for id, counts in _counts(rules, allowed)]
    yield table(rows)
    yield f"{entries} trajectories checked; entries: those with errors or warnings"


def _as_json(dataset: Dataset, rules: Sequence[Rule], allowed: Allowed) -> dict[str, Any]:
    names = ("errors", "warnings", "infos", "entries", "excepted")
    return {
        "dataset": dataset.name,
        "version": dataset.version,
        "data_sha256": dataset.sha256,
        "trajectories": len(dataset.trajectories),
        "problems": [problem.to_json() for problem in allowed.problems],
        "excepted": [{**p.to_json(), "reason": e.reason} for p, e in allowed.excepted],
        "counts": {id: dict(zip(names, n, strict=True)) for id, n in _counts(rules, allowed)},
    }


def _print_mutations(dataset: Dataset, trajectories: list[Trajectory], *, as_json: bool) -> int:
    found = figures(Entry(dataset, trajectory) for trajectory in trajectories)
    others = tallies(Entry(dataset, trajectory) for trajectory in trajectories)
    if as_json:
        accepted = [{"kind": k, "why": why, "times": n} for (k, why), n in found.accepted.items()]
        told = {"rejected": found.rejected, "total": found.total, "telling": found.telling}
        further = [
            {**tally._asdict(), "unlike": [judged._asdict() for judged in tally.unlike]}
            for tally in others
        ]
        whole = {**found._asdict(), **told, "accepted": accepted, "others": further}
        say_json(whole)
        return DONE
    for line in (*_mutation_lines(found), *_tally_lines(others)):
        say(line)
    return DONE


def _tally_lines(tallies: Sequence[Tally]) -> Iterator[str]:
    yield ""
    rows = [["ground truth with", "variants", "should be", "are", "share"]]
    for name, is_wrong, variants, unlike in tallies:
        right = variants - len(unlike)
        share = f"{right / variants:.1%}" if variants else "-"
        rows.append(
            [name, str(variants), "rejected" if is_wrong else "accepted", str(right), share]
        )
    yield table(rows)
    for tally in tallies:
        if tally.unlike:
            yield ""
            yield f"{tally.name}, judged otherwise:"
        for id, turn, calls, reason in tally.unlike:
            yield f"  {id}, turn {turn}: {', '.join(calls)}: {reason or 'accepted'}"


def _mutation_lines(found: Figures) -> Iterator[str]:
    rows = [["ground truth with", "variants", "rejected", "share"]]
    for name, total, rejected in (
        ("one call left out", found.left_out, found.left_out_rejected),
        ("one argument changed", found.changed, found.changed_rejected),
        ("either", found.total, found.rejected),
        ("either, with another effect", found.telling, found.rejected),
    ):
        rows.append([name, str(total), str(rejected), f"{rejected / total:.1%}" if total else "-"])
    yield table(rows)
    for why in dict.fromkeys(why for _, why in found.accepted):
        yield ""
        yield f"Accepted: {why}"
        for (kind, reason), times in found.accepted.items():
            if reason == why:
                yield f"  {times:5}  {kind}"
