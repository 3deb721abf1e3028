"""The agents of the examples, with the real frameworks and a fake model: oracle and null."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from typing import Any, NamedTuple
from uuid import uuid4

import pytest

from envs.calls import parse_call
from runner.rollouts.evaluation import evaluate
from trajectories.dataset import load_embedded
from trajectories.schema import Category

EXAMPLES = Path(__file__).parents[3] / "examples"
ENTRIES = [*load_embedded([Category.BASE]).trajectories.values()][:20]


class Plan(NamedTuple):
    """The oracle's calls by the words of the user; without any for the null model."""

    calls: dict[str, list[tuple[str, dict[str, Any]]]]

    @classmethod
    def of(cls, *, oracle: bool) -> Plan:
        return cls(
            {
                turn.words.strip(): [
                    (call.name, dict(call.kwargs))
                    for call in map(parse_call, turn.ground_truth)
                    if oracle
                ]
                for entry in ENTRIES
                for turn in entry.turns
            }
        )

    def next(self, words: str, made: int) -> tuple[str, dict[str, Any]] | None:
        """Return the call after those made in the turn, or None for an answer."""
        calls = self.calls[words.strip()]
        return calls[made] if made < len(calls) else None


def example(name: str, member: str) -> Callable[..., Any]:
    """Return the helper of an example."""
    found: Callable[..., Any] = run_path(str(EXAMPLES / f"{name}.py"))[member]
    return found


def langchain_model(plan: Plan, *, legacy: bool = False) -> Any:
    """Return a chat model that follows a plan; ``legacy`` puts calls into additional_kwargs."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    class Fake(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "fake"

        def bind_tools(self, tools: Any, **others: Any) -> Any:
            return self

        def _generate(self, messages: Any, stop: Any = None, manager: Any = None, **_: Any) -> Any:
            at = max(n for n, each in enumerate(messages) if each.type == "human")
            made = sum(each.type in ("tool", "function") for each in messages[at:])
            call = plan.next(messages[at].content, made)
            usage = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
            message = AIMessage("Done.", usage_metadata=usage)
            if call and legacy:
                called = {"name": call[0], "arguments": json.dumps(call[1])}
                message = AIMessage("", additional_kwargs={"function_call": called})
            elif call:
                called = {"name": call[0], "args": call[1], "id": uuid4().hex}
                message = AIMessage("", tool_calls=[called], usage_metadata=usage)
            return ChatResult(generations=[ChatGeneration(message=message)])

    return Fake()


def langchain(plan: Plan) -> Callable[[], Any]:
    return lambda: example("langchain_agent", "langchain_agent")(langchain_model(plan))


def langchain_legacy(plan: Plan) -> Callable[[], Any]:
    model = langchain_model(plan, legacy=True)
    return lambda: example("langchain_agent", "langchain_agent")(model)


def langgraph(plan: Plan) -> Callable[[], Any]:
    return lambda: example("langgraph_agent", "langgraph_agent")(langchain_model(plan))


def openai_agents(plan: Plan) -> Callable[[], Any]:
    from agents import Model, ModelResponse, Usage, set_tracing_disabled
    from openai.types.responses import (
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    set_tracing_disabled(True)

    class Fake(Model):
        async def get_response(self, *_: Any, input: Any, **__: Any) -> ModelResponse:
            at = max(n for n, each in enumerate(input) if each.get("role") == "user")
            made = sum(each.get("type") == "function_call_output" for each in input[at:])
            call = plan.next(input[at]["content"], made)
            if call:
                item: Any = ResponseFunctionToolCall(
                    arguments=json.dumps(call[1]),
                    call_id=uuid4().hex,
                    name=call[0],
                    type="function_call",
                )
            else:
                text = ResponseOutputText(annotations=[], text="Done.", type="output_text")
                item = ResponseOutputMessage(
                    id="1", content=[text], role="assistant", status="completed", type="message"
                )
            return ModelResponse([item], Usage(), None)

        def stream_response(self, *_: Any, **__: Any) -> Iterator[Any]:
            raise NotImplementedError

    return lambda: example("openai_agents_agent", "openai_agent")(Fake())


def pydantic_ai(plan: Plan) -> Callable[[], Any]:
    from pydantic_ai.messages import (
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )
    from pydantic_ai.models.function import FunctionModel

    def answer(messages: Any, info: Any) -> ModelResponse:
        parts = [part for message in messages for part in message.parts]
        at = max(n for n, part in enumerate(parts) if isinstance(part, UserPromptPart))
        made = sum(isinstance(part, ToolReturnPart) for part in parts[at:])
        call = plan.next(str(parts[at].content), made)
        return ModelResponse(parts=[ToolCallPart(*call) if call else TextPart("Done.")])

    return lambda: example("pydantic_ai_agent", "pydantic_agent")(FunctionModel(answer))


def smolagents(plan: Plan) -> Callable[[], Any]:
    from smolagents.models import (
        ChatMessage,
        ChatMessageToolCall,
        ChatMessageToolCallFunction,
        MessageRole,
        Model,
    )

    class Fake(Model):
        def generate(self, messages: Any, *_: Any, **__: Any) -> ChatMessage:
            texts = [
                part["text"].removeprefix("New task:\n")
                for message in messages
                if message.role == MessageRole.USER
                for part in message.content
            ]
            at = max(n for n, message in enumerate(messages) if message.role == MessageRole.USER)
            made = sum(each.role == MessageRole.TOOL_RESPONSE for each in messages[at:])
            call = plan.next(texts[-1], made) or ("final_answer", {"answer": "Done."})
            function = ChatMessageToolCallFunction(name=call[0], arguments=call[1])
            called = ChatMessageToolCall(id=uuid4().hex, type="function", function=function)
            return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[called])

    return lambda: example("smolagents_agent", "smol_agent")(Fake(model_id="fake"))


FRAMEWORKS = {
    langchain: "langchain",
    langchain_legacy: "langchain",
    langgraph: "langgraph",
    openai_agents: "agents",
    pydantic_ai: "pydantic_ai",
    smolagents: "smolagents",
}
PARAMETERS = [
    pytest.param(
        make,
        id=make.__name__,
        marks=pytest.mark.skipif(find_spec(library) is None, reason=f"needs {library}"),
    )
    for make, library in FRAMEWORKS.items()
]


@pytest.mark.parametrize("make", PARAMETERS)
def test_the_oracle_passes_all_entries_and_null_none(
    make: Callable[[Plan], Callable[[], Any]], tmp_path: Path
) -> None:
    ids = [entry.id for entry in ENTRIES]
    done = {}
    for oracle in (True, False):
        factory = make(Plan.of(oracle=oracle))
        folder = tmp_path / f"oracle-{oracle}"
        found = evaluate(agent_factory=factory, categories="base", ids=ids, run_dir=folder)
        assert found.errors == 0, next(r.traceback or r.error for r in found.records())
        done[oracle] = found.passed
    assert done == {True: 20, False: 0}


@pytest.mark.parametrize("call", [("no_such_function", {}), ("ls", "no object")])
@pytest.mark.parametrize("make", PARAMETERS)
def test_a_wrong_call_of_the_model_is_judged(
    make: Callable[[Plan], Callable[[], Any]], call: tuple[str, Any], tmp_path: Path
) -> None:
    if make in (langchain, langchain_legacy, langgraph, smolagents) and call[0] == "ls":
        pytest.skip("the model's class has parsed the arguments")
    plan = Plan(dict.fromkeys(Plan.of(oracle=True).calls, [call] * 60))
    run = evaluate(
        agent_factory=make(plan), categories="base", ids=[ENTRIES[0].id], run_dir=tmp_path / "run"
    )
    [record] = run.records()
    assert record.outcome == "failed", record.traceback or record.error


@pytest.mark.skipif(find_spec("langchain") is None, reason="needs langchain")
def test_the_usage_of_a_message_is_counted(tmp_path: Path) -> None:
    run = evaluate(
        agent_factory=langchain(Plan.of(oracle=True)),
        categories="base",
        ids=[ENTRIES[0].id],
        run_dir=tmp_path / "run",
    )
    [record] = run.records()
    assert {(step.usage.prompt, step.usage.completion) for step in record.steps} == {(5, 2)}


def test_calls_at_the_same_time_follow_one_by_one_and_a_failure_is_an_error() -> None:
    from extensions.adapters.framework_agent import FrameworkAgent

    async def play(said: Any, tools: Any) -> str:
        return " ".join(await asyncio.gather(*(tools[0].run(n=number) for number in range(3))))

    async def main() -> None:
        agent = FrameworkAgent(play)
        function = {"type": "function", "function": {"name": "f", "parameters": {}}}
        messages: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]
        for number in range(3):
            message = await agent(messages, [function])
            [call] = message["tool_calls"]
            assert json.loads(call["function"]["arguments"]) == {"n": number}
            result = {"role": "tool", "tool_call_id": call["id"], "content": f"r{number}"}
            messages += [message, result]
        assert await agent(messages, [function]) == "r0 r1 r2"

        async def write(said: Any, tools: Any) -> str:
            return str(await tools[0].run_json('{"n": '))

        message = await FrameworkAgent(write)(messages[:1], [function])
        assert message["tool_calls"][0]["function"]["arguments"] == '{"n": '

        async def fail(said: Any, tools: Any) -> str:
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            await FrameworkAgent(fail)(messages[:1], [])

    asyncio.run(main())
