"""Fragments of SQL, as a model writes them: read, and put together into one statement.

Nothing of a fragment reaches the database as it is. It is cut into words, names, numbers, texts and
signs; what is none of them is refused, and so is whatever begins or ends a statement. Texts become
bound values, names of columns are quoted, and each fragment's brackets close within it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from envs.errors import InvalidArgument
from extensions.library.bounds import check_count

_LONGEST = 10_000
"""Characters of a fragment."""

_SQL_TOKEN = re.compile(
    r"""(?P<space>\s++)|(?P<comment>--|/\*)
    |(?P<text>'(?:[^']|'')*+')|(?P<either>"(?:[^"]|"")*+")|(?P<name>`[^`]*+`|\[[^\]]*+\])
    |(?P<number>(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+(?!\w))
    |(?P<clause>(?:group\s++by|having|order\s++by|limit|offset)\b)|(?P<word>[^\W\d]\w*+)|(?P<sign><>|<=|>=|==|!=|\|\||[=<>+\-*/%(),.])""",
    re.VERBOSE | re.IGNORECASE,
)
_WHERE = re.compile(r"\A\s*+where\b", re.IGNORECASE)
_COLUMN = re.compile(
    r"""\s*+(?:"(?P<quoted>[^"]++)"|(?P<plain>[^\W\d]\w*+))
    (?:\s++(?P<type>[a-z]++(?:\s++precision)?+)(?:\s*+\(\s*+\d++(?:\s*+,\s*+\d++)?+\s*+\))?+)??
    (?P<marks>(?:\s++(?:primary\s++key(?:\s++autoincrement)?+|not\s++null|unique|null))*+)\s*+""",
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
"""Words that stand in no fragment, however deep."""
_OUTSIDE = re.compile("except|from|intersect|into|join|on|select|set|union|using|values")
"""Words that stand in brackets only."""
_CLAUSES = ("group by", "having", "order by", "limit", "offset")
"""What may follow the conditions of a SELECT, in the order in which it stands there."""


class DeclaredColumn(NamedTuple):
    """A column as it is declared."""

    name: str
    affinity: str
    """INTEGER, TEXT, REAL or NUMERIC; empty where no type is declared."""
    is_key: bool
    is_required: bool
    is_unique: bool

    @property
    def declaration(self) -> str:
        """What stands in a CREATE TABLE."""
        # BLOB leaves values as they are, as no type does, and SQLite keeps its name.
        words = [quoted(self.name), self.affinity]
        words += ["PRIMARY KEY"] * self.is_key + ["NOT NULL"] * self.is_required
        return " ".join([*words, "UNIQUE"] if self.is_unique else words)


class Piece(NamedTuple):
    """A piece of a statement with the values of its placeholders, in order."""

    sql: str
    values: tuple[str, ...] = ()


class Conditions(NamedTuple):
    """What the conditions of a statement say."""

    where: Piece
    """Empty where every row is meant."""
    clauses: tuple[tuple[str, Piece], ...]
    """What follows, by its first words."""

    @property
    def piece(self) -> Piece:
        """All of it, with a blank in front."""
        parts = [("where", self.where)] if self.where.sql else []
        parts += self.clauses
        return _together([Piece(f" {w.upper()} {p.sql}", p.values) for w, p in parts])

    @property
    def orders(self) -> bool:
        """Whether the rows are asked for in an order."""
        return any(words == "order by" for words, _ in self.clauses)


def quoted(name: str) -> str:
    """Return a name as SQL writes any name."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def parse_column(text: str) -> DeclaredColumn:
    """Read the declaration of a column: a name, perhaps a type, perhaps what holds of its values.

    Raises:
        InvalidArgument: It is something else.
    """
    match = _COLUMN.fullmatch(text)
    word = " ".join(match["type"].lower().split()) if match and match["type"] else ""
    if match is None or (word and word not in _TYPES):
        raise InvalidArgument(
            f"{text!r:.100} declares no column: give a name, or a name and a type such as INTEGER, "
            "TEXT or REAL, then PRIMARY KEY, NOT NULL or UNIQUE where that holds."
        )
    marks = " ".join(match["marks"].lower().split())
    name = match["quoted"] or match["plain"]
    is_key = "primary key" in marks
    required = "not null" in marks
    return DeclaredColumn(name, _TYPES.get(word, ""), is_key, required, "unique" in marks)


class Token(NamedTuple):
    """What fragments consist of."""

    kind: str
    text: str


class FragmentReader:
    """Reads the fragments of one statement, given the names of all columns of the database."""

    def __init__(self, columns: Iterable[str]) -> None:
        self._columns = {name.casefold(): name for name in columns}

    def expression(self, text: str, parameter: str) -> Piece:
        """Read what is shown of each row: a column, ``COUNT(*)`` or the like.

        Raises:
            InvalidArgument: It is none.
        """
        plain = self._columns.get(text.strip().casefold())
        if plain is not None:
            return Piece(quoted(plain))
        (words, given), *more = _parts(text, parameter)
        if words or more or not given:
            raise InvalidArgument(f"{parameter} has {text!r:.100}: give a column or an expression.")
        return self._piece(given, parameter)

    def conditions(self, texts: Sequence[str], *, only_where: bool) -> Conditions:
        """Read conditions, all of which have to hold unless one begins with OR.

        Args:
            texts: The fragments; GROUP BY, HAVING, ORDER BY, LIMIT and OFFSET may follow or be
                fragments of their own.
            only_where: Whether nothing may follow.

        Raises:
            InvalidArgument: One is no condition.
        """
        where: list[Piece] = []
        clauses: dict[str, Piece] = {}
        for text in texts:
            for words, given in _parts(_WHERE.sub("", text, count=1), "conditions"):
                if words and (only_where or words in clauses or not given):
                    raise InvalidArgument(
                        f"conditions has {text!r:.100}: {words.upper()} stands once, in a SELECT, "
                        "with what it is about."
                    )
                if words:
                    clauses[words] = self._piece(given, "conditions")
                elif given:
                    where.append(self._joined(given, first=not where))
        ordered = tuple([(words, clauses[words]) for words in _CLAUSES if words in clauses])
        return Conditions(_together(where), ordered)

    def _joined(self, given: Sequence[Token], *, first: bool) -> Piece:
        """Read one condition, with what joins it to those before."""
        joint = given[0].text.upper()
        named = joint in ("AND", "OR")
        piece = self._piece(given[named:], "conditions")
        if not piece.sql:
            raise InvalidArgument(f"conditions has {joint} with nothing behind it.")
        before = "" if first else f"{joint} " if named else "AND "
        return Piece(f"{before}({piece.sql})", piece.values)

    def _piece(self, given: Sequence[Token], parameter: str) -> Piece:
        """Write what stands between two clauses as a piece of the statement."""
        depth = 0
        pieces = []
        for token, after in zip_longest(given, given[1:]):
            depth += (token.text == "(") - (token.text == ")")
            is_called = after is not None and after.text == "("
            pieces.append(self._written(token, parameter, is_called=is_called, inside=depth > 0))
        return _together(pieces)

    def _written(self, token: Token, parameter: str, *, is_called: bool, inside: bool) -> Piece:
        """Return how a token stands in the statement, and the value bound in its place."""
        kind, text = token
        if kind == "text":
            return Piece("?", (text[1:-1].replace("''", "'"),))
        if kind in ("either", "name"):
            named = text[1:-1].replace('""', '"')
            known = self._columns.get(named.casefold())
            # SQLite too takes double quotes for those of a text where no column has the name.
            bound = kind == "either" and known is None
            return Piece("?", (named,)) if bound else Piece(quoted(known or named))
        if kind == "word":
            word = text.casefold()
            if not is_called and word in self._columns:
                return Piece(quoted(self._columns[word]))
            if _STATEMENTS.fullmatch(word) or (not inside and _OUTSIDE.fullmatch(word)):
                message = (
                    f"{parameter} has the word {text[:40]}: give expressions of one statement."
                )
                raise InvalidArgument(message)
        return Piece(text)


def _together(pieces: Sequence[Piece]) -> Piece:
    values = tuple([value for piece in pieces for value in piece.values])
    return Piece(" ".join([piece.sql for piece in pieces]), values)


def _parts(text: str, parameter: str) -> list[tuple[str, list[Token]]]:
    """Cut a fragment into what stands in front of clauses and each clause, by its words.

    Raises:
        InvalidArgument: Brackets do not close within a part, or there is an odd sign.
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
        raise InvalidArgument(f"{parameter} has {text!r:.100}: its brackets do not close.")
    return [part for part in parts if part[0] or part[1]] or [("", [])]


def tokens_of(text: str, parameter: str) -> Iterator[Token]:
    """Yield what a fragment consists of, but for blanks.

    Raises:
        InvalidArgument: There is an odd sign.
    """
    check_count(parameter, text, 0, _LONGEST)
    position = 0
    while position < len(text):
        match = _SQL_TOKEN.match(text, position)
        kind = match.lastgroup if match else None
        if match is None or kind is None or kind == "comment":
            sign = text[position : position + 2] if kind else text[position]
            why = "a quote that does not close" if sign in ("'", '"', "`") else f"{sign!r}"
            raise InvalidArgument(f"{parameter} has {why} in {text!r:.100}: leave it out.")
        if kind != "space":
            yield Token(kind, match[0])
        position = match.end()
