"""Random replies of a prompting model, and how both sides decode them.

BFCL's default decoder evaluates arithmetic as Python, so the replies hold nothing but
literals and small sums.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from checkers.replies.as_bfcl import decoding as as_bfcl
from envs.calls import Call, read_call
from envs.errors import MalformedCall
from tests.conformance.sides import DRIVER

_LITERALS = (
    "1", "-5", "+5", "~5", "not True", "- 1.5", "0", "1.50", "1e3", "1e400", "0x1F", "1_000",
    "True", "None", "...", "'it'", '"x"', "'it\\'s'", '"it\'s"', "'a' 'b'", "r'\\d'",
    "'é😀'", "a[1, 2]", "a[1:2]", "a[b][0]", "a.b['c']", "a[-1]", "g(1)", "a.b()", "f('x')[0]",
    "'''a\nb'''", "'a\\nb'", "''", "true", "null", "foo", "a[0]", "(1)", "()", "(1,)", "- True",
    "1+2", "2*3.5", "'a'+'b'", "7//2", "7%4", "2**3", "-1+2", "[1]+[2]", "1+2*3", "-1-(-2)",
    "not 0",
)  # fmt: skip
_NOT_READ = (
    "-x", "007", "f'x'", "x.y", "{1, 2}", "lambda: 1", "1 < 2", "a and b", "1 if x else 2", "*x",
    "[i for i in x]", "-(1 + 2)", "1/0", "1+'a'", "x+1", "-'a'", "{**x}", "{[]: 1}",
)  # fmt: skip
_NAMES = (
    "f",
    "cd",
    "ls",
    "math.add",
    "a.b.c",
    "f",
    "g",
    "send_message",
    "a().b",
    "a[0].b",
    "(f)",
    "'f'",
)
_KEYS = ("a", "b", "folder", "a", "def", "unit")
_DAMAGE = (
    "(",
    ")",
    "[",
    "]",
    "'",
    '"',
    ",",
    "=",
    "`",
    "\n",
    " ",
    "x",
    "{",
    "}",
    ":",
    "\\",
    "#",
    ";",
)


def random_replies(seed: int, count: int) -> Iterator[str]:
    """Yield replies."""
    random = Random(seed)
    for _ in range(count):
        yield _reply(random)


def decoded_by_bfcl(python: Path, replies: Sequence[str]) -> list[list[str] | None]:
    """Return the call texts that BFCL's default decoder makes of replies, None where it fails.

    Raises:
        RuntimeError: BFCL's decoder cannot be imported there.
    """
    lines = "".join(json.dumps(reply) + "\n" for reply in replies)
    driver = subprocess.run(
        [python, DRIVER, "decode"], input=lines, capture_output=True, text=True, check=False
    )
    if driver.returncode:
        raise RuntimeError(f"BFCL's decoder does not run: {driver.stderr.strip()[-300:]}")
    return [json.loads(line) for line in driver.stdout.splitlines()]


def decoded_by_turnwise(reply: str) -> list[Call | MalformedCall] | None:
    """Return the calls that the ``bfcl`` profile makes of a reply, None where it fails."""
    try:
        return as_bfcl.decode_text(reply)
    except MalformedCall:
        return None


def same(theirs: list[str] | None, ours: list[Call | MalformedCall] | None) -> bool:
    """Tell whether both sides make the same of a reply."""
    if theirs is None or ours is None:
        return theirs is None and ours is None
    return len(theirs) == len(ours) and all(map(_same_call, theirs, ours))


def _same_call(text: str, call: Call | MalformedCall) -> bool:
    """Tell whether a call text, once it is read, is a call; malformed ones are all alike."""
    read = read_call(text)
    if isinstance(call, MalformedCall):
        return isinstance(read, MalformedCall)
    return str(call) == text or repr(read) == repr(call)


def _reply(random: Random) -> str:
    calls = [_call(random, 0) for _ in range(random.choice((0, 1, 1, 1, 2, 3)))]
    if random.random() < 0.05:
        calls.append(random.choice((*_LITERALS, *_NOT_READ, "x = 1", "x")))
    text = random.choice((", ", ",", ",\n")).join(calls)
    text = random.choice((f"[{text}]", f"[{text}]", text, f"[ {text} ]", f"[{text}", f"{text}]"))
    text = random.choice((*[text] * 6, *_wrapped(text)))
    if random.random() < 0.15:
        at = random.randint(0, len(text))
        text = text[:at] + random.choice(_DAMAGE) + text[at + random.randint(0, 2) :]
    return text


def _wrapped(text: str) -> tuple[str, ...]:
    return (
        f"```{text}```",
        f"```\n{text}\n```",
        f"```python\n{text}\n```",
        f"`{text}`",
        f"\n  {text} \n",
        f"\t{text}",
        f"I will call {text}",
        f"{text} # done",
        f"{text}; {text}",
        f"{text}\n{text}",
        f"{text}, ",
    )


def _call(random: Random, depth: int) -> str:
    arguments = []
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        value = _value(random, depth + 1)
        key = random.choice(_KEYS)
        arguments.append(value if random.random() < 0.15 else f"{key}={value}")
    if random.random() < 0.03:
        arguments.append(random.choice(("*[1]", "**{'a': 1}", "**x")))
    name = random.choice(_NAMES if random.random() < 0.3 else _NAMES[:4])
    return f"{name}({', '.join(arguments)})"


def _value(random: Random, depth: int) -> str:
    kind = random.random() if depth < 4 else 0.0
    if kind < 0.65:
        return random.choice(_LITERALS if random.random() < 0.96 else _NOT_READ)
    if kind < 0.72:
        return _call(random, depth)
    members = [_value(random, depth + 1) for _ in range(random.choice((0, 1, 2, 2)))]
    if kind < 0.82:
        return f"[{', '.join(members)}]"
    if kind < 0.86:
        return f"({', '.join(members)},)" if members else "()"
    return f"{{{', '.join(f'{_key(random)}: {member}' for member in members)}}}"


def _key(random: Random) -> str:
    return random.choice(
        ("'k'", '"k"', "'l'", "1", "'it\\'s'", "None", "True", "(1, 2)", "k", "'x\\\\n'")
    )
