"""What BFCL's model reads where a call is refused: its texts, and where each of them belongs.

The texts are those of the published package, kept beside its data and never part of ours. Which
of them a refusal of our backends takes, and what fills its holes, says ``bfcl_places.json``:

    {"sentences": {name: "Class.function.number"},
     "refusals": {backend: {function: {kind: {"place": "Class.function.number", "holes": [source],
                                              "own": function, "more": "before" or "after"}}}}}

``tests.conformance.wording`` makes that table; nobody has to read the package for it. A source is
``argument:NAME``, ``value:NAME`` of the error, ``state:PATH`` or ``keys:PATH`` of the backend,
``constant:WORD``, ``place:Class.function.number``, or ``cause``, what Python said. With ``own``,
the text names that function, and the one called takes its place; ``more`` says whether the further
members of our refusal come before or after those of the text. A refusal that is not in the table
reads as Python's own where Python refused, and as ours where not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from checkers.profile import BFCL, Profile
from envs.calls import Call
from envs.errors import MalformedCall, ToolError
from envs.results import Declined, Result, render
from envs.session import Session
from envs.tool import Tool, bind, parameters
from runner.data.literals import Given, Texts, load_texts
from runner.models.prompting import PromptTexts
from runner.models.settings import Observations
from runner.models.tools import OWN_FOOTNOTES, Footnotes
from trajectories.dataset import Dataset
from trajectories.errors import DataError

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
"""What Python itself says, in the places of texts."""


class TextPlace(NamedTuple):
    """Which text a refusal takes."""

    place: str
    holes: tuple[str, ...] = ()
    own: str | None = None
    """The function that the text names where it is another one than is called."""
    more: Literal["before", "after"] | None = None


class Table(NamedTuple):
    """What takes which text."""

    sentences: Mapping[str, str]
    """Places by our names: ``raised`` for a call that raised, ``handover`` for functions handed
    over later; the others stand behind descriptions: ``python_note``, ``float_note`` and so on."""
    refusals: Mapping[str, Mapping[str, Mapping[str, TextPlace]]]
    """By backend, function and kind."""


class Refusal(NamedTuple):
    """A call that did not succeed, with all that a text about it may say."""

    tool: Tool
    kind: str
    error: ToolError | None
    fields: Mapping[str, object]
    arguments: Mapping[str, Any]
    state: Mapping[str, Any]


class Wording:
    """Words refusals as BFCL does.

    Args:
        texts: Those of the package.
        table: Which of them each refusal takes.
        folder: The data folder that the texts are of, for other processes to read them.
    """

    def __init__(self, texts: Texts, table: Table, folder: Path | None = None) -> None:
        self._folder = folder
        self._texts = {**texts, **PYTHON}
        self._sentences, self._refusals = table

    def __call__(self, session: Session, call: Call | MalformedCall, result: Result) -> str | None:
        """Return what BFCL's model reads of a call that has just been made; None if as ours."""
        if isinstance(call, MalformedCall):
            return self._raised(_syntax(call.cause)) if call.cause else None
        if call.name not in session.tools:
            name = call.name.partition(".")[0]
            return self._filled(TextPlace("python.name.0", (f"constant:{name}",)), None)
        refusal = refusal_of(session, call, result)
        if refusal is None:
            inner = result.error and result.error.cause
            return self._raised(str(inner)) if inner else None
        tool = refusal.tool
        place = self._refusals.get(tool.backend, {}).get(tool.name, {}).get(refusal.kind)
        if place is not None:
            return self._filled(place, refusal)
        cause = refusal.error and refusal.error.cause
        return self._raised(str(cause)) if cause else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what another process makes it of: the texts stay where they are."""
        return _wording_in, (self._folder,)

    def sentence(self, name: str, *values: object) -> str:
        """Return a text that is no refusal's, by our name for it.

        Raises:
            KeyError: The package has none there.
        """
        return str(fill(self.given(self._sentences[name]), iter(values)))

    def prompts(self, prompts: PromptTexts) -> PromptTexts:
        """Return the texts put to the model, functions handed over in BFCL's words."""
        return prompts._replace(handover_fc=self.sentence("handover"))

    def notes(self) -> Footnotes:
        """Return the sentences behind descriptions."""
        syntax = {name: self.sentence(f"{name}_note") for name in OWN_FOOTNOTES.syntax}
        return Footnotes(
            syntax, self.sentence("float_note"), self._typed, bare_items=True, response=True
        )

    def _typed(self, language: str, schema: Mapping[str, Any]) -> str:
        """Return what is said of the type of a value that is a text of a language."""
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
        """Return what the package gives at a place.

        Raises:
            KeyError: There is no such place.
        """
        owner, function, number = place.rsplit(".", 2)
        places = self._texts[owner][function]
        return places[int(number)] if int(number) < len(places) else {}

    def _filled(self, place: TextPlace, refusal: Refusal | None) -> str | None:
        try:
            given = self.given(place.place)
            values = [self._value(source, refusal) for source in place.holes]
            made = fill(given, iter(values))
        except (KeyError, TypeError, ValueError, StopIteration):
            return None
        if place.own and refusal is not None:
            made = _renamed(made, place.own, refusal.tool.name)
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
        """Return what the model reads of a call that raised."""
        return self.sentence("raised", message)


_CONVERSIONS: Mapping[str, Callable[[object], str]] = {"r": repr, "s": str, "a": ascii}


def fill(given: Given, values: Iterator[Any]) -> Any:
    """Return what is given at a place, with its holes filled in order.

    Raises:
        StopIteration: There are more holes than values.
        TypeError, ValueError: A value cannot be written as its hole asks.
    """
    if "text" in given:
        parts = given["text"]
        return "".join([p if isinstance(p, str) else _written(next(values), p) for p in parts])
    if "members" in given:
        return {name: fill(member, values) for name, member in given["members"]}
    if "items" in given:
        return [fill(member, values) for member in given["items"]]
    return given["value"] if "value" in given else next(values)


def _written(value: Any, hole: Mapping[str, str]) -> str:
    conversion = hole["conversion"]
    if conversion:
        value = _CONVERSIONS[conversion](value)
    return format(value, hole["spec"])


def observations_for(
    asked: Observations | None, dataset: Dataset, profile: Profile
) -> Observations:
    """Return whose texts the model reads: as asked for, else BFCL's for its data and profile."""
    return asked or ("bfcl" if dataset.folder and profile.name == BFCL.name else "own")


def wording_of(observations: Observations, dataset: Dataset) -> Wording | None:
    """Return how refusals are worded; None for as they are.

    Raises:
        DataError: BFCL's texts are asked for and not there, or the data are not BFCL's.
    """
    if observations == "own":
        return None
    if dataset.folder is None:
        raise DataError("--observations bfcl", f"{dataset.name} is not BFCL's data")
    return _wording_in(dataset.folder)


@cache
def _wording_in(folder: Path) -> Wording:
    return Wording(load_texts(folder), read_table(), folder)


def read_table(path: Path = PLACES_FILE) -> Table:
    """Return the table of what takes which text."""
    held = json.loads(path.read_text(encoding="utf-8"))
    refusals = {
        backend: {
            function: {kind: _place(entry) for kind, entry in kinds.items()}
            for function, kinds in functions.items()
        }
        for backend, functions in held["refusals"].items()
    }
    return Table(held["sentences"], refusals)


def _place(entry: Mapping[str, Any]) -> TextPlace:
    return TextPlace(**{**entry, "holes": tuple(entry.get("holes", ()))})


def _renamed(value: Any, own: str, called: str) -> Any:
    """Return a text in which the first mention of one function is of another."""
    if isinstance(value, dict):
        return {name: _renamed(member, own, called) for name, member in value.items()}
    return value.replace(f"{own}:", f"{called}:", 1) if isinstance(value, str) else value


def _syntax(error: BaseException) -> str:
    """Return what Python says of an expression that it cannot read, its name for it aside."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f"{error.msg} (<string>, line {error.lineno})"
    return str(error)


def refusal_of(session: Session, call: Call, result: Result) -> Refusal | None:
    """Return what is known of a call that did not succeed; None of one that did."""
    tool = session.tools[call.name]
    call = result.call or call
    # Not known is which of the calls inside of a call was refused.
    if call.nested or (result.ok and not isinstance(result.held, Declined)):
        return None
    error = result.error
    kind = error.kind if error else result.held.kind
    if error and isinstance(error.cause, TypeError) and not _fits(tool, call):
        kind = "arguments"
    state = vars(session.backends[tool.backend])
    fields = error.fields if error else {}
    return Refusal(tool, kind, error, fields, _arguments(tool, call), state)


def _fits(tool: Tool, call: Call) -> bool:
    """Tell whether the arguments of a call are those that the function has."""
    try:
        bind(tool, call.args, call.kwargs)
    except ToolError:
        return False
    return True


def _arguments(tool: Tool, call: Call) -> dict[str, Any]:
    """Return the arguments of a call by name, those left out as well, fitting or not."""
    known = parameters(tool)
    defaults = {p.name: p.default for p in known if p.default is not p.empty}
    given = zip([p.name for p in known], call.args, strict=False)
    return {**defaults, **dict(given), **call.kwargs}
