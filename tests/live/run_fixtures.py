"""What the tests of whole runs share: a server that knows the ground truth, and the command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from runner.cli import main
from tests.live.running import ENTRIES, Ended, arguments, ready_and
from tests.servers.answers import of_dataset
from tests.servers.serving import Answerer, FakeServer
from trajectories.dataset import load_embedded
from trajectories.schema import Category


@pytest.fixture(scope="session")
def truth() -> Answerer:
    """Return what answers requests about the base category with the ground truth."""
    return ready_and(of_dataset("turnwise", "base"))


@pytest.fixture(scope="session")
def openings() -> dict[str, str]:
    """Return the ids of the base category by what their users say first."""
    found = load_embedded([Category.BASE]).trajectories
    return {t.turns[0].messages[0].content: id for id, t in found.items()}


@pytest.fixture
def ids(openings: Mapping[str, str]) -> list[str]:
    """Return the ids of the entries that ``BASE`` chooses."""
    return list(openings.values())[:ENTRIES]


@pytest.fixture
def run(
    server: FakeServer, truth: Answerer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ended]:
    """Run the command in this process, against a server that tells the truth until told not to."""
    server.answer = truth

    def whole(*more: str, folder: Path = tmp_path / "run") -> Ended:
        status = main(arguments(server, folder, *more))
        said = capsys.readouterr()
        return Ended(status, said.out, said.err)

    return whole


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where ``run`` keeps its run."""
    return tmp_path / "run"
