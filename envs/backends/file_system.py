"""A file system for one user: text files in a tree of directories, and a current directory.

The state holds the tree in the form of the initial config, under the name of the root directory.
Functions accept names in the current directory; only ``find`` accepts paths. A write copies the
nodes between the root and the change; the rest of the tree is shared. Sizes are bytes of UTF-8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typing_extensions import TypedDict

from envs.backend import Backend, irreversible, reads, writes
from envs.errors import (
    AlreadyExists,
    ConfigError,
    ConfigProblem,
    InvalidArgument,
    NotFound,
    Refused,
)
from envs.lazy_modules import lazy_module

if TYPE_CHECKING:
    from envs import schema
    from envs.long_context import LongContextPack
else:
    schema = lazy_module("..schema", __package__)

MAX_DEPTH = 100
"""Maximum depth of directories below the root."""
MAX_ENTRIES = 20_000
"""Maximum files and directories after a copy."""
MAX_TEXT = 20_000_000
"""Maximum characters in one result of ``find``, or in the whole tree after a copy."""

_DEFAULT_ROOT = "/"
_FORBIDDEN = '|/\\?%*:"><'
_RESERVED = ("", ".", "..")
_SIZE_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")
# A string is already a sequence of characters.
_COUNTED: Mapping[str, tuple[str, Callable[[str], Sequence[str]]]] = {
    "l": ("lines", str.splitlines),
    "w": ("words", str.split),
    "c": ("characters", str),
}
_MOST_LISTED = 10
_ONE_ROOT = "must hold exactly one root directory"

_Node = Mapping[str, Any]


class FileNode(TypedDict):
    """A file of the initial config."""

    type: Literal["file"]
    content: str


class DirectoryNode(TypedDict):
    """A directory of the initial config; listings show its contents in the config's order."""

    type: Literal["directory"]
    contents: dict[str, Annotated[FileNode | DirectoryNode, schema.BY_TYPE]]


class FileSystemConfig(TypedDict, total=False):
    """Initial config of the file system."""

    root: dict[str, DirectoryNode]


class GorillaFileSystem(Backend):
    """The files of one user."""

    Config = FileSystemConfig
    # Users look for names in a listing, never for the order of entries.
    unordered = frozenset({"current_directory_content", "matches"})
    untrusted = frozenset({"root.**.content"})
    # Without a file, ``echo`` shows a text to the user.
    acts = frozenset({"echo"})

    root: Mapping[str, _Node] = {_DEFAULT_ROOT: {"type": "directory", "contents": {}}}
    long_context: bool = False
    _path: tuple[str, ...] = ()

    def _load(self, config: Mapping[str, Any], pack: LongContextPack | None) -> None:
        self.long_context = pack is not None
        if "root" not in config:
            return
        if not self.root:
            raise ConfigError([ConfigProblem(f"$.{type(self).__name__}.root", _ONE_ROOT)])
        name, node = next(iter(self.root.items()))
        path = f"$.{type(self).__name__}.root{_step(name)}"
        self.root = {name: _directory(_loaded(node["contents"], pack, path))}

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Check the number of root directories, all names, and the depth of directories."""
        root = config.get("root", cls.root)
        if len(root) != 1:
            yield ".root", f"{_ONE_ROOT}, has {len(root)}"
        for name, node in root.items():
            path = f".root{_step(name)}"
            if name != _DEFAULT_ROOT and not _is_legal(name):
                yield path, f"{name!r} is no legal name"
            if _height(node) > MAX_DEPTH + 1:
                yield path, f"has directories more than {MAX_DEPTH} levels deep"
            yield from _illegal_names(node, path)

    @reads
    def pwd(self) -> dict[str, str]:
        """Show the path of the current directory.

        Returns:
            current_working_directory: The path, from the root directory's own name on.

        Examples:
            >>> pwd()
            {"current_working_directory": "/finance_share"}
        """
        return {"current_working_directory": self._place()}

    @reads
    def ls(self, a: bool = False) -> dict[str, list[str]]:
        """List the current directory.

        Args:
            a: Also list entries whose name starts with a dot.

        Returns:
            current_directory_content: Names of files and directories.

        Examples:
            >>> ls(a=True)
            {"current_directory_content": ["reports", "reports_archive", "README.txt", ...
        """
        names = list(self._entries())
        if not a:
            names = [name for name in names if not _text_of(name, "name").startswith(".")]
        return {"current_directory_content": names}

    @writes
    def cd(self, folder: str) -> dict[str, str]:
        """Go to another directory, one level at a time.

        Args:
            folder: Name of a directory in the current one, ``..`` for the parent directory, or
                ``/`` for the root. Longer paths are not understood.

        Returns:
            current_working_directory: Name of the directory now current, without its path. Nothing
            after ``..``.

        Examples:
            >>> cd(folder='reports')
            {"current_working_directory": "reports"}
            >>> cd(folder='reports/2024')
            {"error": "'reports/2024' is a path. Give one directory; cd again for more."}
        """
        target = folder.rstrip("/")
        if "/" in target:
            raise InvalidArgument(
                f"{folder!r} is a path. Give one directory; cd again for more.", "path"
            )
        if target == "..":
            if not self._path:
                raise Refused(f"{self._place()} is the root directory and has no parent.", "root")
            self._path = self._path[:-1]
            return {}
        if not target:
            self._path = ()
        elif target != ".":
            self._contents(target)
            self._path = (*self._path, target)
        return {"current_working_directory": self._names()[-1]}

    @writes
    def mkdir(self, dir_name: str) -> None:
        r"""Make an empty directory in the current one.

        Args:
            dir_name: Name of the new directory; no path. Not allowed are the characters
                ``| / \ ? % * : " > <``.

        Returns:
            Nothing.

        Examples:
            >>> mkdir(dir_name='drafts')
            None
            >>> mkdir(dir_name='reports')
            {"error": "There is a directory 'reports' already."}
        """
        _check_characters(dir_name)
        self._check_new(dir_name)
        if len(self._path) >= MAX_DEPTH:
            raise Refused(
                f"Directories cannot be nested more than {MAX_DEPTH} levels deep.", "depth"
            )
        self._write({**self._entries(), dir_name: _directory({})})

    @writes
    def touch(self, file_name: str) -> None:
        r"""Make an empty file in the current directory.

        Args:
            file_name: Name of the new file; no path. Not allowed are the characters
                ``| / \ ? % * : " > <``.

        Returns:
            Nothing.

        Examples:
            >>> touch(file_name='notes.txt')
            None
            >>> touch(file_name='README.txt')
            {"error": "There is a file 'README.txt' already."}
        """
        _check_characters(file_name)
        self._check_new(file_name)
        self._write({**self._entries(), file_name: _file("")})

    @writes
    def echo(self, content: str, file_name: str | None = None) -> dict[str, str] | None:
        """Replace the content of an existing file, or show text if no file is named.

        Args:
            content: The text. Nothing is appended to it, no line break either.
            file_name: Name of a file in the current directory, made with touch if need be; null to
                show the text.

        Returns:
            terminal_output: The text, if no file was named; else nothing.

        Examples:
            >>> echo(content='ready', file_name='README.txt')
            None
            >>> echo(content='ready', file_name='reports')
            {"error": "'reports' is a directory; name a file."}
        """
        if file_name is not None:
            _check_characters(file_name)
        if not file_name:
            return {"terminal_output": content}
        self._content(file_name)
        self._write({**self._entries(), file_name: _file(content)})
        return None

    @reads
    def cat(self, file_name: str) -> dict[str, str]:
        """Show the content of a file.

        Args:
            file_name: Name of a file in the current directory; no path.

        Returns:
            file_content: The whole content.

        Examples:
            >>> cat(file_name='README.txt')
            {"file_content": "Current reports are in reports, one folder per year."}
            >>> cat(file_name='missing.txt')
            {"error": "There is no 'missing.txt' in /finance_share. It holds 'reports', ...
        """
        _check_characters(file_name)
        return {"file_content": self._content(file_name)}

    @reads
    def find(self, path: str = ".", name: str | None = None) -> dict[str, list[str]]:
        """Find files and directories below a directory, at any depth.

        Args:
            path: Where to start: ``.`` for the current directory, ``/`` for the root, or a path
                of directories from either of them. ``..`` is not understood.
            name: Part of the wanted names, upper and lower case being different; no wildcards.
                Null finds everything.

        Returns:
            matches: Paths that start with the given one, a directory before what is in it.

        Examples:
            >>> find(path='.', name='q1')
            {"matches": ["./reports/2024/q1_summary.txt"]}
            >>> find(path='missing')
            {"error": "There is no directory 'missing' in the path 'missing'."}
        """
        start, above = self._start(path), path.rstrip("/")
        found = (way for way, _ in _walk(start) if name is None or name in way[-1])
        return {"matches": _bounded("/".join([above, *map(str, way)]) for way in found)}

    @reads
    def wc(self, file_name: str, mode: Literal["l", "w", "c"] = "l") -> dict[str, int | str]:
        """Count the lines, words or characters of a file.

        Args:
            file_name: Name of a file in the current directory.
            mode: What to count: ``l`` for lines, ``w`` for words, ``c`` for characters.

        Returns:
            count: The number.
            type: What was counted: lines, words or characters.

        Examples:
            >>> wc(file_name='README.txt', mode='w')
            {"count": 9, "type": "words"}
            >>> wc(file_name='missing.txt')
            {"error": "There is no 'missing.txt' in /finance_share. It holds 'reports', ...
        """
        if mode not in _COUNTED:
            raise InvalidArgument(f"There is no mode {mode!r}; give 'l', 'w' or 'c'.")
        kind, parts = _COUNTED[mode]
        return {"count": len(parts(self._text(file_name))), "type": kind}

    @reads
    def sort(self, file_name: str) -> dict[str, str]:
        """Show the lines of a file in sorted order; the file stays as it is.

        Args:
            file_name: Name of a file in the current directory.

        Returns:
            sorted_content: The lines by the code of their characters: digits, capitals, small
            letters.

        Examples:
            >>> sort(file_name='README.txt')
            {"sorted_content": "Current reports are in reports, one folder per year."}
            >>> sort(file_name='missing.txt')
            {"error": "There is no 'missing.txt' in /finance_share. It holds 'reports', ...
        """
        return {"sorted_content": "\n".join(sorted(self._lines(file_name)))}

    @reads
    def grep(self, file_name: str, pattern: str) -> dict[str, list[str]]:
        """Find the lines of a file that contain a text.

        Args:
            file_name: Name of a file in the current directory.
            pattern: The text, upper and lower case being different; no regular expression.

        Returns:
            matching_lines: The lines, in the order of the file.

        Examples:
            >>> grep(file_name='README.txt', pattern='year')
            {"matching_lines": ["Current reports are in reports, one folder per year."]}
            >>> grep(file_name='missing.txt', pattern='year')
            {"error": "There is no 'missing.txt' in /finance_share. It holds 'reports', ...
        """
        return {"matching_lines": [line for line in self._lines(file_name) if pattern in line]}

    @reads
    def du(self, human_readable: bool = False) -> dict[str, str]:
        """Show how much the files in and below the current directory hold.

        Args:
            human_readable: Use the largest fitting unit (KB, MB, ... of 1024) with two decimals
                instead of bytes.

        Returns:
            disk_usage: The size with its unit.

        Examples:
            >>> du(human_readable=True)
            {"disk_usage": "436.00 B"}
        """
        size = sum(
            _bytes(way[-1], node["content"])
            for way, node in _walk(self._current())
            if node["type"] == "file"
        )
        return {"disk_usage": _human(size) if human_readable else f"{size} bytes"}

    @reads
    def tail(self, file_name: str, lines: int = 10) -> dict[str, str]:
        """Show the last lines of a file.

        Args:
            file_name: Name of a file in the current directory.
            lines: How many, 1 or more. 0 shows all lines, -k all but the first k.

        Returns:
            last_lines: The lines.

        Examples:
            >>> tail(file_name='README.txt', lines=1)
            {"last_lines": "Current reports are in reports, one folder per year."}
            >>> tail(file_name='missing.txt')
            {"error": "There is no 'missing.txt' in /finance_share. It holds 'reports', ...
        """
        all_lines = self._lines(file_name)
        # As in BFCL, a count above the number of lines need not be an integer.
        return {"last_lines": "\n".join(all_lines[-min(lines, len(all_lines)) :])}

    @reads
    def diff(self, file_name1: str, file_name2: str) -> dict[str, str]:
        """Compare two files line by line, up to the end of the shorter one.

        Args:
            file_name1: Name of a file in the current directory.
            file_name2: Name of another one.

        Returns:
            diff_lines: For each pair of lines that differ, ``- `` and the first file's line, then
            ``+ `` and the second file's line; empty if none does.

        Examples:
            >>> diff(file_name1='README.txt', file_name2='.retention')
            {"diff_lines": "- Current reports are in reports, one folder per year. ... seven years"}
            >>> diff(file_name1='README.txt', file_name2='missing.txt')
            {"error": "There is no 'missing.txt' in /finance_share. It holds 'reports', ...
        """
        pairs = zip(self._lines(file_name1), self._lines(file_name2), strict=False)
        changes = [f"- {first}\n+ {second}" for first, second in pairs if first != second]
        return {"diff_lines": "\n".join(changes)}

    @writes
    def mv(self, source: str, destination: str) -> dict[str, str]:
        """Move a file or directory into another directory, or rename it.

        Args:
            source: Name of a file or directory in the current directory.
            destination: Name of a directory in the current directory to move it into, or else the
                new name. A file is never overwritten; no path.

        Returns:
            result: What was moved where.

        Examples:
            >>> mv(source='README.txt', destination='reports')
            {"result": "'README.txt' moved to 'reports/README.txt'"}
            >>> mv(source='README.txt', destination='reports')
            {"error": "There is no 'README.txt' in /finance_share. It holds 'reports', ...
        """
        node = self._entry(source)
        self._check_destination(source, destination)
        self._check_depth(node, destination)
        self._write(_without(self._entries(), source))
        where = self._put(node, source, destination)
        return {"result": f"'{source}' moved to '{where}'"}

    @irreversible
    @writes
    def rm(self, file_name: str) -> dict[str, str]:
        """Remove a file, or a directory with all that is in it.

        Args:
            file_name: Name of a file or directory in the current directory.

        Returns:
            result: What was removed.

        Examples:
            >>> rm(file_name='README.txt')
            {"result": "'README.txt' removed"}
            >>> rm(file_name='README.txt')
            {"error": "There is no 'README.txt' in /finance_share. It holds 'reports', ...
        """
        self._entry(file_name)
        self._write(_without(self._entries(), file_name))
        return {"result": f"'{file_name}' removed"}

    @writes
    def rmdir(self, dir_name: str) -> dict[str, str]:
        """Remove an empty directory.

        Args:
            dir_name: Name of a directory in the current directory.

        Returns:
            result: What was removed.

        Examples:
            >>> mkdir(dir_name='drafts')
            >>> rmdir(dir_name='drafts')
            {"result": "'drafts' removed"}
            >>> rmdir(dir_name='reports')
            {"error": "The directory 'reports' is not empty. Remove its content first."}
        """
        if self._contents(dir_name):
            raise Refused(
                f"The directory {dir_name!r} is not empty. Remove its content first.", "filled"
            )
        self._write(_without(self._entries(), dir_name))
        return {"result": f"'{dir_name}' removed"}

    @writes
    def cp(self, source: str, destination: str) -> dict[str, str]:
        """Copy a file, or a directory with all that is in it.

        Args:
            source: Name of a file or directory in the current directory.
            destination: Name of a directory in the current directory to copy it into, or else the
                name of the copy. A file is never overwritten; no path.

        Returns:
            result: What was copied where.

        Examples:
            >>> cp(source='README.txt', destination='reports')
            {"result": "'README.txt' copied to 'reports/README.txt'"}
            >>> cp(source='missing.txt', destination='reports')
            {"error": "There is no 'missing.txt' in /finance_share. It holds 'reports', ...
        """
        node = self._entry(source)
        self._check_destination(source, destination)
        self._check_depth(node, destination)
        self._check_room(node)
        where = self._put(node, source, destination)
        return {"result": f"'{source}' copied to '{where}'"}

    def _names(self) -> tuple[str, ...]:
        return (*self.root, *self._path)

    def _place(self) -> str:
        return "/" + "/".join(self._names())

    def _top(self) -> _Node:
        return next(iter(self.root.values()))

    def _current(self) -> _Node:
        node = self._top()
        for name in self._path:
            node = node["contents"][name]
        return node

    def _entries(self) -> Mapping[str, _Node]:
        entries: Mapping[str, _Node] = self._current()["contents"]
        return entries

    def _entry(self, name: str) -> _Node:
        entries = self._entries()
        if name in entries:
            return entries[name]
        if "/" in str(name):
            raise NotFound(f"There is no {name!r}: paths are not accepted. Go there with cd first.")
        raise NotFound(f"There is no {name!r} in {self._place()}. {_holdings(entries)}")

    def _contents(self, name: str) -> Mapping[str, _Node]:
        node = self._entry(name)
        if node["type"] == "file":
            raise Refused(f"{name!r} is a file; name a directory.", "file")
        contents: Mapping[str, _Node] = node["contents"]
        return contents

    def _content(self, name: str) -> Any:
        node = self._entry(name)
        if node["type"] == "directory":
            raise Refused(f"{name!r} is a directory; name a file.", "directory")
        return node["content"]

    def _text(self, name: str) -> str:
        return _text_of(self._content(name), f"content of {name!r}")

    def _lines(self, name: str) -> list[str]:
        return self._text(name).splitlines()

    def _start(self, path: str) -> _Node:
        names = path.strip("/").split("/")
        node = self._top() if path.startswith("/") else self._current()
        if path == "/":
            return node
        for name in names:
            if name == ".":
                continue
            entry = node["contents"].get(name)
            if entry is None or entry["type"] == "file":
                raise NotFound(f"There is no directory {name!r} in the path {path!r}.")
            node = entry
        return node

    def _check_new(self, name: str) -> None:
        if name in _RESERVED:
            raise InvalidArgument(f"{name!r} cannot be the name of a file or directory.")
        if name in self._entries():
            raise AlreadyExists(f"There is a {self._entry(name)['type']} {name!r} already.")

    def _check_destination(self, source: str, destination: str) -> None:
        """Refuse a destination if ``source`` cannot be moved or copied there."""
        if "/" in destination:
            raise InvalidArgument(
                f"{destination!r} is a path. Give the name of a directory in {self._place()}, or a "
                "new name.",
                "path",
            )
        if destination not in self._entries():
            self._check_new(destination)
            return
        node = self._entry(destination)
        if node["type"] == "file":
            raise AlreadyExists(
                f"There is a file {destination!r} already. Nothing is overwritten.", "file"
            )
        if destination == source:
            raise Refused(f"The directory {source!r} cannot be put into itself.", "itself")
        if source in node["contents"]:
            raise AlreadyExists(
                f"There is a {source!r} in {destination!r} already.",
                f"{self._entry(source)['type']} inside",
            )

    def _check_depth(self, node: _Node, destination: str) -> None:
        above = len(self._path) + (destination in self._entries())
        if above + _height(node) > MAX_DEPTH:
            raise Refused(
                f"Directories cannot be nested more than {MAX_DEPTH} levels deep.", "depth"
            )

    def _check_room(self, node: _Node) -> None:
        """Refuse to copy a node if the tree would become too large."""
        entries, characters = map(sum, zip(_size(self._top()), _size(node), strict=True))
        if entries > MAX_ENTRIES or characters > MAX_TEXT:
            raise Refused(
                f"The disk is full: after this copy there would be {entries} files and directories "
                f"with {characters} characters. The limits are {MAX_ENTRIES} and {MAX_TEXT}.",
                "room",
            )

    def _put(self, node: _Node, name: str, destination: str) -> str:
        entries = self._entries()
        if destination not in entries:
            self._write({**entries, destination: node})
            return destination
        inside = {**entries[destination]["contents"], name: node}
        self._write({**entries, destination: _directory(inside)})
        return f"{destination}/{name}"

    def _write(self, entries: Mapping[str, _Node]) -> None:
        name, *path = self._names()
        self.root = {name: _rewritten(self._top(), path, entries)}


def _file(content: str) -> _Node:
    return {"type": "file", "content": content}


def _directory(contents: Mapping[str, _Node]) -> _Node:
    return {"type": "directory", "contents": contents}


def _rewritten(node: _Node, path: Sequence[str], entries: Mapping[str, _Node]) -> _Node:
    """Return a copy of a directory, with new entries in the directory at ``path``."""
    if not path:
        return _directory(entries)
    contents, name = node["contents"], path[0]
    return _directory({**contents, name: _rewritten(contents[name], path[1:], entries)})


def _without(entries: Mapping[str, _Node], name: str) -> Mapping[str, _Node]:
    return {key: node for key, node in entries.items() if key != name}


def _walk(node: _Node, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], _Node]]:
    """Yield the path and the node of each entry below a directory; a file has no entries."""
    for name, entry in node.get("contents", {}).items():
        way = (*above, name)
        yield way, entry
        yield from _walk(entry, way)


def _height(node: _Node) -> int:
    if node["type"] == "file":
        return 0
    return 1 + max((len(way) for way, entry in _walk(node) if entry["type"] != "file"), default=0)


def _size(node: _Node) -> tuple[int, int]:
    entries, characters = 1, len(str(node.get("content", "")))
    for way, entry in _walk(node):
        entries += 1
        characters += len(str(way[-1])) + len(str(entry.get("content", "")))
    return entries, characters


def _loaded(
    contents: Mapping[str, _Node], pack: LongContextPack | None, path: str
) -> Mapping[str, _Node]:
    """Return the entries of a directory in the config; skip nodes of unknown type."""
    entries: dict[str, _Node] = {}
    for name, node in contents.items():
        if node["type"] == "directory":
            below = _loaded(node["contents"], pack, f"{path}.contents{_step(name)}")
            entries[name] = _directory(below)
        elif node["type"] == "file":
            entries[name] = _file(_padded(name, node["content"], pack))
    leaf = all(node["type"] == "file" for node in entries.values())
    return _filled(entries, pack, path) if pack is not None and leaf else entries


def _padded(name: str, content: str, pack: LongContextPack | None) -> str:
    if pack is None or name in pack.untouched_files:
        return content
    return content + pack.file_suffix


def _filled(entries: Mapping[str, _Node], pack: LongContextPack, path: str) -> Mapping[str, _Node]:
    """Return the entries of a directory, with the added long-context files."""
    clashes = [name for name in pack.extra_files if name in entries]
    if clashes:
        message = f"cannot add the long-context files, because {clashes[0]!r} already exists"
        raise ConfigError([ConfigProblem(path, message)])
    return {**entries, **{name: _file("") for name in pack.extra_files}}


def _illegal_names(node: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    for name, entry in node.get("contents", {}).items():
        here = f"{path}.contents{_step(name)}"
        if not _is_legal(name):
            yield here, f"{name!r} is no legal name"
        yield from _illegal_names(entry, here)


def _step(name: str) -> str:
    return f".{name}" if name.isidentifier() else f"[{name!r}]"


def _is_legal(name: str) -> bool:
    return name not in _RESERVED and not any(char in name for char in _FORBIDDEN)


def _check_characters(name: str) -> None:
    found = [char for char in _FORBIDDEN if char in name]
    if found:
        raise InvalidArgument(
            f"{name!r} is invalid: it contains {' '.join(found)}. Give a name in the current "
            f"directory without the characters {' '.join(_FORBIDDEN)}."
        )


def _holdings(entries: Mapping[str, _Node]) -> str:
    if not entries:
        return "It is empty."
    if len(entries) > _MOST_LISTED:
        return f"List its {len(entries)} entries with ls."
    return f"It holds {', '.join(map(repr, entries))}."


def _text_of(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise Refused(f"The {what} is not text but {str(value)[:100]}.", "no text")
    return value


def _bytes(name: str, content: Any) -> int:
    try:
        return len(_text_of(content, f"content of {name!r}").encode())
    except UnicodeEncodeError:
        raise Refused(f"The content of {name!r} has no size: it is not valid Unicode.") from None


def _human(size: float) -> str:
    unit = 0
    while size >= 1024 and unit < len(_SIZE_UNITS) - 1:
        size /= 1024
        unit += 1
    return f"{size:.2f} {_SIZE_UNITS[unit]}"


def _bounded(paths: Iterable[str]) -> list[str]:
    found, characters = [], 0
    for path in paths:
        characters += len(path)
        if characters > MAX_TEXT:
            raise Refused(
                "Too much was found. Search a deeper directory, or give a longer name.", "room"
            )
        found.append(path)
    return found
