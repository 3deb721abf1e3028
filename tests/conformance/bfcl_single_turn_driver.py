"""Answers single-turn questions with BFCL itself; run by the interpreter that has it.

Reads one question per line on standard input and writes one answer per line, both as JSON:

    {"do": "decode", "text", "language"}                      what its prompting decoder reads
    {"do": "convert", "text", "language", "type", "items"}    the value that a text stands for
    {"do": "check", "documents", "output", "answers", "language", "kind", "underscores"}

An answer is {"value": ...}, or {"raised": the exception's class}. A check's value is null where it
passes and the error type where it does not. Values keep their types: see ``typed``.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from importlib.util import find_spec
from types import SimpleNamespace
from unittest.mock import MagicMock

NOT_NEEDED = ("filelock", "tenacity")
GRAMMARS = ("tree_sitter", "tree_sitter_java", "tree_sitter_javascript")
NO_GRAMMARS = {"raised": "no grammars"}
"""The answer where Java or JavaScript is to be decoded without them."""
MODELS = {str(flag): SimpleNamespace(underscore_to_dot=flag) for flag in (True, False)}
"""Models as the checker asks for them: only whether a dot in a name becomes an underscore."""


def main() -> None:
    """Answer lines until standard input ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever BFCL prints must not get between the replies
    prepare()
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        replies.write(json.dumps(answer(json.loads(line))) + "\n")
    replies.flush()


def prepare() -> None:
    """Stand in for what the checker imports along and does not use: all the providers' clients."""
    for name in (*NOT_NEEDED, *GRAMMARS):
        if find_spec(name) is None:
            sys.modules[name] = MagicMock()
    sys.modules["bfcl_eval.constants.model_config"] = SimpleNamespace(MODEL_CONFIG_MAPPING=MODELS)


def answer(question: dict) -> dict:
    """Answer one question."""
    do = {"decode": decode, "convert": convert, "check": check}[question.pop("do")]
    in_code = do is decode and question["language"] != "python"
    if in_code and any(isinstance(sys.modules.get(name), MagicMock) for name in GRAMMARS):
        return NO_GRAMMARS
    try:
        return {"value": do(**question)}
    except Exception as error:
        return {"raised": type(error).__name__}


def decode(text: str, language: str) -> object:
    """Return what the default decoder of prompting models reads."""
    from bfcl_eval.constants.enums import ReturnFormat
    from bfcl_eval.model_handler.utils import default_decode_ast_prompting

    return typed(default_decode_ast_prompting(text, ReturnFormat(language)))


def convert(text: str, language: str, type: str, items: str | None) -> object:
    """Return the value that a converter makes of a text."""
    from bfcl_eval.eval_checker.ast_eval.type_convertor.java_type_converter import (
        java_type_converter,
    )
    from bfcl_eval.eval_checker.ast_eval.type_convertor.js_type_converter import js_type_converter

    converter = {"java": java_type_converter, "javascript": js_type_converter}[language]
    return typed(converter(text, type, items))


def check(
    documents: list, output: object, answers: list, language: str, kind: str, underscores: bool
) -> str | None:
    """Return the error type of a verdict, None where the output passes."""
    from bfcl_eval.constants.enums import Language
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker

    verdict = ast_checker(
        documents, untyped(output), answers, Language(language), kind, str(underscores)
    )
    return None if verdict["valid"] else verdict["error_type"]


def typed(value: object) -> object:
    """Return a value in a form that survives JSON: what is no text or truth value says its type."""
    if isinstance(value, dict):
        return {"dict": [[typed(key), typed(member)] for key, member in value.items()]}
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [typed(member) for member in value]}
    if value is None or isinstance(value, (bool, str)):
        return value
    return {type(value).__name__: repr(value)}


def untyped(value: object) -> object:
    """Return the value that ``typed`` wrote; used for outputs, which are plain data."""
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "dict":
        return {untyped(key): untyped(member) for key, member in content}
    if kind == "list":
        return [untyped(member) for member in content]
    if kind == "tuple":
        return tuple(untyped(member) for member in content)
    return {"int": int, "float": float, "complex": complex}[kind](content)


if __name__ == "__main__":
    main()
