"""Decides whether the model caused the refusal of a request.

The model is the cause if, for example, the conversation exceeds the context, a call cannot be
parsed, or the content violates a policy. The patterns match whole phrases of servers,
because an error message can also quote words of the model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from runner.models.model_types import FaultKind

_CONTEXT = re.compile(
    r"context_length_exceeded|exceed_context_size|context_window_exceeded"
    r"|\bmaximum (?:context|prompt|model) length\b|\bmaximum allowed (?:input )?length\b"
    r"|(?:exceed|long|larg|outgrow|more)\w{0,12}.{0,60}\bcontext (?:length|window|size|limit)\b"
    r"|\bcontext (?:length|window|size|limit)\b.{0,20}\b(?:exceed|reach|overflow|too)"
    r"|\bprompt is too long\b|\binput is too long\b|\btoo many (?:input )?tokens\b"
    r"|\bexceed\w* the maximum (?:number of )?tokens\b|\bexceed\w* model token limit\b"
    r"|\binput token count\b.{0,30}\bexceeds\b|`inputs` tokens \+ `max_new_tokens`"
    r"|\breduce the length of the messages\b",
    re.IGNORECASE,
)
_UNPARSED = re.compile(
    r"\btool_use_failed\b|\bfailed to call a function\b|\btool call validation failed\b"
    r"|\b(?:failed|failure|error|unable|could not|cannot)\W+(?:to\W+)?pars\w+\W+"
    r"(?:\w+\W+){0,3}?(?:tool|function)[ _-]?calls?\b"
    r"|\b(?:tool|function)[ _-]?calls?\W+(?:\w+\W+){0,3}?(?:could not|cannot) be parsed\b"
    r"|\bmalformed_function_call\b|\bfailed to parse input at pos\b",
    re.IGNORECASE,
)
_POLICY = re.compile(
    r"\bcontent_policy_violation\b|\bcontent_filter\b|\bdata_?inspection_?failed\b"
    r"|\bresponsibleaipolicy|\bcontent (?:management|filter(?:ing)?|moderation|usage) polic"
    r"|\bprompt was flagged\b|\binput was flagged\b|\brequires moderation\b"
    r"|\bviolat\w+ (?:of )?(?:our |the )?(?:usage|content|safety) (?:polic|guideline)"
    r"|\bcontent violates\b|\bcontent exists risk\b|\bconsidered high risk\b"
    r"|\bmay contain inappropriate content\b|\brejected (?:by|as a result of) (?:our|the) safety\b",
    re.IGNORECASE,
)
_TOO_LARGE = re.compile(
    r"\brequest_too_large\b|\b(?:request|payload)(?: entity| body)? (?:is )?too large\b"
    r"|\brequest exceeds the maximum size\b|_above_max_length\b",
    re.IGNORECASE,
)
_KINDS: Mapping[FaultKind, re.Pattern[str]] = {
    "unparsed_call": _UNPARSED,
    "context_overflow": _CONTEXT,
    "content_policy": _POLICY,
    "request_too_large": _TOO_LARGE,
}

OVER_QUOTA = re.compile(
    r"\brequest too large for\b.{0,200}\btokens per (?:min|day)", re.IGNORECASE | re.DOTALL
)
"""Error of a request that is larger than the rate limit. A retry cannot succeed."""


def find_model_error(status: int, words: str) -> FaultKind | None:
    """Return the kind of the error if the model caused the error, else None.

    ``status`` is the HTTP status, or 200 if only the body has an error. ``words`` contains the
    codes and the message of the error.
    """
    found = next((kind for kind, pattern in _KINDS.items() if pattern.search(words)), None)
    if status in (401, 403, 407):
        # Without access, only a policy can be the model's error.
        return found if found == "content_policy" else None
    if status >= 500:
        return found if found in ("unparsed_call", "context_overflow") else None
    if found is None and status == 413:
        return "request_too_large"
    return found if status in (200, 400, 413, 422) else None
