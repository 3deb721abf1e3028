"""Calls in the form that a prompt asks for: what a model writes that does as it is told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from envs.calls import Call


def in_format(calls: Sequence[Call], system: str) -> str:
    """Return calls as text.

    Args:
        calls: What to call.
        system: The prompt that says how; without a word about it, as a list of Python calls.
    """
    if "Write them as a JSON" in system:
        text = json.dumps([{"name": call.name, "arguments": call.kwargs} for call in calls])
    elif "Write them as XML" in system:
        text = f"<calls>{''.join(map(_element, calls))}</calls>"
    elif "texts of Java" in system:
        text = f"[{', '.join(map(_in_code, calls))}]"
    else:
        text = f"[{', '.join(map(str, calls))}]"
    return f"<TOOL_CALLS>{text}</TOOL_CALLS>" if "<TOOL_CALLS>" in system else text


def _element(call: Call) -> str:
    arguments = [
        f"<argument name={quoteattr(name)}>{escape(json.dumps(value))}</argument>"
        for name, value in call.kwargs.items()
    ]
    return f"<call name={quoteattr(call.name)}>{''.join(arguments)}</call>"


def _in_code(call: Call) -> str:
    """Return a call in Java or JavaScript, where values are the texts of expressions."""
    arguments = [f"{name}={text}" for name, text in call.kwargs.items()]
    return f"{call.name}({', '.join(arguments)})"
