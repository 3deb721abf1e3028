"""OpenAI's Responses API, in which thoughts go back as items; ``runner.models.apis`` speaks it."""

from __future__ import annotations

from runner.models.protocols.tools import TOOLS

RESPONSES = TOOLS._replace(name="responses", wire="responses")
