"""The command ``turnwise``: its commands, what ends it, and with which exit status.

A command is a module of ``runner.commands`` with its name: ``Options`` says what it takes,
``EXAMPLE`` is a command line that works, ``run`` takes the options and returns the exit status, and
``NOTES``, if there are any, are lines that explain what it prints.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from io import TextIOWrapper
from typing import TYPE_CHECKING, NamedTuple

from envs import __version__
from envs.errors import BackendFault, ConfigError
from envs.lazy import lazily
from runner.commands import BELOW, DONE, INTERRUPTED, RUN_ERROR, USER_ERROR
from runner.show.terminal import divert, tell, visible
from trajectories.errors import DataError, nearest

if TYPE_CHECKING:
    from runner.commands import options
else:
    # The help of all commands needs none of what reads options.
    options = lazily(".commands.options", __package__)


_YOUNG = 200_000
"""So many new objects are looked through for cycles at once; of most commands, most stay."""


class Command(NamedTuple):
    """One command, as the help shows it."""

    group: str
    text: str


COMMANDS: Mapping[str, Command] = {
    "eval": Command("run", "Run a model on a data set and print its score."),
    "score": Command("run", "Execute and judge recorded result files."),
    "exec": Command("run", "Execute call scripts from standard input."),
    "judge": Command("run", "Have a model judge episodes, beside their verdicts."),
    "search": Command("run", "Let a model search with undo, and compare with none."),
    "retrieve query": Command("retrieval", "Find the functions that a text asks for."),
    "retrieve evaluate": Command("retrieval", "Measure how well rankings find what is needed."),
    "retrieve train": Command("retrieval", "Train a ranking by queries and what they need."),
    "runs": Command("look", "List the runs of a folder, with progress and scores."),
    "episodes": Command("look", "List the episodes of a run, and why those failed that did."),
    "table": Command("look", "Show what runs scored: by category, group, and overall."),
    "vary": Command("look", "Show experiments on the list of functions, with curves."),
    "compare": Command("look", "Compare two runs: who flips, and is it more than noise."),
    "verify": Command("look", "Execute a run once more: the same verdicts and results?"),
    "replay": Command("look", "Show one trajectory step by step, and where it failed."),
    "debug": Command("look", "Step through one trajectory, and try other calls in it."),
    "align": Command("look", "Show up to five runs of one trajectory side by side."),
    "view": Command("look", "Show all runs of a folder in the browser, live."),
    "report": Command("look", "Write runs as one HTML file: scores, episodes, every step."),
    "label": Command("look", "Write a page on which people label the episodes of a run."),
    "export": Command("look", "Write a run as BFCL's result files or as transcripts."),
    "dataset list": Command("data", "List the data sets there are, or the entries of one."),
    "dataset show": Command("data", "Show what is in a data set."),
    "dataset fetch": Command("data", "Download a data set into the cache."),
    "dataset build": Command("data", "Build the five categories out of scenarios."),
    "generate": Command("data", "Have a model write entries, and keep what proves right."),
    "dataset vary": Command("data", "Write entries that offer another number of functions."),
    "dataset validate": Command("data", "Check a data set by rule: truth, configs, documents."),
    "dataset graph": Command("data", "Show which results can feed which arguments; sample paths."),
    "dataset audit": Command("data", "List entries where the data, not the models, may be wrong."),
    "dataset unpack": Command("data", "Unpack the entries that are held back."),
    "dataset overlap": Command("data", "Show what two data sets share word for word."),
    "compress": Command("data", "Show what making long results short saves and loses."),
    "compress-keys": Command("data", "Have a model say which members short results keep."),
    "env new": Command("environments", "Make a new environment, with tests, to be rewritten."),
    "env check": Command("environments", "Check that environments keep the contract."),
    "env tools": Command("environments", "Show the functions of environments."),
    "env serve": Command("environments", "Offer functions to MCP clients, a session to each."),
    "env health": Command("environments", "Ask every web service that REST entries need."),
    "completion": Command("shell", "Print what makes a shell complete commands and options."),
}
"""By what the user types, in the order of the help."""


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
        lazily(".commands.completion", __package__).complete(COMMANDS)
    name = next((n for n in (" ".join(words[:2]), *words[:1]) if n in COMMANDS), None)
    if name is None:
        return _without_command(words)
    path = name.replace(" ", ".").replace("-", "_")
    module = lazily(f".commands.{path}", __package__)
    text, notes = COMMANDS[name].text, getattr(module, "NOTES", "")
    parser = options.parser_of(module.Options, name, text, module.EXAMPLE, notes)
    given = options.parse(module.Options, parser, words[len(name.split()) :])
    with getattr(given, "within", nullcontext)():
        status: int = module.run(given)
    return status


def _without_command(words: Sequence[str]) -> int:
    """Show the help that is wanted, or say what is wrong; return the exit status."""
    family = [name for name in COMMANDS if words and name.startswith(f"{words[0]} ")]
    asked, prog = (words[1:], f"turnwise {words[0]}") if family else (words, "turnwise")
    if asked and asked[0] in ("-h", "--help"):
        sys.stdout.write(_help(prog, family or list(COMMANDS)))
        return DONE
    if asked and asked[0] == "--version":
        sys.stdout.write(f"turnwise {__version__}\n")
        return DONE
    if not asked:
        message = "name a command"
    else:
        message = f"there is no command {visible(asked[0])}{_near(asked[0], family)}"
    sys.stderr.write(f"{prog}: {message} (see {prog} --help)\n")
    return USER_ERROR


def _near(word: str, family: Sequence[str]) -> str:
    """Suggest a command by its whole name or its last word."""
    by_word = {name.split()[-1]: name for name in family or COMMANDS}
    known = [w for w in by_word if word.startswith(w)] or [*by_word]
    near = word if word in by_word else nearest(word, known)
    return f"; did you mean turnwise {by_word[near]}?" if near else ""


def _help(prog: str, names: Sequence[str]) -> str:
    lines = [f"usage: {prog} COMMAND [OPTION ...]"]
    if prog == "turnwise":
        lines += ["", "Simulate and judge tool-calling agents."]
    for group in dict.fromkeys(COMMANDS[name].group for name in names):
        lines += ["", f"{group}:"]
        mine = [name for name in names if COMMANDS[name].group == group]
        lines += [f"  {name:18} {COMMANDS[name].text}" for name in mine]
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
