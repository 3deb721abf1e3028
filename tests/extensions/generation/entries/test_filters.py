"""Each fault that is put into an answer is caught by its own filter, and by no earlier one."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from envs.errors import DataError
from extensions.generation.entries.filters import FilterChain, InstructionFilter, RefusedInstruction
from extensions.generation.entries.tasks import WritingTask
from extensions.generation.scripted import ScriptedWriter, WriterErrorRates
from runner.models.model_name import ScriptedName
from tests.extensions.generation.entries.drawing import GRAPH, drawn, own


@cache
def tasks() -> tuple[WritingTask, ...]:
    return *drawn(8), *drawn(8, seed=1)


@cache
def own_sieve() -> FilterChain:
    return FilterChain(own())


def writer(share: float, only: InstructionFilter | None = None) -> ScriptedWriter:
    return ScriptedWriter(GRAPH, WriterErrorRates(share, only), 0, own())


each_part = pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
"""A few tasks in the quick part, and all of them in the slow one."""


@each_part
@pytest.mark.parametrize("fault", InstructionFilter)
def test_a_fault_is_caught_by_its_filter(fault: InstructionFilter, every: int) -> None:
    made = 0
    some = tasks()[::every]
    for task in some:
        if writer(1, fault).fault(task) is None:
            continue
        made += 1
        with pytest.raises(RefusedInstruction) as caught:
            own_sieve().passed(task, writer(1, fault).answer(task, 0))
        assert (caught.value.by, task.key) == (fault, task.key), str(caught.value)
    # Some tasks tell nothing but numbers, or show nothing that would be told in advance.
    some_do = fault in (InstructionFilter.VALUES, InstructionFilter.ECHO) and made >= 10 // every
    assert made == len(some) or some_do


@each_part
def test_plain_words_pass(every: int) -> None:
    for task in tasks()[::every]:
        written = own_sieve().passed(task, writer(0).answer(task, 0))
        assert len(written.turns) == len(task.bare.turns), task.key


@each_part
def test_the_second_answer_has_no_fault(every: int) -> None:
    for task in tasks()[::every]:
        own_sieve().passed(task, writer(1).answer(task, 1))


def test_so_many_answers_have_a_fault_as_was_asked_for() -> None:
    faults = Counter(writer(0.5).fault(task) for task in tasks())
    assert 12 <= faults[None] <= 36
    assert len(faults) >= 6


def test_what_the_output_has_asked_is_not_asked_again() -> None:
    sieve = FilterChain(())
    words = writer(0).answer(tasks()[0], 0)
    said = sieve.passed(tasks()[0], words).words
    sieve.take("first", said)
    with pytest.raises(
        RefusedInstruction, match="turn 0 asks the same question as first"
    ) as caught:
        sieve.take("second", said)
    assert caught.value.by is InstructionFilter.DUPLICATE


def test_what_was_shown_before_may_be_named_later() -> None:
    task = next(t for t in tasks() if writer(1, InstructionFilter.ECHO).fault(t) is not None)
    plain = json.loads(writer(0).answer(task, 0))
    faulty = json.loads(writer(1, InstructionFilter.ECHO).answer(task, 0))
    changed = [
        a["words"] != b["words"] for a, b in zip(plain["turns"], faulty["turns"], strict=True)
    ]
    place = changed.index(True)
    if place + 1 < len(plain["turns"]):
        more = faulty["turns"][place]["words"].removeprefix(plain["turns"][place]["words"])
        plain["turns"][place + 1]["words"] += more
        own_sieve().passed(task, json.dumps(plain))


def test_who_is_shown_no_calls_is_not_measured_by_them() -> None:
    told = next(t for t in tasks() if writer(1, InstructionFilter.VALUES).fault(t) is not None)
    task = replace(told, origin="functions")
    plain = json.loads(writer(0).answer(told, 0))
    for turn in plain["turns"]:
        turn["words"] = (
            "Could you please see to this matter for me as soon as you have the time for it, "
            f"and tell me what you have found out about it, number {plain['turns'].index(turn)}?"
        )
    own_sieve().passed(task, json.dumps(plain))
    with pytest.raises(RefusedInstruction):
        own_sieve().passed(told, json.dumps(plain))


@pytest.mark.parametrize("name", ["scripted:2", "scripted:x", "scripted:1,only=", "scripted:1,all"])
def test_a_writer_of_no_such_name_is_refused(name: str) -> None:
    with pytest.raises(DataError, match="--model"):
        WriterErrorRates.named(ScriptedName(name))


def test_a_writer_is_named_by_its_share_and_its_one_fault() -> None:
    assert WriterErrorRates.named(ScriptedName("scripted:0.25")) == WriterErrorRates(0.25)
    assert WriterErrorRates.named(ScriptedName("scripted:1,only=echo")) == WriterErrorRates(
        1, InstructionFilter.ECHO
    )
