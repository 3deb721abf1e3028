"""Random texts in Java and JavaScript: replies of a prompting model, and values of arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

_NAMES = {
    "java": ("A.f", "f", "Foo.bar", "Geometry.createPresentation", "a.b.C.run", "this.f", "a().f",
             "new A().f", "A.<T>f", "new Foo", "A[0].f", "a . b", "(A).f"),
    "javascript": ("f", "submitForm", "a.b.f", "this.f", "a().f", "a['b']", "new F", "f?.", "(f)",
                   "await f", "x = f", "import", "$f_1"),
}  # fmt: skip
_KEYS = ("a", "alpha", "parameterName", "b", "a.b", "x[0]", "in", "default", "b")
_VALUES = {
    "java": (
        "1", "-5", "+5", "5L", "2.5f", "1e5", "0x1F", "1_000", "true", "null", "'c'", '"text"',
        '"a, b"', '"it\'s"', '"a\\"b"', '""', '"{x}"', "name", "Type.CONSTANT", "a.b.c", "this",
        "x -> x + 1", "(a, b) -> { return a; }", "A::b", "B.class", "(String) y", "1 + 2 * 3",
        '"x" + y', "x ? 1 : 2", "x instanceof Y", "a[ 0 ]", "!x", "g(1, 2)", 'b.g( "x" )',
        "new int[]{1, 2}", 'new String[]{"a", "b"}', "new int[3]", "new int[][]{{1}, {2}}",
        'new ArrayList<String>(Arrays.asList("a", "b"))', "new HashMap<String, Integer>()",
        'new HashMap<String, String>() {{ put("k", "v"); }}', "new HashMap<>()", "new A(1, b)",
        "List.of(1, 2)", 'Map.of("a", 1)', "new a.B<C>( 1 )", "/* note */ 1", "b = 2", "(x)",
        '"""\ntext"""', "{1, 2}", "@X", "'ab'",
    ),
    "javascript": (
        "1", "-5", "5n", "2.5", "1e5", "0x1F", "true", "false", "null", "undefined", "'text'",
        '"text"', "'a, b'", '"it\'s"', "'a\\'b'", "''", "`t`", "`a${1}b`", "name", "a.b.c", "this",
        "x => x + 1", "(a, b) => { return a; }", "function (x) { return x; }", "async () => 1",
        "[1, 2]", "['a', \"b\"]", "[[1], [2]]", "{}", "{ a: 1, 'b': [2] }", "{ f() { } }",
        "new Date()", "g(1, 2)", "x ? 1 : 2", "'x' + 'y'", "'x' + \"y\"", "/re/g", "/* note */ 1",
        "b = 2", "(x)", "...rest", "typeof x", "<b/>", "@x", "1 2",
    ),
}  # fmt: skip
_FENCES = {"java": ("", "java\n"), "javascript": ("", "javascript\n", "js\n")}
_DAMAGE = "()[]{}'\",=;:`\n .x<>"

_WORDS = {
    "java": ("byte", "short", "integer", "long", "float", "double", "boolean", "char", "String",
             "any", "Array", "ArrayList", "HashMap", "Array", "ArrayList", "HashMap"),
    "javascript": ("String", "integer", "float", "Bigint", "Boolean", "any", "array", "dict",
                   "array", "dict"),
}  # fmt: skip
_MEMBERS = {
    "java": ("1", "-2", "3L", "4.5", "5.0f", "1e5", "true", '"a"', "'b'", "x", '"a, b"', "f(x)",
             '"("', "null", "", "5F", "trueL", "L", "1_0", "+5", '"', "new int[]{1,2}", "é"),
    "javascript": ("1", "-2", "3n", "4.5", "5.", "1e5", "true", '"a"', "'b'", "x", "'a, b'", "f(x)",
                   "null", "", "[1,2]", "['x','y']", "{b: [1,2]}", "'http://x'", "'k: v'", '"5"',
                   "`t`", "(x) => x", "'", "]", "é", "1_0", "+5"),
}  # fmt: skip


def random_replies(language: str, seed: int, count: int) -> Iterator[str]:
    """Yield replies."""
    random = Random(f"{language} {seed}")
    for _ in range(count):
        calls = [_call(random, language) for _ in range(random.choice((1, 1, 1, 1, 2)))]
        text = random.choice((", ", "; ", ";\n", ",")).join(calls)
        text += random.choice(("", "", ";"))
        fence = random.choice(_FENCES[language])
        text = random.choice(
            (text, text, text, f"[{text}]", f"[{text}]", f"```{fence}{text}\n```", f"  {text}\n",
             f"Call {text}", f"{text} // done", f"[[{text}]]", f"[{text}", f"{{ {text}; }}")
        )  # fmt: skip
        yield _damaged(random, text, 0.1)


def random_values(language: str, seed: int, count: int) -> Iterator[tuple[str, str, str | None]]:
    """Yield texts of values, each with a type word and perhaps one of the elements."""
    random = Random(f"{language} {seed}")
    for _ in range(count):
        make = random.choice(_JAVA_SHAPES if language == "java" else _JAVASCRIPT_SHAPES)
        separator = random.choice((", ", ",", " , "))
        members = random.choices(_MEMBERS[language], k=random.randrange(4))
        text = _damaged(random, make(random, members, separator), 0.1)
        yield text, random.choice(_WORDS[language]), random.choice((None, *_WORDS[language]))


def _damaged(random: Random, text: str, share: float) -> str:
    if not text or random.random() >= share:
        return text
    at = random.randrange(len(text))
    return text[:at] + random.choice((*_DAMAGE, "")) + text[at + random.randrange(2) :]


def _call(random: Random, language: str) -> str:
    arguments = []
    for _ in range(random.choice((0, 1, 1, 2, 2, 3))):
        value = random.choice(_VALUES[language])
        key = random.choice(_KEYS[:4] if random.random() < 0.9 else _KEYS)
        sign = random.choice((" = ", "=", "=", "=", ":", " += ")) if random.random() < 0.3 else "="
        arguments.append(value if random.random() < 0.1 else f"{key}{sign}{value}")
    names = _NAMES[language]
    name = random.choice(names[:4] if random.random() < 0.8 else names)
    return f"{name}({random.choice((', ', ',')).join(arguments)})"


def _one(random: Random, members: Sequence[str], separator: str) -> str:
    return members[0] if members else ""


def _array_list(random: Random, members: Sequence[str], separator: str) -> str:
    word = random.choice(("String", "Integer", "", "List<String>", "A.B"))
    made = random.choice(("new ArrayList", "new  ArrayList", "x new ArrayList", "ArrayList"))
    if random.random() < 0.5:
        return f"{made}<{word}>(Arrays.asList({separator.join(members)}))"
    opening, closing = random.choice((("{{ ", " }}"), ("{{", "}}"), ("{", "}"), ("{ {", "} }")))
    added = "; ".join(f"add({member})" for member in members)
    return f"{made}<{word}>() {opening}{added};{closing}"


def _array(random: Random, members: Sequence[str], separator: str) -> str:
    word = random.choice(("int", "String", "long", "a.b", "List<String>"))
    return f"new {word}{random.choice(('[]', '[] ', '[2]', '[][]'))}{{{separator.join(members)}}}"


def _hash_map(random: Random, members: Sequence[str], separator: str) -> str:
    words = random.choice(("String, String", "", "String,Object", "String, List<String>"))
    keys = random.choices(('"a"', '"b c"', "'c'", "k", '"d"'), k=len(members))
    puts = "; ".join(f"put({k}, {member})" for k, member in zip(keys, members, strict=True))
    opening, closing = random.choice((("{{ ", " }}"), ("{{", "}}"), ("{", "}"), ("{ {", "} }")))
    return f"new HashMap<{words}>(){random.choice(('', ' '))}{opening}{puts};{closing}"


def _empty(random: Random, members: Sequence[str], separator: str) -> str:
    return random.choice(("new ArrayList<>()", "new HashMap<>()", "new ArrayList()", "List.of()"))


def _list(random: Random, members: Sequence[str], separator: str) -> str:
    opening, closing = random.choice((("[", "]"), ("[ ", " ]"), ("new Array(", ")"), (" [", "]")))
    return f"{opening}{separator.join(members)}{closing}"


def _rows(random: Random, members: Sequence[str], separator: str) -> str:
    return f"[{separator.join(f'[{member}]' for member in members)}]"


def _object(random: Random, members: Sequence[str], separator: str) -> str:
    keys = random.choices(("a", "'b'", '"c"', "d e", "'f", "", "g.h", "é", "1"), k=len(members))
    colon = random.choice((":", ": ", " : "))
    pairs = separator.join(f"{k}{colon}{member}" for k, member in zip(keys, members, strict=True))
    return f"{{{pairs}{random.choice(('', ' ', ','))}}}"


_JAVA_SHAPES = (_one, _array_list, _array_list, _array, _hash_map, _hash_map, _empty)
_JAVASCRIPT_SHAPES = (_one, _list, _list, _rows, _object, _object)
