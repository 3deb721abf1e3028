"""Natural-language assertions of tasks, compiled to checks on calls and texts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from extensions.tau.simulations import Simulation

DATA = Path(__file__).with_name("statements.json")
"""Checks of assertions. The assertions themselves are not shipped; each key is the start of an
assertion's SHA-256 sum."""


def key_of(text: str) -> str:
    """Return the key of an assertion."""
    return sha256(text.strip().encode()).hexdigest()[:16]


def decide(text: str, simulation: Simulation) -> bool | None:
    """Return whether an assertion is true; None if it has no check."""
    check = _checks().get(key_of(text))
    if check is None:
        return None
    if "said" in check:
        said = " ".join(simulation.agent_texts)
        return all(_is_in(value, said) for value in check["said"])
    found = any(
        made.name in check["functions"]
        and not result.failed
        and all(_is_in(value, json.dumps(made.arguments).lower()) for value in check["values"])
        for made, result in simulation.exchanges()
    )
    return bool(found == check["called"])


def _is_in(value: str, text: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(value.lower())}(?!\w|\.\d*[1-9])", text) is not None


@cache
def _checks() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    return found
