"""The car: every function's success and refusals, chains, long context, config check."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs.backends.vehicle_control import VehicleControlAPI
from envs.calls import Call
from envs.errors import ConfigError, InvalidArgument, NotFound, Refused
from envs.long_context import LongContextPack
from envs.session import Session
from extensions.contract.contract import refuse, state, succeed

DOORS = ("driver", "passenger", "rear_left", "rear_right")
LOCKED = dict.fromkeys(DOORS, "locked")
UNLOCKED = dict.fromkeys(DOORS, "unlocked")
READY = {"doorStatus": LOCKED, "brakePedalStatus": "pressed", "brakePedalForce": 1000.0}
PACK = LongContextPack(
    file_suffix="",
    untouched_files=[],
    extra_files=[],
    car_status="Wipers: off.",
    parking_brake="Pull the lever.",
    weather={"-1_day": {"high": 20}},
    cities=["Ayton", "Beeton", "Ayton"],
    watch_list=[],
    transactions=[],
    moving_average_5=[],
    moving_average_20=[],
    sector_stocks={},
    order_metadata={},
    credit_cards={},
    bookings={},
)


def car(pack: LongContextPack | None = None, **config: Any) -> Session:
    """Return a session with a car of any config, irregular ones included."""
    return Session.load(["VehicleControlAPI"], {"VehicleControlAPI": config}, pack, tolerant=True)


def show(live: Session, option: str) -> str:
    return live.call(Call("displayCarStatus", (option,))).text


def test_defaults():
    live = Session.load(["VehicleControlAPI"], {})
    assert state(live) == {
        "fuelLevel": 0.0,
        "batteryVoltage": 12.6,
        "engine_state": "stopped",
        "remainingUnlockedDoors": 4,
        "doorStatus": UNLOCKED,
        "acTemperature": 25.0,
        "fanSpeed": 50,
        "acMode": "auto",
        "humidityLevel": 50.0,
        "headLightStatus": "off",
        "parkingBrakeStatus": "released",
        "brakePedalStatus": "released",
        "distanceToNextVehicle": 50.0,
        "cruiseStatus": "inactive",
        "destination": "None",
        "frontLeftTirePressure": 32.0,
        "frontRightTirePressure": 32.0,
        "rearLeftTirePressure": 30.0,
        "rearRightTirePressure": 30.0,
        "cruiseSpeed": None,
        "long_context": False,
    }


def test_config_keys_that_differ_from_the_field():
    live = car(engineState="running", slopeAngle=4.0, parkingBrakeForce=7.5, brakePedalForce=3)
    assert state(live)["engine_state"] == "running"
    shown = '{"parkingBrakeStatus": "released", "parkingBrakeForce": 7.5, "slopeAngle": 4.0}'
    assert show(live, "parkingBrake") == shown
    assert show(live, "brakePedal") == '{"brakePedalStatus": "released", "brakePedalForce": 3}'


def test_config_keys_that_are_not_read():
    config = {"engine_state": "running", "_slopeAngle": 3.0, "remainingUnlockedDoors": 9}
    assert state(car(**config)) == state(car())
    assert '"slopeAngle": 0.0' in show(car(**config), "parkingBrake")


@pytest.mark.parametrize(
    ("doors", "unlocked"),
    [(LOCKED, 0), (UNLOCKED, 4), ({"driver": "locked"}, 3), ({"driver": "ajar"}, 4), ({}, 4)],
)
def test_unlocked_doors_are_counted(doors, unlocked):
    assert state(car(doorStatus=doors))["remainingUnlockedDoors"] == unlocked


def test_start():
    report = succeed(car(**READY, fuelLevel=9), "startEngine", "START", engine_state="running")
    assert list(report.items()) == [
        ("engineState", "running"),
        ("fuelLevel", 9),
        ("batteryVoltage", 12.6),
    ]


def test_start_without_fuel():
    succeed(car(**READY), "startEngine", "START", engine_state="running")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"doorStatus": {**LOCKED, "rear_left": "unlocked"}}, "rear_left unlocked"),
        ({"brakePedalStatus": "released"}, "it is released"),
        ({"brakePedalForce": 999.9}, "999.9 newtons of 1000.0. Call pressBrakePedal with 1"),
        ({"fuelLevel": -0.5}, "fuelLevel is -0.5"),
        ({"fuelLevel": "full"}, "fuelLevel is 'full', not a number"),
    ],
)
def test_what_keeps_the_engine_from_starting(config, message):
    refuse(car(**READY | config), Refused, message, "startEngine", "START")
    refuse(car(**READY | config), Refused, message, "startEngine", "HALT")


@pytest.mark.parametrize("mode", ["HALT", "start", ""])
def test_an_unknown_ignition_mode(mode):
    refuse(car(**READY), InvalidArgument, "give START or STOP", "startEngine", mode)


@pytest.mark.parametrize("config", [READY, {}, {"brakePedalForce": 5.0}])
def test_stopping_always_works(config):
    live = car(**config, engineState="running")
    report = succeed(live, "startEngine", "STOP", engine_state="stopped")
    assert report == {"engineState": "stopped", "fuelLevel": 0.0, "batteryVoltage": 12.6}
    assert succeed(live, "startEngine", "STOP") == report


@pytest.mark.parametrize(
    ("level", "amount", "after"),
    [(10.0, 40, "50.0"), (10, 5, "15"), (10, 5.0, "15.0"), (0.1, 0.2, "0.30000000000000004")],
)
def test_fill(level, amount, after):
    live = car(fuelLevel=level)
    succeed(live, "fillFuelTank", amount, fuelLevel=level + amount)
    assert show(live, "fuel") == f'{{"fuelLevel": {after}}}'


@pytest.mark.parametrize(
    ("level", "amount", "kind", "message"),
    [
        (10.0, -1, InvalidArgument, "Cannot add -1 gallons"),
        (10.0, 40.1, InvalidArgument, "give 40.0 or less"),
        (60.0, 0, InvalidArgument, "give 0 or less"),
        (-1, 0.5, Refused, "Add at least 1 gallons"),
        (None, 5, Refused, "fuelLevel is None"),
        (10.0, "5", InvalidArgument, "fuelAmount = '5'"),
        (10.0, 10**400, InvalidArgument, "fuelAmount"),
    ],
)
def test_what_cannot_be_filled(level, amount, kind, message):
    refuse(car(fuelLevel=level), kind, message, "fillFuelTank", amount)


def test_lock_and_unlock():
    live = car()
    doors = {**LOCKED, "driver": "unlocked"}
    asked = ["passenger", "rear_left", "passenger", "rear_right"]
    done = succeed(live, "lockDoors", False, asked, remainingUnlockedDoors=1, doorStatus=doors)
    assert list(done.items()) == [("lockStatus", "locked"), ("remainingUnlockedDoors", 1)]
    doors = {**doors, "rear_left": "unlocked"}
    done = succeed(
        live,
        "lockDoors",
        True,
        ["driver", "rear_left"],
        remainingUnlockedDoors=2,
        doorStatus=doors,
    )
    assert done == {"lockStatus": "unlocked", "remainingUnlockedDoors": 2}
    assert succeed(live, "lockDoors", 0, []) == {
        "lockStatus": "locked",
        "remainingUnlockedDoors": 2,
    }


def test_a_door_that_stands_ajar_can_be_locked():
    live = car(doorStatus={**LOCKED, "driver": "ajar"})
    succeed(live, "lockDoors", False, ["driver"], remainingUnlockedDoors=0, doorStatus=LOCKED)


@pytest.mark.parametrize("doors", [["driver", "trunk"], "driver", ["driver", 5]])
def test_an_unknown_door_leaves_all_doors_alone(doors):
    message = "The doors are: driver, passenger, rear_left, rear_right."
    refuse(car(), NotFound, message, "lockDoors", False, doors)


def test_a_door_that_this_car_does_not_have():
    live = car(doorStatus={"driver": "unlocked"})
    refuse(live, NotFound, "no door 'passenger'", "lockDoors", False, ["driver", "passenger"])


@pytest.mark.parametrize(
    ("args", "changes"),
    [
        ((20.5,), {"acTemperature": 20.5}),
        ((25, "celsius", 0, "cool"), {"fanSpeed": 0, "acMode": "cool"}),
        ((68.0, "fahrenheit"), {"acTemperature": 20.0}),
        ((72, "fahrenheit", 100), {"acTemperature": 22.22222222222222, "fanSpeed": 100}),
        ((21, "kelvin", 50, "gale"), {"acTemperature": 21, "acMode": "gale"}),
    ],
)
def test_climate(args, changes):
    done = succeed(car(), "adjustClimateControl", *args, **changes)
    assert list(done.items()) == [
        ("currentACTemperature", args[0]),
        ("climateMode", changes.get("acMode", "auto")),
        ("humidityLevel", 50.0),
    ]


def test_climate_goes_back_to_the_defaults():
    live = car(fanSpeed=10, acMode="heat")
    succeed(live, "adjustClimateControl", 25.0, fanSpeed=50, acMode="auto")


@pytest.mark.parametrize("speed", [-1, 101])
def test_an_impossible_fan_speed(speed):
    message = f"Fan speed {speed} is out of range: give 0 to 100."
    refuse(car(), InvalidArgument, message, "adjustClimateControl", 20, "celsius", speed)


def test_an_impossible_temperature():
    refuse(car(), InvalidArgument, "temperature", "adjustClimateControl", "hot", "fahrenheit")


@pytest.mark.parametrize(
    ("config", "values"),
    [
        ({}, [36.63485703790535, 99.11925428879405, 8.546173419897784]),
        ({"random_seed": 1}, [-3.281787794379939, 101.69204843246791, 28.188730948830703]),
        ({"random_seed": 42}, [21.971339922894188, 3.0012906267200323, 3.7514659184559633]),
    ],
)
def test_readings_are_drawn_from_one_stream(config, values):
    live = car(**config)
    drawn = [
        succeed(live, "get_outside_temperature_from_google")["outsideTemperature"],
        succeed(live, "get_current_speed")["currentSpeed"],
        succeed(live, "get_outside_temperature_from_google")["outsideTemperature"],
    ]
    assert drawn == values


def test_weather_com_is_down():
    name = "get_outside_temperature_from_weather_com"
    refuse(car(), Refused, "404", name)
    refuse(car(), Refused, "get_outside_temperature_from_google", name)


@pytest.mark.parametrize(
    ("before", "mode", "after"),
    [("off", "on", "on"), ("on", "off", "off"), ("on", "auto", "off"), ("auto", "off", "off")],
)
def test_headlights(before, mode, after):
    live = car(headLightStatus=before)
    assert succeed(live, "setHeadlights", mode, headLightStatus=after) == {"headlightStatus": after}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("setHeadlights", "give on, off or auto"),
        ("activateParkingBrake", "give engage or release"),
        ("displayCarStatus", "give fuel, battery, doors, climate"),
    ],
)
@pytest.mark.parametrize("word", ["ON", "", None])
def test_an_unknown_word(name, message, word):
    refuse(car(), InvalidArgument, message, name, word)


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("fuel", '{"fuelLevel": 0.0}'),
        ("battery", '{"batteryVoltage": 12.6}'),
        (
            "doors",
            '{"doorStatus": {"driver": "locked", "passenger": "locked", "rear_left": "locked", '
            '"rear_right": "locked"}}',
        ),
        (
            "climate",
            '{"currentACTemperature": 25.0, "fanSpeed": 50, "climateMode": "auto", '
            '"humidityLevel": 50.0}',
        ),
        ("headlights", '{"headlightStatus": "off"}'),
        (
            "parkingBrake",
            '{"parkingBrakeStatus": "released", "parkingBrakeForce": 0.0, "slopeAngle": 0.0}',
        ),
        ("brakePedal", '{"brakePedalStatus": "pressed", "brakePedalForce": 1000.0}'),
        ("engine", '{"engineState": "stopped"}'),
    ],
)
def test_display(option, text):
    live = car(**READY)
    succeed(live, "displayCarStatus", option)
    assert show(live, option) == text


def test_parking_brake():
    live = car(slopeAngle=3.0)
    done = succeed(live, "activateParkingBrake", "engage", parkingBrakeStatus="engaged")
    assert list(done.items()) == [
        ("parkingBrakeStatus", "engaged"),
        ("_parkingBrakeForce", 500.0),
        ("_slopeAngle", 10.0),
    ]
    shown = '{"parkingBrakeStatus": "engaged", "parkingBrakeForce": 500.0, "slopeAngle": 10.0}'
    assert show(live, "parkingBrake") == shown
    done = succeed(live, "activateParkingBrake", "release", parkingBrakeStatus="released")
    assert done == {
        "parkingBrakeStatus": "released",
        "_parkingBrakeForce": 0.0,
        "_slopeAngle": 10.0,
    }


@pytest.mark.parametrize(
    ("position", "force"), [(1, "1000.0"), (1.0, "1000.0"), (0.35, "350.0"), (True, "1000.0")]
)
def test_press_the_brake(position, force):
    live = car()
    name = "pressBrakePedal"
    succeed(live, name, position, brakePedalStatus="pressed")
    text = f'{{"brakePedalStatus": "pressed", "brakePedalForce": {force}}}'
    assert live.call(Call(name, (position,))).text == text
    assert show(live, "brakePedal") == text


@pytest.mark.parametrize(
    "call", [("pressBrakePedal", 0), ("pressBrakePedal", -0.0), ("releaseBrakePedal",)]
)
def test_release_the_brake(call):
    live = car(**READY)
    succeed(live, *call, brakePedalStatus="released")
    released = '{"brakePedalStatus": "released", "brakePedalForce": 0.0}'
    assert live.call(Call(call[0], call[1:])).text == released
    assert show(live, "brakePedal") == released


@pytest.mark.parametrize("position", [-0.1, 1.1, float("nan")])
def test_an_impossible_pedal_position(position):
    refuse(car(), InvalidArgument, "is out of range: give 0 to 1.", "pressBrakePedal", position)


def test_cruise_control():
    live = car(engineState="running")
    name = "setCruiseControl"
    done = succeed(live, name, 65, True, 80, cruiseStatus="active", distanceToNextVehicle=80.0)
    assert list(done.items()) == [
        ("cruiseStatus", "active"),
        ("currentSpeed", 65.0),
        ("distanceToNextVehicle", 80.0),
    ]
    succeed(live, name, 63, False, "5", cruiseStatus="inactive", distanceToNextVehicle=5.0)
    assert live.call(Call(name, (63, False, "5"))).text == (
        '{"cruiseStatus": "inactive", "currentSpeed": 63.0, "distanceToNextVehicle": 5.0}'
    )


def test_the_speed_of_the_cruise_control_is_state_except_for_bfcl():
    def drive(speed: float, *, tolerant: bool) -> Session:
        config = {"VehicleControlAPI": {"engineState": "running"}}
        live = Session.load(["VehicleControlAPI"], config, tolerant=tolerant)
        assert live.call(Call("setCruiseControl", (speed, True, 15))).ok
        return live

    assert drive(45, tolerant=False).snapshot() != drive(50, tolerant=False).snapshot()
    assert drive(45, tolerant=True).snapshot() == drive(50, tolerant=True).snapshot()


@pytest.mark.parametrize("speed", [0, 120.0, 5])
@pytest.mark.parametrize("engine", ["running", "idle"])
def test_a_speed_that_cruise_control_keeps(speed, engine):
    live = car(engineState=engine, distanceToNextVehicle=8)
    succeed(live, "setCruiseControl", speed, True, 8, cruiseStatus="active")


@pytest.mark.parametrize("speed", [-5, 125, 63, 60.5, float("nan")])
def test_the_distance_is_kept_when_the_speed_is_refused(speed):
    live = car(engineState="running")
    expected = {**state(live), "distanceToNextVehicle": 77.0}
    result = live.call(Call("setCruiseControl", (speed, True, 77)))
    assert type(result.error) is InvalidArgument
    assert "give a multiple of 5 from 0 to 120" in result.error.message
    assert result.changed
    assert state(live) == expected


@pytest.mark.parametrize("activate", [True, False])
def test_no_cruise_control_with_a_stopped_engine(activate):
    refuse(car(), Refused, "startEngine", "setCruiseControl", 60, activate, 7)


@pytest.mark.parametrize(("speed", "distance"), [("x", 7), (60, None), (60, 10**400)])
def test_cruise_control_needs_numbers(speed, distance):
    live = car(engineState="running")
    refuse(live, InvalidArgument, "setCruiseControl: ", "setCruiseControl", speed, True, distance)


@pytest.mark.parametrize("messages", [["a", "b"], [], "abc"])
def test_display_log(messages):
    assert succeed(car(), "display_log", messages) == {"log": messages}


@pytest.mark.parametrize(("distance", "possible"), [(300, True), (300.5, False), (-1, True)])
def test_drive_feasibility(distance, possible):
    live = car(fuelLevel=15)
    done = succeed(live, "estimate_drive_feasibility_by_mileage", distance)
    assert done == {"canDrive": possible}


def test_drive_feasibility_without_a_fuel_gauge():
    live = car(fuelLevel=None)
    refuse(live, Refused, "fuelLevel is None", "estimate_drive_feasibility_by_mileage", 5)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (("liter_to_gallon", 20.0), '{"gallon": 5.283440000000001}'),
        (("liter_to_gallon", 0), '{"gallon": 0.0}'),
        (("gallon_to_liter", 10), '{"liter": 37.8541}'),
        (("estimate_distance", "74532", "83214"), '{"distance": 750.0}'),
        (("estimate_distance", "83214", "74532"), '{"distance": 750.0}'),
        (("estimate_distance", "08540", "94704"), '{"distance": 2550.0}'),
        (("get_zipcode_based_on_city", "Sunset Valley"), '{"zipcode": "83462"}'),
        (("get_zipcode_based_on_city", "rivermist"), '{"zipcode": "00000"}'),
        (("get_zipcode_based_on_city", ["Rivermist"]), '{"zipcode": "00000"}'),
        (("find_nearest_tire_shop",), '{"shopLocation": "456 Oakwood Avenue, Rivermist, 83214"}'),
    ],
)
def test_lookups(call, text):
    succeed(car(), *call)
    assert car().call(Call(call[0], call[1:])).text == text


@pytest.mark.parametrize("name", ["liter_to_gallon", "gallon_to_liter"])
def test_conversions_need_numbers(name):
    refuse(car(), InvalidArgument, "valid number", name, "5")


@pytest.mark.parametrize(
    ("cities", "advice"),
    [
        (("Rivermist", "Paris"), "Give two of these zip codes, as text: 08540, 47329"),
        (("62947", "83214"), "From 62947 there is a distance to 47329, 56108, 94016."),
        (("83214", "83214"), "From 83214 there is a distance to 74532, 94016."),
    ],
)
def test_an_unknown_distance(cities, advice):
    refuse(car(), NotFound, advice, "estimate_distance", *cities)


@pytest.mark.parametrize("place", ["1 Main Street, Rivermist", ""])
def test_navigation(place):
    done = succeed(car(), "set_navigation", place, destination=place)
    assert done == {"status": f"Navigating to {place}"}


def test_navigation_needs_a_text():
    refuse(car(), InvalidArgument, "destination = 5", "set_navigation", 5)


@pytest.mark.parametrize(
    ("pressures", "healthy"),
    [
        ((10, 60, 30, 30), True),
        ((30, 30.0, 30, 30), True),
        ((35, 35, 35, 35), True),
        ((30, 30, 30, 29), False),
        ((36, 35, 35, 35), False),
    ],
)
def test_tires(pressures, healthy):
    names = [f"{corner}TirePressure" for corner in ("frontLeft", "frontRight", "rearLeft")]
    names.append("rearRightTirePressure")
    config = dict(zip(names, pressures, strict=True))
    done = succeed(car(**config), "check_tire_pressure")
    assert list(done.items()) == [
        *config.items(),
        ("healthy_tire_pressure", healthy),
        ("car_info", {}),
    ]


def test_a_tire_without_pressure():
    live = car(rearLeftTirePressure="flat")
    refuse(live, Refused, "rearLeftTirePressure is 'flat'", "check_tire_pressure")


def test_long_context_is_state():
    assert state(car(PACK)) == {**state(car()), "long_context": True}


def test_long_context():
    live = car(PACK)
    shown = succeed(live, "displayCarStatus", "fuel")
    assert list(shown.items()) == [("metadata", "Wipers: off."), ("fuelLevel", 0.0)]
    done = succeed(live, "activateParkingBrake", "engage", parkingBrakeStatus="engaged")
    assert next(iter(done.items())) == ("parkingBrakeInstruction", "Pull the lever.")
    assert len(done) == 4
    assert succeed(live, "check_tire_pressure")["car_info"] == "Wipers: off."
    done = succeed(live, "estimate_distance", "83214", "94016")
    cities = ["Ayton", "Beeton", "Ayton"]
    assert list(done.items()) == [("distance", 980.0), ("intermediaryCities", cities)]
    weather = succeed(live, "get_outside_temperature_from_google")
    assert list(weather) == ["-1_day", "outsideTemperature"]


def test_long_context_shows_in_two_refusals():
    value = refuse(car(PACK), InvalidArgument, "give fuel", "displayCarStatus", "wheels")
    assert list(value) == ["metadata", "error"]
    value = refuse(car(PACK), NotFound, "No distance", "estimate_distance", "1", "2")
    assert list(value) == ["intermediaryCities", "error"]
    value = refuse(car(PACK), InvalidArgument, "engage", "activateParkingBrake", "on")
    assert list(value) == ["error"]


def test_long_context_gives_fresh_objects():
    for name, args in (
        ("get_outside_temperature_from_google", ()),
        ("estimate_distance", ("83214", "94016")),
    ):
        first = car(PACK).call(Call(name, args)).value
        assert car(PACK).call(Call(name, args)).value is not first
    assert first["intermediaryCities"] is not PACK.cities
    assert PACK.weather == {"-1_day": {"high": 20}}


def test_getting_under_way():
    live = car(fuelLevel=5.0)
    refuse(live, Refused, "lockDoors", "startEngine", "START")
    live.call(Call("lockDoors", (False, list(DOORS))))
    refuse(live, Refused, "pressBrakePedal", "startEngine", "START")
    live.call(Call("pressBrakePedal", (0.5,)))
    refuse(live, Refused, "500.0 newtons", "startEngine", "START")
    live.call(Call("pressBrakePedal", (1,)))
    assert succeed(live, "startEngine", "START", engine_state="running")["fuelLevel"] == 5.0
    zipcodes = [
        succeed(live, "get_zipcode_based_on_city", city)["zipcode"]
        for city in ("Rivermist", "San Francisco")
    ]
    distance = succeed(live, "estimate_distance", *zipcodes)["distance"]
    assert succeed(live, "estimate_drive_feasibility_by_mileage", distance) == {"canDrive": False}
    succeed(live, "fillFuelTank", 45, fuelLevel=50.0)
    assert succeed(live, "estimate_drive_feasibility_by_mileage", distance) == {"canDrive": True}
    succeed(live, "set_navigation", "San Francisco", destination="San Francisco")
    succeed(
        live, "setCruiseControl", 65, True, 100, cruiseStatus="active", distanceToNextVehicle=100
    )


door_lists = st.lists(st.sampled_from([*DOORS, "trunk"]), max_size=5)
steps = st.lists(
    st.tuples(st.just("lockDoors"), st.booleans(), door_lists)
    | st.tuples(st.just("pressBrakePedal"), st.sampled_from([0, 0.5, 1, 1.0, 2]))
    | st.tuples(st.just("startEngine"), st.sampled_from(["START", "STOP", "HALT"]))
    | st.tuples(st.just("fillFuelTank"), st.floats(-10, 60))
    | st.tuples(st.just("setCruiseControl"), st.integers(0, 125), st.booleans(), st.floats(0, 9))
    | st.tuples(st.just("adjustClimateControl"), st.floats(), st.just("fahrenheit"))
    | st.tuples(st.sampled_from(["get_current_speed", "releaseBrakePedal", "check_tire_pressure"])),
    max_size=25,
)


@given(steps)
def test_a_car_stays_consistent(steps):
    live = car()
    for name, *args in steps:
        before = state(live)
        result = live.call(Call(name, tuple(args)))
        after = state(live)
        unlocked = [door for door, status in after["doorStatus"].items() if status != "locked"]
        assert after["remainingUnlockedDoors"] == len(unlocked)
        assert 0 <= after["fuelLevel"] <= 50
        assert result.ok or name == "setCruiseControl" or before == after
        started = before["engine_state"] == "stopped" and after["engine_state"] == "running"
        assert not started or (not unlocked and after["brakePedalStatus"] == "pressed")


@pytest.mark.parametrize(
    ("config", "problems"),
    [
        ({}, []),
        ({**READY, "random_seed": 5, "fuelLevel": 12, "headLightStatus": "on"}, []),
        ({"engine_state": "running"}, ["engine_state: unknown key; did you mean engineState?"]),
        ({"remainingUnlockedDoors": 4}, ["remainingUnlockedDoors: unknown key; remove it"]),
        ({"fuelLevel": "10"}, ["fuelLevel: input should be a valid number, got '10'"]),
        ({"fanSpeed": 50.5}, ["fanSpeed: input should be a valid integer, got 50.5"]),
        (
            {"engineState": "idle"},
            ["engineState: input should be 'running' or 'stopped', got 'idle'"],
        ),
        (
            {"doorStatus": {**LOCKED, "trunk": "locked"}},
            ["doorStatus.trunk: unknown key; remove it"],
        ),
        (
            {"doorStatus": {**LOCKED, "driver": "ajar"}},
            ["doorStatus.driver: input should be 'locked' or 'unlocked', got 'ajar'"],
        ),
        (
            {"doorStatus": {"driver": "locked", "passenger": "locked", "rear_left": "locked"}},
            ["doorStatus.rear_right: is missing"],
        ),
    ],
)
def test_config_check(config, problems):
    found = [str(problem) for problem in VehicleControlAPI.check_config(config)]
    assert found == [f"$.VehicleControlAPI.{problem}" for problem in problems]


def test_doors_that_cannot_be_counted():
    with pytest.raises(ConfigError, match="doorStatus"):
        car(doorStatus="locked")
