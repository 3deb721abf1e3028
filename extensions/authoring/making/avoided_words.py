"""Words of a scenario that generated items must avoid."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from string import Formatter
from typing import Any

from checkers.answer_text.dates import list_days
from checkers.known_values import list_literals
from envs.backends.travel_facts import AIRPORTS, CITIES
from extensions.authoring.making.maker_helpers import calls
from trajectories.replay_queries import list_messages
from trajectories.schema import Trajectory
from trajectories.vocabulary import (
    POOLS,
    PhraseTemplates,
    load_phrases,
    split_words,
)

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LONG = 4
"""Minimum length of long words. Two long words clash if one begins with the other."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_WHOLE = ("sort", "tail", "wc", "diff", "rmdir")
"""Functions whose results depend on whole files or directories."""


def find_meant_words(
    base: Trajectory, said: Sequence[str], phrases: PhraseTemplates | None = None
) -> tuple[str, ...]:
    """Return the words that generated items must avoid.

    Generated items must avoid:

    - Words that resemble words of the user or of the ground truth.
    - Airports and days that the user or the ground truth mentions.
    - Numbers in ``said``.
    - Names of files that the ground truth reads as a whole.

    For a long context (``phrases`` is None), the result also contains words of the scenario.
    """
    is_long = phrases is None
    if phrases is None:
        _, phrases = load_phrases()
    names = _names(base)
    spoken = "\n".join([*list_messages(base.turns), *said])
    truth = [call for turn in base.turns for call in calls(turn)]
    literal = [str(value) for call in truth for value in list_literals(call.kwargs)]
    alone = spoken
    for name in names:
        alone = re.sub(re.escape(name), " ", alone, flags=re.IGNORECASE)
    heard = {*split_words(alone), *(word for text in literal for word in split_words(text))}
    named = [word for name in names for word in split_words(name) if word not in split_words(alone)]
    found = {*(_list_clashing_words(heard, names, phrases) - {*named})}
    airports = {CITIES[city] for city in CITIES if city.casefold() in spoken.casefold()}
    airports |= {code for code in AIRPORTS if code in {*re.findall(r"\w+", spoken), *literal}}
    found |= {code.casefold() for code in airports}
    found |= {text for text in literal if _DAY.fullmatch(text)}
    found |= {*_DAY.findall(spoken)}
    found |= {f"{day.month:02}-{day.day:02}" for day in list_days(spoken) if day.year is None}
    found |= {*NUMBER.findall("\n".join(said))}
    if is_long:
        own = {word for text in _list_texts(base.config) for word in split_words(text)}
        found |= _list_alike(own - _list_phrase_words(phrases), heard)
    whole = {str(v) for call in truth if call.name in _WHOLE for v in call.kwargs.values()}
    moved = [call.kwargs for call in truth if call.name in ("cp", "mv")]
    found |= whole | {move["source"] for move in moved if move["destination"] in whole}
    return tuple(sorted(found))


def _list_clashing_words(
    spoken: Collection[str], names: Collection[str], phrases: PhraseTemplates
) -> frozenset[str]:
    """Return the words that resemble a word in ``spoken``.

    Words of generated items and words of ``names`` are compared.
    """
    ours = {
        word for pool in (*POOLS.values(), names) for text in pool for word in split_words(text)
    }
    return _list_alike(ours | _list_phrase_words(phrases), spoken)


def find_replaced_files(base: Trajectory) -> set[str]:
    """Return the existing files that the ground truth overwrites or removes.

    The builder adds no lines to these files, because the ground truth would delete the added
    lines.
    """
    there = {*_list_files(base.config.get("GorillaFileSystem", {}).get("root", {}))}
    truth = [call for turn in base.turns for call in calls(turn)]
    written = {call.kwargs.get("file_name") for call in truth if call.name in ("echo", "rm")}
    return there & {name for name in written if name}


def _list_texts(config: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for ticket in config.get("TicketAPI", {}).get("ticket_queue", ()):
        yield f"{ticket.get('title')} {ticket.get('description')}"
    for tweet in config.get("TwitterAPI", {}).get("tweets", {}).values():
        yield tweet["content"]
    for message in config.get("MessageAPI", {}).get("inbox", ()):
        yield from map(str, message.values())


def _list_files(contents: Mapping[str, Any]) -> Iterator[str]:
    for name, node in contents.items():
        if node["type"] == "directory":
            yield from _list_files(node["contents"])
        else:
            yield name


def _names(base: Trajectory) -> list[str]:
    """Return the names of the people and accounts in a scenario, longest first."""
    get = base.config.get
    people = [*get("MessageAPI", {}).get("user_map", {})]
    cards = get("TravelAPI", {}).get("credit_card_list", {}).values()
    people += [card.get("cardholder_name", "") for card in cards]
    tweets = get("TwitterAPI", {}).get("tweets", {}).values()
    people += [tweet["username"] for tweet in tweets]
    people += get("TwitterAPI", {}).get("following_list", ())
    # Longest first, so that no name matches a part of another.
    return sorted({name for name in people if name}, key=lambda name: (-len(name), name))


def _list_alike(words: Collection[str], spoken: Collection[str]) -> frozenset[str]:
    return frozenset(word for word in words if any(_alike(word, said) for said in spoken))


def _list_phrase_words(phrases: PhraseTemplates) -> frozenset[str]:
    return frozenset(_fixed_words(phrases))


def _fixed_words(phrases: PhraseTemplates) -> Iterator[str]:
    said = chain.from_iterable(phrases.remarks.values())
    matters = chain.from_iterable(phrases.matters)
    for text in chain(phrases.lines, phrases.subjects, said, matters, phrases.files):
        for fixed, *_ in Formatter().parse(text):
            yield from (word for word in split_words(fixed) if len(word) > _LONG)


def _alike(word: str, said: str) -> bool:
    if min(len(word), len(said)) < _LONG:
        return word == said
    return word.startswith(said) or said.startswith(word)
