"""The command ``turnwise``: its commands, what ends it, and with which exit status.

A command is a module of ``runner.commands`` with its name, or one that an extension names:
``Options`` says what it takes, ``EXAMPLE`` is a command line that works, ``run`` takes the options
and returns the exit status, and ``NOTES``, if there are any, are lines that explain what it prints.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from io import TextIOWrapper
from types import ModuleType
from typing import TYPE_CHECKING, Any

from envs import __version__
from envs.errors import BackendFault, ConfigError
from envs.lazy import lazily
from runner import extension
from runner.commands import BELOW, DONE, INTERRUPTED, RUN_ERROR, USER_ERROR
from runner.extension import Command
from runner.show.terminal import divert, tell, visible
from trajectories.errors import DataError, nearest

if TYPE_CHECKING:
    from runner.commands import options
else:
    # The help of all commands needs none of what reads options.
    options = lazily(".commands.options", __package__)


_YOUNG = 200_000
"""So many new objects are looked through for cycles at once; of most commands, most stay."""


COMMANDS: Mapping[str, Command] = {
    "eval": Command("run", "Run a model on a data set and print its score."),
    "score": Command("run", "Execute and judge recorded result files."),
    "exec": Command("run", "Execute call scripts from standard input."),
    "runs": Command("look", "List the runs of a folder, with progress and scores."),
    "episodes": Command("look", "List the episodes of a run, and why those failed that did."),
    "table": Command("look", "Show what runs scored: by category, group, and overall."),
    "compare": Command("look", "Compare two runs: who flips, and is it more than noise."),
    "verify": Command("look", "Execute a run once more: the same verdicts and results?"),
    "replay": Command("look", "Show one trajectory step by step, and where it failed."),
    "align": Command("look", "Show up to five runs of one trajectory side by side."),
    "report": Command("look", "Write runs as one HTML file: scores, episodes, every step."),
    "export": Command("look", "Write a run as BFCL's result files or as transcripts."),
    "dataset list": Command("data", "List the data sets there are, or the entries of one."),
    "dataset fetch": Command("data", "Download a data set into the cache."),
    "env tools": Command("environments", "Show the functions of environments."),
    "completion": Command("shell", "Print what makes a shell complete commands and options."),
}
"""The core commands by what the user types, in the order of the help."""


def all_commands() -> dict[str, Command]:
    """Return the core commands, then those of extensions, by what the user types.

    Raises:
        DataError: An installed extension cannot be imported.
    """
    further = [each.commands for each in extension.extensions().values()]
    return {name: command for group in (COMMANDS, *further) for name, command in group.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _replace_closed()
    if sys.flags.optimize > 1:
        return _complain("python -OO takes out what models read of functions", USER_ERROR)
    gc.set_threshold(_YOUNG)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # What the terminal cannot show must not end the run.
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _run(words)
        sys.stdout.flush()
    except (ConfigError, DataError) as error:
        return _complain(error, USER_ERROR)
    except BackendFault as error:
        return _complain(error, RUN_ERROR)
    except MemoryError:
        return _complain("there was not enough memory", RUN_ERROR)
    except BrokenPipeError:
        # The reader of our output has gone; there is nobody left to tell.
        sys.stderr.close()
        return DONE
    except OSError as error:
        return _complain(_of_system(error), USER_ERROR)
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)
    return status


def _replace_closed() -> None:
    """Have a stream in the place of each standard one that was closed, from which nothing comes.

    What is told there goes nowhere, and into no file that is opened later and has its number.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if vars(sys)[name] is None:
            vars(sys)[name] = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115


def _of_system(error: OSError) -> str:
    """Return what the system refused, as a line; what has no name is what is printed on."""
    if error.filename is None:
        # Nothing more can be written there, not even what is left in the buffer.
        divert(sys.stdout)
    place = error.filename if error.filename is not None else "standard output"
    return f"{place}: {error.strerror or error}"


def _complain(error: object, status: int) -> int:
    tell(f"turnwise: {visible(str(error))}\n", sys.stderr)
    return status


def _run(words: Sequence[str]) -> int:
    if "_ARGCOMPLETE" in os.environ:
        lazily(".commands.completion", __package__).complete(all_commands())
    name = _begun(words, COMMANDS)
    commands = COMMANDS if name else all_commands()
    name = name or _begun(words, commands)
    if name is None:
        return _without_command(words, commands)
    module, given = read_options(name, commands[name], words[len(name.split()) :])
    with getattr(given, "within", nullcontext)():
        status: int = module.run(given)
    return status


def read_options(name: str, command: Command, words: Sequence[str]) -> tuple[ModuleType, Any]:
    """Return the module of a command and its options; ends the program where they are none."""
    module = module_of(name, command)
    record, further = module.Options, dict[str, type]()
    if options.is_open(record) and options.names_others(record, words):
        found = {key: each.options(name) for key, each in extension.extensions().items()}
        further = {key: kind for key, kind in found.items() if kind}
    notes = getattr(module, "NOTES", "")
    parser = options.parser_of(record, name, command.text, module.EXAMPLE, notes, further)
    return module, options.parse(record, parser, words, further)


def module_of(name: str, command: Command) -> ModuleType:
    """Return the module of a command, which is loaded at its first use."""
    path = name.replace(" ", ".").replace("-", "_")
    return lazily(command.module or f"{__package__}.commands.{path}")


def _begun(words: Sequence[str], commands: Mapping[str, Command]) -> str | None:
    """Return the command that a command line begins with, or None."""
    return next((name for name in (" ".join(words[:2]), *words[:1]) if name in commands), None)


def _without_command(words: Sequence[str], commands: Mapping[str, Command]) -> int:
    """Show the help that is wanted, or say what is wrong; return the exit status."""
    family = [name for name in commands if words and name.startswith(f"{words[0]} ")]
    asked, prog = (words[1:], f"turnwise {words[0]}") if family else (words, "turnwise")
    if asked and asked[0] in ("-h", "--help"):
        shown = {name: commands[name] for name in family} or commands
        sys.stdout.write(_help(prog, shown))
        return DONE
    if asked and asked[0] == "--version":
        sys.stdout.write(f"turnwise {__version__}\n")
        return DONE
    if not asked:
        message = "name a command"
    else:
        message = f"there is no command {visible(asked[0])}{_near(asked[0], family or [*commands])}"
    sys.stderr.write(f"{prog}: {message} (see {prog} --help)\n")
    return USER_ERROR


def _near(word: str, family: Sequence[str]) -> str:
    """Suggest a command by its whole name or its last word."""
    by_word = {name.split()[-1]: name for name in family}
    known = [w for w in by_word if word.startswith(w)] or [*by_word]
    near = word if word in by_word else nearest(word, known)
    return f"; did you mean turnwise {by_word[near]}?" if near else ""


def _help(prog: str, commands: Mapping[str, Command]) -> str:
    lines = [f"usage: {prog} COMMAND [OPTION ...]"]
    if prog == "turnwise":
        lines += ["", "Simulate and judge tool-calling agents."]
    for group in dict.fromkeys(command.group for command in commands.values()):
        lines += ["", f"{group}:"]
        mine = {name: each.text for name, each in commands.items() if each.group == group}
        lines += [f"  {name:18} {text}" for name, text in mine.items()]
    lines += ["", f"{prog} COMMAND --help lists the options of one, with an example."]
    if prog == "turnwise":
        lines += [
            f"Exit status: {DONE} done, 1 a check found something, {USER_ERROR} bad input,",
            f"{RUN_ERROR} errors that are not the model's, {BELOW} below --fail-under,"
            f" {INTERRUPTED} interrupted.",
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
