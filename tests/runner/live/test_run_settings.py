from __future__ import annotations

import json
import re
from dataclasses import FrozenInstanceError, fields, replace
from typing import get_args, get_type_hints

import pytest

from envs.errors import DataError
from runner.live.run_settings import Settings, known_keys, read_settings
from runner.models.model_types import ERROR_KINDS
from runner.records.run_definition import ModelSettings

CALLS = "parallel_tool_calls"
EVERYTHING = """
base_url = "http://localhost:8000/v1"
mode = "prompt"
reasoning = "last"
reasoning_effort = "low"
prompt_caching = "off"
history_rules = "text,answer"
api = "responses"
function_docs = "own"
observations = "own"
prompts = "mine.toml"
temperature = 0.5
top_p = 1
seed = 7
max_tokens = 512
timeout = 30
price = [1, 2.5]
concurrency = 64
retries = 3
rpm = 60
tpm = 90000
outage = 60.0
max_requests = 100
max_cost = 1.5
reply_cache = "replies"

[extra_headers]
X-Team = "blue"

[errors_as]
content_policy = "error"
server = "failure"

[extra_body]
top_k = 20
guided = { kind = "none", stops = [1, 2] }
"""


ELSEWHERE = ("tool_choice", CALLS, "features")
KINDS = get_type_hints(Settings)


def value_of(member):
    """Return a value of a setting's type that is not its default."""
    kind = next(iter(get_args(KINDS[member.name])), KINDS[member.name])
    values = get_args(kind) or [{int: 7, float: 0.5, bool: True, str: "text"}[kind]]
    return next(value for value in values if value != member.default)


UNTOLD = {
    member.name: value_of(member)
    for member in fields(Settings)
    if member.name not in ELSEWHERE and not re.search(rf"(?m)^\[?{member.name}\b", EVERYTHING)
}
EVERYTHING = (
    "".join(f"{name} = {json.dumps(value)}\n" for name, value in UNTOLD.items()) + EVERYTHING
)


@pytest.fixture
def written(tmp_path):
    """Write a settings file."""

    def write(text):
        path = tmp_path / "model.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def complaint(path, flags=None):
    """Return what is said of a settings file, which is one line that begins with its path."""
    with pytest.raises(DataError) as info:
        read_settings(path, flags or {})
    said = str(info.value)
    assert said.startswith(f"{path}: ")
    assert "\n" not in said
    return said.removeprefix(f"{path}: ")


# Where a setting comes from


def test_without_file_and_flags_all_is_as_it_comes():
    assert read_settings(None, {}) == Settings()


def test_every_setting_can_be_in_a_file(written):
    settings = read_settings(written(EVERYTHING), {})
    assert settings == Settings(
        base_url="http://localhost:8000/v1",
        mode="prompt",
        reasoning="last",
        reasoning_effort="low",
        prompt_caching="off",
        history_rules="text,answer",
        api="responses",
        function_docs="own",
        observations="own",
        prompts="mine.toml",
        temperature=0.5,
        top_p=1.0,
        seed=7,
        max_tokens=512,
        timeout=30.0,
        extra_headers={"X-Team": "blue"},
        extra_body={"top_k": 20, "guided": {"kind": "none", "stops": [1, 2]}},
        price=(1.0, 2.5),
        concurrency=64,
        retries=3,
        rpm=60,
        tpm=90000,
        outage=60.0,
        max_requests=100,
        max_cost=1.5,
        reply_cache="replies",
        errors_as={"content_policy": "error", "server": "failure"},
        **UNTOLD,
    )
    default = Settings()
    given = [f.name for f in fields(Settings) if f.name not in ELSEWHERE]
    assert all(getattr(settings, name) != getattr(default, name) for name in given)


def test_what_goes_with_tools_can_be_in_a_file_and_is_for_function_calling_only(written):
    text = 'tool_choice = "auto"\nparallel_tool_calls = "off"\n'
    settings = read_settings(written(text), {})
    assert settings.request_options().calling == {"tool_choice": "auto", CALLS: False}
    on = read_settings(None, {CALLS: "on"})
    assert on.request_options().calling == {CALLS: True}
    assert (on.defining().tool_choice, on.defining().parallel_tool_calls) == (None, "on")
    with pytest.raises(DataError, match="--tool-choice: is for function calling"):
        read_settings(written(text), {"mode": "prompt"})


def test_what_was_not_given_is_no_part_of_the_definition():
    told = {"api": "chat", "reasoning_effort": "low", "tool_choice": "auto", CALLS: "off"}
    assert not told.keys() & Settings().defining().to_json().keys()
    assert Settings(**told).defining().to_json().items() >= told.items()
    assert Settings().defining().to_json()["seed"] is None


def test_flags_win_over_the_file_and_the_file_over_what_comes(written):
    path = written('mode = "prompt"\nseed = 7\n')
    settings = read_settings(path, {"seed": 8, "temperature": 0.0, "mode": None})
    assert settings == Settings(mode="prompt", seed=8, temperature=0.0)


def test_a_flag_that_was_not_given_is_none_and_zero_is_given(written):
    path = written("temperature = 0.5\nextra_headers = { A = 'b' }\n")
    flags = {"temperature": 0, "extra_headers": None, "max_tokens": None}
    assert read_settings(path, flags) == Settings(temperature=0, extra_headers={"A": "b"})


def test_settings_stay_as_they_are():
    with pytest.raises(FrozenInstanceError):
        Settings().seed = 5


# What is refused


def test_an_unknown_key_is_told_the_nearest_name(written):
    said = complaint(written("temprature = 0.5"))
    assert said == "temprature: unknown key; did you mean temperature?"


def test_a_key_that_resembles_none_is_told_all_names(written):
    said = complaint(written("[model]\nname = 'x'"))
    assert said.startswith("model: unknown key; ")
    everything = ", ".join(known_keys())
    assert complaint(written("zzz = 1")) == f"zzz: unknown key; the keys are {everything}"


def test_a_key_that_might_be_secret_is_not_repeated(written):
    assert "sk-secret" not in complaint(written('api_key = "sk-secret"'))


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("base_url", "5", "5"),
        ("mode", '"FC"', "'FC'"),
        ("reasoning", "true", "True"),
        ("function_docs", '""', "''"),
        ("prompts", "['a']", "['a']"),
        ("seed", "1.5", "1.5"),
        ("max_tokens", '"many"', "'many'"),
        ("temperature", "[]", "[]"),
        ("timeout", "{}", "{}"),
        ("price", "1.5", "1.5"),
        ("price", "[1]", "[1]"),
        ("price", "[1, 2, 3, 4, 5]", "[1, 2, 3, 4, 5]"),
        ("extra_body", "[]", "[]"),
        ("timeout", "-1", "-1"),
        ("max_cost", "-0.5", "-0.5"),
        ("max_requests", "-1", "-1"),
    ],
)
def test_a_wrong_type_or_value_is_one_clear_line(written, key, value, shown):
    said = complaint(written(f"{key} = {value}"))
    assert said.startswith(f"{key}: ")
    assert said.endswith(f", got {shown}")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("mode = 'FC'", "mode: input should be 'fc' or 'prompt', got 'FC'"),
        ("reasoning = ''", "reasoning: input should be 'none', 'last' or 'all', got ''"),
        ("timeout = -1", "timeout: must be at least 0, got -1"),
    ],
)
def test_a_refusal_says_what_would_do(written, line, said):
    assert complaint(written(line)) == said


def test_a_long_value_that_is_refused_is_not_shown_in_full(written):
    assert len(complaint(written(f"seed = '{'x' * 1000}'"))) < 200


@pytest.mark.parametrize("value", ["'A: b'", "{ A = 1 }", "[]"])
def test_headers_that_are_no_texts_by_name_are_refused(written, value):
    assert complaint(written(f"extra_headers = {value}")).startswith("extra_headers: ")


@pytest.mark.parametrize(
    "line",
    [
        "seed = true",
        "temperature = false",
        "seed = '5'",
        "temperature = '0.5'",
        "price = ['1', '2']",
    ],
)
def test_a_value_of_another_type_is_not_turned_into_one_that_fits(written, line):
    assert "should be" in complaint(written(line))


@pytest.mark.parametrize("line", ["concurrency = 0", "retries = -1"])
def test_a_run_that_could_do_nothing_is_refused(written, line):
    # With a concurrency of 0 the engine is done at once, and nothing was asked.
    assert complaint(written(line)).startswith(line.split()[0])


@pytest.mark.parametrize("line", ["price = [-1, 2]", "temperature = nan", "timeout = nan"])
def test_a_number_that_makes_no_sense_is_refused(written, line):
    assert complaint(written(line)).startswith(line.split()[0])


@pytest.mark.parametrize(
    "line",
    [
        'extra_headers = "Authorization: Bearer sk-secret"',
        'extra_headers = { Authorization = ["Bearer sk-secret"] }',
    ],
)
def test_a_header_that_is_refused_does_not_show_its_value(written, line):
    assert "sk-secret" not in complaint(written(line))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"seed = ", "is not valid TOML: Invalid value (at end of document)"),
        (b"seed = 1\nseed = 2\n", "is not valid TOML: Cannot overwrite a value"),
        (b"# \xff", "is not UTF-8 text: invalid start byte"),
        (b"seed = " + b"[" * 20_000, "is not valid TOML: it is nested too deep"),
        (b"seed = 1" + b"0" * 5000, "is not valid TOML: Exceeds the limit (4300 digits)"),
    ],
)
def test_a_file_that_is_no_toml_is_one_clear_line(tmp_path, content, said):
    path = tmp_path / "model.toml"
    path.write_bytes(content)
    assert complaint(path).startswith(said)


def test_a_file_that_cannot_be_read_is_one_clear_line(tmp_path):
    assert complaint(tmp_path / "none.toml") == "cannot be read: No such file or directory"
    assert complaint(tmp_path) == "cannot be read: Is a directory"


# What a run sends, and what defines it


def test_only_sampling_parameters_that_were_given_are_sent():
    assert Settings().request_options().sampling == {}
    given = Settings(temperature=0.0, seed=0, max_tokens=5, timeout=1.0)
    assert given.request_options().sampling == {"temperature": 0.0, "seed": 0, "max_tokens": 5}
    assert Settings(top_p=0.9).request_options().sampling == {"top_p": 0.9}


def test_values_of_headers_define_no_run():
    secret = {"X-Key": "sk-secret", "Authorization": "Bearer sk-secret"}
    defining = Settings(extra_headers=secret).defining()
    assert defining.extra_headers == ["Authorization", "X-Key"]
    assert "secret" not in json.dumps(defining)
    renewed = dict.fromkeys(reversed(secret), "other")
    assert Settings(extra_headers=renewed).defining() == defining


def test_credentials_in_the_address_define_no_run():
    # What defines a run is written to its folder.
    url = "https://ann:sk-secret@example.org/v1?api_key=sk-secret"
    assert "sk-secret" not in json.dumps(Settings(base_url=url).defining())


PUSHING = {
    "concurrency",
    "retries",
    "rpm",
    "tpm",
    "outage",
    "max_requests",
    "max_cost",
    "price",
    "prompts",
    "reply_cache",
    "timeout",
}


def test_how_hard_a_run_pushes_does_not_define_it(written):
    settings = read_settings(written(EVERYTHING), {})
    calm = read_settings(written(re.sub(f"(?m)^({'|'.join(PUSHING)}) .*$", "", EVERYTHING)), {})
    assert settings != calm
    assert settings.defining() == calm.defining()


def test_everything_else_defines_a_run(written):
    calling = {"tool_choice": "none", CALLS: "on"}
    given = replace(read_settings(written(EVERYTHING), {}), **calling)
    settings, default = given.defining(), Settings().defining()
    assert set(ModelSettings._fields) == {*known_keys()} - PUSHING
    assert all(one != other for one, other in zip(settings, default, strict=True))
    assert settings.extra_body == {"top_k": 20, "guided": {"kind": "none", "stops": [1, 2]}}
    assert json.loads(json.dumps(settings)) == list(settings)


def test_a_cache_of_replies_is_a_folder(tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(DataError, match=r"--reply-cache: .*file is not a folder"):
        read_settings(None, {"reply_cache": str(tmp_path / "file")})
    read_settings(None, {"reply_cache": str(tmp_path / "new")})
    read_settings(None, {"reply_cache": ""})


def test_an_unknown_kind_of_error_is_refused_with_the_nearest_kind_or_all_kinds():
    for kind, advice in (("timeot", "timeout"), ("xyz", ", ".join(ERROR_KINDS))):
        with pytest.raises(DataError, match=f"unknown kind of error '{kind}'.*{advice}") as caught:
            read_settings(None, {"errors_as": {kind: "error"}})
        assert (advice == "timeout") is ("the kinds are" not in str(caught.value))
    assert read_settings(None, {"errors_as": {"all": "error"}}).errors_as == {"all": "error"}
