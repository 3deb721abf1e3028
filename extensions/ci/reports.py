"""Reports on a run: JUnit XML, annotations and step summary of GitHub Actions."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from envs.errors import DataError
from runner.analysis.figure_lines import progress_text
from runner.analysis.figures import RunFigures
from runner.commands.options import option, switch
from runner.records.durable_files import write_output
from runner.records.episode_record import EpisodeRecord
from runner.show.terminal import say
from trajectories.schema import Trajectory

_SUMMARY = "GITHUB_STEP_SUMMARY"
_MAX_ANNOTATIONS = 10
"""Number of annotations that GitHub shows for a step."""
_MAX_ROWS = 50
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#@])")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReportOptions:
    """Continuous integration."""

    junit: Path | None = option("write JUnit XML, with a test case per episode", "FILE")
    github: bool = switch("print annotations and write the step summary of GitHub Actions")


def write(options: ReportOptions, figures: RunFigures, entries: Mapping[str, Trajectory]) -> None:
    """Write the chosen reports. Raises DataError if a file cannot be written."""
    records, part = figures.outcomes, progress_text(figures.progress)
    if options.junit is not None:
        write_output(options.junit, [junit(records, entries, part)])
    if options.github:
        if part:
            say(f"::warning title=unfinished run::{_escape(f'results {part}')}")
        for line in make_annotations(records):
            say(line)
        path = os.environ.get(_SUMMARY)
        if path:
            try:
                with open(path, "a", encoding="utf-8") as summary:
                    summary.write(step_summary(records, part))
            except OSError as error:
                raise DataError(_SUMMARY, f"{path} cannot be written: {error.strerror}") from None


def explain(record: EpisodeRecord) -> str:
    """Explain in one or more lines why an episode failed or has no verdict."""
    verdict = record.verdict
    if verdict is None or verdict.failure is None:
        return record.error or ""
    where = "" if verdict.failed_turn is None else f"turn {verdict.failed_turn + 1}: "
    failure = verdict.failure
    found = [f"{where}{failure.reason.value}: {failure.reason.meaning}"]
    found += [str(each) for each in failure.differences] + [*failure.unseen]
    found += failure.calls.lines() if failure.calls else ()
    return "\n".join(found)


def _name(record: EpisodeRecord) -> str:
    return f"{record.id} (trial {record.trial})" if record.trial else record.id


def junit(
    records: Sequence[EpisodeRecord], entries: Mapping[str, Trajectory], part: str = ""
) -> str:
    """Return JUnit XML with one suite per category and one test case per episode.

    ``part`` tells how much of an unfinished run the records cover. Many tools show only the names
    of suites, so the names tell that the run is unfinished, too.
    """
    mark = " (unfinished run)" if part else ""
    suites: dict[str, list[EpisodeRecord]] = defaultdict(list)
    for record in records:
        suites[record.category].append(record)
    root = ElementTree.Element("testsuites", {"name": f"turnwise{mark}", **_counts(records)})
    for category, members in suites.items():
        about = {"name": f"{category}{mark}", **_counts(members)}
        suite = ElementTree.SubElement(root, "testsuite", about)
        _add_properties(suite, [("unfinished", part)])
        for record in members:
            named = {"classname": f"turnwise.{category}", "name": _xml(_name(record)), "time": "0"}
            case = ElementTree.SubElement(suite, "testcase", named)
            entry = entries.get(record.id)
            if entry is not None:
                tags = [("tag", tag) for tag in entry.tags]
                _add_properties(case, [*tags, ("comment", entry.comment)])
            if record.outcome == "passed":
                continue
            kind = "error" if record.outcome == "error" else "failure"
            why = _xml(explain(record))
            members_of_kind = {"message": why.partition("\n")[0], "type": _type(record)}
            ElementTree.SubElement(case, kind, members_of_kind).text = why
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, "unicode")}\n'


def _type(record: EpisodeRecord) -> str:
    return (record.verdict.error_type if record.verdict else None) or "error"


def _add_properties(to: ElementTree.Element, found: Sequence[tuple[str, str]]) -> None:
    given = [(name, value) for name, value in found if value]
    properties = ElementTree.SubElement(to, "properties") if given else to
    for name, value in given:
        ElementTree.SubElement(properties, "property", name=name, value=_xml(value))


def _counts(records: Sequence[EpisodeRecord]) -> dict[str, str]:
    outcomes = [record.outcome for record in records]
    return {
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count("failed")),
        "errors": str(outcomes.count("error")),
    }


def _xml(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def make_annotations(records: Sequence[EpisodeRecord]) -> Iterator[str]:
    """Yield a workflow command for each episode that failed or ended in an error."""
    bad = [record for record in records if record.outcome != "passed"]
    for record in bad[:_MAX_ANNOTATIONS]:
        title = _escape(f"{_name(record)} {record.outcome}").replace(":", "%3A").replace(",", "%2C")
        yield f"::error title={title}::{_escape(explain(record))}"
    if len(bad) > _MAX_ANNOTATIONS:
        yield f"::notice::{len(bad) - _MAX_ANNOTATIONS} more episodes did not pass"


def _escape(text: str) -> str:
    text = text.encode("utf-8", "replace").decode()
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def step_summary(records: Sequence[EpisodeRecord], part: str = "") -> str:
    """Return Markdown with the counts of outcomes, and a list of episodes that did not pass.

    ``part`` tells how much of an unfinished run the records cover.
    """
    groups: dict[str, list[EpisodeRecord]] = defaultdict(list)
    for record in records:
        groups[record.category].append(record)
    table = ["| category | passed | failed | errors |", "|---|---|---|---|"]
    for name, members in (*groups.items(), ("all", records)):
        counts = [sum(each.outcome == o for each in members) for o in ("passed", "failed", "error")]
        table.append(f"| {name} | {' | '.join(map(str, counts))} |")
    bad = [record for record in records if record.outcome != "passed"]
    rows = [
        f"| {_markdown(_name(each))} | {_markdown(explain(each))} |" for each in bad[:_MAX_ROWS]
    ]
    more = len(bad) - len(rows)
    listed = ["", "| not passed | reason |", "|---|---|", *rows] if rows else []
    left = ["", f"... and {more} more"] if more else []
    heading = ["## Turnwise: unfinished run", "", f"Results {part}.", ""]
    heading = heading if part else ["## Turnwise", ""]
    return "\n".join([*heading, *table, *listed, *left, "", ""])


def _markdown(text: str) -> str:
    shown = text.encode("utf-8", "replace").decode()
    return "<br>".join(_SPECIAL.sub(r"\\\1", line) for line in shown.splitlines())
