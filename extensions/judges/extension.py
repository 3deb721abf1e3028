"""What this extension registers."""

from __future__ import annotations

from runner.extension import Command, Extension


class JudgesExtension(Extension):
    """Has judge models vote on episodes, beside the verdicts."""

    name = "judges"
    commands = {
        "judge": Command(
            "judge models",
            "Have a model judge episodes, beside their verdicts.",
            f"{__package__}.commands.judge",
        ),
        "label": Command(
            "judge models",
            "Write a page on which people label the episodes of a run.",
            f"{__package__}.commands.label",
        ),
    }


EXTENSION = JudgesExtension()
