"""Messages for refused calls, worded as in BFCL.

The texts are read from the published package and are not part of Turnwise. The file
``bfcl_places.json`` maps the refusals of our backends to BFCL's texts:

    {"sentences": {name: "Class.function.number"},
     "refusals": {backend: {function: {kind: {"place": "Class.function.number", "holes": [source],
                                              "own": function, "more": "before" or "after"}}}}}

``tests.conformance.wording`` generates the file. A source has the form ``argument:NAME``,
``constant:WORD`` or ``place:Class.function.number``. ``value:NAME`` is a value from the error.
``state:PATH`` and ``keys:PATH`` are values from the backend. ``cause`` is Python's message.
``own`` is the function name in BFCL's text. ``more`` says whether Turnwise's additional fields come
before or after BFCL's fields. All other refusals keep Turnwise's or Python's text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from checkers.profile import BFCL, Profile
from envs.calls import Call
from envs.errors import DataError, MalformedCall, ToolError
from envs.results import DeclinedResult, Result, render
from envs.session import Session
from envs.tool import Tool, bind, parameters
from runner.data.source_literals import Given, Texts, load_texts
from runner.models.prompting import PromptTexts
from runner.models.settings import Observations
from runner.models.toolbox import OWN_FOOTNOTES, FunctionNotes
from trajectories.dataset import Dataset

PLACES_FILE = Path(__file__).with_name("bfcl_places.json")


def _form(*parts: str | None) -> list[Given]:
    hole = {"conversion": "", "spec": ""}
    return [{"text": [hole if part is None else part for part in parts], "raised": True}]


PYTHON: Texts = {
    "python": {
        "attribute": _form("'", None, "' object has no attribute '", None, "'"),
        "indices": _form("string indices must be integers, not '", None, "'"),
        "iterable": _form("'", None, "' object is not iterable"),
        "name": _form("name '", None, "' is not defined"),
        "key": _form("'", None, "'"),
    }
}
"""Messages of errors that Python raises."""


class RefusalTextPlace(NamedTuple):
    """Location of a refusal's text in BFCL's package, and the values that fill the text."""

    place: str
    holes: tuple[str, ...] = ()
    own: str | None = None
    """Function name in BFCL's text; Turnwise replaces it with the name of the called function."""
    more: Literal["before", "after"] | None = None


class RefusalTexts(NamedTuple):
    """Table of the texts of all refusals."""

    sentences: Mapping[str, str]
    """Maps a text's name to its place in BFCL's code. ``raised`` is for exceptions. ``handover`` is
    for functions that a later turn adds. All other names are notes, such as ``python_note``.
    """
    refusals: Mapping[str, Mapping[str, Mapping[str, RefusalTextPlace]]]
    """Maps a refusal's backend, function and kind to the place of its text."""


class Refusal(NamedTuple):
    """A refused call, with all values that the text of the refusal can contain."""

    tool: Tool
    kind: str
    error: ToolError | None
    fields: Mapping[str, object]
    arguments: Mapping[str, Any]
    state: Mapping[str, Any]


class BfclWording:
    """BFCL's wording of refusals.

    Pickling keeps only ``folder``: another process reads the texts from this folder again.
    """

    def __init__(self, texts: Texts, table: RefusalTexts, folder: Path | None = None) -> None:
        self._folder = folder
        self._texts = {**texts, **PYTHON}
        self._sentences, self._refusals = table

    def __call__(
        self, session: Session, call: Call | MalformedCall, result: Result, words: str = ""
    ) -> str | None:
        """Return BFCL's text for a call's result; None means Turnwise's own text."""
        if isinstance(call, MalformedCall):
            return self._raised(_describe_syntax_error(call.cause)) if call.cause else None
        if call.name not in session.tools:
            name = call.name.partition(".")[0]
            return self._fill_place(RefusalTextPlace("python.name.0", (f"constant:{name}",)), None)
        refusal = find_refusal(session, call, result)
        if refusal is None:
            inner = result.error and result.error.cause
            return self._raised(str(inner)) if inner else None
        tool = refusal.tool
        place = self._refusals.get(tool.backend, {}).get(tool.name, {}).get(refusal.kind)
        if place is not None:
            return self._fill_place(place, refusal)
        cause = refusal.error and refusal.error.cause
        return self._raised(str(cause)) if cause else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the loader and the folder for pickle; the texts are not pickled."""
        return _load_wording, (self._folder,)

    def sentence(self, name: str, *values: object) -> str:
        """Return one of the table's sentences, filled with values.

        Raises KeyError if BFCL's package does not contain the sentence.
        """
        return str(fill(self.given(self._sentences[name]), iter(values)))

    def prompts(self, prompts: PromptTexts) -> PromptTexts:
        """Return the prompts, with BFCL's message about added functions."""
        return prompts._replace(handover_fc=self.sentence("handover"))

    def notes(self) -> FunctionNotes:
        """Return the notes that follow function descriptions."""
        syntax = {name: self.sentence(f"{name}_note") for name in OWN_FOOTNOTES.syntax}
        return FunctionNotes(
            syntax, self.sentence("float_note"), self._describe_type, bare_items=True, response=True
        )

    def _describe_type(self, language: str, schema: Mapping[str, Any]) -> str:
        kind = schema.get("type", "any")
        if kind == "any":
            return self.sentence(f"{language}_any")
        said = self.sentence(f"{language}_type", kind)
        if isinstance(schema.get("items"), Mapping):
            said += self.sentence("items_note", schema["items"].get("type", "any"))
        if isinstance(schema.get("properties"), Mapping):
            said += self.sentence("members_note", json.dumps(schema["properties"]))
        return said

    def given(self, place: str) -> Given:
        """Return BFCL's text or JSON at ``place``. Raises KeyError for an unknown place."""
        owner, function, number = place.rsplit(".", 2)
        places = self._texts[owner][function]
        return places[int(number)] if int(number) < len(places) else {}

    def _fill_place(self, place: RefusalTextPlace, refusal: Refusal | None) -> str | None:
        try:
            given = self.given(place.place)
            values = [self._value(source, refusal) for source in place.holes]
            made = fill(given, iter(values))
        except (KeyError, TypeError, ValueError, StopIteration):
            return None
        if place.own and refusal is not None:
            made = _rename_function(made, place.own, refusal.tool.name)
        if place.more and refusal is not None and isinstance(made, dict):
            before = place.more == "before"
            made = {**refusal.fields, **made} if before else {**made, **refusal.fields}
        return self._raised(str(made)) if given.get("raised") else render(made)

    def _value(self, source: str, refusal: Refusal | None) -> Any:
        sort, _, name = source.partition(":")
        if sort == "constant":
            return name
        if sort == "place":
            return fill(self.given(name), iter(()))
        assert refusal is not None
        if sort == "cause":
            return str(refusal.error and refusal.error.cause)
        if sort == "value":
            return refusal.error.values[name] if refusal.error else None
        if sort == "argument":
            return refusal.arguments[name]
        value: Any = refusal.state
        for step in name.split("."):
            value = value[step]
        return list(value) if sort == "keys" else value

    def _raised(self, message: str) -> str:
        return self.sentence("raised", message)


_CONVERSIONS: Mapping[str, Callable[[object], str]] = {"r": repr, "s": str, "a": ascii}


def fill(given: Given, values: Iterator[Any]) -> Any:
    """Fill the placeholders of a refusal's text or JSON with values, in order.

    Raises:
        StopIteration: There are more placeholders than values. TypeError, ValueError: A value does
            not fit the format of the placeholder.
    """
    if "text" in given:
        parts = given["text"]
        return "".join([p if isinstance(p, str) else _format(next(values), p) for p in parts])
    if "members" in given:
        return {name: fill(member, values) for name, member in given["members"]}
    if "items" in given:
        return [fill(member, values) for member in given["items"]]
    return given["value"] if "value" in given else next(values)


def _format(value: Any, hole: Mapping[str, str]) -> str:
    conversion = hole["conversion"]
    if conversion:
        value = _CONVERSIONS[conversion](value)
    return format(value, hole["spec"])


def observations_for(
    asked: Observations | None, dataset: Dataset, profile: Profile
) -> Observations:
    """Return ``asked``, or the default for the data and profile."""
    return asked or ("bfcl" if dataset.folder and profile.name == BFCL.name else "own")


def wording_of(observations: Observations, dataset: Dataset) -> BfclWording | None:
    """Return BFCL's texts for refusals, or None for Turnwise's own texts.

    Raises DataError if BFCL's texts do not exist, or the data are not BFCL's.
    """
    if observations == "own":
        return None
    if dataset.folder is None:
        why = f"{dataset.name} is not BFCL's data; use --observations own"
        raise DataError("--observations bfcl", why)
    return _load_wording(dataset.folder)


@cache
def _load_wording(folder: Path) -> BfclWording:
    return BfclWording(load_texts(folder), read_table(), folder)


def read_table(path: Path = PLACES_FILE) -> RefusalTexts:
    """Return the table of texts for refusals."""

    def read_place(entry: Mapping[str, Any]) -> RefusalTextPlace:
        return RefusalTextPlace(**{**entry, "holes": tuple(entry.get("holes", ()))})

    held = json.loads(path.read_text(encoding="utf-8"))
    refusals = {
        backend: {
            function: {kind: read_place(entry) for kind, entry in kinds.items()}
            for function, kinds in functions.items()
        }
        for backend, functions in held["refusals"].items()
    }
    return RefusalTexts(held["sentences"], refusals)


def _rename_function(value: Any, own: str, called: str) -> Any:
    if isinstance(value, dict):
        return {name: _rename_function(member, own, called) for name, member in value.items()}
    return value.replace(f"{own}:", f"{called}:", 1) if isinstance(value, str) else value


def _describe_syntax_error(error: BaseException) -> str:
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f"{error.msg} (<string>, line {error.lineno})"
    return str(error)


def find_refusal(session: Session, call: Call, result: Result) -> Refusal | None:
    """Return the refusal of a call; None for a successful call."""
    tool = session.tools[call.name]
    call = result.call or call
    # For nested calls, the refused one is unknown.
    if call.nested or (result.ok and not isinstance(result.held, DeclinedResult)):
        return None
    error = result.error
    kind = error.kind if error else result.held.kind
    if error and isinstance(error.cause, TypeError) and not _fits(tool, call):
        kind = "arguments"
    state = vars(session.backends[tool.backend])
    fields = error.fields if error else {}
    return Refusal(tool, kind, error, fields, _arguments(tool, call), state)


def _fits(tool: Tool, call: Call) -> bool:
    try:
        bind(tool, call.args, call.kwargs)
    except ToolError:
        return False
    return True


def _arguments(tool: Tool, call: Call) -> dict[str, Any]:
    known = parameters(tool)
    defaults = {p.name: p.default for p in known if p.default is not p.empty}
    given = zip([p.name for p in known], call.args, strict=False)
    return {**defaults, **dict(given), **call.kwargs}
