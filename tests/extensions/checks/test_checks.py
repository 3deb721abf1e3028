"""Checks of entries and runs: every kind, their evidence and credit, and what is refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import turnwise

from checkers.user_checks import EpisodeCheck
from envs.errors import DataError
from extensions.checks.declared_checks import find_failure
from runner.cli import main

SHOP = '''
import turnwise

def refund(state, order_id: str, amount: float) -> dict[str, str]:
    """Refund an order.

    Args:
        order_id: Id of the order.
        amount: Amount in dollars.
    """
    if state["orders"][order_id] == "refunded":
        raise ValueError(f"{order_id} was refunded before")
    state["orders"][order_id] = "refunded"
    return {order_id: "refunded"}

STATE = {"orders": {"o1": "paid", "o2": "paid"}, "log": [{"by": "ann"}]}
Shop = turnwise.Backend.from_functions(STATE, [refund], "Shop")

@turnwise.check(weight=3)
def small_refunds(calls):
    """Refunds stay at or below 100 dollars."""
    return all(call.kwargs["amount"] <= 100 for call in calls)

@turnwise.check
def broken(state):
    raise RuntimeError("no idea")

plain = small_refunds.function
'''
PAID = "refund(order_id='o1', amount=50.0)"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a shop, in which the test runs."""
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("shop", None)


def entry(*checks: Any, truth: tuple[str, ...] = (), **members: Any) -> dict[str, Any]:
    """Return an entry with two turns and checks."""
    messages = [{"role": "user", "content": "Refund o1, please."}]
    own = {"checks": [*checks], **members}
    return {
        "id": "refund_0",
        "category": "base",
        "environments": ["shop:Shop"],
        "config": {"shop:Shop": {}},
        "turns": [
            {"messages": messages, "ground_truth": [*truth]},
            {"messages": messages, "ground_truth": []},
        ],
        "extensions": {"checks": own},
    }


def judged(written: dict[str, Any], *turns: list[Any]) -> turnwise.Verdict:
    """Return the verdict on an entry, given the steps of its turns."""
    Path("entries.jsonl").write_text(json.dumps(written) + "\n", encoding="utf-8")
    data = turnwise.load_dataset("entries.jsonl")
    return turnwise.judge(data, written["id"], [*turns])


def call(order: str = "o1", amount: float = 50.0) -> list[dict[str, str]]:
    """Return a step with one refund."""
    return [{"refund": json.dumps({"order_id": order, "amount": amount})}]


@pytest.mark.parametrize(
    ("check", "right", "wrong", "words"),
    [
        ({"must_call": "refund"}, [call()], ["No."], "refund() was not called successfully"),
        (
            {"must_call": "refund", "with": {"order_id": "o2"}},
            [call("o2")],
            [call("o9")],
            "refund(order_id='o2') was not called",
        ),
        ({"must_not_call": "refund"}, ["No."], [call("o9")], "amount=50.0) was called"),
        (
            {"must_not_call": "refund", "with": {"amount": 50.0}},
            [call(amount=9.0)],
            [call()],
            "was called",
        ),
        ({"at_most": 1, "of": "refund"}, [call()], [call(), call("o2")], "2 calls of refund"),
        ({"at_most": 0}, ["No."], [call()], "1 calls of functions, but at most 0 are"),
        (
            {"argument": "refund.amount", "max": 100},
            [call(amount=100.0)],
            [call(amount=100.5)],
            "amount must be at most 100",
        ),
        (
            {"argument": "refund.amount", "min": 5, "max": 100},
            ["No."],
            [call(amount=1.0)],
            "amount must be at least 5",
        ),
        (
            {"argument": "refund.order_id", "one_of": ["o1"]},
            [call()],
            [call("o2")],
            "order_id must be one of",
        ),
        (
            {"state": "shop:Shop.orders.o1", "equals": "refunded"},
            [call()],
            ["No."],
            "is 'paid', expected 'refunded'",
        ),
        (
            {"state": "['shop:Shop'].log[0].by", "equals": "ann"},
            ["No."],
            None,
            "",
        ),
        ({"state": "shop:Shop.log[7]", "equals": 1}, None, ["No."], "log[7] is missing"),
        ({"says": "sorry,  not allowed"}, ["I am Sorry, not allowed."], ["No."], "no answer says"),
        ({"never_says": "guarantee"}, ["No."], ["We GUARANTEE it."], "says 'guarantee'"),
        (
            {"python": "shop:small_refunds"},
            [call()],
            [call(amount=101.0)],
            "Refunds stay at or below 100 dollars.",
        ),
    ],
)
def test_each_kind_passes_and_fails(
    shop: Path, check: Any, right: list[Any] | None, wrong: list[Any] | None, words: str
) -> None:
    if right is not None:
        passed = judged(entry(check), right, ["No."])
        assert (passed.valid, passed.measures["checks"]) == (True, 1.0)
    if wrong is None:
        return
    failed = judged(entry(check), wrong, ["No."])
    assert (failed.valid, failed.measures["checks"]) == (False, 0.0)
    assert failed.error_type == "criteria:not_met"
    assert failed.failure
    assert failed.failure.calls
    assert words in "\n".join(failed.failure.calls.lines())


def test_checks_stand_beside_the_ground_truth_or_replace_it(shop: Path) -> None:
    check = {"never_says": "guarantee"}
    beside = entry(check, truth=(PAID,))
    assert judged(beside, [call(), "Done."], ["Yes."]).valid
    # The ground truth fails first; the credit is that of the checks.
    failed = judged(beside, ["Done."], ["Yes."])
    assert failed.error_type == "multi_turn:empty_turn_model_response"
    assert failed.measures["checks"] == 1.0
    assert judged(entry(check, truth=(PAID,), instead=True), ["Done."], ["Yes."]).valid
    assert judged(entry(check), [call(), "Done."], ["Yes."]).valid


def test_weights_turns_and_names(shop: Path) -> None:
    checks = [
        {"name": "polite", "says": "sorry", "turn": 1, "weight": 1},
        {"name": "small", "python": "shop:small_refunds"},
    ]
    verdict = judged(entry(*checks), ["Sorry."], ["No."])
    assert verdict.measures == {"checks": 0.75, "checks.polite": False, "checks.small": True}
    assert (verdict.failed_turn, verdict.turns_passed) == (1, 1)
    assert turnwise.Verdict.from_json(verdict.to_json()).measures == verdict.measures
    late = judged(entry({"must_not_call": "refund", "turn": 0}), ["No."], [call()])
    assert late.valid


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (5, "must be an object"),
        ({"must_cal": "f"}, "did you mean must_call?"),
        ({"says": "a", "never_says": "b"}, "must have one of"),
        ({"says": ""}, "says must be a string"),
        ({"says": "a", "with": {}}, "unknown field 'with' of says"),
        ({"must_not_call": "refnd"}, "the entry has no function 'refnd'; did you mean refund?"),
        ({"at_most": 1, "of": "refun"}, "the entry has no function 'refun'; did you mean refund?"),
        ({"argument": "refund.amout", "max": 1}, "no argument 'amout'; did you mean amount?"),
        ({"must_call": "refund", "with": {"order": "o1"}}, "refund has no argument 'order'"),
        ({"at_most": True}, "must be a number of at least 0"),
        ({"argument": "refund", "max": 1}, "must be function.parameter"),
        ({"argument": "refund.amount"}, "needs `min`, `max` or `one_of`"),
        ({"state": "Shop.x"}, "`state` needs `equals`"),
        ({"says": "a", "turn": 2}, "`turn` must be a number from 0 to 1"),
        ({"says": "a", "weight": 0}, "`weight` must be a number above 0"),
        ({"python": "shop:plain"}, "not a function marked with turnwise.check"),
        ({"python": "elsewhere:f"}, "no module elsewhere in the current folder"),
    ],
)
def test_an_invalid_check_is_one_line(
    shop: Path, capsys: pytest.CaptureFixture[str], check: Any, words: str
) -> None:
    with pytest.raises(DataError) as refused:
        judged(entry(check), ["No."], ["No."])
    place = "entry refund_0: $.extensions.checks.checks[0]"
    assert str(refused.value).startswith(place)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
    assert main(["eval", "--model", "null", "--dataset", "entries.jsonl"]) == 2
    assert words in capsys.readouterr().err


def test_the_same_name_twice_and_single_turns_are_refused(shop: Path) -> None:
    with pytest.raises(DataError, match="duplicate name"):
        judged(entry({"says": "a"}, {"says": "a"}), ["No."], ["No."])
    with pytest.raises(DataError, match="must be an object with"):
        judged({**entry(), "extensions": {"checks": []}}, ["No."], ["No."])


def test_a_check_that_breaks_is_an_error_and_no_failure(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("entries.jsonl").write_text(json.dumps(entry({"python": "shop:broken"})), encoding="utf-8")
    assert main(["eval", "--model", "null", "--dataset", "entries.jsonl"]) == 3
    assert "check shop:broken raised RuntimeError: no idea" in capsys.readouterr().err


def test_functions_become_checks_or_are_refused() -> None:
    @turnwise.check
    def polite(words: list[str], entry: str) -> str | None:
        return None if words else f"{entry}: nothing was said"

    assert isinstance(polite, EpisodeCheck)
    assert polite(["Hi."], "a") is None
    assert find_failure(polite, {}, [], [], "a") == "a: nothing was said"
    with pytest.raises(
        TypeError,
        match="has an unknown parameter 'stat'; the parameters can be state, calls, words, entry",
    ):

        @turnwise.check
        def wrong(stat: Any) -> bool:
            return True

    with pytest.raises(TypeError, match="is a coroutine function"):

        @turnwise.check
        async def later(state: Any) -> bool:
            return True


def agent(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> Any:
    """Refund too much, once."""
    assert messages[0] == {"role": "system", "content": "Never above 100."}
    if any(message["role"] == "tool" for message in messages):
        return "Done."
    function = {"name": "refund", "arguments": '{"order_id": "o1", "amount": 500}'}
    return {
        "role": "assistant",
        "tool_calls": [{"id": "1", "type": "function", "function": function}],
    }


def test_a_run_has_checks_a_policy_and_a_column(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import shop as own  # type: ignore[import-not-found]

    plain = {**entry(), "extensions": {}}
    Path("entries.jsonl").write_text(json.dumps(plain), encoding="utf-8")
    checks = [own.small_refunds, {"says": "done"}]
    policy = "Never above 100."
    run = turnwise.evaluate(agent, "entries.jsonl", checks=checks, policy=policy, run_dir="run")
    assert (run.passed, run.episodes, run.errors) == (0, 1, 0)
    [record] = run.records()
    assert record.verdict
    assert record.verdict.measures["checks"] == 0.25
    capsys.readouterr()
    assert main(["table", "run"]) == 0
    assert "25.0%" in capsys.readouterr().out
    assert main(["table", "run", "--csv", "table.csv"]) == 0
    assert "checks" in Path("table.csv").read_text(encoding="utf-8")
    assert main(["verify", "run"]) == 0
    assert main(["episodes", "run", "--failed"]) == 0
    assert "failed_check" in capsys.readouterr().out
    assert main(["report", "run", "-o", "report.html"]) == 0
    assert main(["compare", "run", "run"]) == 0
    assert "checks" in capsys.readouterr().out


def test_eval_takes_checks_and_a_policy_from_files(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("entries.jsonl").write_text(
        json.dumps({**entry(truth=(PAID,)), "extensions": {}}), encoding="utf-8"
    )
    Path("checks.json").write_text('[{"at_most": 0}, {"says": "x"}]', encoding="utf-8")
    Path("policy.md").write_text("Be kind.", encoding="utf-8")
    files = ["--checks", "checks.json", "--policy", "policy.md"]
    arguments = ["eval", "--model", "oracle", "--dataset", "entries.jsonl"]
    assert main([*arguments, *files]) == 0
    shown = capsys.readouterr().out
    assert "0.0%" in shown
    # The ground truth says nothing: the second check does not apply to it.
    assert "checks" in shown
    Path("checks.json").write_text("[{}]", encoding="utf-8")
    assert main([*arguments, *files]) == 2
    assert "checks.json: $[0]: must have one of" in capsys.readouterr().err


def test_validate_knows_entries_with_checks(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = [
        {**entry({"must_call": "refund"}), "id": "a"},
        {**entry({"must_not_call": "refund"}, truth=(PAID,)), "id": "b"},
        {**entry({"must_not_call": "refund"}), "id": "c"},
    ]
    Path("entries.jsonl").write_text("\n".join(map(json.dumps, written)), encoding="utf-8")
    main(["dataset", "validate", "entries.jsonl", "--rules", "null,offer"])
    found = [line for line in capsys.readouterr().out.splitlines() if line.startswith("entries.")]
    assert [line.split()[1] for line in found] == ["b:", "c:"]
    assert "the ground truth fails: 1 of 1 checks failed must_not_call refund" in found[0]
    assert "warning NULL: a model that makes no call passes" in found[1]
