from __future__ import annotations

from extensions.authoring.held_back import NOTE
from runner.cli import main
from runner.commands import DONE, USER_ERROR

EVAL = ["eval", "--model", "oracle", "--dataset", "held-back", "--category", "base"]


def test_what_is_held_back_is_unpacked_and_then_evaluated(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("TURNWISE_CACHE", str(tmp_path))
    assert main(EVAL) == USER_ERROR
    assert capsys.readouterr().err == (
        "turnwise: --dataset: held-back is packed; run turnwise dataset unpack\n"
    )
    assert main(["dataset", "unpack"]) == DONE
    out, err = capsys.readouterr()
    assert out.startswith(f"{tmp_path}/held-back-")
    assert NOTE in err
    assert main(EVAL) == DONE
    assert "100.0%" in capsys.readouterr().out


def test_a_folder_of_ones_own(capsys, tmp_path):
    assert main(["dataset", "unpack", "--to", str(tmp_path / "here")]) == DONE
    assert (tmp_path / "here" / "base.jsonl").is_file()
    assert [*(tmp_path / "here" / "scenarios").glob("*.json")]


def test_a_folder_that_cannot_be_made_is_one_line(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    assert main(["dataset", "unpack", "--to", str(tmp_path / "file")]) == USER_ERROR
    assert capsys.readouterr().err.count("\n") == 1
