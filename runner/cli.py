"""Entry point of ``turnwise``, which runs the command and returns its exit status.

A command is a module of ``runner.commands``, or a module that an extension registers. The module
has a record ``Options``, a command line ``EXAMPLE`` and, optionally, ``NOTES`` for the end of the
help. The module's function ``run`` takes the options and returns the exit status.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from io import TextIOWrapper
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from envs import __version__
from envs.errors import BackendFault, DataError, find_nearest
from envs.lazy_modules import lazy_module
from runner import extension
from runner.commands import BELOW, DONE, INTERRUPTED, OVER_BUDGET, RUN_ERROR, USER_ERROR
from runner.extension import Command
from runner.show.terminal import discard_output, error_text, tell

if TYPE_CHECKING:
    import threading

    from runner.commands import options
    from runner.records import run_catalog
else:
    threading = lazy_module("threading")
    # turnwise --help does not parse options.
    options = lazy_module(".commands.options", __package__)
    run_catalog = lazy_module(".records.run_catalog", __package__)

_GC_THRESHOLD = 200_000
"""Garbage collection starts after this number of new objects; most objects live until the exit."""

_RESUMABLE = ("eval", "search")

COMMANDS: Mapping[str, Command] = {
    "eval": Command("run", "Run a model on a data set and print its score."),
    "score": Command("run", "Execute and judge recorded result files."),
    "episodes": Command("inspect", "List the episodes of a run with their causes of failure."),
    "table": Command("inspect", "Show the scores of runs by category, by group and overall."),
    "compare": Command("inspect", "Compare the verdicts of two runs and test for significance."),
    "replay": Command("inspect", "Show one episode step by step, and where it failed."),
    "report": Command("inspect", "Write an HTML file with scores, episodes and every step."),
    "dataset list": Command("data", "List the data sets, or the entries of a data set."),
    "dataset fetch": Command("data", "Download a data set into the cache."),
    "completion": Command("shell", "Print a shell script that completes commands and options."),
}


def all_commands() -> dict[str, Command]:
    """Return all commands by name: first the core's commands, then those of extensions.

    Raises DataError if an installed extension cannot be imported.
    """
    theirs = [each.commands for each in extension.load_extensions().values()]
    return {name: command for group in (COMMANDS, *theirs) for name, command in group.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    if arguments is not None:
        return _main(list(arguments))
    statuses: list[int] = []
    # Registered first, so it is called last.
    atexit.register(_leave_hung_threads, statuses)
    statuses.append(_main(sys.argv[1:]))
    return statuses[0]


def _leave_hung_threads(statuses: Sequence[int]) -> None:
    """At the exit, end the process at once if an agent still runs in a thread.

    If this thread waits for input or prints, Python would abort with status 134.
    """
    if statuses and "threading" in sys.modules and any(t.daemon for t in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            tell("", stream)
        os._exit(statuses[0])


def _main(words: Sequence[str]) -> int:
    _reopen_closed_streams()
    if sys.flags.optimize > 1:
        message = "python -OO removes the docstrings that models read; run python without -OO"
        return _print_error(message, USER_ERROR)
    gc.set_threshold(_GC_THRESHOLD)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A character that the terminal cannot show must not end the run.
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            status = _run(words)
        except SystemExit:
            # After --help, a failing flush at the exit would set the status 120.
            sys.stdout.flush()
            raise
        sys.stdout.flush()
    except DataError as error:
        return _print_error(error, USER_ERROR)
    except BackendFault as error:
        return _print_error(error, RUN_ERROR)
    except MemoryError:
        return _print_error("out of memory; use fewer --workers or entries", RUN_ERROR)
    except RecursionError:
        return _print_error("a value contains itself; try turnwise env check NAME", RUN_ERROR)
    except BrokenPipeError:
        # The reader has closed the pipe.
        discard_output(sys.stdout)
        return DONE
    except OSError as error:
        return _print_error(_describe_os_error(error), USER_ERROR)
    except KeyboardInterrupt:
        return _print_error("interrupted", INTERRUPTED)
    except Exception as error:
        # Before version 3.12, Python wraps an interrupt that occurs while a class is defined.
        if isinstance(error.__cause__, KeyboardInterrupt):
            return _print_error("interrupted", INTERRUPTED)
        if (bug := extension.describe_bug(error)) is None:
            raise
        return _print_error(bug, USER_ERROR)
    return status


def _reopen_closed_streams() -> None:
    """Replace closed standard streams by the null device.

    Without the replacement, messages would end up in the next file that is opened.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if vars(sys)[name] is None:
            vars(sys)[name] = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115


def _describe_os_error(error: OSError) -> str:
    """Describe a system error in one line; an error of standard output has no file name."""
    if error.filename is None:
        # Standard output fails, so the rest of its buffer is discarded.
        discard_output(sys.stdout)
    place = error.filename if error.filename is not None else "standard output"
    return f"{place}: {error.strerror or error}"


def _print_error(error: object, status: int) -> int:
    tell(f"turnwise: {error_text(error)}\n", sys.stderr)
    return status


def _run(words: Sequence[str]) -> int:
    if "_ARGCOMPLETE" in os.environ:
        lazy_module(".commands.completion", __package__).complete(all_commands(), module_of)
    name = _find_command(words, COMMANDS)
    commands = COMMANDS if name else all_commands()
    name = name or _find_command(words, commands)
    if name is None:
        return _answer_without_command(words, commands)
    rest = words[len(name.split()) :]
    if "--resume" in rest[:-1] and "--model" not in rest and name in _RESUMABLE:
        rest = _with_start(name, rest)
    module, given = read_options(name, commands[name], rest)
    with getattr(given, "within", nullcontext)():
        return int(module.run(given))


def _with_start(name: str, words: Sequence[str]) -> list[str]:
    folder = Path(words[words.index("--resume") + 1])
    command, *options = run_catalog.started_with(folder, words)
    if command != name:
        raise DataError("--resume", f"the run in {folder} was started by turnwise {command}")
    return [*options, *words]


def read_options(name: str, command: Command, words: Sequence[str]) -> tuple[ModuleType, Any]:
    """Return the module and options of a command; exit with a message if options are invalid.

    Raises DataError if the module cannot be imported.
    """
    module = module_of(name, command)
    try:
        record, further = module.Options, dict[str, type]()
    except ImportError as error:
        raise DataError(name, f"cannot be imported: {error}") from error
    if options.accepts_extensions(record) and options.has_unknown_flag(record, words):
        found = {key: each.options(name) for key, each in extension.load_extensions().items()}
        further = {key: kind for key, kind in found.items() if kind}
    notes = getattr(module, "NOTES", "")
    if further and words[-2:-1] in (["--help"], ["-h"]):
        if words[-1] not in further:
            raise DataError("--help", f"{words[-1]!r} is not one of {', '.join(further)}")
        record, notes, further = further[words[-1]], "", {}
    parser = options.build_parser(record, name, command.text, module.EXAMPLE, notes, further)
    return module, options.parse(record, parser, words, further)


def module_of(name: str, command: Command) -> ModuleType:
    """Return the module of a command; the module is loaded on first use."""
    path = name.replace(" ", ".").replace("-", "_")
    return lazy_module(command.module or f"{__package__}.commands.{path}")


def _find_command(words: Sequence[str], commands: Mapping[str, Command]) -> str | None:
    return next((name for name in (" ".join(words[:2]), *words[:1]) if name in commands), None)


def _answer_without_command(words: Sequence[str], commands: Mapping[str, Command]) -> int:
    family = [name for name in commands if words and name.startswith(f"{words[0]} ")]
    rest, prog = (words[1:], f"turnwise {words[0]}") if family else (words, "turnwise")
    if rest and rest[0] in ("-h", "--help"):
        sys.stdout.write(_help(prog, {name: commands[name] for name in family} or commands))
        return DONE
    if rest and rest[0] == "--version":
        sys.stdout.write(f"turnwise {__version__}\n")
        return DONE
    near = _suggest(rest[0], family or [*commands]) if rest else ""
    message = error_text(f"unknown command {rest[0]}{near}") if rest else "name a command"
    sys.stderr.write(f"{prog}: {message} (see {prog} --help)\n")
    return USER_ERROR


def _suggest(word: str, family: Sequence[str]) -> str:
    by_word = {each: name.partition(each)[0] + each for name in family for each in name.split()}
    known = [w for w in by_word if word.startswith(w)] or [*by_word]
    near = word if word in by_word else find_nearest(word, known)
    return f"; did you mean turnwise {by_word[near]}?" if near else ""


def _help(prog: str, commands: Mapping[str, Command]) -> str:
    lines = [f"usage: {prog} COMMAND [OPTION ...]"]
    if prog == "turnwise":
        lines += ["", "Simulate and judge tool-calling agents."]
    for group in dict.fromkeys(command.group for command in commands.values()):
        lines += ["", f"{group}:"]
        members = {name: each.text for name, each in commands.items() if each.group == group}
        lines += [f"  {name:18} {text}" for name, text in members.items()]
    lines += ["", f"{prog} COMMAND --help shows an example and the options of a command."]
    if prog == "turnwise":
        lines += [
            f"Exit status: {DONE} done, 1 a check found something, {USER_ERROR} bad input,",
            f"{RUN_ERROR} errors not caused by the model, {BELOW} below --fail-under,",
            f"{OVER_BUDGET} budget used up, {INTERRUPTED} interrupted.",
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
