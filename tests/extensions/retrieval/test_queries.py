"""Queries: of trajectories, files and runs; parts that share nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from envs.errors import DataError
from extensions.retrieval.corpus import load_full_corpus, own_corpus
from extensions.retrieval.queries import Query, SplitKind, load_queries, match_queries, parts


def queries_of(name: str) -> list[Query]:
    return match_queries(load_full_corpus(), load_queries(name, None, print))[0]


def test_a_query_is_what_the_user_says_in_a_turn_and_what_it_needs() -> None:
    queries = {query.id: query for query in queries_of("exec")}
    leap = queries["exec_multiple_leap#0"]
    assert leap.words == "Is 2100 a leap year?"
    assert leap.relevant == {("is_leap_year", ("year",))}
    assert len(queries) >= 98


def test_turns_in_which_nothing_is_called_are_no_queries() -> None:
    assert all(query.relevant and query.words.strip() for query in queries_of("own"))


@pytest.mark.parametrize("unseen", SplitKind)
def test_parts_share_nothing(unseen: SplitKind) -> None:
    queries, corpus = queries_of("own"), load_full_corpus()
    homes = {each.signature: each for each in corpus.functions}

    def keys(query: Query) -> set[str]:
        if unseen is SplitKind.INSTRUCTION:
            return {query.scenario}
        owners = [homes[signature] for signature in query.relevant]
        return {o.backend if unseen is SplitKind.TOOL else o.group for o in owners}

    held: list[str] = []
    for fold in range(3):
        [(training, out)] = parts([(queries, corpus)], unseen, fold=fold, folds=3, seed=0)
        assert training
        assert out
        seen = {key for query in training for key in keys(query)}
        assert seen.isdisjoint(key for query in out for key in keys(query))
        held += [query.id for query in out]
    assert len(held) == len(set(held))
    if unseen is SplitKind.INSTRUCTION:
        assert len(held) == len(queries)
    again = [parts([(queries, corpus)], unseen, fold=0, folds=3, seed=0) for _ in range(2)]
    assert again[0] == again[1]


@pytest.mark.parametrize("unseen", SplitKind)
def test_what_one_set_holds_out_no_other_trains_with(unseen: SplitKind) -> None:
    own, more = queries_of("own"), queries_of("exec")
    sets = [(own, load_full_corpus()), (more, load_full_corpus())]
    found = parts(sets, unseen, fold=0, folds=3, seed=0)
    whole = parts([([*own, *more], load_full_corpus())], unseen, fold=0, folds=3, seed=0)
    assert {q.id for part in found for q in part.training} == {q.id for q in whole[0].training}
    assert {q.id for part in found for q in part.held_out} == {q.id for q in whole[0].held_out}


def test_a_fold_that_there_is_not_is_refused() -> None:
    queries = queries_of("exec")
    with pytest.raises(DataError, match="has the number 2; 3 is too large"):
        parts([(queries, load_full_corpus())], SplitKind.INSTRUCTION, fold=3, folds=3, seed=0)
    with pytest.raises(DataError, match="no query can be held out"):
        parts([(queries[:1], load_full_corpus())], SplitKind.TOOL, fold=0, folds=3, seed=0)


def written(path: Path, *values: Any) -> str:
    path.write_text("\n".join(map(json.dumps, values)), encoding="utf-8")
    return str(path)


def test_queries_of_a_file(tmp_path: Path) -> None:
    name = written(
        tmp_path / "q.jsonl",
        {"query": "Lock up.", "relevant": ["lockDoors"], "scenario": "car"},
        {"query": "Dance.", "relevant": ["dance"]},
    )
    queries, notes = match_queries(
        own_corpus(["VehicleControlAPI"]), load_queries(name, None, print)
    )
    assert [(query.id, query.scenario) for query in queries] == [("1", "car")]
    assert notes == ["1 queries are omitted: their functions are missing in own"]


@pytest.mark.parametrize(
    "value", [{"query": "x"}, {"query": "x", "relevant": []}, {"query": "x", "relevant": [3]}]
)
def test_a_line_that_is_no_query_is_refused(tmp_path: Path, value: object) -> None:
    with pytest.raises(DataError, match=r"q\.jsonl:1: "):
        load_queries(written(tmp_path / "q.jsonl", value), None, print)


def test_what_holds_no_queries_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="use a run folder, a file or one of own, exec"):
        load_queries("owm", None, print)
    with pytest.raises(DataError, match="contains no turn"):
        load_queries(written(tmp_path / "q.jsonl"), None, print)
