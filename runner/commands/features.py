"""What extensions change in the runs of ``turnwise eval``, live or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from runner import extension
from runner.commands.eval_options import settings_in
from runner.commands.options import check_conflicts
from runner.extension import RunFeature
from runner.live.settings import Settings, known_keys, read_settings, read_toml
from runner.records.record import EpisodeRecord
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.schema import Trajectory


def settings_of(options: Any, command: str) -> Settings:
    """Return the settings of a command's options and file, with what extensions change.

    Args:
        options: Options that are open to extensions, with a file of settings among them.
        command: The command, such as ``eval``.

    Raises:
        DataError: An option or a file cannot be used.
    """
    given = {} if options.config is None else read_toml(options.config)
    others = given.keys() - {*known_keys()}
    theirs = dict(options.extensions)
    if others:
        theirs, others = _from_file(theirs, command, {key: given[key] for key in others}, options)
        check_conflicts([*theirs.values()])
    settings = read_settings(options.config, settings_in(options), others)
    return with_features(options, theirs, settings)


def with_features(options: Any, theirs: Mapping[str, Any], settings: Settings) -> Settings:
    """Return settings with what extensions change, given their options by their names."""
    for name, own in theirs.items():
        made = extension.named(name).features(options, own, settings)
        settings = replace(settings, features=(*settings.features, *made))
    return settings


def _from_file(
    theirs: Mapping[str, Any], command: str, given: Mapping[str, Any], options: Any
) -> tuple[dict[str, Any], set[str]]:
    """Return the options of extensions, with those in a file that no flag gave, and their keys.

    Raises:
        DataError: A value in the file is of the wrong type.
    """
    found, read = dict(theirs), set[str]()
    for name, each in extension.extensions().items():
        kind = each.options(command)
        for member in fields(kind) if kind else ():
            if member.name not in given:
                continue
            if not isinstance(given[member.name], str):
                raise DataError(f"{options.config}: {member.name}", "must be text")
            read.add(member.name)
            own: Any = found.setdefault(name, kind() if kind else None)
            if vars(own)[member.name] == member.default:
                found[name] = replace(own, **{member.name: given[member.name]})
    return found, read


def narrowed(
    features: Sequence[RunFeature], dataset: Dataset, ids: Sequence[str], folder: Path | None
) -> tuple[Dataset, list[RunFeature]]:
    """Return a data set whose entries offer what features choose, and the features for it.

    Args:
        features: What extensions change.
        dataset: The data.
        ids: The entries that are run.
        folder: BFCL's data folder, where the model is shown its documents; None for ours.

    Raises:
        DataError: What a feature needs is missing.
    """
    made = []
    for feature in features:
        dataset, found = feature.narrowed(dataset, ids, folder)
        made.append(found)
    return dataset, made


def feature_lines(
    features: Sequence[RunFeature],
    dataset: Dataset,
    asked: Sequence[Trajectory],
    records: Sequence[EpisodeRecord],
) -> Iterator[str]:
    """Yield what is printed of features below the score."""
    for feature in features:
        yield from feature.lines(dataset, [each.id for each in asked], records)
