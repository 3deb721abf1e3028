"""Detection of a recorded run's data version. Only prompts and attack goals are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from extensions.injection.dojo import agentdojo_package, verdicts


class DataVersionClues(NamedTuple):
    """Texts of an episode that identify the version of AgentDojo's data."""

    suite: str
    user_task: str
    injection_task: str | None
    attack: str | None
    prompt: str | None
    """The first user message; None if no message was recorded."""
    injections: Mapping[str, str]


@cache
def _versions_by_text(suite: str, task: str) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for version in agentdojo_package.VERSIONS:
        try:
            text = verdicts.text_of(verdicts.definition(suite, version, task))
        except KeyError:
            continue
        found.setdefault(text, set()).add(version)
    return {text: frozenset(versions) for text, versions in found.items()}


@cache
def _having(suite: str, task: str) -> frozenset[str]:
    return frozenset().union(*_versions_by_text(suite, task).values())


def candidates(texts: DataVersionClues) -> frozenset[str]:
    """Return the data versions that contain the episode's task, prompt and attack goal."""
    suite, injected = texts.suite, texts.injections.values()
    found = _having(suite, texts.user_task)
    if texts.prompt is not None:
        found = _versions_by_text(suite, texts.user_task).get(texts.prompt, frozenset())
    if texts.injection_task is None:
        return found
    goals = _versions_by_text(suite, texts.injection_task)
    has_goal = not (texts.attack or "").endswith("dos") and texts.injections
    if not has_goal:
        return found & frozenset().union(*goals.values())
    # A later goal may extend an earlier one, so the longest matching goal is the planted one.
    fitting = [goal for goal in goals if any(goal in text for text in injected)]
    return found & goals[max(fitting, key=len)] if fitting else frozenset()


def find_versions(episodes: Sequence[DataVersionClues]) -> list[str | None]:
    """Return the data version of each episode of a pipeline, or None if no version fits.

    If one version fits all episodes with the same suite and attack, these episodes get this
    version. If several versions fit, the earliest version is returned. Versions with the same texts
    can still judge an episode differently.
    """
    each = [candidates(texts) for texts in episodes]
    shared: dict[tuple[str, str | None], frozenset[str]] = {}
    for texts, found in zip(episodes, each, strict=True):
        group = texts.suite, texts.attack
        shared[group] = shared.get(group, found) & found
    return [
        _earliest(shared[texts.suite, texts.attack] or found)
        for texts, found in zip(episodes, each, strict=True)
    ]


def _earliest(versions: Iterable[str]) -> str | None:
    known = set(versions)
    return next((version for version in agentdojo_package.VERSIONS if version in known), None)
