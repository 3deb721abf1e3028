"""Export of functions: a Python module that defines them as LangChain tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pprint import pformat
from typing import Any

_MODULE = '''"""Functions as LangChain tools; turnwise's adapter does the same for a live session:

    from turnwise.extensions.adapters.langchain_tools import tools
"""

from langchain_core.tools import StructuredTool

FUNCTIONS = {functions}


def tools(call):
    """Return the tools; call(name, arguments) makes a call and returns its result as text."""
    return [_tool(call, function) for function in FUNCTIONS]


def _tool(call, function):
    def run(**arguments):
        return call(function["name"], arguments)

    return StructuredTool(
        name=function["name"],
        description=function["description"],
        args_schema=function["parameters"],
        func=run,
    )
'''


def module_text(tools: Sequence[Mapping[str, Any]]) -> str:
    """Return the source of a module; its function ``tools`` makes LangChain tools."""
    functions = [tool["function"] for tool in tools]
    shown = pformat(functions, indent=1, width=100, compact=True, sort_dicts=False)
    return _MODULE.replace("{functions}", shown).rstrip()
