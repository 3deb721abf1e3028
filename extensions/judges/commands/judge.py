"""The command ``turnwise judge``: what a model says of episodes, beside their verdicts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from extensions.judges.ask import COMPARE, JUDGE_PROMPTS, REPORT, read_judge_prompts
from extensions.judges.bench import Bench
from extensions.judges.brief import Show
from extensions.judges.commands.judge_options import JudgedRun, JudgeOptions, load_run
from extensions.judges.comparing import pairs_of, win_rate
from extensions.judges.exhibit import Exhibit, LabelTerms, exhibits
from extensions.judges.judging import CRITERIA, FEWEST_VOTES, IN_WORDS, USUAL_VOTES
from extensions.judges.lines import lines, people_lines, win_lines
from extensions.judges.people import read_people
from extensions.judges.probes import KINDS, PROBES, ProbeFigures, probe_lines, probes
from extensions.judges.setting import JudgeSetting, check_name
from extensions.judges.sitting import EpisodeCase, VoteCount, guess
from extensions.judges.tally import (
    Labelled,
    RunLabels,
    WinRate,
    agreed_json,
    labelled,
    tally_json,
    verdicts_with_people,
)
from extensions.judges.votes import JudgeDefinition, PreferenceVote, Vote, judged_folder
from runner.analysis.figure_lines import percent
from runner.analysis.runs import data_change
from runner.commands import DONE
from runner.commands.asking import check_budget, cost_line, exit_status
from runner.commands.shared import note
from runner.data import choose
from runner.data.choose import profile_for
from runner.models.base import Usage
from runner.records.files import written
from runner.records.record import Key
from runner.show.terminal import say, say_json
from trajectories.errors import DataError

EXAMPLE = "turnwise judge runs/mine --judge gpt-4o-mini --votes 5"

NOTES = (
    "A judge states what it saw of every turn: solvable, information, tried_all, answer, why. "
    "--rules makes labels of that: pass, fail, or unsure where no label has more than half of the "
    "votes. Votes are kept, so that another --rules, --votes or --unit asks nothing twice.\n"
    "exit status: 0 done, 2 bad input, 3 where votes failed, 130 interrupted\n\n"
)

Options = JudgeOptions


def run(options: JudgeOptions) -> int:
    """Judge episodes, and print what that comes to."""
    show = _checked(options)
    setting = options.judge and _setting(options, options.judge, show)
    if options.probe and setting:
        return _probe(options, setting)
    runs = [load_run(options, path, show) for path in options.runs]
    for judged in runs:
        if judged.errors:
            note(f"{judged.source.path}: {judged.errors} episodes ended in errors, not judged")
    people = _people(options, runs)
    if not setting:
        return _people_alone(options, runs[0], people)
    terms = LabelTerms(options.rules, options.solvable, options.unit)
    bench = Bench(setting, sys.argv, resumes=options.resume)
    court = _Court(options, setting, terms, _draws(options), bench)
    _check_comparable(runs)
    if options.dry_run:
        return court.estimate(runs)
    tallies = [court.judged(one, people if one is runs[0] else None) for one in runs]
    rates = [
        court.compared(runs[0], one, tallies[0], found)
        for one, found in zip(runs[1:], tallies[1:], strict=True)
    ]
    _write(options, runs, tallies)
    if options.json:
        say_json(_document(options, court, runs, tallies, rates))
    else:
        _print(options, court, runs, tallies, rates)
    return court.status()


class _Court:
    """Judges the runs of a command, one after the other.

    Args:
        options: What the user wants.
        setting: Who judges.
        terms: How labels are made.
        draws: How many votes there are.
        bench: Where the judge sits.
    """

    def __init__(
        self,
        options: JudgeOptions,
        setting: JudgeSetting,
        terms: LabelTerms,
        draws: VoteCount,
        bench: Bench,
    ) -> None:
        self.options = options
        self.setting = setting
        self.terms = terms
        self.draws = draws
        self.bench = bench

    def cases(self, found: Iterable[Exhibit]) -> list[EpisodeCase]:
        """Return what to vote on."""
        judge = self.setting.judge()
        return [EpisodeCase(exhibit, judge, self.terms, self.draws) for exhibit in found]

    def judged(self, judged: JudgedRun, people: Mapping[Key, bool] | None) -> RunLabels:
        """Have the episodes of a run labelled."""
        source = judged.source
        model = source.definition.model if source.definition else source.name
        if model.rpartition("/")[2] == self.setting.name.rpartition("/")[2]:
            note(f"{self.setting.name} judges itself in {source.path}: it may prefer its own words")
        folder = self.options.keep or judged_folder(source.path)
        sat = self.bench.hear(
            self.cases(judged.exhibits), folder, self.setting.definition(), Vote, REPORT
        )
        found = labelled(judged.exhibits, sat.votes, self.terms, self.draws.votes)
        done = len({each.exhibit.key for each in found})
        pending = len(judged.exhibits) - done - len(sat.failed)
        return RunLabels(found, len(sat.failed), pending, people)

    def compared(
        self, first: JudgedRun, second: JudgedRun, one: RunLabels, other: RunLabels
    ) -> WinRate:
        """Have a run compared with the first one."""
        counts = self.options.criteria == "mixed"
        criteria = IN_WORDS if counts else CRITERIA
        common = len(_keys(first) & _keys(second))
        judge = self.setting.judge(criteria)
        pairs = pairs_of(one.found, other.found, common, judge, self.draws, counts=counts)
        definition = self.setting.definition(of="preferences", more={"criteria": [*criteria]})
        folder = self.options.keep or judged_folder(second.source.path)
        sat = self.bench.hear(pairs.cases, folder, definition, PreferenceVote, COMPARE)
        return win_rate(str(second.source.path), pairs, sat, self.draws)

    def estimate(self, runs: Sequence[JudgedRun]) -> int:
        """Print what would be asked."""
        for judged in runs:
            folder = self.options.keep or judged_folder(judged.source.path)
            what = f"{judged.source.path}: {len(judged.exhibits)} episodes"
            self.say_guess(what, judged.exhibits, folder, self.setting.definition())
        if len(runs) > 1:
            say("and at most two requests a vote on each entry with equal labels, to compare")
        return DONE

    def say_guess(
        self, what: str, found: Sequence[Exhibit], folder: Path, definition: JudgeDefinition
    ) -> None:
        """Print what would be asked about episodes."""
        guessed = guess(self.cases(found), self.bench.kept(folder, definition, Vote))
        say(
            f"{what}, {guessed.episodes} to ask about; {guessed.requests} requests and about "
            f"{guessed.tokens} prompt tokens where votes agree, {guessed.most} requests at most"
        )
        if guessed.requests:
            usage, name = Usage(guessed.tokens, guessed.answered), self.setting.name
            say(cost_line(name, self.setting.settings.request_options(), usage, "thoughts"))

    def status(self) -> int:
        """Say why it ended, and return the exit status."""
        bench = self.bench
        for place, why in [*bench.failed.items()][:3]:
            note(f"{place}: {why}")
        if bench.failed and self.setting.settings.mode == "fc" and self.setting.is_live:
            note("a model without forced tool calls is asked with --mode prompt")
        ending = bench.stopped
        if ending is not None:
            note(f"{ending.stop_reason}; the same command goes on")
        failed = bool(bench.failed) or (ending is not None and ending.failed)
        return exit_status(ending and ending.stop_reason, failed=failed)


def _probe(options: JudgeOptions, setting: JudgeSetting) -> int:
    """Judge episodes with known faults, and print what the judge misses."""
    name = options.dataset
    dataset = choose.dataset(name, choose.categories(options.category or "multi_turn", name), note)
    profile = profile_for(dataset, options.profile)
    entries = choose.part(
        choose.trajectories(dataset, None, options.split), options.ids, options.limit, None, 0
    )
    seed, size, show = options.sample_seed, options.sample or PROBES, setting.show
    made = [*exhibits(probes(dataset, entries, profile, options.step_limit, size, seed), show)]
    bench = Bench(setting, sys.argv, resumes=options.resume)
    terms = LabelTerms(options.rules, options.solvable)
    court = _Court(options, setting, terms, _draws(options), bench)
    more = {"data": dataset.sha256, "profile": profile.name, "seed": seed}
    definition = setting.definition(of="probes", more=more)
    folder = options.keep or Path("runs") / "probes"
    if options.dry_run:
        court.say_guess(f"{len(made)} probes", made, folder, definition)
        return DONE
    sat = bench.hear(court.cases(made), folder, definition, Vote, REPORT)
    tally = RunLabels(labelled(made, sat.votes, terms, court.draws.votes), len(sat.failed))
    figures = ProbeFigures.of(tally.found)
    rated = tally.is_rated or options.allow_errors
    if options.output is not None:
        with written(options.output) as file:
            for each in tally.found:
                kind = KINDS[each.exhibit.key[1]].name
                file.write(json.dumps({**each.to_json(), "probe": kind}, allow_nan=False) + "\n")
    if options.json:
        votes = {"probes": len(made), "votes": tally.votes, "abstained": tally.abstained}
        failed = {"failed": tally.failed, "spent": bench.used._asdict()}
        shown = figures.to_json() if rated else {}
        say_json({"judge": setting.name, **votes, **failed, **shown})
        return court.status()
    say(f"{len(made)} probes from {dataset.name} {dataset.version}, profile {profile.name}")
    if not rated:
        say(f"no rate: {percent(tally.failed_share)} of the votes failed (--allow-errors)")
    else:
        for line in probe_lines(figures):
            say(line)
    say(_told(court))
    return court.status()


def _checked(options: JudgeOptions) -> Show:
    """Return what is shown of episodes, of options that go together.

    Raises:
        DataError: They do not.
    """
    if options.judge is not None:
        check_name(options.judge)
    elif options.labels is None or options.probe:
        raise DataError("--judge", "name a model, or scripted:SHARE")
    if options.probe and (options.runs or options.labels):
        other = "RUN" if options.runs else "--labels"
        raise DataError("--probe", f"judges episodes of its own: leave {other} out")
    if options.unit == "turn" and (options.probe or len(options.runs) > 1):
        raise DataError("--unit", "turn is for one run; probes and comparisons are of episodes")
    if not options.runs and not options.probe:
        raise DataError("RUN", "name a run, or ask for --probe")
    if len(options.runs) > 1 and options.labels is not None:
        raise DataError("--labels", "are of one run")
    fewest = FEWEST_VOTES[options.rules]
    if options.votes is not None and options.votes < fewest:
        raise DataError("--votes", f"{options.votes} are too few: at least {fewest}")
    if options.rules == "fac" and options.show not in (None, "answer"):
        raise DataError("--show", "is answer with --rules fac, which looks at nothing else")
    return options.show or ("answer" if options.rules == "fac" else "steps")


def _draws(options: JudgeOptions) -> VoteCount:
    return VoteCount(options.votes or USUAL_VOTES[options.rules], options.all_votes)


def _setting(options: JudgeOptions, name: str, show: Show) -> JudgeSetting:
    """Return who judges, and how.

    Raises:
        DataError: A file or an option cannot be used.
    """
    settings = options.settings()
    prompts = read_judge_prompts(Path(settings.prompts) if settings.prompts else JUDGE_PROMPTS)
    by_turn = options.unit == "turn"
    setting = JudgeSetting(name, settings, prompts, show, options.seed or 0, by_turn)
    if setting.is_live:
        check_budget(name, settings)
    setting.check()
    return setting


def _check_comparable(runs: Sequence[JudgedRun]) -> None:
    """Refuse to compare runs of other data, of other entries, or judged otherwise.

    Raises:
        DataError: They are.
    """
    for judged in runs[1:]:
        first, path = runs[0], str(judged.source.path)
        change = data_change(judged.source, first.dataset)
        if change is not None:
            raise DataError(path, f"cannot be compared with {first.source.path}: {change}")
        if judged.profile.name != first.profile.name:
            message = f"is judged by {judged.profile.name}, {first.source.path} by"
            raise DataError(path, f"{message} {first.profile.name}: say which by --profile")
        if not _keys(first) & _keys(judged):
            raise DataError(path, f"has no entry in common with {first.source.path}")


def _keys(judged: JudgedRun) -> set[Key]:
    return {exhibit.key for exhibit in judged.exhibits}


def _people(options: JudgeOptions, runs: Sequence[JudgedRun]) -> Mapping[Key, bool] | None:
    if options.labels is None:
        return None
    if not runs:
        raise DataError("--labels", "are of a run: name it")
    return read_people(options.labels, runs[0].source.episodes.keys())


def _people_alone(
    options: JudgeOptions, judged: JudgedRun, people: Mapping[Key, bool] | None
) -> int:
    """Print how far the verdicts and people agree."""
    found = verdicts_with_people(judged.exhibits, people or {})
    if found is None:
        raise DataError(str(options.labels), "has no label of an episode that has a verdict")
    if options.json:
        say_json({"run": str(judged.source.path), "verdicts_with_people": agreed_json(found)})
    else:
        for line in people_lines(found):
            say(line)
    return DONE


def _print(
    options: JudgeOptions,
    court: _Court,
    runs: Sequence[JudgedRun],
    tallies: Sequence[RunLabels],
    rates: Sequence[WinRate],
) -> None:
    for judged, tally in zip(runs, tallies, strict=True):
        say(f"{judged.source.path}: {len(judged.exhibits)} episodes")
        for line in lines(tally, allow_errors=options.allow_errors):
            say(line)
        if tally.people is not None:
            found = verdicts_with_people(judged.exhibits, tally.people)
            for line in people_lines(found) if found else ():
                say(line)
        say("")
    if rates:
        for line in win_lines(rates, str(runs[0].source.path), allow_errors=options.allow_errors):
            say(line)
        say("")
    say(_told(court))


def _told(court: _Court) -> str:
    """Return who judged how, and what it took."""
    setting, terms, draws = court.setting, court.terms, court.draws
    used = court.bench.used
    cost = "" if used.cost is None else f", ${used.cost:.2f}"
    asked = f"; {used.requests} requests, {used.tokens} tokens{cost}" if setting.is_live else ""
    folders = ", ".join(map(str, dict.fromkeys(court.bench.folders)))
    return (
        f"judge {setting.name}, shown {setting.show}; rules {terms.rules}, {draws.votes} votes"
        f"{' all drawn' if draws.all else ''}, solvable {terms.solvable}{asked}; votes in {folders}"
    )


def _document(
    options: JudgeOptions,
    court: _Court,
    runs: Sequence[JudgedRun],
    tallies: Sequence[RunLabels],
    rates: Sequence[WinRate],
) -> dict[str, Any]:
    """Return all figures as a JSON object."""
    return {
        "judge": court.setting.name,
        "show": court.setting.show,
        "rules": options.rules,
        "solvable": options.solvable,
        "unit": options.unit,
        "votes": court.draws.votes,
        "spent": court.bench.used._asdict(),
        "runs": [
            {
                "run": str(judged.source.path),
                "episodes": len(judged.exhibits),
                **tally_json(tally, allow_errors=options.allow_errors),
                "verdicts_with_people": agreed_json(
                    verdicts_with_people(judged.exhibits, tally.people or {})
                ),
            }
            for judged, tally in zip(runs, tallies, strict=True)
        ],
        "wins": [rate.to_json(allow_errors=options.allow_errors) for rate in rates],
    }


def _write(options: JudgeOptions, runs: Sequence[JudgedRun], tallies: Sequence[RunLabels]) -> None:
    """Write the files that the user wants: all labels, and disagreements."""
    if options.output is not None:
        with written(options.output) as file:
            for judged, tally in zip(runs, tallies, strict=True):
                file.writelines(_line(judged, each) for each in tally.found)
    if options.disagreements is not None:
        with written(options.disagreements) as file:
            for judged, tally in zip(runs, tallies, strict=True):
                found = tally.anchored.disagreements if tally.anchored else ()
                for each in found:
                    file.write(_line(judged, each, brief=each.exhibit.brief.text("quoted")))


def _line(judged: JudgedRun, each: Labelled, **more: str) -> str:
    line = {"run": str(judged.source.path), **each.to_json(), **more}
    return json.dumps(line, allow_nan=False) + "\n"
