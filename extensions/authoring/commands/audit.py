"""Command ``turnwise dataset audit``: lists entries whose ground truth may be wrong."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from extensions.authoring.audit import (
    AuditFinding,
    Models,
    audit,
    execute_runs,
    group_by_model,
    read_runs,
)
from extensions.authoring.audit_score import EpisodesScore
from extensions.judges.disagreements import Disagreement, read_disagreements
from runner.commands import DONE
from runner.commands.common_options import DataOptions, ErrataOption, JsonOption, note
from runner.commands.options import argument, option, switch
from runner.data import dataset_choice
from runner.data.dataset_choice import choose_profile
from runner.data.errata import open_errata
from runner.records import bfcl_result_file
from runner.records.recorded_run import Run
from runner.show.terminal import say, say_json, table
from trajectories.dataset import Dataset
from trajectories.errata.erratum import Assessment
from trajectories.schema import Category

EXAMPLE = "turnwise dataset audit runs/a runs/b"

Said = Mapping[str, Sequence[Disagreement]]
"""Disagreements between judge models and verdicts, by entry."""

_PAGE = 50
"""Maximum lines of findings that are printed without ``--all``."""


def _parse_group(text: str) -> tuple[str, tuple[str, ...]]:
    name, equals, runs = text.partition("=")
    if not name or not equals or not runs:
        raise ArgumentTypeError(f"{text!r} is not NAME=RUN,RUN")
    return name, tuple([run.strip() for run in runs.split(",")])


@dataclass(frozen=True, kw_only=True)
class Options(DataOptions, JsonOption, ErrataOption):
    """Options for the runs."""

    runs: tuple[Path, ...] = argument("run folder, result file, or folder of result files", "RUN")
    groups: tuple[tuple[str, tuple[str, ...]], ...] = option(
        "group the runs that match name patterns (such as 'gpt-*') into one model; repeatable",
        "NAME=RUN,RUN",
        default=(),
        read=_parse_group,
        flags=("--group",),
    )
    disagreements: Path | None = option(
        "output of turnwise judge --disagreements; also list these disagreements", "FILE"
    )
    all: bool = switch("print all findings, not only the first page")


def run(options: Options) -> int:
    """Print suspicious entries: all models fail, or most models reach the same wrong state."""
    runs = read_runs(options.runs)
    models = group_by_model(runs, options.groups)
    ids = dict.fromkeys(id for recorded in runs.values() for id in recorded.ids)
    name = dataset_choice.guess_dataset_name(options.dataset, ids)
    dataset = dataset_choice.open_dataset(name, bfcl_result_file.categories_of(ids), note)
    for recorded in runs.values():
        dataset_choice.require_languages(dataset_choice.list_entries(dataset, recorded))
    if options.category:
        runs, ids = _of_categories(
            runs, dataset, dataset_choice.parse_categories(options.category, name)
        )
    profile = choose_profile(dataset)
    executed = execute_runs(dataset, runs, profile)
    scores = {"as published": executed.scores()}
    readings = open_errata(options.errata, dataset, note)
    if readings is not None:
        executed = execute_runs(dataset, runs, profile, readings)
        scores["corrected"] = executed.scores()
    judged = readings.judged if readings is not None else {}
    said = read_disagreements(options.disagreements) if options.disagreements else {}
    # Reviewed findings come last.
    findings = sorted(
        audit(executed.truths, executed.runs, models), key=lambda finding: finding.id in judged
    )
    if options.json:
        shown = {
            "scores": {
                name: {run: s._asdict() for run, s in of_runs.items()}
                for name, of_runs in scores.items()
            },
            "models": models,
            "findings": [
                {**finding.to_json(), "judged": judged.get(finding.id)} for finding in findings
            ],
        }
        if options.disagreements:
            shown["disagreements"] = {
                id: [each._asdict() for each in found] for id, found in said.items() if id in ids
            }
        say_json(shown)
        return DONE
    for line in _findings(findings, judged, said, None if options.all else _PAGE):
        say(line)
    for line in _of_judges(findings, {id: found for id, found in said.items() if id in ids}):
        say(line)
    for line in _sums(findings, scores, models, len(ids)):
        say(line)
    return DONE


def _of_categories(
    runs: Mapping[str, Run], dataset: Dataset, wanted: Sequence[Category]
) -> tuple[dict[str, Run], dict[str, None]]:
    kept = {
        name: replace(
            run,
            episodes={
                key: recorded
                for key, recorded in run.episodes.items()
                if dataset.trajectories[key[0]].category in wanted
            },
        )
        for name, run in runs.items()
    }
    return kept, dict.fromkeys(id for run in kept.values() for id in run.ids)


def _findings(
    findings: Sequence[AuditFinding], judged: Mapping[str, Assessment], said: Said, most: int | None
) -> Iterator[str]:
    shown = 0
    for number, finding in enumerate(findings):
        lines = list(_lines(finding, judged.get(finding.id), said.get(finding.id, ())))
        if most is not None and number and shown + len(lines) > most:
            yield f"{len(findings) - number} more findings: --all prints them"
            yield ""
            return
        shown += len(lines)
        yield from lines


def _of_judges(findings: Sequence[AuditFinding], said: Said) -> Iterator[str]:
    found = {finding.id for finding in findings}
    others = [id for id in said if id not in found]
    if others:
        names = ", ".join(others)
        yield f"no finding, but a judge model disputes verdicts ({len(others)} entries): {names}"
        yield ""


def _lines(
    finding: AuditFinding, judged: Assessment | None, said: Sequence[Disagreement]
) -> Iterator[str]:
    yield _heading(finding) + (f"; judged {judged}" if judged else "")
    for name, reason in finding.reasons.items():
        yield f"  {name}: {reason}"
    if finding.agreement:
        agreement = finding.agreement
        names = ", ".join(agreement.models)
        yield (
            f"  from turn {agreement.turn + 1} on, these models agree on a state that "
            f"differs from the ground truth: {names}"
        )
        yield from (f"    {difference}" for difference in agreement.differences)
    yield from (f"  {each}" for each in said)
    yield ""


def _sums(
    findings: Sequence[AuditFinding],
    scores: dict[str, dict[str, EpisodesScore]],
    models: Models,
    entries: int,
) -> Iterator[str]:
    rows = [["model", "run", *scores]]
    for model, names in models.items():
        for name in names:
            cells = [_score(of_runs[name]) for of_runs in scores.values()]
            rows.append([model, name, *cells])
    yield table(rows)
    all_fail = sum(finding.all_fail for finding in findings)
    agreeing = sum(finding.agreement is not None for finding in findings)
    yield (
        f"{entries} entries, {len(models)} models. All models fail {all_fail} entries. In "
        f"{agreeing} entries, most models reach the same wrong state."
    )


def _heading(finding: AuditFinding) -> str:
    failed = "all models fail" if finding.all_fail else f"{finding.failing} models fail"
    more = f" ({finding.runs} runs)" if finding.runs > finding.models else ""
    return f"{finding.id}: {failed}, of {finding.models}{more}"


def _score(score: EpisodesScore) -> str:
    return f"{score.passed}/{score.entries} ({score.rate:.1%})" if score.entries else "-"
