"""JSON endpoint for clients that play episodes, with an OpenAPI document."""

from __future__ import annotations

import json
from typing import Any

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from envs import __version__
from extensions.serving.episode_broker import (
    EpisodeBroker,
    EpisodeNotFound,
    NoEpisodeLeft,
    TooManyEpisodes,
    WrongStep,
)
from extensions.serving.operator_api import AsciiResponse, refusal
from extensions.viewer.local_server import HOST
from runner.models.agent_model import read_message
from runner.models.model_types import ModelError, Reply
from runner.models.reply_reader import read_completion

PATH = "/episode"
_MAX_BODY_BYTES = 4_000_000
_MEMBERS = {"episode", "step", "message"}


class InvalidRequestBody(Exception):
    """The endpoint cannot read the body of the request."""


def episode_routes(broker: EpisodeBroker) -> list[Route]:
    """Return the routes of the endpoint and of its OpenAPI document."""

    async def play(request: Request) -> JSONResponse:
        if "origin" in request.headers:
            return refusal(403, "Web pages cannot use this endpoint.")
        try:
            return AsciiResponse(await _played(broker, await _read_body(request)))
        except InvalidRequestBody as error:
            return refusal(400, str(error))
        except EpisodeNotFound as error:
            return refusal(404, str(error))
        except WrongStep as error:
            return refusal(409, str(error))
        except TooManyEpisodes as error:
            return refusal(429, str(error))

    async def document(_: Request) -> JSONResponse:
        return AsciiResponse(OPENAPI)

    # A page of another host cannot reach the endpoint under a name of its own.
    own_hosts = [Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])]
    return [
        Route(PATH, play, methods=["POST"], middleware=own_hosts),
        Route("/openapi.json", document, methods=["GET"], middleware=own_hosts),
    ]


async def _played(broker: EpisodeBroker, body: dict[str, Any]) -> dict[str, Any]:
    """Begin, read or continue an episode; return the current step."""
    name, hides = body.get("episode"), broker.hides_verdict
    if name is None:
        if "step" in body or "message" in body:
            raise InvalidRequestBody(
                '"episode" is missing; an answer needs the name of its episode'
            )
        try:
            episode = await broker.claim()
        except NoEpisodeLeft:
            return {"episode": None, "done": True}
        return episode.view(hides_verdict=hides)
    episode = broker.find(name)
    if "message" not in body:
        await episode.ready()
        return episode.view(hides_verdict=hides)
    await episode.take(_reply_of(body["message"]), body.get("step"))
    return episode.view(with_tools=False, hides_verdict=hides)


async def _read_body(request: Request) -> dict[str, Any]:
    """Return the body of a request. Raises InvalidRequestBody if the body cannot be read."""
    sent = bytearray()
    async for part in request.stream():
        sent += part
        if len(sent) > _MAX_BODY_BYTES:
            raise InvalidRequestBody(f"the body is longer than {_MAX_BODY_BYTES} bytes")
    try:
        body = json.loads(sent or b"{}")
    except (ValueError, RecursionError) as error:
        raise InvalidRequestBody(f"the body is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise InvalidRequestBody("the body must be a JSON object")
    if unknown := body.keys() - _MEMBERS:
        raise InvalidRequestBody(
            f"unknown field {min(unknown)!r:.80}; the fields are {sorted(_MEMBERS)}"
        )
    if not isinstance(body.get("episode"), str | None):
        raise InvalidRequestBody('"episode" must be a string or null')
    step = body.get("step", 0)
    if type(step) is not int or step < 0:
        raise InvalidRequestBody('"step" must be a number of at least 0')
    return body


def _reply_of(message: object) -> Reply:
    """Convert an assistant message to a reply. Raises InvalidRequestBody for an invalid message."""
    try:
        read = read_message(message)
        choice = {"message": read, "finish_reason": read.get("finish_reason")}
        return read_completion({"choices": [choice], "usage": read.get("usage")}, 0.0)
    except ModelError as error:
        raise InvalidRequestBody(f'"message": {error}'.replace("the agent returned ", "")) from None


def _error(description: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    return {"description": description, "content": {"application/json": {"schema": schema}}}


_MESSAGE = {
    "description": "Text that ends the turn, or an assistant message of chat completions.",
    "oneOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {
                "role": {"const": "assistant"},
                "content": {"type": ["string", "array", "null"]},
                "tool_calls": {"type": "array", "items": {"type": "object"}},
                "usage": {"type": "object"},
            },
        },
    ],
}
_QUESTION = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "episode": {
            "type": ["string", "null"],
            "description": "Name of the episode. Without a name, the next episode begins.",
        },
        "step": {
            "type": "integer",
            "minimum": 0,
            ("description"): "Number of the answered step, so that a client can repeat a request.",
        },
        "message": {
            **_MESSAGE,
            ("description"): f"{_MESSAGE['description']} Without a message, nothing changes.",
        },
    },
}
_STEP = {
    "type": "object",
    "required": ["episode", "done"],
    "properties": {
        "episode": {"type": ["string", "null"], "description": "null after the last episode"},
        "entry": {"type": "string"},
        "trial": {"type": "integer"},
        "step": {
            "type": "integer",
            "description": "Number of the step to answer next, starting at 0.",
        },
        "turn": {"type": "integer", "description": "Number of the user's turn, starting at 0."},
        "messages": {
            "type": "array",
            "description": "New messages: the user's messages, or results of calls (role tool).",
            "items": {"type": "object"},
        },
        "tools": {
            "type": "array",
            "description": "Tools of chat completions; omitted if unchanged since the last step.",
            "items": {"type": "object"},
        },
        "done": {"type": "boolean", "description": "Whether the episode is over."},
        "verdict": {"type": "object", "description": "Verdict of the finished episode."},
    },
}
OPENAPI = {
    "openapi": "3.1.0",
    "info": {"title": "Turnwise episodes", "version": __version__},
    "paths": {
        PATH: {
            "post": {
                "operationId": "play",
                "summary": "Begin an episode, read its current step, or answer the step.",
                "requestBody": {"content": {"application/json": {"schema": _QUESTION}}},
                "responses": {
                    "200": {
                        "description": "The current step, or the end of the episode.",
                        "content": {"application/json": {"schema": _STEP}},
                    },
                    "400": _error("The body cannot be parsed."),
                    "403": _error("The request is from a web page."),
                    "404": _error("No episode has this name."),
                    "409": _error("The answer belongs to another step, or the episode is over."),
                    "429": _error("The maximum number of concurrent episodes is reached."),
                },
            }
        }
    },
}
