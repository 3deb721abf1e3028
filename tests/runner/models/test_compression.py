"""Long results made short: within the limit, at no half of an escape, with a mark."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs.calls import parse_call
from runner.data import choose
from runner.models.compression import Compression, observing
from runner.rollouts.env import RolloutEnv
from tests.runner.commands.running import run
from trajectories.errors import DataError
from trajectories.prepare import load_session
from trajectories.schema import Category

WAYS = ("cut", "ends", "keys")


@pytest.mark.parametrize("way", WAYS)
@given(text=st.text(max_size=2000), limit=st.integers(64, 200))
def test_the_limit_is_kept_and_what_is_within_is_the_same(way: str, text: str, limit: int) -> None:
    one = Compression.named(f"{limit},{way}")
    for whole in (text, json.dumps(text), json.dumps({"a": [text, {"b": text}]}), text * 5):
        shown = one.shown(whole)
        if one.tokens(whole) <= limit:
            assert shown is whole
        else:
            assert one.tokens(shown) <= limit


@given(st.text(alphabet='ab"\\\n\U0001f600é', min_size=400, max_size=1200))
def test_no_escape_is_cut_in_half(text: str) -> None:
    whole = json.dumps(text)
    for way in ("cut", "ends"):
        shown = Compression.named(f"64,{way}").shown(whole)
        head, _, rest = shown.partition(" ... [")
        json.loads(f'{head}"')
        if way == "ends":
            json.loads(f'"{rest.partition(" ... ")[2]}')


def test_a_mark_says_how_much_is_left_out() -> None:
    text = "".join(f"{number:06d} " for number in range(1000))
    assert "tokens left out" in Compression.named("100,cut").shown(text)
    ends = Compression.named("100").shown(text)
    assert ends.startswith("000000")
    assert ends.endswith("000999 ")
    assert "tokens left out" in ends


def test_texts_inside_are_made_short_before_the_whole() -> None:
    value = [{"id": number, "text": "x" * 900} for number in range(20)]
    for whole in (json.dumps(value), str(value)):
        shown = Compression.named("1024").shown(whole)
        assert all(f"{number}," in shown for number in range(20))
    assert len(json.loads(Compression.named("1024").shown(json.dumps(value)))) == 20


@pytest.mark.parametrize(
    "text", ["63", "x", "", "-5", "1024,", "1024,best", "1024,ends,keys", "1e3", "9" * 20]
)
def test_bad_limits_are_refused(text: str) -> None:
    with pytest.raises(DataError, match="--compress"):
        Compression.named(text)


def test_only_what_is_shown_changes() -> None:
    data = choose.dataset(None, [Category.LONG_CONTEXT], print)
    trajectory = data.trajectories["long_context_twitter_ticket_choir_tour"]
    session = load_session(data, trajectory)
    call = parse_call("get_user_tickets()")
    session.call(parse_call("ticket_login(username='choir.office', password='')"))
    result = session.call(call)
    observe = observing(None, Compression.named("64"))
    assert observe is not None
    before = result.text
    shown = observe(session, call, result)
    assert result.text == before
    assert shown is None or len(shown) <= 256
    env = RolloutEnv(trajectory, dataset=data, compress="64,ends")
    env.reset()
    assert max(len(text) for text in env.step([call]).info["results"]) <= 256


def test_the_figures_of_our_long_contexts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("compress", "--by", "cut,ends,keys", "--json") == 0
    cut, ends, keys = json.loads(capsys.readouterr().out)
    for way in (ends, keys):
        assert way["kept"] <= 0.4 * way["tokens"]
        assert way["lost"] < cut["lost"] / 5
    assert keys["lost"] <= 0.01 * keys["values"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--tokens", "10"), "is no number of tokens from 64"),
        (("--by", "best"), "is none of cut, ends, keys"),
        (("--category", "simple_python"), "have calls, and no results"),
    ],
)
def test_bad_input_of_the_command(words: tuple[str, ...], why: str) -> None:
    with pytest.raises(DataError, match=why):
        run("compress", *words)
