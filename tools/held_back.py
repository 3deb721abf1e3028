"""Pack held-back scenarios together with their entries.

``python -m tools.held_back FOLDER`` packs the scenarios of a folder outside of the repository.
``turnwise dataset unpack --to FOLDER`` unpacks them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from envs.errors import DataError
from extensions.authoring.held_back import HELD_BACK, pack
from extensions.authoring.making.build import texts
from extensions.authoring.making.scenarios import read_scenarios, written


def main(arguments: Sequence[str], path: Path = HELD_BACK) -> str | None:
    """Pack the scenarios of a folder; return an error message, or None."""
    if len(arguments) != 1:
        return f"usage: python -m {__package__}.held_back FOLDER"
    try:
        scenarios = read_scenarios(Path(arguments[0]))
        files = texts(scenarios)
    except DataError as error:
        return str(error)
    files |= {f"scenarios/{scenario.name}.json": written(scenario) for scenario in scenarios}
    path.write_bytes(pack(files))
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
