"""A car: engine, doors, climate, lights, brakes, cruise control, navigation and tires.

Speed and outside temperature are random. In BFCL's mode, each call draws a new value.
Units: gallons of fuel, psi of tire pressure, degrees Celsius, metres to the next vehicle, newtons
of brake force, degrees of slope.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from typing_extensions import TypedDict

from envs.backend import Backend, irreversible, random_stream, reads, writes, writes_even_refused
from envs.errors import InvalidArgument, NotFound, Refused
from envs.random_stream import RandomStream

if TYPE_CHECKING:
    from envs.long_context import LongContextPack

_SEED = 141053
_DOORS = 4
_TANK = 50
_MILES_PER_GALLON = 20.0
_GALLONS_PER_LITER = 0.264172
_LITERS_PER_GALLON = 3.78541
_FULL_BRAKE_FORCE = 1000.0
_FAN_SPEEDS = (0, 100)
_CRUISE_SPEEDS = (0, 120)
_CRUISE_STEP = 5
_SPEED_READINGS = (0.0, 120.0)
_TEMPERATURE_READINGS = (-10.0, 40.0)
_HEALTHY_PRESSURES = (30, 35)
_TIRE_SHOP = "456 Oakwood Avenue, Rivermist, 83214"
_PARKED_SLOPE = 10.0

_HEADLIGHTS = {"on": "on", "off": "off", "auto": "off"}
_PARKING_BRAKE = {"engage": ("engaged", 500.0), "release": ("released", 0.0)}
_TIRES = (
    "frontLeftTirePressure",
    "frontRightTirePressure",
    "rearLeftTirePressure",
    "rearRightTirePressure",
)

# Maps an option of displayCarStatus to the shown names and their state fields.
_DISPLAYS = {
    "fuel": {"fuelLevel": "fuelLevel"},
    "battery": {"batteryVoltage": "batteryVoltage"},
    "doors": {"doorStatus": "doorStatus"},
    "climate": {
        "currentACTemperature": "acTemperature",
        "fanSpeed": "fanSpeed",
        "climateMode": "acMode",
        "humidityLevel": "humidityLevel",
    },
    "headlights": {"headlightStatus": "headLightStatus"},
    "parkingBrake": {
        "parkingBrakeStatus": "parkingBrakeStatus",
        "parkingBrakeForce": "_parkingBrakeForce",
        "slopeAngle": "_slopeAngle",
    },
    "brakePedal": {
        "brakePedalStatus": "brakePedalStatus",
        "brakePedalForce": "_brakePedalForce",
    },
    "engine": {"engineState": "engine_state"},
}

_ZIPCODES = {
    "Rivermist": "83214",
    "Stonebrook": "74532",
    "Maplecrest": "56108",
    "Silverpine": "62947",
    "Shadowridge": "71354",
    "Sunset Valley": "83462",
    "Oakendale": "47329",
    "Willowbend": "52013",
    "Crescent Hollow": "69238",
    "Autumnville": "51479",
    "San Francisco": "94016",
}
_UNKNOWN_ZIPCODE = "00000"

# In kilometres, equal in both directions; two of the zip codes belong to none of the cities above.
_DISTANCES = {
    frozenset({"08540", "94016"}): 1950.0,
    frozenset({"08540", "94704"}): 2550.0,
    frozenset({"47329", "52013"}): 290.0,
    frozenset({"47329", "62947"}): 1053.0,
    frozenset({"51479", "69238"}): 630.0,
    frozenset({"56108", "62947"}): 320.0,
    frozenset({"62947", "94016"}): 780.0,
    frozenset({"71354", "83462"}): 450.0,
    frozenset({"74532", "83214"}): 750.0,
    frozenset({"74532", "94016"}): 880.0,
    frozenset({"83214", "94016"}): 980.0,
    frozenset({"94016", "94704"}): 600.0,
}

LockStatus = Literal["locked", "unlocked"]
Door = Literal["driver", "passenger", "rear_left", "rear_right"]


class DoorStatus(TypedDict):
    """Whether each door is locked."""

    driver: LockStatus
    passenger: LockStatus
    rear_left: LockStatus
    rear_right: LockStatus


class VehicleConfig(TypedDict, total=False):
    """Initial config of the car."""

    random_seed: int
    fuelLevel: float
    batteryVoltage: float
    engineState: Literal["running", "stopped"]
    doorStatus: DoorStatus
    acTemperature: float
    fanSpeed: int
    acMode: Literal["auto", "cool", "heat", "defrost"]
    humidityLevel: float
    headLightStatus: Literal["on", "off"]
    parkingBrakeStatus: Literal["engaged", "released"]
    parkingBrakeForce: float
    slopeAngle: float
    brakePedalStatus: Literal["pressed", "released"]
    brakePedalForce: float
    distanceToNextVehicle: float
    cruiseStatus: Literal["active", "inactive"]
    destination: str
    frontLeftTirePressure: float
    frontRightTirePressure: float
    rearLeftTirePressure: float
    rearRightTirePressure: float


class VehicleControlAPI(Backend):
    """A car with the driver's controls."""

    Config = VehicleConfig
    # A message on the display is an effect that the user wants.
    acts = frozenset({"display_log"})
    beyond_bfcl = frozenset({"cruiseSpeed"})
    RENAMED = {
        "engineState": "engine_state",
        "parkingBrakeForce": "_parkingBrakeForce",
        "slopeAngle": "_slopeAngle",
        "brakePedalForce": "_brakePedalForce",
    }

    fuelLevel: float = 0.0
    batteryVoltage: float = 12.6
    engine_state: str = "stopped"
    remainingUnlockedDoors: int = _DOORS
    doorStatus: Mapping[str, str] = {
        "driver": "unlocked",
        "passenger": "unlocked",
        "rear_left": "unlocked",
        "rear_right": "unlocked",
    }
    acTemperature: float = 25.0
    fanSpeed: int = 50
    acMode: str = "auto"
    humidityLevel: float = 50.0
    headLightStatus: str = "off"
    parkingBrakeStatus: str = "released"
    brakePedalStatus: str = "released"
    distanceToNextVehicle: float = 50.0
    cruiseStatus: str = "inactive"
    cruiseSpeed: float | None = None
    destination: str = "None"
    frontLeftTirePressure: float = 32.0
    frontRightTirePressure: float = 32.0
    rearLeftTirePressure: float = 30.0
    rearRightTirePressure: float = 30.0
    long_context: bool = False
    _parkingBrakeForce: float = 0.0
    _slopeAngle: float = 0.0
    _brakePedalForce: float = 0.0
    _random: RandomStream = RandomStream(_SEED)
    _pack: LongContextPack | None = None

    def _load(self, config: Mapping[str, Any], pack: LongContextPack | None) -> None:
        """Count the unlocked doors; a door that the config omits is unlocked."""
        locked = sum(status == "locked" for status in self.doorStatus.values())
        self.remainingUnlockedDoors = _DOORS - locked
        self.long_context = pack is not None
        self._pack = pack
        self._random = random_stream(config, _SEED)

    @writes
    def startEngine(self, ignitionMode: Literal["START", "STOP"]) -> Mapping[str, Any]:
        """Start or stop the engine.

        Starting needs all doors locked and the brake pedal pressed all the way down. Stopping
        always works.

        Args:
            ignitionMode: START or STOP.

        Returns:
            engineState (running or stopped), fuelLevel in gallons, batteryVoltage in volts.

        Examples:
            >>> startEngine(ignitionMode='START')
            {"error": "The engine starts only with all 4 doors locked. Now they are: driver ...
            >>> lockDoors(unlock=False, door=['driver', 'rear_left'])
            >>> pressBrakePedal(pedalPosition=1.0)
            >>> startEngine(ignitionMode='START')
            {"engineState": "running", "fuelLevel": 18.5, "batteryVoltage": 12.3}
        """
        if ignitionMode == "STOP":
            self.engine_state = "stopped"
            return self._engine_report()
        self._check_ready_to_start()
        if ignitionMode != "START":
            raise InvalidArgument(
                f"There is no ignition mode {ignitionMode!r}: give START or STOP."
            )
        self.engine_state = "running"
        return self._engine_report()

    @irreversible
    @writes
    def fillFuelTank(self, fuelAmount: float) -> dict[str, float]:
        """Add fuel to the tank, which holds 50 gallons; what does not fit is refused as a whole.

        Args:
            fuelAmount: Fuel to add, in gallons, 0 or more.

        Returns:
            fuelLevel: Fuel in the tank afterwards, in gallons.

        Examples:
            >>> fillFuelTank(fuelAmount=10.0)
            {"fuelLevel": 28.5}
            >>> fillFuelTank(fuelAmount=90.0)
            {"error": "90.0 gallons do not fit: the tank holds 50 gallons and there are 28.5 in ...
        """
        if fuelAmount < 0:
            raise InvalidArgument(f"Cannot add {fuelAmount} gallons: give 0 or more.", "negative")
        level = self._reading("fuelLevel")
        if level + fuelAmount > _TANK:
            raise InvalidArgument(
                f"{fuelAmount} gallons do not fit: the tank holds {_TANK} gallons and there are "
                f"{level} in it, so give {max(_TANK - level, 0)} or less.",
                "room",
            )
        if level + fuelAmount < 0:
            raise Refused(f"The tank contains {level} gallons. Add at least {-level} gallons.")
        self.fuelLevel = level + fuelAmount
        return {"fuelLevel": self.fuelLevel}

    @writes
    def lockDoors(self, unlock: bool, door: list[Door]) -> dict[str, Any]:
        """Lock or unlock doors.

        Args:
            unlock: True to unlock, false to lock.
            door: The doors: driver, passenger, rear_left, rear_right.

        Returns:
            lockStatus (locked or unlocked) and remainingUnlockedDoors, how many are unlocked now.

        Examples:
            >>> lockDoors(unlock=False, door=['driver'])
            {"lockStatus": "locked", "remainingUnlockedDoors": 1}
        """
        wanted = "unlocked" if unlock else "locked"
        doors = dict(self.doorStatus)
        for name in door:
            if name not in doors:
                raise NotFound(
                    f"There is no door {name!r}. The doors are: {', '.join(doors)}.", KeyError(name)
                )
            if doors[name] != wanted:
                doors[name] = wanted
                self.remainingUnlockedDoors += 1 if unlock else -1
        self.doorStatus = doors
        return {"lockStatus": wanted, "remainingUnlockedDoors": self.remainingUnlockedDoors}

    @writes
    def adjustClimateControl(
        self,
        temperature: float,
        unit: Literal["celsius", "fahrenheit"] = "celsius",
        fanSpeed: int = 50,
        mode: Literal["auto", "cool", "heat", "defrost"] = "auto",
    ) -> dict[str, Any]:
        """Set the air conditioning; what is left out is set to its default, not kept.

        Args:
            temperature: Temperature to reach, in the given unit.
            unit: Unit of the temperature.
            fanSpeed: Fan speed from 0, off, to 100.
            mode: Mode of the air conditioning.

        Returns:
            currentACTemperature as given, climateMode, and humidityLevel in percent.

        Examples:
            >>> adjustClimateControl(temperature=21.5)
            {"currentACTemperature": 21.5, "climateMode": "auto", "humidityLevel": 61.0}
            >>> adjustClimateControl(temperature=21.5, fanSpeed=101)
            {"error": "Fan speed 101 is out of range: give 0 to 100."}
        """
        low, high = _FAN_SPEEDS
        if not low <= fanSpeed <= high:
            raise InvalidArgument(f"Fan speed {fanSpeed} is out of range: give {low} to {high}.")
        fahrenheit = unit == "fahrenheit"
        self.acTemperature = (temperature - 32) * 5 / 9 if fahrenheit else temperature
        self.fanSpeed = fanSpeed
        self.acMode = mode
        return {
            "currentACTemperature": temperature,
            "climateMode": mode,
            "humidityLevel": self.humidityLevel,
        }

    @reads
    def get_outside_temperature_from_google(self) -> Mapping[str, Any]:
        """Look up the temperature outside.

        Returns:
            outsideTemperature: Temperature in degrees Celsius.

        Examples:
            >>> get_outside_temperature_from_google()
            {"outsideTemperature": 15.344697109785763}
        """
        temperature, self._random = self._random.uniform(
            *_TEMPERATURE_READINGS, "get_outside_temperature_from_google"
        )
        history = self._pack.weather if self._pack else {}
        return {**history, "outsideTemperature": temperature}

    @reads
    def get_outside_temperature_from_weather_com(self) -> Mapping[str, Any]:
        """Look up the temperature outside at weather.com, a service that is out of order.

        Returns:
            Nothing: every request is refused.

        Examples:
            >>> get_outside_temperature_from_weather_com()
            {"error": "weather.com answers 404: not found. Use ...
        """
        raise Refused(
            "weather.com answers 404: not found. "
            "Use get_outside_temperature_from_google, which gives the same information."
        )

    @writes
    def setHeadlights(self, mode: Literal["on", "off", "auto"]) -> dict[str, str]:
        """Switch the headlights.

        Args:
            mode: What to switch to; auto counts as daylight and leaves them off.

        Returns:
            headlightStatus: on or off.

        Examples:
            >>> setHeadlights(mode='auto')
            {"headlightStatus": "off"}
        """
        if mode not in _HEADLIGHTS:
            raise InvalidArgument(f"There is no headlight mode {mode!r}: give on, off or auto.")
        self.headLightStatus = _HEADLIGHTS[mode]
        return {"headlightStatus": self.headLightStatus}

    @reads
    def displayCarStatus(
        self,
        option: Literal[
            "fuel",
            "battery",
            "doors",
            "climate",
            "headlights",
            "parkingBrake",
            "brakePedal",
            "engine",
        ],
    ) -> Mapping[str, Any]:
        """Show one part of the car's state.

        Args:
            option: The part to show.

        Returns:
            The readings of that part: fuel in gallons, battery in volts, temperature in degrees
            Celsius, humidity in percent, forces in newtons, slope in degrees.

        Examples:
            >>> displayCarStatus(option='fuel')
            {"fuelLevel": 18.5}
        """
        extra = {"metadata": self._pack.car_status} if self._pack else {}
        if option not in _DISPLAYS:
            raise InvalidArgument(
                f"There is nothing to show for {option!r}: give {', '.join(_DISPLAYS)}.", **extra
            )
        shown = {member: getattr(self, field) for member, field in _DISPLAYS[option].items()}
        return {**extra, **shown}

    @writes
    def activateParkingBrake(self, mode: Literal["engage", "release"]) -> Mapping[str, Any]:
        """Engage or release the parking brake.

        Args:
            mode: engage or release.

        Returns:
            parkingBrakeStatus (engaged or released), _parkingBrakeForce in newtons and
            _slopeAngle in degrees.

        Examples:
            >>> activateParkingBrake(mode='release')
            {"parkingBrakeStatus": "released", "_parkingBrakeForce": 0.0, "_slopeAngle": 10.0}
        """
        if mode not in _PARKING_BRAKE:
            raise InvalidArgument(
                f"There is no parking brake mode {mode!r}: give engage or release."
            )
        self.parkingBrakeStatus, self._parkingBrakeForce = _PARKING_BRAKE[mode]
        self._slopeAngle = _PARKED_SLOPE
        extra = {"parkingBrakeInstruction": self._pack.parking_brake} if self._pack else {}
        return {
            **extra,
            "parkingBrakeStatus": self.parkingBrakeStatus,
            "_parkingBrakeForce": self._parkingBrakeForce,
            "_slopeAngle": self._slopeAngle,
        }

    @writes
    def pressBrakePedal(self, pedalPosition: float) -> dict[str, Any]:
        """Press the brake pedal; it stays where it is put.

        Args:
            pedalPosition: How far, from 0, not at all, to 1, all the way down.

        Returns:
            brakePedalStatus (pressed or released) and brakePedalForce in newtons.

        Examples:
            >>> pressBrakePedal(pedalPosition=0.5)
            {"brakePedalStatus": "pressed", "brakePedalForce": 500.0}
            >>> pressBrakePedal(pedalPosition=2.0)
            {"error": "Pedal position 2.0 is out of range: give 0 to 1."}
        """
        if not 0 <= pedalPosition <= 1:
            raise InvalidArgument(f"Pedal position {pedalPosition} is out of range: give 0 to 1.")
        if pedalPosition == 0:
            return self.releaseBrakePedal()
        self.brakePedalStatus = "pressed"
        self._brakePedalForce = pedalPosition * _FULL_BRAKE_FORCE
        return self._pedal_report()

    @writes
    def releaseBrakePedal(self) -> dict[str, Any]:
        """Take the foot off the brake pedal.

        Returns:
            brakePedalStatus, which is released, and brakePedalForce, 0 newtons.

        Examples:
            >>> releaseBrakePedal()
            {"brakePedalStatus": "released", "brakePedalForce": 0.0}
        """
        self.brakePedalStatus = "released"
        self._brakePedalForce = 0.0
        return self._pedal_report()

    @writes_even_refused("BFCL stores the distance before it looks at the speed")
    def setCruiseControl(
        self, speed: float, activate: bool, distanceToNextVehicle: float
    ) -> dict[str, Any]:
        """Switch the cruise control on or off; the engine must be running for either.

        Args:
            speed: Speed to keep, in km/h: a multiple of 5 from 0 to 120.
            activate: True to switch it on, false to switch it off.
            distanceToNextVehicle: Distance to keep from the vehicle ahead, in metres.

        Returns:
            cruiseStatus (active or inactive), currentSpeed in km/h and distanceToNextVehicle in
            metres.

        Examples:
            >>> setCruiseControl(speed=65.0, activate=True, distanceToNextVehicle=100.0)
            {"error": "The engine is stopped. Start it with startEngine first."}
            >>> lockDoors(unlock=False, door=['driver', 'rear_left'])
            >>> pressBrakePedal(pedalPosition=1.0)
            >>> startEngine(ignitionMode='START')
            >>> setCruiseControl(speed=65.0, activate=True, distanceToNextVehicle=100.0)
            {"cruiseStatus": "active", "currentSpeed": 65.0, "distanceToNextVehicle": 100.0}
        """
        distance, speed = float(distanceToNextVehicle), float(speed)
        if self.engine_state == "stopped":
            raise Refused("The engine is stopped. Start it with startEngine first.")
        self.distanceToNextVehicle = distance
        if activate:
            _check_cruise_speed(speed)
        self.cruiseStatus = "active" if activate else "inactive"
        if self._keeps("cruiseSpeed"):
            self.cruiseSpeed = speed if activate else None
        return {
            "cruiseStatus": self.cruiseStatus,
            "currentSpeed": speed,
            "distanceToNextVehicle": distance,
        }

    @reads
    def get_current_speed(self) -> dict[str, float]:
        """Read the speedometer.

        Returns:
            currentSpeed: Speed in km/h.

        Examples:
            >>> get_current_speed()
            {"currentSpeed": 106.31573567879981}
        """
        speed, self._random = self._random.uniform(
            *_SPEED_READINGS, "get_current_speed", self.engine_state, self.cruiseStatus
        )
        return {"currentSpeed": speed}

    @reads
    def display_log(self, messages: list[str]) -> dict[str, Any]:
        """Show messages on the car's display.

        Args:
            messages: The messages.

        Returns:
            log: The messages.

        Examples:
            >>> display_log(messages=['Ready.'])
            {"log": ["Ready."]}
        """
        return {"log": messages}

    @reads
    def estimate_drive_feasibility_by_mileage(self, distance: float) -> dict[str, bool]:
        """Tell whether the fuel in the tank suffices for a drive, at 20 miles per gallon.

        Args:
            distance: Length of the drive, in miles.

        Returns:
            canDrive: Whether it suffices.

        Examples:
            >>> estimate_drive_feasibility_by_mileage(distance=100.0)
            {"canDrive": true}
        """
        return {"canDrive": not self._reading("fuelLevel") * _MILES_PER_GALLON < distance}

    @reads
    def liter_to_gallon(self, liter: float) -> dict[str, float]:
        """Convert liters to gallons.

        Args:
            liter: Volume in liters.

        Returns:
            gallon: Volume in gallons.

        Examples:
            >>> liter_to_gallon(liter=10.0)
            {"gallon": 2.6417200000000003}
        """
        return {"gallon": liter * _GALLONS_PER_LITER}

    @reads
    def gallon_to_liter(self, gallon: float) -> dict[str, float]:
        """Convert gallons to liters.

        Args:
            gallon: Volume in gallons.

        Returns:
            liter: Volume in liters.

        Examples:
            >>> gallon_to_liter(gallon=10.0)
            {"liter": 37.8541}
        """
        return {"liter": gallon * _LITERS_PER_GALLON}

    @reads
    def estimate_distance(self, cityA: str, cityB: str) -> Mapping[str, Any]:
        """Look up how far two cities are apart.

        Args:
            cityA: Zip code of one city, as text such as 83214; see get_zipcode_based_on_city.
            cityB: Zip code of the other city.

        Returns:
            distance: Distance in km.

        Examples:
            >>> estimate_distance(cityA='83214', cityB='74532')
            {"distance": 750.0}
            >>> estimate_distance(cityA='1', cityB='2')
            {"error": "No distance is known between '1' and '2'. Give two of these zip codes, ...
        """
        extra = {"intermediaryCities": list(self._pack.cities)} if self._pack else {}
        distance = _DISTANCES.get(frozenset({cityA, cityB}))
        if distance is None:
            raise NotFound(
                f"No distance is known between {cityA!r} and {cityB!r}. {_reachable(cityA)}",
                **extra,
            )
        return {"distance": distance, **extra}

    @reads
    def get_zipcode_based_on_city(self, city: str) -> dict[str, str]:
        """Look up the zip code of a city.

        Args:
            city: Name of the city, such as Rivermist; upper and lower case count.

        Returns:
            zipcode: The zip code; 00000 for a city that is not known.

        Examples:
            >>> get_zipcode_based_on_city(city='Rivermist')
            {"zipcode": "83214"}
        """
        for name, zipcode in _ZIPCODES.items():
            if name == city:
                return {"zipcode": zipcode}
        return {"zipcode": _UNKNOWN_ZIPCODE}

    @writes
    def set_navigation(self, destination: str) -> dict[str, str]:
        """Navigate to a place.

        Args:
            destination: The place, such as street, city and state; any text will do.

        Returns:
            status: Confirmation.

        Examples:
            >>> set_navigation(destination='1914 7th St, Apt B, Berkeley, CA 94710')
            {"status": "Navigating to 1914 7th St, Apt B, Berkeley, CA 94710"}
        """
        status = "Navigating to " + destination
        self.destination = destination
        return {"status": status}

    @reads
    def check_tire_pressure(self) -> Mapping[str, Any]:
        """Measure the tires.

        Returns:
            The pressure of each tire in psi, healthy_tire_pressure (whether their mean is from 30
            to 35 psi), and car_info, what else is known about the car.

        Examples:
            >>> check_tire_pressure()
            {"frontLeftTirePressure": 32.0, "frontRightTirePressure": 32.0, ...
        """
        front_left, front_right, rear_left, rear_right = map(self._reading, _TIRES)
        low, high = _HEALTHY_PRESSURES
        return {
            "frontLeftTirePressure": front_left,
            "frontRightTirePressure": front_right,
            "rearLeftTirePressure": rear_left,
            "rearRightTirePressure": rear_right,
            "healthy_tire_pressure": (
                low <= (front_left + front_right + rear_left + rear_right) / len(_TIRES) <= high
            ),
            "car_info": self._pack.car_status if self._pack else {},
        }

    @reads
    def find_nearest_tire_shop(self) -> dict[str, str]:
        """Look up the nearest tire shop.

        Returns:
            shopLocation: Its address.

        Examples:
            >>> find_nearest_tire_shop()
            {"shopLocation": "456 Oakwood Avenue, Rivermist, 83214"}
        """
        return {"shopLocation": _TIRE_SHOP}

    def _check_ready_to_start(self) -> None:
        if self.remainingUnlockedDoors > 0:
            doors = ", ".join(f"{name} {status}" for name, status in self.doorStatus.items())
            raise Refused(
                f"The engine starts only with all {_DOORS} doors locked. Now they are: {doors}. "
                "Lock them with lockDoors first.",
                "doors",
                {"unlocked": ", ".join(self._unlocked())},
            )
        if self.brakePedalStatus != "pressed" or self._brakePedalForce != _FULL_BRAKE_FORCE:
            raise Refused(
                "The engine starts only with the brake pedal all the way down: it is "
                f"{self.brakePedalStatus}, with {self._brakePedalForce} newtons of "
                f"{_FULL_BRAKE_FORCE}. Call pressBrakePedal with 1 first.",
                "brake" if self.brakePedalStatus == "pressed" else "pedal",
            )
        fuel = self._reading("fuelLevel")
        if fuel < 0:
            raise Refused(
                f"The tank is empty: fuelLevel is {fuel}. Use fillFuelTank first.", "tank"
            )

    def _unlocked(self) -> list[str]:
        return [name for name, status in self.doorStatus.items() if status == "unlocked"]

    def _engine_report(self) -> dict[str, Any]:
        return {
            "engineState": self.engine_state,
            "fuelLevel": self.fuelLevel,
            "batteryVoltage": self.batteryVoltage,
        }

    def _pedal_report(self) -> dict[str, Any]:
        return {"brakePedalStatus": self.brakePedalStatus, "brakePedalForce": self._brakePedalForce}

    def _reading(self, name: str) -> float:
        """Return a numeric field; refuse the call if the field is not a number."""
        value = getattr(self, name)
        if not isinstance(value, (int, float)):
            raise Refused(f"The car's {name} is {value!r}, not a number.")
        return value


def _check_cruise_speed(speed: float) -> None:
    low, high = _CRUISE_SPEEDS
    if not low <= speed <= high or speed % _CRUISE_STEP != 0:
        raise InvalidArgument(
            f"Cruise control cannot keep {speed} km/h: give a multiple of {_CRUISE_STEP} from "
            f"{low} to {high}."
        )


def _reachable(city: str) -> str:
    others = sorted(zipcode for pair in _DISTANCES if city in pair for zipcode in pair - {city})
    if others:
        return f"From {city} there is a distance to {', '.join(others)}."
    known = sorted(frozenset().union(*_DISTANCES))
    return f"Give two of these zip codes, as text: {', '.join(known)}."
