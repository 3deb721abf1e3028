"""The texts in a module's source, read as literals and format texts: parsed, and never run.

A text is a list of parts: strings as they are, and holes, each ``{"conversion", "spec"}`` as in a
format text. What a function gives is one of ``{"text": parts}``, ``{"members": [[name, what]]}``
for an object whose names are literals, ``{"items": [what]}`` for a list that is no literal,
``{"value": literal}``, or ``{}`` for whatever else; with ``"raised": true`` where it is raised.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from string import Formatter
from typing import Any

from trajectories.errors import DataError
from trajectories.jsonl import parse_object, read_text

Given = Mapping[str, Any]
"""What a function gives at one place."""
Texts = Mapping[str, Mapping[str, list[Given]]]
"""By class, "" outside of any, and function or constant: what is given, place by place."""

TEXTS_FILE = "texts.json"
"""What is kept of the texts, beside the data."""

_BACKENDS = "eval_checker/multi_turn_eval/func_source_code"
MODULES = (
    *(
        f"{_BACKENDS}/{name}.py"
        for name in (
            "gorilla_file_system",
            "math_api",
            "message_api",
            "posting_api",
            "ticket_api",
            "trading_bot",
            "travel_booking",
            "vehicle_control",
        )
    ),
    "eval_checker/multi_turn_eval/multi_turn_utils.py",
    "constants/default_prompts.py",
    "model_handler/utils.py",
    "utils.py",
)
"""Whose texts models read, relative to the package folder."""

_HOLE: dict[str, str] = {"conversion": "", "spec": ""}
_PERCENT = re.compile(r"%(?P<spec>[-+ 0#]*+[0-9]*+(?:\.[0-9]+)?)(?P<kind>[srdifgeGE%])")


def texts_of(read: Callable[[str], str]) -> Texts:
    """Return the texts of the package; what is outside of classes is by the module's path.

    Raises:
        ValueError: A module is none.
    """
    found: dict[str, Mapping[str, list[Given]]] = {}
    for module in MODULES:
        for owner, functions in read_texts(read(module)).items():
            found[owner or module.removesuffix(".py")] = functions
    return found


def load_texts(folder: Path) -> Texts:
    """Return the texts that belong to a data folder: kept beside it, or its package's.

    Raises:
        DataError: There are none.
    """
    kept = folder / TEXTS_FILE
    try:
        if kept.exists():
            texts: Texts = parse_object(read_text(kept), str(kept))
            return texts
        return texts_of(lambda module: (folder.parent / module).read_text(encoding="utf-8"))
    except (OSError, ValueError, DataError):
        raise DataError(
            "--observations bfcl",
            f"the texts are not with {folder}: run turnwise dataset fetch bfcl and give "
            "--dataset bfcl, or --observations own",
        ) from None


def read_texts(source: str) -> Texts:
    """Return what the functions of a module return and raise, and the module's own constants.

    Places are counted from 0 within a function, in the order of the source.

    Raises:
        ValueError: The text is no module.
    """
    try:
        module = ast.parse(source)
    except SyntaxError as error:
        raise ValueError(f"no Python: {error.msg}") from None
    found: dict[str, dict[str, list[Given]]] = {"": {}}
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            methods = {f.name: _places(f) for f in node.body if isinstance(f, ast.FunctionDef)}
            found[node.name] = methods
        elif isinstance(node, ast.FunctionDef):
            found[""][node.name] = _places(node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[""][node.targets[0].id] = [_given(node.value)]
    return found


def _places(function: ast.FunctionDef) -> list[Given]:
    """Return what a function gives where it returns, raises, or puts a text aside."""
    found: list[Given] = []
    for node in _in_order(function):
        value = _handed_on(node)
        if value is not None:
            raised = {"raised": True} if isinstance(node, ast.Raise) else {}
            found.append({**_given(value), **raised})
    return found


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield child
        yield from _in_order(child)


def _handed_on(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.Return(value=ast.expr() as value):
            return value
        case ast.Assign(
            targets=[ast.Subscript(slice=ast.Constant(value=str()) as name)], value=value
        ):
            return ast.Dict([name], [value])
        case ast.Assign(value=value) | ast.AugAssign(value=value):
            return value
        case ast.Raise(exc=ast.Call(args=[value, *_])):
            return value
        case ast.Call(func=ast.Attribute(attr="append"), args=[value]):
            return value
    return None


def _given(node: ast.expr) -> Given:
    parts = _parts(node)
    if parts is not None and any(isinstance(part, str) for part in parts):
        return {"text": parts}
    if isinstance(node, ast.Dict):
        names = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        if all(isinstance(name, str) for name in names):
            values = map(_given, node.values)
            return {"members": [list(pair) for pair in zip(names, values, strict=True)]}
    if isinstance(node, ast.List) and any(_is_made(each) for each in node.elts):
        return {"items": [_given(each) for each in node.elts]}
    try:
        return {"value": _plain(ast.literal_eval(node))}
    except (ValueError, TypeError):
        return {}


def _is_made(node: ast.expr) -> bool:
    return isinstance(node, (ast.Dict, ast.JoinedStr))


def _plain(value: Any) -> Any:
    """Return a literal that JSON can express.

    Raises:
        TypeError: It cannot.
    """
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, list):
        return [_plain(member) for member in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(member) for key, member in value.items()}
    raise TypeError


def _parts(node: ast.expr) -> list[Any] | None:
    """Return the parts of an expression that is text, or None where it need not be."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=values):
            return _joined([part for value in values for part in _parts(value) or [_HOLE]])
        case ast.FormattedValue(conversion=conversion, format_spec=spec):
            written = _parts(spec) if spec else [""]
            literal = "".join(written) if written and _HOLE not in written else ""
            return [{"conversion": chr(conversion) if conversion > 0 else "", "spec": literal}]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = _parts(left), _parts(right)
            if first is None and second is None:
                return None
            return _joined([*(first or [_HOLE]), *(second or [_HOLE])])
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod()):
            return _percent(text)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
            return _formatted(text)
    return None


def _formatted(text: str) -> list[Any]:
    parts: list[Any] = []
    for literal, name, spec, conversion in Formatter().parse(text):
        parts.append(literal)
        if name is not None:
            parts.append({"conversion": conversion or "", "spec": spec or ""})
    return _joined(parts)


def _percent(text: str) -> list[Any]:
    parts: list[Any] = []
    end = 0
    for found in _PERCENT.finditer(text):
        parts.append(text[end : found.start()])
        kind = found["kind"]
        if kind == "%":
            parts.append("%")
        elif kind in "sr":
            parts.append({"conversion": kind, "spec": ""})
        else:
            parts.append({"conversion": "", "spec": f"{found['spec']}{kind.replace('i', 'd')}"})
        end = found.end()
    return _joined([*parts, text[end:]])


def _joined(parts: list[Any]) -> list[Any]:
    """Return parts in which no two strings are neighbours, and none is empty."""
    joined: list[Any] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    return joined
