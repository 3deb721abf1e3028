"""Hand-made trajectories and a made-up data folder, for the tests of all packages."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings

from checkers.replies import code
from runner.data import source_literals
from tests.source import forget_nodes
from trajectories import bfcl_reader, dataset
from trajectories.dataset import Dataset
from trajectories.record_validation import to_json
from trajectories.schema import (
    EXECUTABLE,
    SINGLE_TURN,
    Category,
    ExpectedCalls,
    Message,
    Trajectory,
    Turn,
)

# How long an example takes is the machine's affair; others may be busy on it.
settings.register_profile("quick", deadline=None, max_examples=25)
settings.register_profile("full", deadline=None, max_examples=100)
settings.load_profile("quick")
# It would hide that a command leaves its output in a buffer.
os.environ.pop("PYTHONUNBUFFERED", None)

FEW_OBJECTS = 10_000
"""So many new objects are not worth a full collection."""

PRINTER_TICKET = {
    "id": 1,
    "title": "Printer on fire",
    "description": "",
    "status": "Open",
    "priority": 2,
    "created_by": "ann",
}
NOTES = {"type": "file", "content": "one\ntwo"}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep the garbage collector from looking through what is collected, all of which stays."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Have workers report calls, and what did not pass: every message costs the suite CPU time."""
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    # The controller then says how far the suite is.
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.fixture(scope="module", autouse=True)
def _garbage_of_a_module_goes(request: pytest.FixtureRequest) -> Iterator[None]:
    # What lives on is looked through once: full collections are cheap, and so frequent enough.
    yield
    # The modules of this folder, one after the other, ask for the nodes of all packages.
    if request.path.parent != Path(__file__).parent:
        forget_nodes()
    if gc.get_count()[0] > FEW_OBJECTS:
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _built_in_data_is_read_once() -> Iterator[None]:
    """Share the entries of the built-in data set among all tests and in-process commands."""
    hash_files, folder = dataset._hash_files, dataset.DATA
    digest, read = cache(hash_files), cache(dataset._BuiltInEntries)

    def hash_once(paths: Iterable[Path]) -> str:
        paths = tuple(paths)
        return (digest if all(path.parent == folder for path in paths) else hash_files)(paths)

    def read_once(paths: Iterable[Path]) -> Mapping[str, Trajectory]:
        # A chain has the order of its last member first.
        return ChainMap(*[read((path,)) for path in reversed([*paths])])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataset, "_hash_files", hash_once)
        patch.setattr(dataset, "_BuiltInEntries", read_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def _cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    # What commands keep from one to the next is neither taken from the user's cache nor left there.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TURNWISE_CACHE", str(tmp_path_factory.mktemp("cache")))
        # Tables are read whole, whatever the terminal of who runs the tests.
        patch.setenv("COLUMNS", "200")
        yield


def user(text: str) -> tuple[Message, ...]:
    """Return what a user says."""
    return (Message("user", text),)


@pytest.fixture
def help_desk() -> Trajectory:
    """Three turns: one to do, one with nothing to do, one that hands over what was held out."""
    return Trajectory(
        id="help_desk_0",
        category=Category.MISSING_FUNCTION,
        environments=("TicketAPI",),
        config={
            "TicketAPI": {
                "ticket_queue": [PRINTER_TICKET],
                "ticket_counter": 2,
                "current_user": "ann",
            }
        },
        turns=(
            Turn(user("My screen is dark."), ("create_ticket(title='Dark screen')",)),
            Turn(user("Close the printer ticket."), ()),
            Turn((), ("close_ticket(ticket_id=1)", "get_ticket(ticket_id=1)"), ("close_ticket",)),
        ),
    )


@pytest.fixture
def folders() -> Trajectory:
    """Two turns on a small file tree."""
    home = {"notes.txt": NOTES, "old": {"type": "directory", "contents": {}}}
    return Trajectory(
        id="folders_0",
        category=Category.BASE,
        environments=("GorillaFileSystem",),
        config={"GorillaFileSystem": {"root": {"home": {"type": "directory", "contents": home}}}},
        turns=(
            Turn(user("Put the notes away."), ("mv(source='notes.txt', destination='old')",)),
            Turn(user("How long are they?"), ("cd(folder='old')", "wc(file_name='notes.txt')")),
        ),
    )


@pytest.fixture
def dataset_of() -> Callable[..., Dataset]:
    """Make a data set of trajectories."""

    def make(*trajectories: Trajectory, tolerant: bool = False) -> Dataset:
        return Dataset("made-up", "1", "0" * 64, {t.id: t for t in trajectories}, tolerant=tolerant)

    return make


@pytest.fixture
def write_lines(tmp_path: Path) -> Callable[..., Path]:
    """Write trajectories, JSON values or raw text as the lines of a file below ``tmp_path``."""

    def write(name: str, *lines: Trajectory | Mapping[str, Any] | str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{_line(line)}\n" for line in lines), encoding="utf-8")
        return path

    return write


def _line(line: Trajectory | Mapping[str, Any] | str) -> str:
    if isinstance(line, str):
        return line
    return json.dumps(to_json(line) if isinstance(line, Trajectory) else line)


MATERIAL = '''
"""Material, made up."""

import nothing_of_this_name

FILE_CONTENT_EXTENSION = " and so on"
FILES_TAIL_USED = ["log.txt"]
POPULATE_FILE_EXTENSION = ["image_1.jpg"]
CAR_STATUS_METADATA_EXTENSION = {"battery": "old"}
PARKING_BRAKE_INSTRUCTION = "Pull."
LONG_WEATHER_EXTENSION = {"-1_day": "3 C"}
INTERMEDIARY_CITIES = ["Springfield"]
WATCH_LIST_EXTENSION = ["AAA", "BBB", ...]
TRANSACTION_HISTORY_EXTENSION = [{"type": "deposit", "amount": 5}]
MA_5_EXTENSION = [1.5, -2.0]
MA_20_EXTENSION = [2.5]
TECHNOLOGY_EXTENSION = ["CCC"]
AUTOMOBILE_EXTENSION = ["DDD"]
ORDER_DETAIL_EXTENSION = {"note": "about {symbol}"}
CREDIT_CARD_EXTENSION = {"7": {"balance": 1.0}}
BOOKING_RECORD_EXTENSION = {"8": {"travel_cost": 2.0}}
UNUSED = nothing_of_this_name.call()

raise SystemExit("this module was run")
'''
"""A module of long-context material that breaks when it is run."""


@pytest.fixture
def material() -> str:
    """Return the text of a made-up module of long-context material."""
    return MATERIAL


def bfcl_entries() -> dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
    """Return questions and answers by file name, in BFCL's form; all made up."""
    ticket = {"initial_config": {"TicketAPI": {"current_user": "ann"}}, "path": ["unused"]}
    question = {**ticket, "involved_classes": ["TicketAPI"], "excluded_function": ["logout"]}
    held_out = {**ticket, "involved_classes": ["TicketAPI"]}
    # Text where a list of tickets should be: a strict load would refuse it.
    odd = {
        "initial_config": {"TicketAPI": {"ticket_counter": "1"}},
        "involved_classes": ["TicketAPI"],
    }
    say = {"role": "user", "content": "Open a ticket."}
    call = "create_ticket(title='A', priority=3)"
    return {
        "multi_turn_base": (
            [
                {"id": "multi_turn_base_0", "question": [[say]], **question},
                {"id": "multi_turn_base_1", "question": [[say], [say]], **odd},
            ],
            [
                {"id": "multi_turn_base_0", "ground_truth": [[call]]},
                {"id": "multi_turn_base_1", "ground_truth": [["logout()"], []]},
            ],
        ),
        "multi_turn_miss_param": ([], []),
        "multi_turn_miss_func": (
            [
                {
                    "id": "multi_turn_miss_func_0",
                    "question": [[say], []],
                    "missed_function": {"1": ["create_ticket"]},
                    **held_out,
                }
            ],
            [{"id": "multi_turn_miss_func_0", "ground_truth": [[], [call]]}],
        ),
        "multi_turn_long_context": (
            [{"id": "multi_turn_long_context_0", "question": [[say]], **question}],
            [{"id": "multi_turn_long_context_0", "ground_truth": [[call]]}],
        ),
        "multi_turn_composite": (
            [{"id": "multi_turn_composite_0", "question": [[say]], **question}],
            [{"id": "multi_turn_composite_0", "ground_truth": [[call]]}],
        ),
    }


def at_place(function: str, number: int, last: str, indent: str = "") -> str:
    """Return the source of a function whose last place, of that number, is a statement."""
    body = [f"x = {n}" for n in range(number)] + [last]
    return f"{indent}def {function}():\n" + "".join(f"{indent}    {line}\n" for line in body)


def made_up_texts() -> dict[str, str]:
    """Return modules with made-up texts at places where BFCL's package has its own."""
    raised = at_place("execute_multi_turn_func_call", 25, "y = f'It broke: {e}'")
    tickets = "eval_checker/multi_turn_eval/func_source_code/ticket_api.py"
    no_ticket = at_place("get_ticket", 1, "return {'error': f'No such thing: {n}'}", "    ")
    return {
        **dict.fromkeys(source_literals.MODULES, ""),
        "eval_checker/multi_turn_eval/multi_turn_utils.py": raised,
        tickets: f"class TicketAPI:\n{no_ticket}",
        "constants/default_prompts.py": (
            "DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC = 'There is more now.'\n"
        ),
        "utils.py": at_place("_get_language_specific_hint", 2, "return ' It is Python.'"),
        "model_handler/utils.py": at_place("_cast_to_openai_type", 3, "x += ' It is a float.'"),
    }


def bfcl_files() -> dict[str, str]:
    """Return the made-up data files by their path below BFCL's package folder."""
    files = {
        "eval_checker/multi_turn_eval/func_source_code/long_context.py": MATERIAL,
        **made_up_texts(),
    }
    for name, (questions, answers) in bfcl_entries().items():
        question_folder, answer_folder = "data", "data/possible_answer"
        if name == "multi_turn_composite":
            question_folder = "data/unused_datasets/question"
            answer_folder = "data/unused_datasets/possible_answer"
        for folder, lines in ((question_folder, questions), (answer_folder, answers)):
            text = "".join(f"{json.dumps(line)}\n" for line in lines)
            files[f"{folder}/BFCL_v4_{name}.json"] = text
    for category in (c for c in bfcl_reader.CATEGORIES if c in EXECUTABLE):
        lines = [executed_question(category), executed_answer(category)]
        for file, line in zip(bfcl_reader.list_data_files(category), lines, strict=True):
            files[f"data/{file}"] = f"{json.dumps(line)}\n"
    for category in (c for c in bfcl_reader.CATEGORIES if c in SINGLE_TURN):
        lines = [single_turn_question(category), single_turn_answer(category)]
        for file, line in zip(bfcl_reader.list_data_files(category), lines, strict=False):
            files[f"data/{file}"] = f"{json.dumps(line)}\n"
    return files


@pytest.fixture
def single_turn() -> Callable[..., Trajectory]:
    """Return what makes a single-turn entry of a function document and its answers."""

    def make(
        language: str,
        document: Mapping[str, Any],
        *answers: Mapping[str, Any],
        category: Category | None = None,
    ) -> Trajectory:
        chosen = category or Category(f"simple_{language}")
        expects = ExpectedCalls((document,), answers, language)
        turns = (Turn(user("Wait five seconds."), ()),)
        return Trajectory(f"{chosen}_0", chosen, (), {}, turns, expects=expects)

    return make


@pytest.fixture
def without_grammars(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the error about the libraries for Java and JavaScript, which cannot be imported."""
    monkeypatch.setitem(sys.modules, "tree_sitter_java", None)
    code._load_parser.cache_clear()
    advice = "tree_sitter_java is not installed: pip install 'turnwise[languages]'"
    yield f"Java and JavaScript: {advice}"
    code._load_parser.cache_clear()


def single_turn_question(category: str) -> dict[str, Any]:
    """Return a made-up single-turn entry as BFCL has it."""
    if category == "chatable":
        return {"question": "Wait five seconds.", "function": ""}
    parameters = {"type": "dict", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    said = [{"role": "user", "content": "Wait five seconds."}]
    return {
        "id": f"{category}_0",
        "question": said if category == "sql" else [said],
        "function": [{"name": "wait", "description": "Wait.", "parameters": parameters}],
    }


def executed_question(category: str) -> dict[str, Any]:
    """Return a made-up entry whose calls are executed, as BFCL has it."""
    name, parameter = ("requests.get", "url") if category == "rest" else ("math_factorial", "n")
    kind = "string" if category == "rest" else "integer"
    parameters = {"type": "dict", "properties": {parameter: {"type": kind}}, "required": []}
    return {
        "id": f"{category}_0",
        "question": [[{"role": "user", "content": "Do it."}]],
        "function": [{"name": name, "description": "Do it.", "parameters": parameters}],
    }


def executed_answer(category: str) -> dict[str, Any]:
    """Return the answer to it."""
    if category == "rest":
        return {"idx": 0, "ground_truth": "requests.get(url='http://ip-api.com/json')"}
    checks = {"execution_result_type": ["exact_match"]}
    return {"id": f"{category}_0", "ground_truth": ["math_factorial(n=2*2)"], **checks}


def single_turn_answer(category: str) -> dict[str, Any]:
    """Return the answer to it."""
    return {"id": f"{category}_0", "ground_truth": [{"wait": {"n": [5]}}]}


@pytest.fixture
def package_files() -> dict[str, str]:
    """Return a made-up package of BFCL as text by path."""
    return bfcl_files()


@pytest.fixture
def bfcl_folder(tmp_path: Path) -> Path:
    """Write a made-up package of BFCL and return its data folder."""
    for name, text in bfcl_files().items():
        path = tmp_path / "package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "package" / "data"
