"""The wavelet learner: φ-regret that adapts to the sparsity of φ, for all φ simultaneously."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamesim.engine.compiled import Integers, Vector
from gamesim.errors import InputError
from gamesim.learner import Guarantee, Learner
from gamesim.players._kernels.haar import forward, interval
from gamesim.players._kernels.profile_bounds import aggregated, certified, declared, scales_of
from gamesim.players._kernels.reduction import REDUCTION, Reduction, first_reduction
from gamesim.players._kernels.relabelling import owners, shares, spread_evenly, spread_to_self
from gamesim.players._kernels.scalar import BLOCKS, CONTINUOUS, FULL, LIPSCHITZ, OPTIMISTIC, regret_bound
from gamesim.players._kernels.wavelet import (
    OPEN,
    OWN,
    Own,
    hints_of,
    more_state,
    observe,
    play,
    rows_together,
    settings_of,
)
from gamesim.validation import positive

SPECTRAL = "spectral"  # the order that a simulation computes from payoffs


@dataclass(frozen=True)
class Wavelet(Learner):
    """Learn an action modification rule in a Haar basis and play its fixed point.

    Parameters
    ----------
    order : tuple of int or "spectral", optional
        A permutation of the actions, numbered from 0. Neighbouring actions share features, so place
        actions that call for the same modification next to each other. By default 0, 1, …, d - 1. With
        "spectral", a simulation computes the order from the player's payoff table, such that actions
        with similar payoffs are neighbours.
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

    order: tuple[int, ...] | str | None = None
    clock: Literal["blocks", "continuous"] = "blocks"
    scale: float = 1.0

    name = "wavelet"
    kernels = play, observe
    state_layout = REDUCTION
    ordered: ClassVar[bool] = True

    def __post_init__(self) -> None:
        positive("scale", self.scale)
        if self.clock not in ("blocks", "continuous"):
            raise InputError(f'clock must be "blocks" or "continuous", got {self.clock!r}')
        if isinstance(self.order, str) and self.order != SPECTRAL:
            raise InputError(f'order must be a permutation of the actions or "spectral", got {self.order!r}')
        if self.order is not None and not isinstance(self.order, str):
            owners(len(self.order), self.order)

    def kernel_settings(self, actions: int) -> Vector:  # noqa: D102
        owner, (code, guard) = self._owners(actions), self._clock()
        scales = scales_of(self.scale, actions, owner)
        return settings_of(code, owner, self.scale, scales.columns, scales.constant, guard)

    def first_state(self, actions: int) -> Vector:  # noqa: D102
        owner = self._owners(actions)
        size = owner.size
        own = OWN.pack(size, size.bit_length(), rows_together(size), more=more_state(self._clock()[0], size))
        return first_reduction(1 / (actions * shares(owner)), own)

    def _owners(self, actions: int) -> Integers:
        """Return the action that owns each augmented index."""
        if isinstance(self.order, str):
            raise InputError(
                'order = "spectral" is computed from the payoffs of a game: use the learner in a simulation, or give a '
                "permutation of the actions"
            )
        return owners(actions, self.order)

    def _clock(self) -> tuple[int, float]:
        """Return the numeric code of the clock, and the κ of hints."""
        return (BLOCKS if self.clock == "blocks" else CONTINUOUS), 0.0

    def dimensions(self, actions: int) -> tuple[int, ...]:  # noqa: D102
        return (self._owners(actions).size,)

    def parts(self, state: Vector, actions: int) -> Reduction:
        """Return the named parts of a state.

        Parameters
        ----------
        state : ndarray of float
            A state of this learner.
        actions : int
            The number of actions.

        Returns
        -------
        namedtuple
            The parts, as views that can be written to. Only φ, the `matrix`, is a copy: it is computed here, because a
            round most often needs no more than the improper matrix.

        Examples
        --------
        >>> player = Wavelet()
        >>> learner = player.start(actions=2)
        >>> for _ in range(8):
        ...     learner.observe([0.5, -0.5])
        >>> parts = player.parts(learner.state, 2)
        >>> bool(np.allclose(parts.strategy @ parts.matrix.reshape(2, 2), parts.strategy))  # p = pφ
        True
        """
        found, own = super().parts(state, actions), self.own_parts(state, actions)
        size, some = found.strategy.size, own.sums > 0
        shares = np.maximum(own.improper.reshape(size, size), 0) / np.where(some, own.sums, 1)[:, np.newaxis]
        matrix = np.where(some[:, np.newaxis], shares, found.default)
        return Reduction(*found)._replace(matrix=matrix.ravel())

    def own_parts(self, state: Vector, actions: int) -> Own:
        """Return the named parts of the matrix learner's state."""
        size = self.dimensions(actions)[0]
        return OWN.parts(REDUCTION.parts(state, size).own, size, size.bit_length(), rows_together(size))

    def certificate(self, state: Vector, phi: ArrayLike, exact: bool = False) -> float:
        """Return the bound on the regret against φ that the gradients so far certify.

        Parameters
        ----------
        state : array
            State of a running learner (`learner.state`).
        phi : array_like, shape (d, d)
            A stochastic matrix φ: row i is the distribution that replaces action i.
        exact : bool, default False
            Whether to use what the scalar learners lost in this run instead of their bounds.

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
        Let g be the gradients, X the predicted (improper) matrices, and c_b, x_b and u_b the gradients,
        predictions and coefficients of φ of the features b. For every φ,

            Reg(φ) ≤ Σ_t <g, X - φ> = Σ_b Σ_t c_b (x_b - u_b)

        By default, the bound is the sum of the scalar learners' bounds over all features. The exact
        certificate is the right-hand side itself, which needs only the sums of g and of <g, X>. It is
        never larger. Of the paper's two ways to write φ in features, with and without the identity, the
        one with the smaller bound is used.
        """
        wanted = np.array(phi, dtype=np.float64)
        actions = len(wanted)
        if wanted.shape != (actions, actions) or (wanted < 0).any() or not np.allclose(wanted.sum(axis=1), 1):
            raise InputError(f"phi must be a square matrix whose rows are distributions, got {wanted.tolist()}")
        if state.shape != self.first_state(actions).shape:
            raise InputError(
                f"phi has {actions} actions, but the state is that of a learner with another number of actions"
            )
        owner = self._owners(actions)
        bounds = [
            self._certified(state, actions, np.append(_coefficients(augmented), identity), exact)
            for identity, augmented in (
                (0.0, spread_evenly(wanted, owner)),
                (1.0, spread_to_self(wanted, owner) - np.eye(owner.size)),
            )
        ]
        return min(bounds)

    def _certified(self, state: Vector, actions: int, coefficients: Vector, exact: bool) -> float:
        """Return the certificate against the matrix with these coefficients."""
        gradients, times, spent = self._observed(state, actions)
        if exact:
            return float(self.own_parts(state, actions).worth.sum() - coefficients @ gradients)
        size, (code, _) = self.dimensions(actions)[0], self._clock()
        scales = np.append(np.tile(scales_of(self.scale, actions, self._owners(actions)).columns, size), self.scale)
        scales[:size] *= size
        return float(regret_bound(code, scales, times, coefficients).sum() + spent)

    def _observed(self, state: Vector, actions: int) -> tuple[Vector, Vector, float]:
        """Return the gradient sums and the clocks of all features, with open blocks, and what hints have cost."""
        own, size, code = self.own_parts(state, actions), self.dimensions(actions)[0], self._clock()[0]
        gradients, times, spent = -LIPSCHITZ * own.totals, own.times, 0.0
        if code == BLOCKS:
            block = OPEN.parts(own.more, size)
            gradients, times = 2 * gradients + block.sums, times + (block.masses > 0)
        elif code == OPTIMISTIC:
            spent = float(LIPSCHITZ * hints_of(own, size).spent.sum())
        return gradients, times, spent

    def profile_certificate(self, state: Vector, actions: int) -> NDArray[np.float64]:
        """Return bounds on the regret against classes of deviations that the gradients so far certify.

        Parameters
        ----------
        state : array
            State of a running learner (`learner.state`).
        actions : int
            The number of actions d.

        Returns
        -------
        ndarray of shape (2, d)
            Upper bounds on the regret profile so far, in units of loss, for k = 1, …, d: against deviations that send
            at least d - k + 1 actions to the same action, and against those that change at most k actions.

        Notes
        -----
        The bounds are those of `certificate`, maximised over the class. For internal regret (k = 1 of the second row)
        and external regret (k = 1 of the first row) the maximum is over these deviations. For larger k it is over a
        superset of coefficients: the intervals of each width, and the columns in each, are chosen independently.

        Examples
        --------
        >>> player = WaveletContinuous()
        >>> learner = player.start(actions=4)
        >>> for _ in range(1000):
        ...     learner.observe([0.5, 0.25, -0.25, 0.0])
        >>> player.profile_certificate(learner.state, 4).round(1)
        array([[2. , 3.4, 3.4, 3.4],
               [1.9, 3.4, 3.4, 3.4]])
        """
        if actions == 1:
            return np.zeros((2, 1))
        _, times, spent = self._observed(state, actions)
        return self._steps() * certified(self.scale, times, actions, self._owners(actions)) + spent

    def improper_losses(self, state: Vector, actions: int) -> tuple[float, tuple[NDArray[np.float64], ...]]:
        """Return what the exact certificate against any deviation consists of.

        Parameters
        ----------
        state : array
            State of a running learner (`learner.state`).
        actions : int
            The number of actions d.

        Returns
        -------
        worth : float
            The sum of <g, X>, in units of loss, with g the gradients and X the predicted (improper) matrices.
        gradients : tuple of two ndarrays of shape (d, d)
            For both ways to write φ in features, the matrix G such that the regret against φ is at most worth - <G, φ>.

        Examples
        --------
        >>> player = Wavelet()
        >>> learner = player.start(actions=3)
        >>> learner.observe([0.5, 0.25, -0.25])
        >>> worth, gradients = player.improper_losses(learner.state, 3)
        >>> phi = np.array([[0, 0, 1]] * 3)
        >>> exact = min(worth - (one * phi).sum() for one in gradients)
        >>> bool(np.isclose(exact, player.certificate(learner.state, phi, exact=True)))
        True
        """
        gradients, _, _ = self._observed(state, actions)
        worth = float(self.own_parts(state, actions).worth.sum())
        return worth, aggregated(gradients[:-1], self._owners(actions))

    def guarantee(self) -> Guarantee:
        """Return bounds on each kind of regret with all constants.

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

        Fewer intervals contribute if most actions are sent to the same action, and coefficients are smaller if most
        actions are left unchanged. This gives the bounds on external and internal regret and on the rest of the
        profile; `gamesim.players._kernels.profile_bounds` has the proof.

        Examples
        --------
        >>> [round(wavelet.guarantee().bound(10**6, 4)) for wavelet in (Wavelet(), WaveletContinuous())]
        [35664, 17832]
        >>> promise = WaveletContinuous().guarantee()
        >>> [round(promise.bound_on(kind, 10**6, 64)) for kind in ("external", "internal", "swap")]
        [10102, 20358, 150465]
        """
        return Guarantee("swap", f"min(2T, {self._formula()}), 0 ≤ k < log₂ d", self._worst_case, profile=self._profile)

    def _formula(self) -> str:
        blocks = "4(√(T+1)(scale + K₀) + K₁ Σ_k √(2^k (2^k + T)))"
        return blocks if self.clock == "blocks" else "2√T(scale + K₀ + K₁ Σ_k √(2^k))"

    def _worst_case(self, rounds: int, actions: int) -> float:
        return float(self._profile(rounds, actions, np.array([actions]))[0, 0])

    def _profile(self, rounds: int, actions: int, k: Integers) -> NDArray[np.float64]:
        """Return the bounds along the regret profile at each k; a bound on swap regret holds for all k."""
        if actions == 1:
            return np.zeros((2, len(k)))
        swap = self._bound(rounds, actions, np.array([actions]))[0, 0]
        return np.minimum(self._bound(rounds, actions, k), min(2.0 * rounds, swap))

    def _bound(self, rounds: int, actions: int, k: Integers) -> NDArray[np.float64]:
        """Return the bounds along the regret profile as proved, with two or more actions."""
        extra = 1.0 if self.clock == "blocks" else 0.0
        return self._steps() * declared(self.scale, extra, rounds * LIPSCHITZ / FULL, actions, k)

    def _steps(self) -> float:
        """Return the factor G' of the bounds."""
        return 2 * LIPSCHITZ if self.clock == "blocks" else LIPSCHITZ


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
    order : tuple of int or "spectral", optional
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
