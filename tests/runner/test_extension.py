"""An extension of another package: an option, a command and a figure, without touching the core."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner import extension
from runner.cli import main
from tests.runner.analysis.report.making import unpacked

SOURCE = Path(__file__).parents[1] / "third_party" / "volume"
POINT = f"[{extension.ENTRY_POINT_GROUP}]\nvolume = volume_extension.extension:EXTENSION\n"


def forget() -> None:
    """Have installed packages looked up again."""
    extension._installed.cache_clear()
    extension._loaded.cache_clear()
    for name in [name for name in sys.modules if name.startswith("volume_extension")]:
        del sys.modules[name]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install the example package; return the folder of its metadata."""
    folder = tmp_path / "site"
    shutil.copytree(SOURCE, folder)
    about = folder / "volume_extension-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: volume-extension\nVersion: 0\n")
    (about / "entry_points.txt").write_text(POINT)
    monkeypatch.syspath_prepend(folder)
    forget()
    yield about
    monkeypatch.undo()
    forget()


AGENT = """
def answer(messages, tools):
    said = messages[-1]
    return {"role": "assistant", "content": "Done."}
"""


@pytest.fixture
def run(site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Return the folder of a run with the extension's option."""
    (site.parent / "silent_agent.py").write_text(AGENT)
    folder = tmp_path / "run"
    command = ["eval", "--model", "python:silent_agent:answer", "--category", "base"]
    more = ["--limit", "3", "--volume", "1", "--run-dir", str(folder)]
    assert main([*command, *more]) == 0
    assert "\nvolume: loud 0.0%\n" in capsys.readouterr().out
    return folder


def test_its_option_is_part_of_the_run_and_its_figure_of_every_table(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    definition = json.loads((run / "run.json").read_text())["definition"]
    assert definition["extensions"] == {"volume": {"most": 1}}
    for line in (run / "episodes.jsonl").read_text().splitlines():
        assert json.loads(line)["extensions"] == {"volume": {"calls": 0, "most": 1}}
    assert main(["table", str(run)]) == 0
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["run", "loud"] in shown
    assert ["1", "0.0%"] in shown
    assert main(["table", str(run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["volume"] == {"loud": 0.0}
    page = run.parent / "page.html"
    assert main(["report", str(run), "-o", str(page)]) == 0
    figures = unpacked(page.read_text())[0][0]["overview"]["behaviour"]
    assert [(each["value"], each["form"]) for each in figures if each["label"] == "loud"] == [
        (0.0, "share")
    ]


def test_its_command_is_a_command(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["volume", str(run)]) == 0
    assert capsys.readouterr().out.count(": 0 calls\n") == 3
    assert main(["--help"]) == 0
    assert "volume" in capsys.readouterr().out


def test_its_option_is_in_the_help_under_its_name(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["eval", "--help"])
    shown = capsys.readouterr().out
    assert "\n  volume      --volume\n" in shown
    assert len(shown.splitlines()) <= 120
    with pytest.raises(SystemExit):
        main(["eval", "--help", "volume"])
    shown = capsys.readouterr().out
    assert "\n  --volume N  " in shown
    assert "--model" not in shown.partition("\noptions:")[2]


def test_a_run_that_goes_on_has_its_option(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["eval", "--model", "python:silent_agent:answer", "--category", "base"]
    assert main([*command, "--limit", "3", "--resume", str(run)]) == 2
    assert "extensions" in capsys.readouterr().err
    assert main([*command, "--limit", "3", "--volume", "1", "--resume", str(run)]) == 0


def test_an_option_in_a_file_needs_what_a_flag_needs(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (site.parent / "silent_agent.py").write_text(AGENT)
    file = tmp_path / "live.toml"
    command = ["eval", "--model", "python:silent_agent:answer", "--limit", "1"]
    for text, message in (
        ('tokenizer = "t.json"\n', "--tokenizer: needs --compress: add it"),
        ('pool = "own"\n', "--pool: needs --retrieve: add it"),
    ):
        file.write_text(text)
        assert main([*command, "--config", str(file)]) == 2
        assert message in capsys.readouterr().err


def test_offline_models_are_counted_too(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["eval", "--model", "oracle", "--category", "base", "--limit", "2", "--volume", "1"]
    assert main(command) == 0
    assert "\nvolume: loud 0.0%\n" in capsys.readouterr().out


def test_a_run_of_an_extension_that_is_gone_is_one_line(
    run: Path, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (site / "entry_points.txt").unlink()
    forget()
    assert main(["table", str(run)]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].endswith("extension: 'volume' is not installed; install its package")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("volume_extension.none:EXTENSION", "cannot be imported: ModuleNotFoundError"),
        ("leaves_at_import:EXTENSION", "cannot be imported: SystemExit: 0"),
        ("volume_extension.extension:VolumeOptions", "is not an Extension"),
        ("extensions.align.extension:EXTENSION", "is not an Extension with this name"),
    ],
)
def test_an_extension_that_is_none_is_one_line(
    site: Path, capsys: pytest.CaptureFixture[str], target: str, said: str
) -> None:
    (site / "entry_points.txt").write_text(POINT.replace(POINT.split()[-1], target))
    (site.parent / "leaves_at_import.py").write_text("raise SystemExit(0)")
    forget()
    assert main(["volume", "."]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("turnwise: extension volume: ")
    assert said in line


def test_the_name_of_one_of_ours_is_refused(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "entry_points.txt").write_text(POINT.replace("\nvolume", "\nsearch"))
    forget()
    assert main(["volume", "."]) == 2
    assert "has the name of the built-in extension search" in capsys.readouterr().err


def test_a_command_that_cannot_be_imported_is_one_line(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = site.parent / "volume_extension" / "command.py"
    module.write_text("import volume_extension.none\n")
    assert main(["volume", "."]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("turnwise: volume: cannot be imported: No module named")


@pytest.mark.parametrize(
    ("module", "old", "new", "hook"),
    [
        (
            "extension",
            "return Volume(sum(",
            "assert False, 'why'\n        return Volume(sum(",
            "kept",
        ),
        (
            "extension",
            "return [] if own",
            "assert False, 'why'\n        return [] if own",
            "features",
        ),
        ("command", "    for record", "    assert False, 'why'\n    for record", "run"),
    ],
)
def test_an_exception_in_a_hook_is_one_line(
    run: Path,
    site: Path,
    capsys: pytest.CaptureFixture[str],
    module: str,
    old: str,
    new: str,
    hook: str,
) -> None:
    file = site.parent / "volume_extension" / f"{module}.py"
    file.write_text(file.read_text().replace(old, new))
    forget()
    own = ["eval", "--model", "oracle", "--category", "base", "--limit", "2", "--volume", "1"]
    assert main(["volume", str(run)] if hook == "run" else own) == 2
    [*_, line] = capsys.readouterr().err.splitlines()
    said = (
        rf"turnwise: extension volume: {hook}\(\) raised AssertionError: why \(.*{module}.py:\d+\)"
    )
    assert re.fullmatch(said, line)


def test_a_bug_of_our_own_is_a_traceback(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.cli._run", lambda words: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        main(["table", "."])
