"""How a prompting model is asked: our own texts, from a file that a user can replace, or a format.

A format is one choice on each of four axes, and all that differs between formats is here: the
prompt, put together from the files of ``configs/prompts/formats``, the notation that functions are
shown in (JSON, Python stubs or XML: three ways to say the same), and how replies are read.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args
from xml.sax.saxutils import escape, quoteattr

from checkers.replies.formats import ReplyFormat
from runner.models.tools import Document
from trajectories.errors import DataError, nearest

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
    """The texts of one prompt file; placeholders are filled in by plain replacement."""

    system: str
    observation: str
    handover_prompt: str
    handover_fc: str
    sha256: str
    """Hash of the file, in hex."""
    first_user: str | None = None
    """The first user message, around ``{request}`` and ``{functions}``; None where functions stand
    in the system message."""


def read_prompts(path: Path = DEFAULT, *, nests: bool = False) -> PromptTexts:
    """Read a prompt file.

    Args:
        path: The file.
        nests: Whether a call may stand for a value in another, which models are then told.

    Raises:
        DataError: It cannot be read, or a text or its placeholder is missing.
    """
    texts, digest = read_texts(path)
    first_user = _first_user(texts.pop("place", {}), path)
    nesting = texts.pop("nesting", "")
    if not isinstance(nesting, str):
        raise DataError(f"{path}: nesting", "is not a text")
    wanted = {name: (placeholder,) for name, placeholder in _PLACEHOLDERS.items()}
    elsewhere = {} if first_user is None else {"system": ()}
    stripped = checked_texts(texts, {**wanted, **elsewhere}, path)
    if elsewhere and _PLACEHOLDERS["system"] in stripped["system"]:
        raise DataError(f"{path}: system", "has functions, which [place] puts elsewhere")
    said = f"{nesting.strip()} " if nests and nesting.strip() else ""
    stripped["system"] = stripped["system"].replace("{nesting}", said)
    return PromptTexts(**stripped, sha256=digest, first_user=first_user)


def read_texts(path: Path) -> tuple[dict[str, Any], str]:
    """Return what a file of texts holds, and its hash in hex.

    Raises:
        DataError: It cannot be read.
    """
    try:
        content = path.read_bytes()
        texts = tomllib.loads(content.decode("utf-8"))
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(str(path), f"is not valid TOML: {error}") from None
    return texts, sha256(content).hexdigest()


def checked_texts(
    texts: Mapping[str, Any], wanted: Mapping[str, Sequence[str]], path: Path
) -> dict[str, str]:
    """Return texts of a file without blanks around them.

    Args:
        texts: What the file holds.
        wanted: The names of the texts that it must hold, each with its placeholders.
        path: The file.

    Raises:
        DataError: A text or its placeholder is missing, or there is one more.
    """
    for name in texts:
        if name not in wanted:
            raise DataError(f"{path}: {name}", f"unknown text; there are {', '.join(wanted)}")
    for name, placeholders in wanted.items():
        if not isinstance(texts.get(name), str):
            raise DataError(f"{path}: {name}", "is missing or not a text")
        for placeholder in placeholders:
            if placeholder not in texts[name]:
                raise DataError(f"{path}: {name}", f"must contain {placeholder}")
    return {name: text.strip() for name, text in texts.items()}


def _first_user(place: object, path: Path) -> str | None:
    """Return the first user message that a file's ``[place]`` asks for, None where for none."""
    where = f"{path}: [place]"
    known = {"functions", "user"}
    if not isinstance(place, Mapping) or not known.issuperset(place):
        raise DataError(where, f"must be a table of {' and '.join(sorted(known))}")
    functions, user = place.get("functions", "system"), place.get("user")
    if functions not in ("system", "user"):
        raise DataError(f"{where} functions", 'must be "system" or "user"')
    if functions == "system":
        if user is not None:
            raise DataError(f"{where} user", 'is of no use without functions = "user"')
        return None
    if not isinstance(user, str):
        raise DataError(f"{where} user", "is missing or not a text")
    for placeholder in ("{request}", "{functions}"):
        if placeholder not in user:
            raise DataError(f"{where} user", f"must contain {placeholder}")
    return user.strip()


def as_first_user(text: str, request: str, documents: Sequence[Document]) -> str:
    """Fill what the user says and function documents into a text, neither into the other."""
    parts = {"{request}": request, "{functions}": render(documents, "json")}
    return _FIRST_USER.sub(lambda found: parts[found[0]], text)


_FIRST_USER = re.compile(r"\{request\}|\{functions\}")


def with_functions(text: str, documents: Sequence[Document]) -> str:
    """Fill function documents into a text, as indented JSON."""
    return text.replace("{functions}", render(documents, "json"))


def with_results(text: str, calls: Sequence[str], results: Sequence[str]) -> str:
    """Fill calls and their results into a text, as JSON."""
    made = [{"call": call, "result": result} for call, result in zip(calls, results, strict=True)]
    return text.replace("{results}", json.dumps(made, indent=1, ensure_ascii=False))


Notation = Literal["json", "python", "xml"]
Returns = Literal["python", "json", "xml"]
Markup = Literal["plain", "markdown"]


class PromptFormat(NamedTuple):
    """One way to ask."""

    returns: Returns
    """What calls are written in."""
    tagged: bool
    """Whether calls stand between marks, and nothing else counts as calls."""
    documents: Notation
    """What functions are shown in."""
    markup: Markup
    """How the prompt itself is written."""

    @property
    def name(self) -> str:
        """The four choices, such as ``json-tagged-python-plain``."""
        return f"{self.returns}-{_TAGS[self.tagged]}-{self.documents}-{self.markup}"

    @property
    def sha256(self) -> str:
        """Hash of the prompt, in hex."""
        return sha256(_frame(self).encode()).hexdigest()

    def system(self, documents: Sequence[Document]) -> str:
        """Return the first message."""
        return _frame(self).replace("{functions}", render(documents, self.documents))

    @property
    def reader(self) -> ReplyFormat:
        """What turns a reply into calls."""
        return ReplyFormat(self.returns, self.tagged)


_TAGS = {False: "bare", True: "tagged"}

ALL = tuple(
    [
        PromptFormat(*choices)
        for choices in product(get_args(Returns), _TAGS, get_args(Notation), get_args(Markup))
    ]
)
"""Every combination: 36 formats."""


def formats_named(names: Iterable[str]) -> list[PromptFormat]:
    """Return the formats of some names, or all of them for ``all``.

    Raises:
        DataError: There is none of a name.
    """
    known = {each.name: each for each in ALL}
    wanted = list(dict.fromkeys(names))
    if wanted == ["all"]:
        return list(ALL)
    for name in wanted:
        if name not in known:
            close = nearest(name, known, least=0.0)
            raise DataError("--formats", f"{name!r} is no format; did you mean {close}, or all?")
    return [known[name] for name in wanted]


@cache
def _frame(prompt_format: PromptFormat) -> str:
    """Return the prompt, but for the functions."""
    parts = [prompt_format.returns, *(["tag"] if prompt_format.tagged else [])]
    reply = " ".join(map(_text, parts))
    frame = _text(prompt_format.markup).replace("{language}", prompt_format.documents)
    return frame.replace("{reply}", reply)


def _text(name: str) -> str:
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
_TOLD_APART = ("type", "description", "items", "properties", "required")
"""Members of a schema that are not listed with the others, such as a default."""


def render(documents: Sequence[Document], notation: Notation) -> str:
    """Return documents as text.

    Args:
        documents: In BFCL's dialect of JSON Schema.
        notation: What they are written in.
    """
    if notation == "json":
        return json.dumps(documents, indent=4, ensure_ascii=False)
    write = _python if notation == "python" else _xml
    return "\n\n".join("\n".join(write(document)) for document in documents)


def _python(document: Document) -> Iterator[str]:
    schema = document["parameters"]
    required = schema.get("required", ())
    parameters = [
        f"{name}: {_type(value, _PYTHON_TYPES)}{'' if name in required else ' = ...'}"
        for name, value in schema["properties"].items()
    ]
    yield f"def {document['name']}({', '.join(parameters)}):"
    yield f'    """{document["description"]}'
    if parameters:
        yield ""
        yield "    Args:"
        yield from _python_members(schema["properties"], 8)
    yield '    """'


def _python_members(properties: Mapping[str, Any], indent: int) -> Iterator[str]:
    for name, schema in properties.items():
        notes = [f"{key}: {json.dumps(v, ensure_ascii=False)}." for key, v in _more(schema)]
        about = " ".join([f"{schema.get('description', '')}", *notes])
        yield f"{' ' * indent}{name} ({_type(schema, _PYTHON_TYPES)}): {about}"
        yield from _python_members(_members(schema), indent + 4)


def _type(schema: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Return a type with that of its elements, by other names where there are any."""
    word = str(schema.get("type", "any"))
    name = names.get(word, word)
    items = schema.get("items")
    return f"{name}[{_type(items, names)}]" if isinstance(items, Mapping) else name


def _xml(document: Document) -> Iterator[str]:
    schema = document["parameters"]
    yield f"<function name={quoteattr(document['name'])}>"
    yield f"  <description>{escape(document['description'])}</description>"
    yield from _xml_members(schema, 2)
    yield "</function>"


def _xml_members(schema: Mapping[str, Any], indent: int) -> Iterator[str]:
    blanks = " " * indent
    members = _members(schema)
    for name, member in members.items():
        # A schema that does not say which members it requires means all.
        required = "true" if name in schema.get("required", members) else "false"
        attributes = f"name={quoteattr(name)} type={quoteattr(_type(member, {}))}"
        yield f'{blanks}<parameter {attributes} required="{required}">'
        yield f"{blanks}  <description>{escape(str(member.get('description', '')))}</description>"
        for key, value in _more(member):
            text = escape(json.dumps(value, ensure_ascii=False))
            yield f"{blanks}  <{key}>{text}</{key}>"
        yield from _xml_members(member, indent + 2)
        yield f"{blanks}</parameter>"


def _more(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what else a schema says of a value or its elements, such as an enumeration."""
    items = schema.get("items")
    for part in (schema, items if isinstance(items, Mapping) else {}):
        yield from ((key, value) for key, value in part.items() if key not in _TOLD_APART)


def _members(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the members of an object, or of the objects in a list."""
    items = schema.get("items")
    found = schema.get("properties") or (_members(items) if isinstance(items, Mapping) else {})
    return found if isinstance(found, Mapping) else {}
