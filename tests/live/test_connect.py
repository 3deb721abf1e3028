"""Which client a model's name leads to, what is said where there is none, and prices."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from envs.errors import DataError
from runner.models import model_connection as connection
from runner.models.litellm_model import LiteLLMModel
from runner.models.model_connection import connect, listed_price, price_of
from runner.models.model_name import LiveName, parse_model_name
from runner.models.model_types import Price, RequestOptions, Usage
from runner.models.openai_model import OpenAIModel
from tests.live.asking import ask
from tests.servers.serving import FakeServer

ROOT = Path(__file__).parents[2]
KEY = "sk-test-0123456789abcdef"


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("fake", "fake"),
        ("openai/gpt-oss-20b", "openai/gpt-oss-20b"),
        ("meta-llama/Llama-3", "meta-llama/Llama-3"),
        ("anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"),
        # What a terminal passes on that is not UTF-8.
        ("a\udcff", "a\udcff"),
    ],
)
def test_with_a_base_url_the_name_is_the_servers(server: FakeServer, name: str, sent: str) -> None:
    model = connect(
        LiveName(name),
        RequestOptions(base_url=server.base_url, sampling={"seed": 1}, extra_body={"top_k": 2}),
    )
    assert isinstance(model, OpenAIModel)
    reply = ask(model)
    assert (reply.text, reply.cost) == ("Yes.", None)
    assert server.last is not None
    body = server.last.body
    assert (body["model"], body["seed"], body["top_k"]) == (sent, 1, 2)


def test_the_environment_names_a_server(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    for name in ("fake", "openai/gpt-oss-20b", "meta-llama/Llama-3"):
        model = connect(parse_model_name(name))
        assert isinstance(model, OpenAIModel)
        ask(model)
        assert server.last is not None
        assert server.last.body["model"] == name


@pytest.mark.parametrize("name", ["gpt-4o", "openai/gpt-4o"])
def test_openai_itself(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = connect(parse_model_name(name))
    assert isinstance(model, OpenAIModel)
    assert model._heads[0].startswith(b'{"model":"gpt-4o"')
    assert model._price == listed_price("gpt-4o") is not None


def test_openai_itself_wants_a_key() -> None:
    with pytest.raises(DataError, match="set OPENAI_API_KEY"):
        connect(LiveName("gpt-4o"))


@pytest.mark.parametrize("name", ["anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-pro"])
def test_providers_in_the_table(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{name.partition('/')[0].upper()}_API_KEY", KEY)
    model = connect(parse_model_name(name))
    assert isinstance(model, OpenAIModel)
    assert model._price == listed_price(name) is not None


def test_an_api_that_asks_for_it_is_told_the_longest_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    for options, tokens in (
        (RequestOptions(), 64000),
        (RequestOptions(sampling={"max_tokens": 9}), 9),
    ):
        model = connect(LiveName("anthropic/claude-sonnet-4-5"), options)
        assert isinstance(model, OpenAIModel)
        assert json.loads(model._heads[0] + b'"messages":[]}')["max_tokens"] == tokens


@pytest.mark.parametrize(
    "name", ["azure/gpt-4o", "bedrock/anthropic.claude-3-5-haiku-20241022-v1:0"]
)
def test_other_providers(name: str) -> None:
    model = connect(parse_model_name(name))
    assert isinstance(model, LiteLLMModel)
    assert model._price == listed_price(name) is not None


def test_a_price_of_the_users_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    model = connect(LiveName("gemini/gemini-2.5-pro"), RequestOptions(price=Price(1.0, 2.0)))
    assert isinstance(model, OpenAIModel)
    assert model._price == Price(1.0, 2.0)


def test_an_unknown_provider() -> None:
    with pytest.raises(DataError, match=r"litellm knows no provider 'meta-llama'; .* --base-url"):
        connect(LiveName("meta-llama/Llama-3"))


@pytest.mark.parametrize(
    ("package", "name"),
    [("yarl", "gpt-4o"), ("aiohttp", "gpt-4o"), ("litellm", "azure/gpt-4o")],
)
def test_a_missing_package(package: str, name: str) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from runner.models.model_connection import connect\n"
        "from runner.models.model_name import LiveName\n"
        f"connect(LiveName({name!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    last = done.stderr.splitlines()[-1]
    assert f"need the package {package}: pip install 'turnwise[models]'" in last
    assert last.startswith("envs.errors.DataError: --model: ")


@pytest.mark.parametrize("name", ["gpt-4o", "gemini/gemini-2.5-pro", "meta-llama/Llama-3"])
def test_marks_for_a_cache_are_refused_where_nobody_wants_them(name: str) -> None:
    with pytest.raises(DataError, match="--prompt-caching: `on` works only with Claude"):
        connect(parse_model_name(name), RequestOptions(provider={"prompt_caching": True}))


@pytest.mark.parametrize(
    "table",
    [
        "no JSON",
        "[" * 100_000,
        "[]",
        '{"gpt-x": 5}',
        '{"gpt-x": {"input_cost_per_token": "1", "output_cost_per_token": 1e-6}}',
        '{"gpt-x": {"input_cost_per_token": NaN, "output_cost_per_token": 1e-6}}',
        '{"gpt-x": {"input_cost_per_token": 1e-6, "output_cost_per_token": -1}}',
    ],
)
def test_a_table_of_another_form_has_no_prices(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "prices.json"
    path.write_text(table, encoding="utf-8")
    package = SimpleNamespace(locate_file=lambda _: path)
    monkeypatch.setattr(connection, "distribution", lambda _: package)
    connection._load_prices.cache_clear()
    try:
        assert listed_price("gpt-x") is None
        assert listed_price("openai/gpt-x") is None
    finally:
        connection._load_prices.cache_clear()


def test_listed_prices() -> None:
    bare, provider = listed_price("gpt-4o"), listed_price("openai/gpt-4o")
    assert bare == provider is not None
    assert 0 < bare.cached < bare.input < bare.output
    assert listed_price("gemini/gemini-2.5-pro") is not None
    claude = listed_price("anthropic/claude-sonnet-4-5")
    assert claude is not None
    assert 0 < claude.cached < claude.input < claude.written < claude.output


@pytest.mark.parametrize(
    "name", ["no-such-model", "anthropic/gpt-4o", "ollama/llama3", "sample_spec", ""]
)
def test_an_unknown_price_is_unknown(name: str) -> None:
    assert listed_price(name) is None


def test_prices_are_listed_for_who_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    mine, given = RequestOptions("http://localhost:8000/v1"), Price(1.0, 2.0)
    assert price_of(LiveName("gpt-4o")) == listed_price("gpt-4o")
    assert price_of(LiveName("anthropic/claude-sonnet-4-5")) == listed_price(
        "anthropic/claude-sonnet-4-5"
    )
    assert price_of(LiveName("gpt-4o"), mine) is None
    assert price_of(LiveName("gpt-4o"), replace(mine, price=given)) == given
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:8000/v1")
    assert price_of(LiveName("gpt-4o")) is None


def test_without_litellm_no_price_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_PRICES", "litellm/no-such-file.json")
    connection._load_prices.cache_clear()
    assert listed_price("gpt-4o") is None
    connection._load_prices.cache_clear()


@pytest.mark.parametrize(
    ("usage", "price", "dollars"),
    [
        (Usage(10, 5), Price(2.0, 3.0), 35.0),
        (Usage(10, 5, 4), Price(2.0, 3.0, 1.0), 31.0),
        (Usage(10, 5, 4), Price(2.0, 3.0), 35.0),
        (Usage(10, 5, 40), Price(2.0, 3.0, 1.0), 25.0),
        (Usage(None, 5), Price(2.0, 3.0), None),
        (Usage(10, None), Price(2.0, 3.0), None),
        (Usage(0, 0), Price(2.0, 3.0), 0.0),
        (Usage(10, 5, 4, None, 3), Price(2.0, 3.0, 1.0, 2.5), 32.5),
        (Usage(10, 5, 4, None, 3), Price(2.0, 3.0, 1.0), 31.0),
        (Usage(10, 5, 4, None, 30), Price(2.0, 3.0, 0.0, 2.5), 30.0),
    ],
)
def test_cost(usage: Usage, price: Price, dollars: float | None) -> None:
    assert price.of(usage) == dollars
