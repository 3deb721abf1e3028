"""Typed options: a record out of what the user typed, or one line that says what is wrong."""

from __future__ import annotations

import re
import shlex
from argparse import ArgumentTypeError, Namespace
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, Literal, get_args, get_type_hints

import pytest

import runner.commands
from checkers.reasons import Reason
from runner import cli
from runner.cli import all_commands, main
from runner.commands.common_options import EntriesOptions
from runner.commands.eval_options import EvalOptions, LiveOptions
from runner.commands.options import (
    argument,
    build_parser,
    flags_of,
    given_flags,
    index,
    members_of,
    option,
    parse,
    positive,
    switch,
)


@dataclass(frozen=True, kw_only=True)
class Shared:
    """Shared: what several take."""

    mode: Literal["fc", "prompt"] | None = option("how")


@dataclass(frozen=True, kw_only=True)
class Example(Shared):
    """What an example takes."""

    run: Path = argument("a run", "RUN")
    ids: tuple[str, ...] = argument("some ids", "ID", required=False, default=())
    limit: int = option("how many", "N", default=5, read=positive)
    trials: tuple[int, ...] = option("which", "N", default=(), read=index, flags=("--trial",))
    quiet: bool = switch("say less", one_of="loudness")
    loud: bool = switch("say more", one_of="loudness")
    rate: float | None = option("100% at most", "R")


def read(*words: str) -> Example:
    """Return what the example takes of a command line."""
    return parse(
        Example, build_parser(Example, "example", "An example.", "turnwise example x"), words
    )


def test_every_type_of_field() -> None:
    options = read("x", "a", "b", "--trial", "0", "--trial", "2", "--mode", "fc", "--rate", "0.5")
    assert options == Example(run=Path("x"), ids=("a", "b"), trials=(0, 2), mode="fc", rate=0.5)
    assert read("x") == Example(run=Path("x"), limit=5, quiet=False)
    assert read("x", "--quiet", "--limit", "7").limit == 7


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["x", "--limt", "3"], "unknown option --limt; did you mean --limit?"),
        (["x", "--limt=3"], "unknown option --limt; did you mean --limit?"),
        (["x", "--lim", "3"], "unknown option --lim; did you mean --limit?"),
        (["--limt", "3"], "unknown option --limt; did you mean --limit?"),
        (["x", "--zzz"], "unknown option --zzz (see"),
        (["x", "--attempts", "2"], "unknown option --attempts; use --retries instead"),
        ([], "the following arguments are required: RUN"),
        (["x", "--limit", "0"], "argument --limit: '0' is not a whole number from 1 to 1e18"),
        (
            ["x", "--limit", "9" * 19],
            f"argument --limit: '{'9' * 19}' is not a whole number from 1 to 1e18",
        ),
        (["x", "--trial", "-1"], "argument --trial: "),
        (["x", "--mode", "other"], "argument --mode: invalid choice: 'other'"),
        (["x", "--quiet", "--loud"], "argument --loud: not allowed with argument --quiet"),
    ],
)
def test_what_is_wrong_is_one_line_with_the_command_s_own_help(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        read(*words)
    said = capsys.readouterr().err
    assert said.startswith(f"turnwise example: {message}")
    assert said.endswith(" (see turnwise example --help)\n")
    assert said.count("\n") == 1


@pytest.mark.parametrize("port", ["0", "65536", "99999", "9" * 5_000, "-1", "1e3", ""])
def test_a_port_that_cannot_exist_is_refused(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["eval", "--model", "oracle", "--allow-host", f"host:{port}"])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "is not HOST:PORT, with a port from 1 to 65535" in line


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("{", "is not valid JSON: Expecting property name"),
        ("[1]", "must be a JSON object, but is of type list"),
        ('{"a": NaN}', "$.a: must be a finite number"),
    ],
)
def test_a_body_that_is_no_object_is_refused(
    body: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["eval", "--model", "m", "--body", body])
    said = capsys.readouterr().err
    assert said.startswith(f"turnwise eval: argument --body: {message}")


def test_help_has_sections_defaults_and_an_example() -> None:
    text = build_parser(Example, "example", "An example.", "turnwise example x").format_help()
    assert "how many (default: 5)" in text
    assert "100% at most" in text
    assert "\nshared: what several take:\n" in text
    assert "\n\nAn example.\n\nexample: turnwise example x\n\n" in text


@pytest.mark.parametrize(
    ("command", "usage"),
    [
        ("table", "RUN [RUN ...] [options]"),
        ("judge", "[RUN ...] [options]"),
        ("view", "[FOLDER] [options]"),
        ("env serve", "[NAME ...] [options]"),
        ("generate", "OUT.jsonl --model MODEL [options]"),
    ],
)
def test_a_short_usage_names_every_positional_argument(
    command: str, usage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([*command.split(), "--help"])
    assert capsys.readouterr().out.startswith(f"usage: turnwise {command} {usage}\n")


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_of_an_unknown_extension_is_refused(
    flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", flag, "format"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("turnwise: --help: 'format' is not one of formats, streaming, ")


def test_lines_of_the_help_fit_the_terminal_and_the_example_stays_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    notes = f"short\n\n  {'word ' * 12}\n\n"
    example = f"turnwise example {'x' * 40}"
    text = build_parser(Example, "example", "An example.", example, notes).format_help()
    whole = f"  {' '.join(['word'] * 7)}\n  {' '.join(['word'] * 5)}"
    assert f"\n\nexample: {example}\n\n" in text
    assert text.endswith(f"\n\nshort\n\n{whole}\n")


@dataclass(frozen=True, kw_only=True)
class Narrower(Shared):
    """What else takes."""

    mode: Literal["fc", "prompt"] | None = option("how else")


def test_a_record_may_say_otherwise_what_one_that_it_is_made_of_says() -> None:
    text = build_parser(Narrower, "example", "An example.", "turnwise example").format_help()
    assert re.search(r"\nshared: what several take:\n +--mode {fc,prompt} +how else\n", text)


@dataclass(frozen=True, kw_only=True)
class Renamed:
    """Options that had other names in earlier revisions."""

    require_info: bool = switch("required information")
    calling_format: str | None = option("calling format", "NAME")


def test_former_names_of_flags_are_still_read() -> None:
    parser = build_parser(Renamed, "example", "An example.", "turnwise example")
    found = parse(Renamed, parser, ["--require-told", "--protocol=hermes"])
    assert (found.require_info, found.calling_format) == (True, "hermes")


def test_what_was_given_of_a_record() -> None:
    assert given_flags(read("x", "--mode", "fc", "--quiet"), Shared) == ["--mode"]
    assert given_flags(read("x", "--limit", "7"), Shared) == []


# --- Every command


COMMANDS = all_commands()


def module_of(name: str) -> Any:
    return cli.module_of(name, COMMANDS[name])


def words_of(example: str) -> list[str]:
    """Return the words after ``turnwise`` of an example."""
    return shlex.split(example.removeprefix('eval "$(').removesuffix(')"').partition(" < ")[0])[1:]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_s_example_is_one_of_its_command_lines(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    module = module_of(name)
    words = words_of(module.EXAMPLE)
    length = len(name.split())
    assert words[:length] == name.split()
    _, options = cli.read_options(name, COMMANDS[name], words[length:])
    assert isinstance(options, module.Options)
    with pytest.raises(SystemExit, match="0"):
        main([*name.split(), "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.startswith(f"usage: turnwise {name} ")
    assert f" {COMMANDS[name].text} example: {module.EXAMPLE} " in shown
    assert COMMANDS[name].text.count(". ") == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_a_terminal_of_80_columns(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit, match="0"):
        main([*name.split(), "--help"])
    with pytest.raises(SystemExit, match="0"):
        raise SystemExit(main(["--help"]))
    assert [line for line in capsys.readouterr().out.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("name", ["score", "table"])
def test_who_prints_verdicts_explains_every_reason(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit, match="0"):
        main([name, "--help"])
    said = capsys.readouterr().out
    for reason in Reason:
        assert f"  {reason}\n      {reason.meaning}\n" in said


def test_letters_that_changed_places_are_likelier_than_one_too_many(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["eval", "--modle", "oracle"])
    assert "unknown option --modle; did you mean --model?" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["eval", "dataset list", "dataset show", "env tools"])
def test_examples_that_need_no_run_work(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words_of(module_of(name).EXAMPLE)) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", COMMANDS)
def test_the_same_option_has_the_same_name_and_type_everywhere(name: str) -> None:
    options = module_of(name).Options
    assert is_dataclass(options)
    for member in members_of(options):
        flags = flags_of(member)
        assert all(re.fullmatch(r"--[a-z][a-z-]*|-[ko]", flag) for flag in flags)
        if flags in (("--output", "-o"), ("--dataset",), ("--ids",), ("--category",)):
            assert member.name == flags[0].removeprefix("--")
        if "--json" in flags:
            assert member.type == "bool"
        assert "--format" not in flags or name in ("export", "import")


@pytest.mark.parametrize("name", COMMANDS)
def test_seeds_are_whole_numbers_from_0(name: str) -> None:
    """Python draws the same for -1 and 1, and some servers take -1 for none."""
    for member in fields(module_of(name).Options):
        if not member.name.endswith("seed"):
            continue
        read = member.metadata["about"].read
        assert read("7") == 7
        for wrong in ("-1", "1.5", "9" * 5000):
            with pytest.raises(ArgumentTypeError, match="is not a whole number of at least 0"):
                read(wrong)


def test_no_function_but_of_the_options_takes_argparse_s_record() -> None:
    for found in walk_packages(runner.commands.__path__, "runner.commands."):
        module = import_module(found.name)
        for value in vars(module).values():
            if getattr(value, "__module__", None) == found.name and callable(value):
                kinds = [str(p.annotation) for p in signature(value).parameters.values()]
                assert Namespace.__name__ not in " ".join(kinds), value


# --- eval


LIVE = fields(LiveOptions)
KINDS = get_type_hints(LiveOptions)
VALUES = {
    "--timeout": "5",
    "--header": "A=B",
    "--body": "{}",
    "--history-rules": "text",
    "--temperature": "0.7",
    "--top-p": "0.5",
    "--trials": "4",
    "--max-cost": "5",
    "--errors-as": "error",
    "--price": "1,2",
}


def value_of(member: Any) -> str:
    """Return a value that an option takes: the last of its words, where it has such."""
    words = [word for kind in get_args(KINDS[member.name]) for word in get_args(kind)]
    texts = [word for word in words if isinstance(word, str)]
    return VALUES.get(flags_of(member)[0], texts[-1] if texts else "7")


@pytest.mark.parametrize("model", ["oracle", "null", "replay:nothing.json"])
@pytest.mark.parametrize("member", LIVE, ids=lambda member: member.name)
def test_an_offline_model_refuses_what_only_live_ones_have(
    model: str, member: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    flag = flags_of(member)[0]
    value = [] if member.type == "bool" else [value_of(member)]
    assert main(["eval", "--model", model, flag, *value]) == 2
    out, err = capsys.readouterr()
    needed = member.metadata["about"].needs
    why = f"only live models accept this option; omit it for {model}"
    why = f"needs {needed}: add it, or leave {flag} out" if needed else why
    assert (out, err) == ("", f"turnwise: {flag}: {why}\n")


def test_there_are_live_options() -> None:
    flags = {flag for member in LIVE for flag in flags_of(member)}
    assert {"--trials", "--temperature", "--resume", "--run-dir", "--max-cost"} <= flags
    assert {"--max-requests", "--dry-run", "--config", "--mode"} <= flags
    assert "--concurrency" in flags
    assert {f.name for f in LIVE} < {f.name for f in fields(EvalOptions)}


def test_a_resumed_run_stays_in_its_folder(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["eval", "--model", "m", "--resume", "runs/a", "--run-dir", "runs/b"]
    assert main(words) == 2
    message = "turnwise: --resume: cannot be combined with --run-dir: leave one of them out\n"
    assert capsys.readouterr().err == message


# --- Commands


def status_of(words: list[str]) -> object:
    """Return how the command ended: what it returned, or what argparse ended it with."""
    try:
        return main(words)
    except SystemExit as stop:
        return stop.code


@pytest.mark.parametrize("name", all_commands())
def test_an_option_without_a_default_is_required(name: str) -> None:
    options = cli.module_of(name, all_commands()[name]).Options
    types = get_type_hints(options)
    unset = [each.name for each in fields(options) if each.default is None]
    assert [each for each in unset if type(None) not in get_args(types[each])] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["evaluate"],
            "turnwise: unknown command evaluate; did you mean turnwise user eval",
        ),
        (["validate"], "turnwise: unknown command validate; did you mean turnwise dataset val"),
        (
            ["dataset", "lst"],
            "turnwise dataset: unknown command lst; did you mean turnwise dataset list?",
        ),
        (["dataset"], "turnwise dataset: name a command (see turnwise dataset --help)"),
        ([], "turnwise: name a command (see turnwise --help)"),
        (["datset", "list"], "turnwise: unknown command datset; did you mean turnwise dataset? ("),
        (["--verbose"], "turnwise: unknown command --verbose (see turnwise --help)"),
        (["eval", "--limt", "3"], "turnwise eval: unknown option --limt; did you mean --lim"),
    ],
)
def test_what_is_no_command_is_one_line(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of(words) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(message)


@pytest.mark.parametrize(
    "words",
    [["eval", "--model", "null", "--run-dir", ""], ["table", ""], ["eval", "--resume="]],
)
def test_an_empty_path_is_not_the_current_folder(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert "the path is empty" in capsys.readouterr().err


def test_the_help_groups_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    titles = re.findall(r"^([\w ]+):$", shown, re.MULTILINE)
    core = ["run", "inspect", "data", "shell"]
    assert titles[: len(core)] == core
    assert titles[len(core) :] == list(dict.fromkeys(titles[len(core) :]))
    listed = re.findall(r"^  ((?:(?:dataset|env|retrieve|user) )?[a-z-]+)  ", shown, re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)
    assert listed[: len(cli.COMMANDS)] == list(cli.COMMANDS)
    assert max(map(len, shown.splitlines())) <= 100


_LIVE = "--base-url http://127.0.0.1:9/v1"
_TAGGED = {
    "compress": "",
    "compress-keys": f"TicketAPI --model live {_LIVE} --output {{}}/keys.json",
    "dataset attack": "--output {}/attacked.jsonl",
    "dataset probe": f"--model live {_LIVE}",
    "dataset vary": "{} --vary tools=40",
    "env serve": "--http 0",
    "eval": "--model oracle",
    "judge": f"--probe --judge live {_LIVE}",
    "judge-info": f"{{}}/BFCL_v4_base_result.json --judge live {_LIVE}",
    "label": "{}/BFCL_v4_base_result.json",
    "search": "--model scripted:0.5",
}


@pytest.mark.parametrize(
    "name", [n for n in COMMANDS if issubclass(module_of(n).Options, EntriesOptions)]
)
def test_a_tag_selects_entries_in_every_command_that_has_the_option(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "env serve":
        pytest.importorskip("starlette")
    recorded = '{"id": "base_files_band_setlist", "result": [[]]}'
    (tmp_path / "BFCL_v4_base_result.json").write_text(recorded)
    words = [*name.split(), *_TAGGED[name].format(tmp_path).split()]
    assert status_of([*words, "--tag", "no_such_tag"]) == 2
    assert "--tag: no entry has the tag 'no_such_tag'" in capsys.readouterr().err
