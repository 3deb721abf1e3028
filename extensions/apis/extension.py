"""Registration of the extension ``apis``."""

from __future__ import annotations

from runner.extension import Command, Extension

_COMMANDS = f"{__package__}.commands"


class ApisExtension(Extension):
    """Environments of recorded answers."""

    name = "apis"
    commands = {
        "api import": Command(
            "environments",
            "Make an environment of a RapidAPI or OpenAPI file.",
            f"{_COMMANDS}.import_api",
        ),
        "api record": Command(
            "environments", "Record answers of the real service.", f"{_COMMANDS}.record"
        ),
        "api generate": Command(
            "environments",
            "Generate proven entries over recorded answers.",
            f"{_COMMANDS}.generate",
        ),
    }


EXTENSION = ApisExtension()
