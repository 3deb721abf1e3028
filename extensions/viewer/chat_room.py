"""Chats of the viewer: all chats use the same model and share one budget."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

from checkers.profile import STRICT
from envs.calls import Call, read_call
from envs.errors import DataError
from envs.registry import names
from extensions.viewer.annotation_writer import write_annotation
from extensions.viewer.chat import Chat
from extensions.viewer.entry_search import example_configs, find_entries, get_entry, read_names
from runner.commands.plan_execution import connect_to
from runner.episodes.scripted_models import ScriptedBehaviour
from runner.episodes.turn_loop import STEP_LIMIT
from runner.live.budget import Budget
from runner.live.episode_player import EpisodeSetup, ModelAnswer, run_live
from runner.live.live_run import RunInputs
from runner.live.run_control import open_store
from runner.live.run_settings import Settings
from runner.models.model_name import ModelName
from runner.models.model_types import Model, ModelError, Reply, Request, ToolCall, Usage
from runner.models.prompting import PromptTexts
from runner.records.annotations import TagsAndNote
from runner.records.durable_files import write_whole
from runner.records.run_definition import Selection
from runner.records.run_store import create_folder, default_folder
from trajectories.dataset import Dataset, load_path
from trajectories.prepared_trajectory import prepare
from trajectories.record_validation import to_json, validate
from trajectories.schema import Category, Trajectory, Turn

Json = dict[str, Any]

ENTRY_FILE = "entry.jsonl"
"""Data file in the folder of a saved chat."""
_MAX_CHATS = 50
_NOTE = "Saved chat. Its ground truth is the list of the model's own successful calls."


class ChatRoom:
    """Chats with a model, which answers one message at a time.

    Args:
        folder: Folder for saved chats.
        source: Function that loads the entries; a chat can use the world of an entry.
    """

    def __init__(
        self,
        folder: Path,
        model: ModelName,
        settings: Settings,
        prompts: PromptTexts,
        source: Callable[[], Dataset],
    ) -> None:
        if not model.plays_entries:
            raise DataError("--model", "you cannot chat with a recorded run; use turnwise replay")
        if model.is_scripted:
            ScriptedBehaviour.named(model)
        self.model = model
        self._folder = folder
        self._settings = settings
        self._prompts = prompts
        self._source = source
        self._budget = Budget(settings.max_requests, settings.max_cost)
        self._chats: dict[str, Chat] = {}
        self._originals: dict[str, Trajectory] = {}

    def home(self, query: Mapping[str, str]) -> Json:
        """Return the chats, the environments and the budget."""
        chats = [
            {"chat": key, "id": chat.world.id, "messages": len(chat.messages)}
            for key, chat in self._chats.items()
        ]
        return {"model": self.model, "chats": chats, "environments": names(), **self._spending()}

    def source(self, query: Mapping[str, str]) -> Json:
        """Return the entries whose id, category or messages contain all words of the query."""
        return find_entries(self._source(), query.get("find", ""))

    def start(self, given: Json) -> Json:
        """Start a chat in the world of an entry, or in environments; return the key of the chat."""
        if len(self._chats) >= _MAX_CHATS:
            raise DataError("chat", f"there are {_MAX_CHATS} chats; restart the viewer")
        original = None
        if "entry" in given:
            original = get_entry(self._source(), str(given["entry"]))
            world = _world_of(original)
        else:
            environments = read_names(given.get("environments"))
            config = example_configs(environments)
            id = f"chat_{'_'.join(environments)}"[:100]
            world = Trajectory(id, Category.BASE, tuple(environments), config, ())
        # Reports a config that cannot be loaded before the first message.
        prepare(_dataset(world), replace(world, turns=(Turn((), ()),)), STRICT)
        key = token_hex(8)
        self._chats[key] = Chat(world, self._plan, self._connector(original), self._budget)
        if original is not None:
            self._originals[key] = original
        return {"chat": key}

    def show(self, query: Mapping[str, str]) -> Json:
        """Return a chat."""
        key = query.get("id", "")
        return self._shown(key, self._find(key))

    def send(self, given: Json) -> Json:
        """Send a message."""
        return self._changed(given, lambda chat: chat.send(str(given.get("text", ""))))

    def ask_again(self, given: Json) -> Json:
        """Continue the answer to the last message."""
        return self._changed(given, Chat.ask_again)

    def take_back(self, given: Json) -> Json:
        """Remove the last message with its answers."""
        return self._changed(given, Chat.take_back)

    def stop(self, given: Json) -> Json:
        """Stop the model's answer."""
        key = str(given.get("chat", ""))
        self._find(key).stop()
        return self._shown(key, self._find(key))

    def save(self, given: Json) -> Json:
        """Save a chat as a run with its own data file, and return the run's name."""
        chat = self._find(str(given.get("chat", "")))
        if chat.is_running or not chat.steps:
            raise DataError("chat", "has no finished answer yet")
        entry = _with_truth(chat.entry, chat)
        validate(to_json(entry), "chat")
        named = default_folder(self.model, datetime.now()).name
        folder = create_folder(self._folder.resolve() / f"chat-{named}")
        path = folder / ENTRY_FILE
        try:
            write_whole(path, [f"{json.dumps(to_json(entry), ensure_ascii=False)}\n".encode()])
            asyncio.run(self._record(folder, load_path(path, list(Category)), chat))
            write_annotation(folder, None, TagsAndNote(("chat",), _NOTE))
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return {"run": folder.name, "folder": str(folder), "entry": str(path), "id": entry.id}

    async def _record(self, folder: Path, dataset: Dataset, chat: Chat) -> None:
        [trajectory] = dataset.trajectories.values()
        plan = self._plan(trajectory)._replace(dataset=dataset)
        selection = Selection(None, None, None, None, None, 1)
        with open_store(folder, plan, selection, sys.argv, episodes=1, resumes=False) as store:
            setup = EpisodeSetup(
                prepared=prepare(dataset, trajectory, STRICT),
                style=plan.style(trajectory),
                mode=plan.settings.mode,
                profile=STRICT,
                step_limit=STEP_LIMIT,
                ask=_refuse,
                put_tools=store.put_tools,
                course=tuple(chat.steps),
            )
            store.append(await run_live(setup))

    def _plan(self, entry: Trajectory) -> RunInputs:
        prompts = self._prompts
        return RunInputs(self.model, _dataset(entry), STRICT, STEP_LIMIT, self._settings, prompts)

    def _connector(self, original: Trajectory | None) -> Callable[[RunInputs, int], Model]:
        def connect(plan: RunInputs, turn: int) -> Model:
            if plan.model.is_live:
                return connect_to(plan)
            return ScriptedAnswers(_script(plan.model, original, turn))

        return connect

    def _find(self, key: str) -> Chat:
        if key not in self._chats:
            raise DataError("chat", "does not exist; start a new chat")
        return self._chats[key]

    def _changed(self, given: Json, change: Callable[[Chat], object]) -> Json:
        key = str(given.get("chat", ""))
        chat = self._find(key)
        if any(each.is_running and each is not chat for each in self._chats.values()):
            raise DataError("chat", "another chat is waiting for its answer")
        change(chat)
        return self._shown(key, chat)

    def _shown(self, key: str, chat: Chat) -> Json:
        original, number = self._originals.get(key), len(chat.messages)
        turns = original.turns if original else ()
        suggested = turns[number].words if number < len(turns) else ""
        shown = {"chat": key, "model": self.model, "suggested": suggested}
        return {**chat.to_json(), **shown, **self._spending()}

    def _spending(self) -> Json:
        spent, settings = self._budget.spent, self._settings
        return {
            "spent": {"requests": spent.requests, "tokens": spent.tokens, "cost": spent.cost},
            "limits": {"requests": settings.max_requests, "cost": settings.max_cost},
        }


class ScriptedAnswers:
    """Model without a server; it answers each request with the next step of a script."""

    def __init__(self, steps: Iterator[list[tuple[str, Json]]]) -> None:
        self._steps = steps

    async def ask(self, request: Request) -> Reply:
        """Return the next calls; if no calls are left, return a text."""
        calls = next(self._steps, [])
        made = tuple(
            ToolCall(f"call_{number}", name, given) for number, (name, given) in enumerate(calls)
        )
        return Reply(None if made else "Done.", made, None, "stop", Usage(), 0.0)

    async def close(self) -> None:
        """Do nothing, because there is no connection."""


def _script(
    model: ModelName, original: Trajectory | None, turn: int
) -> Iterator[list[tuple[str, Json]]]:
    """Yield the steps of a scripted model in a turn; without an entry, it makes no calls."""
    if original is None or turn >= len(original.turns) or not model.makes_calls:
        return
    prepared = prepare(_dataset(original), original, STRICT)
    behaviour = ScriptedBehaviour.named(model) if model.is_scripted else ScriptedBehaviour(None)
    for step in behaviour.script(prepared)[turn]:
        calls = [call for call in step if isinstance(call, Call)]
        yield [(call.name, dict(prepared.scene.arguments(call))) for call in calls]


def _world_of(original: Trajectory) -> Trajectory:
    world = Trajectory(
        f"chat_{original.id}"[:100],
        Category.BASE,
        original.environments,
        original.config,
        (),
        long_context=original.long_context,
        provenance={"source": original.id},
    )
    return replace(world, excluded=original.excluded)


def _with_truth(entry: Trajectory, chat: Chat) -> Trajectory:
    """Return the chat as an entry whose ground truth is the model's successful calls."""
    session = prepare(_dataset(entry), entry, STRICT).template.fork()
    turns = []
    for number, turn in enumerate(entry.turns):
        texts = [
            text for each in chat.steps if each.step.turn == number for text in each.step.calls
        ]
        kept = [text for text in texts if session.call(read_call(text)).ok]
        turns.append(replace(turn, ground_truth=tuple(kept)))
        session.end_turn()
    return replace(entry, turns=tuple(turns), comment=_NOTE)


def _dataset(entry: Trajectory) -> Dataset:
    return Dataset("chat", "chat", "", {entry.id: entry})


async def _refuse(_: Request) -> ModelAnswer:
    raise ModelError("the chat was stopped before this answer")
