"""Long results made short: within the limit, at no half of an escape, with a mark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs.calls import parse_call
from envs.errors import DataError
from extensions.compression import compression
from extensions.compression.compression import Compression, compress_observations, load_kept_members
from extensions.compression.savings import measure_saving
from extensions.compression.shortening import shorten
from runner.data import dataset_choice
from runner.rollouts.rollout_env import RolloutEnv
from tests.runner.commands.running import run
from tests.source import ROOT
from trajectories.dataset import load_embedded
from trajectories.prepared_trajectory import load_session
from trajectories.schema import Category, Message, Trajectory, Turn

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
    data = dataset_choice.open_dataset(None, [Category.LONG_CONTEXT], print)
    trajectory = data.trajectories["long_context_twitter_ticket_choir_tour"]
    session = load_session(data, trajectory)
    call = parse_call("get_user_tickets()")
    session.call(parse_call("ticket_login(username='choir.office', password='')"))
    result = session.call(call)
    observe = compress_observations(None, Compression.named("64"))
    assert observe is not None
    before = result.text
    shown = observe(session, call, result, "")
    assert result.text == before
    assert shown is None or len(shown) <= 256
    env = RolloutEnv(trajectory, dataset=data, extensions={"compression": {"compress": "64,ends"}})
    env.reset()
    assert max(len(text) for text in env.step([call]).info["results"]) <= 256


@pytest.mark.slow
def test_the_figures_of_our_long_contexts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("compress", "--by", "cut,ends,keys", "--json") == 0
    found = {each["way"]: each for each in json.loads(capsys.readouterr().out)}
    page = (ROOT / "docs" / "retrieval.md").read_text(encoding="utf-8")
    for each in found.values():
        saved, lost = 1 - each["kept"] / each["tokens"], each["lost"] / each["values"]
        assert (
            f"| `{each['way']}` | {saved:.1%} | {each['lost']} of {each['values']} ({lost:.1%}) "
            f"| {each['losing']} |"
        ) in page
        assert f"{each['results']:,} results. Of these results, {each['over']} are longer" in page
    for way in ("ends", "keys"):
        assert found[way]["kept"] <= 0.4 * found[way]["tokens"]
        assert 0.2 * found[way]["values"] < found[way]["lost"] < found["cut"]["lost"]


@pytest.mark.slow
def test_the_data_card_says_where_needed_values_are(capsys: pytest.CaptureFixture[str]) -> None:
    page = " ".join((ROOT / "trajectories" / "README.md").read_text(encoding="utf-8").split())
    assert run("compress", "--by", "ends", "--tokens", "500", "--json") == 0
    [ends] = json.loads(capsys.readouterr().out)
    dropped = f"{1 - ends['kept'] / ends['tokens']:.1%} of the tokens are dropped"
    assert f"{dropped}, and {ends['lost']} of the {ends['values']} needed values" in page
    categories = "long_context,composite"
    assert run("compress", "--category", categories, "--by", "cut", "--json") == 0
    [cut] = json.loads(capsys.readouterr().out)
    middle, all_of = sum(cut["tenths"][1:-1]), sum(cut["tenths"])
    assert f"counts {all_of} needed values" in page
    assert f"Of these values, {middle} ({middle / all_of:.0%}) are in the middle 80%" in page


@pytest.mark.slow
@pytest.mark.parametrize("category", [Category.LONG_CONTEXT, Category.COMPOSITE])
def test_needed_values_of_our_long_contexts_lie_all_over_the_results(category: Category) -> None:
    data = load_embedded([category])
    found = measure_saving(data, data.trajectories.values(), Compression.named("1024,cut"))
    tenths = [found.tenths.count(tenth) for tenth in range(10)]
    assert min(tenths) > 0.03 * sum(tenths)
    assert sum(tenths[1:-1]) > 0.5 * sum(tenths)
    page = (ROOT / "docs" / "retrieval.md").read_text(encoding="utf-8")
    assert f"| `{category}` | {' | '.join(map(str, tenths))} |" in page


def test_a_value_counts_in_the_tenth_of_a_long_result_that_shows_it() -> None:
    users = {f"User {number:03}": f"USR{number}" for number in range(100, 300)}
    config = {
        "MessageAPI": {"user_map": users, "user_count": 900, "inbox": [], "current_user": "USR100"}
    }
    truth = ("list_users()", "get_user_id(user='User 171')", "get_user_id(user='User 299')")
    asked = Turn((Message("user", "Who is who?"),), truth)
    entry = Trajectory("base_x", Category.BASE, ("MessageAPI",), config, (asked,))
    for limit, tenths in (("64", (3, 9)), ("9999", ())):
        found = measure_saving(load_embedded([]), [entry], Compression.named(limit))
        assert (found.values, found.tenths) == (2, tenths)


def test_objects_in_a_list_become_rows_and_the_largest_members_go() -> None:
    tickets = [
        {"id": 100 + n, "title": f"Lamp {n}", "text": f"{n}" * 40, "by": "ada"} for n in range(60)
    ]
    rows = json.loads(Compression.named("1024").shown(json.dumps(tickets)))
    assert rows["columns"] == ["id", "title", "text"]
    assert rows["in all rows"] == {"by": "ada"}
    assert len(rows["rows"]) == 60
    fewer = json.loads(Compression.named("400").shown(json.dumps(tickets)))
    assert fewer["left out"] == ["text"]
    assert fewer["rows"][59] == [159, "Lamp 59"]
    assert [each.partition(" ")[0] for each in shorten("words only")] == []


def test_every_listed_member_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = {path.stem: load_kept_members(path.stem) for path in compression.KEYS.glob("*.json")}
    assert {"TicketAPI", "TwitterAPI"} <= {*found}
    text = json.dumps([{"id": 1, "content": "x", "username": "a", "tags": []}])
    keep = found["TwitterAPI"]["get_user_tweets"]
    short = json.loads(compression._select(text, keep))
    assert short == [{"id": 1, "content": "x", "username": "a"}]
    # What leads nowhere keeps all.
    assert compression._select('{"a": 1}', keep) == '{"a": 1}'
    monkeypatch.setattr(compression, "KEYS", tmp_path)
    (tmp_path / "MathAPI.json").write_text('{"ad": {"keep": ["result"]}}')
    load_kept_members.cache_clear()
    with pytest.raises(DataError, match="'ad' is not a function of MathAPI; did you mean add"):
        load_kept_members("MathAPI")


def test_a_real_tokenizer_counts(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    words = tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]")
    made = tokenizers.Tokenizer(words)
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    path = tmp_path / "tokenizer.json"
    made.save(str(path))
    one = Compression.named("64,cut", str(path))
    assert one.tokens("one two, three") == 4
    text = "word " * 500
    assert one.tokens(text) == 500
    shown = one.shown(text)
    assert 40 < one.tokens(shown) <= 64
    for way in WAYS:
        for whole in (text, json.dumps([{"a": text, "b": n} for n in range(30)]), "é\ud800x " * 90):
            short = Compression.named(f"64,{way}", str(path)).shown(whole.replace("\ud800", "?"))
            assert one.tokens(short) <= 64
    path.write_text("{}")
    compression.load_tokenizer.cache_clear()
    with pytest.raises(DataError, match="is not a tokenizer"):
        Compression.named("64", str(path))
    with pytest.raises(DataError, match=r"none\.json"):
        Compression.named("64", str(tmp_path / "none.json"))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--tokens", "10"), "--tokens: '10' is not a number of tokens; the minimum is 64"),
        (("--by", "cut,best"), "--by: 'best' is not one of cut, ends, keys"),
        (("--category", "simple_python"), "has no results"),
    ],
)
def test_bad_input_of_the_command(words: tuple[str, ...], why: str) -> None:
    with pytest.raises(DataError, match=why):
        run("compress", *words)
