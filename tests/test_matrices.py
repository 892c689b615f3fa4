"""Products of matrices: against NumPy and exact sums, on shapes that no tile divides."""

from fractions import Fraction

import numpy as np
import pytest

from gamesim.engine.matrices import (
    PARTS,
    STRIP,
    Work,
    add_packed,
    add_product,
    add_small_product,
    contract,
    contract_in_parts,
    multiply_both_sides,
    pack,
    tile_width,
)
from gamesim.engine.together import in_panels

RANDOM = np.random.default_rng(7)


@pytest.mark.parametrize(("height", "width"), [(1, 1), (3, 5), (7, 2), (13, 29), (130, 9)])
@pytest.mark.parametrize("count", [0, 1, 17, 64])
def test_outer_products_are_added_to_the_right_entries(height: int, width: int, count: int) -> None:
    block = RANDOM.random((65, height + width))
    block[:, : height // 2] = 0.0  # abandoned actions
    total = RANDOM.random(height * width + 5)
    before = total.copy()
    entries, actions = block.ravel(), height + width
    work, again = Work.allocated(64, height), total.copy()
    add_product(entries, 0, actions, entries, height, actions, count, total, 2, height, width, work)
    add_small_product(entries, 0, actions, entries, height, actions, count, again, 2, height, width, work)
    assert again.tobytes() == total.tobytes()
    added = (total - before)[2:-3].reshape(height, width)
    assert added == pytest.approx(block[:count, :height].T @ block[:count, height:])
    assert np.array_equal(total[[0, 1, -3, -2, -1]], before[[0, 1, -3, -2, -1]])


@pytest.mark.parametrize(("rows", "columns"), [(1, 3), (40, 7), (67, 53)])
@pytest.mark.parametrize("zeros", [0.0, 0.6])
def test_one_product_and_many_at_once_are_the_same_bits(rows: int, columns: int, zeros: float) -> None:
    table = RANDOM.uniform(-1, 1, (rows, columns))
    weights = RANDOM.random((5, rows)) * (RANDOM.random((5, rows)) >= zeros)
    alone = np.zeros((5, columns))
    for one, result in zip(weights, alone, strict=True):
        contract(one, table.ravel(), result, np.zeros(rows))
    exact = sum(Fraction(a) * Fraction(b) for a, b in zip(weights[3].tolist(), table[:, -1].tolist(), strict=True))
    assert alone[3, -1] == pytest.approx(float(exact), abs=1e-14)

    work, together, panels = Work.allocated(rows, 5), np.zeros(5 * columns), in_panels([table], opposite=False)
    work.sources[:], work.rows[:] = np.arange(5) * rows, np.arange(5) * columns
    pack(weights.ravel(), 1, rows, 5, work)
    first = 0
    while first < columns:
        width = tile_width(columns - first)
        add_packed(work.numbers, 0, 5, 5, panels, first * rows, width, rows, width, together, work.rows, first, 1)
        first += width
    assert together.tobytes() == alone.tobytes()


@pytest.mark.parametrize(("rows", "columns"), [(16, 16), (17, 40), (43, 29), (64, 71)])
@pytest.mark.parametrize("zeros", [0.0, 0.6])
def test_one_pass_and_two_are_the_same_bits(rows: int, columns: int, zeros: float) -> None:
    table = RANDOM.uniform(-1, 1, (rows, columns))
    left, right = (RANDOM.random(size) * (RANDOM.random(size) >= zeros) for size in (rows, columns))
    beside, below, parts = np.zeros(rows), np.zeros(columns), np.zeros(STRIP * PARTS)
    multiply_both_sides(left, table.ravel(), right, beside, below, parts)
    exact = -sum(Fraction(a) * Fraction(b) for a, b in zip(table[-1].tolist(), right.tolist(), strict=True))
    assert beside[-1] == pytest.approx(float(exact), abs=1e-14)
    assert beside == pytest.approx(-table @ right, abs=1e-13)

    alone = np.zeros(rows), np.zeros(columns)
    contract_in_parts(right, -table.T.ravel(), alone[0], np.zeros(columns), np.zeros(PARTS * rows))
    contract(left, table.ravel(), alone[1], np.zeros(rows))
    assert (beside.tobytes(), below.tobytes()) == (alone[0].tobytes(), alone[1].tobytes())
