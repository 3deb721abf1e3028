from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from itertools import count
from random import Random

import pytest

from checkers.profile import BFCL, STRICT
from envs import __version__
from envs.backends.ticket import TicketAPI
from envs.calls import parse_call
from envs.errors import BackendFault, DataError
from runner.analysis.figures import UsageTotals, totals_of
from runner.extension import RunFeature
from runner.live import live_run as module
from runner.live.budget import Budget
from runner.live.engine import JobEngine, RequestLimits
from runner.live.live_run import (
    EpisodeJob,
    LiveRun,
    RunInputs,
    function_docs_folder,
    jobs_of,
    restore_tools,
)
from runner.live.run_control import open_jobs
from runner.live.run_settings import Settings
from runner.models.model_name import OracleName
from runner.models.model_types import (
    FatalError,
    ModelError,
    Reply,
    RequestError,
    ToolCall,
    ToolList,
    TransientError,
    Usage,
)
from runner.models.prompting import read_prompts
from runner.records.episode_record import TIMING_FIELDS
from runner.records.recorded_run import open_run
from runner.records.run_files import EPISODES_FILE, TOOLS_FILE, UNDERWAY_FILE
from runner.records.run_store import RunStore
from tests.runner.records.made import EVERYTHING
from trajectories.bfcl_reader import function_docs_file
from trajectories.schema import Turn

LIMITS = RequestLimits(concurrency=3, attempts=2, first_wait=1e-6)


class Oracle:
    """Knows the ground truth of trajectories, however often and in whatever order it is asked.

    Args:
        trajectories: Those it knows, told apart by what the user says first.
        errors: By trajectory, what it raises instead of an answer to the second request.
    """

    def __init__(self, *trajectories, errors=None):
        self.answers = {self.first(t): self.truth(t) for t in trajectories}
        self.errors = {self.first(t): errors[t.id] for t in trajectories if t.id in (errors or {})}
        self.asked = count(1)
        self.number = 0

    @staticmethod
    def first(trajectory):
        """Return what the user says first."""
        return trajectory.turns[0].messages[0].content

    @staticmethod
    def truth(trajectory):
        """Return the calls of every answer, which are none at the end of a turn."""
        steps = []
        for turn in trajectory.turns:
            steps += [turn.ground_truth] if turn.ground_truth else []
            steps.append(())
        return steps

    async def ask(self, request):
        """Give the next answer in a conversation."""
        self.number = next(self.asked)
        await asyncio.sleep(0)
        roles = [message["role"] for message in request.messages]
        first = request.messages[roles.index("user")]["content"]
        step = roles.count("assistant")
        if step == 1 and first in self.errors:
            raise self.errors[first]
        calls = self.answers[first][step]
        text, made = "Done.", ()
        if calls and request.tools is None:
            text = f"[{', '.join(calls)}]"
        elif calls:
            text, made = None, tuple(map(self.tool_call, calls))
        # Time is never the same twice.
        return Reply(text, made, None, "stop", Usage(10, 2), self.number / 1000, 0.01)

    @staticmethod
    def tool_call(text):
        """Return a call as a server sends it."""
        call = parse_call(text)
        return ToolCall(None, call.name, json.dumps(dict(call.kwargs)))

    async def close(self):
        """Do nothing."""


@pytest.fixture
def plan_of(dataset_of):
    """Make a plan for trajectories."""

    def make(*trajectories, profile=STRICT, **settings):
        data = dataset_of(*trajectories)
        return RunInputs(
            OracleName("oracle"), data, profile, 20, Settings(**settings), read_prompts()
        )

    return make


def go(plan, store, model, jobs, limits=LIMITS, on_done=None, budget=None):
    """Do jobs and return the engine."""
    engine = JobEngine(model, limits, Random(0), budget)

    def told(record):
        if on_done is not None:
            on_done(record, engine)

    asyncio.run(asyncio.wait_for(LiveRun(plan, store).run(engine, jobs, told), 20))
    return engine


def missing(plan, store, trials=3):
    """Return the jobs of a run that are not done."""
    return open_jobs(store, list(plan.dataset.trajectories.values()), trials, None)


def records(folder):
    """Return the records of a run in the order of their keys."""
    return sorted(open_run(folder).records, key=lambda r: (r.id, r.trial))


def comparable(folder):
    """Return all of a run's files that must not differ between equal runs."""
    timed = dict.fromkeys(TIMING_FIELDS)
    episodes = [
        record._replace(steps=[step._replace(**timed) for step in record.steps])
        for record in records(folder)
    ]
    tools = sorted((folder / TOOLS_FILE).read_bytes().splitlines())
    return [json.dumps(record.to_json()) for record in episodes], tools


@pytest.fixture
def run(tmp_path, plan_of):
    """Do three trials of trajectories in one go and return the folder."""
    folders = count(1)

    def do(*trajectories, model=None, trials=3, limits=LIMITS, **settings):
        plan = plan_of(*trajectories, **settings)
        folder = tmp_path / f"run_{next(folders)}"
        with RunStore.create(folder, plan.definition(EVERYTHING)) as store:
            go(plan, store, model or Oracle(*trajectories), missing(plan, store, trials), limits)
        return folder

    return do


# Jobs and what defines a run


def test_all_entries_are_done_once_before_any_is_done_again(help_desk, folders):
    jobs = jobs_of([help_desk, folders], 2)
    assert [job.key for job in jobs] == [
        ("help_desk_0", 0),
        ("folders_0", 0),
        ("help_desk_0", 1),
        ("folders_0", 1),
    ]
    assert jobs[0] == EpisodeJob(help_desk, 0, is_last=False)
    assert [job.is_last for job in jobs] == [False, False, True, True]
    assert jobs_of([], 5) == []


def test_a_seed_gives_a_random_order_with_no_preference_for_long_entries(help_desk):
    entries = [replace(help_desk, id=str(number)) for number in range(20)]
    orders = [[job.trajectory.id for job in jobs_of(entries, 2, seed)] for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0][:20]) == sorted(each.id for each in entries)
    assert orders[0][:20] == orders[0][20:] != [each.id for each in entries]


@pytest.mark.parametrize(
    ("calls", "answered", "expected"),
    [([0], 0, 1), ([2, 0, 1], 0, 6), ([2, 0, 1], 4, 2), ([2], 3, 1), ([2], 9, 1)],
)
def test_a_job_expects_a_request_for_each_call_and_each_turn(help_desk, calls, answered, expected):
    turns = [replace(help_desk.turns[0], ground_truth=("logout()",) * number) for number in calls]
    entry = replace(help_desk, turns=tuple(turns))
    assert EpisodeJob(entry, 0, [None] * answered).expected_requests == expected


def test_long_entries_come_first(help_desk):
    turn = replace(help_desk.turns[0], ground_truth=("logout()",) * 3)
    # Two turns without calls are two requests, one turn with three calls is four.
    calls = replace(help_desk, id="calls", turns=(turn,))
    turns = replace(help_desk, id="turns", turns=(replace(turn, ground_truth=()),) * 2)
    assert [job.trajectory.id for job in jobs_of([turns, calls, turns], 1)] == [
        "calls",
        "turns",
        "turns",
    ]
    job = EpisodeJob(calls, 3)
    assert job.is_last
    lost = job.lost("an error")
    assert (lost.key, lost.outcome, lost.error) == (("calls", 3), "error", "an error")


@pytest.mark.parametrize(("mode", "number"), [("fc", 2), ("prompt", 0)])
def test_only_lost_tool_lists_are_restored(plan_of, help_desk, folders, mode, number):
    class Store:
        def __init__(self, lost):
            self.lost_tools, self.put = lost, []

        def put_tools(self, digest, tools):
            assert ToolList(tools).digest == digest
            self.put.append(digest)
            if isinstance(self.lost_tools, set):
                self.lost_tools.discard(digest)

    class Everything:
        def __contains__(self, digest):
            return True

    plan = plan_of(help_desk, folders, mode=mode)
    whole = Store(Everything())
    restore_tools(plan, whole)
    digests = [*dict.fromkeys(whole.put)]
    assert (len(digests) >= number, bool(digests)) == (True, mode == "fc")
    for digest in digests:
        one = Store({digest})
        restore_tools(plan, one)
        assert (one.put, one.lost_tools) == ([digest], set())
    nothing = Store(set())
    restore_tools(plan, nothing)
    assert nothing.put == []


def test_features_shape_an_episode_one_after_the_other(plan_of, help_desk):
    class Marked(RunFeature):
        def __init__(self, mark):
            self.mark = mark

        def toolbox(self, trajectory, folder, notes, trial):
            return None if self.mark == 1 else (self.mark, trajectory.id, trial)

        def observe(self, observe):
            return (observe, self.mark)

        def style(self, style, settings):
            assert style.observe[1] == self.mark
            return style._replace(asks_on=(style.asks_on, self.mark, settings.mode))

        def user(self, trajectory, trial):
            return None if self.mark == 3 else (self.mark, trial)

    plan = plan_of(help_desk)
    assert plan.feature(Marked) is None
    for mark in (1, 2, 3):
        plan = plan.with_feature(Marked(mark))
    assert plan.feature(Marked).mark == 1
    style = plan.style(help_desk, 5)
    assert style.toolbox == (2, "help_desk_0", 5)
    assert style.observe == (((None, 1), 2), 3)
    assert style.asks_on == (((False, 1, "fc"), 2, "fc"), 3, "fc")
    assert style.user == (2, 5)


def test_features_change_the_options_of_requests_one_after_the_other():
    class Renamed(RunFeature):
        def __init__(self, mark):
            self.mark = mark

        def request_options(self, options):
            return replace(options, base_url=f"{options.base_url}/{self.mark}")

    features = (Renamed("a"), Renamed("b"))
    made = Settings(base_url="http://host", seed=7, features=features).request_options()
    assert made.base_url == "http://host/a/b"
    assert made.sampling["seed"] == 7


@pytest.mark.parametrize(
    ("settings", "seed"),
    [
        ({}, None),
        ({"seed": 7}, None),
        ({"seed": 7, "max_requests": 0}, 7),
        ({"max_cost": 0.0}, 0),
        ({"seed": 7, "max_cost": 1.0, "max_requests": 5}, 7),
    ],
)
def test_a_run_with_a_budget_has_a_random_order(plan_of, help_desk, settings, seed):
    assert plan_of(help_desk, **settings).order_seed == seed


def test_a_run_is_defined_by_all_that_decides_its_episodes(plan_of, help_desk):
    plan = plan_of(help_desk, seed=7, concurrency=64, extra_headers={"X-Key": "sk-secret"})
    chosen = EVERYTHING._replace(category="base", trials=3)
    definition = plan.definition(chosen).to_json()
    assert definition == {
        "model": "oracle",
        "settings": plan.settings.defining().to_json(),
        "prompts_sha256": read_prompts().sha256,
        "dataset": {"name": "made-up", "version": "1", "sha256": "0" * 64},
        "profile": "strict",
        "step_limit": 20,
        "selection": chosen.to_json(),
        "simulator": __version__,
    }
    assert "sk-secret" not in json.dumps(definition)


# What is kept


@pytest.mark.parametrize("mode", ["fc", "prompt"])
@pytest.mark.parametrize("profile", [BFCL, STRICT], ids=lambda profile: profile.name)
def test_every_episode_is_kept(run, help_desk, folders, mode, profile):
    kept = records(run(help_desk, folders, mode=mode, profile=profile))
    assert [(r.id, r.trial) for r in kept] == [
        (id, trial) for id in ("folders_0", "help_desk_0") for trial in range(3)
    ]
    assert {r.outcome for r in kept} == {"passed"}


def test_the_record_of_an_episode(run, help_desk):
    [record] = records(run(help_desk, trials=1))
    assert list(record.to_json()) == [
        *("id", "trial", "category", "outcome", "verdict", "error"),
        *("messages", "steps", "turn_ends", "result", "telling"),
    ]
    about = (record.id, record.trial, record.category, record.outcome, record.error)
    assert about == ("help_desk_0", 0, "miss_func", "passed", None)
    assert record.verdict.to_json() == {
        "valid": True,
        "error_type": None,
        "failed_turn": None,
        "turns": 3,
        "turns_passed": 3,
        "selected": {"needed": 3, "functions": 3, "arguments": 3, "strangers": 0},
    }
    assert [end.why for end in record.turn_ends] == ["answer"] * 3
    assert record.result[1] == ["Done."]
    assert [step.request_messages for step in record.steps] == [1, 3, 5, 7, 10]
    assert len(record.messages) == 11


def test_an_episode_that_the_model_failed_is_kept_with_the_reason(run, help_desk):
    model = Oracle(help_desk)
    model.answers[model.first(help_desk)][3] = ("close_ticket(ticket_id=1)",)
    [record] = records(run(help_desk, model=model, trials=1))
    assert record.outcome == "failed"
    assert record.verdict.error_type == "multi_turn:execution_response_mismatch"
    assert record.verdict.failed_turn == 2
    assert record.error is None


def test_tool_lists_are_kept_once_and_all_that_records_name(run, help_desk, folders):
    folder = run(help_desk, folders)
    finished = open_run(folder)
    named = {step.tools for record in records(folder) for step in record.steps}
    assert len(named) == 3
    assert len((folder / TOOLS_FILE).read_bytes().splitlines()) == 3
    kept = finished.tools(named)
    assert all(tool["function"]["name"] for tools in kept.values() for tool in tools)
    assert all(kept[digest] for digest in named)


def test_a_prompting_model_has_no_tool_lists(run, help_desk):
    folder = run(help_desk, mode="prompt")
    assert (folder / TOOLS_FILE).read_bytes() == b""
    assert {step.tools for r in records(folder) for step in r.steps} == {None}


def test_who_watches_is_told_of_an_episode_when_it_is_kept(tmp_path, plan_of, help_desk):
    plan = plan_of(help_desk)
    told = []
    with RunStore.create(tmp_path / "run", plan.definition(EVERYTHING)) as store:

        def on_done(record, engine):
            assert (record.id, record.trial) in store.done
            told.append(record.trial)

        go(plan, store, Oracle(help_desk), missing(plan, store), on_done=on_done)
    assert sorted(told) == [0, 1, 2]


def test_trials_share_what_they_start_from(run, monkeypatch, help_desk, folders):
    made = []

    def counted(name):
        function = getattr(module, name)

        def call(*arguments):
            made.append(name)
            return function(*arguments)

        monkeypatch.setattr(module, name, call)

    counted("prepare")
    twin = replace(help_desk, id="help_desk_1")
    run(help_desk, folders, twin)
    assert made == ["prepare"] * 3


# Function documents


@pytest.fixture
def reference_docs(tmp_path, write_lines):
    """Write documents like BFCL's for the ticket backend and return their folder."""
    write_lines(
        function_docs_file("TicketAPI"),
        *[
            {"name": name, "description": f"Theirs: {name}.", "parameters": {"type": "dict"}}
            for name in TicketAPI.TOOLS
        ],
    )
    return tmp_path


def test_whose_function_documents_are_shown(dataset_of, reference_docs, help_desk):
    ours = dataset_of(help_desk)
    theirs = replace(ours, folder=reference_docs)
    assert function_docs_folder(Settings(), ours) is None
    assert function_docs_folder(Settings(function_docs="own"), ours) is None
    assert function_docs_folder(Settings(function_docs="own"), theirs) is None
    assert function_docs_folder(Settings(), theirs) == reference_docs
    assert function_docs_folder(Settings(function_docs="bfcl"), theirs) == reference_docs


def test_documents_of_the_reference_that_are_not_there_are_not_silently_ours(dataset_of, help_desk):
    with pytest.raises(DataError, match="documents of BFCL"):
        function_docs_folder(Settings(function_docs="bfcl"), dataset_of(help_desk))


@pytest.mark.parametrize(("whose", "shown"), [(None, True), ("bfcl", True), ("own", False)])
def test_the_documents_of_the_data_set_are_shown(
    tmp_path, plan_of, reference_docs, help_desk, whose, shown
):
    plan = plan_of(help_desk, function_docs=whose)
    plan = plan._replace(dataset=replace(plan.dataset, folder=reference_docs))
    with RunStore.create(tmp_path / "run", plan.definition(EVERYTHING)) as store:
        go(plan, store, Oracle(help_desk), missing(plan, store))
    [record, *_] = records(tmp_path / "run")
    digest = record.steps[0].tools
    [tool, *_] = open_run(tmp_path / "run").tools([digest])[digest]
    assert tool["function"]["description"].startswith("Theirs: ") == shown
    assert record.outcome == "passed"


# Errors


def test_a_model_s_error_is_the_outcome_of_its_episode_and_the_others_go_on(
    run, help_desk, folders
):
    model = Oracle(help_desk, folders, errors={"help_desk_0": RequestError("400: too long")})
    kept = records(run(help_desk, folders, model=model))
    assert [r.outcome for r in kept] == ["passed"] * 3 + ["error"] * 3
    lost, passed = kept[3], records(run(help_desk))[0]
    assert (lost.error, lost.verdict, lost.result) == ("400: too long", None, None)
    assert list(lost.messages) == list(passed.messages[: passed.steps[1].request_messages])
    assert [s._replace(latency=0.0) for s in lost.steps] == [passed.steps[0]._replace(latency=0.0)]
    assert [step.usage for step in lost.steps] == [Usage(10, 2)]
    assert totals_of(kept[3:]) == UsageTotals(
        3, 30, 6, [s.latency for r in kept[3:] for s in r.steps], 0.03
    )


def test_an_error_that_stays_after_all_attempts_is_the_outcome(run, help_desk):
    model = Oracle(help_desk, errors={"help_desk_0": TransientError("500: oops")})
    kept = records(run(help_desk, model=model))
    assert {(r.outcome, r.error) for r in kept} == {("error", "500: oops (2 requests)")}


@pytest.mark.parametrize(
    "error", [FatalError("401: wrong key"), TransientError("refused", unreachable=True)]
)
def test_an_error_of_the_whole_run_is_no_episode_s_outcome(tmp_path, plan_of, help_desk, error):
    plan = plan_of(help_desk)
    model = Oracle(help_desk, errors={"help_desk_0": error})
    with RunStore.create(tmp_path / "run", plan.definition(EVERYTHING)) as store:
        engine = go(plan, store, model, missing(plan, store))
        assert store.done == {}
    assert (engine.failed, engine.stop_reason) == (True, str(error))
    assert (tmp_path / "run" / EPISODES_FILE).read_bytes() == b""


def break_find(monkeypatch):
    """Put a bug into the help desk."""

    def broken(self, ticket_id):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(TicketAPI, "_find", broken)


def test_a_bug_that_the_truth_runs_into_is_the_outcome(run, monkeypatch, help_desk, folders):
    break_find(monkeypatch)
    kept = records(run(help_desk, folders))
    assert [r.outcome for r in kept] == ["passed"] * 3 + ["error"] * 3
    assert kept[3].error == "TicketAPI.close_ticket(ticket_id=1) raised ZeroDivisionError: a bug"
    assert kept[3].verdict is None


def test_a_bug_that_only_the_model_runs_into_is_the_outcome(run, monkeypatch, help_desk):
    break_find(monkeypatch)
    short = replace(help_desk, turns=help_desk.turns[:1])
    model = Oracle(short)
    model.answers[model.first(short)].insert(0, ("get_ticket(ticket_id=1)",))
    [record] = records(run(short, model=model, trials=1))
    assert record.outcome == "error"
    assert record.error.startswith("TicketAPI.get_ticket(ticket_id=1) raised")
    assert "in broken\n" in record.traceback
    assert [(step.calls, step.usage) for step in record.steps] == [([], Usage(10, 2))]
    assert record.steps[0].reply.tool_calls[0].name == "get_ticket"


def test_errors_are_of_the_kinds_that_are_not_the_model_s_doing():
    assert not issubclass(BackendFault, ModelError)


def test_bad_data_stops_the_run(run, help_desk, folders):
    bad = replace(folders, config={"GorillaFileSystem": 5})
    with pytest.raises(DataError, match="folders_0"):
        run(help_desk, bad)


@pytest.mark.parametrize("mode", ["fc", "prompt"])
def test_a_trajectory_that_hands_over_a_function_there_is_not_is_bad_data(run, help_desk, mode):
    bad = replace(help_desk, turns=(Turn(help_desk.turns[0].messages, (), ("nonsense",)),))
    with pytest.raises(DataError, match="nonsense"):
        run(bad, mode=mode)


# Going on


@pytest.fixture
def undisturbed(run, help_desk, folders):
    """Return what a run comes to that nothing disturbs."""
    return comparable(run(help_desk, folders))


def test_two_undisturbed_runs_are_equal_but_for_timing(run, undisturbed, help_desk, folders):
    again = run(help_desk, folders, limits=LIMITS._replace(concurrency=1))
    assert comparable(again) == undisturbed


def resumed(plan, folder, model):
    """Go on with a run and return what was still to do."""
    with RunStore.resume(folder, plan.definition(EVERYTHING)) as store:
        jobs = missing(plan, store)
        go(plan, store, model, jobs)
    return jobs


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("after", range(1, 7))
def test_a_stopped_run_goes_on_with_what_is_missing(
    tmp_path, plan_of, undisturbed, help_desk, folders, after, at_once
):
    plan = plan_of(help_desk, folders)
    folder = tmp_path / "stopped"

    def on_done(record, engine):
        if len(store.done) == after:
            engine.stop("enough", at_once=at_once)

    with RunStore.create(folder, plan.definition(EVERYTHING)) as store:
        go(plan, store, Oracle(help_desk, folders), missing(plan, store), on_done=on_done)
        done = set(store.done)
    assert after <= len(done) < after + LIMITS.concurrency
    model = Oracle(help_desk, folders)
    jobs = resumed(plan, folder, model)
    assert {job.key for job in jobs} | done == {(id, n) for id in ID for n in range(3)}
    assert len(jobs) + len(done) == 6
    known = sum(len(job.course) for job in jobs)
    assert model.number == sum(REQUESTS[job.trajectory.id] for job in jobs) - known
    assert comparable(folder) == undisturbed


ID = ("help_desk_0", "folders_0")
REQUESTS = {"help_desk_0": 5, "folders_0": 4}


@pytest.mark.parametrize("budget", [1, 2, 8, 13, 20, 26])
def test_a_run_that_used_up_its_budget_goes_on_with_what_is_missing(
    tmp_path, plan_of, undisturbed, help_desk, folders, budget
):
    plan = plan_of(help_desk, folders)
    folder = tmp_path / "stopped"
    limit = Budget(max_requests=budget)
    with RunStore.create(folder, plan.definition(EVERYTHING)) as store:
        engine = go(plan, store, Oracle(help_desk, folders), missing(plan, store), budget=limit)
        assert limit.spent.requests == budget
        assert engine.failed is False
    assert resumed(plan, folder, Oracle(help_desk, folders)) != []
    assert comparable(folder) == undisturbed


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.5, 0.9, 0.999, 1.0])
def test_a_run_that_was_cut_off_at_any_byte_goes_on(
    run, plan_of, undisturbed, help_desk, folders, kept
):
    folder = run(help_desk, folders)
    path = folder / EPISODES_FILE
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))])
    jobs = resumed(plan_of(help_desk, folders), folder, Oracle(help_desk, folders))
    assert (jobs == []) == (kept == 1.0)
    assert comparable(folder) == undisturbed


@pytest.mark.parametrize("kept", [0.0, 0.2, 0.5, 0.8, 0.999, 1.0])
@pytest.mark.parametrize("mode", ["fc", "prompt"])
def test_answers_that_were_cut_off_at_any_byte_are_asked_for_again(
    tmp_path, plan_of, run, help_desk, folders, mode, kept
):
    plan, folder = plan_of(help_desk, folders, mode=mode), tmp_path / "stopped"
    limit = Budget(max_requests=16)
    with RunStore.create(folder, plan.definition(EVERYTHING)) as store:
        go(plan, store, Oracle(help_desk, folders), missing(plan, store), budget=limit)
    path = folder / UNDERWAY_FILE
    content = path.read_bytes()
    cut = content[: int(kept * len(content))]
    path.write_bytes(cut)
    whole = cut[: cut.rfind(b"\n") + 1].count(b'"step":')
    model, before = Oracle(help_desk, folders), len(open_run(folder).episodes)
    jobs = resumed(plan, folder, model)
    assert sum(len(job.course) for job in jobs) == whole
    assert before + len(jobs) == 6
    assert model.number == sum(REQUESTS[job.trajectory.id] - len(job.course) for job in jobs)
    assert comparable(folder) == comparable(run(help_desk, folders, mode=mode))


def test_a_run_that_is_done_asks_nothing_when_it_goes_on(run, plan_of, help_desk, folders):
    folder = run(help_desk, folders)
    before = (folder / EPISODES_FILE).read_bytes()
    model = Oracle(help_desk, folders)
    assert resumed(plan_of(help_desk, folders), folder, model) == []
    assert model.number == 0
    assert (folder / EPISODES_FILE).read_bytes() == before


def test_another_plan_does_not_go_on_with_a_run(run, plan_of, help_desk):
    folder = run(help_desk)
    with pytest.raises(
        DataError, match=r"with other settings: settings\.seed was None and is now 5"
    ):
        resumed(plan_of(help_desk, seed=5), folder, Oracle(help_desk))
    # How hard it pushes may change.
    assert resumed(plan_of(help_desk, concurrency=1), folder, Oracle(help_desk)) == []
