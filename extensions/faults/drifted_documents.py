"""Function documents after drift, and a scripted model that reads them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache

from extensions.experiments.scripted_client import ScriptedModel
from extensions.faults.drift import Drift
from runner.models.model_types import Reply, Request, ToolCall
from runner.models.toolbox import Document, FunctionNameMapping, Toolbox


class DriftedToolbox(Toolbox):
    """Toolbox with the documents of changed functions.

    The methods receive the old names of functions.
    """

    def __init__(self, toolbox: Toolbox, drift: Drift) -> None:
        self.__dict__.update(vars(toolbox))
        self._drift = drift
        self._tool_lists = {}
        shown = {
            new["name"]: toolbox.names.shown(name) + new["name"].removeprefix(name)
            for name, document in self._documents.items()
            for new in drift.document(document)
        }
        self.names = FunctionNameMapping(shown, shown)

    def plain(self, offered: frozenset[str]) -> list[Document]:
        """Return the changed documents of the offered functions, without notes."""
        return self._drifted(super().plain(offered))

    def late(self, offers: Sequence[str]) -> list[Document]:
        """Return the changed documents of functions that a later turn adds."""
        return self._drifted(super().late(offers))

    def _drifted(self, documents: Sequence[Document]) -> list[Document]:
        return [new for document in documents for new in self._drift.document(document)]


@lru_cache(maxsize=64)
def drift_toolbox(toolbox: Toolbox, drift: Drift) -> Toolbox:
    """Return a toolbox with the changed documents. All episodes use the same toolbox."""
    return DriftedToolbox(toolbox, drift)


class DocumentReader:
    """Scripted model that adapts its calls to the changed function documents."""

    def __init__(self, model: ScriptedModel, drift: Drift) -> None:
        self._model, self._drift = model, drift

    async def ask(self, request: Request) -> Reply:
        """Return the model's reply, with calls that fit the new function documents."""
        reply = await self._model.ask(request)
        return reply._replace(tool_calls=tuple([self._follow(call) for call in reply.tool_calls]))

    def _follow(self, call: ToolCall) -> ToolCall:
        name, arguments = self._drift.follow(call.name, json.loads(str(call.arguments)))
        return call._replace(name=name, arguments=json.dumps(arguments))

    async def close(self) -> None:
        """Do nothing, because no connection exists."""
