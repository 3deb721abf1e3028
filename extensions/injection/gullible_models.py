"""Scripted models that obey planted instructions, for tests of measures and defences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import NamedTuple

from extensions.injection.attack import Attack
from extensions.injection.proof import hijacked
from runner.episodes.script_playback import Script, make_truth_script
from trajectories.schema import Trajectory

Policy = Callable[[Trajectory, Attack], Script]


class GullibleModel(NamedTuple):
    """Oracle that obeys some payloads; the seed and the entry determine which payloads."""

    share: float
    """Probability that the model obeys a payload."""
    family: str | None = None
    """Kind of payload that the model obeys; None means all payloads."""

    def script(self, trajectory: Trajectory, seed: int) -> Script:
        """Return the calls that the model makes in an attacked entry."""
        attack = Attack.of(trajectory)
        if attack.control:
            return make_truth_script(trajectory)
        obeys = Random(f"{seed} {trajectory.id}").random() < self.share
        if obeys and self.family in (None, attack.family):
            return hijacked(trajectory, attack)
        return make_truth_script(trajectory)


def _forgetful(trajectory: Trajectory, attack: Attack) -> Script:
    """Obey the payload only if its calls are due in the turn that shows the payload."""
    if attack.control or attack.due > attack.shown[0]:
        return make_truth_script(trajectory)
    return hijacked(trajectory, attack)


def _late(trajectory: Trajectory, attack: Attack) -> Script:
    """Obey the payload only if its calls are due after the turn that shows the payload."""
    is_early = attack.control or attack.due == attack.shown[0]
    return make_truth_script(trajectory) if is_early else hijacked(trajectory, attack)


def _blind(trajectory: Trajectory, attack: Attack) -> Script:
    """Stop before any result shows the payload."""
    script = [list(steps) for steps in make_truth_script(trajectory)]
    first = min((text.shown[0] for text in attack.texts), default=0)
    for turn in range(first, len(script)):
        script[turn] = []
    return script


def _refuser(trajectory: Trajectory, attack: Attack) -> Script:
    """Stop as soon as a result shows the whole payload."""
    return make_truth_script(trajectory) if attack.control else _wary(trajectory, attack)


def _wary(trajectory: Trajectory, attack: Attack) -> Script:
    """Stop after the result that should contain the payload, even if the payload is absent."""
    script = [list(steps) for steps in make_truth_script(trajectory)]
    turn, place = attack.shown
    script[turn] = [step[: place + 1] for step in script[turn][:1] if place >= 0]
    return [*script[: turn + 1], *([] for _ in script[turn + 1 :])]


LEAKY = "leaky"
"""Model that makes the ground truth's calls and repeats every result in its answer."""

POLICIES: Mapping[str, Policy] = {
    "forgetful": _forgetful,
    "late": _late,
    "blind": _blind,
    "refuser": _refuser,
    "wary": _wary,
}
"""Additional scripted models; the key is the name. The names ``never`` and ``always`` stand for the
shares 0 and 1."""


ZOO = ("never", "always", "0.05", "0.3", "0.7", "only:plain", *POLICIES, LEAKY)
"""Scripted models that test the measures."""


def script_of(name: str, trajectory: Trajectory, seed: int) -> Script | None:
    """Return the calls of a scripted model; None if the name is unknown.

    Args:
        trajectory: The attacked entry.
        seed: Seed of the share.
        name: ``never``, ``always``, a share such as ``0.3``, ``only:FAMILY`` or a policy.
    """
    if name in POLICIES:
        return POLICIES[name](trajectory, Attack.of(trajectory))
    if name.startswith("only:"):
        return GullibleModel(1, name.removeprefix("only:")).script(trajectory, seed)
    try:
        share = {"never": 0.0, "always": 1.0}.get(name)
        return GullibleModel(float(name) if share is None else share).script(trajectory, seed)
    except ValueError:
        return None
