"""What a live run asked its model and was answered, without saying the same thing many times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runner.analysis.document import Json
from runner.analysis.report.bounds import Bounds
from runner.records.codec import members_of
from runner.records.record import EpisodeRecord
from runner.records.run import Run

_SHOWN = ("request_messages", "tools", "reply", "usage", "latency", "cost", "attempts")
"""Members of a recorded step; its calls, results and changes are shown as executed again."""


class Requests:
    """The requests of a run, of which many share system message and tools.

    Args:
        run: The run, or None for one without records of its requests.
        records: Its episodes' records.
    """

    def __init__(self, run: Run | None, records: Sequence[EpisodeRecord]) -> None:
        prompts: dict[str, None] = {}
        digests: dict[str, None] = {}
        for record in records:
            prompts |= {m["content"]: None for m in record.messages if _is_prompt(m)}
            digests |= {step.tools: None for step in record.steps if step.tools}
        self._prompts = {text: number for number, text in enumerate(prompts)}
        self._tools = run.tools(digests) if run else {}

    def shared(self, bounds: Bounds) -> Json:
        """Return what requests name by number: system messages, and the functions of tool lists."""
        functions: dict[str, tuple[int, Any]] = {}
        lists = {}
        for digest, tools in self._tools.items():
            for tool in tools:
                functions.setdefault(repr(tool), (len(functions), bounds.json(tool)))
            lists[digest] = [functions[repr(tool)][0] for tool in tools]
        return {
            "prompts": [bounds.cut(text) for text in self._prompts],
            "functions": [shown for _, shown in functions.values()],
            "tools": lists,
        }

    def messages(self, record: EpisodeRecord, bounds: Bounds) -> list[Any]:
        """Return an episode's whole conversation."""
        return [
            {"role": "system", "prompt": self._prompts[message["content"]]}
            if _is_prompt(message)
            else bounds.json(message)
            for message in record.messages
        ]

    def by_turn(self, record: EpisodeRecord, bounds: Bounds, turns: int) -> list[list[Json]]:
        """Return an episode's requests, turn by turn.

        Args:
            record: The episode's record.
            bounds: How much of their texts is shown.
            turns: Number of turns of the trajectory; it may have had more when it was run.
        """
        return [
            [
                {
                    name: bounds.json(value)
                    for name, value in members_of(step).items()
                    if name in _SHOWN
                }
                for step in record.steps
                if step.turn == turn
            ]
            for turn in range(turns)
        ]


def _is_prompt(message: Mapping[str, Any]) -> bool:
    return message["role"] == "system" and isinstance(message["content"], str)
