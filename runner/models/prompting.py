"""How a prompting model is asked: our own texts, from a file that a user can replace, or a format.

A format is one choice on each of four axes, and all that differs between formats is here: the
prompt, put together from the files of ``configs/prompts/formats``, and how replies are read.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import cache
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from checkers.replies.formats import ReplyFormat
from runner.models import documents as shown
from runner.models.tools import Document
from trajectories.errors import DataError

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
    return text.replace("{functions}", shown.render(documents, "json"))


def with_results(text: str, calls: Sequence[str], results: Sequence[str]) -> str:
    """Fill calls and their results into a text, as JSON."""
    made = [{"call": call, "result": result} for call, result in zip(calls, results, strict=True)]
    return text.replace("{results}", json.dumps(made, indent=1, ensure_ascii=False))


Returns = Literal["python", "json", "xml"]
Markup = Literal["plain", "markdown"]


class PromptFormat(NamedTuple):
    """One way to ask."""

    returns: Returns
    """What calls are written in."""
    tagged: bool
    """Whether calls stand between marks, and nothing else counts as calls."""
    documents: shown.Notation
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
        """Return the first message.

        Args:
            documents: The functions that may be called.
        """
        return _frame(self).replace("{functions}", shown.render(documents, self.documents))

    @property
    def reader(self) -> ReplyFormat:
        """What turns a reply into calls."""
        return ReplyFormat(self.returns, self.tagged)


_TAGS = {False: "bare", True: "tagged"}

ALL = tuple(
    [
        PromptFormat(*choices)
        for choices in product(get_args(Returns), _TAGS, get_args(shown.Notation), get_args(Markup))
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
            close = get_close_matches(name, known, n=1, cutoff=0.0)[0]
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
