"""What this extension registers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from envs.lazy import lazily
from runner.extension import Command, Extension

if TYPE_CHECKING:
    from checkers.profile import Profile
    from envs.session import Session
    from extensions.retired import retired_sets
    from extensions.retired.functions import web as requests
    from extensions.retired.rest import web
    from runner.data.services import Reach
    from trajectories import bfcl, errors, schema
    from trajectories.bfcl import EntryReader
    from trajectories.schema import JudgedBy, Trajectory
else:
    bfcl = lazily("trajectories.bfcl")
    errors = lazily("trajectories.errors")
    requests = lazily("extensions.retired.functions.web")
    retired_sets = lazily("extensions.retired.retired_sets")
    schema = lazily("trajectories.schema")
    # Most sessions have no REST client.
    web = lazily("extensions.retired.rest.web")


class RetiredExtension(Extension):
    """Executes the retired sets of BFCL, web services among them."""

    name = "retired"
    commands = {
        "env health": Command(
            "environment tools",
            "Ask every web service that REST entries need.",
            f"{__package__}.commands.health",
        ),
    }

    def bfcl_readers(self) -> Mapping[JudgedBy, EntryReader]:
        """Return what reads BFCL's entries whose results are compared."""
        reader = bfcl.EntryReader(retired_sets.read, retired_sets.truth_of)
        return {schema.JudgedBy.RESULTS: reader}

    def connect(self, session: Session, reach: Reach) -> None:
        """Connect the REST client and the public services."""
        for name in requests.ASKING:
            backend = session.backends.get(name)
            if backend is not None:
                web.connect(backend, reach)

    def require_up(self, entries: Sequence[Trajectory], reach: Reach) -> None:
        """Ask every web service of the entries once."""
        asking = _asking(entries)
        endpoints = web.ask_all(asking, web.sender(reach)) if asking else []
        down = sorted({f"{e.url} ({e.problem})" for e in endpoints if e.problem})
        if down:
            raise errors.DataError("rest", f"{len(down)} endpoints are down: {'; '.join(down)}")

    def notes(self, entries: Sequence[Trajectory], profile: Profile, reach: Reach) -> Iterator[str]:
        """Tell of entries for which a fixture answers."""
        asking = () if reach.network else _asking(entries)
        if public := [each for each in asking if web.asks_public(each)]:
            yield (
                f"{len(public)} entries ask public services: a fixture answers for these, with "
                "answers of our own making; --allow-network asks the services themselves"
            )


def _asking(entries: Sequence[Trajectory]) -> list[Trajectory]:
    return [each for each in entries if not {*requests.ASKING}.isdisjoint(each.environments)]


EXTENSION = RetiredExtension()
