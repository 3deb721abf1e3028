"""Geography functions: countries, positions of cities, distances and time differences.

They are stateless. Areas are in square kilometres, distances in kilometres on a sphere of radius
6371. Populations are rounded figures of about 2023.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple, TypeVar

from envs.backend import Backend, NoConfig, reads
from envs.errors import NotFound
from extensions.library.bounds import check_between


class Country(NamedTuple):
    """A country."""

    name: str
    capital: str
    continent: str
    area: int
    """Square kilometres, rounded."""
    population: int
    """Rounded to hundred thousands."""
    currency: str
    """Code by ISO 4217."""
    calling_code: int


class City(NamedTuple):
    """A city."""

    name: str
    country: str
    latitude: float
    """Degrees, north positive."""
    longitude: float
    """Degrees, east positive."""
    utc_offset: float
    """Offset of standard time from UTC in hours."""


COUNTRIES = tuple(
    Country(*row)
    for row in (
        ("Argentina", "Buenos Aires", "South America", 2_780_000, 45_900_000, "ARS", 54),
        ("Australia", "Canberra", "Oceania", 7_690_000, 26_600_000, "AUD", 61),
        ("Austria", "Vienna", "Europe", 83_900, 9_100_000, "EUR", 43),
        ("Brazil", "Brasilia", "South America", 8_520_000, 211_000_000, "BRL", 55),
        ("Canada", "Ottawa", "North America", 9_980_000, 40_100_000, "CAD", 1),
        ("Chile", "Santiago", "South America", 756_000, 19_600_000, "CLP", 56),
        ("China", "Beijing", "Asia", 9_600_000, 1_410_000_000, "CNY", 86),
        ("Denmark", "Copenhagen", "Europe", 43_000, 5_900_000, "DKK", 45),
        ("Egypt", "Cairo", "Africa", 1_000_000, 112_700_000, "EGP", 20),
        ("Finland", "Helsinki", "Europe", 338_000, 5_600_000, "EUR", 358),
        ("France", "Paris", "Europe", 551_000, 68_200_000, "EUR", 33),
        ("Germany", "Berlin", "Europe", 357_600, 83_300_000, "EUR", 49),
        ("Ghana", "Accra", "Africa", 238_500, 33_800_000, "GHS", 233),
        ("India", "New Delhi", "Asia", 3_290_000, 1_438_000_000, "INR", 91),
        ("Italy", "Rome", "Europe", 302_000, 59_000_000, "EUR", 39),
        ("Japan", "Tokyo", "Asia", 378_000, 124_500_000, "JPY", 81),
        ("Kenya", "Nairobi", "Africa", 580_400, 55_300_000, "KES", 254),
        ("Mexico", "Mexico City", "North America", 1_964_000, 129_700_000, "MXN", 52),
        ("New Zealand", "Wellington", "Oceania", 268_000, 5_200_000, "NZD", 64),
        ("Norway", "Oslo", "Europe", 385_200, 5_500_000, "NOK", 47),
        ("Peru", "Lima", "South America", 1_285_000, 33_800_000, "PEN", 51),
        ("Spain", "Madrid", "Europe", 506_000, 48_400_000, "EUR", 34),
        ("Sweden", "Stockholm", "Europe", 450_300, 10_500_000, "SEK", 46),
        ("Thailand", "Bangkok", "Asia", 513_100, 71_700_000, "THB", 66),
        ("United Kingdom", "London", "Europe", 243_600, 68_500_000, "GBP", 44),
    )
)

CITIES = (
    City("Accra", "Ghana", 5.6, -0.19, 0),
    City("Auckland", "New Zealand", -36.85, 174.76, 12),
    City("Bangkok", "Thailand", 13.75, 100.5, 7),
    City("Beijing", "China", 39.9, 116.4, 8),
    City("Berlin", "Germany", 52.52, 13.4, 1),
    City("Brasilia", "Brazil", -15.79, -47.88, -3),
    City("Buenos Aires", "Argentina", -34.6, -58.38, -3),
    City("Cairo", "Egypt", 30.04, 31.24, 2),
    City("Copenhagen", "Denmark", 55.68, 12.57, 1),
    City("Helsinki", "Finland", 60.17, 24.94, 2),
    City("Lima", "Peru", -12.05, -77.04, -5),
    City("London", "United Kingdom", 51.51, -0.13, 0),
    City("Madrid", "Spain", 40.42, -3.7, 1),
    City("Mexico City", "Mexico", 19.43, -99.13, -6),
    City("Nairobi", "Kenya", -1.29, 36.82, 3),
    City("New Delhi", "India", 28.61, 77.21, 5.5),
    City("Oslo", "Norway", 59.91, 10.75, 1),
    City("Paris", "France", 48.86, 2.35, 1),
    City("Rome", "Italy", 41.9, 12.5, 1),
    City("Santiago", "Chile", -33.45, -70.67, -4),
    City("Stockholm", "Sweden", 59.33, 18.07, 1),
    City("Sydney", "Australia", -33.87, 151.21, 10),
    City("Tokyo", "Japan", 35.68, 139.69, 9),
    City("Toronto", "Canada", 43.65, -79.38, -5),
    City("Vienna", "Austria", 48.21, 16.37, 1),
)


_RADIUS = 6371.0
_COUNTRIES = {country.name: country for country in COUNTRIES}
_CITIES = {city.name: city for city in CITIES}
_CONTINENTS = {
    continent: [country for country in COUNTRIES if country.continent == continent]
    for continent in sorted({country.continent for country in COUNTRIES})
}
_Known = TypeVar("_Known")


class GeographyTools(Backend):
    """Functions for countries and cities."""

    Config = NoConfig

    @reads
    def country_facts(self, country: str) -> dict[str, Any]:
        """Return facts about a country.

        Args:
            country: English name of the country, such as New Zealand.

        Returns:
            The country: name, capital, continent, area, population, currency, calling_code.

        Examples:
            >>> country_facts(country='Norway')
            {"name": "Norway", "capital": "Oslo", "continent": "Europe", "area": 385200, ...
            >>> country_facts(country='Norwey')
            {"error": "Unknown country 'Norwey'. Did you mean Norway?"}
        """
        return _country(country)._asdict()

    @reads
    def capital_of(self, country: str) -> dict[str, Any]:
        """Return the capital of a country.

        Args:
            country: English name of the country.

        Returns:
            capital: Name of the capital.

        Examples:
            >>> capital_of(country='Kenya')
            {"capital": "Nairobi"}
            >>> capital_of(country='Atlantis')
            {"error": "Unknown country 'Atlantis'."}
        """
        return {"capital": _country(country).capital}

    @reads
    def country_of_capital(self, capital: str) -> dict[str, Any]:
        """Find the country that has a given capital.

        Args:
            capital: English name of the capital.

        Returns:
            country: Name of the country.

        Examples:
            >>> country_of_capital(capital='Lima')
            {"country": "Peru"}
            >>> country_of_capital(capital='Sydney')
            {"error": "Unknown capital 'Sydney'."}
        """
        by_capital = {country.capital: country.name for country in COUNTRIES}
        return {"country": _found("capital", capital, by_capital)}

    @reads
    def countries_of(self, continent: str) -> dict[str, Any]:
        """List the known countries of a continent.

        Args:
            continent: Africa, Asia, Europe, North America, Oceania or South America.

        Returns:
            countries: Names in alphabetical order.

        Examples:
            >>> countries_of(continent='Oceania')
            {"countries": ["Australia", "New Zealand"]}
            >>> countries_of(continent='Moon')
            {"error": "Unknown continent 'Moon'."}
        """
        return {"countries": [country.name for country in _on(continent)]}

    @reads
    def largest_countries(
        self, continent: str, limit: int, by: Literal["area", "population"] = "area"
    ) -> dict[str, Any]:
        """List the largest known countries of a continent.

        Args:
            continent: Africa, Asia, Europe, North America, Oceania or South America.
            limit: Maximum number of countries, from 1 to 50.
            by: Compare countries by area in square kilometres, or by population.

        Returns:
            countries: Name and value of each country, largest first.

        Examples:
            >>> largest_countries(continent='Africa', limit=1, by='population')
            {"countries": [{"name": "Egypt", "value": 112700000}]}
            >>> largest_countries(continent='Africa', limit=0)
            {"error": "limit must be from 1 to 50, not 0."}
        """
        check_between("limit", limit, 1, 50)
        sizes = {c.name: c.area if by == "area" else c.population for c in _on(continent)}
        ordered = sorted(sizes.items(), key=lambda item: -item[1])
        return {"countries": [{"name": name, "value": size} for name, size in ordered[:limit]]}

    @reads
    def population_density(self, country: str) -> dict[str, Any]:
        """Return the population density of a country.

        Args:
            country: English name of the country.

        Returns:
            density: People per square kilometre.

        Examples:
            >>> population_density(country='Denmark')
            {"density": 137.2...}
            >>> population_density(country='')
            {"error": "Unknown country ''."}
        """
        found = _country(country)
        return {"density": found.population / found.area}

    @reads
    def city_position(self, city: str) -> dict[str, Any]:
        """Return the country and the coordinates of a city.

        Args:
            city: English name of the city, such as Mexico City.

        Returns:
            country: Country of the city.
            latitude: Degrees; positive for north.
            longitude: Degrees; positive for east.

        Examples:
            >>> city_position(city='Tokyo')
            {"country": "Japan", "latitude": 35.68, "longitude": 139.69}
            >>> city_position(city='Tokio')
            {"error": "Unknown city 'Tokio'. Did you mean Tokyo?"}
        """
        found = _city(city)
        return {
            "country": found.country, "latitude": found.latitude, "longitude": found.longitude
        }  # fmt: skip

    @reads
    def city_distance(self, from_city: str, to_city: str) -> dict[str, Any]:
        """Calculate how far apart two cities are (great-circle distance).

        Args:
            from_city: English name of the first city.
            to_city: English name of the second city.

        Returns:
            kilometres: Distance in kilometres.

        Examples:
            >>> city_distance(from_city='Berlin', to_city='Paris')
            {"kilometres": 87...}
            >>> city_distance(from_city='Berlin', to_city='Gotham')
            {"error": "Unknown city 'Gotham'."}
        """
        one, other = _city(from_city), _city(to_city)
        place = (other.latitude, other.longitude)
        return {"kilometres": _distance((one.latitude, one.longitude), place)}

    @reads
    def nearest_city(self, latitude: float, longitude: float) -> dict[str, Any]:
        """Find the known city that is nearest to a position.

        Args:
            latitude: Degrees from -90 to 90; positive for north.
            longitude: Degrees from -180 to 180; positive for east.

        Returns:
            city: Name of the city.
            kilometres: Distance to the city in kilometres.

        Examples:
            >>> nearest_city(latitude=48.86, longitude=2.35)
            {"city": "Paris", "kilometres": 0.0}
            >>> nearest_city(latitude=91, longitude=0)
            {"error": "latitude must be from -90 to 90, not 91."}
        """
        check_between("latitude", latitude, -90, 90)
        check_between("longitude", longitude, -180, 180)
        place = (latitude, longitude)
        distances = [(_distance(place, (c.latitude, c.longitude)), c.name) for c in CITIES]
        distance, name = min(distances)
        return {"city": name, "kilometres": distance}

    @reads
    def time_difference(self, from_city: str, to_city: str) -> dict[str, Any]:
        """Calculate the time difference between two cities in standard time.

        Args:
            from_city: English name of the first city.
            to_city: English name of the second city.

        Returns:
            hours: Hours by which the second city is ahead; negative if it is behind.

        Examples:
            >>> time_difference(from_city='London', to_city='New Delhi')
            {"hours": 5.5}
            >>> time_difference(from_city='London', to_city='Delhi')
            {"error": "Unknown city 'Delhi'. Did you mean New Delhi?"}
        """
        return {"hours": _city(to_city).utc_offset - _city(from_city).utc_offset}


def _country(name: str) -> Country:
    return _found("country", name, _COUNTRIES)


def _city(name: str) -> City:
    return _found("city", name, _CITIES)


def _on(continent: str) -> list[Country]:
    return _found("continent", continent, _CONTINENTS)


def _found(kind: str, name: str, known: Mapping[str, _Known]) -> _Known:
    if name in known:
        return known[name]
    close = get_close_matches(name[:50], list(known), n=1)
    advice = f" Did you mean {close[0]}?" if close else ""
    raise NotFound(f"Unknown {kind} {name[:50]!r}.{advice}")


def _distance(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return the haversine distance, in kilometres, between two positions."""
    (latitude, longitude), (other_latitude, other_longitude) = one, other
    up = math.sin(math.radians(other_latitude - latitude) / 2) ** 2
    along = math.sin(math.radians(other_longitude - longitude) / 2) ** 2
    cosines = math.cos(math.radians(latitude)) * math.cos(math.radians(other_latitude))
    return 2 * _RADIUS * math.asin(min(1.0, math.sqrt(up + cosines * along)))
