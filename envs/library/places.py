"""Countries and cities as the geography functions know them."""

from __future__ import annotations

from typing import NamedTuple


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
    """Hours of standard time ahead of UTC."""


COUNTRIES = (
    Country("Argentina", "Buenos Aires", "South America", 2_780_000, 45_900_000, "ARS", 54),
    Country("Australia", "Canberra", "Oceania", 7_690_000, 26_600_000, "AUD", 61),
    Country("Austria", "Vienna", "Europe", 83_900, 9_100_000, "EUR", 43),
    Country("Brazil", "Brasilia", "South America", 8_520_000, 211_000_000, "BRL", 55),
    Country("Canada", "Ottawa", "North America", 9_980_000, 40_100_000, "CAD", 1),
    Country("Chile", "Santiago", "South America", 756_000, 19_600_000, "CLP", 56),
    Country("China", "Beijing", "Asia", 9_600_000, 1_410_000_000, "CNY", 86),
    Country("Denmark", "Copenhagen", "Europe", 43_000, 5_900_000, "DKK", 45),
    Country("Egypt", "Cairo", "Africa", 1_000_000, 112_700_000, "EGP", 20),
    Country("Finland", "Helsinki", "Europe", 338_000, 5_600_000, "EUR", 358),
    Country("France", "Paris", "Europe", 551_000, 68_200_000, "EUR", 33),
    Country("Germany", "Berlin", "Europe", 357_600, 83_300_000, "EUR", 49),
    Country("Ghana", "Accra", "Africa", 238_500, 33_800_000, "GHS", 233),
    Country("India", "New Delhi", "Asia", 3_290_000, 1_438_000_000, "INR", 91),
    Country("Italy", "Rome", "Europe", 302_000, 59_000_000, "EUR", 39),
    Country("Japan", "Tokyo", "Asia", 378_000, 124_500_000, "JPY", 81),
    Country("Kenya", "Nairobi", "Africa", 580_400, 55_300_000, "KES", 254),
    Country("Mexico", "Mexico City", "North America", 1_964_000, 129_700_000, "MXN", 52),
    Country("New Zealand", "Wellington", "Oceania", 268_000, 5_200_000, "NZD", 64),
    Country("Norway", "Oslo", "Europe", 385_200, 5_500_000, "NOK", 47),
    Country("Peru", "Lima", "South America", 1_285_000, 33_800_000, "PEN", 51),
    Country("Spain", "Madrid", "Europe", 506_000, 48_400_000, "EUR", 34),
    Country("Sweden", "Stockholm", "Europe", 450_300, 10_500_000, "SEK", 46),
    Country("Thailand", "Bangkok", "Asia", 513_100, 71_700_000, "THB", 66),
    Country("United Kingdom", "London", "Europe", 243_600, 68_500_000, "GBP", 44),
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
