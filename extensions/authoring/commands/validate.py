"""Command ``turnwise dataset validate``: checks a data set by rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from extensions.authoring.rule_sets import RULES, Rule, select_rules, validate
from extensions.authoring.rules.finding import (
    ALLOW,
    Finding,
    ReviewedFindings,
    Severity,
    apply,
    read_exemptions,
)
from extensions.authoring.rules.mutation_detection import MutantCounts, figures
from extensions.authoring.rules.mutations import AlterationCounts, tallies
from extensions.authoring.rules.replayed_entry import Entry
from runner.commands import DONE
from runner.commands.common_options import JsonOption, note
from runner.commands.options import argument, option, switch
from runner.data import dataset_choice
from runner.data.dataset_choice import choose_profile
from runner.episodes.judging import evaluate
from runner.episodes.offline import run_null
from runner.show.terminal import format_count, say, say_json, table
from trajectories.dataset import DATA, Dataset
from trajectories.schema import MULTI_TURN, Category, Trajectory

EXAMPLE = "turnwise dataset validate --category base"

PROBLEMS = 1
"""Exit status if the data has errors."""
PAGE = 30
"""Maximum lines of findings that are printed without ``--all``."""
_MAX_SILENT_SHARE = 0.01
"""The command warns if a silent model passes a larger share of the dialogues."""


@dataclass(frozen=True, kw_only=True)
class Options(JsonOption):
    """Options for the data set and the rules."""

    dataset: str | None = argument(
        "bfcl, bfcl:FOLDER, held-back, or a file or folder (default: built-in)",
        "NAME",
        required=False,
    )
    category: str | None = option("only these categories, separated by commas", "NAMES")
    rules: str | None = option("only these rules, separated by commas", "IDS")
    allow: Path | None = option(
        "file of reviewed exceptions with reasons (default: our file for the built-in data)", "FILE"
    )
    severity: str = option(
        "minimum severity of listed findings",
        default=Severity.WARNING.value,
        choices=[severity.value for severity in Severity],
    )
    all: bool = switch("list every finding, not only the first findings of each rule")
    strict_warnings: bool = switch("exit with status 1 for warnings too")
    mutations: bool = switch(
        "change ground-truth calls, and print only how many changes the checker rejects"
    )


def run(options: Options) -> int:
    """Print the findings in a data set."""
    dataset = _dataset(options)
    trajectories = list(dataset.trajectories.values())
    if options.mutations:
        return _print_mutations(dataset, trajectories, as_json=options.json)
    rules = select_rules(_listed(options.rules)) if options.rules else list(RULES)
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
    _warn_of_silence(dataset, trajectories)
    failing = {Severity.ERROR, Severity.WARNING} if options.strict_warnings else {Severity.ERROR}
    return PROBLEMS if any(p.severity in failing for p in allowed.problems) else DONE


def _warn_of_silence(dataset: Dataset, trajectories: Sequence[Trajectory]) -> None:
    """Warn if too many dialogues pass although the model never answers."""
    dialogues = [each for each in trajectories if each.category is Category.DIALOGUE]
    profile = choose_profile(dataset)
    judged = evaluate(dataset, dialogues, profile, partial(run_null, profile=profile))
    passed = sum(each.outcome == "passed" for each in judged)
    if passed > _MAX_SILENT_SHARE * len(dialogues):
        share = f"{passed} of {len(dialogues)} dialogues"
        note(f"warning: a silent model passes {share} (profile {profile.name})")


def _dataset(options: Options) -> Dataset:
    wanted = dataset_choice.parse_categories(options.category, options.dataset)
    if dataset_choice.is_bfcl(options.dataset) and options.category is None:
        # Includes BFCL's retired category, which counts in no score.
        wanted = list(MULTI_TURN)
    return dataset_choice.open_dataset(options.dataset, wanted, note)


def _own_exceptions(dataset: Dataset) -> Path | None:
    path = DATA / "allowed.jsonl"
    return path if dataset.name == "turnwise" and path.is_file() else None


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",")]


def _counts(rules: Sequence[Rule], allowed: ReviewedFindings) -> Iterator[tuple[str, list[int]]]:
    found = Counter([(p.rule, p.severity) for p in allowed.problems])
    excepted = Counter([problem.rule for problem, _ in allowed.excepted])
    for id in [*(rule.id for rule in rules), ALLOW]:
        entries = {p.id for p in allowed.problems if p.rule == id and p.severity != Severity.INFO}
        yield id, [*(found[id, s] for s in Severity), len(entries), excepted[id]]


def _shown(allowed: ReviewedFindings, least: Severity) -> dict[str, list[Finding]]:
    order = list(Severity)
    shown: dict[str, list[Finding]] = {}
    for problem in sorted(allowed.problems, key=lambda p: order.index(p.severity)):
        if order.index(problem.severity) <= order.index(least):
            shown.setdefault(problem.rule, []).append(problem)
    return shown


def _listed_by_rule(shown: Mapping[str, Sequence[Finding]], lines: int | None) -> Iterator[str]:
    for rule, problems in shown.items():
        share = len(problems) if lines is None else max(1, lines // len(shown) - 1)
        for problem in problems[:share]:
            yield str(problem)
        left = len(problems) - share
        if left > 0:
            yield (
                f"{left} more findings of {rule}: use --rules {rule} to print more of them, or "
                "--all to print all findings"
            )
    if shown:
        yield ""


def _as_table(rules: Sequence[Rule], allowed: ReviewedFindings, entries: int) -> Iterator[str]:
    rows = [["rule", "errors", "warnings", "infos", "entries", "excepted"]]
    rows += [[id, *map(str, counts)] for id, counts in _counts(rules, allowed)]
    yield table(rows)
    yield (
        f"{format_count(entries, 'entry')} checked; "
        'the column "entries" counts entries with errors or warnings'
    )


def _as_json(dataset: Dataset, rules: Sequence[Rule], allowed: ReviewedFindings) -> dict[str, Any]:
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


def _tally_lines(tallies: Sequence[AlterationCounts]) -> Iterator[str]:
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
            yield f"{tally.name}, wrongly judged:"
        for id, turn, calls, reason in tally.unlike:
            yield f"  {id}, turn {turn + 1}: {', '.join(calls)}: {reason or 'accepted'}"


def _mutation_lines(found: MutantCounts) -> Iterator[str]:
    rows = [["ground truth with", "variants", "rejected", "share"]]
    for name, total, rejected in (
        ("one call left out", found.left_out, found.left_out_rejected),
        ("one argument changed", found.changed, found.changed_rejected),
        ("all changes", found.total, found.rejected),
        ("changes with another effect", found.telling, found.rejected),
        ("changes to state-changing calls", found.writes, found.writes_rejected),
    ):
        rows.append([name, str(total), str(rejected), f"{rejected / total:.1%}" if total else "-"])
    yield table(rows)
    for why in dict.fromkeys(why for _, why in found.accepted):
        yield ""
        yield f"Accepted: {why}"
        for (kind, reason), times in found.accepted.items():
            if reason == why:
                yield f"  {times:5}  {kind}"
