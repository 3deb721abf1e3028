"""The single-turn entries of BFCL's data files, as trajectories of one turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from trajectories.errors import DataError
from trajectories.jsonl import read_objects
from trajectories.schema import SINGLE_TURN, Category, ExpectedCalls, Message, Trajectory, Turn

CATEGORIES = tuple(category for category in SINGLE_TURN if category is not Category.CHAT)
"""Those that BFCL has."""

_WITHOUT_ANSWERS = {Category.IRRELEVANCE, Category.LIVE_IRRELEVANCE, Category.LIVE_RELEVANCE}


def files(category: Category) -> list[str]:
    """Return the paths of a category's files, relative to the data folder: questions, answers."""
    name = f"BFCL_v4_{category}.json"
    return [name] if category in _WITHOUT_ANSWERS else [name, f"possible_answer/{name}"]


def load(folder: Path, category: Category) -> Iterator[Trajectory]:
    """Yield the entries of one category.

    Raises:
        DataError: A file is missing, or an entry is not of the expected form.
    """
    question_file, *answer_files = (folder / name for name in files(category))
    answers = {str(entry.get("id")): entry for f in answer_files for _, entry in read_objects(f)}
    for where, entry in read_objects(question_file):
        try:
            found = answers[entry["id"]]["ground_truth"] if answers else ()
            trajectory = _trajectory(entry, found, category)
        except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
            message = f"is not an entry of this data set ({type(error).__name__}: {error})"
            raise DataError(where, message) from None
        yield trajectory


def _trajectory(entry: Mapping[str, Any], answers: Any, category: Category) -> Trajectory:
    (messages,) = entry["question"]
    turn = Turn(tuple([Message(m["role"], m["content"]) for m in messages]), ())
    functions = tuple(entry["function"])
    if not all(isinstance(document["name"], str) for document in functions):
        raise TypeError("a function has no name")
    return Trajectory(
        id=entry["id"],
        category=category,
        environments=(),
        config={},
        turns=(turn,),
        expects=ExpectedCalls(functions, tuple(answers), _language(category)),
        provenance={"source": "bfcl-eval"},
    )


def _language(category: Category) -> Literal["python", "java", "javascript"]:
    if category is Category.SIMPLE_JAVA:
        return "java"
    return "javascript" if category is Category.SIMPLE_JAVASCRIPT else "python"
