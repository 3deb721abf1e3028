"""Parser that builds one safe SQL statement from fragments that a model wrote.

Fragments are split into tokens. The parser refuses unknown tokens, and keywords such as DROP.
Strings become bound values, and column names are quoted. The brackets of a fragment must be
balanced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from envs.errors import InvalidArgument
from extensions.library.bounds import check_count

_MAX_CHARS = 10_000
"""Maximum characters of a fragment."""

_SQL_TOKEN = re.compile(
    r"""(?P<space>\s++)|(?P<comment>--|/\*)
    |(?P<text>'(?>(?:[^']|'')*)')|(?P<either>"(?>(?:[^"]|"")*)")|(?P<name>`[^`]*+`|\[[^\]]*+\])
    |(?P<number>(?:[0-9]++(?>(?:\.[0-9]*+)?)|\.[0-9]++)(?>(?:[eE][+-]?[0-9]++)?)(?!\w))
    |(?P<clause>(?:group\s++by|having|order\s++by|limit|offset)\b)|(?P<word>[^\W\d]\w*+)|(?P<sign><>|<=|>=|==|!=|\|\||[=<>+\-*/%(),.])""",
    re.VERBOSE | re.IGNORECASE,
)
_WHERE = re.compile(r"\A\s*+where\b", re.IGNORECASE)
_COLUMN = re.compile(
    r"""\s*+(?:"(?P<quoted>[^"]++)"|(?P<plain>[^\W\d]\w*+))
    (?:\s++(?P<type>[a-z]++(?>(?:\s++precision)?))(?>(?:\s*+\(\s*+\d++(?>(?:\s*+,\s*+\d++)?)\s*+\))?))??
    (?P<marks>(?>(?:\s++(?:primary\s++key(?>(?:\s++autoincrement)?)|not\s++null|unique|null))*))\s*+""",
    re.VERBOSE | re.IGNORECASE,
)
_AFFINITIES = {
    "INTEGER": ("int", "integer", "bigint", "smallint", "tinyint"),
    "TEXT": ("text", "varchar", "char", "string", "clob", "nvarchar", "nchar"),
    "REAL": ("real", "float", "double", "double precision"),
    "NUMERIC": ("numeric", "decimal", "date", "datetime", "time", "timestamp", "boolean", "bool"),
}
_TYPES = {word: affinity for affinity, words in _AFFINITIES.items() for word in words}

_STATEMENTS = re.compile(
    "alter|analyze|attach|begin|commit|create|delete|detach|drop|explain|insert|pragma|recursive"
    "|reindex|release|returning|rollback|savepoint|truncate|update|vacuum|with"
)
"""Keywords that no fragment may contain."""
_OUTSIDE = re.compile("except|from|intersect|into|join|on|select|set|union|using|values")
"""Keywords that a fragment may contain only inside brackets, as in a subquery."""
_CLAUSES = ("group by", "having", "order by", "limit", "offset")
"""Clauses that can follow the conditions of a SELECT, in this order."""


class DeclaredColumn(NamedTuple):
    """Declared column."""

    name: str
    affinity: str
    """INTEGER, TEXT, REAL or NUMERIC; empty if no type is declared."""
    is_key: bool
    is_required: bool
    is_unique: bool

    @property
    def declaration(self) -> str:
        """The column's text in CREATE TABLE."""
        words = [quoted(self.name), self.affinity]
        words += ["PRIMARY KEY"] * self.is_key + ["NOT NULL"] * self.is_required
        return " ".join([*words, "UNIQUE"] if self.is_unique else words)


class StatementPart(NamedTuple):
    """Part of an SQL statement with the values of its placeholders."""

    sql: str
    values: tuple[str, ...] = ()


class Conditions(NamedTuple):
    """Parsed conditions and clauses of a statement."""

    where: StatementPart
    """The WHERE condition; its SQL text is empty if there is no condition."""
    clauses: tuple[tuple[str, StatementPart], ...]
    """Clauses by keyword, such as ``order by``."""

    @property
    def piece(self) -> StatementPart:
        """All conditions and clauses as SQL text; the text begins with a space."""
        parts = [("where", self.where)] if self.where.sql else []
        parts += self.clauses
        return _together([StatementPart(f" {w.upper()} {p.sql}", p.values) for w, p in parts])

    @property
    def orders(self) -> bool:
        """Whether the statement has ORDER BY."""
        return any(words == "order by" for words, _ in self.clauses)


def quoted(name: str) -> str:
    """Return a name in SQL quotes."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def parse_column(text: str) -> DeclaredColumn:
    """Parse a column declaration: a name, an optional type and optional constraints.

    Raises InvalidArgument if the declaration is invalid.
    """
    match = _COLUMN.fullmatch(text)
    word = " ".join(match["type"].lower().split()) if match and match["type"] else ""
    if match is None or (word and word not in _TYPES):
        raise InvalidArgument(
            f"{text!r:.100} declares no column. Write a name and optionally a type, such as "
            "INTEGER, TEXT or REAL. Then add PRIMARY KEY, NOT NULL or UNIQUE if needed."
        )
    marks = " ".join(match["marks"].lower().split())
    name = match["quoted"] or match["plain"]
    given = [constraint in marks for constraint in ("primary key", "not null", "unique")]
    return DeclaredColumn(name, _TYPES.get(word, ""), *given)


class Token(NamedTuple):
    """Token of a fragment."""

    kind: str
    text: str


class FragmentReader:
    """Parser of the fragments of a statement, given all column names of the database."""

    def __init__(self, columns: Iterable[str]) -> None:
        self._columns = {name.casefold(): name for name in columns}

    def expression(self, text: str, parameter: str) -> StatementPart:
        """Parse a column or an expression such as ``COUNT(*)``.

        Raises InvalidArgument for other texts.
        """
        plain = self._columns.get(text.strip().casefold())
        if plain is not None:
            return StatementPart(quoted(plain))
        (words, given), *more = _parts(text, parameter)
        if words or more or not given:
            kinds = "columns or expressions"
            raise InvalidArgument(f"{parameter} must contain {kinds}, not {text!r:.100}.")
        return self._piece(given, parameter)

    def conditions(self, texts: Sequence[str], *, only_where: bool) -> Conditions:
        """Parse the conditions and clauses of a statement.

        Raises InvalidArgument if a condition or clause is invalid.

        Args:
            texts: Conditions and clauses (GROUP BY, HAVING, ORDER BY, LIMIT, OFFSET).
            only_where: Whether clauses are refused.
        """
        where: list[StatementPart] = []
        clauses: dict[str, StatementPart] = {}
        for text in texts:
            for words, given in _parts(_WHERE.sub("", text, count=1), "conditions"):
                if words and (only_where or words in clauses or not given):
                    raise InvalidArgument(
                        f"The conditions {text!r:.100} use {words.upper()} incorrectly. "
                        f"Use {words.upper()} once, only in a SELECT, and before an expression."
                    )
                if words:
                    clauses[words] = self._piece(given, "conditions")
                elif given:
                    where.append(self._joined(given, first=not where))
        ordered = tuple([(words, clauses[words]) for words in _CLAUSES if words in clauses])
        return Conditions(_together(where), ordered)

    def _joined(self, given: Sequence[Token], *, first: bool) -> StatementPart:
        joint = given[0].text.upper()
        named = joint in ("AND", "OR")
        piece = self._piece(given[named:], "conditions")
        if not piece.sql:
            raise InvalidArgument(f"In `conditions`, {joint} has no expression after it.")
        before = "" if first else f"{joint} " if named else "AND "
        return StatementPart(f"{before}({piece.sql})", piece.values)

    def _piece(self, given: Sequence[Token], parameter: str) -> StatementPart:
        depth = 0
        pieces = []
        for token, after in zip_longest(given, given[1:]):
            depth += (token.text == "(") - (token.text == ")")
            is_called = after is not None and after.text == "("
            pieces.append(self._written(token, parameter, is_called=is_called, inside=depth > 0))
        return _together(pieces)

    def _written(
        self, token: Token, parameter: str, *, is_called: bool, inside: bool
    ) -> StatementPart:
        kind, text = token
        if kind == "text":
            return StatementPart("?", (text[1:-1].replace("''", "'"),))
        if kind in ("either", "name"):
            named = text[1:-1].replace('""', '"')
            known = self._columns.get(named.casefold())
            # Like SQLite, read a name in double quotes as a string if no column has it.
            bound = kind == "either" and known is None
            return StatementPart("?", (named,)) if bound else StatementPart(quoted(known or named))
        if kind == "word":
            word = text.casefold()
            if not is_called and word in self._columns:
                return StatementPart(quoted(self._columns[word]))
            if _STATEMENTS.fullmatch(word) or (not inside and _OUTSIDE.fullmatch(word)):
                message = (
                    f"{parameter} has the word {text[:40]}, which is not allowed here: remove it."
                )
                raise InvalidArgument(message)
        return StatementPart(text)


def _together(pieces: Sequence[StatementPart]) -> StatementPart:
    values = tuple([value for piece in pieces for value in piece.values])
    return StatementPart(" ".join([piece.sql for piece in pieces]), values)


def _parts(text: str, parameter: str) -> list[tuple[str, list[Token]]]:
    """Split a fragment into clauses (keyword and tokens). The first keyword can be empty.

    Raises InvalidArgument if brackets are unbalanced, or a token is not allowed.
    """
    parts: list[tuple[str, list[Token]]] = [("", [])]
    depth = 0
    for token in tokens_of(text, parameter):
        if token.kind == "clause" and depth == 0:
            parts.append((" ".join(token.text.lower().split()), []))
            continue
        depth += (token.text == "(") - (token.text == ")")
        if depth < 0:
            break
        parts[-1][1].append(token)
    if depth:
        raise InvalidArgument(f"{parameter} must have matching brackets, not {text!r:.100}.")
    return [part for part in parts if part[0] or part[1]] or [("", [])]


def tokens_of(text: str, parameter: str) -> Iterator[Token]:
    """Yield the tokens of a fragment, except white space.

    Raises InvalidArgument if a token is not allowed.
    """
    check_count(parameter, text, 0, _MAX_CHARS)
    position = 0
    while position < len(text):
        match = _SQL_TOKEN.match(text, position)
        kind = match.lastgroup if match else None
        if match is None or kind is None or kind == "comment":
            sign = text[position : position + 2] if kind else text[position]
            why = "a quote that is not closed" if sign in ("'", '"', "`") else f"{sign!r}"
            raise InvalidArgument(f"{parameter} must not contain {why}, as in {text!r:.100}.")
        if kind != "space":
            yield Token(kind, match[0])
        position = match.end()
