"""Drift: functions change after the entries were written.

The change of a function depends only on the seed and the function's name, so all entries of a run
have the same changed functions. By default, the function documents describe the changes. With
``documents=old``, the model reads the old documents. The model then learns about a change only from
errors and from notices in results.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal, NamedTuple, Self, get_args

from envs.calls import Call
from envs.errors import DataError, MalformedCall
from envs.tool import Document, Tool

DriftKind = Literal["rename", "new-parameter", "deprecated"]
DRIFTS: tuple[DriftKind, ...] = get_args(DriftKind)
_VERSION = "_v2"
_PARAMETER = "api_version"
_BITS = 2**64


class Drift(NamedTuple):
    """Settings of the changes: kinds, share and seed. Without kinds, no function changes."""

    kinds: tuple[DriftKind, ...] = ()
    share: float = 1.0
    seed: int = 0
    has_old_documents: bool = False

    @classmethod
    def read(cls, text: str, where: str = "--drift") -> Self:
        """Read ``rename|deprecated,share=0.5,seed=3``. Raises DataError if the text is invalid."""
        first, *parts = [part.strip() for part in text.split(",")]
        found = cls(tuple(kind for kind in DRIFTS if kind in first.split("|")))
        try:
            if not {*first.split("|")} <= {*DRIFTS}:
                raise ValueError
            for part in parts:
                name, _, value = part.partition("=")
                if name == "share":
                    found = found._replace(share=float(value))
                elif name == "seed":
                    found = found._replace(seed=int(value))
                elif name == "documents" and value in ("new", "old"):
                    found = found._replace(has_old_documents=value == "old")
                else:
                    raise ValueError
        except ValueError:
            wanted = f"{'|'.join(DRIFTS)},share=1,seed=0,documents=new"
            raise DataError(where, f"{text!r:.60} cannot be read; write {wanted}") from None
        if not 0 <= found.share <= 1:
            raise DataError(where, "`share` must be from 0 to 1, such as share=0.5")
        return found

    def __str__(self) -> str:
        """Return the settings in the form that ``read`` accepts."""
        documents = ",documents=old" if self.has_old_documents else ""
        return f"{'|'.join(self.kinds)},share={self.share:g},seed={self.seed}{documents}"

    def draw(self, function: str) -> DriftKind | None:
        """Return the kind of a function's change; None if the function does not change."""
        digest = sha256(f"{self.seed}\n{function}".encode()).digest()
        if not self.kinds or int.from_bytes(digest[:8], "big") >= self.share * _BITS:
            return None
        return self.kinds[digest[8] % len(self.kinds)]

    def tell(self, function: str) -> str | None:
        """Return the message that describes a function's change; None if it did not change."""
        kind = self.draw(function)
        if kind == "rename":
            return f"{function} is now called {function}{_VERSION}. Its parameters are the same."
        if kind == "new-parameter":
            return f"{function} now requires the parameter {_PARAMETER}. Its only value is 2."
        if kind == "deprecated":
            return f"{function} is deprecated. Use {function}{_VERSION} with the same parameters."
        return None

    def document(self, document: Document) -> list[Document]:
        """Return the one or two documents that replace the document of a changed function."""
        name, text = document["name"], document["description"]
        kind = self.draw(name)
        renamed = {**document, "name": f"{name}{_VERSION}"}
        if kind == "rename":
            return [renamed]
        if kind == "deprecated":
            return [{**document, "description": f"{text} {self.tell(name)}"}, renamed]
        if kind == "new-parameter":
            schema = document["parameters"]
            parameter = {"type": "integer", "enum": [2], "description": "Version of the function."}
            changes = {
                "properties": {**schema["properties"], _PARAMETER: parameter},
                "required": [*schema.get("required", ()), _PARAMETER],
            }
            return [{**document, "parameters": {**schema, **changes}}]
        return [document]

    def follow(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Convert a call in the old form to the form that the new documents require."""
        kind = self.draw(name)
        new = f"{name}{_VERSION}" if kind in ("rename", "deprecated") else name
        return new, {**arguments, **({_PARAMETER: 2} if kind == "new-parameter" else {})}

    def find_kind(self, call: str, result: str) -> DriftKind | None:
        """Return the kind of change that affected a recorded call, or None."""
        function = call.partition("(")[0]
        old = function.removesuffix(_VERSION)
        kind = self.draw(old)
        if old != function:
            return kind if kind in ("rename", "deprecated") else None
        if kind == "deprecated":
            # The record has results without the notice of a deprecated function.
            return None if result.startswith('{"error"') else kind
        is_new = kind == "new-parameter" and f"{_PARAMETER}=" in call
        return kind if is_new or str(self.tell(function)) in result else None

    def refuse(self, call: Call | MalformedCall, tools: Mapping[str, Tool]) -> str | None:
        """Return the error message for a call if the call has the old form, else None."""
        if not isinstance(call, Call) or call.name not in tools:
            return None
        kind = self.draw(call.name)
        is_old = kind == "rename" or (
            kind == "new-parameter" and call.kwargs.get(_PARAMETER) not in (2, "2")
        )
        return self.tell(call.name) if is_old else None

    def restate(
        self, call: Call | MalformedCall, tools: Mapping[str, Tool]
    ) -> Call | MalformedCall:
        """Convert a call in the new form to the old form; return other calls unchanged."""
        if not isinstance(call, Call):
            return call
        old = call.name.removesuffix(_VERSION)
        is_new = call.name not in tools and old in tools
        if is_new and self.draw(old) in ("rename", "deprecated"):
            return call._replace(name=old)
        if self.draw(call.name) == "new-parameter" and _PARAMETER in call.kwargs:
            kept = {name: value for name, value in call.kwargs.items() if name != _PARAMETER}
            return call._replace(kwargs=kept)
        return call
