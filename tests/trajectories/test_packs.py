from __future__ import annotations

from envs.registry import BACKENDS
from envs.session import Session, check_config
from trajectories.packs import generate


def test_the_same_seed_and_size_give_the_same_pack():
    assert generate(5, 20) == generate(5, 20)
    assert generate(5, 20) is not generate(5, 20)


def test_another_seed_or_size_gives_another_pack():
    assert len({repr(generate(seed, items)) for seed, items in [(5, 20), (6, 20), (5, 21)]}) == 3


def test_a_pack_is_as_bulky_as_was_asked_for():
    pack = generate(1, 30)
    counted = (
        pack.extra_files,
        pack.cities,
        pack.watch_list,
        pack.transactions,
        pack.moving_average_5,
        pack.moving_average_20,
        pack.credit_cards,
        pack.bookings,
    )
    assert {len(members) for members in counted} == {30}
    assert {len(stocks) for stocks in pack.sector_stocks.values()} == {30}
    assert pack.file_suffix.count(".") == pack.car_status.count(".") == 30


def test_a_pack_may_be_empty():
    assert len(generate(1, 0).extra_files) == 0


def test_what_becomes_state_stands_the_strict_check():
    pack = generate(3, 60)
    config = {"credit_card_list": pack.credit_cards, "booking_record": pack.bookings}
    assert check_config(["TravelAPI"], {"TravelAPI": config}) == []
    assert all(
        symbol not in pack.watch_list[:index] for index, symbol in enumerate(pack.watch_list)
    )


def test_no_two_files_of_a_pack_have_the_same_name():
    names = generate(1, 500).extra_files
    assert len(set(names)) == len(names)


def test_invented_symbols_are_longer_than_any_listed_one():
    pack = generate(1, 200)
    symbols = {*pack.watch_list, *pack.sector_stocks["Technology"]}
    assert all(len(symbol) == 5 and symbol.isupper() and symbol[0] == "X" for symbol in symbols)


def test_order_notes_are_about_the_symbol():
    assert all("{symbol}" in text for text in generate(1, 5).order_metadata.values())


def test_every_backend_loads_with_a_pack():
    pack = generate(1, 10)
    for name in BACKENDS:
        packed, plain = (Session.load([name], {}, p).snapshot().to_json() for p in (pack, None))
        assert packed[name].keys() == plain[name].keys()


def test_a_pack_does_not_touch_what_a_trajectory_hinges_on(folders):
    pack = generate(1, 10)
    session = Session.load(folders.environments, folders.config, pack)
    contents = session.snapshot().to_json()["GorillaFileSystem"]["root"]["home"]["contents"]
    assert contents["notes.txt"]["content"] == "one\ntwo" + pack.file_suffix
    assert list(contents["old"]["contents"]) == list(pack.extra_files)
