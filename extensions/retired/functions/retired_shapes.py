"""Shapes and motion under the names and parameters of BFCL's retired executable entries.

The functions are stateless. Turnwise computes the results, and judges calls by the results.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from envs.backend import Backend, NoConfig, reads
from extensions.library.bounds import check_between, check_count, check_numbers

_MAX_POINTS = 50


class RetiredShapes(Backend):
    """Areas, distances and motion of BFCL's retired executable entries."""

    Config = NoConfig

    @reads
    def calculate_triangle_area(self, base: float, height: float) -> dict[str, Any]:
        """Calculate the area of a triangle.

        Args:
            base: Length of the base, from 0 to 1e9.
            height: Height above the base, from 0 to 1e9.

        Returns:
            area: Area.

        Examples:
            >>> calculate_triangle_area(base=4, height=3)
            {"area": 6.0}
            >>> calculate_triangle_area(base=-4, height=3)
            {"error": "base must be from 0 to 1000000000.0, not -4."}
        """
        return {"area": _size("base", base) * _size("height", height) / 2}

    @reads
    def geometry_area_circle(self, radius: float) -> dict[str, Any]:
        """Calculate the area of a circle.

        Args:
            radius: Radius, from 0 to 1e9.

        Returns:
            area: Area.

        Examples:
            >>> geometry_area_circle(radius=1)
            {"area": 3.141592653589793}
            >>> geometry_area_circle(radius=-1)
            {"error": "radius must be from 0 to 1000000000.0, not -1."}
        """
        return {"area": math.pi * _size("radius", radius) ** 2}

    @reads
    def polygon_area(self, vertices: Sequence[Sequence[float]]) -> dict[str, Any]:
        """Calculate the area of a polygon.

        Args:
            vertices: 3 to 50 corners in order, each as [x, y].

        Returns:
            area: Area.

        Examples:
            >>> polygon_area(vertices=[[0, 0], [2, 0], [2, 1]])
            {"area": 1.0}
            >>> polygon_area(vertices=[[0, 0], [2, 0]])
            {"error": "The length of vertices must be from 3 to 50, not 2."}
        """
        check_count("vertices", vertices, 3, _MAX_POINTS)
        corners = [_point("a corner", each) for each in vertices]
        ahead = [*corners[1:], corners[0]]
        twice = math.fsum(a * d - c * b for (a, b), (c, d) in zip(corners, ahead, strict=True))
        return {"area": abs(twice) / 2}

    @reads
    def get_distance(self, pointA: Sequence[float], pointB: Sequence[float]) -> dict[str, Any]:
        """Calculate the distance between two points in a plane.

        Args:
            pointA: First point, as [x, y].
            pointB: Second point, as [x, y].

        Returns:
            distance: Straight-line distance.

        Examples:
            >>> get_distance(pointA=[0, 0], pointB=[3, 4])
            {"distance": 5.0}
            >>> get_distance(pointA=[0], pointB=[3, 4])
            {"error": "The length of pointA must be 2, not 1."}
        """
        return {"distance": math.dist(_point("pointA", pointA), _point("pointB", pointB))}

    @reads
    def maxPoints(self, points: Sequence[Sequence[float]]) -> dict[str, Any]:
        """Return the largest number of points that lie on one straight line.

        Args:
            points: 1 to 50 points, each as [x, y].

        Returns:
            points: Number of points on the line.

        Examples:
            >>> maxPoints(points=[[0, 0], [1, 1], [2, 2], [0, 5]])
            {"points": 3}
            >>> maxPoints(points=[])
            {"error": "The length of points must be from 1 to 50, not 0."}
        """
        check_count("points", points, 1, _MAX_POINTS)
        there = [_point("a point", each) for each in points]
        most = max(there.count(each) for each in there)
        for (ax, ay), (bx, by) in combinations(set(there), 2):
            on_line = [(bx - ax) * (y - ay) == (by - ay) * (x - ax) for x, y in there]
            most = max(most, sum(on_line))
        return {"points": most}

    @reads
    def calculate_density(self, mass: float, volume: float) -> dict[str, Any]:
        """Calculate the density of a body.

        Args:
            mass: Mass, from 0 to 1e9.
            volume: Volume, above 0.

        Returns:
            density: Mass per volume.

        Examples:
            >>> calculate_density(mass=6, volume=3)
            {"density": 2.0}
            >>> calculate_density(mass=6, volume=0)
            {"error": "volume must be from 1e-09 to 1000000000.0, not 0."}
        """
        check_between("volume", volume, 1e-9, 1e9)
        return {"density": _size("mass", mass) / volume}

    @reads
    def calculate_displacement(
        self, initial_velocity: float, acceleration: float, time: float
    ) -> dict[str, Any]:
        """Calculate the displacement of a body under constant acceleration.

        Args:
            initial_velocity: Initial velocity.
            acceleration: Acceleration.
            time: Duration, from 0 to 1e9.

        Returns:
            displacement: Displacement.

        Examples:
            >>> calculate_displacement(initial_velocity=2, acceleration=1, time=4)
            {"displacement": 16.0}
            >>> calculate_displacement(initial_velocity=2, acceleration=1, time=-4)
            {"error": "time must be from 0 to 1000000000.0, not -4."}
        """
        check_numbers("[initial_velocity, acceleration]", [initial_velocity, acceleration])
        _size("time", time)
        return {"displacement": initial_velocity * time + acceleration * time * time / 2}

    @reads
    def calculate_final_velocity(
        self, initial_velocity: float, acceleration: float, time: float
    ) -> dict[str, Any]:
        """Calculate the final velocity of a body under constant acceleration.

        Args:
            initial_velocity: Initial velocity.
            acceleration: Acceleration.
            time: Duration, from 0 to 1e9.

        Returns:
            velocity: Final velocity.

        Examples:
            >>> calculate_final_velocity(initial_velocity=2, acceleration=1.5, time=4)
            {"velocity": 8.0}
            >>> calculate_final_velocity(initial_velocity=2, acceleration=1.5, time=-4)
            {"error": "time must be from 0 to 1000000000.0, not -4."}
        """
        check_numbers("[initial_velocity, acceleration]", [initial_velocity, acceleration])
        return {"velocity": initial_velocity + acceleration * _size("time", time)}

    @reads
    def calculate_electrostatic_potential_energy(
        self, charge: float, voltage: float
    ) -> dict[str, Any]:
        """Calculate the potential energy of an electric charge at a voltage.

        Args:
            charge: Charge in coulombs.
            voltage: Voltage in volts.

        Returns:
            energy: Energy in joules.

        Examples:
            >>> calculate_electrostatic_potential_energy(charge=2, voltage=9)
            {"energy": 18}
            >>> calculate_electrostatic_potential_energy(charge=2e15, voltage=9)
            {"error": "[charge, voltage] contains 2000000000000000.0; numbers must be from ..."}
        """
        check_numbers("[charge, voltage]", [charge, voltage])
        return {"energy": charge * voltage}


def _size(name: str, value: float) -> float:
    check_between(name, value, 0, 1e9)
    return value


def _point(name: str, point: Sequence[float]) -> tuple[float, float]:
    check_count(name, point, 2, 2)
    check_numbers(name, point)
    return point[0], point[1]
