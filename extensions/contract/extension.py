"""Registration of the extension ``contract``."""

from __future__ import annotations

from runner.extension import Command, Extension


class ContractExtension(Extension):
    """Extension that checks environments against the contract."""

    name = "contract"
    commands = {
        "env tools": Command(
            "environment tools",
            "Show the functions of environments.",
            f"{__package__}.commands.tools",
        ),
        "env check": Command(
            "environment tools",
            "Check environments against the contract.",
            f"{__package__}.commands.check",
        ),
    }


EXTENSION = ContractExtension()
