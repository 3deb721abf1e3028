"""The story of a company: own functions, policy, checks and entries fail a build, in 40 lines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

SHOP = '''
import json
import turnwise

def refund(state, order_id: str, amount: float) -> dict[str, str]:
    """Refund an order.

    Args:
        order_id: Id of the order.
        amount: Amount in dollars.
    """
    state["orders"][order_id] = "refunded"
    return {order_id: "refunded"}

STATE = {"orders": {f"o{n}": "paid" for n in range(5)}}
Shop = turnwise.Backend.from_functions(STATE, [refund], "Shop")

@turnwise.check
def small_refunds(calls):
    """Refunds stay at or below 100 dollars."""
    return all(call.kwargs["amount"] <= 100 for call in calls)

def agent(messages, tools):
    if messages[-1]["role"] == "tool":
        return "Done."
    _, order, amount = messages[-1]["content"].split()
    arguments = json.dumps({"order_id": order, "amount": float(amount)})
    call = {"id": "1", "type": "function", "function": {"name": "refund", "arguments": arguments}}
    return {"role": "assistant", "tool_calls": [call]}
'''
ENTRIES = """
import json
for n, amount in enumerate((10, 20, 30, 40, 500)):
    said = [{"role": "user", "content": f"Refund o{n} {amount}"}]
    print(json.dumps({"id": f"refund_{n}", "category": "base", "environments": ["shop:Shop"],
        "config": {"shop:Shop": {}}, "turns": [{"messages": said, "ground_truth": []}]}))
"""
POLICY = "Never refund more than 100 dollars."
CHECKS = '[{"python": "shop:small_refunds"}, {"never_says": "guarantee"}]'
GATE = (
    "eval --model python:shop:agent --dataset entries.jsonl --policy policy.md "
    "--checks checks.json --fail-under {share} --junit junit.xml"
)


def run(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python in the company's folder."""
    return subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True)


def test_from_nothing_to_a_failing_build(tmp_path: Path) -> None:
    written = (SHOP, ENTRIES, POLICY, CHECKS, GATE)
    assert sum(len(text.strip().splitlines()) for text in written) < 40
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    (tmp_path / "policy.md").write_text(POLICY, encoding="utf-8")
    (tmp_path / "checks.json").write_text(CHECKS, encoding="utf-8")
    entries = run("-c", ENTRIES, folder=tmp_path)
    (tmp_path / "entries.jsonl").write_text(entries.stdout, encoding="utf-8")
    command = ["-m", "runner.cli", *GATE.format(share="90%").split()]
    failed = run(*command, folder=tmp_path)
    assert failed.returncode == 4, failed.stderr
    assert "80.0%" in failed.stdout
    root = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == ("5", "1")
    [failure] = root.iter("failure")
    assert "Refunds stay at or below 100 dollars." in (failure.text or "")
    passed = run(*[word.replace("90%", "0.8") for word in command], folder=tmp_path)
    assert passed.returncode == 0, passed.stderr
