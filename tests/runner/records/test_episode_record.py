"""Records of episodes that name their base entry."""

from __future__ import annotations

from dataclasses import replace

from runner.records.episode_record import EpisodeRecord
from trajectories.dataset import load_embedded
from trajectories.schema import Category


def test_a_record_names_its_base_only_where_the_id_does_not() -> None:
    entry = next(iter(load_embedded([Category.BASE]).trajectories.values()))
    assert EpisodeRecord.of(entry, None, "lost").base is None
    other = replace(entry, provenance={**entry.provenance, "base": "another_scenario"})
    record = EpisodeRecord.of(other, None, "lost")
    assert (record.base, record.scenario) == ("another_scenario", "another_scenario")
