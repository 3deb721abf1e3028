"""What tokens cost, from litellm's table: a file of it, since litellm itself is slow to import."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple

from runner.models.base import Usage

_TABLE = "litellm/model_prices_and_context_window_backup.json"


class Price(NamedTuple):
    """US dollars per token."""

    input: float
    output: float
    cached: float | None = None
    """Of input that was cached; None where it is not known to be cheaper."""


def listed_price(model: str) -> Price | None:
    """Return what a model costs, None where nobody knows.

    Args:
        model: ``provider/name``, or the bare name of a model of OpenAI.
    """
    provider, _, name = model.partition("/") if "/" in model else ("openai", "", model)
    entry = _table().get(model)
    if entry is None:
        entry = _table().get(name, {})
        if entry.get("litellm_provider") != provider:
            return None
    input, output = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    # The table has zeros for models whose price depends on who runs them.
    if not input or output is None:
        return None
    return Price(input, output, entry.get("cache_read_input_token_cost"))


def cost(usage: Usage, price: Price | None) -> float | None:
    """Return the US dollars for one request, None where price or tokens are unknown."""
    if price is None or usage.prompt is None or usage.completion is None:
        return None
    cached = min(usage.cached or 0, usage.prompt) if price.cached is not None else 0
    fresh = usage.prompt - cached
    return fresh * price.input + cached * (price.cached or 0) + usage.completion * price.output


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    try:
        path = Path(str(distribution("litellm").locate_file(_TABLE)))
        table: Mapping[str, Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    except (PackageNotFoundError, OSError, ValueError):
        return {}
    return table
