"""The wavelet learner: φ-regret that adapts to the sparsity of φ, for all φ simultaneously."""

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim.engine.compiled import Integers, Vector, inlined, kernel, part
from gamesim.engine.layout import Layout
from gamesim.errors import InputError
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.haar import forward, interval, level_of, merge, restore
from gamesim.players._kernels.numeric import copy, fill, sum_of
from gamesim.players._kernels.reduction import REDUCTION, first_reduction, reduction, settle
from gamesim.players._kernels.relabelling import owners, shares, spread_evenly, spread_to_self
from gamesim.players._kernels.scalar import (
    BLOCKS,
    CONTINUOUS,
    FULL,
    LIPSCHITZ,
    advance_blocks,
    advance_continuous,
    conjugate,
    regret_bound,
)
from gamesim.validation import positive

# Rounding must not break ties: symmetric games are full of exact ones.
NO_ENTRY = 1e-14  # improper entries up to this size count as 0
NO_LOSS = 1e-13  # centred losses up to this size count as 0
RUN = 8  # columns restored together: one cache line
IDENTITY = np.ones(1)  # the relative scale of the identity, which is a single feature


class Settings(NamedTuple):
    """Kernel settings; D is the number of augmented indices."""

    clock: int
    size: int  # D
    scale: float  # the identity's ε
    columns: Vector  # the ε of each column
    owners: Integers  # the action that owns each augmented index


SETTINGS = Layout(Settings, "", clock="int", size="int", scale="float", columns="size", owners="int[size]")
settings_view = SETTINGS.view


class Own(NamedTuple):
    """Matrix-learner state, with D² + 1 features: row by row in Haar order, then the identity."""

    improper: Vector  # the predicted matrix, row by row
    sums: Vector  # the sum of the positive part of each of its rows
    pending: Vector  # pending rows of the transforms: one per scale, and one more
    losses: Vector  # by augmented index
    begins: Vector  # the first row to restore in each column
    ends: Vector  # the end (exclusive) of the rows to restore; 0 if none
    rows: Vector  # which rows to project
    moved: Vector  # which predictions of one row of features changed
    predictions: Vector
    times: Vector  # the times of the scalar learners' clocks
    totals: Vector  # negative gradient sums
    open: Vector  # the open blocks (see `Open`), for the paper's clock only


OWN = Layout(
    Own,
    "d levels",
    improper="d * d",
    sums="d",
    pending="levels * d",
    losses="d",
    begins="d",
    ends="d",
    rows="d",
    moved="d",
    predictions="d * d + 1",
    times="d * d + 1",
    totals="d * d + 1",
    open="rest",
)
_own_view = OWN.view


class Open(NamedTuple):
    """The open block of each feature: the sum of its gradients and of their absolute values."""

    sums: Vector
    masses: Vector


OPEN = Layout(Open, sums="d * d + 1", masses="d * d + 1")
_open_view = OPEN.view


@inlined
def own_view(own: Vector, size: int) -> Own:
    """Return the named parts of the matrix learner's state."""
    return _own_view(own, size, level_of(0, size) + 1)


@kernel
def restore_improper(own: Vector, size: int) -> bool:
    """Restore the changed entries of the improper matrix; return whether its positive part changed."""
    parts = own_view(own, size)
    begins, ends = parts.begins, parts.ends
    changed = 0
    column = 0
    while column < size:
        end, begin_row, end_row = column, size, 0
        while end < size:  # while each group of columns contains a changed one
            last = 0
            for j in range(end, min(end + RUN, size)):
                if ends[j] > 0:  # a damaged record must not lead beyond the matrix
                    begin_row = min(begin_row, int(begins[j]) if 0 <= begins[j] < size else 0)
                    last = max(last, int(ends[j]) if ends[j] < size else size)
                    ends[j] = 0.0
            if last == 0:
                break
            end_row = max(end_row, last)
            end = min(end + RUN, size)
        if end_row > 0:
            changed += _restore_block(own, size, begin_row, end_row, column, end)
        column = end + RUN
    return changed > 0


@inlined
def _restore_block(own: Vector, size: int, begin_row: int, end_row: int, column: int, end: int) -> int:
    """Restore a block of the improper matrix; mark the rows whose positive part changed.

    Every entry is computed from the predictions alone, always in the same order, so errors do not accumulate.
    """
    parts = own_view(own, size)
    rows, pending, predictions = parts.rows, parts.pending, parts.predictions
    identity = predictions[size * size]
    changed = 0
    for i in range(begin_row, end_row):
        restore(predictions, size, i, begin_row, pending, column, end)
        if column <= i < end:
            pending[i] += identity
        row = part(parts.improper, i * size, (i + 1) * size)
        moved = 0
        for j in range(column, end):
            entry = pending[j] if abs(pending[j]) > NO_ENTRY else 0.0
            moved += (entry if entry > 0 else 0.0) != (row[j] if row[j] > 0 else 0.0)
            row[j] = entry
        rows[i] += moved
        changed += moved
    return changed


@inlined
def project(own: Vector, default: Vector, matrix: Vector, size: int) -> None:
    """Turn the marked rows of the improper matrix into distributions: the positive part divided by its sum."""
    parts = own_view(own, size)
    rows, sums = parts.rows, parts.sums
    for i in range(size):
        if rows[i] == 0:
            continue
        rows[i] = 0.0
        improper, row = part(parts.improper, i * size, (i + 1) * size), part(matrix, i * size, (i + 1) * size)
        for j in range(size):
            row[j] = improper[j] if improper[j] > 0 else 0.0
        sums[i] = sum_of(row)
        if sums[i] == 0:
            copy(row, default)
        else:
            inverse = 1 / sums[i]
            for j in range(size):
                row[j] = improper[j] * inverse if improper[j] > 0 else 0.0


@kernel
def _play(settings: Vector, state: Vector, strategy: Vector) -> None:
    _, size, _, _, owners = settings_view(settings)
    augmented = reduction(state, size).strategy
    fill(strategy, 0.0)
    for i in range(size):
        strategy[owners[i]] += augmented[i]


@kernel
def _observe(settings: Vector, state: Vector, loss: Vector) -> None:
    size = settings_view(settings).size
    parts = reduction(state, size)
    load(settings, parts.own, loss, size)
    # φ and its fixed point for the next round; they do not change unless a prediction does
    if learn(settings, parts.own, parts.strategy, parts.default, size) and restore_improper(parts.own, size):
        project(parts.own, parts.default, parts.matrix, size)
        settle(state, size)


@inlined
def load(settings: Vector, own: Vector, loss: Vector, size: int) -> None:
    """Write the loss of each augmented index: that of its owner."""
    seen, owners = own_view(own, size).losses, settings_view(settings).owners
    for i in range(size):
        seen[i] = loss[owners[i]]


@kernel
def learn(settings: Vector, own: Vector, strategy: Vector, default: Vector, size: int) -> bool:
    """Pass the Haar transform of the gradient matrix, row by row, to the scalar learners of the features.

    Return whether a prediction changed.
    """
    parts = own_view(own, size)
    seen, sums, pending = parts.losses, parts.sums, parts.pending
    usual = 0.0
    for j in range(size):
        usual += default[j] * seen[j]
    trace = 0.0
    changed = 0
    filled = 0  # bit l: row l of `pending` is not zero
    for i in range(size):
        level = level_of(i, size)
        filled &= ~(1 << level)
        if strategy[i] > 0:
            filled |= 1 << level
            row = part(parts.improper, i * size, (i + 1) * size)
            target = part(pending, level * size, (level + 1) * size)
            write_gradient(row, sums[i], usual, seen, strategy[i], target)
            trace += target[i]
        half = 1
        while i & half:
            first, second = level_of(i + 1 - 2 * half, size), level_of(i + 1 - half, size)
            if (filled >> first | filled >> second) & 1:
                left, right = (
                    part(pending, first * size, (first + 1) * size),
                    part(pending, second * size, (second + 1) * size),
                )
                if not (filled >> first) & 1:
                    fill(left, 0.0)
                if not (filled >> second) & 1:
                    fill(right, 0.0)
                filled |= 1 << first
                merge(left, right)
                changed += _advance(settings, own, size, i + 1 - half, right)
            half *= 2
        if i + 1 == size:  # what remains is the sum of all rows, for the all-one vector, number 0
            top = level_of(i + 1, size)
            changed += _advance(settings, own, size, i + 1 - size, part(pending, top * size, (top + 1) * size))
    seen[0] = trace  # the losses are no longer needed
    changed += _advance(settings, own, size, size, part(seen, 0, 1))
    return changed > 0


@inlined
def write_gradient(row: Vector, positive: float, usual: float, seen: Vector, mass: float, target: Vector) -> None:
    """Write p_i (l_j - <φ_i, l>); its negative part where the improper entry is negative.

    φ_i is the positive part of `row` divided by its sum, or the default row, whose expected loss is `usual`.
    """
    expected = usual
    if positive > 0:
        for j in range(row.size):
            target[j] = row[j] * seen[j] if row[j] > 0 else 0.0
        expected = sum_of(target) / positive
    for j in range(row.size):
        centred = seen[j] - expected
        nothing = (abs(centred) <= NO_LOSS) | ((row[j] < 0) & (centred > 0))
        target[j] = 0.0 if nothing else mass * centred


@kernel
def _advance(settings: Vector, own: Vector, size: int, number: int, gradients: Vector) -> int:
    """Advance the scalar learners of one Haar row, or of the identity (number D); mark changed columns."""
    parts, chosen = own_view(own, size), settings_view(settings)
    width = gradients.size
    start, end = number * size, number * size + width
    predictions, times = part(parts.predictions, start, end), part(parts.times, start, end)
    totals, moved = part(parts.totals, start, end), part(parts.moved, 0, width)
    scales, factor = chosen.columns, float(size) if number == 0 else 1.0
    if number == size:
        scales, factor = IDENTITY, chosen.scale
    if chosen.clock == CONTINUOUS:
        changed = advance_continuous(gradients, times, totals, predictions, scales, factor, moved)
    else:
        block = _open_view(parts.open, size)
        sums, masses = part(block.sums, start, end), part(block.masses, start, end)
        changed = advance_blocks(gradients, sums, masses, times, totals, predictions, scales, factor, moved)
    if changed > 0:
        _mark(own, size, number, moved)
    return changed


@inlined
def _mark(own: Vector, size: int, number: int, moved: Vector) -> None:
    """Mark the rows to restore in the columns of changed predictions: the interval of their Haar vector."""
    parts = own_view(own, size)
    begins, ends = parts.begins, parts.ends
    half = number & -number
    begin, end = (0, size) if number in (0, size) else (number - half, number + half)
    if number == size:  # the identity: the diagonal of all columns
        moved[0] = 0.0
        for j in range(size):
            begins[j], ends[j] = 0, size
        return
    for j in range(size):
        if moved[j] > 0:
            moved[j] = 0.0
            begins[j] = begin if ends[j] == 0 else min(begins[j], begin)
            ends[j] = max(ends[j], end)


@dataclass(frozen=True)
class Wavelet(Learner):
    """Learn an action modification rule in a Haar basis and play its fixed point.

    Parameters
    ----------
    order : tuple of int, optional
        A permutation of the actions, numbered from 0. Neighbouring actions share features, so place
        actions that call for the same modification next to each other. By default 0, 1, …, d - 1.
    clock : {"blocks", "continuous"}, default "blocks"
        How the scalar learners count time: "blocks" as in the paper, or "continuous", this project's
        variant, which the learner `wavelet-continuous` uses.
    scale : float, default 1.0
        Positive factor that multiplies the ε of all scalar learners.

    Notes
    -----
    This is Algorithm 1 of the paper. The d actions are relabelled by D = 2^⌈log2 d⌉ augmented indices.
    The features b are the identity and h ⊗ e_j for every Haar vector h and column j. The learner
    predicts the matrix

        Σ_b x_b b

    Its positive part, with every row divided by its sum, is φ. The learner plays the fixed point

        p = pφ

    The gradient with respect to an entry (i, j) is

        g_ij = p_i (l_j - <φ_i, l>)

    or its negative part if the predicted entry is negative. Feature b has the gradient <g, b>, from
    which a scalar learner computes the next x_b.

    For an absolute constant c, and for all T and all stochastic matrices φ simultaneously, the regret
    against φ is at most

        c √(min{d - unif(φ) + 1, d - self(φ)} (T + d)) (log d)^(3/2)

    where unif(φ) is the number of rows equal to the most frequent row, and self(φ) the number of
    actions that φ maps to themselves. The ε-quantile regret is at most

        c √(T log(1 + 1/ε))

    (The paper prints log(1/ε), which is 0 at ε = 1; but regret against the worst action can be
    positive.)

    `guarantee` bounds the regret for the worst φ with all constants; `certificate` bounds it for a
    given φ after a given run. The scalar learners of column j have

        ε_j = scale / (d² s_j)

    with s_j (1 or 2) the number of indices of its action. For the all-one vector h they have D ε_j, and
    the identity has ε = scale. The guarantee is stated in terms of

        K₁ = Σ_j ε_j + max_j ε_j (exp(z_j²) - 1),  erfi(z_j) = √(2/π) / ε_j

    and of K₀, the same with D ε_j in place of ε_j. Regret never exceeds 2T, so the guarantee is
    informative only for large enough T.

    References
    ----------
    Lu, Sun and Zhang (2025), "Sparsity-based interpolation of external, internal and swap regret", 38th
    Conference on Learning Theory, PMLR 291:3795-3828, Theorems 1 and 2.

    Examples
    --------
    >>> player = Wavelet()
    >>> learner = player.start(actions=3)
    >>> for _ in range(4):
    ...     learner.observe([0.5, 0.25, -0.25])
    >>> learner.play().round(3)  # the first blocks are not yet full
    array([0.333, 0.333, 0.333])
    >>> learner.observe([0.5, 0.25, -0.25])
    >>> learner.play().round(3)
    array([0., 0., 1.])
    >>> round(player.certificate(learner.state, [[0, 0, 1]] * 3), 3)  # for "always the third action"
    14.188
    >>> bound = player.guarantee().bound  # the first power of two at which it is below 2T, for some d
    >>> [min(T for T in 2 ** np.arange(30) if bound(T, d) < 2 * T).item() for d in (16, 64, 256)]
    [4096, 32768, 131072]
    """

    order: tuple[int, ...] | None = None
    clock: Literal["blocks", "continuous"] = "blocks"
    scale: float = 1.0

    name = "wavelet"
    kernels = _play, _observe
    state_layout = REDUCTION
    ordered: ClassVar[bool] = True

    def __post_init__(self) -> None:
        positive("scale", self.scale)
        if self.clock not in ("blocks", "continuous"):
            raise InputError(f'clock must be "blocks" or "continuous", got {self.clock!r}')
        if self.order is not None:
            owners(len(self.order), self.order)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        owner = owners(actions, self.order)
        clock = CONTINUOUS if self.clock == "continuous" else BLOCKS
        columns = self.scale / (actions**2 * shares(owner))
        return SETTINGS.pack(clock=clock, size=owner.size, scale=self.scale, columns=columns, owners=owner)

    def first_state(self, actions: int) -> Vector:  # noqa: D102
        owner = owners(actions, self.order)
        size = owner.size
        blocks = np.zeros(0) if self.clock == "continuous" else OPEN.zeros(size)
        return first_reduction(1 / (actions * shares(owner)), OWN.pack(size, size.bit_length(), open=blocks))

    def dimensions(self, actions: int) -> tuple[int, ...]:  # noqa: D102
        return (owners(actions, self.order).size,)

    def own_parts(self, state: Vector, actions: int) -> Own:
        """Return the named parts of the matrix learner's state."""
        size = self.dimensions(actions)[0]
        return OWN.parts(self.parts(state, actions).own, size, size.bit_length())

    def certificate(self, state: Vector, phi: ArrayLike) -> float:
        """Return the bound on the regret against φ that the gradients so far certify.

        Parameters
        ----------
        state : array
            State of a running learner (`learner.state`).
        phi : array_like, shape (d, d)
            A stochastic matrix φ: row i is the distribution that replaces action i.

        Returns
        -------
        float
            Upper bound on the total regret against φ so far, in units of loss.

        Raises
        ------
        InputError
            If `phi` is not a stochastic matrix or `state` belongs to another number of actions.

        Notes
        -----
        The bound is the sum of the scalar learners' bounds over all features. Of the paper's two ways to
        write φ in features, with and without the identity, the one with the smaller bound is used.
        """
        wanted = np.array(phi, dtype=np.float64)
        actions = len(wanted)
        if wanted.shape != (actions, actions) or (wanted < 0).any() or not np.allclose(wanted.sum(axis=1), 1):
            raise InputError(f"phi must be a square matrix whose rows are distributions, got {wanted.tolist()}")
        if state.shape != self.first_state(actions).shape:
            raise InputError(
                f"phi has {actions} actions, but the state is that of a learner with another number of actions"
            )
        settings = SETTINGS.parts(self.kernel_settings(actions))
        owner = owners(actions, self.order)
        size = owner.size
        own = self.own_parts(state, actions)
        times = own.times if settings.clock == CONTINUOUS else own.times + (OPEN.parts(own.open, size).masses > 0)
        scales = np.append(np.tile(settings.columns, size), self.scale)
        scales[:size] *= size
        bounds = [
            regret_bound(settings.clock, scales, times, np.append(_coefficients(augmented), identity)).sum()
            for identity, augmented in (
                (0.0, spread_evenly(wanted, owner)),
                (1.0, spread_to_self(wanted, owner) - np.eye(size)),
            )
        ]
        return float(min(bounds))

    def guarantee(self) -> Guarantee:
        """Return a bound on swap regret with all its constants.

        Notes
        -----
        Write any φ without the identity. The coefficients of one Haar vector h and its gradients satisfy

            Σ_j |u_hj| ≤ 1
            Σ_t |c| ≤ 2 P_h

        with P_h the mass that the strategies of all rounds put on the interval of h. A scalar learner's
        bound is convex in u, so the sum over j is largest if a single u_hj is 1. This gives

            G' √(1 + P_h) K_h
            K_h = Σ_j ε_hj + max_j (ε_hj exp(z²) - ε_hj)

        with G' = 4 for blocks; for the continuous clock, G' = 2 and the 1 is absent. The P_h of one scale
        add up to T. By Cauchy-Schwarz, the sum of the roots over the 2^k intervals of a scale is at most

            √(2^k (2^k + T))

        Examples
        --------
        >>> [round(wavelet.guarantee().bound(10**6, 4)) for wavelet in (Wavelet(), WaveletContinuous())]
        [35664, 17832]
        """
        blocks = self.clock == "blocks"
        formula = (
            "min(2T, 4(√(T+1)(scale + K₀) + K₁ Σ_k √(2^k (2^k + T))))"
            if blocks
            else "min(2T, 2√T(scale + K₀ + K₁ Σ_k √(2^k)))"
        )
        return Guarantee("swap", formula + ", 0 ≤ k < log₂ d", self._worst_case)

    def _worst_case(self, rounds: int, actions: int) -> float:
        size = owners(actions, None).size
        if size == 1:
            return 0.0
        extra = 1.0 if self.clock == "blocks" else 0.0
        steps = (1 + extra) * LIPSCHITZ
        passed = rounds * LIPSCHITZ / FULL
        scales = self.scale / (actions**2 * shares(owners(actions, None)))

        def worst(scales: Vector) -> float:
            return float(scales.sum() + (conjugate(scales, np.ones(size)) - scales).max())

        total = sqrt(extra + passed) * (self.scale + worst(size * scales))
        for k in range(size.bit_length() - 1):
            total += worst(scales) * sqrt(2**k * (2**k * extra + passed))
        return min(2.0 * rounds, steps * total)


def _coefficients(matrix: NDArray[np.float64]) -> Vector:
    """Return <matrix, b> / <b, b> for every feature b except the identity."""
    size = len(matrix)
    coefficients = matrix.ravel().copy()
    forward(coefficients, size)
    lengths = np.array([len(interval(number, size)) for number in range(size)], dtype=np.float64)
    scaled: Vector = coefficients / np.repeat(lengths, size)
    return scaled


@dataclass(frozen=True)
class WaveletContinuous(Wavelet):
    """Run the wavelet learner with a continuous clock instead of blocks.

    Parameters
    ----------
    order : tuple of int, optional
        A permutation of the actions, numbered from 0, as in `wavelet`. By default 0, 1, …, d - 1.
    clock : {"blocks", "continuous"}, default "continuous"
        How the scalar learners count time, as in `wavelet`.
    scale : float, default 1.0
        Positive factor that multiplies the ε of all scalar learners.

    Notes
    -----
    Only the clock of the scalar learners differs from `wavelet`, which defines K₀ and K₁. In every
    round, each scalar learner advances its time by |c|/2, with c its gradient, instead of waiting for a
    block of gradients to fill. It reacts without delay, and its bound is half that of the paper's clock.
    The continuous clock is this project's variant.

    Examples
    --------
    >>> player = WaveletContinuous()
    >>> learner = player.start(actions=3)
    >>> learner.observe([0.5, 0.25, -0.25])
    >>> learner.play().round(3)
    array([0., 0., 1.])
    >>> round(player.certificate(learner.state, [[0, 0, 1]] * 3), 3)
    1.891
    >>> bound = player.guarantee().bound  # the first power of two at which it is below 2T, for some d
    >>> [min(T for T in 2 ** np.arange(30) if bound(T, d) < 2 * T).item() for d in (16, 64, 256)]
    [1024, 8192, 32768]
    """

    clock: Literal["blocks", "continuous"] = "continuous"

    name = "wavelet-continuous"
