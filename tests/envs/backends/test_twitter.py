from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs.backends.twitter import TwitterAPI
from envs.calls import Call
from envs.errors import AccessDenied, ConfigError, InvalidArgument, NotFound, Refused
from envs.session import Session
from extensions.contract.contract import refuse, state, succeed

FIRST = {"id": 1, "username": "ann", "content": "Hello #World", "tags": ["#World"], "mentions": []}
SECOND = {"id": 7, "username": "bob", "content": "Bye", "tags": [], "mentions": ["@ann"]}
CONFIG = {
    "username": "ann",
    "password": "pw",
    "authenticated": True,
    "tweets": {"1": FIRST, "7": SECOND},
    "comments": {"1": [{"username": "bob", "content": "Old"}]},
    "retweets": {"ann": [7]},
    "following_list": ["bob", "eve", "bob"],
    "tweet_counter": 8,
}
LOADED = {**CONFIG, "tweets": {1: FIRST, 7: SECOND}}


def session(**config):
    return Session.load(["TwitterAPI"], {"TwitterAPI": {**CONFIG, **config}}, tolerant=True)


def test_loading():
    assert state(session()) == LOADED
    assert state(Session.load(["TwitterAPI"], {})) == {
        "username": "john",
        "password": "john123",
        "authenticated": False,
        "tweets": {},
        "comments": {},
        "retweets": {},
        "following_list": ["alice", "bob"],
        "tweet_counter": 0,
    }


def test_tweet_ids_become_integers_and_the_last_of_two_wins():
    live = session(tweets={"01": FIRST, "1": SECOND})
    assert state(live)["tweets"] == {1: SECOND}


def test_a_tweet_id_that_is_no_number_cannot_be_loaded():
    with pytest.raises(ConfigError, match=r"\$\.TwitterAPI"):
        session(tweets={"first": FIRST})


def test_login():
    live = session(authenticated=False)
    assert succeed(live, "posting_get_login_status") == {"login_status": False}
    for user, password in (("ann", "no"), ("bob", "pw"), ("", "")):
        failed = succeed(live, "authenticate_twitter", user, password)
        assert failed == {"authentication_status": False}
    done = succeed(live, "authenticate_twitter", "ann", "pw", authenticated=True)
    assert done == {"authentication_status": True}
    assert succeed(live, "posting_get_login_status") == {"login_status": True}


def test_a_wrong_password_does_not_log_out():
    live = session()
    assert succeed(live, "authenticate_twitter", "ann", "no") == {"authentication_status": False}
    assert succeed(live, "posting_get_login_status") == {"login_status": True}


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("post_tweet", ("Hi",)),
        ("retweet", (1,)),
        ("comment", (1, "Hi")),
        ("follow_user", ("zoe",)),
        ("unfollow_user", ("bob",)),
        ("list_all_following", ()),
    ],
)
def test_what_needs_a_login(name, args):
    live = session(authenticated=False)
    refuse(live, AccessDenied, "Log in as ann with authenticate_twitter", name, *args)


@pytest.mark.parametrize(
    "name", ["retweet", "get_tweet", "get_tweet_comments", "comment", "mention"]
)
@pytest.mark.parametrize("tweet_id", [2, -1, "1", None])
def test_an_unknown_tweet(name, tweet_id):
    rest = {"comment": ("Hi",), "mention": (["@a"],)}.get(name, ())
    message = f"no tweet with the id {tweet_id!r}. There are: 1, 7."
    refuse(session(), NotFound, message, name, tweet_id, *rest)


def test_an_unknown_tweet_among_none_and_among_many():
    refuse(session(tweets={}), NotFound, "There are: none.", "get_tweet", 1)
    live = session(tweets={str(number): FIRST for number in range(100)})
    refuse(live, NotFound, "The latest 20: 80, 81,", "get_tweet", 100)


def test_post():
    live = session()
    tweet = {"id": 8, "username": "ann", "content": "Hi", "tags": ["#a"], "mentions": ["@b"]}
    tweets = {1: FIRST, 7: SECOND, 8: tweet}
    posted = succeed(live, "post_tweet", "Hi", ["#a"], ["@b"], tweets=tweets, tweet_counter=9)
    assert posted == tweet
    assert list(posted) == ["id", "username", "content", "tags", "mentions"]
    assert live.call(Call("post_tweet", ("Hi",))).text == (
        '{"id": 9, "username": "ann", "content": "Hi", "tags": [], "mentions": []}'
    )


def test_a_post_under_a_taken_id_replaces_the_tweet():
    live = session(tweet_counter=7)
    posted = live.call(Call("post_tweet", ("New",))).value
    assert state(live)["tweets"] == {1: FIRST, 7: posted}


def test_mentions_in_one_tweet_do_not_show_in_another():
    live = session()
    for _ in range(2):
        live.call(Call("post_tweet", ("Hi",)))
    live.call(Call("mention", (8, ["@b"])))
    live.call(Call("post_tweet", ("Hi",)))
    mentions = [live.call(Call("get_tweet", (number,))).value["mentions"] for number in (8, 9, 10)]
    assert mentions == [["@b"], [], []]


def test_a_mention_does_not_touch_the_argument_of_the_post():
    live, mine = session(), ["@a"]
    live.call(Call("post_tweet", ("Hi", [], mine)))
    live.call(Call("mention", (8, ["@b"])))
    assert mine == ["@a"]


@pytest.mark.parametrize("authenticated", [True, False])
def test_mention_needs_no_login(authenticated):
    live = session(authenticated=authenticated)
    tweets = {1: FIRST, 7: {**SECOND, "mentions": ["@ann", "@ann", "@b"]}}
    done = succeed(live, "mention", 7, ["@ann", "@b"], tweets=tweets)
    assert done == {"mention_status": "Users mentioned successfully"}


def test_a_mention_of_a_text_is_taken_letter_by_letter():
    live = session()
    tweets = {1: {**FIRST, "mentions": ["a", "b"]}, 7: SECOND}
    succeed(live, "mention", 1, "ab", tweets=tweets)
    refuse(live, InvalidArgument, "mentioned_usernames = 5", "mention", 1, 5)


def test_retweet():
    live = session()
    assert succeed(live, "retweet", 7) == {"retweet_status": "Already retweeted"}
    assert succeed(live, "retweet", 1, retweets={"ann": [7, 1]}) == {
        "retweet_status": "Successfully retweeted"
    }
    live = session(retweets={"bob": [1]})
    succeed(live, "retweet", 1, retweets={"bob": [1], "ann": [1]})


def test_a_retweet_that_was_there_before_the_tweet():
    live = session(retweets={"ann": [8]})
    live.call(Call("post_tweet", ("Hi",)))
    assert succeed(live, "retweet", 8) == {"retweet_status": "Already retweeted"}


def test_comments():
    live = session()
    # Those of the config have text for an id, so no tweet shows them.
    assert succeed(live, "get_tweet_comments", 1) == []
    mine = [{"username": "ann", "content": "One"}, {"username": "ann", "content": "Two"}]
    old = CONFIG["comments"]
    done = succeed(live, "comment", 1, "One", comments={**old, 1: mine[:1]})
    assert done == {"comment_status": "Comment added successfully"}
    succeed(live, "comment", 1, "Two", comments={**old, 1: mine})
    assert succeed(live, "get_tweet_comments", 1) == mine
    assert live.call(Call("get_tweet_comments", (1,))).text == str(mine)


def test_following():
    live = session()
    assert succeed(live, "list_all_following") == {"following_list": ["bob", "eve", "bob"]}
    assert succeed(live, "follow_user", "eve") == {"follow_status": False}
    following = ["bob", "eve", "bob", "Eve"]
    assert succeed(live, "follow_user", "Eve", following_list=following) == {"follow_status": True}
    assert succeed(live, "unfollow_user", "zoe") == {"unfollow_status": False}
    # Only the first entry of a user goes.
    following = ["eve", "bob", "Eve"]
    done = succeed(live, "unfollow_user", "bob", following_list=following)
    assert done == {"unfollow_status": True}


def test_a_list_that_was_shown_is_not_changed_later():
    live = session()
    shown = live.call(Call("list_all_following"))
    live.call(Call("follow_user", ("zoe",)))
    assert shown.value == {"following_list": ["bob", "eve", "bob"]}


@pytest.mark.parametrize(
    ("tweet_id", "tweet"), [(1, FIRST), (7, SECOND), (1.0, FIRST), (True, FIRST)]
)
def test_get_a_tweet(tweet_id, tweet):
    assert succeed(session(authenticated=False), "get_tweet", tweet_id) == tweet


@pytest.mark.parametrize(("user", "tweets"), [("ann", [FIRST]), ("bob", [SECOND]), ("Ann", [])])
def test_tweets_of_a_user(user, tweets):
    live = session(authenticated=False)
    assert succeed(live, "get_user_tweets", user) == tweets
    assert live.call(Call("get_user_tweets", (user,))).text == str(tweets)


@pytest.mark.parametrize(
    ("keyword", "tweets"),
    [
        ("hello", [FIRST]),
        ("#WORLD", [FIRST]),
        ("world", [FIRST]),
        ("#wor", [FIRST]),
        ("", [FIRST, SECOND]),
        ("ann", []),
        ("e", [FIRST, SECOND]),
    ],
)
def test_search(keyword, tweets):
    assert succeed(session(authenticated=False), "search_tweets", keyword) == tweets


@pytest.mark.parametrize(
    ("keyword", "found"), [("#a", True), ("#A", True), ("a", False), ("#", False)]
)
def test_a_hashtag_is_found_only_as_a_whole(keyword, found):
    tweet = {**FIRST, "content": "", "tags": ["#A"]}
    assert bool(succeed(session(tweets={"1": tweet}), "search_tweets", keyword)) is found


@pytest.mark.parametrize(
    ("user", "counts"), [("ann", (1, 3, 1)), ("bob", (1, 0, 0)), ("zoe", (0, 0, 0))]
)
def test_stats(user, counts):
    keys = ("tweet_count", "following_count", "retweet_count")
    shown = succeed(session(authenticated=False), "get_user_stats", user)
    assert list(shown.items()) == list(zip(keys, counts, strict=True))


@pytest.mark.parametrize(
    ("missing", "name", "args"),
    [
        ("username", "get_user_tweets", ("ann",)),
        ("username", "get_user_stats", ("ann",)),
        ("content", "search_tweets", ("x",)),
        ("tags", "search_tweets", ("x",)),
        ("mentions", "mention", (1, ["@a"])),
    ],
)
def test_a_tweet_that_lacks_something(missing, name, args):
    tweet = {key: value for key, value in FIRST.items() if key != missing}
    refuse(session(tweets={"1": tweet}), Refused, f"The tweet 1 has no {missing}.", name, *args)


def test_tags_are_only_needed_where_the_text_does_not_match():
    live = session(tweets={"1": {"content": "x"}})
    assert succeed(live, "search_tweets", "X") == [{"content": "x"}]


@pytest.mark.parametrize(
    ("args", "name", "rest"),
    [
        ((5,), "search_tweets", ("x",)),
        (("Hi", None), "search_tweets", ("x",)),
        (("Hi", ["#a", 5]), "search_tweets", ("#a",)),
        (("Hi", [], None), "mention", (8, ["@a"])),
        (("Hi", [], ("@a",)), "mention", (8, ["@a"])),
        (("Hi", [], "@a"), "mention", (8, ["@a"])),
    ],
)
def test_odd_things_are_posted_as_they_are_but_not_digested(args, name, rest):
    live = session(tweets={})
    assert live.call(Call("post_tweet", args)).ok
    refuse(live, Refused, "8", name, *rest)


def test_an_evening_online():
    live = session(authenticated=False)
    refuse(live, AccessDenied, "authenticate_twitter", "post_tweet", "Hi")
    live.call(Call("authenticate_twitter", ("ann", "pw")))
    tweet_id = live.call(Call("post_tweet", ("Hi", ["#a"]))).value["id"]
    for name, *rest in (("retweet",), ("comment", "Me first"), ("mention", ["@bob"])):
        assert live.call(Call(name, (tweet_id, *rest))).ok
    assert live.call(Call("get_tweet", (tweet_id,))).value["mentions"] == ["@bob"]
    assert live.call(Call("get_user_stats", ("ann",))).value == {
        "tweet_count": 2,
        "following_count": 3,
        "retweet_count": 2,
    }


users = st.sampled_from(["ann", "bob", "Zoe"])
tweet_ids = st.integers(0, 12)
steps = st.lists(
    st.tuples(st.just("post_tweet"), st.sampled_from("ab"))
    | st.tuples(st.sampled_from(["retweet", "get_tweet"]), tweet_ids)
    | st.tuples(st.just("comment"), tweet_ids, st.sampled_from("ab"))
    | st.tuples(st.just("mention"), tweet_ids, st.lists(users, max_size=2))
    | st.tuples(st.sampled_from(["follow_user", "unfollow_user"]), users),
    max_size=25,
)


@given(steps)
def test_books_are_kept(steps):
    live = Session.load(["TwitterAPI"], {"TwitterAPI": {"authenticated": True}})
    posted, following = 0, ["alice", "bob"]
    for name, target, *rest in steps:
        result = live.call(Call(name, (target, *rest)))
        if name == "post_tweet":
            assert result.value["id"] == posted
            posted += 1
        elif name == "follow_user":
            assert result.value == {"follow_status": target not in following}
            following += [target] * result.value["follow_status"]
        elif name == "unfollow_user":
            assert result.value == {"unfollow_status": target in following}
            following = [user for user in following if user != target]
        else:
            assert result.ok is (target in range(posted))
    end = state(live)
    assert end["tweet_counter"] == posted
    assert list(end["tweets"]) == [tweet["id"] for tweet in end["tweets"].values()]
    assert end["following_list"] == following
    for tweet_ids in (end["comments"], *end["retweets"].values()):
        assert set(tweet_ids) <= set(end["tweets"])
        assert len(set(tweet_ids)) == len(tweet_ids)


@pytest.mark.parametrize(
    ("config", "problems"),
    [
        ({}, []),
        (CONFIG, []),
        ({"tweet": {}}, ["tweet: unknown key; did you mean tweets?"]),
        ({"authenticated": 1}, ["authenticated: input should be a valid boolean, got 1"]),
        ({"tweets": {"1": {**FIRST, "likes": 1}}}, ["tweets['1'].likes: unknown key; remove it"]),
        (
            {"tweets": {"1": {"id": 1, "username": "a", "content": "", "tags": [5]}}},
            [
                "tweets['1'].tags[0]: input should be a valid string, got 5",
                "tweets['1'].mentions: is missing",
            ],
        ),
        (
            {"retweets": {"ann": ["7"]}},
            ["retweets.ann[0]: input should be a valid integer, got '7'"],
        ),
        (
            {"tweets": {"01": FIRST}, "tweet_counter": 1},
            [
                "tweets['01'].id: 1 must equal the tweet's key 01",
                "tweets['01'].id: 1 must be below tweet_counter, 1",
            ],
        ),
        ({"comments": {"1": []}}, ["comments['1']: no tweet has the id 1"]),
        ({"retweets": {"ann": [7]}}, ["retweets['ann'][0]: no tweet has the id 7"]),
    ],
)
def test_config_check(config, problems):
    found = [str(problem) for problem in TwitterAPI.check_config(config)]
    assert found == [f"$.TwitterAPI.{problem}" for problem in problems]
