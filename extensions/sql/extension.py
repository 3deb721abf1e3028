"""What this extension registers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from envs.lazy import lazily
from runner.extension import Extension

if TYPE_CHECKING:
    from checkers.profile import Profile
    from extensions.sql import kind, witness
    from runner.data.services import Reach
    from runner.episodes.kinds import EntryKind
    from trajectories import bfcl, schema
    from trajectories.bfcl import EntryReader
    from trajectories.schema import JudgedBy, Trajectory
else:
    bfcl = lazily("trajectories.bfcl")
    schema = lazily("trajectories.schema")
    kind = lazily("extensions.sql.kind")
    witness = lazily("extensions.sql.witness")


class SqlExtension(Extension):
    """Executes and compares SQL statements."""

    name = "sql"

    def entry_kind(self, judged_by: JudgedBy) -> EntryKind | None:
        """Return how SQL entries are judged."""
        return kind.STATEMENTS if judged_by is schema.JudgedBy.STATEMENTS else None

    def bfcl_readers(self) -> Mapping[JudgedBy, EntryReader]:
        """Return what reads the SQL entries that BFCL publishes."""
        reader = bfcl.EntryReader(witness.read_statements, bfcl.answer_of)
        return {schema.JudgedBy.STATEMENTS: reader}

    def notes(self, entries: Sequence[Trajectory], profile: Profile, reach: Reach) -> Iterator[str]:
        """Tell of statements that cannot be executed."""
        reason = witness.NOT_EXECUTED
        compared = [each for each in entries if reason in each.provenance]
        if compared and profile.calls.executes_statements:
            yield (
                f"{len(compared)} entries of SQL cannot be executed and are judged by their calls, "
                f"such as {compared[0].id}: {compared[0].provenance[reason]}"
            )


EXTENSION = SqlExtension()
