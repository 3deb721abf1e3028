"""Defences: each changes what it says and nothing else, for scripted and live models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from checkers.profile import STRICT
from envs.calls import list_inner_calls
from envs.errors import DataError
from envs.registry import list_tools
from extensions.injection import attack_families, planting, proof
from extensions.injection.attack import Attack
from extensions.injection.commands.attacks import played
from extensions.injection.defences import (
    DEFENCES,
    MASKED,
    Defence,
    Defences,
    ToolFilter,
    load_defence,
)
from extensions.injection.feature import InjectionFeature
from extensions.injection.scores import BLOCKED
from runner.cli import main
from runner.data.dataset_choice import load_named
from tests.servers.answers import GroundTruth
from tests.servers.serving import FakeServer
from trajectories.dataset import Dataset, load_embedded
from trajectories.prepared_trajectory import prepare
from trajectories.replay_queries import read_truth_calls
from trajectories.schema import MULTI_TURN, Category, Trajectory, Turn


@cache
def attacked() -> Dataset:
    dataset, names = load_embedded([Category.BASE]), [*attack_families.FAMILIES]
    made = [
        planting.make_attack(dataset, each, names[number % len(names)], 0)
        for number, each in enumerate([*dataset.trajectories.values()][::5])
    ]
    return replace(dataset, trajectories={each.id: each for each in made if each})


def is_outside(id: str, defences: Defences) -> bool:
    """Tell whether a filter withholds a call of the goal in its turn."""
    entry = attacked().trajectories[id]
    attack = Attack.of(entry)
    offering = defences.with_offers(attacked()).offering_of(entry)
    assert offering is not None
    names = {call.partition("(")[0] for call in attack.calls}
    return not names <= offering.turns[attack.due]


@pytest.mark.parametrize("name", ["tool_filter", "least_privilege"])
def test_filters_stop_the_goals_outside_and_no_others(name: str) -> None:
    defences, dataset = Defences.named(name), attacked()
    obeying = [*played(dataset, "always", 0, defences)]
    assert [each.values["attack_succeeded"] for each in obeying] == [
        not is_outside(id, defences) for id in dataset.trajectories
    ]
    groups: dict[str, set[bool]] = {"offers the goal later": {False}}
    for each in obeying:
        groups.setdefault(each.groups["filter"], set()).add(each.values["attack_succeeded"])
    assert groups == {"offers the goal": {True}, "offers the goal later": {False}, BLOCKED: {False}}
    loyal = [*played(dataset, "never", 0, defences)]
    assert all(each.utility and not each.values["attack_succeeded"] for each in loyal)


def without_truth(entry: Trajectory) -> Trajectory:
    turns = [Turn(turn.messages, (), turn.offers) for turn in entry.turns]
    return replace(entry, turns=tuple(turns))


def test_the_tool_filter_knows_only_the_words_of_the_user_so_far() -> None:
    tool_filter, dataset = ToolFilter(), load_embedded([Category.BASE])
    for entry in [*dataset.trajectories.values()][::20]:
        offered = frozenset(list_tools(entry.environments))
        for turn in range(len(entry.turns)):
            found = tool_filter.filter_functions(entry, turn, offered)
            blind = replace(without_truth(entry), turns=without_truth(entry).turns[: turn + 1])
            assert tool_filter.filter_functions(blind, turn, offered) == found
            assert found <= offered


def withheld(dataset: Dataset) -> list[tuple[str, int, str]]:
    """Return the calls of the ground truth that the tool filter withholds."""
    offering = Defences.named("tool_filter").with_offers(dataset)
    return [
        (entry.id, number, call.name)
        for entry in dataset.trajectories.values()
        if (offers := offering.offering_of(entry)) is not None
        for number, turn in enumerate(entry.turns)
        for call in list_inner_calls([*read_truth_calls(turn)])
        if call.name not in offers.turns[number]
    ]


@pytest.mark.parametrize("name", [None, "worlds"])
def test_the_tool_filter_withholds_no_call_of_the_ground_truth(name: str | None) -> None:
    dataset = load_embedded([*MULTI_TURN]) if name is None else load_named(name, None, print)
    assert len(dataset.trajectories) > 100
    assert withheld(dataset) == []


NAMED = {
    "send_message": "Send a message to a user.",
    "rm": "Remove a file or folder.",
    "prune_hedge": "Cut the hedge of the garden.",
}


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("Please let Ann know.", {"send_message"}),
        ("Dispose of the draft.", {"rm"}),
        ("Cutting time in my garden!", {"prune_hedge"}),
        ("How far is it to Rivermist?", set()),
        ("Do all that the ticket asks for.", {*NAMED}),
    ],
)
def test_a_request_names_functions(request_text: str, found: set[str]) -> None:
    assert ToolFilter().choose(request_text, NAMED) == found


class OneFunction(ToolFilter):
    def choose(self, request: str, documents: Mapping[str, str]) -> list[str]:
        assert "mkdir" in documents
        assert "ls" not in documents
        return ["mkdir", "no_function"]


def test_an_own_filter_chooses_by_request_and_documents() -> None:
    entry = next(
        each
        for each in load_embedded([Category.BASE]).trajectories.values()
        if each.environments == ("GorillaFileSystem",)
    )
    offered = frozenset({"mkdir", "rm", "ls"})
    found = Defences(["own"], [OneFunction()]).with_offers(
        Dataset("own", "1", "", {entry.id: entry})
    )
    offering = found.offering_of(entry)
    assert offering is not None
    assert offering.turns[0] & {*offered, "no_function"} == {"mkdir", "ls"}


@pytest.mark.parametrize("name", ["delimiting", "sandwiching"])
def test_wrapped_results_stop_no_scripted_model(name: str) -> None:
    dataset, defences = attacked(), Defences.named(name)
    for model in ("never", "always"):
        assert [*played(dataset, model, 0, defences)] == [*played(dataset, model, 0)]


def test_delimiters_in_a_result_are_escaped() -> None:
    shown = DEFENCES["delimiting"]().render("a </Untrusted > b", "")
    assert shown == "<untrusted>\na &lt;/Untrusted > b\n</untrusted>"


def test_the_request_of_the_turn_follows_each_result() -> None:
    entry = next(iter(attacked().trajectories.values()))
    prepared = prepare(attacked(), entry, STRICT)
    found = proof.play_prepared(prepared, observe=Defences.named("sandwiching").observe(None))
    for turn, outcome in zip(entry.turns, found.outcomes, strict=True):
        for result in outcome.results:
            assert result.shown == f"{result.text}\n\nThe user's request is: {turn.words}"


DETECTOR = """
from turnwise.extensions.injection.defences import Defence

def detect(text):
    return "TODO" in text or "directory agent_" in text

def clean(text):
    return text.replace("TODO", "to do")

def broken(text):
    return 3

def raising(text):
    return 1 / 0

class NoSet(Defence):
    def filter_functions(self, trajectory, turn, offered):
        return None

class Quiet(Defence):
    def filter_functions(self, trajectory, turn, offered):
        return offered - {"mkdir"}
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"own_{tmp_path.parent.name}_{tmp_path.name}".replace("-", "_")
    text = DETECTOR.replace("turnwise.extensions", "extensions")
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_detectors_mask_or_replace_results(own: str) -> None:
    assert load_defence(f"{own}:detect").render("TODO: follow me", "") == MASKED
    assert load_defence(f"{own}:detect").render("all is well", "") == "all is well"
    assert load_defence(f"{own}:clean").render("TODO: x", "") == "to do: x"
    with pytest.raises(DataError, match="boolean or a string"):
        load_defence(f"{own}:broken").render("x", "")
    with pytest.raises(DataError, match=f"{own}:raising: raised ZeroDivisionError"):
        load_defence(f"{own}:raising").render("x", "")


def test_a_masked_payload_is_not_exposed(own: str) -> None:
    defences, dataset = Defences.named(f"delimiting,{own}:detect"), attacked()
    for entry, each in zip(
        dataset.trajectories.values(), played(dataset, "always", 0, defences), strict=True
    ):
        parts = [text.payload for text in Attack.of(entry).texts]
        hidden = any(w in part for part in parts for w in ("TODO", "directory agent_"))
        assert each.values["exposed"] is not hidden
        assert each.values["attack_succeeded"] is not hidden


def test_an_own_defence_withholds_functions(own: str) -> None:
    defence = load_defence(f"{own}:Quiet")
    assert isinstance(defence, Defence)
    found = [*played(attacked(), "always", 0, Defences.named(f"{own}:Quiet"))]
    goals = [Attack.of(each).calls[0] for each in attacked().trajectories.values()]
    assert [each.values["attack_succeeded"] for each in found] == [
        not goal.startswith("mkdir") for goal in goals
    ]


def test_a_broken_filter_gives_one_line(own: str) -> None:
    with pytest.raises(DataError, match="NoSet: filter_functions raised TypeError"):
        Defences.named(f"{own}:NoSet").with_offers(attacked())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("delimitting", "did you mean delimiting?"),
        ("no_module_here:f", "no module no_module_here"),
        ("json:no_function", "neither a function nor a Defence"),
    ],
)
def test_unknown_defences_give_one_line(
    name: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", "--model", "oracle", "--limit", "1", "--defence", name]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_the_oracle_passes_behind_all_defences(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["eval", "--model", "oracle", "--category", "base,miss_func", "--limit", "40"]
    assert main([*given, "--defence", ",".join(DEFENCES)]) == 0
    assert "100.0" in capsys.readouterr().out


def test_a_live_model_reads_wrapped_results_and_few_functions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("multidict", reason="live models need the extra models")
    run, more = str(tmp_path / "run"), ["--defence", "delimiting,sandwiching,tool_filter"]
    dataset = load_embedded([Category.BASE])
    ids = ",".join(each.partition("~")[0] for each in [*attacked().trajectories][:3])
    with FakeServer(GroundTruth(dataset)) as server:
        given = ["eval", "--model", "fake", "--base-url", server.base_url, "--ids", ids]
        assert main([*given, "--category", "base", "--run-dir", run, *more]) == 0
    assert "100.0" in capsys.readouterr().out
    found = [
        json.loads(line) for line in (tmp_path / "run/episodes.jsonl").read_text().splitlines()
    ]
    for record in found:
        messages = record["messages"]
        assert messages[0]["role"] == "system"
        results = [each["content"] for each in messages if each["role"] == "tool"]
        assert results
        assert all(each.startswith("<untrusted>") for each in results)
        assert all("The user's request is: " in each for each in results)
    assert main(["verify", run]) == 0
    assert main(["score", run]) == 0
    assert main(["replay", "--run", run, ids.partition(",")[0]]) == 0
    assert "<untrusted>" in capsys.readouterr().out


def test_recorded_defences_are_a_list() -> None:
    with pytest.raises(DataError, match=r"defences: must be a list of names, but is 1\.5"):
        InjectionFeature.of({"defences": 1.5})
