"""The matrix learner of the wavelet learners: scalar learners on Haar features, and the matrix that they predict.

The gradient matrix is transformed row by row into feature gradients, from which the scalar learners compute their next
predictions. The improper matrix is restored from these, projected to a stochastic matrix, and its fixed point is the
next strategy.
"""

from typing import NamedTuple

import numpy as np

from gamesim.engine.compiled import Integers, Vector, inlined, kernel, part
from gamesim.engine.layout import Layout
from gamesim.players._kernels.eights import Number, choose, eight, only, put, some, take
from gamesim.players._kernels.fixed_point import approach, solve
from gamesim.players._kernels.haar import level_of, merge, restore
from gamesim.players._kernels.numeric import (
    add_rest,
    copy,
    fill,
    product_with_positive,
    sum_of,
    sum_of_positive,
    vectorise_widely,
)
from gamesim.players._kernels.reduction import reduction
from gamesim.players._kernels.scalar import (
    BLOCKS,
    CONTINUOUS,
    OPTIMISTIC,
    advance_blocks,
    advance_continuous,
    advance_optimistic,
)

# Rounding must not break ties: symmetric games are full of exact ones.
NO_ENTRY = 1e-14  # improper entries up to this size count as 0
NO_LOSS = 1e-13  # centred losses up to this size count as 0
RUN = 8  # columns restored together: one cache line
FLAT = 8192  # about this many scalar learners advance together: their gradients fit into a fast cache


class Settings(NamedTuple):
    """Kernel settings; D is the number of augmented indices."""

    clock: int
    size: int  # D
    limit: float  # hints are trusted while their total cost is at most this
    guard: float  # κ, for hints
    rows: int  # of gradients that are transformed together, `rows_together`
    owners: Integers  # the action that owns each augmented index
    scales: Vector  # ε: of the all-one vector's row of features, of the rows that advance together, of the identity


SETTINGS = Layout(
    Settings,
    "",
    clock="int",
    size="int",
    limit="float",
    guard="float",
    rows="int",
    owners="int[size]",
    scales="rest",
    aligned=True,
)
settings_view = SETTINGS.view


class Own(NamedTuple):
    """Matrix-learner state, with D² + 1 features: row by row in Haar order, then the identity."""

    improper: Vector  # the predicted matrix, row by row
    sums: Vector  # the sum of the positive part of each of its rows
    pending: Vector  # pending rows of the transforms: one per scale, and one more
    block: Vector  # rows of gradients that are transformed together, and the gradient of the identity
    losses: Vector  # by augmented index
    begins: Vector  # the first row to restore in each column; D if none, and 0 before the first round
    ends: Vector  # the end (exclusive) of the rows to restore; 0 if none
    span: Vector  # the first row and the end of the rows to restore in all columns; the end is 0 if none
    rows: Vector  # which rows to project
    moved: Vector  # the numbers of the predictions that changed, of the features that advance together
    roots: Vector  # of their times
    hinted: Vector  # which rows of features have hints; those of a block are in its second row
    worth: Vector  # Σ <g, X> over the rounds, column by column, with g the gradients and X the improper matrices
    predictions: Vector
    times: Vector  # the times of the scalar learners' clocks
    totals: Vector  # negative gradient sums
    more: Vector  # of some clocks: `Open` for the paper's, `Hints` with hints


OWN = Layout(
    Own,
    "d levels together",
    improper="d * d",
    sums="d",
    pending="levels * d",
    block="together * d + 1",
    losses="d",
    begins="d",
    ends="d",
    span="2",
    rows="d",
    moved="together * d + 1",
    roots="together * d + 1",
    hinted="d",
    worth="d",
    predictions="d * d + 1",
    times="d * d + 1",
    totals="d * d + 1",
    more="rest",
    aligned=True,
)
_own_view = OWN.view


class Open(NamedTuple):
    """The open block of each feature: the sum of its gradients and of their absolute values."""

    sums: Vector
    masses: Vector


OPEN = Layout(Open, sums="d * d + 1", masses="d * d + 1", aligned=True)
_open_view = OPEN.view


class Hints(NamedTuple):
    """What hints add to each prediction if they are followed, and what they have cost each feature so far."""

    followed: Vector  # 1 if the predictions include the shifts
    costs: Vector  # what all hints would have cost, had they always been followed; the sum counts
    shifts: Vector
    spent: Vector


HINTS = Layout(
    Hints, "d together", followed="1", costs="together * d + 1", shifts="d * d + 1", spent="d * d + 1", aligned=True
)
_hints_view = HINTS.view


@kernel
def rows_together(size: int) -> int:
    """Return how many rows of gradients are transformed together: a power of two."""
    return min(size, max(FLAT // size, 1))


def more_state(clock: int, size: int) -> Vector:
    """Return the first state that only this clock needs."""
    if clock == OPTIMISTIC:
        return HINTS.zeros(size, rows_together(size))
    return OPEN.zeros(size) if clock == BLOCKS else np.zeros(0)


def hints_of(own: Own, size: int) -> Hints:
    """Return what the clock with hints adds to the state, in Python."""
    return HINTS.parts(own.more, size, rows_together(size))


def settings_of(
    clock: int,
    owners: Integers,
    scale: float,
    columns: Vector,
    constant: Vector,
    guard: float,
) -> Vector:
    """Return the settings: ε is `scale` for the identity, `constant` for the all-one vector, `columns` for others."""
    size = owners.size
    rows = rows_together(size)
    others = 0 if size == 1 else max(rows - 1, 1)
    scales = np.concatenate([constant, np.tile(columns, others), [scale]])
    chosen = {"limit": guard * scale, "guard": guard, "rows": rows, "owners": owners}
    return SETTINGS.pack(clock=clock, size=size, **chosen, scales=scales)


@inlined
def own_view(own: Vector, size: int) -> Own:
    """Return the named parts of the matrix learner's state."""
    return _own_view(own, size, level_of(0, size) + 1, rows_together(size))


@inlined
def hints_view(own: Own, size: int) -> Hints:
    """Return what the clock with hints adds to the state, in a kernel."""
    return _hints_view(own.more, size, rows_together(size))


@kernel
def restore_improper(own: Vector, size: int) -> bool:
    """Restore the changed entries of the improper matrix; return whether its positive part changed."""
    parts = own_view(own, size)
    begins, ends, span = parts.begins, parts.ends, parts.span
    changed = False
    column = 0
    if span[1] > 0:
        begin_row, end_row = _row(span[0], size), _row(span[1], size)
        for j in range(size):
            begin_row, end_row = min(begin_row, _row(begins[j], size)), max(end_row, _row(ends[j], size))
            begins[j], ends[j] = size, 0.0
        span[1] = 0.0
        return _restore_block(own, size, begin_row, end_row, 0, size)
    while column < size:
        end, begin_row, end_row = column, size, 0
        while end < size:  # while each group of columns contains a changed one
            last = 0
            for j in range(end, min(end + RUN, size)):
                if ends[j] > 0:
                    begin_row = min(begin_row, _row(begins[j], size))
                    last = max(last, _row(ends[j], size))
                    begins[j], ends[j] = size, 0.0
            if last == 0:
                break
            end_row = max(end_row, last)
            end = min(end + RUN, size)
        if end_row > 0:
            changed |= _restore_block(own, size, begin_row, end_row, column, end)
        column = end + RUN
    if changed:
        _add_up_rows(own, size)
    return changed


@inlined
def _row(number: float, size: int) -> int:
    """Return a row, or the end of some; a damaged record must not lead beyond the matrix."""
    return int(number) if 0 <= number <= size else size


@kernel
def _restore_block(own: Vector, size: int, begin_row: int, end_row: int, column: int, end: int) -> bool:
    """Restore a block of the improper matrix; return whether its positive part changed.

    The positive parts of whole rows are added up; parts of rows are marked for it. Every entry is computed from the
    predictions alone, always in the same order, so errors do not accumulate.
    """
    vectorise_widely()
    parts = own_view(own, size)
    rows, sums, predictions = parts.rows, parts.sums, parts.predictions
    identity, width = predictions[size * size], end - column
    level = min(level_of(0, size), 1)
    above = part(parts.pending, level * size + column, level * size + end)
    begin_row &= ~level
    changed = False
    for i in range(begin_row, end_row, 1 + level):  # two rows differ in the sign of one summand
        restore(predictions, size, i, begin_row, parts.pending, column, end)
        first, at = part(parts.improper, i * size + column, i * size + end), i - column
        if level == 0:
            changed |= _restored_one(above[0] + identity, first, 0)
            sums[i] = max(first[0], 0.0)
            continue
        second = part(parts.improper, (i + 1) * size + column, (i + 1) * size + end)
        detail = part(predictions, (i + 1) * size + column, (i + 1) * size + end)
        group, one, two, moved = at & ~7, eight(0.0), eight(0.0), eight(0.0)
        for j in range(0, width & ~7, 8):
            upper = lower = take(above, j)
            if j == group:
                upper, lower = upper + only(at & 7, identity), lower + only((at + 1) & 7, identity)
            upper, lower = _entry(upper + take(detail, j)), _entry(lower - take(detail, j))
            positive, other = max(upper, 0.0), max(lower, 0.0)
            moved = max(moved, abs(positive - max(take(first, j), 0.0)))
            moved = max(moved, abs(other - max(take(second, j), 0.0)))
            one, two = one + positive, two + other
            put(first, j, upper)
            put(second, j, lower)
        different = some(moved > 0.0)
        for j in range(width & ~7, width):
            different |= _restored_one(above[j] + (identity if j == at else 0.0) + detail[j], first, j)
            different |= _restored_one(above[j] + (identity if j == at + 1 else 0.0) - detail[j], second, j)
        if width == size:
            sums[i], sums[i + 1] = add_rest(one, first), add_rest(two, second)
            rows[i] = rows[i + 1] = 0.0
        elif different:
            rows[i] = rows[i + 1] = 1.0
        changed |= different
    return changed


@inlined
def _entry(restored: Number) -> Number:
    """Return an entry of the improper matrix, without what is smaller than rounding errors."""
    return choose(abs(restored) > NO_ENTRY, restored, 0.0)


@inlined
def _restored_one(restored: float, row: Vector, j: int) -> bool:
    """Write an entry of the improper matrix; return whether its positive part changed."""
    before = row[j]
    row[j] = _entry(restored)
    return bool(max(before, 0.0) != max(row[j], 0.0))


@inlined
def _add_up_rows(own: Vector, size: int) -> None:
    """Add up the positive parts of the marked rows, in the order of `_restore_block`."""
    parts = own_view(own, size)
    for i in range(size):
        if parts.rows[i] > 0:
            parts.rows[i] = 0.0
            parts.sums[i] = sum_of_positive(part(parts.improper, i * size, (i + 1) * size))


@inlined
def project(row: Vector, positive: float, default: Vector, target: Vector) -> None:
    """Write row of φ: the positive part of an improper row divided by its sum, or the default row if that is 0."""
    if positive == 0:
        copy(target, default)
    else:
        inverse = 1 / positive
        for j in range(row.size):
            target[j] = max(row[j], 0.0) * inverse


@kernel
def settle(state: Vector, size: int) -> None:
    """Compute the fixed point of φ and mark the state as settled; φ itself is written only if it is needed for this."""
    settled, strategy, default, matrix, scratch, own = reduction(state, size)
    parts = own_view(own, size)
    if not approach(parts.improper, parts.sums, default, strategy, scratch):
        for i in range(size):
            begin, end = i * size, (i + 1) * size
            project(part(parts.improper, begin, end), parts.sums[i], default, part(matrix, begin, end))
        solve(matrix, default, strategy, scratch)
    settled[0] = 1.0


@kernel
def play(settings: Vector, state: Vector, strategy: Vector) -> None:
    chosen = settings_view(settings)
    size, owners = chosen.size, chosen.owners
    augmented = reduction(state, size).strategy
    fill(strategy, 0.0)
    for i in range(size):
        strategy[owners[i]] += augmented[i]


@kernel
def observe(settings: Vector, state: Vector, loss: Vector) -> None:
    vectorise_widely()
    size = settings_view(settings).size
    parts = reduction(state, size)
    load(settings, parts.own, loss, size)
    # φ and its fixed point for the next round; they do not change unless a prediction does
    moved = learn(settings, parts.own, parts.strategy, parts.default, size)
    if moved and restore_improper(parts.own, size):
        settle(state, size)


@inlined
def load(settings: Vector, own: Vector, loss: Vector, size: int) -> None:
    """Write the loss of each augmented index: that of its owner."""
    seen, owners = own_view(own, size).losses, settings_view(settings).owners
    for i in range(size):
        seen[i] = loss[owners[i]]


@kernel
def learn(settings: Vector, own: Vector, strategy: Vector, default: Vector, size: int) -> bool:
    """Pass the Haar transform of the gradient matrix, block by block, to the scalar learners of the features.

    A block consists of as many rows as `rows_together` says. Their transform is the features of the intervals
    inside it, whose numbers follow each other, and their sum, which is `pending`. If all rows form one block, the sum
    is also a feature, number 0, and all features advance at once. Return whether a prediction changed.
    """
    vectorise_widely()
    parts, chosen = own_view(own, size), settings_view(settings)
    pending, hinted, together = parts.pending, parts.hinted, chosen.rows
    optimistic = chosen.clock == OPTIMISTIC
    follow = _trustworthy(settings, own, size) if optimistic else 0.0
    usual = 0.0
    for j in range(size):
        usual += default[j] * parts.losses[j]
    trace = 0.0
    changed = 0
    filled = 0  # bit l: row l of `pending` is not zero
    blocks = size // together
    others = part(parts.block, size, together * size)
    for number in range(blocks):
        level, begin = level_of(number, blocks), number * together
        filled &= ~(1 << level)
        present = _any_positive(part(strategy, begin, begin + together))
        if present or (together > 1 and hinted[begin + 1] > 0):  # hints that no gradient follows are removed
            filled |= 1 << level
            first = part(parts.block, 0, size) if blocks == 1 else part(pending, level * size, (level + 1) * size)
            trace += _write_gradients(own, strategy, usual, size, begin, first, others)
            if together > 1:
                hinted[begin + 1] = 1.0 if present and optimistic else 0.0
                _transform(first, others, together)
                if blocks > 1:
                    changed += _advance(settings, own, size, begin + 1, others, follow)
        half = 1
        while number & half:
            left, right = level_of(number + 1 - 2 * half, blocks), level_of(number + 1 - half, blocks)
            middle = (number + 1 - half) * together
            present = (filled >> left | filled >> right) & 1 > 0
            if present or hinted[middle] > 0:
                hinted[middle] = 1.0 if present and optimistic else 0.0
                difference = _merge_pending(pending, size, left, right, filled)
                filled |= 1 << left
                changed += _advance(settings, own, size, middle, difference, follow)
            half *= 2
    end = parts.block.size - 1
    parts.block[end] = trace
    if blocks == 1:
        changed += _advance(settings, own, size, 0, parts.block, follow)
    else:
        top = level_of(0, blocks)  # what remains is the sum of all rows, for the all-one vector, number 0
        changed += _advance(settings, own, size, 0, part(pending, top * size, (top + 1) * size), follow)
        changed += _advance(settings, own, size, size, part(parts.block, end, end + 1), follow)
    if optimistic:
        hints_view(parts, size).followed[0] = follow
    return changed > 0


@inlined
def _merge_pending(pending: Vector, size: int, left: int, right: int, filled: int) -> Vector:
    """Replace two pending rows, 0 unless filled, by their sum and their difference; return the difference."""
    first: Vector = part(pending, left * size, (left + 1) * size)
    second: Vector = part(pending, right * size, (right + 1) * size)
    if not (filled >> left) & 1:
        fill(first, 0.0)
    if not (filled >> right) & 1:
        fill(second, 0.0)
    merge(first, second)
    return second


@inlined
def _any_positive(numbers: Vector) -> bool:
    """Return whether one of the numbers is positive."""
    count = 0
    for i in range(numbers.size):
        count += numbers[i] > 0
    return count > 0


@inlined
def _trustworthy(settings: Vector, own: Vector, size: int) -> float:
    """Return 1 if what all hints would have cost in total, up to the round before, is at most κ · scale, else 0."""
    return 1.0 if sum_of(hints_view(own_view(own, size), size).costs) <= settings_view(settings).limit else 0.0


@inlined
def _write_gradients(
    own: Vector, strategy: Vector, usual: float, size: int, begin: int, first: Vector, others: Vector
) -> float:
    """Write the gradients of a block of rows, and return the sum of those on the diagonal."""
    parts = own_view(own, size)
    trace = 0.0
    for i in range(begin, begin + 1 + others.size // size):
        target = first if i == begin else part(others, (i - begin - 1) * size, (i - begin) * size)
        if strategy[i] > 0:
            row = part(parts.improper, i * size, (i + 1) * size)
            write_gradient(row, parts.sums[i], usual, parts.losses, strategy[i], target, parts.worth)
            trace += target[i]
        else:
            fill(target, 0.0)
    return trace


@inlined
def _transform(first: Vector, others: Vector, together: int) -> None:
    """Replace the rows of a block by their inner products with the Haar vectors of the block."""
    size = first.size
    half = 1
    while half < together:
        for k in range(half, together, 2 * half):
            start = part(others, (k - half - 1) * size, (k - half) * size) if k > half else first
            merge(start, part(others, (k - 1) * size, k * size))
        half *= 2


@inlined
def write_gradient(
    row: Vector, positive: float, usual: float, seen: Vector, mass: float, target: Vector, worth: Vector
) -> None:
    """Write p_i (l_j - <φ_i, l>); its negative part where the improper entry is negative.

    φ_i is the positive part of `row` divided by its sum, or the default row, whose expected loss is `usual`. Add the
    products of the improper row and its gradient to `worth`; those of positive entries add up to 0.
    """
    expected = usual
    if positive > 0:
        expected = product_with_positive(row, seen) / positive
    whole = row.size & ~7
    for j in range(0, whole, 8):
        entry = take(row, j)
        gradient = _gradient(entry, take(seen, j) - expected, mass)
        put(target, j, gradient)
        put(worth, j, take(worth, j) + min(entry, 0.0) * gradient)
    for j in range(whole, row.size):
        gradient = _gradient(row[j], seen[j] - expected, mass)
        target[j] = gradient
        worth[j] += min(row[j], 0.0) * gradient


@inlined
def _gradient(entry: Number, centred: Number, mass: float) -> Number:
    """Return the gradient with respect to an improper entry, given its loss minus the expected one."""
    nothing = (abs(centred) <= NO_LOSS) | ((entry < 0.0) & (centred > 0.0))
    return choose(nothing, 0.0, mass * centred)


@kernel
def _advance(settings: Vector, own: Vector, size: int, number: int, gradients: Vector, follow: float) -> int:
    """Advance the scalar learners of consecutive Haar rows, with the identity as number D; mark what changed."""
    vectorise_widely()
    parts, chosen = own_view(own, size), settings_view(settings)
    width = gradients.size
    start, end = number * size, number * size + width
    predictions, times = part(parts.predictions, start, end), part(parts.times, start, end)
    totals, roots, moved = part(parts.totals, start, end), part(parts.roots, 0, width), part(parts.moved, 0, width)
    at = 0 if number == 0 else chosen.scales.size - 1 if number == size else size
    scales = part(chosen.scales, at, at + width)
    if chosen.clock == CONTINUOUS:
        changed, marked = advance_continuous(gradients, times, totals, predictions, scales, roots, moved)
    elif chosen.clock == OPTIMISTIC:
        hints = hints_view(parts, size)
        shifts, spent = part(hints.shifts, start, end), part(hints.spent, start, end)
        costs, guard, followed = part(hints.costs, 0, width), chosen.guard, hints.followed[0]
        row = (gradients, times, totals, shifts, spent, costs, predictions, scales)
        changed, marked = advance_optimistic(row, guard, followed, follow, roots, moved)
    else:
        block = _open_view(parts.more, size)
        sums, masses = part(block.sums, start, end), part(block.masses, start, end)
        changed, marked = advance_blocks(gradients, sums, masses, times, totals, predictions, scales, moved)
    if changed > 0:
        if marked:
            _mark(own, size, number, part(moved, 0, changed))
        else:
            _mark_all(own, size, number, width)
    return changed


@inlined
def _mark(own: Vector, size: int, number: int, moved: Vector) -> None:
    """Mark the rows to restore, the interval of the Haar vector, in the columns of the predictions that moved."""
    parts = own_view(own, size)
    begins, ends = parts.begins, parts.ends
    for k in range(moved.size):
        b = int(moved[k])
        row, column = number + b // size, b % size
        if row == size:
            _mark_all(own, size, size, 1)
            continue
        half = row & -row
        begin, end = (0, size) if row == 0 else (row - half, row + half)
        begins[column] = min(begins[column], begin)
        ends[column] = max(ends[column], end)


@inlined
def _mark_all(own: Vector, size: int, number: int, width: int) -> None:
    """Mark the rows to restore in all columns: the intervals of Haar rows, or the diagonal for the identity."""
    span, rows, half = own_view(own, size).span, width // size, number & -number
    begin, end = (0, size) if number in (0, size) else (number - half, number - half + max(2 * half, rows + 1))
    span[0], span[1] = min(span[0], begin) if span[1] > 0 else begin, max(span[1], end)
