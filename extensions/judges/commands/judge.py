"""Command ``turnwise judge``: votes of a judge model on episodes, compared with verdicts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from envs.errors import DataError
from extensions.judges.commands.judge_options import (
    JudgedRun,
    JudgeOptions,
    check_comparable,
    load_run,
)
from extensions.judges.episode_brief import Show
from extensions.judges.judge_lines import format_agreement, format_win_rates, lines
from extensions.judges.judge_questions import COMPARE, JUDGE_PROMPTS, REPORT, read_judge_prompts
from extensions.judges.judge_setting import JudgeSetting, check_name
from extensions.judges.judged_episode import JudgedEpisode, LabelOptions, exhibits
from extensions.judges.judging_session import JudgingSession
from extensions.judges.label_figures import (
    LabelledUnit,
    RunLabels,
    WinRate,
    agreement_to_json,
    labelled,
    tally_to_json,
    verdicts_with_people,
)
from extensions.judges.label_rules import CRITERIA, IN_WORDS, MIN_VOTES, USUAL_VOTES
from extensions.judges.people_labels import read_people
from extensions.judges.probes import KINDS, PROBES, ProbeFigures, format_probes, probes
from extensions.judges.vote_collection import EpisodeCase, VoteCount, estimate_votes
from extensions.judges.votes import JudgeDefinition, PreferenceVote, Vote, find_votes_folder
from extensions.judges.win_labels import (
    EpisodePair,
    PreferenceAgreement,
    WinLabel,
    agreement_of_people,
    agreement_with_people,
    format_preferences,
    pair_up,
    read_win_labels,
    verdict_preferences,
)
from extensions.judges.win_rate import compute_win_rate, pair_episodes
from runner.analysis.figure_lines import format_percent
from runner.commands import DONE
from runner.commands.common_options import note
from runner.commands.model_requests import check_budget, cost_line, exit_status
from runner.data import dataset_choice
from runner.data.dataset_choice import choose_profile
from runner.models.model_name import ModelName
from runner.models.model_types import Usage
from runner.records.durable_files import check_writable, write_files, write_output
from runner.records.episode_record import Key
from runner.show.terminal import format_count, say, say_json

EXAMPLE = "turnwise judge runs/mine --judge gpt-4o-mini --votes 5"

NOTES = (
    "The judge model votes on each turn. --rules converts the votes to a label: pass, fail or "
    "unsure. Votes are stored. Later commands with other --rules, --votes or --unit reuse the "
    "votes.\n"
    "exit status: 0 done, 2 bad input, 3 failed votes, 130 interrupted\n"
)

Options = JudgeOptions


def run(options: JudgeOptions) -> int:
    """Judge episodes and print the labels."""
    check_writable(options.output, options.disagreements)
    show = _check(options)
    setting = options.judge and _make_setting(options, options.judge, show)
    if options.probe and setting:
        return _probe(options, setting)
    runs = [load_run(options, path, show) for path in options.runs]
    for judged in runs:
        if judged.errors:
            note(
                f"{judged.source.path}: skipped {format_count(judged.errors, 'episode')} "
                "that ended in errors"
            )
    check_comparable(runs)
    wins = _load_win_labels(options, runs)
    people = None if wins else _load_people(options, runs)
    if not setting:
        if wins:
            return _print_wins(options, wins)
        return _compare_with_people(options, runs[0], people)
    terms = LabelOptions(options.rules, options.solvable, options.unit)
    command = _JudgeCommand(options, setting, terms)
    if options.dry_run:
        return command.estimate(runs)
    tallies = [command.label(one, people if one is runs[0] else None) for one in runs]
    rates = [
        command.compare(runs[0], one, tallies[0], found)
        for one, found in zip(runs[1:], tallies[1:], strict=True)
    ]
    _write(options, runs, tallies)
    if options.json:
        say_json(_document(options, command, runs, tallies, rates) | _win_json(wins, rates))
    else:
        _print(options, command, runs, tallies, rates)
        for line in _win_lines(wins, rates):
            say(line)
    return command.status()


class _JudgeCommand:
    """Execution of ``turnwise judge``, which judges the runs one after another."""

    def __init__(self, options: JudgeOptions, setting: JudgeSetting, terms: LabelOptions) -> None:
        self.options = options
        self.setting = setting
        self.terms = terms
        self.count = VoteCount(options.votes or USUAL_VOTES[options.rules], options.all_votes)
        self.session = JudgingSession(setting, sys.argv, resumes=options.resume)

    def cases(self, found: Iterable[JudgedEpisode]) -> list[EpisodeCase]:
        judge = self.setting.judge()
        return [EpisodeCase(exhibit, judge, self.terms, self.count) for exhibit in found]

    def label(self, judged: JudgedRun, people: Mapping[Key, bool] | None) -> RunLabels:
        source = judged.source
        model = source.definition.model if source.definition else source.name
        if model.rpartition("/")[2] == self.setting.name.rpartition("/")[2]:
            note(f"warning: {self.setting.name} judges its own episodes in {source.path}")
        folder = self.options.keep or find_votes_folder(source.path)
        heard = self.session.hear(
            self.cases(judged.exhibits), folder, self.setting.definition(), Vote, REPORT
        )
        found = labelled(judged.exhibits, heard.votes, self.terms, self.count.votes)
        done = len({each.exhibit.key for each in found})
        pending = len(judged.exhibits) - done - len(heard.failed)
        return RunLabels(found, len(heard.failed), pending, people)

    def compare(
        self, first: JudgedRun, second: JudgedRun, one: RunLabels, other: RunLabels
    ) -> WinRate:
        """Collect votes that compare each episode of a run with the first run's episode."""
        counts = self.options.criteria == "mixed"
        criteria = IN_WORDS if counts else CRITERIA
        common = len(first.keys & second.keys)
        judge = self.setting.judge(criteria)
        pairs = pair_episodes(one.found, other.found, common, judge, self.count, counts=counts)
        definition = self.setting.definition(of="preferences", more={"criteria": [*criteria]})
        folder = self.options.keep or find_votes_folder(second.source.path)
        heard = self.session.hear(pairs.cases, folder, definition, PreferenceVote, COMPARE)
        return compute_win_rate(str(second.source.path), pairs, heard, self.count)

    def estimate(self, runs: Sequence[JudgedRun]) -> int:
        for judged in runs:
            folder = self.options.keep or find_votes_folder(judged.source.path)
            what = f"{judged.source.path}: {len(judged.exhibits)} episodes"
            self.say_guess(what, judged.exhibits, folder, self.setting.definition())
        if len(runs) > 1:
            say("comparing the runs takes further votes, with at most 2 requests each")
        return DONE

    def say_guess(
        self, what: str, found: Sequence[JudgedEpisode], folder: Path, definition: JudgeDefinition
    ) -> None:
        guessed = estimate_votes(self.cases(found), self.session.kept(folder, definition, Vote))
        say(
            f"{what}, {guessed.episodes} of them without a label. If the votes agree, the judge "
            f"needs {guessed.requests} requests and about {guessed.tokens} prompt tokens. If the "
            f"votes differ, the judge needs at most {guessed.most} requests."
        )
        if guessed.requests:
            usage, name = Usage(guessed.tokens, guessed.answered), self.setting.name
            say(cost_line(name, self.setting.settings.request_options(), usage, "reasoning"))

    def status(self) -> int:
        for place, why in [*self.session.failed.items()][:3]:
            note(f"{place}: {why}")
        failed = bool(self.session.failed)
        if failed and self.setting.settings.mode == "fc" and self.setting.is_live:
            note("if the model does not support forced tool calls, use --mode prompt")
        ending = self.session.stopped
        if ending is not None:
            note(f"{ending.stop_reason}; run the same command again to resume")
            failed = failed or ending.failed
        return exit_status(ending and ending.stop_reason, failed=failed)


def _probe(options: JudgeOptions, setting: JudgeSetting) -> int:
    name = options.dataset
    dataset = dataset_choice.open_dataset(
        name, dataset_choice.parse_categories(options.category or "multi_turn", name), note
    )
    profile = choose_profile(dataset, options.profile)
    entries = dataset_choice.select_entries(
        dataset_choice.list_entries(dataset, None, options.subset, options.tag),
        options.ids,
        options.limit,
        None,
        0,
    )
    seed, size, show = options.sample_seed, options.sample or PROBES, setting.show
    made = [*exhibits(probes(dataset, entries, profile, options.step_limit, size, seed), show)]
    terms = LabelOptions(options.rules, options.solvable)
    command = _JudgeCommand(options, setting, terms)
    more = {"data": dataset.sha256, "profile": profile.name, "seed": seed}
    definition = setting.definition(of="probes", more=more)
    folder = options.keep or Path("runs") / "probes"
    if options.dry_run:
        command.say_guess(f"{len(made)} probes", made, folder, definition)
        return DONE
    heard = command.session.hear(command.cases(made), folder, definition, Vote, REPORT)
    found = labelled(made, heard.votes, terms, command.count.votes)
    tally = RunLabels(found, len(heard.failed))
    figures = ProbeFigures.of(tally.found)
    rated = tally.is_rated or options.allow_errors
    if options.output is not None:
        kinds = [{"probe": KINDS[each.exhibit.key[1]].name} for each in tally.found]
        lines = ({**each.to_json(), **kind} for each, kind in zip(tally.found, kinds, strict=True))
        write_output(options.output, (json.dumps(line, allow_nan=False) + "\n" for line in lines))
    if options.json:
        votes = {"probes": len(made), "votes": tally.votes, "abstained": tally.abstained}
        failed = {"failed": tally.failed, "spent": command.session.used._asdict()}
        shown = figures.to_json() if rated else {}
        say_json({"judge": setting.name, **votes, **failed, **shown})
        return command.status()
    say(f"{len(made)} probes from {dataset.name} {dataset.version}, profile {profile.name}")
    if not rated:
        share = format_percent(tally.failed_share)
        say(f"no rate: {share} of the votes failed; --allow-errors prints the rate anyway")
    else:
        for line in format_probes(figures):
            say(line)
    say(_describe(command))
    return command.status()


def _check(options: JudgeOptions) -> Show:
    """Check the options; return the part of an episode that the judge model reads.

    Raises DataError if the options contradict each other.
    """
    if options.judge is not None:
        check_name(options.judge)
    elif options.labels is None or options.probe:
        raise DataError("--judge", "is missing; name a model, or scripted:SHARE")
    if options.probe and (options.runs or options.labels):
        other = "RUN" if options.runs else "--labels"
        raise DataError("--probe", f"cannot be combined with {other}; leave {other} out")
    if options.unit == "turn" and (options.probe or len(options.runs) > 1):
        raise DataError("--unit", "`turn` needs a single run without --probe; use `episode`")
    if not options.runs and not options.probe:
        raise DataError("RUN", "is missing; name a run, or use --probe")
    if len(options.runs) > 2 and options.labels is not None:
        raise DataError("--labels", "needs one or two runs; leave the other runs out")
    fewest = MIN_VOTES[options.rules]
    if options.votes is not None and options.votes < fewest:
        raise DataError("--votes", f"must be at least {fewest}, not {options.votes}")
    if options.rules == "fac" and options.show not in (None, "answer"):
        raise DataError("--show", "must be `answer` with --rules fac; remove the option --show")
    return options.show or ("answer" if options.rules == "fac" else "steps")


def _make_setting(options: JudgeOptions, name: ModelName, show: Show) -> JudgeSetting:
    """Return the setting of the judge model.

    Raises DataError if a file or an option cannot be used.
    """
    settings = options.settings()
    prompts = read_judge_prompts(Path(settings.prompts) if settings.prompts else JUDGE_PROMPTS)
    by_turn = options.unit == "turn"
    setting = JudgeSetting(name, settings, prompts, show, options.seed or 0, by_turn)
    if setting.is_live:
        check_budget(name, settings)
    setting.check()
    return setting


def _load_people(options: JudgeOptions, runs: Sequence[JudgedRun]) -> Mapping[Key, bool] | None:
    if options.labels is None:
        return None
    return read_people(options.labels, runs[0].source.episodes.keys())


def _compare_with_people(
    options: JudgeOptions, judged: JudgedRun, people: Mapping[Key, bool] | None
) -> int:
    found = verdicts_with_people(judged.exhibits, people or {})
    if found is None:
        raise DataError(str(options.labels), "contains no label of an episode with a verdict")
    if options.json:
        say_json({"run": str(judged.source.path), "verdicts_with_people": agreement_to_json(found)})
    else:
        for line in format_agreement("verdicts", "people", found):
            say(line)
    return DONE


class _WinLabels(NamedTuple):
    """Labels that people gave to pairs of episodes of two runs."""

    pairs: Mapping[Key, EpisodePair]
    labels: Sequence[WinLabel]

    def agreements(self, rates: Sequence[WinRate]) -> dict[str, PreferenceAgreement]:
        """Return the agreement of each rater with people, and the agreement among people."""
        rated = {"verdicts": verdict_preferences(self.pairs)}
        for rate in rates:
            rated["judge model"] = {win.key: win.preference for win in rate.wins}
        found = {
            name: agreement_with_people(each, self.labels, self.pairs)
            for name, each in rated.items()
        }
        found["people"] = agreement_of_people(self.labels, self.pairs)
        return {name: each for name, each in found.items() if each is not None}


def _load_win_labels(options: JudgeOptions, runs: Sequence[JudgedRun]) -> _WinLabels | None:
    if options.labels is None or len(runs) == 1:
        return None
    pairs = pair_up(runs[0].exhibits, runs[1].exhibits)
    return _WinLabels(pairs, read_win_labels(options.labels, pairs))


def _print_wins(options: JudgeOptions, wins: _WinLabels) -> int:
    if options.json:
        say_json(_win_json(wins, ()))
    else:
        for line in _win_lines(wins, ()):
            say(line)
    return DONE


def _win_json(wins: _WinLabels | None, rates: Sequence[WinRate]) -> dict[str, Any]:
    if wins is None:
        return {}
    found = wins.agreements(rates)
    return {"wins_with_people": {name: each.to_json() for name, each in found.items()}}


def _win_lines(wins: _WinLabels | None, rates: Sequence[WinRate]) -> Iterator[str]:
    for name, each in wins.agreements(rates).items() if wins else ():
        yield ""
        yield from format_preferences(name, "other people" if name == "people" else "people", each)


def _print(
    options: JudgeOptions,
    command: _JudgeCommand,
    runs: Sequence[JudgedRun],
    tallies: Sequence[RunLabels],
    rates: Sequence[WinRate],
) -> None:
    for judged, tally in zip(runs, tallies, strict=True):
        say(f"{judged.source.path}: {format_count(len(judged.exhibits), 'episode')}")
        for line in lines(tally, allow_errors=options.allow_errors):
            say(line)
        if tally.people is not None:
            found = verdicts_with_people(judged.exhibits, tally.people)
            for line in format_agreement("verdicts", "people", found) if found else ():
                say(line)
        say("")
    if rates:
        for line in format_win_rates(
            rates, str(runs[0].source.path), allow_errors=options.allow_errors
        ):
            say(line)
        say("")
    say(_describe(command))


def _describe(command: _JudgeCommand) -> str:
    setting, terms, count = command.setting, command.terms, command.count
    used = command.session.used
    cost = "" if used.cost is None else f", ${used.cost:.2f}"
    spent = (
        f"; {format_count(used.requests, 'request')}, {used.tokens} tokens{cost}"
        if setting.is_live
        else ""
    )
    folders = ", ".join(map(str, dict.fromkeys(command.session.folders)))
    return (
        f"judge model: {setting.name}; --show {setting.show} --rules {terms.rules} "
        f"--votes {count.votes}{' --all-votes' if count.all else ''} "
        f"--solvable {terms.solvable}{spent}; votes stored in {folders}"
    )


def _document(
    options: JudgeOptions,
    command: _JudgeCommand,
    runs: Sequence[JudgedRun],
    tallies: Sequence[RunLabels],
    rates: Sequence[WinRate],
) -> dict[str, Any]:
    return {
        "judge": command.setting.name,
        "show": command.setting.show,
        "rules": options.rules,
        "solvable": options.solvable,
        "unit": options.unit,
        "votes": command.count.votes,
        "spent": command.session.used._asdict(),
        "runs": [
            {
                "run": str(judged.source.path),
                "episodes": len(judged.exhibits),
                **tally_to_json(tally, allow_errors=options.allow_errors),
                "verdicts_with_people": agreement_to_json(
                    verdicts_with_people(judged.exhibits, tally.people or {})
                ),
            }
            for judged, tally in zip(runs, tallies, strict=True)
        ],
        "wins": [rate.to_json(allow_errors=options.allow_errors) for rate in rates],
    }


def _write(options: JudgeOptions, runs: Sequence[JudgedRun], tallies: Sequence[RunLabels]) -> None:
    """Write all labels to ``--output``, and disagreements with verdicts to ``--disagreements``."""
    pairs = [*zip(runs, tallies, strict=True)]
    labels = (_line(judged, each) for judged, tally in pairs for each in tally.found)
    differing = (
        _line(judged, each, brief=each.exhibit.brief.text("quoted"))
        for judged, tally in pairs
        for each in (tally.anchored.disagreements if tally.anchored else ())
    )
    files = ((options.output, labels), (options.disagreements, differing))
    write_files({path: map(str.encode, some) for path, some in files if path}, named=True)


def _line(judged: JudgedRun, each: LabelledUnit, **more: str) -> str:
    line = {"run": str(judged.source.path), **each.to_json(), **more}
    return json.dumps(line, allow_nan=False) + "\n"
