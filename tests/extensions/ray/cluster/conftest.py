"""A Ray cluster of two processors on this machine, and the key to nothing."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

from extensions.ray.cluster import Cluster, connected


def pytest_configure(config: pytest.Config) -> None:
    """Let pass what inspect_ai leaves open; it is collected at any time, in any test."""
    config.addinivalue_line("filterwarnings", "ignore:Unclosed <MemoryObject:ResourceWarning")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Connect this process to a cluster, once, and return how to use it."""
    with warnings.catch_warnings():
        # Ray leaves files and sockets open that it closes at the end.
        warnings.simplefilter("ignore")
        with connected(Cluster(workers=2)):
            yield Cluster()
