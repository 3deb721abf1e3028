"""Registry of all calling formats by name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from envs.errors import DataError, suggest_name
from extensions.formats.action_families import JSON_ACTION, REACT, TOOLLLAMA, TOOLLLAMA_RAW
from extensions.formats.gemma import GEMMA
from extensions.formats.harmony import HARMONY
from extensions.formats.json_families import (
    DEEPSEEK_V3,
    GRANITE,
    GRANITE_RAW,
    HERMES,
    HERMES_RAW,
    KIMI,
    LLAMA_JSON,
    LLAMA_JSON_RAW,
    MISTRAL,
    PHI,
    PHI_RAW,
    XLAM,
    XLAM_RAW,
)
from extensions.formats.native_families import FUNCTIONS, MULTI_CALL, RESPONSES
from extensions.formats.python_families import (
    CHATGLM3,
    CHATGLM3_RAW,
    OLMO,
    PYTHON,
    PYTHONIC,
    PYTHONIC_RAW,
)
from extensions.formats.tag_families import (
    DSML,
    GLM,
    GLM_RAW,
    INVOKE,
    INVOKE_RAW,
    QWEN_XML,
    QWEN_XML_RAW,
)
from runner.models.calling_formats.format_types import NOTED, CallingFormat, NativeFormat
from runner.models.calling_formats.tools import TOOLS

_ALL: tuple[CallingFormat, ...] = (
    *(TOOLS, FUNCTIONS, RESPONSES, MULTI_CALL),
    *(PYTHON, HERMES, QWEN_XML, LLAMA_JSON, PYTHONIC, GLM, REACT, CHATGLM3, JSON_ACTION),
    *(GRANITE, PHI, XLAM, TOOLLLAMA, INVOKE),
    *(MISTRAL, KIMI, DSML, DEEPSEEK_V3, HARMONY, GEMMA, OLMO),
    *(HERMES_RAW, QWEN_XML_RAW, LLAMA_JSON_RAW, PYTHONIC_RAW, GLM_RAW, CHATGLM3_RAW),
    *(GRANITE_RAW, PHI_RAW, XLAM_RAW, TOOLLLAMA_RAW, INVOKE_RAW),
)
PROTOCOLS: Mapping[str, CallingFormat] = {each.name: each for each in _ALL}
KINDS = ("text", "native", "raw")
"""Kinds of calling formats; a kind's name selects all of its formats."""


def calling_format_named(name: str, option: str = "--calling-format") -> CallingFormat:
    """Return the calling format of this name.

    Raises DataError if the name is unknown or selects several formats.
    """
    if name in PROTOCOLS:
        return PROTOCOLS[name]
    if name in (*KINDS, "all"):
        message = f"{name!r} selects several calling formats; use --calling-formats {name}"
        raise DataError(option, message)
    hint = suggest_name(name.lower(), PROTOCOLS) or f"; choose from {', '.join(PROTOCOLS)}"
    raise DataError(option, f"{name!r:.60} is not a calling format{hint}")


def fingerprint(calling_format: CallingFormat) -> str:
    """Return the hex hash of the format's prompt texts; functions of entries are not included."""
    parameters: dict[str, Any] = {"type": "object", "properties": {}}
    document = {"name": "f", "description": "", "parameters": parameters}
    if isinstance(calling_format, NativeFormat):
        shown = calling_format.show([{"type": "function", "function": document}])
    else:
        shown = calling_format.show([document])
    if not calling_format.parallel:
        shown.append(NOTED)
    return sha256(json.dumps(shown).encode()).hexdigest()


def calling_formats_named(names: Iterable[str]) -> list[CallingFormat]:
    """Return calling formats by name. A kind selects all its formats; ``all`` selects all formats.

    Raises DataError if a name is unknown.
    """
    found: dict[str, CallingFormat] = {}
    for name in names:
        several = [each for each in _ALL if name in (each.kind, "all")]
        for each in several or [calling_format_named(name, "--calling-formats")]:
            found[each.name] = each
    return list(found.values())
