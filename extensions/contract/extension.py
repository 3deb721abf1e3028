"""What this extension registers."""

from __future__ import annotations

from runner.extension import Command, Extension


class ContractExtension(Extension):
    """Checks what every environment promises."""

    name = "contract"
    commands = {
        "env check": Command(
            "environment tools",
            "Check that environments keep the contract.",
            f"{__package__}.commands.check",
        ),
    }


EXTENSION = ContractExtension()
