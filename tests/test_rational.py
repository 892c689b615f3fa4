"""Exact arithmetic against fractions and programs known from elsewhere."""

from fractions import Fraction

import pytest

from gamesim.measure.rational import maximise, written


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (648407 / 912429, Fraction(648407, 912429)),  # a small denominator, although it prints as 0.710638307199793
        (1234567 / 7654321, Fraction(1234567, 7654321)),  # a large one, but it prints with sixteen digits
        (0.123456789012345, Fraction(123456789012345, 10**15)),  # fifteen digits
        (-0.000123456789, Fraction(-123456789, 10**12)),
    ],
)
def test_numbers_are_the_fractions_that_users_mean(value: float, meant: Fraction) -> None:
    assert written(value) == meant
    assert float(meant) == value


@pytest.mark.parametrize(
    ("profit", "rows", "point", "value"),
    [
        (  # Beale (1955), "Cycling in the dual simplex algorithm"; the rows are multiplied by 100
            [75, -15000, 2, -600],
            [[25, -6000, -4, 900], [50, -9000, -2, 300], [0, 0, 1, 0]],
            [Fraction(1, 25), Fraction(0), Fraction(1), Fraction(0)],
            Fraction(5),
        ),
        (  # Chvátal (1983), "Linear programming", chapter 3; the rows are multiplied by 2
            [10, -57, -9, -24],
            [[1, -11, -5, 18], [1, -3, -1, 2], [1, 0, 0, 0]],
            [Fraction(1), Fraction(0), Fraction(1), Fraction(0)],
            Fraction(1),
        ),
    ],
)
def test_degenerate_programs_that_are_known_for_cycles_are_solved(
    profit: list[int], rows: list[list[int]], point: list[Fraction], value: Fraction
) -> None:
    assert maximise(profit, rows, [0, 0, 1]) == (point, value)
