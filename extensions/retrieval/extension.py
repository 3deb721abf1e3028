"""What this extension registers."""

from __future__ import annotations

from runner.extension import Command, Extension


class RetrievalExtension(Extension):
    """Offers a model only the functions that retrieval finds."""

    name = "retrieval"
    commands = {
        "retrieve query": Command(
            "retrieval", "Find the functions that a text asks for.", f"{__package__}.commands.query"
        ),
        "retrieve evaluate": Command(
            "retrieval",
            "Measure how well rankings find what is needed.",
            f"{__package__}.commands.evaluate",
        ),
        "retrieve train": Command(
            "retrieval",
            "Train a ranking by queries and what they need.",
            f"{__package__}.commands.train",
        ),
    }


EXTENSION = RetrievalExtension()
