"""Shapes and motion of BFCL's retired entries: known values and refusals."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.extensions.library.calling import refusal, value

NAME = "RetiredShapes"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("calculate_triangle_area(base=0, height=5)", 0),
        ("geometry_area_circle(radius=2)", pytest.approx(4 * math.pi)),
        ("polygon_area(vertices=[[0, 0], [0, 1], [1, 1], [1, 0]])", 1),
        ("polygon_area(vertices=((0, 0), (1, 0), (1, 1)))", 0.5),
        ("get_distance(pointA=(1, 1), pointB=[4, 5])", 5),
        ("maxPoints(points=[[1, 1]])", 1),
        ("maxPoints(points=[[1, 1], [1, 1], [2, 3]])", 3),
        ("maxPoints(points=[[1, 1], [1, 2], [1, 7], [2, 2], [3, 3]])", 3),
        ("calculate_density(mass=0, volume=2)", 0),
        ("calculate_displacement(initial_velocity=20, acceleration=-9.8, time=5)", -22.5),
        ("calculate_final_velocity(initial_velocity=0, acceleration=9.8, time=0)", 0),
        ("calculate_electrostatic_potential_energy(charge=-2, voltage=3)", -6),
    ],
)
def test_known_values(call: str, expected: Any) -> None:
    assert value(NAME, call) == expected


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("polygon_area(vertices=[[0, 0], [0, 1], [1]])", "The length of a corner must be"),
        ("maxPoints(points=[[1, 2, 3]])", "The length of a point must be"),
        ("maxPoints(points=[])", "The length of points must be"),
        ("get_distance(pointA=[1e13, 0], pointB=[0, 0])", "from -1e12 to 1e12"),
        ("geometry_area_circle(radius=1e10)", "radius must be from"),
        ("calculate_displacement(initial_velocity=1e13, acceleration=0, time=0)", "1e12"),
    ],
)
def test_refusals(call: str, reason: str) -> None:
    assert reason in refusal(NAME, call)
