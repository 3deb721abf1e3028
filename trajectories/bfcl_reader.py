"""Reader of BFCL's data files.

The folder is the ``data`` folder of BFCL's package or Turnwise's cached copy. The copy also has a
``manifest.json``, and ``long_context.json`` with the long-context material. Some initial configs of
BFCL do not fit our types; the reader keeps these configs unchanged, and sessions accept them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from checkers.calls.call_entry import ComparisonKind, find_document_errors
from envs.bounds import BOUNDS
from envs.errors import DataError
from envs.lazy_modules import lazy_module
from trajectories.jsonl import RepeatedMember, parse_object, read_objects, read_text
from trajectories.schema import (
    FACTS,
    Category,
    ExpectedCalls,
    JudgingMethod,
    LongContextSettings,
    Message,
    Trajectory,
    Turn,
)

if TYPE_CHECKING:
    from envs import long_context
else:
    # Few entries have a long context.
    long_context = lazy_module("envs.long_context")

PACKAGE = "bfcl-eval"
VERSION = "2026.3.23"
LONG_CONTEXT_FILE = "long_context.json"
MANIFEST_FILE = "manifest.json"
MATERIAL_MODULE = "eval_checker/multi_turn_eval/func_source_code/long_context.py"

CONSTANTS = (
    "FILE_CONTENT_EXTENSION", "FILES_TAIL_USED", "POPULATE_FILE_EXTENSION",
    "CAR_STATUS_METADATA_EXTENSION", "PARKING_BRAKE_INSTRUCTION", "LONG_WEATHER_EXTENSION",
    "INTERMEDIARY_CITIES", "WATCH_LIST_EXTENSION", "TRANSACTION_HISTORY_EXTENSION",
    "MA_5_EXTENSION", "MA_20_EXTENSION", "TECHNOLOGY_EXTENSION", "AUTOMOBILE_EXTENSION",
    "ORDER_DETAIL_EXTENSION", "CREDIT_CARD_EXTENSION", "BOOKING_RECORD_EXTENSION",
)  # fmt: skip

_KINDS: Mapping[type, Sequence[str]] = {
    dict: ("LONG_WEATHER_EXTENSION", *CONSTANTS[-3:]),
    list: (*CONSTANTS[1:3], *CONSTANTS[6:13]),
}
"""Maps a type to BFCL's constants of this type."""

_TEXT = frozenset([str])
_LONG = (Category.LONG_CONTEXT, Category.COMPOSITE)


CATEGORIES = tuple([category for category in Category if FACTS[category].status != "ours"])
_WITHOUT_ANSWERS = (ComparisonKind.IRRELEVANCE, ComparisonKind.RELEVANCE)


def list_data_files(category: Category) -> tuple[str, ...]:
    """Return the paths of a category's questions and answers, relative to the data folder."""
    facts = FACTS[category]
    name = f"BFCL_v4_{facts.file}.json"
    answers = f"possible_answer/{name}"
    if facts.status == "retired":
        name, answers = f"unused_datasets/question/{name}", f"unused_datasets/{answers}"
    if category is Category.REST:
        answers = _REQUESTS
    return (name,) if facts.calls in _WITHOUT_ANSWERS else (name, answers)


_REQUESTS = "unused_datasets/executable_eval_sanity_check/api_status_check_ground_truth_rest.json"
"""File with the right requests of category ``rest``. The answer file has only old responses."""


def function_docs_file(environment: str) -> str:
    """Return the path of a backend's function documents, relative to the data folder.

    Raises DataError if BFCL does not have the backend.
    """
    if environment not in _DOCS:
        raise DataError("--function-docs", f"{PACKAGE} has no documents of {environment!r:.60}")
    return f"multi_turn_func_doc/{_DOCS[environment]}.json"


_DOCS = {
    "GorillaFileSystem": "gorilla_file_system", "MathAPI": "math_api",
    "MessageAPI": "message_api", "TwitterAPI": "posting_api", "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot", "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}  # fmt: skip


class EntryReader(NamedTuple):
    """Reader of BFCL entries with a certain judging method."""

    read: Callable[[Mapping[str, Any], Any, Category], Trajectory]
    truth_of: Callable[[Mapping[str, Any], Category], tuple[str, Any]]
    """Function that reads an entry's id and ground truth from a line of the answer file."""


def load(
    folder: Path,
    category: Category,
    readers: Mapping[JudgingMethod, EntryReader] = MappingProxyType({}),
    ids: Collection[str] | None = None,
    configs: RepeatedMember | None = None,
) -> Iterator[Trajectory]:
    """Yield the trajectories of one category.

    Raises DataError if a file or a reader is missing, or if an entry has an unknown structure.

    Args:
        folder: BFCL's data folder.
        category: One of ``CATEGORIES``.
        readers: Readers of entries that are judged neither by state nor by calls.
        ids: Ids of the wanted entries (default: all); others may be skipped.
        configs: Initial configs that several categories share.
    """
    # The readers of these categories derive ids from line numbers.
    ids = None if category in _FORMS else ids
    question_file, *answer_files = (folder / name for name in list_data_files(category))
    reader = {**_READERS, **readers}.get(FACTS[category].judged_by)
    if reader is None:
        raise DataError(category, "needs an extension that is not installed")
    read, truth_of = reader
    # The hash of a download was checked, so its keys need no check.
    unique = not (folder / MANIFEST_FILE).is_file()
    lines_of = partial(read_objects, unique=unique, ids=ids)
    answers = {
        id: truth
        for file in answer_files
        for id, truth in _read_truths(lines_of(file), category, truth_of)
    }
    # Entries often offer the same functions; the categories share scenarios.
    is_scenario = FACTS[category].judged_by is JudgingMethod.STATE
    repeated = configs if is_scenario else RepeatedMember("function")
    questions, checked = lines_of(question_file, repeated=repeated), None
    for number, (where, written) in enumerate(questions):
        try:
            entry = _FORMS[category](written, number) if category in _FORMS else written
            truth = answers[entry["id"]] if answer_files else ()
            trajectory = read(entry, truth, category)
            trajectory.id.encode()
            expects = trajectory.expects
            if isinstance(expects, ExpectedCalls) and entry["function"] is not checked:
                checked = entry["function"]
                for path, misfit in find_document_errors(expects.functions):
                    raise TypeError(f"$.function{path}: {misfit}")
        except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
            message = f"is not an entry of this data set ({type(error).__name__}: {error!s:.200})"
            raise DataError(where, message) from None
        yield trajectory


def _read_truths(
    lines: Iterable[tuple[str, Mapping[str, Any]]],
    category: Category,
    truth_of: Callable[[Mapping[str, Any], Category], tuple[str, Any]],
) -> Iterator[tuple[str, Any]]:
    for where, line in lines:
        try:
            yield truth_of(line, category)
        except KeyError as error:
            raise DataError(where, f"has no {error}") from None


def read_answer(line: Mapping[str, Any], _: Category) -> tuple[str, Any]:
    """Return the id and the right calls of an entry."""
    return str(line.get("id")), line.get("ground_truth")


def _read_scenario(
    entry: Mapping[str, Any], truth: Sequence[Sequence[str]], category: Category
) -> Trajectory:
    if not isinstance(entry["initial_config"], dict):
        raise TypeError("initial_config is not an object")
    offers = entry.get("missed_function", {})
    turns = tuple(
        [
            Turn(read_messages(messages), tuple(calls), tuple(offers.get(str(index), ())))
            for index, (messages, calls) in enumerate(zip(entry["question"], truth, strict=True))
        ]
    )
    said = [(message.role, message.content) for turn in turns for message in turn.messages]
    _check_number_of_calls(truth)
    _check_texts([entry["involved_classes"], *truth, *offers.values(), *said])
    return Trajectory(
        id=entry["id"],
        category=category,
        environments=tuple(entry["involved_classes"]),
        config=entry["initial_config"],
        turns=turns,
        long_context=LongContextSettings("bfcl") if category in _LONG else None,
        # The categories share scenarios; each number has one scenario.
        provenance={"source": PACKAGE, "base": entry["id"].rpartition("_")[2]},
    )


def read_single_turn(entry: Mapping[str, Any], answers: Any, category: Category) -> Trajectory:
    """Return a single-turn entry; the model's calls are compared with expected calls."""
    functions, (chat,) = tuple(entry["function"]), entry["question"]
    said = read_messages(chat)
    _check_number_of_calls([answers])
    _check_texts([(message.role, message.content) for message in said])
    return Trajectory(
        id=entry["id"],
        category=category,
        environments=(),
        config={},
        turns=(Turn(said, ()),),
        expects=ExpectedCalls(functions, tuple(answers), FACTS[category].language.value),
        provenance={"source": PACKAGE},
    )


_READERS: Mapping[JudgingMethod, EntryReader] = {
    JudgingMethod.STATE: EntryReader(_read_scenario, read_answer),
    JudgingMethod.CALLS: EntryReader(read_single_turn, read_answer),
}


def _wrap_question(entry: Mapping[str, Any], number: int) -> Mapping[str, Any]:
    message = {"role": "user", "content": entry["question"]}
    return {"id": f"chatable_{number}", "question": [[message]], "function": ()}


def _wrap_chat(entry: Mapping[str, Any], _: int) -> Mapping[str, Any]:
    return {**entry, "question": [entry["question"]]}


_FORMS: Mapping[Category, Callable[[Mapping[str, Any], int], Mapping[str, Any]]] = {
    Category.CHATABLE: _wrap_question,
    Category.SQL: _wrap_chat,
}
"""Converters from the special formats of two categories to the usual format."""


def read_messages(chat: Sequence[Mapping[str, Any]]) -> tuple[Message, ...]:
    """Return the messages of a chat."""
    return tuple([Message(m["role"], m["content"]) for m in chat])


def _check_number_of_calls(turns: Sequence[Sequence[Any]]) -> None:
    if any(len(calls) > BOUNDS.calls_in_step for calls in turns):
        raise ValueError(f"a turn has at most {BOUNDS.calls_in_step} calls")


def _check_texts(lists: Sequence[Iterable[Any]]) -> None:
    if str not in map(type, lists) and _TEXT.issuperset(map(type, chain.from_iterable(lists))):
        return
    for found in lists:
        if isinstance(found, str) or not _TEXT.issuperset(map(type, found)):
            raise TypeError(f"{found!r:.60} is not a list of strings")


def load_pack(folder: Path) -> long_context.LongContextPack:
    """Return the long-context material of a data folder.

    Raises DataError if the material is missing or has an unknown structure.
    """
    cached = folder / LONG_CONTEXT_FILE
    module = folder.parent / MATERIAL_MODULE
    try:
        if cached.exists():
            material = parse_object(read_text(cached), str(cached))
        else:
            material = read_material(read_text(module))
        return _make_pack(material)
    except (DataError, OSError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise DataError(
            str(cached), f"the long-context material cannot be read ({error}); fetch the data again"
        ) from None


def read_material(source: str) -> dict[str, Any]:
    """Read the long-context constants from a module's source, but do not execute the source.

    Raises ValueError if the constants cannot be read.
    """
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        raise ValueError(f"not Python: {error.msg}") from None
    except (MemoryError, RecursionError):
        raise ValueError("nested too deep") from None
    found: dict[str, Any] = {}
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in CONSTANTS:
                found[name] = ast.literal_eval(node.value)
    missing = [name for name in CONSTANTS if name not in found]
    if missing:
        raise ValueError(f"no literal for {', '.join(missing)}")
    # JSON has no Ellipsis; _make_pack puts it back.
    found["WATCH_LIST_EXTENSION"] = [x for x in found["WATCH_LIST_EXTENSION"] if x is not ...]
    return found


def _make_pack(material: Mapping[str, Any]) -> long_context.LongContextPack:
    for kind, names in _KINDS.items():
        for name in names:
            if not isinstance(material[name], kind):
                raise TypeError(f"{name} is not a {kind.__name__}")
    return long_context.LongContextPack(
        file_suffix=material["FILE_CONTENT_EXTENSION"],
        untouched_files=material["FILES_TAIL_USED"],
        extra_files=material["POPULATE_FILE_EXTENSION"],
        car_status=material["CAR_STATUS_METADATA_EXTENSION"],
        parking_brake=material["PARKING_BRAKE_INSTRUCTION"],
        weather=material["LONG_WEATHER_EXTENSION"],
        cities=material["INTERMEDIARY_CITIES"],
        # BFCL's list ends with Python's Ellipsis, which the model sees.
        watch_list=[*material["WATCH_LIST_EXTENSION"], ...],
        transactions=material["TRANSACTION_HISTORY_EXTENSION"],
        moving_average_5=tuple(material["MA_5_EXTENSION"]),
        moving_average_20=tuple(material["MA_20_EXTENSION"]),
        sector_stocks={
            "Technology": material["TECHNOLOGY_EXTENSION"],
            "Automobile": material["AUTOMOBILE_EXTENSION"],
        },
        order_metadata=material["ORDER_DETAIL_EXTENSION"],
        credit_cards=material["CREDIT_CARD_EXTENSION"],
        bookings=material["BOOKING_RECORD_EXTENSION"],
        lists_fares=True,
    )
