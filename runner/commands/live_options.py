"""The options of ``turnwise eval`` that only live models have."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from runner.commands.common import positive

MODES = ("fc", "prompt")
REASONING = ("keep", "drop")
FUNCTION_DOCS = ("own", "bfcl")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that only a live model has."""
    reached = parser.add_argument_group("live models: how they are reached")
    reached.add_argument("--config", type=Path, metavar="FILE", help="TOML file; flags win over it")
    reached.add_argument("--base-url", metavar="URL", help="an OpenAI-compatible server")
    reached.add_argument("--timeout", type=_above_zero, metavar="SECONDS", help="for one request")
    reached.add_argument(
        "--header",
        dest="extra_headers",
        type=_header,
        action="append",
        metavar="NAME=VALUE",
        help="a further HTTP header; may be repeated",
    )
    reached.add_argument(
        "--body", dest="extra_body", type=_object, metavar="JSON", help="further request members"
    )
    asked = parser.add_argument_group("live models: how they are asked")
    asked.add_argument("--mode", choices=MODES, help="function calling, or calls in text (fc)")
    asked.add_argument("--reasoning", choices=REASONING, help="thoughts in the history (drop)")
    asked.add_argument(
        "--function-docs", choices=FUNCTION_DOCS, help="whose (default: those of the data set)"
    )
    asked.add_argument("--prompts", metavar="FILE", help="texts to use instead of ours")
    asked.add_argument(
        "--formats",
        metavar="NAMES",
        help="with --mode prompt: ask single-turn entries in several formats, all or names such as "
        "json-tagged-python-plain (calls in python, json or xml; bare or tagged; functions in "
        "json, python or xml; prompt plain or markdown)",
    )
    asked.add_argument("--temperature", type=float, metavar="T")
    asked.add_argument("--top-p", type=float, metavar="P")
    asked.add_argument("--seed", type=int, metavar="N")
    asked.add_argument("--max-tokens", type=positive, metavar="N")
    run = parser.add_argument_group("live models: the run")
    run.add_argument("--run-dir", type=Path, metavar="DIR", help="where to keep it (runs/...)")
    run.add_argument("--resume", type=Path, metavar="DIR", help="go on with a run")
    run.add_argument("--only", choices=["errors", "failed"], help="with --resume: do these again")
    run.add_argument("--trials", type=positive, default=1, metavar="K", help="of every entry")
    run.add_argument("--concurrency", type=positive, metavar="N", help="episodes at once (16)")
    run.add_argument("--attempts", type=positive, metavar="N", help="tries of one request (8)")
    run.add_argument("--max-requests", type=positive, metavar="N", help="budget of the run")
    run.add_argument("--max-cost", type=_above_zero, metavar="USD", help="budget of the run")
    run.add_argument("--price", type=_price, metavar="IN,OUT", help="US dollars per million tokens")
    run.add_argument("--allow-errors", action="store_true", help="give a score in spite of errors")
    run.add_argument("--no-preflight", action="store_true", help="skip the request that tests all")
    run.add_argument("--dry-run", action="store_true", help="say what would be asked, ask nothing")


def flags(options: argparse.Namespace) -> dict[str, Any]:
    """Return the members of Settings that were given, and None for the others."""
    return {
        "base_url": options.base_url,
        "mode": options.mode,
        "reasoning": options.reasoning,
        "function_docs": options.function_docs,
        "prompts": options.prompts,
        "temperature": options.temperature,
        "top_p": options.top_p,
        "seed": options.seed,
        "max_tokens": options.max_tokens,
        "timeout": options.timeout,
        "extra_headers": dict(options.extra_headers) if options.extra_headers else None,
        "extra_body": options.extra_body,
        "price": options.price,
        "concurrency": options.concurrency,
        "attempts": options.attempts,
        "max_requests": options.max_requests,
        "max_cost": options.max_cost,
    }


def _header(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("must be a JSON object")
    return value


def _price(text: str) -> tuple[float, float]:
    try:
        prompt, completion = map(float, text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not IN,OUT, two numbers") from None
    return prompt, completion


def _above_zero(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value
