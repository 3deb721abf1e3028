"""The models that need no server, on entries of every kind."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from checkers.profile import BFCL, STRICT
from envs.errors import DataError
from runner.episodes.judging import evaluate
from runner.episodes.offline import judge_truth, run_null, run_oracle, run_scripted
from runner.episodes.script_playback import make_truth_script
from runner.episodes.single_turn import oracle_step
from trajectories.dataset import Dataset, load_embedded
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Category

each_profile = pytest.mark.parametrize("profile", [BFCL, STRICT], ids=lambda p: p.name)


@each_profile
@pytest.mark.parametrize(
    ("category", "idle"),
    [
        (Category.BASE, False),
        (Category.PARALLEL, False),
        (Category.LIVE_RELEVANCE, False),
        (Category.IRRELEVANCE, True),
        (Category.CHAT, True),
    ],
)
def test_the_oracle_passes_and_null_only_where_nothing_is_to_be_done(profile, category, idle):
    dataset = load_embedded([category])
    some = list(dataset.trajectories.values())[:5]
    for run, right in ((run_oracle, True), (run_null, idle)):
        judged = evaluate(dataset, some, profile, lambda p, run=run: run(p, profile))
        assert [each.verdict.valid for each in judged] == [right] * 5


def test_a_missing_grammar_is_one_line(single_turn, without_grammars):
    document = {
        "name": "f",
        "description": "",
        "parameters": {"properties": {"n": {"type": "long"}}, "required": ["n"]},
    }
    entry = single_turn("java", document, {"f": {"n": [5]}})
    with pytest.raises(DataError, match=f"^{re.escape(without_grammars)}$"):
        oracle_step(entry, STRICT)


def test_an_entry_of_the_reference_that_contradicts_itself_is_an_error_of_its_own(help_desk):
    odd = replace(help_desk, id="odd", excluded=("no_such_function",))
    data = Dataset("bfcl", "1", "", {t.id: t for t in (odd, help_desk)}, tolerant=True)
    first, second = evaluate(data, [odd, help_desk], BFCL, lambda p: run_oracle(p, BFCL))
    assert (first.verdict, first.error) == (
        None,
        "holds out unknown functions: no_such_function",
    )
    assert second.verdict.valid


def test_scripted_models_have_seed_0_and_judging_keeps_a_trace_on_request(help_desk, dataset_of):
    class Scripted:
        def script(self, prepared, seed):
            seeds.append(seed)
            return make_truth_script(prepared.trajectory)

    seeds = []
    prepared = prepare(dataset_of(help_desk), help_desk, STRICT)
    assert run_scripted(prepared, Scripted(), STRICT).valid
    assert run_scripted(prepared, Scripted(), STRICT, seed=7).valid
    assert seeds == [0, 7]
    assert judge_truth(prepared, STRICT).trace is None
    traced = judge_truth(prepared, STRICT, traced=True)
    assert traced.trace is not None
    assert len(traced.trace.turns) == len(help_desk.turns)
    assert not run_scripted(prepared, Scripted(), STRICT, 0).valid
