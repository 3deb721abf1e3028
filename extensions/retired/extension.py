"""Registration of the extension ``retired``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from envs.lazy_modules import lazy_module
from runner.extension import Command, Extension

if TYPE_CHECKING:
    from checkers.profile import Profile
    from envs import errors
    from envs.session import Session
    from extensions.retired import retired_sets
    from extensions.retired.functions import web as requests
    from extensions.retired.rest import http_sender
    from runner.data.web_services import AllowedServices
    from trajectories import bfcl_reader, schema
    from trajectories.bfcl_reader import EntryReader
    from trajectories.schema import JudgingMethod, Trajectory
else:
    bfcl_reader = lazy_module("trajectories.bfcl_reader")
    errors = lazy_module("envs.errors")
    requests = lazy_module("extensions.retired.functions.web")
    retired_sets = lazy_module("extensions.retired.retired_sets")
    schema = lazy_module("trajectories.schema")
    # Most sessions have no REST client.
    http_sender = lazy_module("extensions.retired.rest.http_sender")


class RetiredExtension(Extension):
    """Extension with BFCL's retired categories and their web services."""

    name = "retired"
    commands = {
        "env health": Command(
            "environment tools",
            "Check the web services that REST entries call.",
            f"{__package__}.commands.health",
        )
    }

    def bfcl_readers(self) -> Mapping[JudgingMethod, EntryReader]:
        """Return the reader for BFCL entries that are judged by the results of calls."""
        reader = bfcl_reader.EntryReader(retired_sets.read, retired_sets.truth_of)
        return {schema.JudgingMethod.RESULTS: reader}

    def connect(self, session: Session, reach: AllowedServices) -> None:
        """Connect the REST client and the public services."""
        for name in requests.ASKING:
            backend = session.backends.get(name)
            if backend is not None:
                http_sender.connect(backend, reach)

    def require_up(self, entries: Sequence[Trajectory], reach: AllowedServices) -> None:
        """Send a request to every web service of the entries."""
        asking = _asking(entries)
        endpoints = http_sender.ask_all(asking, http_sender.sender(reach)) if asking else []
        down = sorted({f"{e.url} ({e.problem})" for e in endpoints if e.problem})
        if down:
            raise errors.DataError("rest", f"{len(down)} endpoints are down: {'; '.join(down)}")

    def notes(
        self, entries: Sequence[Trajectory], profile: Profile, reach: AllowedServices
    ) -> Iterator[str]:
        """Yield a message if the local fixture answers calls of public services."""
        asking = () if reach.network else _asking(entries)
        if public := [each for each in asking if http_sender.asks_public(each)]:
            yield (
                f"{len(public)} entries call public services; a fixture answers them "
                "(--allow-network calls the real services)"
            )


def _asking(entries: Sequence[Trajectory]) -> list[Trajectory]:
    return [each for each in entries if not {*requests.ASKING}.isdisjoint(each.environments)]


EXTENSION = RetiredExtension()
