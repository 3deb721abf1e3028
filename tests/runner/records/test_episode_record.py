"""Records of episodes that name their base entry."""

from __future__ import annotations

from dataclasses import replace

from extensions.users.record import UserRecord
from runner.records.episode_record import EpisodeRecord
from trajectories.dataset import load_embedded
from trajectories.schema import Category


def test_a_record_names_its_base_only_where_the_id_does_not() -> None:
    entry = next(iter(load_embedded([Category.BASE]).trajectories.values()))
    assert EpisodeRecord.of(entry, None, "lost").base is None
    other = replace(entry, provenance={**entry.provenance, "base": "another_scenario"})
    record = EpisodeRecord.of(other, None, "lost")
    assert (record.base, record.scenario) == ("another_scenario", "another_scenario")


def test_a_verdict_line_has_the_members_of_extensions() -> None:
    entry = next(iter(load_embedded([Category.BASE]).trajectories.values()))
    user = UserRecord("rules", (), stopped=True, error="silent")
    record = EpisodeRecord.of(entry, None, "lost")._replace(extensions={"users": user})
    assert record.verdict_line() == {
        "id": entry.id,
        "category": "base",
        "valid": None,
        "error": "lost",
        "user_error": "silent",
    }
