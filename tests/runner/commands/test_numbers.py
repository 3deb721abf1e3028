"""No number that is infinite or none comes in by an option, a settings file or a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.cli import main
from runner.models.transport import parsed
from tests.fuzz.forms import FORMAT_1

DRY = ["eval", "--model", "m", "--base-url", "http://127.0.0.1:9", "--dry-run", "--dataset"]


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the line with which a command that is refused ends."""
    try:
        status: object = main([*DRY, str(FORMAT_1 / "data.jsonl"), *words])
    except SystemExit as ending:
        status = ending.code
    assert status == 2
    return capsys.readouterr().err.rstrip("\n").rpartition("\n")[2]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--temperature", text) for text in ("nan", "inf", "-1", "x")),
        *(("--price", text) for text in ("nan,1", "1,inf", "1,-1")),
        ("--top-p", "nan"),
        *(("--body", text) for text in ('{"a": NaN}', '{"a": [1e999]}', "[" * 50_000, "[]", "{")),
        ("--body", f'{{"a": {"9" * 5_000}}}'),
    ],
)
def test_an_option_is_a_finite_number(
    capsys: pytest.CaptureFixture[str], option: str, value: str
) -> None:
    said = refused(capsys, option, value)
    assert said.startswith(f"turnwise eval: argument {option}: ")
    assert len(said) < 500


@pytest.mark.parametrize("text", ["temperature = nan", "[extra_body]\nk = [inf]"])
def test_a_setting_is_a_finite_number(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str
) -> None:
    path = tmp_path / "c.toml"
    path.write_text(text)
    assert "must be a finite number" in refused(capsys, "--config", str(path))


def test_an_integer_that_python_would_not_write_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "c.toml"
    path.write_text(f"max_tokens = 0x{'f' * 5_000}")
    assert "is too large for an integer" in refused(capsys, "--config", str(path))


def test_what_is_no_number_in_a_servers_answer_is_null() -> None:
    assert parsed(b'{"a": [NaN, -Infinity]}') == {"a": [None, None]}
    assert parsed(b'{"a": 1}') == {"a": 1}
