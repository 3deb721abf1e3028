"""All protocols by name, and names for several of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

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
from extensions.formats.native import FUNCTIONS, MULTI_CALL, RESPONSES
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
from runner.models.protocols.base import NOTED, Native, Protocol
from runner.models.protocols.tools import TOOLS
from trajectories.errors import DataError, nearest

_ALL: tuple[Protocol, ...] = (
    *(TOOLS, FUNCTIONS, RESPONSES, MULTI_CALL),
    *(PYTHON, HERMES, QWEN_XML, LLAMA_JSON, PYTHONIC, GLM, REACT, CHATGLM3, JSON_ACTION),
    *(GRANITE, PHI, XLAM, TOOLLLAMA, INVOKE),
    *(MISTRAL, KIMI, DSML, DEEPSEEK_V3, HARMONY, GEMMA, OLMO),
    *(HERMES_RAW, QWEN_XML_RAW, LLAMA_JSON_RAW, PYTHONIC_RAW, GLM_RAW, CHATGLM3_RAW),
    *(GRANITE_RAW, PHI_RAW, XLAM_RAW, TOOLLLAMA_RAW, INVOKE_RAW),
)
PROTOCOLS: Mapping[str, Protocol] = {protocol.name: protocol for protocol in _ALL}
KINDS = ("text", "native", "raw")
"""Names for all protocols of a kind."""


def protocol_named(name: str, option: str = "--protocol") -> Protocol:
    """Return the protocol of a name.

    Raises:
        DataError: There is none.
    """
    found = PROTOCOLS.get(name)
    if found is None and name in (*KINDS, "all"):
        raise DataError(option, f"{name} are several protocols: --protocols {name}")
    if found is None:
        close = nearest(name.lower(), PROTOCOLS, least=0.3) or "hermes"
        raise DataError(option, f"{name!r:.60} is no protocol; did you mean {close}?")
    return found


def fingerprint(protocol: Protocol) -> str:
    """Return a hash, in hex, of what is said to a model besides the functions themselves."""
    parameters: dict[str, Any] = {"type": "object", "properties": {}}
    document = {"name": "f", "description": "", "parameters": parameters}
    if isinstance(protocol, Native):
        shown = protocol.show([{"type": "function", "function": document}])
    else:
        shown = protocol.show([document])
    if not protocol.parallel:
        shown.append(NOTED)
    return sha256(json.dumps(shown).encode()).hexdigest()


def protocols_named(names: Iterable[str]) -> list[Protocol]:
    """Return the protocols of names; ``text``, ``native``, ``raw`` and ``all`` stand for several.

    Raises:
        DataError: There is none of a name.
    """
    found: dict[str, Protocol] = {}
    for name in names:
        several = [each for each in _ALL if name in (each.kind, "all")]
        for each in several or [protocol_named(name, "--protocols")]:
            found[each.name] = each
    return list(found.values())
