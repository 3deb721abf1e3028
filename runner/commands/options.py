"""Typed command-line options: frozen dataclasses that argparse fills.

The dataclass of a command inherits from shared dataclasses and adds fields. No other module uses
argparse. The type of a field determines the option: ``bool`` means a switch, ``tuple`` means a
repeatable option, ``Literal`` means a choice, and ``X | None`` means an optional value.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, field, fields, is_dataclass, replace
from itertools import chain
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

from envs.errors import DataError, suggest_name
from envs.lazy_modules import lazy_module
from runner.commands import USER_ERROR
from runner.models.number_options import above_zero as above_zero
from runner.models.number_options import from_zero as from_zero
from runner.models.number_options import index as index
from runner.models.number_options import port as port
from runner.models.number_options import positive as positive
from runner.show.terminal import WIDTH, error_text, terminal_width

if TYPE_CHECKING:
    import textwrap
else:
    # Only help texts are wrapped.
    textwrap = lazy_module("textwrap")

# Translations of messages depend on the machine and are slow to find.
vars(argparse)["_"] = str

Record = TypeVar("Record")

COMMON = "COMMON"
"""Name of the class attribute that lists the most common options."""
_MAX_IN_USAGE = 12
_MAX_EXPLAINED_EXTENSIONS = 3
_MAX_HELP_COLUMN = 30
FORMER = {
    "--require-told": "--require-info",
    "--protocol": "--calling-format",
    "--protocols": "--calling-formats",
}
"""Maps old names of flags to the current names."""
_REPLACED = {"--attempts": "; use --retries instead (one less than attempts)"}
"""Maps each removed flag to an error hint that suggests a similar flag."""
EXTENSIONS = "extensions"
"""Name of the field with the options of extensions."""


class _OptionInfo(NamedTuple):
    help: str
    metavar: str | None
    read: Callable[[str], Any] | None = None
    choices: Sequence[str] | None = None
    one_of: str | None = None
    positional: bool = False
    flags: tuple[str, ...] = ()
    bare: Any = None
    """Value of the option if the flag has no argument; None if the flag requires an argument."""
    needs: str | None = None
    """Flag that this option requires."""
    excludes: tuple[str, ...] = ()


def option(
    help: str,
    metavar: str | None = None,
    *,
    default: Any = None,
    required: bool = False,
    **about: Any,
) -> Any:
    """Create a field of an options record. For ``about``, see ``_OptionInfo``."""
    found = _OptionInfo(help, metavar, **about)
    return field(default=MISSING if required else default, metadata={"about": found})


def argument(help: str, metavar: str, *, required: bool = True, default: Any = None) -> Any:
    """Return a field that is a positional argument."""
    return option(help, metavar, default=default, required=required, positional=True)


def switch(help: str, **about: Any) -> Any:
    """Return a boolean field; the value is true if the user gives the field's flag."""
    return option(help, default=False, **about)


def parse(
    record: type[Record],
    parser: argparse.ArgumentParser,
    words: Sequence[str],
    further: Mapping[str, type] = MappingProxyType({}),
) -> Record:
    """Parse the arguments after the command's name; exit with a message for invalid arguments.

    ``further`` maps extension names to the option records that the extensions add.
    """
    known = _all_flags([record, *further.values()])
    words = _replace_former_flags(words, known)
    _refuse_unknown(["--help", *known], parser, words)
    typed = vars(parser.parse_args(words))
    typed = {name: tuple(v) if isinstance(v, list) else v for name, v in typed.items()}

    def build(kind: type) -> Any:
        return kind(**{member.name: typed[member.name] for member in members_of(kind)})

    found: Record = build(record)
    theirs = {name: build(kind) for name, kind in further.items()}
    check_conflicts([found, *theirs.values()])
    if further:
        found = replace(found, extensions=theirs)  # type: ignore[type-var]
    return found


def check_conflicts(records: Sequence[Any]) -> None:
    """Check that every required option is given and that no two options conflict.

    Raises DataError for a missing or conflicting option.
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


def accepts_extensions(record: type) -> bool:
    """Tell whether extensions can add options to a record."""
    return any(member.name == EXTENSIONS for member in fields(record))


def has_unknown_flag(record: type, words: Sequence[str]) -> bool:
    """Tell whether a command line has ``-h`` or a flag that is unknown to ``record``."""
    known = _all_flags([record])
    flags = [word.partition("=")[0] for word in words]
    return "-h" in flags or any(flag.startswith("--") and flag not in known for flag in flags)


def build_parser(
    record: type,
    name: str,
    text: str,
    example: str,
    notes: str = "",
    further: Mapping[str, type] = MappingProxyType({}),
) -> argparse.ArgumentParser:
    """Return the argument parser of a command; its help starts with ``text`` and ``example``."""
    prog, description = f"turnwise {name}", f"{text}\n\nexample: {example}"
    parser = _Parser(prog=prog, description=description, epilog=notes, allow_abbrev=False)
    if len(members_of(record)) > _MAX_IN_USAGE:
        parser.usage = f"{prog}{''.join(_usage_words(record))} [options]"
    add_options(parser, record)
    brief = len(further) > _MAX_EXPLAINED_EXTENSIONS
    for extension, kind in further.items():
        title = f"{_title(kind)} (extension {extension})"
        group = parser if brief else parser.add_argument_group(title)
        hints = get_type_hints(kind)
        for member in members_of(kind):
            _add_option(group, member, hints[member.name])
            if brief:
                parser._actions[-1].help = argparse.SUPPRESS
    if brief:
        head = f"options of extensions; `{prog} --help NAME` explains the options of NAME:"
        lines = [
            _wrap(f"  {name:11} {' '.join(_all_flags([each]))}", WIDTH - 2, " " * 14)
            for name, each in further.items()
        ]
        parser.epilog = "\n".join([head, *chain.from_iterable(lines), "", notes])
    return parser


def _usage_words(record: type) -> Iterator[str]:
    hints = get_type_hints(record)
    for member in members_of(record):
        name = member.metadata["about"].metavar or member.name.upper()
        more = f" [{name} ...]" * (not flags_of(member) and _value_type(hints[member.name])[1])
        if member.default is MISSING:
            yield f" {' '.join([*flags_of(member)[:1], name])}{more}"
        elif not flags_of(member):
            yield more or f" [{name}]"


def add_options(parser: argparse.ArgumentParser, record: type) -> None:
    """Add the options of a record to a parser, in sections; options in ``COMMON`` come first."""
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
            _add_option(exclusive.get(one_of or "", group), member, hints[member.name])


def given_flags(options: Any, record: type) -> list[str]:
    """Return the flags of the options that differ from their defaults."""
    values = vars(options)
    return [flags_of(f)[0] for f in members_of(record) if values[f.name] != f.default]


def flags_of(member: Field[Any]) -> tuple[str, ...]:
    """Return the flags of a field; empty for a positional argument."""
    about: _OptionInfo = member.metadata["about"]
    if about.positional:
        return ()
    return about.flags or (f"--{member.name.replace('_', '-')}",)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=_MAX_HELP_COLUMN, width=terminal_width() - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = [indent + line for line in text.splitlines()]
        return "".join(f"{part}\n" for line in lines for part in _wrap(line, width))

    def _format_usage(self, *of: Any) -> str:
        # argparse does not wrap a group of mutually exclusive options.
        return self._fill_text(super()._format_usage(*of), self._width, "")


def _wrap(line: str, width: int, depth: str | None = None) -> list[str]:
    if len(line) <= width or line.startswith("example: "):
        return [line]
    depth = depth or " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, width, subsequent_indent=depth, break_on_hyphens=False)


class _Parser(argparse.ArgumentParser):
    def __init__(self, **how: Any) -> None:
        super().__init__(**how, formatter_class=_Formatter)

    def error(self, message: str) -> NoReturn:
        self.exit(USER_ERROR, f"{self.prog}: {error_text(message)} (see {self.prog} --help)\n")


def members_of(record: type) -> list[Field[Any]]:
    """Return the option fields of a record."""
    return [member for member in fields(record) if member.name != EXTENSIONS]


def _all_flags(records: Sequence[type]) -> list[str]:
    return [flag for each in records for member in members_of(each) for flag in flags_of(member)]


def _replace_former_flags(words: Sequence[str], known: Sequence[str]) -> list[str]:
    parts = [word.partition("=") for word in words]
    return [
        "".join((FORMER[flag], *rest)) if flag not in known and FORMER.get(flag) in known else word
        for word, (flag, *rest) in zip(words, parts, strict=True)
    ]


def _refuse_unknown(
    known: Sequence[str], parser: argparse.ArgumentParser, words: Sequence[str]
) -> None:
    for word in words:
        flag = word.partition("=")[0]
        if flag == "--":
            return
        if flag.startswith("--") and flag not in known:
            parser.error(f"unknown option {flag}{_REPLACED.get(flag) or suggest_name(flag, known)}")


def _sections(record: type) -> dict[str, list[Field[Any]]]:
    sections: dict[str, list[Field[Any]]] = {}
    classes = [cls for cls in record.__mro__ if is_dataclass(cls)]
    # A record can override inherited fields.
    latest = {f.name: f for f in members_of(record)}
    for place, cls in enumerate(classes, start=1):
        inherited = {
            f.name for base in classes[place:] if issubclass(cls, base) for f in fields(base)
        }
        title = "" if cls is record else _title(cls)
        own = [latest[f.name] for f in members_of(cls) if f.name not in inherited]
        # Of classes with the same title, the fields of the base class come first.
        sections[title] = [*own, *sections.get(title, [])] if title else own
    return {title: members for title, members in sections.items() if members}


def _title(record: type) -> str:
    title = (record.__doc__ or "").partition(".")[0]
    return title[:1].lower() + title[1:]


def _add_option(group: Any, member: Field[Any], hint: Any) -> None:
    about: _OptionInfo = member.metadata["about"]
    kind, many = _value_type(hint)
    required = member.default is MISSING
    default = None if required else member.default
    names: tuple[str, ...] = flags_of(member) or (member.name,)
    how: dict[str, Any] = {"help": _help_text(about.help, default), "default": default}
    if kind is bool:
        group.add_argument(*names, dest=member.name, action="store_true", **how)
        return
    choices = about.choices or (get_args(kind) if get_origin(kind) is Literal else None)
    read = about.read or {int: int, float: float, Path: _read_path}.get(kind)
    how |= {"metavar": about.metavar, "choices": choices, "type": read}
    if about.positional:
        least = ("+" if required else "*") if many else (None if required else "?")
        group.add_argument(*names, nargs=least, **how)
    elif many:
        more = {**how, "default": None if required else []}
        group.add_argument(*names, dest=member.name, action="append", required=required, **more)
    else:
        bare = {} if about.bare is None else {"nargs": "?", "const": about.bare}
        group.add_argument(*names, dest=member.name, required=required, **bare, **how)


def _read_path(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("the path is empty")
    return Path(text)


def _value_type(hint: Any) -> tuple[Any, bool]:
    arguments = get_args(hint)
    if NoneType in arguments:
        return next(a for a in arguments if a is not NoneType), False
    if get_origin(hint) is tuple:
        return arguments[0], True
    return hint, False


def _help_text(text: str, default: Any) -> str:
    escaped = text.replace("%", "%%")
    hidden = default is None or default is False or default == () or default == ""
    return escaped if hidden or "(default" in escaped else f"{escaped} (default: {default})"
