"""The library's own evaluation with its mock model, and the log that it leaves."""

from __future__ import annotations

import pytest
from inspect_ai import eval as evaluate
from inspect_ai._util.registry import registry_lookup
from inspect_ai.log import read_eval_log
from inspect_ai.model import ChatMessageAssistant, ModelOutput, ModelUsage
from inspect_ai.tool import ToolCall

from envs.calls import parse_call
from envs.errors import DataError
from extensions.adapters.inspect_task import turnwise
from extensions.adapters.suite import suite
from runner.rollouts.rollout_env import RolloutEnv

# The library uses a retired parameter of another, and leaves files open that it reads later.
pytestmark = pytest.mark.filterwarnings(
    "ignore:The 'initial' parameter:DeprecationWarning", "ignore::ResourceWarning"
)

BASE = suite(category="base").dataset.trajectories
SOME = ["base_files_quarterly_report", "base_message_new_colleague", "base_files_band_setlist"]


def output(text, calls=()):
    """Return what the mock model says; without usage it would look for a tokenizer."""
    made = [ToolCall(f"call_{n}", c.name, dict(c.kwargs)) for n, c in enumerate(calls)]
    said = ModelOutput.from_message(ChatMessageAssistant(content=text, tool_calls=made or None))
    said.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return said


def knows(trajectories, forgets=()):
    """Return a mock model that knows the truth, but forgets the first call of some trajectories."""
    opening = {t.turns[0].messages[0].content: t for t in trajectories.values()}

    def answer(messages, tools, tool_choice, config):
        said = [message for message in messages if message.role == "user"]
        trajectory = opening[said[0].text]
        truth = calls_of(trajectory, len(said) - 1, forgets)
        if messages[-1].role != "user" or not truth:
            return output("Done.")
        return output("", [parse_call(text) for text in truth])

    return answer


def calls_of(trajectory, turn, forgets):
    """Return what the mock model calls in a turn."""
    forgotten = turn == 0 and trajectory.id in forgets
    return trajectory.turns[turn].ground_truth[int(forgotten) :]


@pytest.fixture
def run(tmp_path):
    """Evaluate with the mock model and return the log as it is on disk."""

    def whole(answer, **names):
        (log,) = evaluate(
            turnwise(**names),
            model="mockllm/model",
            model_args={"custom_outputs": answer},
            sample_id=SOME,
            log_dir=str(tmp_path),
            display="none",
        )
        assert log.status == "success", log.error
        return read_eval_log(log.location)

    return whole


def test_a_model_that_knows_the_truth_passes(run):
    log = run(knows(BASE), category="base")
    assert {score.name: score.metrics["mean"].value for score in log.results.scores} == {
        "passed": 1.0,
        "turns": 1.0,
    }
    assert {sample.id for sample in log.samples} == set(SOME)


def test_the_log_shows_scores_and_differences_of_each_sample(run):
    wrong = SOME[1]
    log = run(knows(BASE, forgets=[wrong]), category="base")
    scores = {sample.id: sample.scores["judged"] for sample in log.samples}
    assert {id for id, score in scores.items() if score.value["passed"] == 0.0} == {wrong}
    env = RolloutEnv(BASE[wrong])
    env.reset()
    for turn in range(len(BASE[wrong].turns)):
        env.step([parse_call(text) for text in calls_of(BASE[wrong], turn, [wrong])])
        env.step("Done.")
    assert scores[wrong].metadata == env.verdict.to_json()
    assert scores[wrong].metadata["differences"]
    assert scores[wrong].explanation == env.verdict.failure.reason


def test_the_log_has_the_chat_and_each_step_s_results(run):
    log = run(knows(BASE), category="base")
    sample = log.samples[0]
    said = [turn.messages[0].content for turn in BASE[sample.id].turns]
    assert [m.text for m in sample.messages if m.role == "user"] == said
    steps = [event.data for event in sample.events if event.event == "info"]
    shown = [result for step in steps for result in step["results"]]
    assert [m.text for m in sample.messages if m.role == "tool"] == shown
    assert len(steps) == len([m for m in sample.messages if m.role == "assistant"])


def test_a_prompting_model_is_told_of_the_functions(run):
    log = run(
        lambda messages, tools, *_: output(f"{len(tools)} tools"), category="base", mode="prompt"
    )
    assert all(sample.messages[0].role == "system" for sample in log.samples)
    assert all("0 tools" in sample.messages[2].text for sample in log.samples)


def test_there_must_be_such_a_category():
    with pytest.raises(DataError, match="categories: 'bass' is not a category; did you mean base"):
        turnwise(category="bass")


def test_the_command_finds_the_task_by_name():
    assert registry_lookup("task", "turnwise/turnwise") is not None
