"""Conversion of OpenAPI files to function documents, one function per operation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count
from math import inf
from typing import Any, NamedTuple

from envs.errors import DataError

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_DEPTH = 8
"""Maximum depth of a schema; deeper parts become objects with arbitrary fields."""
_MAX_PARTS = 2_000
"""Maximum number of schema parts of a function."""
_MAX_FILE_PARTS = 200_000
"""Maximum number of schema parts in a file, after its references are expanded."""
_MAX_NODES = 300_000
"""Maximum keys and values of a YAML file, after aliases and merge keys are expanded."""
_MAX_DIGITS = 4_300
"""Maximum characters of a number in a YAML file; Python has the same limit for decimal digits."""
_MAX_SHOWN = 5
_NO_NAME = re.compile(r"[\W_]+")
_TEXT_TAG = "tag:yaml.org,2002:str"
_PLAIN_TRUTHS = ("true", "false")
_EXAMPLES = ("example", "examples", "default", "enum", "const")
"""Fields whose values are data, not schemas."""

_READING = ("get", "head", "options", "trace")


class Operation(NamedTuple):
    """Function made from one operation of an OpenAPI file."""

    tag: str
    """Tag of the operation, or the title of the file."""
    document: dict[str, Any]
    reads: bool
    """Whether the HTTP method is read-only."""
    method: str
    url: str
    """Address of the first server, followed by the operation's path. The argument ``name`` replaces
    ``{name}``."""
    example: object
    """Example of a successful response, or None."""


def read_yaml(text: str, where: str) -> object:
    """Return the value of a YAML text.

    Dates, times of day, and words such as ``on`` and ``no`` stay strings, as OpenAPI demands.

    Raises DataError if the text is not YAML, or is too large after aliases are replaced.
    """
    import yaml

    try:
        loader: Any = yaml.SafeLoader(text)
        _limit_nodes(loader, where)
        _keep_texts(loader)
        node = loader.get_single_node()
        # Merge keys are written out while the value is constructed.
        if node is not None and _count_nodes(node, {}) > _MAX_NODES:
            raise DataError(where, "is too large after aliases are expanded, or is nested too deep")
        return loader.construct_document(node) if node is not None else None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        said = " ".join(str(error).split())
        if said.startswith("chr()"):
            said = _describe_value(loader)
        raise DataError(where, f"is not valid YAML: {said:.200}") from None
    except (ArithmeticError, AttributeError, LookupError):
        # PyYAML raises these errors for invalid values; they have no useful message.
        raise DataError(where, f"is not valid YAML: {_describe_value(loader)}") from None


def _describe_value(loader: Any) -> str:
    """Describe the value that a YAML loader could not convert."""
    unfinished = [*loader.recursive_objects]
    if not unfinished:
        return f"line {loader.line + 1}: a character code is too large"
    node = unfinished[-1]
    shown = repr(node.value)[:60] if isinstance(node.value, str) else f"a {node.id}"
    return f"line {node.start_mark.line + 1}: {shown} is not a valid {node.tag.rpartition(':')[2]}"


def _limit_nodes(loader: Any, where: str) -> None:
    """Let a YAML loader raise DataError when it has read too many nodes."""
    compose, numbers = loader.compose_node, count(1)

    def compose_next(parent: object, index: object) -> object:
        if next(numbers) > _MAX_NODES:
            raise DataError(where, f"has more than {_MAX_NODES:,} keys and values; split the file")
        return compose(parent, index)

    loader.compose_node = compose_next


def _keep_texts(loader: Any) -> None:
    """Let a YAML loader give values without a tag the types that OpenAPI demands."""
    resolve = loader.resolve

    def resolve_plain(kind: object, value: Any, implicit: object) -> str:
        tag: str = resolve(kind, value, implicit)
        name = tag.rpartition(":")[2]
        is_truth = name == "bool" and value.lower() in _PLAIN_TRUTHS
        # With the old rules of YAML, 12:30 is the number 750.
        is_time = name == "timestamp" or (name in ("int", "float") and ":" in value)
        return _TEXT_TAG if is_time or (name == "bool" and not is_truth) else tag

    loader.resolve = resolve_plain


def _count_nodes(node: Any, counts: dict[int, float]) -> float:
    """Count the YAML nodes inside a node; return infinity if the node contains itself.

    Raises ValueError if an object has a key twice, or a number is too long.
    """
    if (known := counts.get(id(node))) is not None:
        return known
    counts[id(node)] = inf
    line = node.start_mark.line + 1
    if node.tag.endswith((":int", ":float")) and len(node.value) > _MAX_DIGITS:
        raise ValueError(f"the number in line {line} has more than {_MAX_DIGITS:,} characters")
    inner = node.value if isinstance(node.value, list) else []
    pairs = inner if node.id == "mapping" else []
    # Only scalars are compared: the text of a list would contain each alias in full.
    keys = [(key.tag, key.value) for key, _ in pairs if key.id == "scalar"]
    for (_, name), number in Counter(keys).items():
        if number > 1:
            raise ValueError(f"the object in line {line} has {name!r:.60} twice")
    below = [part for each in inner for part in (each if isinstance(each, tuple) else (each,))]
    counts[id(node)] = 1 + sum(_count_nodes(each, counts) for each in below)
    return counts[id(node)]


def functions(value: Mapping[str, Any], where: str) -> Iterator[Operation]:
    """Yield the operations of an OpenAPI file of version 2 or 3.

    Raises DataError if the file has no paths, or its schemas are too large after references are
    replaced.
    """
    paths = value.get("paths")
    if not isinstance(paths, Mapping):
        raise DataError(where, "is an OpenAPI file without paths")
    info = value.get("info")
    title = str(info.get("title", "api")) if isinstance(info, Mapping) else "api"
    base, parts = _server(value), 0
    for path, item in paths.items():
        item = _resolved(item, value)
        shared = _listed(item, "parameters")
        for method in _METHODS:
            operation = item.get(method)
            if isinstance(operation, Mapping):
                tags = operation.get("tags")
                tag = str(tags[0]) if isinstance(tags, list) and tags else title
                function = _OperationConverter(value)
                document = function.document(str(path), method, operation, shared)
                parts += function.parts
                if parts > _MAX_FILE_PARTS:
                    message = f"its references expand to more than {_MAX_FILE_PARTS:,} schema parts"
                    raise DataError(where, f"{message}; split the file")
                reads, url = method in _READING, f"{base}{path}"
                example = _find_example(operation, value)
                yield Operation(tag, document, reads, method, url, example)


def describe_missing(value: Mapping[str, Any], where: str) -> str | None:
    """Return a warning about references that point to nothing, or None."""
    found: dict[str, None] = {}
    left: list[object] = [value]
    while left:
        inner = left.pop()
        if isinstance(inner, list):
            left += inner
        elif isinstance(inner, Mapping):
            place = inner.get("$ref")
            if isinstance(place, str) and not isinstance(_at(place, value), Mapping | bool):
                found[place] = None
            left += [each for name, each in inner.items() if name not in _EXAMPLES]
    if not found:
        return None
    names = sorted(found)
    more = f" and {len(names) - _MAX_SHOWN} more" if len(names) > _MAX_SHOWN else ""
    shown = ", ".join(f"{name:.100}" for name in names[:_MAX_SHOWN])
    problem = f"its references to {shown}{more} lead nowhere, so these parts are missing"
    return f"warning: {where}: {problem}; bundle all files into one"


def _server(value: Mapping[str, Any]) -> str:
    first, *_ = [*_listed(value, "servers"), {}]
    if isinstance(first, Mapping) and isinstance(url := first.get("url"), str):
        return url.rstrip("/")
    host, path = value.get("host"), value.get("basePath")
    return f"https://{host}{path or ''}".rstrip("/") if isinstance(host, str) else ""


def _example_field(described: Mapping[str, Any]) -> dict[str, Any]:
    named = described.get("examples")
    first = next(iter(named.values()), None) if isinstance(named, Mapping) else None
    found = described.get("example", first.get("value") if isinstance(first, Mapping) else None)
    return {} if found is None else {"example": found}


def _find_example(operation: Mapping[str, Any], root: Mapping[str, Any]) -> object:
    responses = operation.get("responses")
    for status, raw in responses.items() if isinstance(responses, Mapping) else ():
        response = _resolved(raw, root)
        content = response.get("content")
        media = content.get("application/json") if isinstance(content, Mapping) else None
        found = _resolved(media, root)
        if not str(status).startswith("2"):
            continue
        named = found.get("examples", response.get("examples"))
        first = next(iter(named.values()), None) if isinstance(named, Mapping) else None
        if isinstance(first, Mapping) and "value" in first:
            first = first["value"]
        example = found.get("example", first)
        if example is None:
            example = _resolved(found.get("schema", response.get("schema")), root).get("example")
        if example is not None:
            return example
    return None


def written_out(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with its references replaced; self-references are cut off."""
    return _OperationConverter(schema).plain(schema, _DEPTH)


class _OperationConverter:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = _MAX_PARTS
        self._properties: dict[str, Any] = {}
        # A dict keeps the order, and finds a name among thousands.
        self._required: dict[str, None] = {}

    @property
    def parts(self) -> int:
        return _MAX_PARTS - max(self._left, 0)

    def document(
        self, path: str, method: str, operation: Mapping[str, Any], shared: list[Any]
    ) -> dict[str, Any]:
        """Return an HTTP method's function document; ``shared`` contains the path's parameters."""
        for raw in (*shared, *_listed(operation, "parameters")):
            self._take(_resolved(raw, self._root))
        body = _resolved(operation.get("requestBody"), self._root)
        content = body.get("content")
        if isinstance(content, Mapping) and content:
            media = content.get("application/json") or next(iter(content.values()))
            described = _resolved(media, self._root)
            self._take_body(described.get("schema"), body.get("required") is True)
            sample = _example_field(described).get("example")
            for name, value in sample.items() if isinstance(sample, Mapping) else ():
                if name in self._properties:
                    self._properties[name] = {**self._properties[name], "example": value}
        fallback = _NO_NAME.sub("_", f"{method}_{path}").strip("_")
        told = [operation.get(name) for name in ("summary", "description")]
        return {
            "name": str(operation.get("operationId") or fallback),
            "description": " ".join(text.strip() for text in told if isinstance(text, str)),
            "parameters": {
                "type": "object",
                "properties": self._properties,
                "required": [*self._required],
            },
        }

    def _take(self, parameter: Mapping[str, Any]) -> None:
        if parameter.get("in") == "body":
            self._take_body(parameter.get("schema"), parameter.get("required") is True)
        elif isinstance(name := parameter.get("name"), str):
            # Version 2 has the type beside the name, version 3 in a schema.
            beside = {each: parameter[each] for each in _ITEM_FIELDS if each in parameter}
            schema = self.plain(parameter.get("schema", beside), _DEPTH)
            described = {"description": str(parameter.get("description", ""))}
            self._properties[name] = {**described, **schema, **_example_field(parameter)}
            # An operation may override a parameter of its path.
            self._required.pop(name, None)
            if parameter.get("required") is True:
                self._required[name] = None

    def _take_body(self, schema: object, is_required: bool) -> None:
        plain = self.plain(schema, _DEPTH)
        members = plain.get("properties")
        if not isinstance(members, Mapping):
            self._properties["body"] = plain
            if is_required:
                self._required["body"] = None
            return
        self._properties.update(members)
        needed = plain.get("required")
        names = (
            [name for name in needed if isinstance(name, str)] if isinstance(needed, list) else []
        )
        self._required.update((name, None) for name in names if name in members)

    def plain(self, schema: object, depth: int) -> dict[str, Any]:
        found = _resolved(schema, self._root)
        self._left -= 1
        if depth == 0 or self._left < 0:
            return {"type": "object"} if found else {}
        plain = {str(name): value for name, value in found.items() if name != "$ref"}
        merged = plain.pop("allOf", None)
        for part in merged if isinstance(merged, list) else ():
            inner = self.plain(part, depth - 1)
            members = {**_members(plain), **_members(inner)}
            required = [*_listed(plain, "required"), *_listed(inner, "required")]
            merged_fields = {"properties": members, "required": required}
            plain = {**inner, **plain, **{n: each for n, each in merged_fields.items() if each}}
        if inside := _members(plain):
            plain["type"] = plain.get("type", "object")
            plain["properties"] = {
                str(name): self.plain(each, depth - 1) for name, each in inside.items()
            }
        for word in ("items", "additionalProperties"):
            if isinstance(inside_it := plain.get(word), Mapping):
                plain[word] = self.plain(inside_it, depth - 1)
        for word in ("anyOf", "oneOf"):
            if isinstance(choices := plain.get(word), list):
                plain[word] = [self.plain(each, depth - 1) for each in choices]
        return plain


_ITEM_FIELDS = ("type", "items", "enum", "default", "minimum", "maximum")


def _members(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = schema.get("properties")
    return found if isinstance(found, Mapping) else {}


def _listed(value: Mapping[str, Any], name: str) -> list[Any]:
    found = value.get(name)
    return found if isinstance(found, list) else []


def _resolved(value: object, root: Mapping[str, Any]) -> Mapping[str, Any]:
    for _ in range(_DEPTH):
        if not isinstance(value, Mapping):
            return {}
        place = value.get("$ref")
        if not isinstance(place, str):
            return value
        value = _at(place, root)
    return {}


def _at(place: str, root: Mapping[str, Any]) -> object:
    value: object = root
    if not place.startswith("#/"):
        return None
    for step in place[2:].split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
