"""Prompts for models without tool calls, from a prompt file or a prompt format.

A prompt format sets the notation of calls and functions, and the markup of the prompt.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args
from xml.sax.saxutils import escape, quoteattr

from checkers.replies.formats import ReplyFormat
from envs.errors import DataError
from envs.syntax_errors import describe_json_error
from runner.models.toolbox import Document
from trajectories.jsonl import read_text

_PROMPTS = Path(__file__).parents[2] / "configs" / "prompts"
DEFAULT = _PROMPTS / "default.toml"
FOLDER = _PROMPTS / "formats"

_PLACEHOLDERS = {
    "system": "{functions}",
    "observation": "{results}",
    "handover_prompt": "{functions}",
    "handover_fc": "",
}


class PromptTexts(NamedTuple):
    """The texts of a prompt file, with placeholders."""

    system: str
    observation: str
    handover_prompt: str
    handover_fc: str
    sha256: str
    first_user: str | None = None
    """Template of the first user message; None if the system message contains the functions."""


def read_prompts(path: Path = DEFAULT, *, nests: bool = False) -> PromptTexts:
    """Read a prompt file. With ``nests``, the system prompt allows nested calls.

    Raises DataError if the file cannot be read, or if a text or placeholder is missing.
    """
    texts, digest = read_texts(path)
    first_user = _read_first_user(texts.pop("place", {}), path)
    # This table is read by searches.
    texts.pop("search", None)
    nesting = texts.pop("nesting", "")
    if not isinstance(nesting, str):
        raise DataError(f"{path}: nesting", "is not a string")
    wanted = {name: (placeholder,) for name, placeholder in _PLACEHOLDERS.items()}
    elsewhere = {} if first_user is None else {"system": ()}
    stripped = checked_texts(texts, {**wanted, **elsewhere}, path)
    if elsewhere and _PLACEHOLDERS["system"] in stripped["system"]:
        raise DataError(
            f"{path}: system",
            "must not contain {functions}; the TOML table [place] adds the functions",
        )
    note = f"{nesting.strip()} " if nests and nesting.strip() else ""
    stripped["system"] = stripped["system"].replace("{nesting}", note)
    return PromptTexts(**stripped, sha256=digest, first_user=first_user)


def read_texts(path: Path) -> tuple[dict[str, Any], str]:
    """Return the texts of a TOML file, and the file's hash in hex.

    Raises DataError if the file cannot be read.
    """
    text = read_text(path)
    try:
        return tomllib.loads(text), sha256(text.encode()).hexdigest()
    except (ValueError, RecursionError) as error:
        raise DataError(str(path), f"is not valid TOML: {describe_json_error(error)}") from None


def checked_texts(
    texts: Mapping[str, Any], wanted: Mapping[str, Sequence[str]], path: Path
) -> dict[str, str]:
    """Return the texts of a file. ``wanted`` maps each name to the required placeholders.

    Raises DataError if a text is missing or unknown, or if a text lacks a placeholder.
    """
    for name in texts:
        if name not in wanted:
            raise DataError(f"{path}: {name}", f"unknown key; the keys are {', '.join(wanted)}")
    for name, placeholders in wanted.items():
        if not isinstance(texts.get(name), str):
            raise DataError(f"{path}: {name}", "is missing or not a string")
        for placeholder in placeholders:
            if placeholder not in texts[name]:
                raise DataError(f"{path}: {name}", f"must contain {placeholder}")
    return {name: text.strip() for name, text in texts.items()}


def _read_first_user(place: object, path: Path) -> str | None:
    where = f"{path}: [place]"
    known = {"functions", "user"}
    if not isinstance(place, Mapping) or not known.issuperset(place):
        raise DataError(where, f"must be a table of {' and '.join(sorted(known))}")
    functions, user = place.get("functions", "system"), place.get("user")
    if functions not in ("system", "user"):
        raise DataError(f"{where} functions", "must be `system` or `user`")
    if functions == "system":
        if user is not None:
            raise DataError(f"{where} user", 'has no effect without functions = "user"')
        return None
    if not isinstance(user, str):
        raise DataError(f"{where} user", "is missing or not a string")
    for placeholder in ("{request}", "{functions}"):
        if placeholder not in user:
            raise DataError(f"{where} user", f"must contain {placeholder}")
    return user.strip()


def as_first_user(text: str, request: str, documents: Sequence[Document]) -> str:
    """Insert the user's request and the function documents into a template."""
    parts = {"{request}": request, "{functions}": render(documents, "json")}
    return _FIRST_USER.sub(lambda found: parts[found[0]], text)


_FIRST_USER = re.compile(r"\{request\}|\{functions\}")


def with_functions(text: str, documents: Sequence[Document]) -> str:
    """Insert function documents into a text, as indented JSON."""
    return text.replace("{functions}", render(documents, "json"))


def with_results(text: str, calls: Sequence[str], results: Sequence[str]) -> str:
    """Insert calls and their results into a text, as JSON."""
    made = [{"call": call, "result": result} for call, result in zip(calls, results, strict=True)]
    return text.replace("{results}", json.dumps(made, indent=1, ensure_ascii=False))


Notation = Literal["json", "python", "xml"]
Returns = Literal["python", "json", "xml"]
Markup = Literal["plain", "markdown"]


class PromptFormat(NamedTuple):
    """A prompt format for single-turn entries."""

    returns: Returns
    tagged: bool
    """Whether the model must write calls between tags."""
    documents: Notation
    markup: Markup

    @property
    def name(self) -> str:
        """Name of the format, such as ``json-tagged-python-plain``."""
        return f"{self.returns}-{_TAGS[self.tagged]}-{self.documents}-{self.markup}"

    @property
    def sha256(self) -> str:
        """Hash of the prompt, in hex."""
        return sha256(_build_frame(self).encode()).hexdigest()

    def system(self, documents: Sequence[Document]) -> str:
        """Return the system message."""
        return _build_frame(self).replace("{functions}", render(documents, self.documents))

    @property
    def reader(self) -> ReplyFormat:
        """The format of replies."""
        return ReplyFormat(self.returns, self.tagged)


_TAGS = {False: "bare", True: "tagged"}

_CHOICES = (get_args(Returns), _TAGS, get_args(Notation), get_args(Markup))
ALL = tuple([PromptFormat(*choices) for choices in product(*_CHOICES)])


@cache
def _build_frame(prompt_format: PromptFormat) -> str:
    parts = [prompt_format.returns, *(["tag"] if prompt_format.tagged else [])]
    reply = " ".join(map(_read_part, parts))
    frame = _read_part(prompt_format.markup).replace("{language}", prompt_format.documents)
    return frame.replace("{reply}", reply)


def _read_part(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8").strip()


_PYTHON_TYPES = {
    "string": "str",
    "integer": "int",
    "float": "float",
    "boolean": "bool",
    "array": "list",
    "tuple": "tuple",
    "dict": "dict",
    "any": "Any",
}
_MAIN_MEMBERS = ("type", "description", "items", "properties", "required")


def render(documents: Sequence[Document], notation: Notation) -> str:
    """Render function documents in a notation."""
    if notation == "json":
        return json.dumps(documents, indent=4, ensure_ascii=False)
    write = _write_python if notation == "python" else _write_xml
    return "\n\n".join("\n".join(write(document)) for document in documents)


def _write_python(document: Document) -> Iterator[str]:
    schema = document["parameters"]
    required = schema.get("required", ())
    parameters = [
        f"{name}: {_type_name(value, _PYTHON_TYPES)}{'' if name in required else ' = ...'}"
        for name, value in schema["properties"].items()
    ]
    yield f"def {document['name']}({', '.join(parameters)}):"
    yield f'    """{document["description"]}'
    if parameters:
        yield ""
        yield "    Args:"
        yield from _write_python_members(schema["properties"], 8)
    yield '    """'


def _write_python_members(properties: Mapping[str, Any], indent: int) -> Iterator[str]:
    for name, schema in properties.items():
        notes = [
            f"{key}: {json.dumps(v, ensure_ascii=False)}." for key, v in _list_other_members(schema)
        ]
        about = " ".join([f"{schema.get('description', '')}", *notes])
        yield f"{' ' * indent}{name} ({_type_name(schema, _PYTHON_TYPES)}): {about}"
        yield from _write_python_members(_find_members(schema), indent + 4)


def _type_name(schema: Mapping[str, Any], names: Mapping[str, str]) -> str:
    word = str(schema.get("type", "any"))
    name = names.get(word, word)
    items = schema.get("items")
    return f"{name}[{_type_name(items, names)}]" if isinstance(items, Mapping) else name


def _write_xml(document: Document) -> Iterator[str]:
    schema = document["parameters"]
    yield f"<function name={quoteattr(document['name'])}>"
    yield f"  <description>{escape(document['description'])}</description>"
    yield from _write_xml_members(schema, 2)
    yield "</function>"


def _write_xml_members(schema: Mapping[str, Any], indent: int) -> Iterator[str]:
    blanks = " " * indent
    members = _find_members(schema)
    for name, member in members.items():
        # Without "required", all members are required.
        required = "true" if name in schema.get("required", members) else "false"
        attributes = f"name={quoteattr(name)} type={quoteattr(_type_name(member, {}))}"
        yield f'{blanks}<parameter {attributes} required="{required}">'
        yield f"{blanks}  <description>{escape(str(member.get('description', '')))}</description>"
        for key, value in _list_other_members(member):
            text = escape(json.dumps(value, ensure_ascii=False))
            yield f"{blanks}  <{key}>{text}</{key}>"
        yield from _write_xml_members(member, indent + 2)
        yield f"{blanks}</parameter>"


def _list_other_members(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    items = schema.get("items")
    for part in (schema, items if isinstance(items, Mapping) else {}):
        yield from ((key, value) for key, value in part.items() if key not in _MAIN_MEMBERS)


def _find_members(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    items = schema.get("items")
    found = schema.get("properties") or (_find_members(items) if isinstance(items, Mapping) else {})
    return found if isinstance(found, Mapping) else {}
