"""Typed stub modules, drafted from untrusted function documents.

Names and docstrings from the documents are sanitized. A module with code other than stubs is
refused before it is imported.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence, Set
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from envs.backend import Backend
from envs.errors import DataError
from envs.schema import make_spec
from extensions.drafting.schema_types import PythonType, TypeConverter, literal, plain_text

MAX_FUNCTIONS = 1_000
"""Maximum functions of one description."""
_MAX_PARAMETERS = 100
_WIDTH = 88
_MAX_LINE_CHARS, _MAX_NAME_CHARS = 100, 60
_SUMMARY, _DETAIL, _PARAMETER = 200, 1_200, 400
"""Maximum number of characters of each part of a description."""
_USED = frozenset({"Any", "Config", "Mapping", "Sequence", "reads", "records", "self", "writes"})
_TAKEN = frozenset(dir(Backend)) | frozenset(dir(builtins)) | _USED
_HEADING = re.compile(r"\b(Args|Returns|Raises|Examples):")
_USED_AS = {
    "Annotated": "Annotated[",
    "Field": "Field(",
    "Literal": "Literal[",
    "NotRequired": "NotRequired[",
}
_NAMES = frozenset({"Field", "_not_written"})
"""Names that a module of stubs may call."""
_HARMLESS = (
    ast.Module, ast.Import, ast.ImportFrom, ast.alias, ast.ClassDef, ast.FunctionDef, ast.arguments,
    ast.arg, ast.Return, ast.Expr, ast.Constant, ast.AnnAssign, ast.Assign, ast.Name, ast.Attribute,
    ast.Subscript, ast.Tuple, ast.List, ast.Dict, ast.BinOp, ast.BitOr, ast.UnaryOp, ast.USub,
    ast.Call, ast.keyword, ast.expr_context,
)  # fmt: skip


class FunctionSignature(NamedTuple):
    """Signature of a function, as declared in its description."""

    document: Mapping[str, Any]
    """Name, description and parameters of a function; parameters are a JSON Schema without
    references."""
    reads: bool
    """Whether the function changes no state."""
    kind: str
    """Tag of the function."""


class Stub(NamedTuple):
    """Stub of a function."""

    name: str
    code: str
    call: str
    """A valid call of the stub."""
    types: str
    """Source code of the parameters' types."""


class StubModule(NamedTuple):
    """Parts of a drafted module, such as stubs and example records."""

    stubs: Sequence[Stub]
    classes: str
    """Source code of the parameters' classes."""
    names: Set[str]
    """Names that the module must import, such as ``Annotated`` or ``Literal``."""
    records: Mapping[str, Sequence[Any]]
    """Records of the example config: an empty list for each kind of object."""
    renamed: Sequence[str]
    """Names that had to change, as pairs of old and new names."""


def draft(functions: Sequence[FunctionSignature], prefix: str, name: str) -> StubModule:
    """Return a module with one stub for each function.

    Raises DataError if there are no functions, or more than ``MAX_FUNCTIONS``.
    """
    if not functions:
        raise DataError("env new", "the description has no function")
    if len(functions) > MAX_FUNCTIONS:
        message = (
            f"the description has {len(functions)} functions; at most {MAX_FUNCTIONS} are drafted"
        )
        raise DataError("env new", message)
    used: set[str] = set()
    classes = TypeConverter(name)
    stubs, renamed = [], []
    for function in functions:
        old = str(function.document.get("name") or "")
        new = _free(_function_name(old, prefix), used)
        if new != old:
            renamed.append(f"{plain_text(old, 60)} is renamed to {new}")
        stubs.append(_stub(new, function, classes))
    kinds = dict.fromkeys(plain_text(function.kind, 60) or name for function in functions)
    records: dict[str, Sequence[Any]] = {kind: [] for kind in list(kinds)[:50]}
    types = classes.source() + ", ".join(stub.types for stub in stubs)
    names = {name for name, used_as in _USED_AS.items() if used_as in types}
    return StubModule(stubs, classes.source(), names, records, renamed)


def check_harmless(code: str) -> None:
    """Check that a drafted module only defines stubs.

    Raises DataError if the module has other code or is invalid Python; both are bugs in Turnwise.
    """
    message = "no safe module can be drafted from this description"
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise DataError("env new", message) from None
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        known = called is None or (isinstance(called, ast.Name) and called.id in _NAMES)
        if not isinstance(node, _HARMLESS) or not known:
            raise DataError("env new", message)


def _function_name(text: str, prefix: str) -> str:
    name = identifier(text, "function")
    if keyword.iskeyword(name) or name in _TAKEN:
        name = f"{prefix}_{name}"[:_MAX_NAME_CHARS].rstrip("_")
    return name


def identifier(text: str, otherwise: str) -> str:
    """Return a text as an ASCII identifier without a leading underscore."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")[:_MAX_NAME_CHARS].strip("_")
    whole = name if name and name[0].isalpha() else f"{otherwise}_{name}"
    return whole[:_MAX_NAME_CHARS].strip("_")


def _free(name: str, used: set[str]) -> str:
    new, number = name, 2
    while new in used:
        new, number = f"{name}_{number}", number + 1
    used.add(new)
    return new


class _Parameter(NamedTuple):
    name: str
    told: str
    type: PythonType
    default: str | None
    """Source code of the default; None if the parameter is required."""


def _stub(name: str, function: FunctionSignature, classes: TypeConverter) -> Stub:
    taken = [*_parameters(name, function.document, classes)]
    taken.sort(key=lambda parameter: parameter.default is not None)
    shown = {p.name: p.type.sample for p in taken if p.default is None}
    call = f"{name}({', '.join(f'{key}={value!r}' for key, value in shown.items())})"
    marked = "reads" if function.reads else "writes"
    lines = [f"@{marked}", *_signature(name, taken)]
    lines += [f"    {line}".rstrip() for line in _docstring(name, function, taken, call)]
    if taken:
        given = [f"        {p.name}={p.name}," for p in taken]
        lines += ["    return _not_written(", f'        "{name}",', *given, "    )"]
    else:
        lines.append(f'    return _not_written("{name}")')
    types = ", ".join(parameter.type.source for parameter in taken)
    return Stub(name, textwrap.indent("\n".join(lines), "    "), call, types)


def _signature(name: str, taken: Sequence[_Parameter]) -> Iterator[str]:
    if not taken:
        yield f"def {name}(self) -> dict[str, Any]:"
        return
    yield f"def {name}("
    yield "    self,"
    for parameter in taken:
        default = "" if parameter.default is None else f" = {parameter.default}"
        yield f"    {parameter.name}: {parameter.type.source}{default},"
    yield ") -> dict[str, Any]:"


def _docstring(
    name: str, function: FunctionSignature, taken: Sequence[_Parameter], call: str
) -> Iterator[str]:
    told = _prose(function.document.get("description"), _SUMMARY + _DETAIL) or f"Call {name}."
    first, *rest = _wrapped(told if told.endswith(".") else f"{told}.", "")
    yield f'"""{first}'
    yield from rest
    yield ""
    if taken:
        yield "Args:"
        for parameter in taken:
            first, *rest = _wrapped(f"{parameter.name}: {parameter.told}", "        ")
            yield f"    {first.strip()}"
            yield from rest
        yield ""
    yield from ("Returns:", "    not_written: This function, which is yet to be written.")
    yield from ("    given: The arguments.", "", "Examples:", f"    >>> {_escaped(call)}")
    yield from (f'    {{"not_written": "{name}", ...', '"""')


def _parameters(
    name: str, document: Mapping[str, Any], classes: TypeConverter
) -> Iterator[_Parameter]:
    schema = document.get("parameters")
    schema = schema if isinstance(schema, Mapping) else {}
    properties, required = schema.get("properties"), schema.get("required")
    used = {"self"}
    members = list(properties.items()) if isinstance(properties, Mapping) else []
    needed = [str(each) for each in required] if isinstance(required, list) else []
    for old, inner in members[:_MAX_PARAMETERS]:
        inner = inner if isinstance(inner, Mapping) else {}
        new = identifier(str(old), "value")
        new = _free(f"{new}_" if keyword.iskeyword(new) or new in ("self", "cls") else new, used)
        kind = classes.of(inner, f"{name}_{new}")
        told = (
            _prose(inner.get("description"), _PARAMETER) or f"The {new.replace('_', ' ').strip()}."
        )
        if new != old:
            told = told if told.endswith(".") else f"{told}."
            told += f" Called {_prose(str(old), 60)} in the description."
        default = None
        if str(old) not in needed:
            default = _default(inner, kind)
            kind = kind if default != "None" else kind.or_none()
        if len(f"        {new}: {kind.source} = {default},") > _MAX_LINE_CHARS:
            kind, default = kind.anything(), default and "None"
        yield _Parameter(new, told, kind, default)


def _default(schema: Mapping[str, Any], kind: PythonType) -> str:
    given = schema.get("default")
    return literal(given) if kind.takes(given) else "None"


def _prose(text: object, most: int) -> str:
    words = plain_text(text, most) if isinstance(text, str) else ""
    words = _HEADING.sub(r"\1", words).replace(">>>", "> > >").replace('"""', "'''")
    return words.strip('" ')


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\")


def _wrapped(text: str, indent: str) -> list[str]:
    lines = textwrap.wrap(
        text,
        _WIDTH,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
    return [_escaped(line) for line in lines] or [""]


def module(name: str, title: str, draft: StubModule, imports: str) -> str:
    """Return the source of a module of stubs.

    Args:
        name: Name of the class.
        title: Title of the description.
        draft: The drafted parts of the module.
        imports: Import lines that every environment needs.
    """
    typing = ", ".join(sorted({"Any", *({"Annotated", "Literal", "NotRequired"} & draft.names)}))
    pydantic = "from pydantic import Field\n" if "Field" in draft.names else ""
    used = {"reads" if "    @reads" in s.code else "writes" for s in draft.stubs}
    methods = "\n\n".join(stub.code for stub in draft.stubs)
    marks = ", ".join(["Backend", *sorted(used)])
    return _MODULE.format(
        name=name,
        title=_escaped(_prose(title, 200)) or "a description",
        typing=typing,
        imports=pydantic + imports.format(marks=marks),
        classes=draft.classes,
        methods=methods,
    )


_MODULE = '''"""{name}, drafted from {title}.

Every function is a stub: it says that it is not written yet, and what it was given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import {typing}

{imports}


def _not_written(name: str, /, **given: Any) -> dict[str, Any]:
    """Answer for a function that is yet to be written."""
    return {{"not_written": name, "given": given}}


{classes}class {name}Config(TypedDict, total=False):
    """Initial config. A draft: give every kind of record a key and a type of its own."""

    records: dict[str, list[dict[str, Any]]]


class {name}(Backend):
    """{name}: say which world this is, what its state holds, and in which units."""

    Config = {name}Config

    records: Mapping[str, Sequence[Mapping[str, Any]]] = {{}}

{methods}
'''


def documents(code: str, name: str) -> list[dict[str, Any]]:
    """Return the function documents of a drafted module; the module is checked, then imported.

    Raises DataError if the module has code other than stubs, or cannot be imported.
    """
    check_harmless(code)
    title = f"_drafted_{name}"
    with TemporaryDirectory() as folder:
        file = Path(folder) / "drafted.py"
        file.write_text(code, encoding="utf-8")
        found = spec_from_file_location(title, file)
        assert found is not None
        assert found.loader is not None
        made = module_from_spec(found)
        # Types that are written as text are looked up there.
        sys.modules[title] = made
        try:
            found.loader.exec_module(made)
            return [make_spec(tool).document() for tool in vars(made)[name].TOOLS.values()]
        except (DataError, TypeError, NameError) as error:
            message = " ".join(str(error).replace(str(file), "the draft").split())
            raise DataError("env new", f"cannot be drafted: {message:.200}") from None
        finally:
            del sys.modules[title]
