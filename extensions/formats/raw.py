"""A conversation as one text, for servers that complete texts: ``/completions``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from runner.models.base import ChatMessage

RESULT = "tool_response"
"""Role of a result that has no id, as the role ``tool`` must have."""


class Frame(NamedTuple):
    """How a family writes a conversation, with its control tokens."""

    roles: Mapping[str, tuple[str, str]]
    """What stands before and after a message, by its role."""
    cue: str
    """What a reply follows."""
    begin: str = ""
    """What the whole begins with."""
    closing: Callable[[str], str] | None = None
    """What stands after a reply, by the reply; None where that is always the same."""
    joins: frozenset[str] = frozenset()
    """After whose messages a reply goes on without what stands before it."""

    def render(self, messages: Sequence[ChatMessage]) -> str:
        """Return a conversation up to where the model goes on."""
        parts, last = [self.begin], ""
        for message in messages:
            parts.append(self._message(message, last))
            last = message["role"]
        return "".join([*parts, "" if last in self.joins else self.cue])

    def _message(self, message: ChatMessage, last: str) -> str:
        role, content = message["role"], message["content"] or ""
        before, after = self.roles.get(role) or self.roles["user"]
        if role != "assistant":
            return f"{before}{content}{after}"
        if self.closing is not None:
            after = self.closing(content)
        # A server may leave the token in the reply that ended it.
        return f"{'' if last in self.joins else before}{content.removesuffix(after)}{after}"


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
