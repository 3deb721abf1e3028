"""Registration of the extension ``apis``."""

from __future__ import annotations

from runner.extension import Command, Extension

_COMMANDS = f"{__package__}.commands"


class ApisExtension(Extension):
    """Extension that makes environments of recorded answers."""

    name = "apis"
    commands = {
        "env import": Command(
            "environment tools",
            "Make an environment from a RapidAPI or OpenAPI file.",
            f"{_COMMANDS}.import_api",
        ),
        "env record": Command(
            "environment tools", "Record answers of the real service.", f"{_COMMANDS}.record"
        ),
        "env generate": Command(
            "environment tools",
            "Generate entries that use recorded answers.",
            f"{_COMMANDS}.generate",
        ),
    }


EXTENSION = ApisExtension()
