"""DeepSeek V3.2 and V4: invoke and parameter elements that say which values are texts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from envs.calls import Call
from envs.errors import MalformedCall
from extensions.formats.deepseek_v3 import BAR, FRAME, STOPS
from extensions.formats.raw import RESULT
from extensions.formats.reading import json_at
from extensions.formats.showing import answering, before, indented, showing
from extensions.formats.xml_calls import Tagged, Tags
from runner.models.protocols.base import Written
from runner.models.tools import Document

_MARK = f"{BAR}DSML{BAR}"
_OPENING, _CLOSING = f"<{_MARK}function_calls>", f"</{_MARK}function_calls>"
_IS_TEXT, _IS_JSON = 'true">', 'false">'


class _Typed(Tagged):
    """Each argument says whether it is a text or JSON."""

    def text_of(self, value: Any, schema: Mapping[str, Any] | None) -> str:
        """Write a value behind its kind."""
        if isinstance(value, str):
            return f"{_IS_TEXT}{value}"
        return f"{_IS_JSON}{json.dumps(value, ensure_ascii=False)}"

    def value_of(self, text: str, schema: Mapping[str, Any] | None) -> Any:
        """Read a value by the kind that is said.

        Raises:
            MalformedCall: It says no kind, or is not JSON where it says so.
        """
        if text.startswith(_IS_TEXT):
            return text.removeprefix(_IS_TEXT)
        if not text.startswith(_IS_JSON):
            raise MalformedCall('A parameter must say string="true" or string="false".')
        value, end = json_at(text, len(_IS_JSON), "A parameter")
        if text[end:].strip():
            raise MalformedCall('A parameter with string="false" must be one JSON value.')
        return value


_TAGGED = _Typed(
    Tags(
        f'<{_MARK}invoke name="',
        '">',
        f"</{_MARK}invoke>",
        f'<{_MARK}parameter name="',
        '" string="',
        f"</{_MARK}parameter>",
    )
)


def write(calls: Sequence[Call], text: str = "", documents: Sequence[Document] = ()) -> str:
    """Write calls inside of one wrapper."""
    each = [_TAGGED.call(call, documents) for call in calls]
    return before(text, "\n".join([_OPENING, *each, _CLOSING]) if each else "")


DSML = Written(
    "dsml",
    "raw",
    True,
    showing("several", write, indented),
    write,
    answering("<result>{result}</result>", RESULT),
    _TAGGED.read,
    STOPS,
    FRAME._replace(
        roles={**FRAME.roles, RESULT: ("\n\n<function_results>\n", "\n</function_results>\n\n")}
    ),
)
