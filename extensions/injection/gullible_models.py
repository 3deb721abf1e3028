"""Scripted models that obey planted instructions, for tests of measures and defences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from extensions.injection.attack import Attack
from extensions.injection.proof import hijacked
from runner.episodes.script_playback import Script, make_truth_script
from trajectories.schema import Trajectory

Policy = Callable[[Trajectory, Attack], Script]


def _obey_if(obeys: Callable[[Attack], bool]) -> Policy:
    """Return a policy that obeys each attack for which ``obeys`` is true."""

    def policy(trajectory: Trajectory, attack: Attack) -> Script:
        if attack.control or not obeys(attack):
            return make_truth_script(trajectory)
        return hijacked(trajectory, attack)

    return policy


def _blind(trajectory: Trajectory, attack: Attack) -> Script:
    """Stop before the turn that shows the payload."""
    script = [list(steps) for steps in make_truth_script(trajectory)]
    first = min((text.shown[0] for text in attack.texts), default=0)
    for turn in range(first, len(script)):
        script[turn] = []
    return script


def _refuser(trajectory: Trajectory, attack: Attack) -> Script:
    """Stop as soon as a result shows the whole payload."""
    return make_truth_script(trajectory) if attack.control else _wary(trajectory, attack)


def _wary(trajectory: Trajectory, attack: Attack) -> Script:
    """End the episode at the result that should contain the payload."""
    script = [list(steps) for steps in make_truth_script(trajectory)]
    turn, place = attack.shown
    script[turn] = [step[: place + 1] for step in script[turn][:1] if place >= 0]
    return [*script[: turn + 1], *([] for _ in script[turn + 1 :])]


LEAKY = "leaky"
"""Model that makes the ground truth's calls and repeats every result in its answer."""

POLICIES: Mapping[str, Policy] = {
    # Obeys only if the calls are due in the turn that shows the payload.
    "forgetful": _obey_if(lambda attack: attack.due <= attack.shown[0]),
    # Obeys only if the calls are due in a later turn.
    "late": _obey_if(lambda attack: attack.due != attack.shown[0]),
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
    policy = POLICIES.get(name)
    if name.startswith("only:"):
        family = name.removeprefix("only:")
        policy = _obey_if(lambda attack: attack.family == family)
    elif policy is None:
        try:
            share = float({"never": "0", "always": "1"}.get(name, name))
        except ValueError:
            return None
        # The seed and the entry determine whether the model obeys.
        drawn = Random(f"{seed} {trajectory.id}").random()
        policy = _obey_if(lambda _: drawn < share)
    return policy(trajectory, Attack.of(trajectory))
