"""Small corpora, and BFCL's data where they have been fetched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from extensions.retrieval.corpus import Corpus, DescribedFunction
from trajectories import bfcl_reader

HOME = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "turnwise"
"""Where the data are outside of tests, which have a cache of their own."""


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
