"""Options and run feature of simulated users."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from envs.errors import DataError
from extensions.users.model_user import ModelUser
from extensions.users.rules import RuleUser
from extensions.users.scenario import NAME, UserKnobs, check_keys, check_patience
from runner.commands.options import option
from runner.episodes.judging import kind_of
from runner.extension import JsonObject, RunFeature
from runner.live.live_run import RunInputs
from runner.live.run_control import secrets_of
from runner.models.dialogue_user import User, UserRequest
from runner.models.model_connection import connect
from runner.models.model_name import ModelName, parse_model_name
from runner.models.model_types import (
    USUAL,
    AgentError,
    Model,
    Price,
    Reply,
    Request,
    RequestOptions,
)
from runner.models.settings import PriceList, read_price
from runner.models.toolbox import FunctionNameMapping, as_tool, own_documents
from runner.records.json_codec import read
from runner.records.secret_finder import MASK
from trajectories.jsonl import parse_value, read_text
from trajectories.schema import Trajectory

_MIN_SECRET_CHARS = 8


@dataclass(frozen=True, kw_only=True)
class UserOptions:
    """Options for simulated users."""

    user_model: ModelName | None = option(
        "model or program (python:MODULE:NAME) that plays the user (default: a rule-based user)",
        "NAME",
        read=parse_model_name,
    )
    user_base_url: str | None = option(
        "address of the user's model (default: --base-url)", "URL", needs="--user-model"
    )
    user_price: PriceList | None = option(
        "prices of the user's model per million tokens, IN,OUT[,READ[,WRITE]]",
        "USD",
        read=read_price,
        needs="--user-model",
    )
    user_knobs: Path | None = option("JSON file with knobs of rule-based users", "FILE")
    exclude_user_errors: bool = option(
        "count an episode as an error if the simulated user violates the scenario"
    )


@dataclass(frozen=True, kw_only=True)
class UserFeature(RunFeature):
    """A run feature that adds simulated users."""

    extension = NAME
    flag = "--user-model, --user-knobs or --exclude-user-errors"
    model_name: ModelName | None = None
    """Model that plays the user; None if rules play the user."""
    base_url: str | None = None
    price: PriceList | None = None
    knobs: Mapping[str, Any] | None = None
    excludes_errors: bool = False
    """Whether an episode with a mistake of the user counts as an error."""

    def definition(self) -> JsonObject:
        """Return the settings."""
        return {
            "model": self.model_name,
            "knobs": self.knobs,
            "excludes_errors": self.excludes_errors,
        }

    def request_key(self) -> Mapping[str, Any]:
        """Return the user model's name, which becomes part of the key in the reply cache."""
        return {"user_model": self.model_name} if self.model_name else {}

    def user(self, trajectory: Trajectory, trial: int) -> User | None:
        """Return the simulated user of an entry, with the settings of the run."""
        usual = kind_of(trajectory).user(trajectory, trial)
        if not isinstance(usual, RuleUser):
            return usual
        scenario = usual.scenario
        if self.knobs is not None:
            knobs = read(UserKnobs, {**scenario.knobs._asdict(), **self.knobs}, "--user-knobs")
            scenario = scenario._replace(knobs=knobs)
        if self.model_name is None:
            return usual.with_scenario(scenario, excludes_errors=self.excludes_errors)
        names = FunctionNameMapping([step.function for step in scenario.steps])
        wanted = {step.function for step in scenario.steps}
        documents = own_documents(trajectory.environments) if wanted else []
        tools = [as_tool(each, names) for each in documents if each["name"] in wanted]
        excludes = self.excludes_errors
        return ModelUser(scenario, usual.opening, tools, trial, excludes_errors=excludes)

    def wrapped(self, model: Model, plan: RunInputs) -> Model:
        """Return a client for the agent's and the user's model."""
        if self.model_name is None:
            return model
        options = plan.settings.request_options()
        if self.model_name.is_agent:
            # The other settings are for the server of the agent's model.
            options = replace(USUAL, timeout=options.timeout)
        if self.base_url is not None:
            options = replace(options, base_url=self.base_url)
        price = self.price and Price(*[dollars / 1e6 for dollars in self.price])
        options = replace(options, calling={}, price=price)
        theirs = replace(plan.settings, base_url=options.base_url)
        secrets = secrets_of(self.model_name, theirs, os.environ)
        return TwoModels(model, _connect_user(self.model_name, options), secrets)


def _connect_user(name: ModelName, options: RequestOptions) -> Model:
    """Return a client for the user's model. Raises DataError with the user's option."""
    try:
        return connect(name, options)
    except DataError as error:
        where, message = error.args
        sides = {"--model": "--user-model", "--base-url": "--user-base-url"}
        raise DataError(sides.get(where, where), message) from None


class TwoModels:
    """Client for two models, the agent's and the user's; they share budget, limits and cache.

    Secrets of the user's server are masked in the user's answers, because the run masks only the
    secrets of the agent's server.
    """

    def __init__(self, agent: Model, user: Model, secrets: Sequence[str] = ()) -> None:
        self._agent = agent
        self._user = user
        known = {text for text in secrets if len(text) >= _MIN_SECRET_CHARS}
        self._secrets = sorted(known, key=len, reverse=True)

    async def ask(self, request: Request) -> Reply:
        """Send a request to the agent's model or to the user's model."""
        if not isinstance(request, UserRequest):
            return await self._agent.ask(request)
        try:
            reply = await self._user.ask(request)
        except AgentError as error:
            named = str(error).replace("the agent", "the user's program", 1)
            raise AgentError(named, error.traceback) from error
        calls = [call._replace(arguments=self._mask(call.arguments)) for call in reply.tool_calls]
        return reply._replace(text=self._mask(reply.text), tool_calls=tuple(calls))

    def _mask(self, value: Any) -> Any:
        for secret in self._secrets if isinstance(value, str) else ():
            value = value.replace(secret, MASK)
        return value

    async def close(self) -> None:
        """Release the connections of the agent's model and of the user's model."""
        await self._agent.close()
        await self._user.close()


def feature_of(options: UserOptions) -> UserFeature | None:
    """Return the feature that the options describe.

    Raises DataError if a file cannot be used.
    """
    knobs: Any = None
    if options.user_knobs is not None:
        where = str(options.user_knobs)
        knobs = parse_value(read_text(options.user_knobs), where)
        if not isinstance(knobs, dict):
            raise DataError(where, f"must be an object with {', '.join(UserKnobs._fields)}")
        check_keys(knobs, UserKnobs._fields, where)
        check_patience(read(UserKnobs, {**UserKnobs()._asdict(), **knobs}, where), where)
    if options.user_model is not None and options.user_model.is_agent:
        # An error is reported before a run folder is made.
        _connect_user(options.user_model, replace(USUAL, base_url=options.user_base_url))
    found = UserFeature(
        model_name=options.user_model,
        base_url=options.user_base_url,
        price=options.user_price,
        knobs=knobs,
        excludes_errors=bool(options.exclude_user_errors),
    )
    return None if found == UserFeature() else found


def recorded(definition: JsonObject, where: str) -> UserFeature:
    """Return the feature of a recorded run. Raises DataError if the definition is invalid."""
    model, knobs = definition.get("model"), definition.get("knobs")
    if not isinstance(model, str | None) or not isinstance(knobs, dict | None):
        raise DataError(where, f"$.definition.extensions.{NAME} must have `model` and `knobs`")
    excludes = definition.get("excludes_errors") is True
    name = None if model is None else parse_model_name(model)
    return UserFeature(model_name=name, knobs=knobs, excludes_errors=excludes)
