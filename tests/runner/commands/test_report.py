from __future__ import annotations

import pytest

from runner.cli import main
from tests.runner.analysis.report.making import call, unpacked

RIGHT = [[call("mv", source="notes.txt", destination="old")], [call("cd", folder="old")]]


@pytest.fixture
def data(write_lines, folders):
    """Write a data set of one trajectory."""
    return write_lines("data.jsonl", folders)


@pytest.fixture
def recorded(write_lines, folders):
    """Write a result file."""
    return write_lines("model_result.json", {"id": folders.id, "result": RIGHT})


@pytest.fixture
def report(data, tmp_path, capsys):
    """Run the command and return its status and what it said."""

    def run(*arguments):
        output = tmp_path / "report.html"
        status = main(["report", *map(str, arguments), "--dataset", str(data), "-o", str(output)])
        return status, capsys.readouterr(), output

    return run


def test_it_writes_one_page(report, recorded):
    status, said, output = report(recorded)
    assert (status, said.out, said.err) == (0, f"{output}\n", "")
    [about], _, _ = unpacked(output.read_text(encoding="utf-8"))
    assert about["name"] == "model_result"
    assert about["profile"] == "strict"
    assert about["rows"][0]["outcome"] == "failed"


def test_several_runs_become_one_page(report, recorded):
    _, _, output = report(recorded, recorded)
    assert len(unpacked(output.read_text(encoding="utf-8"))[0]) == 2


def test_the_profile_can_be_chosen(report, recorded):
    _, _, output = report(recorded, "--profile", "bfcl")
    assert unpacked(output.read_text(encoding="utf-8"))[0][0]["profile"] == "bfcl"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "does not exist"),
        ({"id": "nobody", "result": []}, "'nobody' is not in"),
        ("no JSON", "is not valid JSON"),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_page(
    report, write_lines, tmp_path, content, complaint
):
    path = write_lines("bad_result.json", content) if content else tmp_path / "nothing"
    status, said, output = report(path)
    assert status == 2
    assert said.err.startswith("turnwise: ")
    assert said.err.count("\n") == 1
    assert complaint in said.err
    assert not output.exists()


def test_a_page_that_cannot_be_written_is_bad_input(data, recorded, tmp_path, capsys):
    output = tmp_path / "nowhere" / "report.html"
    assert main(["report", str(recorded), "--dataset", str(data), "-o", str(output)]) == 2
    assert (
        capsys.readouterr().err
        == f"turnwise: {output}: cannot be written: the folder {output.parent} does not exist\n"
    )
