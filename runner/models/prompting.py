"""The texts that Turnwise itself puts to a model, from a file that a user can replace."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from runner.models.tools import Document
from trajectories.errors import DataError

DEFAULT = Path(__file__).parents[2] / "configs" / "prompts" / "default.toml"

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


def read_prompts(path: Path = DEFAULT) -> PromptTexts:
    """Read a prompt file.

    Raises:
        DataError: It cannot be read, or a text or its placeholder is missing.
    """
    try:
        content = path.read_bytes()
        texts = tomllib.loads(content.decode("utf-8"))
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(str(path), f"is not valid TOML: {error}") from None
    for name in texts:
        if name not in _PLACEHOLDERS:
            raise DataError(
                f"{path}: {name}", f"unknown text; there are {', '.join(_PLACEHOLDERS)}"
            )
    for name, placeholder in _PLACEHOLDERS.items():
        if not isinstance(texts.get(name), str):
            raise DataError(f"{path}: {name}", "is missing or not a text")
        if placeholder not in texts[name]:
            raise DataError(f"{path}: {name}", f"must contain {placeholder}")
    stripped = {name: texts[name].strip() for name in _PLACEHOLDERS}
    return PromptTexts(**stripped, sha256=sha256(content).hexdigest())


def with_functions(text: str, documents: Sequence[Document]) -> str:
    """Fill function documents into a text, as indented JSON."""
    shown = json.dumps(documents, indent=4, ensure_ascii=False)
    return text.replace("{functions}", shown)


def with_results(text: str, calls: Sequence[str], results: Sequence[str]) -> str:
    """Fill calls and their results into a text, as JSON."""
    shown = [{"call": call, "result": result} for call, result in zip(calls, results, strict=True)]
    return text.replace("{results}", json.dumps(shown, indent=1, ensure_ascii=False))
