"""Registration of the extension ``sql``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from envs.lazy_modules import lazy_module
from runner.extension import Extension

if TYPE_CHECKING:
    from checkers.profile import Profile
    from extensions.sql import sql_kind, witness_database
    from runner.data.web_services import AllowedServices
    from runner.episodes.entry_kinds import EntryKind
    from trajectories import bfcl_reader, schema
    from trajectories.bfcl_reader import EntryReader
    from trajectories.schema import JudgingMethod, Trajectory
else:
    bfcl_reader = lazy_module("trajectories.bfcl_reader")
    schema = lazy_module("trajectories.schema")
    sql_kind = lazy_module("extensions.sql.sql_kind")
    witness_database = lazy_module("extensions.sql.witness_database")


class SqlExtension(Extension):
    """Extension that executes and compares SQL statements."""

    name = "sql"

    def entry_kind(self, trajectory: Trajectory) -> EntryKind | None:
        """Return the entry kind of SQL entries."""
        by_statements = trajectory.judged_by is schema.JudgingMethod.STATEMENTS
        return sql_kind.STATEMENTS if by_statements else None

    def bfcl_readers(self) -> Mapping[JudgingMethod, EntryReader]:
        """Return the reader of BFCL's SQL entries."""
        reader = bfcl_reader.EntryReader(witness_database.read_statements, bfcl_reader.read_answer)
        return {schema.JudgingMethod.STATEMENTS: reader}

    def notes(
        self, entries: Sequence[Trajectory], profile: Profile, reach: AllowedServices
    ) -> Iterator[str]:
        """Yield a message if some entries have statements that cannot be executed."""
        reason = witness_database.NOT_EXECUTED
        compared = [each for each in entries if reason in each.provenance]
        if compared and profile.calls.executes_statements:
            yield (
                f"{len(compared)} SQL entries cannot be executed, so their calls are compared; "
                f"for example, {compared[0].id}: {compared[0].provenance[reason]}"
            )


EXTENSION = SqlExtension()
