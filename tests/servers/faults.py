"""Trouble that a server can give, by name, and plans of when it gives it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

from runner.models.model_types import FaultKind
from tests.servers.serving import Answer, Answerer, Asked, as_json
from tests.servers.shapes import SHAPES, completion


def _refusal(asked: Asked) -> Answer:
    """Refuse the key and repeat it, as some servers do."""
    key = asked.headers.get("authorization", "").removeprefix("Bearer ")
    return as_json(
        {
            "error": {
                "message": f"Incorrect API key provided: {key}.",
                "type": "invalid_request_error",
                "code": "invalid_api_key",
            }
        },
        401,
    )


_GOOD = json.dumps(completion({"role": "assistant", "content": "All is well, take your time."}))


def _error(message: str, kind: str, code: object = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "code": code}}


_UNPARSED = {
    "message": "Failed to call a function. See 'failed_generation' for more details.",
    "type": "invalid_request_error",
    "code": "tool_use_failed",
}

FAULTS: dict[str, Answerer] = {
    "reset": lambda _: Answer(manner="reset"),
    "hang": lambda _: Answer(manner="hang"),
    "slow": lambda _: Answer(_GOOD.encode(), manner="drip"),
    "half": lambda _: Answer(_GOOD.encode(), manner="half"),
    "truncated": lambda _: Answer(_GOOD[:-20].encode()),
    "empty": lambda _: Answer(),
    "html": lambda _: Answer(b"<html><body>Welcome</body></html>", kind="text/html"),
    "401": _refusal,
    "403": lambda _: as_json(_error("You may not.", "permission_error"), 403),
    "404": lambda _: as_json(
        _error("The model `fake` does not exist", "x", "model_not_found"), 404
    ),
    "400": lambda _: as_json(_error("This is too long.", "x", "context_length_exceeded"), 400),
    "413": lambda _: Answer(b"<html>Request Entity Too Large</html>", 413, "text/html"),
    "422": lambda _: as_json(_error("This is not a role.", "invalid_request_error"), 422),
    "groq": lambda _: as_json({"error": {**_UNPARSED, "failed_generation": "<function=cd>{"}}, 400),
    "ollama": lambda _: as_json(
        _error("error parsing tool call: raw='{\"a\": insufficient funds', err=...", "api_error"),
        500,
    ),
    "policy": lambda _: as_json(_error("No.", "invalid_request_error", "content_filter"), 400),
    "no-tools": lambda _: as_json(_error("fake does not support tools", "api_error"), 400),
    "408": lambda _: as_json(_error("Timed out", "timeout"), 408),
    "409": lambda _: as_json(_error("Conflict", "conflict"), 409),
    "429": lambda _: as_json(_error("Rate limit reached", "rate_limit"), 429, retry_after="1"),
    "429-quota": lambda _: as_json(_error("Pay first", "x", "insufficient_quota"), 429),
    "500": lambda _: as_json(_error("Oh no", "server_error"), 500),
    "503-html": lambda _: Answer(b"<html>Service Unavailable</html>", 503, "text/html"),
    "error200": lambda _: as_json(_error("Rate limit reached", "rate_limit_error")),
    "error200-context": lambda _: as_json(
        _error("maximum context length is 8192 tokens", "invalid_request_error")
    ),
    "error200-key": lambda _: as_json(_error("Invalid API key", "authentication_error")),
}
"""Trouble by its name."""


BLAMED: dict[str, FaultKind] = {
    "400": "context_overflow",
    "error200-context": "context_overflow",
    "413": "request_too_large",
    "groq": "unparsed_call",
    "ollama": "unparsed_call",
    "policy": "content_policy",
}
"""Those that are the model's doing, and of which kind."""


def fault(kind: str) -> Answerer:
    """Return what answers with a fault, or with a reply of a certain shape.

    Args:
        kind: A name of ``FAULTS`` or ``SHAPES``.
    """
    if kind in FAULTS:
        return FAULTS[kind]
    if kind not in SHAPES:
        raise ValueError(f"{kind!r} is none of {', '.join([*FAULTS, *SHAPES])}")
    body = json.dumps(SHAPES[kind].body).encode()
    return lambda _: Answer(body)


def scripted(script: str, otherwise: Answerer) -> Answerer:
    """Return what answers request by request as a script says, and then otherwise.

    Args:
        script: Kinds between commas; ``ok`` is a right answer, ``500x3`` three in a row, and a
            last one with ``*`` goes on for ever, as in ``reset,ok,429*``.
        otherwise: Gives the right answers.
    """
    known: dict[str, Answerer] = {"ok": otherwise}
    plan: list[Answerer] = []
    last = otherwise
    for word in script.split(","):
        kind, times, number = word.rpartition("x")
        if not (times and number.isdecimal()):
            kind, number = word.removesuffix("*"), "1"
        step = known.get(kind) or fault(kind)
        plan += [step] * int(number)
        if word.endswith("*"):
            last = step
    return lambda asked: (plan[asked.number] if asked.number < len(plan) else last)(asked)


def now_and_then(kinds: Sequence[str], rate: float, seed: int, otherwise: Answerer) -> Answerer:
    """Return what answers with trouble at random.

    Args:
        kinds: The kinds of trouble, all equally likely.
        rate: Share of requests that meet trouble.
        seed: The same seed and number of the request give the same trouble.
        otherwise: Gives the right answers.
    """
    troubles = [fault(kind) for kind in kinds]

    def answer(asked: Asked) -> Answer:
        random = Random(f"{seed} {asked.number}")
        return (random.choice(troubles) if random.random() < rate else otherwise)(asked)

    return answer


_TIMEOUTS = ("hang", "slow")


def passing(kinds: Sequence[str], rate: float, seed: int, otherwise: Answerer) -> Answerer:
    """Return what answers with trouble that every request gets over.

    A request is repeated only once after a timeout, so it meets timeouts only when it first comes.
    What it meets follows from what it asks, not from the order in which requests come.

    Args:
        kinds: The kinds of trouble, all equally likely.
        rate: Share of requests that meet trouble.
        seed: The same seed and request give the same trouble.
        otherwise: Gives the right answers.
    """
    times: Counter[str] = Counter()

    def answer(asked: Asked) -> Answer:
        body = json.dumps(asked.body)
        times[body] += 1
        random = Random(f"{seed} {times[body]} {body}")
        known = [kind for kind in kinds if times[body] == 1 or kind not in _TIMEOUTS]
        return (fault(random.choice(known)) if random.random() < rate else otherwise)(asked)

    return answer
