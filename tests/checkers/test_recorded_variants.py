"""Verdicts on changed ground truths of the built-in data, compared with recorded ones.

``python -m tests.checkers.test_recorded_variants`` judges the same changes anew and writes the
verdicts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checkers.profile import STRICT
from checkers.reasons import Reason
from checkers.verdict import Failure
from envs.calls import Call, parse_call
from runner.episodes.judging import kind_of
from tests.recorded_tables import read_rows, write_rows
from trajectories.dataset import load_embedded
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Category

RECORDED = Path(__file__).parents[1] / "golden" / "variants.jsonl"
"""One verdict a line: the entry, the changed turns, and the verdict."""
ENTRIES = (
    "base_files_band_setlist",
    "base_math_seismology_homework",
    "base_trading_message_siblings_fund",
    "base_travel_twitter_city_hopper",
    "base_vehicle_ticket_rental_returns",
    "base_expert_vehicle_ticket_carpool_keeper",
    "miss_param_math_message_split_bill",
    "miss_param_trading_message_club_treasurer",
    "miss_param_travel_twin_sisters",
    "miss_param_vehicle_ticket_pool_car_return",
    "miss_func_files_travel_museum_courier",
    "miss_func_ticket_message_trading_vet_desk",
    "miss_func_travel_message_coin_collector",
    "miss_func_twitter_vehicle_storm_chaser",
    "long_context_files_ticket_stage_props",
    "long_context_trading_vehicle_tractor_haulier",
    "long_context_vehicle_driving_lesson",
    "composite_files_math_lab_measurements",
    "composite_ticket_math_answer_times",
    "composite_twitter_gallery_opening_day",
)
Turns = list[list[Call]]


def list_variants(turns: Turns) -> Iterator[tuple[str, Turns]]:
    """Yield each name of a change with the changed turns: one change of each kind in each turn."""
    for turn, calls in enumerate(turns):
        place = len(calls) * 2 // 3
        if not calls:
            continue
        call, rest = calls[place], calls[:place] + calls[place + 1 :]
        changes = {"leave out": rest, "repeat": [*calls, call], "reverse": calls[::-1]}
        for name, value in call.kwargs.items():
            if isinstance(value, (int, float, str)) and not isinstance(value, bool):
                other = call._replace(kwargs={**call.kwargs, name: value + value})
                changes |= {"change": [*calls[:place], other, *calls[place + 1 :]]}
                changes |= {"try": [*calls[:place], other, *calls[place:]]}
        for name, changed in changes.items():
            yield f"{name} {turn}.{place}", [*turns[:turn], changed, *turns[turn + 1 :]]
        for name, step in (("early", -1), ("late", 1)):
            if 0 <= turn + step < len(turns):
                moved = [*turns]
                moved[turn], moved[turn + step] = rest, [*turns[turn + step], call]
                yield f"{name} {turn}.{place}", moved


def judge_variants() -> Iterator[list[Any]]:
    """Yield the verdict on each variant."""
    data = load_embedded([*Category])
    for trajectory in map(data.trajectories.__getitem__, ENTRIES):
        turns = [[parse_call(text) for text in turn.ground_truth] for turn in trajectory.turns]
        prepared, kind = prepare(data, trajectory, STRICT), kind_of(trajectory)
        for name, variant in list_variants(turns):
            script = [[calls] if calls else [] for calls in variant]
            verdict: Any = kind.judge_script(prepared, script, STRICT).verdict
            failure = verdict.failure or Failure(Reason.NO_ANSWER)
            seen = [*failure.unseen[:3], *(each.path for each in failure.differences[:3])]
            seen += failure.calls.lines() if failure.calls else ()
            counted = [verdict.turns_passed, *verdict.selected, *verdict.hallucinated]
            found = [verdict.error_type, verdict.failed_turn, *verdict.irreversible, *counted]
            yield [f"{trajectory.id} {name}", *found, *(each[:100] for each in seen)]


def test_every_verdict_on_a_changed_ground_truth_is_the_recorded_one() -> None:
    assert [json.loads(json.dumps(each)) for each in judge_variants()] == read_rows(RECORDED)


if __name__ == "__main__":
    write_rows(RECORDED, judge_variants())
