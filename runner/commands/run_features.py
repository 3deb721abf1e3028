"""Options and output lines of the run features that extensions add."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from envs.errors import DataError
from runner import extension
from runner.commands.eval_options import given_settings
from runner.commands.options import FORMER, check_conflicts
from runner.extension import RunFeature
from runner.live.run_settings import Settings, known_keys, read_settings, read_toml
from runner.records.episode_record import EpisodeRecord
from trajectories.dataset import Dataset
from trajectories.schema import Trajectory


def settings_of(options: Any, command: str) -> Settings:
    """Return the settings in the options and the ``--config`` file of a command such as ``eval``.

    Raises DataError if an option or a file cannot be used.
    """
    given = {} if options.config is None else read_toml(options.config)
    others = given.keys() - {*known_keys()}
    theirs = dict(options.extensions)
    if others:
        unread = {key: value for key, value in given.items() if key in others}
        theirs, others = _read_file(theirs, command, unread, options)
        check_conflicts([*theirs.values()])
    settings = read_settings(options.config, given_settings(options), others)
    return add_features(options, theirs, settings)


def add_features(options: Any, theirs: Mapping[str, Any], settings: Settings) -> Settings:
    """Return ``settings`` with the run features that the options of extensions select."""
    for name, own in theirs.items():
        made = extension.load_extension(name).features(options, own, settings)
        settings = replace(settings, features=(*settings.features, *made))
    return settings


def _read_file(
    theirs: Mapping[str, Any], command: str, given: Mapping[str, Any], options: Any
) -> tuple[dict[str, Any], set[str]]:
    found, used = dict(theirs), set[str]()
    keys = {_current_key(key): key for key in given}
    for name, each in extension.load_extensions().items():
        kind = each.options(command)
        for member in fields(kind) if kind else ():
            if member.name not in keys:
                continue
            key = keys[member.name]
            if not isinstance(given[key], str):
                raise DataError(f"{options.config}: {key}", "must be a string in quotes")
            used.add(key)
            own: Any = found.setdefault(name, kind() if kind else None)
            if vars(own)[member.name] == member.default:
                found[name] = replace(own, **{member.name: given[key]})
    return found, used


def _current_key(key: str) -> str:
    flag = f"--{key.replace('_', '-')}"
    return FORMER.get(flag, flag)[2:].replace("-", "_")


def narrow_dataset(
    features: Sequence[RunFeature], dataset: Dataset, ids: Sequence[str], folder: Path | None
) -> tuple[Dataset, list[RunFeature]]:
    """Let each feature select the offered functions; return the new data set and features.

    Args:
        folder: BFCL's data folder if the model sees its function documents, else None.

    Raises:
        DataError: A feature cannot be used because a file or a library is missing.
    """
    found = []
    for feature in features:
        dataset, one = feature.narrowed(dataset, ids, folder)
        found.append(one)
    return dataset, found


def feature_lines(
    features: Sequence[RunFeature],
    dataset: Dataset,
    asked: Sequence[Trajectory],
    records: Sequence[EpisodeRecord],
) -> Iterator[str]:
    """Yield the lines that run features print after the score line."""
    for feature in features:
        yield from feature.lines(dataset, [each.id for each in asked], records)
