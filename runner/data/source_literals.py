"""Parser of the strings in a module's source.

The source is never executed.

A text is a list of parts: strings, and placeholders ``{"conversion", "spec"}`` as in a format
string. A returned string becomes ``{"text": parts}``. A dict becomes
``{"members": [[name, output]]}``. A list becomes ``{"items": [output]}``. Any other literal becomes
``{"value": literal}``. Any other expression becomes ``{}``. A ``raise`` statement adds
``"raised": true``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from string import Formatter
from typing import Any

from envs.errors import DataError
from trajectories.jsonl import parse_object, read_text

Given = Mapping[str, Any]
"""One output of a function, as a JSON object."""
Texts = Mapping[str, Mapping[str, list[Given]]]
"""Outputs by class and function: ``{"MathAPI": {"mean": [output, ...]}}``; "" means no class."""

TEXTS_FILE = "texts.json"

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
"""Paths of the modules with prompts or result messages, within the package."""

_HOLE: dict[str, str] = {"conversion": "", "spec": ""}
_PERCENT = re.compile(r"%(?P<spec>[-+ 0#]*+[0-9]*+(?:\.[0-9]+)?)(?P<kind>[srdifgeGE%])")


def texts_of(read: Callable[[str], str]) -> Texts:
    """Return the outputs of all modules.

    Raises ValueError if a module cannot be parsed.
    """
    found: dict[str, Mapping[str, list[Given]]] = {}
    for module in MODULES:
        for owner, functions in read_texts(read(module)).items():
            found[owner or module.removesuffix(".py")] = functions
    return found


def load_texts(folder: Path) -> Texts:
    """Return the texts of a data folder, from its file or its package.

    Raises DataError if the texts do not exist.
    """
    kept = folder / TEXTS_FILE
    try:
        if kept.exists():
            texts: Texts = parse_object(read_text(kept), str(kept))
            return texts
        return texts_of(lambda module: (folder.parent / module).read_text(encoding="utf-8"))
    except (OSError, ValueError, DataError):
        why = f"{folder} has no refusal messages of BFCL; run turnwise dataset fetch bfcl"
        how = "then choose --dataset bfcl, or choose --observations own"
        raise DataError("--observations bfcl", f"{why}, {how}") from None


def read_texts(source: str) -> Texts:
    """Return the outputs of a module's functions, and its constants.

    Raises ValueError if the source cannot be parsed.
    """
    try:
        module = ast.parse(source)
    except SyntaxError as error:
        raise ValueError(f"not Python: {error.msg}") from None
    found: dict[str, dict[str, list[Given]]] = {"": {}}
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            methods = [f for f in node.body if isinstance(f, ast.FunctionDef)]
            found[node.name] = {f.name: _find_outputs(f) for f in methods}
        elif isinstance(node, ast.FunctionDef):
            found[""][node.name] = _find_outputs(node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[""][node.targets[0].id] = [_read_output(node.value)]
    return found


def _find_outputs(function: ast.FunctionDef) -> list[Given]:
    found: list[Given] = []
    for node in _walk(function):
        value = _output_value(node)
        if value is not None:
            raised = {"raised": True} if isinstance(node, ast.Raise) else {}
            found.append({**_read_output(value), **raised})
    return found


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield child
        yield from _walk(child)


def _output_value(node: ast.AST) -> ast.expr | None:
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


def _read_output(node: ast.expr) -> Given:
    parts = _parts(node)
    if parts is not None and any(isinstance(part, str) for part in parts):
        return {"text": parts}
    if isinstance(node, ast.Dict):
        names = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        if all(isinstance(name, str) for name in names):
            values = map(_read_output, node.values)
            return {"members": [list(pair) for pair in zip(names, values, strict=True)]}
    if isinstance(node, ast.List) and any(
        isinstance(each, (ast.Dict, ast.JoinedStr)) for each in node.elts
    ):
        return {"items": [_read_output(each) for each in node.elts]}
    try:
        return {"value": _as_json(ast.literal_eval(node))}
    except (ValueError, TypeError):
        return {}


def _as_json(value: Any) -> Any:
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, list):
        return [_as_json(member) for member in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _as_json(member) for key, member in value.items()}
    raise TypeError


def _parts(node: ast.expr) -> list[Any] | None:
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=values):
            return _join_parts([part for value in values for part in _parts(value) or [_HOLE]])
        case ast.FormattedValue(conversion=conversion, format_spec=spec):
            written = _parts(spec) if spec else [""]
            literal = "".join(written) if written and _HOLE not in written else ""
            return [{"conversion": chr(conversion) if conversion > 0 else "", "spec": literal}]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = _parts(left), _parts(right)
            if first is None and second is None:
                return None
            return _join_parts([*(first or [_HOLE]), *(second or [_HOLE])])
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod()):
            return _parse_percent(text)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
            return _parse_format(text)
    return None


def _parse_format(text: str) -> list[Any]:
    parts: list[Any] = []
    for literal, name, spec, conversion in Formatter().parse(text):
        parts.append(literal)
        if name is not None:
            parts.append({"conversion": conversion or "", "spec": spec or ""})
    return _join_parts(parts)


def _parse_percent(text: str) -> list[Any]:
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
    return _join_parts([*parts, text[end:]])


def _join_parts(parts: list[Any]) -> list[Any]:
    joined: list[Any] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    return joined
