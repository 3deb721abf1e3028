"""A social network with one account: tweets, comments, retweets and followed users.

Functions that post, comment, retweet or follow need a login; the other functions do not. Ids of new
tweets count up from ``tweet_counter``. Tweet ids are integers in the state, but strings in configs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from typing_extensions import TypedDict, override

from envs.backend import Backend, irreversible, reads, writes
from envs.errors import AccessDenied, NotFound, Refused

if TYPE_CHECKING:
    from envs.long_context import LongContextPack

_SHOWN_IDS = 20


class Tweet(TypedDict):
    """One tweet."""

    id: int
    username: str
    content: str
    tags: list[str]
    mentions: list[str]


class Comment(TypedDict):
    """One comment on a tweet."""

    username: str
    content: str


class TwitterConfig(TypedDict, total=False):
    """Initial config. The keys of retweets are user names."""

    username: str
    password: str
    authenticated: bool
    tweets: dict[str, Tweet]
    comments: dict[str, list[Comment]]
    retweets: dict[str, list[int]]
    following_list: list[str]
    tweet_counter: int


class TwitterAPI(Backend):
    """A social network with one account."""

    Config = TwitterConfig
    # These lists are sets: followed users, retweeted tweets, and the tags and mentions of a tweet.
    unordered = frozenset({"following_list", "retweets", "tags", "mentions"})
    untrusted = frozenset({"tweets.*.content", "comments.*.*.content"})
    visible = frozenset({"follow_user", "unfollow_user"})

    username: str = "john"
    password: str = "john123"
    authenticated: bool = False
    tweets: Mapping[int, Mapping[str, Any]] = {}
    comments: Mapping[int | str, Sequence[Mapping[str, Any]]] = {}
    retweets: Mapping[str, Sequence[int]] = {}
    following_list: Sequence[str] = ["alice", "bob"]
    tweet_counter: int = 0

    @override
    def _load(self, config: Mapping[str, Any], pack: LongContextPack | None) -> None:
        self.tweets = {int(tweet_id): tweet for tweet_id, tweet in self.tweets.items()}

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Check tweet ids in tweets, comments and retweets."""
        counter = config.get("tweet_counter", cls.tweet_counter)
        tweets = config.get("tweets", {})
        for key, tweet in tweets.items():
            path = f".tweets[{key!r}].id"
            if key != str(tweet["id"]):
                yield path, f"{tweet['id']} must equal the tweet's key {key}"
            if tweet["id"] >= counter:
                yield path, f"{tweet['id']} must be below tweet_counter, {counter}"
        for key in config.get("comments", {}):
            if key not in tweets:
                yield f".comments[{key!r}]", f"no tweet has the id {key}"
        for name, tweet_ids in config.get("retweets", {}).items():
            for index, tweet_id in enumerate(tweet_ids):
                if str(tweet_id) not in tweets:
                    yield f".retweets[{name!r}][{index}]", f"no tweet has the id {tweet_id}"

    @writes
    def authenticate_twitter(self, username: str, password: str) -> dict[str, bool]:
        """Log in to the account; a wrong password leaves the login as it was.

        Args:
            username: User name of the account.
            password: Password of the account.

        Returns:
            authentication_status: Whether user name and password were right.

        Examples:
            >>> authenticate_twitter(username='harbor_museum', password='gl4ss-h0use')
            {"authentication_status": true}
        """
        if username != self.username or password != self.password:
            return {"authentication_status": False}
        self.authenticated = True
        return {"authentication_status": True}

    @reads
    def posting_get_login_status(self) -> dict[str, bool]:
        """Tell whether the account is logged in.

        Returns:
            login_status: Whether the account is logged in.

        Examples:
            >>> posting_get_login_status()
            {"login_status": true}
        """
        return {"login_status": bool(self.authenticated)}

    @irreversible
    @writes
    def post_tweet(
        self, content: str, tags: Sequence[str] = [], mentions: Sequence[str] = []
    ) -> Mapping[str, Any]:
        """Post a tweet from the account.

        Args:
            content: Text of the tweet.
            tags: Hashtags of the tweet, each with its ``#``.
            mentions: User names mentioned in the tweet, each with its ``@``.

        Returns:
            The new tweet: id, username, content, tags, mentions.

        Examples:
            >>> post_tweet(content='We open at 9.', tags=['#Open'])
            {"id": 14, "username": "harbor_museum", "content": "We open at 9.", "tags": ...
        """
        self._require_login()
        tweet = {
            "id": self.tweet_counter,
            "username": self.username,
            "content": content,
            "tags": tags,
            "mentions": mentions,
        }
        self.tweets = {**self.tweets, self.tweet_counter: tweet}
        self.tweet_counter += 1
        return tweet

    @irreversible
    @writes
    def retweet(self, tweet_id: int) -> dict[str, str]:
        """Retweet a tweet from the account.

        Args:
            tweet_id: Id of the tweet.

        Returns:
            retweet_status: What happened; a second retweet of the same tweet changes nothing.

        Examples:
            >>> retweet(tweet_id=12)
            {"retweet_status": "Successfully retweeted"}
            >>> retweet(tweet_id=99)
            {"error": "There is no tweet with the id 99. There are: 10, 11, 12, 13."}
        """
        self._require_login()
        self._find(tweet_id)
        mine = self.retweets.get(self.username, [])
        if tweet_id in mine:
            return {"retweet_status": "Already retweeted"}
        self.retweets = {**self.retweets, self.username: [*mine, tweet_id]}
        return {"retweet_status": "Successfully retweeted"}

    @irreversible
    @writes
    def comment(self, tweet_id: int, comment_content: str) -> dict[str, str]:
        """Comment on a tweet from the account.

        Args:
            tweet_id: Id of the tweet.
            comment_content: Text of the comment.

        Returns:
            comment_status: Confirmation.

        Examples:
            >>> comment(tweet_id=12, comment_content='The harbour.')
            {"comment_status": "Comment added successfully"}
            >>> comment(tweet_id=99, comment_content='The harbour.')
            {"error": "There is no tweet with the id 99. There are: 10, 11, 12, 13."}
        """
        self._require_login()
        self._find(tweet_id)
        comment = {"username": self.username, "content": comment_content}
        earlier = self.comments.get(tweet_id, [])
        self.comments = {**self.comments, tweet_id: [*earlier, comment]}
        return {"comment_status": "Comment added successfully"}

    @irreversible
    @writes
    def mention(self, tweet_id: int, mentioned_usernames: list[str]) -> dict[str, str]:
        """Mention users in a tweet that is posted already; no login is needed.

        Args:
            tweet_id: Id of the tweet.
            mentioned_usernames: User names to add to the tweet's mentions.

        Returns:
            mention_status: Confirmation.

        Examples:
            >>> mention(tweet_id=13, mentioned_usernames=['tide_archive'])
            {"mention_status": "Users mentioned successfully"}
            >>> mention(tweet_id=99, mentioned_usernames=['tide_archive'])
            {"error": "There is no tweet with the id 99. There are: 10, 11, 12, 13."}
        """
        tweet = self._find(tweet_id)
        mentions = _member(tweet, "mentions")
        if not isinstance(mentions, list):
            raise Refused(
                f"Nobody can be mentioned: the mentions of tweet {tweet_id} are not a list."
            )
        tweet = {**tweet, "mentions": mentions + list(mentioned_usernames)}
        self.tweets = {**self.tweets, tweet_id: tweet}
        return {"mention_status": "Users mentioned successfully"}

    @writes
    def follow_user(self, username_to_follow: str) -> dict[str, bool]:
        """Follow a user.

        Args:
            username_to_follow: Name of the user; capitalisation counts.

        Returns:
            follow_status: False if the account follows this user already.

        Examples:
            >>> follow_user(username_to_follow='lens_club')
            {"follow_status": true}
        """
        self._require_login()
        if username_to_follow in self.following_list:
            return {"follow_status": False}
        self.following_list = [*self.following_list, username_to_follow]
        return {"follow_status": True}

    @reads
    def list_all_following(self) -> dict[str, Sequence[str]]:
        """List the users that the account follows.

        Returns:
            following_list: User names, in the order in which they were followed.

        Examples:
            >>> list_all_following()
            {"following_list": ["tide_archive", "city_of_lights", "tide_archive_fan"]}
        """
        self._require_login()
        return {"following_list": self.following_list}

    @writes
    def unfollow_user(self, username_to_unfollow: str) -> dict[str, bool]:
        """Stop following a user.

        Args:
            username_to_unfollow: Name of the user; capitalisation counts.

        Returns:
            unfollow_status: False if the account does not follow this user.

        Examples:
            >>> unfollow_user(username_to_unfollow='tide_archive')
            {"unfollow_status": true}
        """
        self._require_login()
        following = self.following_list
        if username_to_unfollow not in following:
            return {"unfollow_status": False}
        index = following.index(username_to_unfollow)
        self.following_list = [*following[:index], *following[index + 1 :]]
        return {"unfollow_status": True}

    @reads
    def get_tweet(self, tweet_id: int) -> Mapping[str, Any]:
        """Show one tweet.

        Args:
            tweet_id: Id of the tweet.

        Returns:
            The tweet: id, username, content, tags, mentions.

        Examples:
            >>> get_tweet(tweet_id=10)
            {"id": 10, "username": "harbor_museum", "content": "Closed on Monday for the spring ...
            >>> get_tweet(tweet_id=99)
            {"error": "There is no tweet with the id 99. There are: 10, 11, 12, 13."}
        """
        return self._find(tweet_id)

    @reads
    def get_user_tweets(self, username: str) -> list[Mapping[str, Any]]:
        """List the tweets that a user has posted.

        Args:
            username: Name of the user; capitalisation counts.

        Returns:
            The tweets, oldest first.

        Examples:
            >>> get_user_tweets(username='tide_archive')
            [{'id': 11, 'username': 'tide_archive', 'content': 'Our glass negatives from 1904 ...
        """
        return [tweet for tweet in self.tweets.values() if _member(tweet, "username") == username]

    @reads
    def search_tweets(self, keyword: str) -> list[Mapping[str, Any]]:
        """Search all tweets for a text or a hashtag, in any capitalisation.

        Args:
            keyword: Part of a tweet's text, or a whole hashtag with its ``#``; every tweet matches
                if it is empty.

        Returns:
            The tweets found, oldest first.

        Examples:
            >>> search_tweets(keyword='negatives')
            [{'id': 11, 'username': 'tide_archive', 'content': 'Our glass negatives from 1904 ...
        """
        return [tweet for tweet in self.tweets.values() if _matches(tweet, keyword.lower())]

    @reads
    def get_tweet_comments(self, tweet_id: int) -> Sequence[Mapping[str, Any]]:
        """List the comments on a tweet.

        Args:
            tweet_id: Id of the tweet.

        Returns:
            The comments, oldest first, each with username and content.

        Examples:
            >>> get_tweet_comments(tweet_id=10)
            []
            >>> get_tweet_comments(tweet_id=99)
            {"error": "There is no tweet with the id 99. There are: 10, 11, 12, 13."}
        """
        self._find(tweet_id)
        return self.comments.get(tweet_id, [])

    @reads
    def get_user_stats(self, username: str) -> dict[str, int]:
        """Count what a user has done.

        Args:
            username: Name of the user; capitalisation counts.

        Returns:
            tweet_count: Number of tweets of the user.
            following_count: Number of users followed; 0 for all but the account's own user.
            retweet_count: Number of retweets by the user.

        Examples:
            >>> get_user_stats(username='tide_archive')
            {"tweet_count": 1, "following_count": 0, "retweet_count": 0}
        """
        return {
            "tweet_count": len(self.get_user_tweets(username)),
            "following_count": len(self.following_list) if username == self.username else 0,
            "retweet_count": len(self.retweets.get(username, [])),
        }

    def _require_login(self) -> None:
        if not self.authenticated:
            raise AccessDenied(
                f"Nobody is logged in. Log in as {self.username} with authenticate_twitter first."
            )

    def _find(self, tweet_id: int) -> Mapping[str, Any]:
        if tweet_id in self.tweets:
            return self.tweets[tweet_id]
        ids = list(map(str, self.tweets))
        known = ", ".join(ids[-_SHOWN_IDS:]) if ids else "none"
        latest = f"The latest {_SHOWN_IDS}" if len(ids) > _SHOWN_IDS else "There are"
        raise NotFound(f"There is no tweet with the id {tweet_id!r}. {latest}: {known}.")


def _member(tweet: Mapping[str, Any], name: str) -> Any:
    if name not in tweet:
        raise Refused(f"The tweet {tweet.get('id')!r} has no {name}.", KeyError(name))
    return tweet[name]


def _matches(tweet: Mapping[str, Any], wanted: str) -> bool:
    try:
        if wanted in _member(tweet, "content").lower():
            return True
        return wanted in [tag.lower() for tag in _member(tweet, "tags")]
    except (AttributeError, TypeError):
        raise Refused(
            f"The tweet {tweet.get('id')!r} has content or tags that are not text, "
            "so tweets cannot be searched."
        ) from None
