"""A conversation as one text, for servers that complete texts: ``/completions``."""

from __future__ import annotations

from runner.models.protocols.base import Frame

RESULT = "tool_response"
"""Role of a result that has no id, as the role ``tool`` must have."""


def blocks(form: str, after: str, *roles: str) -> dict[str, tuple[str, str]]:
    """Return the marks of roles that differ in their names only.

    Args:
        form: What stands before a message, with ``{role}`` where its role is named.
        after: What stands after it.
        roles: The roles; ``a=b`` where the role ``a`` is named ``b``.
    """
    named = (role.partition("=")[::2] for role in roles)
    return {role: (form.replace("{role}", shown or role), after) for role, shown in named}


CHATML = Frame(
    blocks("<|im_start|>{role}\n", "<|im_end|>\n", "system", "user", "assistant"),
    "<|im_start|>assistant\n",
)
LLAMA = Frame(
    blocks(
        "<|start_header_id|>{role}<|end_header_id|>\n\n",
        "<|eot_id|>",
        *("system", "user", "assistant", "ipython"),
    ),
    "<|start_header_id|>assistant<|end_header_id|>\n\n",
    "<|begin_of_text|>",
)
