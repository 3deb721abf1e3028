"""Calling formats in the settings of a run: from a flag or a file, and what is sent in them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from envs.errors import DataError
from extensions.formats.feature import with_calling_format
from extensions.formats.registry import fingerprint
from runner.cli import all_commands, read_options
from runner.commands.run_features import settings_of
from runner.live.run_settings import Settings


def from_file(path: Path, text: str) -> Settings:
    """Return the settings of ``eval`` with a file."""
    path.write_text(text, encoding="utf-8")
    words = ["--model", "m", "--config", str(path)]
    _, options = read_options("eval", all_commands()["eval"], words)
    return settings_of(options, "eval")


def test_a_protocol_can_be_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    settings = from_file(path, 'calling_format = "responses"\n')
    assert [each.protocol.name for each in settings.features if each.protocol] == ["responses"]
    assert settings.request_options().api == "responses"
    with pytest.raises(DataError, match="--mode: `prompt` cannot be combined"):
        from_file(path, 'calling_format = "hermes"\nmode = "prompt"\n')
    with pytest.raises(DataError, match=r"model\.toml: calling_format: must be a string"):
        from_file(path, "calling_format = 3\n")


def test_a_file_can_have_the_former_names_of_options(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    settings = from_file(path, 'protocol = "responses"\n')
    assert [each.protocol.name for each in settings.features if each.protocol] == ["responses"]
    with pytest.raises(DataError, match=r"model\.toml: protocol: must be a string"):
        from_file(path, "protocol = 3\n")
    with pytest.raises(DataError, match="attempts: unknown key; use retries instead"):
        from_file(path, "attempts = 3\n")


def test_results_can_be_shortened_by_a_file(tmp_path: Path) -> None:
    settings = from_file(tmp_path / "model.toml", 'compress = "2048,cut"\n')
    assert [each.definition() for each in settings.features] == [{"compress": "2048,cut"}]


def test_a_raw_protocol_asks_for_texts_that_end() -> None:
    raw = with_calling_format(Settings(base_url="http://x/v1"), "kimi")
    options = raw.request_options()
    assert (options.api, options.sampling) == ("completions", {"max_tokens": 4096})
    assert options.extra_body == {"stop": ["<|im_end|>"], "skip_special_tokens": False}
    own = replace(raw, extra_body={"stop": []}, max_tokens=9).request_options()
    assert (own.extra_body["stop"], own.sampling) == ([], {"max_tokens": 9})


@pytest.mark.parametrize("name", ["python", "hermes", "toolllama", "toolllama-raw", "chatglm3-raw"])
def test_own_prompts_replace_the_first_message(tmp_path: Path, name: str) -> None:
    path = tmp_path / "own.toml"
    text = 'system = "Tools:\\n{functions}\\nBegin!"\nobservation = "{results}"\n'
    path.write_text(text + 'handover_prompt = "{functions}"\nhandover_fc = ""\n')
    settings = Settings(prompts=str(path), base_url="http://x/v1")
    found = with_calling_format(settings, name).features[0].protocol
    usual = with_calling_format(Settings(base_url="http://x/v1"), name).features[0].protocol
    assert found is not None
    assert usual is not None
    document = {"name": "f", "description": "{functions}", "parameters": {"properties": {}}}
    [message] = found.show([document])
    assert message["content"].startswith("Tools:\n")
    assert message["content"].endswith("\nBegin!")
    assert '"name": "f"' in message["content"]
    assert fingerprint(found) != fingerprint(usual)


def test_own_prompts_need_a_text_to_replace(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    for name in ("tools", "mistral", "harmony"):
        with pytest.raises(DataError, match=f"format {name} has no prompt; leave out --prompts"):
            with_calling_format(Settings(prompts=str(path), base_url="http://x/v1"), name)
