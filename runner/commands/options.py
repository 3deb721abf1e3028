"""Typed options: the fields of a frozen dataclass, read from the command line by argparse.

A command declares what it takes as a record, made of the records that commands share and of fields
of its own; ``parse`` is where text becomes such a record, and nothing else sees argparse. The type
of a field says how it is given: ``bool`` is a switch, ``tuple`` may be given several times, a
``Literal`` is a choice, ``X | None`` may be left out.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, field, fields, is_dataclass, replace
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    NoReturn,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from envs.lazy import lazily
from runner.commands import USER_ERROR
from runner.models.numbers import above_zero as above_zero
from runner.models.numbers import from_zero as from_zero
from runner.models.numbers import index as index
from runner.models.numbers import port as port
from runner.models.numbers import positive as positive
from trajectories.errors import DataError, did_you_mean

if TYPE_CHECKING:
    import textwrap
else:
    # Only help has lines to break.
    textwrap = lazily("textwrap")

Record = TypeVar("Record")

COMMON = "COMMON"
"""Attribute of a record: names of its options that people use most."""
_MAX_IN_USAGE = 12
"""Options up to which the usage names all."""
_WIDTH = 100
"""Columns of help that no terminal shows."""
_HELP_COLUMN = 30
"""Column at which the help of an option begins, at most."""
EXTENSIONS = "extensions"
"""Field of a record to which extensions may add options: their records, by their names."""


class _About(NamedTuple):
    """What the command line has to know of a field besides its type."""

    help: str
    metavar: str | None
    read: Callable[[str], Any] | None = None
    """Makes the value of a text; raises ArgumentTypeError where it cannot."""
    choices: Sequence[str] | None = None
    one_of: str | None = None
    """A name; of the options under one name only one may be given."""
    positional: bool = False
    flags: tuple[str, ...] = ()
    """What the user types, where that is not the field's name."""
    bare: Any = None
    """The value where the flag is given without one; None where it must have one."""
    needs: str | None = None
    """The flag without which it has no meaning."""
    excludes: tuple[str, ...] = ()
    """Flags that contradict it."""


def option(
    help: str,
    metavar: str | None = None,
    *,
    default: Any = None,
    required: bool = False,
    **about: Any,
) -> Any:
    """Return a field of a record of options.

    Args:
        help: What it is for.
        metavar: What to call its value.
        default: The value where it is not given.
        required: Whether it must be given.
        about: Further members of _About.
    """
    found = _About(help, metavar, **about)
    return field(default=MISSING if required else default, metadata={"about": found})


def argument(help: str, metavar: str, *, required: bool = True, default: Any = None) -> Any:
    """Return a field that is given by its place."""
    return option(help, metavar, default=default, required=required, positional=True)


def switch(help: str, **about: Any) -> Any:
    """Return a field that is true where its flag is given; ``about`` is as for ``option``."""
    return option(help, default=False, **about)


def parse(
    record: type[Record],
    parser: argparse.ArgumentParser,
    words: Sequence[str],
    further: Mapping[str, type] = MappingProxyType({}),
) -> Record:
    """Return the options that the user typed; ends the program where they are none.

    Args:
        record: What the command takes.
        parser: Made by ``parser_of``.
        words: What came after the command's name.
        further: What extensions add to it, by their names.
    """
    _refuse_unknown([record, *further.values()], parser, words)
    typed = vars(parser.parse_args(words))
    typed = {name: tuple(v) if isinstance(v, list) else v for name, v in typed.items()}

    def made(kind: type) -> Any:
        return kind(**{member.name: typed[member.name] for member in members_of(kind)})

    found: Record = made(record)
    theirs = {name: made(kind) for name, kind in further.items()}
    check_conflicts([found, *theirs.values()])
    if further:
        found = replace(found, extensions=theirs)  # type: ignore[type-var]
    return found


def check_conflicts(records: Sequence[Any]) -> None:
    """Refuse options that need one that is not given, or exclude one that is.

    Raises:
        DataError: There is such an option.
    """
    typed = {
        flag: member.metadata["about"]
        for each in records
        for member in members_of(type(each))
        if vars(each)[member.name] != member.default
        for flag in flags_of(member)
    }
    for flag, about in typed.items():
        if about.needs is not None and about.needs not in typed:
            raise DataError(flag, f"needs {about.needs}: add it, or leave {flag} out")
        other = next((each for each in about.excludes if each in typed), None)
        if other is not None:
            raise DataError(flag, f"cannot be combined with {other}: leave one of them out")


def is_open(record: type) -> bool:
    """Tell whether extensions may add options to those of a record."""
    return any(member.name == EXTENSIONS for member in fields(record))


def names_others(record: type, words: Sequence[str]) -> bool:
    """Tell whether a command line has help or an option that is none of a record's."""
    known = _flags([record])
    flags = [word.partition("=")[0] for word in words]
    return "-h" in flags or any(flag.startswith("--") and flag not in known for flag in flags)


def parser_of(
    record: type,
    name: str,
    text: str,
    example: str,
    notes: str = "",
    further: Mapping[str, type] = MappingProxyType({}),
) -> argparse.ArgumentParser:
    """Return what reads the options of a command."""
    prog, epilog = f"turnwise {name}", f"{notes}example: {example}"
    parser = _Parser(prog=prog, description=text, epilog=epilog, allow_abbrev=False)
    if len(members_of(record)) > _MAX_IN_USAGE:
        parser.usage = f"{prog}{''.join(_required(record))} [options]"
    fill(parser, record)
    for extension, kind in further.items():
        title = f"extension {extension}"
        group, hints = parser.add_argument_group(title), get_type_hints(kind)
        for member in members_of(kind):
            _add(group, member, hints[member.name])
    return parser


def _required(record: type) -> Iterator[str]:
    """Yield what a command line must have, as the usage shows it."""
    for member in members_of(record):
        if member.default is MISSING:
            about: _About = member.metadata["about"]
            names = [*flags_of(member)[:1], about.metavar or member.name.upper()]
            yield f" {' '.join(names)}"


def fill(parser: argparse.ArgumentParser, record: type) -> None:
    """Give a parser the options of a record; those of its ``COMMON`` come first."""
    hints = get_type_hints(record)
    common: Sequence[str] = vars(record).get(COMMON, ())
    by_name = {member.name: member for member in members_of(record)}
    sections = {
        title: [member for member in members if member.name not in common]
        for title, members in _sections(record).items()
    }
    if common:
        parser._optionals.title = "most used options"
        own = sections.pop("", [])
        sections = {"": [by_name[name] for name in common], "further options": own, **sections}
    for title, members in sections.items():
        group = parser.add_argument_group(title) if title else parser
        exclusive: dict[str, Any] = {}
        for member in members:
            one_of = member.metadata["about"].one_of
            if one_of and one_of not in exclusive:
                exclusive[one_of] = group.add_mutually_exclusive_group()
            _add(exclusive.get(one_of or "", group), member, hints[member.name])


def given(options: Any, record: type) -> list[str]:
    """Return the flags that were given, of those that one of the records has that options are."""
    values = vars(options)
    return [flags_of(f)[0] for f in members_of(record) if values[f.name] != f.default]


def flags_of(member: Field[Any]) -> tuple[str, ...]:
    """Return what the user types for a field; nothing for one that is given by its place."""
    about: _About = member.metadata["about"]
    if about.positional:
        return ()
    return about.flags or (f"--{member.name.replace('_', '-')}",)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Leaves the lines of what ends the help as they are, but for those that are too long."""

    def __init__(self, prog: str) -> None:
        columns = shutil.get_terminal_size((_WIDTH, 24)).columns
        super().__init__(prog, max_help_position=_HELP_COLUMN, width=columns - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = [indent + line for line in text.splitlines()]
        return "".join(f"{part}\n" for line in lines for part in _parts(line, width))

    def _format_usage(self, *of: Any) -> str:
        # Options of which only one may be given are one word there, however long it is.
        return self._fill_text(super()._format_usage(*of), self._width, "")


def _parts(line: str, width: int) -> list[str]:
    """Break a line that is too long, at the depth at which it begins; a command stays whole."""
    if len(line) <= width or line.startswith("example: "):
        return [line]
    depth = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, width, subsequent_indent=depth, break_on_hyphens=False)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how, formatter_class=_Formatter)

    def error(self, message: str) -> NoReturn:
        self.exit(USER_ERROR, f"{self.prog}: {message} (see {self.prog} --help)\n")


def members_of(record: type) -> list[Field[Any]]:
    """Return the fields of a record that are options."""
    return [member for member in fields(record) if member.name != EXTENSIONS]


def _flags(records: Sequence[type]) -> list[str]:
    return [flag for each in records for member in members_of(each) for flag in flags_of(member)]


def _refuse_unknown(
    records: Sequence[type], parser: argparse.ArgumentParser, words: Sequence[str]
) -> None:
    """Name an option that there is not before argparse misses those that are required."""
    known = ["--help", *_flags(records)]
    for word in words:
        flag = word.partition("=")[0]
        if flag == "--":
            return
        if flag.startswith("--") and flag not in known:
            parser.error(f"there is no option {flag}{did_you_mean(flag, known)}")


def _sections(record: type) -> dict[str, list[Field[Any]]]:
    """Return a record's own fields without a title, and those it inherits by their class's."""
    sections: dict[str, list[Field[Any]]] = {}
    made_of = [cls for cls in record.__mro__ if is_dataclass(cls)]
    # A record may say otherwise what one that it is made of says.
    latest = {f.name: f for f in members_of(record)}
    for cls in made_of:
        above = made_of[made_of.index(cls) + 1 :]
        inherited = {f.name for base in above if issubclass(cls, base) for f in fields(base)}
        title = "" if cls is record else (cls.__doc__ or "").partition(".")[0].lower()
        own = [latest[f.name] for f in members_of(cls) if f.name not in inherited]
        # What a record adds to one of the same title comes after it.
        sections[title] = [*own, *sections.get(title, [])] if title else own
    return {title: members for title, members in sections.items() if members}


def _add(group: Any, member: Field[Any], hint: Any) -> None:
    about: _About = member.metadata["about"]
    kind, many = _kind(hint)
    required = member.default is MISSING
    default = None if required else member.default
    names: tuple[str, ...] = flags_of(member) or (member.name,)
    how: dict[str, Any] = {"help": _help(about.help, default), "default": default}
    if kind is bool:
        group.add_argument(*names, dest=member.name, action="store_true", **how)
        return
    choices = about.choices or (get_args(kind) if get_origin(kind) is Literal else None)
    read = about.read or (kind if kind in (int, float, Path) else None)
    how |= {"metavar": about.metavar, "choices": choices, "type": read}
    if about.positional:
        least = ("+" if required else "*") if many else (None if required else "?")
        group.add_argument(*names, nargs=least, **how)
    elif many:
        more = {**how, "default": None if required else []}
        group.add_argument(*names, dest=member.name, action="append", required=required, **more)
    elif about.bare is not None:
        group.add_argument(*names, dest=member.name, nargs="?", const=about.bare, **how)
    else:
        group.add_argument(*names, dest=member.name, required=required, **how)


def _kind(hint: Any) -> tuple[Any, bool]:
    """Return the type of one value, and whether there may be several."""
    arguments = get_args(hint)
    if NoneType in arguments:
        return next(a for a in arguments if a is not NoneType), False
    if get_origin(hint) is tuple:
        return arguments[0], True
    return hint, False


def _help(text: str, default: Any) -> str:
    escaped = text.replace("%", "%%")
    told = default is None or default is False or default == () or default == ""
    return escaped if told or "(default" in escaped else f"{escaped} (default: {default})"
