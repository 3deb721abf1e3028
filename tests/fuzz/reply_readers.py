"""What reads a changed reply, body or action; for a bad one it raises what a caller expects."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest import mock

from starlette.requests import Request

from checkers.profile import BFCL, PROFILES, STRICT
from envs.errors import DataError, Refused, ToolError
from extensions.compression import field_drafting
from extensions.experiments import paraphrase_drafts
from extensions.formats.registry import PROTOCOLS
from extensions.retired.rest import fixture, http_sender
from extensions.serving import operator_api
from runner.episodes.turn_loop import STEP_LIMIT
from runner.live.episode_player import EpisodeSetup, ModelAnswer, run_live
from runner.models import agent_model, model_connection
from runner.models.apis import APIS
from runner.models.calling_formats.format_types import TextFormat
from runner.models.conversation import ConversationSettings
from runner.models.model_types import ModelError, Reply, Usage
from runner.models.prompting import read_prompts
from runner.models.providers import PROVIDERS
from runner.models.reply_reader import Endpoint, classify, read_completion
from runner.models.toolbox import Toolbox, documents_of, own_documents
from runner.models.transport import parsed
from runner.rollouts.rollout_env import RolloutEnv
from tests.fuzz.forms import FORMAT_1
from trajectories.dataset import Dataset, load_path
from trajectories.prepared_trajectory import PreparedTrajectory, prepare
from trajectories.schema import Category, Trajectory

_ENDPOINT = Endpoint()


def _texts(given: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(given.iterdir()):
        yield path.stem, path.read_bytes()


@cache
def _data() -> Dataset:
    return load_path(FORMAT_1 / "data.jsonl", [*Category])


def _entry() -> Trajectory:
    return next(t for t in _data().trajectories.values() if t.category is Category.BASE)


@cache
def _prepared(name: str) -> PreparedTrajectory:
    return prepare(_data(), _entry(), PROFILES[name])


def replies(given: Path) -> None:
    """Read each as an answer of its API, and let an episode go on from it."""
    apis = {name: api.completion for name, api in APIS.items()}
    apis |= {name: PROVIDERS[name].api.completion for name in ("anthropic", "gemini")}
    for name, text in _texts(given):
        body = parsed(text)
        if name == "error":
            for status in (200, 400, 401, 404, 429, 500):
                str(classify(status, body, {"retry-after": str(body)[:20]}, _ENDPOINT))
            continue
        try:
            reply = read_completion(apis[name](body), 0.5, _ENDPOINT)
        except ModelError:
            continue
        _goes_on(reply)


def _goes_on(reply: Reply) -> None:
    """Have an episode take a reply, after which the model is done."""
    trajectory = _entry()
    style = ConversationSettings(
        Toolbox(own_documents(trajectory.environments)), read_prompts(), "all"
    )
    for profile in (STRICT, BFCL):
        left = [reply]

        async def ask(_: object, left: list[Reply] = left) -> ModelAnswer:
            done = Reply("Done.", (), None, None, Usage(), 0.0)
            return ModelAnswer(left.pop() if left else done, 1)

        kept: dict[str, Any] = {}
        setup = EpisodeSetup(
            prepared=_prepared(profile.name),
            style=style,
            mode="fc",
            profile=profile,
            step_limit=STEP_LIMIT,
            ask=ask,
            put_tools=kept.__setitem__,
        )
        json.dumps(asyncio.run(run_live(setup)).messages)


def calls_in_texts(given: Path) -> None:
    """Read each by all protocols, and as prompting models' texts are read."""
    documents = [d for entry in _data().trajectories.values() for d in documents_of(entry, None)]
    for _, raw in _texts(given):
        text = raw.decode(errors="surrogateescape")
        for protocol in PROTOCOLS.values():
            if isinstance(protocol, TextFormat):
                with suppress(ToolError):
                    protocol.read(text, documents)
                protocol.says(text)
        for profile in PROFILES.values():
            with suppress(ToolError):
                profile.replies.decoder("prompt")(text)


def drafts(given: Path) -> None:
    """Read each as an answer of a model that drafts."""
    shown = documents_of(next(iter(_data().trajectories.values())), None)
    names = [document["name"] for document in shown]
    for _, raw in _texts(given):
        text = raw.decode(errors="replace")

        async def ask(_: object, text: str = text) -> ModelAnswer:
            return ModelAnswer(Reply(text, (), None, None, Usage(), 0.0), 1)

        asyncio.run(paraphrase_drafts._draft(shown[0], names, ask))
        long = field_drafting.LongResult("f", shown[0], json.dumps({"id": 1, "title": "x" * 500}))
        asyncio.run(field_drafting._draft(long, ask))


def actions(given: Path) -> None:
    """Take each as an agent's message, an action of a training loop, and a snapshot."""
    for name, raw in _texts(given):
        env = RolloutEnv(_entry())
        env.reset()
        if name == "snapshot":
            with suppress(DataError):
                env.restore(raw)
            continue
        value = parsed(raw)
        with suppress(agent_model.AgentError, ModelError):
            read_completion(
                {"choices": [{"message": agent_model.read_message(value)}]}, perf_counter()
            )
        with suppress(ValueError):
            env.step(value if isinstance(value, dict) else str(value))


def control_bodies(given: Path) -> None:
    """Send each to what restores a session; it is answered."""

    async def handler(request: Request) -> Any:
        return operator_api.JSONResponse({"snapshot": await operator_api._number(request)})

    for _, raw in _texts(given):
        sent = [{"type": "http.request", "body": raw, "more_body": False}]

        async def receive(sent: list[dict[str, Any]] = sent) -> dict[str, Any]:
            return sent.pop()

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/",
            "headers": [(b"authorization", b"Bearer t")],
        }
        answer = asyncio.run(operator_api._guarded(handler, "t")(Request(scope, receive)))
        assert answer.status_code in (200, 400)


def services(given: Path) -> None:
    """Read each as the answer of a web service, and as what ours is sent."""
    for _, raw in _texts(given):
        with suppress(Refused):
            http_sender._read(raw)
        for method, path in (("POST", "/v1/holds"), ("PUT", "/v1/readers/1"), ("POST", "/v1/x")):
            for kind in ("application/json", "application/x-www-form-urlencoded"):
                headers = {"x-api-key": fixture.API_KEY, "content-type": kind}
                fixture.answer(path, {}, headers, method, raw)


def prices(given: Path) -> None:
    """Look prices up in it as in litellm's table."""
    path = given / "prices.json"
    model_connection._load_prices.cache_clear()
    with mock.patch.object(model_connection, "distribution") as found:
        found.return_value.locate_file.return_value = path
        for name in ("gpt-x", "openai/gpt-x", "other/gpt-x"):
            price = model_connection.listed_price(name)
            assert price is None or price.of(Usage(5, 6)) is not None
            model_connection.usual_api(name)
    model_connection._load_prices.cache_clear()


REPLY_READERS: Mapping[str, Callable[[Path], None]] = {
    "REPLIES": replies,
    "CALLS-IN-TEXTS": calls_in_texts,
    "DRAFTS": drafts,
    "ACTIONS": actions,
    "CONTROL": control_bodies,
    "SERVICES": services,
    "PRICES": prices,
}
"""By the word that stands for a command."""
