"""Generator of tweets, comments and followed accounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trajectories.generated_items.item_settings import ItemSettings
from trajectories.vocabulary import Vocabulary

FOLLOWED = "followed"
"""If ``ItemSettings.without`` contains this word, no followed accounts are added."""
_COMMENTS = 8
_MAX_COMMENTS = 2
_ENDINGS = ("daily", "archive", "club", "news", "official")


def fill(
    config: dict[str, Any], whole: Mapping[str, Any], vocabulary: Vocabulary, bulk: ItemSettings
) -> None:
    """Add comments, followed accounts, and tweets with lower ids than the existing tweets."""
    tweets = whole["tweets"]
    first = min((tweet["id"] for tweet in tweets.values()), default=whole["tweet_counter"])
    people = list(dict.fromkeys(tweet["username"] for tweet in tweets.values()))
    others = _make_accounts(
        [*people, *whole["following_list"]], vocabulary, bulk.count("following")
    )
    posting = [*people, *others[: 2 * len(people) + 1]]
    added = {
        str(number): {
            "id": number,
            "username": vocabulary.choice(posting),
            "content": vocabulary.remark("tweet"),
            "tags": [f"#{vocabulary.one('town')}"],
            "mentions": [],
        }
        for number in range(max(0, first - bulk.count("tweets")), first)
        if str(number) not in bulk.without
    }
    comments = {
        key: [*_make_comments(others, vocabulary, bulk), *whole["comments"].get(key, ())]
        for key in (tweets if bulk.lengthens else added)
    }
    config["tweets"] = {**added, **tweets}
    config["comments"] = comments if bulk.lengthens else {**whole["comments"], **comments}
    followed = () if FOLLOWED in bulk.without else others
    config["following_list"] = [*followed, *whole["following_list"]]


def _make_comments(
    others: Sequence[str], vocabulary: Vocabulary, bulk: ItemSettings
) -> Iterator[dict[str, str]]:
    count = (
        bulk.count("comments") // _COMMENTS
        if bulk.lengthens
        else vocabulary.number(0, _MAX_COMMENTS)
    )
    for _ in range(count):
        username = vocabulary.choice(others)
        yield {"username": username, "content": vocabulary.remark("comment")}


def _make_accounts(known: Sequence[str], vocabulary: Vocabulary, count: int) -> list[str]:
    near = [f"{name}_{ending}" for name in dict.fromkeys(known) for ending in _ENDINGS]
    near = [name for name in near if vocabulary.permits(name)]
    any_ones = [vocabulary.person().lower().replace(" ", "_") for _ in range(count)]
    return [name for name in dict.fromkeys([*near, *any_ones]) if name not in known][:count]
