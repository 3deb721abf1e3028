"""Small corpora, and BFCL's data where they have been fetched."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

from extensions.retrieval.corpus import Corpus, DescribedFunction
from trajectories import bfcl_reader

HOME = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "turnwise"
"""Where the data are outside of tests, which have a cache of their own."""
IS_INSTALLED = find_spec("bm25s") is not None or "ADAPTERS" in os.environ
"""Whether the libraries of the extra are there; `make test-adapters` must have them."""


class _SkippedModule(pytest.Module):
    def collect(self) -> NoReturn:
        reason = "needs turnwise[lexical]; run make test-adapters or make test-retrieval"
        pytest.skip(reason, allow_module_level=True)


def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> pytest.Module | None:
    """Skip the modules of this folder without the extra; many import it at the top."""
    return None if IS_INSTALLED else _SkippedModule.from_parent(parent, path=module_path)


def described(
    name: str, description: str, backend: str = "Shop", **parameters: str
) -> DescribedFunction:
    """Return a function whose parameters have a description each."""
    properties = {n: {"type": "string", "description": text} for n, text in parameters.items()}
    schema = {"type": "dict", "properties": properties, "required": []}
    document = {"name": name, "description": description, "parameters": schema}
    return DescribedFunction(backend, document)


@pytest.fixture
def shop() -> Corpus:
    """Four functions of two backends."""
    return Corpus(
        "shop",
        (
            described("bookFlight", "Book a flight.", "Travel", to="Where it goes."),
            described("cancel_booking", "Cancel a booking.", "Travel", id="Which booking."),
            described("send_message", "Send a message to a friend.", "Chat", text="The words."),
            described("read_messages", "Read what friends wrote.", "Chat"),
        ),
    )


@pytest.fixture(scope="session")
def bfcl_data() -> str:
    """The name of BFCL's data as it was fetched."""
    folder = HOME / f"{bfcl_reader.PACKAGE}-{bfcl_reader.VERSION}"
    if not (folder / bfcl_reader.MANIFEST_FILE).is_file():
        pytest.skip("turnwise dataset fetch bfcl has not been run")
    return f"bfcl:{folder}"
