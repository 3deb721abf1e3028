"""Who has to call is asked what allows that, and is offered what it has to call."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from checkers.profile import STRICT
from envs.errors import DataError
from extensions.experiments.axes import Levels
from extensions.experiments.feature import VaryFeature
from extensions.experiments.function_counts import list_needed_functions
from runner.data import dataset_choice
from runner.live.forced_calls import check_forced
from runner.live.live_run import RunInputs
from runner.live.run_settings import Settings
from runner.models.model_name import parse_model_name
from runner.models.prompting import read_prompts
from trajectories.dataset import Dataset
from trajectories.schema import Trajectory


@cache
def data() -> Dataset:
    return dataset_choice.load_named(None, "base,simple_python,multiple", lambda _: None)


def entries() -> list[Trajectory]:
    return [*data().trajectories.values()]


def single() -> list[Trajectory]:
    return [each for each in entries() if each.category != "base"]


def name() -> str:
    return list_needed_functions(single()[0])[0]


def plan(choice: str | None, model: str = "fake") -> RunInputs:
    settings = Settings(base_url="http://x/v1", tool_choice=choice)
    return RunInputs(parse_model_name(model), data(), STRICT, 20, settings, read_prompts())


@pytest.mark.parametrize("choice", [None, "auto", "none"])
def test_who_may_call_is_asked_anything(choice: str | None) -> None:
    check_forced(plan(choice), entries())


def test_who_must_call_is_asked_for_one_answer() -> None:
    check_forced(plan("required"), single())
    with pytest.raises(DataError, match="required is for single-turn entries, but base"):
        check_forced(plan("required"), entries())


def test_what_must_be_called_is_offered_by_every_entry() -> None:
    check_forced(plan(name()), single()[:1])
    check_forced(plan(name().replace(".", "_")), single()[:1])
    with pytest.raises(DataError, match=f"{name()}: .* does not offer this"):
        check_forced(plan(name()), single())
    with pytest.raises(DataError, match="is not auto, none, required or the name of a function"):
        check_forced(plan("no_such_function"), single())


def test_a_function_under_another_name_cannot_be_named() -> None:
    codes = Levels({"names": "codes"})
    with pytest.raises(DataError, match="does not offer this function"):
        check_forced(plan(name()).with_feature(VaryFeature(codes)), single()[:1])


def test_what_is_retrieved_may_lack_it() -> None:
    narrowed = replace(data(), offering={})
    with pytest.raises(DataError, match="--retrieve can leave out"):
        check_forced(plan(name())._replace(dataset=narrowed), single()[:1])


def test_a_provider_that_is_not_told_is_named() -> None:
    settings = Settings(tool_choice="required")
    with pytest.raises(DataError, match="litellm does not send required to cohere/command-r"):
        check_forced(plan("required", "cohere/command-r")._replace(settings=settings), single())
