"""Fingerprint of an entry: a hash of its requests and expectations."""

from __future__ import annotations

import json
from hashlib import sha256

from trajectories.schema import ExpectedCalls, Trajectory


def fingerprint(trajectory: Trajectory) -> str:
    """Return the fingerprint of an entry: 16 hex digits."""
    turns = [
        [[(m.role, m.content) for m in turn.messages], turn.ground_truth, turn.offers]
        for turn in trajectory.turns
    ]
    expects = trajectory.expects
    compared = [expects.functions, expects.answers] if isinstance(expects, ExpectedCalls) else None
    said = json.dumps([turns, trajectory.config, compared], sort_keys=True)
    return sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]
