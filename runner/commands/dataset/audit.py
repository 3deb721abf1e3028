"""The command ``turnwise dataset audit``: where the data, not the models, may be wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from checkers.statistics import Score
from runner.analysis.audit import Finding, audit, execute_runs, read_runs
from runner.commands import DONE
from runner.commands.options import argument
from runner.commands.shared import DatasetOption, ErrataOption, JsonOption, note
from runner.data import choose
from runner.data.errata import open_errata
from runner.data.load import profile_for
from runner.records import result_file
from runner.show.table import table

EXAMPLE = "turnwise dataset audit runs/a runs/b"


@dataclass(frozen=True, kw_only=True)
class Options(DatasetOption, JsonOption, ErrataOption):
    """Which runs to hold against the ground truth."""

    runs: tuple[Path, ...] = argument("one model's result file or folder", "RUN")


def run(options: Options) -> int:
    """Print entries that all models fail, and those where most agree against the truth."""
    models = read_runs(options.runs)
    ids = dict.fromkeys(id for recorded in models.values() for id in recorded.ids)
    name = choose.dataset_name(options.dataset, ids)
    dataset = choose.dataset(name, result_file.categories_of(ids), note)
    for recorded in models.values():
        choose.require_languages(choose.trajectories(dataset, recorded))
    profile = profile_for(dataset)
    published = execute_runs(dataset, models, profile)
    executed, scores = published, {"as published": published.scores()}
    readings = open_errata(options.errata, dataset, note)
    if readings is not None:
        executed = execute_runs(dataset, models, profile, readings)
        scores["as mended"] = executed.scores()
    findings = audit(executed.truths, executed.runs)
    if options.json:
        shown = {
            "scores": {
                name: {model: s._asdict() for model, s in of_models.items()}
                for name, of_models in scores.items()
            },
            "findings": [finding.to_json() for finding in findings],
        }
        print(json.dumps(shown, indent=2, ensure_ascii=False))
        return DONE
    for line in _audit_lines(findings, scores, len(ids)):
        print(line)
    return DONE


def _audit_lines(
    findings: Sequence[Finding], scores: dict[str, dict[str, Score]], entries: int
) -> Iterator[str]:
    for finding in findings:
        yield _heading(finding)
        for model, reason in finding.reasons.items():
            yield f"  {model}: {reason}"
        if finding.agreement:
            agreement = finding.agreement
            names = ", ".join(agreement.models)
            yield f"  from turn {agreement.turn} on these agree on another state: {names}"
            yield from (f"    {difference}" for difference in agreement.differences)
        yield ""
    rows = [["run", *scores]]
    for model in next(iter(scores.values())):
        rows.append([model, *(_score(of_models[model]) for of_models in scores.values())])
    yield table(rows)
    all_fail = sum(finding.all_fail for finding in findings)
    agreeing = sum(finding.agreement is not None for finding in findings)
    yield (
        f"{entries} entries; {all_fail} that all runs fail; {agreeing} where most runs agree on a "
        "state that is not the ground truth's"
    )


def _heading(finding: Finding) -> str:
    failed = "all runs fail" if finding.all_fail else f"{len(finding.reasons)} runs fail"
    return f"{finding.id}: {failed}, of {finding.runs}"


def _score(score: Score) -> str:
    return f"{score.passed}/{score.entries} ({score.rate:.1%})"
