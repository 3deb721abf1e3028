"""Generator of additional files in existing folders, and of additional lines in existing files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajectories.generated_items.item_settings import ItemSettings
from trajectories.vocabulary import Vocabulary

_ITEMS_PER_LINE = 5
_ITEMS_PER_FILE = 4


def fill(
    config: dict[str, Any], whole: Mapping[str, Any], vocabulary: Vocabulary, bulk: ItemSettings
) -> None:
    """Add files to directories that have files; lengthen files that no user message mentions."""
    config["root"] = {
        name: {**node, "contents": _fill_folder(name, node["contents"], vocabulary, bulk)}
        for name, node in whole["root"].items()
    }


def _fill_folder(
    folder: str, contents: Mapping[str, Any], vocabulary: Vocabulary, bulk: ItemSettings
) -> dict[str, Any]:
    filled: dict[str, Any] = {}
    endings = []
    for name, node in contents.items():
        if node["type"] == "directory":
            filled[name] = {
                **node,
                "contents": _fill_folder(name, node["contents"], vocabulary, bulk),
            }
            continue
        endings.append(name.rpartition(".")[2] if "." in name.strip(".") else "txt")
        longer = node["content"]
        if bulk.lengthens and name not in bulk.without and longer:
            longer += "\n\nOlder entries, kept for reference:\n"
            longer += "\n".join(vocabulary.lines(bulk.count("lines") // _ITEMS_PER_LINE))
        filled[name] = {**node, "content": longer}
    if folder not in bulk.without:
        for ending in endings and [
            vocabulary.choice(endings) for _ in range(bulk.count("files") // _ITEMS_PER_FILE)
        ]:
            name = vocabulary.file().replace(": ", "_").replace(", ", "_").replace(" ", "_")
            added = f"{name.lower()}_{vocabulary.day()}.{ending}"
            filled.setdefault(added, {"type": "file", "content": vocabulary.page()})
    return filled
