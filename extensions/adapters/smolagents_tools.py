"""Functions of an episode as smolagents tools."""

from __future__ import annotations

from typing import Any

from envs.errors import require_type
from extensions.adapters.framework_agent import FrameworkTool
from extensions.adapters.suite import extra

with extra("frameworks"):
    from smolagents import Tool


def make_tool(offered: FrameworkTool) -> Tool:
    """Convert a function of an episode to a smolagents tool; each input has the type ``any``."""
    require_type("offered", offered, FrameworkTool, described="a tool of play_turn")
    needed = offered.parameters.get("required", ())
    inputs = {
        name: {"type": "any", "description": str(schema), "nullable": name not in needed}
        for name, schema in offered.parameters["properties"].items()
    }

    def forward(_self: Tool, **given: Any) -> str:
        return offered.run_in_thread(**given)

    fields = {
        "name": offered.name,
        "description": offered.description,
        "inputs": inputs,
        "output_type": "string",
        "skip_forward_signature_validation": True,
        "forward": forward,
    }
    return type("OfferedFunction", (Tool,), fields)()
