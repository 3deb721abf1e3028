"""Forms of tau2's files: a checkout, and result files in both formats."""

from __future__ import annotations

import json
from typing import Any

from tests.extensions.tau.conftest import CANCEL, TASKS, call, result, results, simulation, world
from tests.fuzz.forms import Form

CHECKOUT = "checkout"
"""Folder of a checkout below the folder of changed files."""


def benchmark_forms() -> dict[str, Form]:
    """Return these forms by name."""
    return {"tau2 checkout": _checkout_form(), "tau2 results": _results_form()}


def _checkout() -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for domain, tasks in TASKS.items():
        state = world(f"{domain.title()}Desk")
        values: dict[str, Any] = {
            "db": state,
            "tasks": tasks,
            "split_tasks": {"base": [task["id"] for task in tasks]},
        }
        texts = ["policy"]
        if domain == "telecom":
            values["user_db"] = {name: state[name] for name in ("device", "surroundings")}
            texts = ["main_policy", "tech_support_manual", "tech_support_workflow"]
        folder = f"{CHECKOUT}/data/tau2/domains/{domain}"
        files |= {f"{folder}/{name}.json": json.dumps(v).encode() for name, v in values.items()}
        files |= {f"{folder}/{name}.md": b"Be kind." for name in texts}
    return files


def _checkout_form() -> Form:
    files = _checkout()
    commands = (
        "eval --model oracle --dataset tau2 -o OUT",
        "eval --model null --dataset tau2:telecom/base",
        "eval --model gpt-x --base-url http://127.0.0.1:9 --dataset tau2:retail --dry-run",
        "dataset show tau2",
        "dataset validate tau2",
        "dataset cheaters tau2:retail",
        f"dataset fetch tau2 --from IN/{CHECKOUT}",
        "replay tau2_telecom_[roaming] --dataset tau2",
    )
    return Form(files, [name for name in files if name.endswith(".json")], commands)


def _results_form() -> Form:
    dialogue = [
        {"role": "user", "content": "Please cancel it."},
        call(CANCEL["name"], CANCEL["arguments"]),
        result('{"order_id": "#W1"}'),
        {"role": "assistant", "content": "Done."},
    ]
    judged = {
        "reward": 1.0,
        "db_check": {"db_match": True},
        "action_checks": [{"action": CANCEL, "action_match": True}],
        "communicate_checks": [{"info": "39.5", "met": True}],
        "nl_assertions": [{"nl_assertion": "Kind.", "met": True, "justification": "so"}],
    }
    whole = results("retail", [simulation("0", dialogue, reward_info=judged)])
    arguments = json.dumps(CANCEL["arguments"])
    dialogue = [dialogue[0], call(CANCEL["name"], arguments), *dialogue[2:]]  # type: ignore[arg-type]
    lines = [
        {"kind": "run", "domain": "retail", "agent_model": "a", "user_model": "b", "solo": False},
        *({"kind": "task", **task} for task in TASKS["retail"]),
        {"kind": "simulation", **simulation("0", dialogue, reward_info=judged)},
    ]
    changes = {
        "results.json": json.dumps(whole).encode(),
        "lines.jsonl": b"".join(json.dumps(line).encode() + b"\n" for line in lines),
    }
    commands = [
        command
        for path in (f"IN/{name}" for name in changes)
        for command in (
            f"score {path} -o OUT",
            f"score {path} --profile strict",
            f"table {path} --html OUT",
            f"report {path} -o OUT",
            f"episodes {path} --json",
            f"compare {path} {path} --json",
            f"replay tau2_retail_0 --run {path} --json",
            f"dataset cheaters tau2:{path}",
        )
    ]
    return Form({**_checkout(), **changes}, [*changes], commands)
