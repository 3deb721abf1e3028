"""Patterns of final answers: questions, refusals and calls that were not parsed.

Most patterns are English. A question mark counts in any language.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from checkers.answer_text.words import list_stems
from envs.calls import Call, find_closing_bracket, parse_calls, read_call
from envs.errors import MalformedCall

_MAX_CHARS = 20_000
"""Maximum characters that are searched, counted from the end of an answer."""

_PLAIN = str.maketrans("\N{RIGHT SINGLE QUOTATION MARK}\u3002\uff01\uff1f", "'.!?")
_SENTENCE = re.compile(r"[^.?!\n]+[.?!]*")
_QUOTED = re.compile(
    r"""```.*?```|`[^`\n]*`|"[^"\n]*"|“[^”\n]{0,1000}”|(?<!\w)'[^'\n]*'(?!\w)""", re.DOTALL
)
_COURTESY = re.compile(
    r"""\b(
        (any|some)thing\ else | any\ (other|further|more|additional)
      | if\ you\ (need|have|want(?!\ me\ to\ (go|proceed|continue)))
      | further\ (assistance|help|questions?) | feel\ free | how\ else | more\ help
    )\b | ^\s*(maybe|perhaps)\ (?!you)""",
    re.VERBOSE | re.IGNORECASE,
)
_REQUEST = re.compile(
    r"""\b(
        (please|kindly)\ (\w+\ ){0,2}
        (provide|specify|confirm|share|tell|clarify|give|supply|enter|choose|indicate|let)
      | (let\ me\ know|(tell|send|give)\ me)\ (which|what|who|where|when|how|the|your|whether|if)
      | (i|we)(\ ?'ll|\ will|'d|\ would)?\ (still\ )?(need|require)\ (\w+\ ){0,4}
        (from\ you|to\ (know|continue|proceed)|your|more|additional|following)
      | to\ (continue|proceed|do\ (this|that|so)),?\ (i|we)('ll|\ will|'d|\ would)?\ (need|require)
      | please\ (advise|say\ so | (reply|respond|answer)\ with)
      | (await|wait)(ing)?(\ for)?\ (your|the)\ (\w+\ )?(confirmation|reply|answer|go)
      | (once|until|unless|as\ soon\ as|after|when)\ you\ (have\ )?
        (confirm|tell|told|give|given|send|provide|approve|agree|let)
      | if\ (i\ should|you('d\ like|\ want)\ me\ to\ (go|proceed|continue|do\ (it|this|that|so)))
      | i('d|\ would)\ like\ to\ (confirm|clarify|verify|double-check|make\ sure|check)
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"""\b(
        can't | cannot | can\ not | unable\ to | not\ able\ to | couldn't | could\ not | won't
      | impossible | not\ possible | isn't\ possible | unfortunately | failed\ to | sorry(?!\ for)
      | (no|any|a)\ (function|tool|way|means)\ (to|for|of|that|available)
      | no\ (tool|function|means)
      | (don't|do\ not)\ have\ (access|the\ ability|permission) | lack\ (the|any)
      | (not|isn't|aren't)\ (available|supported|something\ (that\ )?(i\ can|i'm\ able)|equipped)
      | beyond\ (what|my) | outside\ (of\ )?(what|my)
      | (do|does)(n't|\ not)\ (allow|let|permit|offer|support|provide|include)
      | none\ of\ (the|my)\ (\w+\ )?(functions|tools)
      | (do|handle)\ (that|this|it)\ (yourself|manually|by\ hand)
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_FOREIGN_REFUSAL = re.compile(
    r"无法|不能|不支持|做不到|没有[^.?!\n]{0,8}(函数|工具|功能|权限)|抱歉|对不起|遗憾"
    r"|\b(leider|nicht möglich|(kann|können|konnte)\b[^.?!\n]{0,60}\bnicht"
    r"|keine? (funktion|werkzeug|zugriff)|no (puedo|podemos|pude|es posible|he podido)"
    r"|no (tengo|hay|dispongo de) (\w+ )?(acceso|función|herramienta)|lamentablemente"
    r"|lo siento)\b",
    re.IGNORECASE,
)
_DECLINE = re.compile(
    r"""\b(
        (can't|cannot|can\ not|won't|unable\ to|not\ able\ to)\ (\w+\ ){0,2}
        (assist|help|comply)(\ you)?(\ with\ (that|this|your|the|such)\b|\s*[.!]|,)
      | i(\ won't|\ will\ not|\ refuse|'d\ rather\ not|\ would\ rather\ not
        |('m|\ am)\ (not\ going|not\ willing|programmed\ not|supposed\ not|not\ supposed)\ to)
      | (must|have\ to|need\ to|should|will)\ (respectfully\ |politely\ )?(decline|refuse)
      | not\ (\w+\ )?comfortable | inappropriate\ for\ me | don't\ feel\ comfortable
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_PRINCIPLE = re.compile(
    r"""\b(
        (security|safety|privacy|legal|ethical|policy)\ (reasons|concerns|grounds)
      | for\ (your|their|his|her)\ (own\ )?(security|safety|privacy|protection)
      | (against|violat\w+|breach\w*)\ (\w+\ ){0,3}
        (guidelines?|practices?|polic(y|ies)|terms|principles?|rules|law|privacy)
      | polic(y|ies)\ (do(es)?(n't|\ not)|forbids?|prohibits?)
      | (un|not\ )(ethical|comfortable|lawful) | comfortable\ (with|\w+ing) | illegal(ly)?
      | (in|not\ )appropriate | harm(s|ful|ing)? | fraud(ulent)? | harass\w* | defam\w* | dangerous
      | conscience | insider\ trading | manipulat\w+ | deceptive | guidelines
      | without\ \w+\ consent
      | (financial|investment|legal|medical)\ advice | responsible\ assistant | personal\ data
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_LACK = re.compile(
    r"""\b(
        (i|we)(\ would|'d|'ll|\ will)?\ (still\ )?(need|require|lack) | missing | required | needed
      | (don't|do\ not|didn't|did\ not|doesn't|haven't)\ (\w+\ ){0,2}
        (have|know|say|mention|specify|given|told|include|provided)
      | (isn't|is\ not|wasn't|was\ not|not)\ (given|known|specified|clear|provided|mentioned)
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_STOP_WORDS = frozenset(
    list_stems(
        "a an the of to in for and or with that this these which whose who what when where how be "
        "is are was has have do does not no if it its as by on at from into will can may you your "
        "i we give gives get one given return returns must should e g"
    )
)
_MEANS = re.compile(
    r"\b(functions?|tools?|access|information|data|details?|error)\b", re.IGNORECASE
)
_CALL = re.compile(r"\b(?:functions\.|default_api\.)?([A-Za-z_][\w.]{0,99}+)\(")
_GIVEN = re.compile(r"""\w{1,40}\s?[=:]|['"\d]""")
_CALL_LINE = re.compile(r"^[ \t\[]*+([A-Za-z_][\w.]*+)\(", re.MULTILINE)
_MAX_CALLS = 50
_TAG = re.compile(
    r"<\|?(tool_call|function_call|function=|invoke|tool_use)|to=functions\.|^Action:\s",
    re.MULTILINE,
)
_ESCAPED = re.compile(r"\\([_\[\]*])")
_OBJECT = re.compile(r"\{\s*[\"']")


def is_question(answer: str) -> bool:
    """Tell whether an answer contains a question, other than an offer such as "Anything else?"."""
    return any(
        sentence.endswith("?") or _REQUEST.search(sentence)
        for sentence in _SENTENCE.findall(_QUOTED.sub("", _plain(answer)))
        if not _COURTESY.search(sentence)
    )


def asks_for(answer: str, names: Collection[str]) -> bool:
    """Tell whether an answer asks for one of the names, for example with "I need the id"."""
    wanted = {word for name in names for word in list_stems(name)} - _STOP_WORDS
    return any(
        not wanted.isdisjoint(list_stems(sentence))
        for sentence in _SENTENCE.findall(_plain(answer))
        if (is_question(sentence) or _LACK.search(sentence) or _REFUSAL.search(sentence))
        and not _COURTESY.search(sentence)
    )


def is_refusal(answer: str) -> bool:
    """Tell whether an answer is empty or a refusal."""
    plain = _plain(answer)
    return not plain.strip() or bool(_REFUSAL.search(plain) or _FOREIGN_REFUSAL.search(plain))


def classify_answer(answer: str) -> str:
    """Classify an answer without calls: ``silent``, ``declined``, ``asked`` or ``other``."""
    if not answer.strip():
        return "silent"
    if is_refusal(answer):
        return "declined"
    return "asked" if is_question(answer) else "other"


def declines(answer: str) -> bool:
    """Tell whether the model refuses the task on principle, not because a function is missing."""
    plain = _plain(answer)
    is_unwilling = bool(_DECLINE.search(plain))
    if _PRINCIPLE.search(plain):
        return is_unwilling or is_refusal(answer)
    return is_unwilling and not _MEANS.search(plain)


def classify_unparsed_calls(
    answer: str,
    functions: Collection[str],
    needed: Collection[str] = (),
    made: Collection[str] = (),
) -> str | None:
    """Classify the form of the calls in the text of an answer.

    Args:
        functions: Names of the offered functions.
        needed: Functions whose calls also count within a sentence.
        made: Functions that were called, which sentences may mention.

    Returns:
        ``in_text`` for valid calls, ``escaped`` for names with backslashes, ``bad_syntax`` for
        invalid calls, ``other_format`` for JSON or tags; None if there are no calls.
    """
    calls, rest = _read_prose(answer, needed)
    if is_question(rest):
        return None
    if form := classify_plain_calls(answer, functions):
        return form
    if any(str(call) not in made for call in calls):
        return "in_text"
    broken = (found for found in _CALL.finditer(rest) if found[1] in needed)
    return "bad_syntax" if any(_GIVEN.match(rest, found.end()) for found in broken) else None


def classify_plain_calls(answer: str, functions: Collection[str]) -> str | None:
    """Classify the form of the calls in a text; ignore calls inside a sentence."""
    text = answer[-_MAX_CHARS:]
    plain = _ESCAPED.sub(r"\1", text)
    if plain != text and classify_plain_calls(plain, functions) == "in_text":
        return "escaped"
    # Most answers name no function, and parsing takes longer than this search. Python reads some
    # other characters as ASCII letters.
    if text.isascii() and not _TAG.search(text) and not any(name in text for name in functions):
        return None
    lines = [read_call(line.strip()) for line in text.splitlines()[:_MAX_CALLS]]
    if any(isinstance(call, Call) and call.name in functions for call in lines):
        return "in_text"
    try:
        calls = parse_calls(text)
    except MalformedCall:
        return "bad_syntax" if any(f"{name}(" in text for name in functions) else None
    if any(call.name in functions for call in calls):
        return "in_text"
    if any(found[1] in functions for found in _CALL_LINE.finditer(text)):
        return "bad_syntax"
    named = any(f'"{name}"' in text or f"'{name}'" in text for name in functions)
    is_tagged = _TAG.search(text) or any(f"<{name}>" in text for name in functions)
    return "other_format" if is_tagged or (named and _OBJECT.search(text)) else None


def _read_prose(answer: str, functions: Collection[str]) -> tuple[list[Call], str]:
    text, rest, position = answer[-_MAX_CHARS:], [], 0
    calls: list[Call] = []
    starts = [found for found in _CALL.finditer(text) if found[1] in functions]
    for found in starts[:_MAX_CALLS]:
        end = find_closing_bracket(text, found.end() - 1)
        call = read_call(text[found.start(1) : end + 1]) if end is not None else None
        if end is not None and isinstance(call, Call) and found.start() >= position:
            calls.append(call)
            rest.append(text[position : found.start()])
            position = end + 1
    return calls, "".join([*rest, text[position:]])


def _plain(answer: str) -> str:
    return answer[-_MAX_CHARS:].translate(_PLAIN)
