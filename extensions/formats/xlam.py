"""xLAM: a reply that is a JSON list of calls, in a fence or bare, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from envs.calls import Call
from extensions.formats.json_calls import writing_list
from extensions.formats.raw import CHATML, RESULT
from extensions.formats.reading import check_length, json_at, listed_calls
from extensions.formats.showing import answering, indented, showing
from runner.models.protocols.base import Written
from runner.models.tools import Document

_BEGINNING = re.compile(r"\[\s*+\{\s*+\"(?:name|arguments)\"\s*+:")


def read(text: str, _documents: Sequence[Document]) -> list[Call]:
    """Read the first list of objects with names; without one it is prose.

    Raises:
        MalformedCall: It cannot be read.
    """
    check_length(text)
    found = _BEGINNING.search(text)
    return listed_calls(json_at(text, found.start())[0]) if found else []


write = writing_list("")
show = showing("several", write, indented)

XLAM = Written("xlam", "text", True, show, write, answering("{result}"), read)
XLAM_RAW = XLAM._replace(
    name="xlam-raw",
    kind="raw",
    answer=answering("{result}", RESULT, together=False),
    frame=CHATML._replace(roles={**CHATML.roles, RESULT: ("<|im_start|>tool\n", "<|im_end|>\n")}),
    stops=("<|im_end|>",),
)
