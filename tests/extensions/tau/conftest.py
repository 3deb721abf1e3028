"""A small checkout of tau2's form, made of our own example worlds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[3] / "extensions" / "tau"


def world(name: str) -> dict[str, Any]:
    """Return the example state of a desk."""
    state: dict[str, Any] = json.loads((EXAMPLES / f"{name}.json").read_text("utf-8"))[name]
    return state


def task(id: str, actions: list[dict[str, Any]], **criteria: Any) -> dict[str, Any]:
    """Return a task as tau2 writes it."""
    return {
        "id": id,
        "description": None,
        "user_scenario": {
            "persona": None,
            "instructions": {
                "domain": "any",
                "reason_for_call": "You want help.",
                "known_info": "You are Ada Holm in zip code 55802.",
                "unknown_info": None,
                "task_instructions": "Be brief.",
            },
        },
        "initial_state": criteria.pop("initial_state", None),
        "evaluation_criteria": {
            "actions": actions,
            "env_assertions": None,
            "communicate_info": [],
            "nl_assertions": None,
            "reward_basis": ["DB", "COMMUNICATE"],
            **criteria,
        },
    }


CANCEL = {
    "name": "cancel_pending_order",
    "arguments": {"order_id": "#W1", "reason": "no longer needed"},
}
ROAM = {"name": "toggle_roaming", "arguments": {}, "requestor": "user"}

TASKS = {
    "retail": [task("0", [CANCEL]), task("1", [], communicate_info=["39.5"])],
    "airline": [
        task("0", [{"name": "cancel_reservation", "arguments": {"reservation_id": "LUND01"}}])
    ],
    "telecom": [
        task(
            "[roaming]",
            [ROAM],
            reward_basis=["ENV_ASSERTION"],
            env_assertions=[
                {
                    "env_type": "user",
                    "func_name": "assert_mobile_roaming_status",
                    "arguments": {"expected_status": True},
                    "assert_value": True,
                }
            ],
            initial_state={
                "initialization_actions": [
                    {"env_type": "user", "func_name": "turn_airplane_mode_on", "arguments": {}}
                ]
            },
        )
    ],
}


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Return a checkout that commands use instead of the cache."""
    for domain, tasks in TASKS.items():
        folder = tmp_path / "checkout" / "data" / "tau2" / "domains" / domain
        folder.mkdir(parents=True)
        state = world(f"{domain.title()}Desk")
        (folder / "db.json").write_text(json.dumps(state))
        (folder / "tasks.json").write_text(json.dumps(tasks))
        (folder / "split_tasks.json").write_text(json.dumps({"base": [t["id"] for t in tasks]}))
        (folder / "policy.md").write_text("Be kind.")
        if domain == "telecom":
            phone = {name: state[name] for name in ("device", "surroundings")}
            (folder / "user_db.json").write_text(json.dumps(phone))
            for name in ("main_policy", "tech_support_manual", "tech_support_workflow"):
                (folder / f"{name}.md").write_text("Be kind.")
    monkeypatch.setenv("TURNWISE_TAU2", str(tmp_path / "checkout"))
    return tmp_path / "checkout"


def results(domain: str, simulations: list[dict[str, Any]], **members: Any) -> dict[str, Any]:
    """Return a result file as tau2 writes it."""
    return {
        "info": {
            "environment_info": {"domain_name": domain, "policy": "Be kind."},
            "agent_info": {"implementation": "llm_agent", "llm": "m"},
            "user_info": {"implementation": "user_simulator", "llm": "u"},
        },
        "tasks": TASKS[domain],
        "simulations": simulations,
        **members,
    }


def call(name: str, arguments: dict[str, Any], side: str = "assistant") -> dict[str, Any]:
    """Return a message with one call."""
    made = {"id": "c", "name": name, "arguments": arguments, "requestor": side}
    return {"role": side, "content": None, "tool_calls": [made]}


def result(text: str, side: str = "assistant") -> dict[str, Any]:
    """Return a message with a result."""
    return {"role": "tool", "id": "c", "content": text, "requestor": side, "error": False}


def simulation(task_id: str, messages: list[dict[str, Any]], **members: Any) -> dict[str, Any]:
    """Return a simulation that the user ended."""
    return {
        "id": f"s-{task_id}",
        "task_id": task_id,
        "trial": 0,
        "termination_reason": "user_stop",
        "messages": [
            {"role": "assistant", "content": "Hi! How can I help you today?"},
            *messages,
            {"role": "user", "content": "Bye. ###STOP###"},
        ],
        "reward_info": None,
        **members,
    }
