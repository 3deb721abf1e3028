"""Command ``turnwise judge-info``: a judge model decides whether answers report facts."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from checkers.profile import Mode
from envs.errors import DataError
from extensions.judges.commands.judge_options import (
    CachedRequestOptions,
    JudgedEpisodeOptions,
    load_run,
)
from extensions.judges.judge_setting import JudgeSetting
from extensions.judges.judging_session import JudgingSession
from extensions.judges.required_info_judge import (
    INFO,
    InfoCase,
    InfoFigures,
    InfoQuestions,
    check_cases,
    list_cases,
    read_answers,
    read_prompts,
)
from extensions.judges.vote_collection import LiveJudge
from extensions.judges.votes import Vote, find_votes_folder
from runner.commands.common_options import JsonOption, note
from runner.commands.model_requests import check_budget, exit_status
from runner.commands.options import argument, option, switch
from runner.live.run_control import open_replies
from runner.models.model_name import ModelName, parse_model_name
from runner.records.durable_files import check_writable, write_output
from runner.show.terminal import say, say_json

EXAMPLE = "turnwise judge-info runs/mine --judge gpt-4o-mini"

NOTES = (
    "With --require-info, a parser decides which facts an answer reports. This command shows how "
    "often a judge model agrees with the parser. If the answers have labels, it also shows the "
    "error rates of the parser and of the judge model. "
    'Each line of the file has the fields "fact", "answer" and "told". The field "question" is '
    "optional.\n"
)


@dataclass(frozen=True, kw_only=True)
class Options(JudgedEpisodeOptions, JsonOption, CachedRequestOptions):
    """Options for the answers, the judge model and the output."""

    source: Path = argument("run folder, or JSON Lines file of labelled answers", "SOURCE")
    judge: ModelName = option("judge model", "MODEL", required=True, read=parse_model_name)
    mode: Mode | None = option(
        "how the judge answers: with tool calls or with JSON text (default: fc)"
    )
    prompts: str | None = option(
        "TOML file with prompts (default: configs/prompts/info_judge.toml)", "FILE"
    )
    keep: Path | None = option("folder for the votes (default: beside the source)", "DIR")
    resume: bool = switch("resume from stored votes (error if no votes exist)")
    output: Path | None = option(
        "write the facts on which parser and judge model disagree",
        "FILE",
        flags=("--output", "-o"),
    )


def run(options: Options) -> int:
    """Ask the judge model about each fact, and print the statistics."""
    check_writable(options.output)
    settings = options.settings()
    prompts = read_prompts(*[Path(settings.prompts)] if settings.prompts else [])
    setting = JudgeSetting(options.judge, settings, prompts, "answer")
    if not setting.is_live:
        raise DataError("--judge", f"{options.judge} is not a live model; choose a live model")
    check_budget(options.judge, settings)
    setting.check()
    asked = {"model": setting.name, "forced": INFO}
    judge = LiveJudge(
        InfoQuestions(prompts, settings.mode), open_replies(settings, asked, setting.secrets)
    )
    cases = _list_cases(options, judge)
    check_cases(cases, options.source)
    session = JudgingSession(setting, sys.argv, resumes=options.resume)
    folder = options.keep or find_votes_folder(options.source)
    heard = session.hear(cases, folder, setting.definition(of="facts"), Vote, INFO)
    figures = InfoFigures.of(cases, heard.votes)
    if options.output is not None:
        lines = []
        for case in cases:
            cast = heard.votes.get(case.key)
            if cast and case.is_found != (case.outcome(cast) == "pass"):
                line = {"fact": str(case.fact), "answer": case.answer, "parser": case.is_found}
                lines.append(json.dumps({"place": case.key[0], **line}) + "\n")
        write_output(options.output, lines)
    if options.json:
        say_json({"judge": setting.name, **figures.to_json(), "failed": len(heard.failed)})
    else:
        for text in figures.lines():
            say(text)
    for place, why in [*session.failed.items()][:3]:
        note(f"{place}: {why}")
    ending = session.stopped
    failed = bool(session.failed) or (ending is not None and ending.failed)
    return exit_status(ending and ending.stop_reason, failed=failed)


def _list_cases(options: Options, judge: LiveJudge) -> list[InfoCase]:
    if options.source.suffix == ".jsonl" and options.source.is_file():
        return list(read_answers(options.source, judge))
    episodes = load_run(options, options.source, "answer").exhibits
    return [case for each in episodes for case in list_cases(each, judge)]
