"""Algorithm 1 of Lu, Sun and Zhang, line by line: explicit features, no fast transforms, no lazy updates.

The clocks are "blocks" (the paper's), "continuous", and "optimistic": continuous with guarded hints. Many runs are
computed at once: the first axis of every array is the run.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import dawsn

Array = NDArray[np.float64]
G = 2.0


def haar_vectors(states: int) -> list[list[int]]:
    """Return the all-one vector, then h^(s,l) for every scale s and location l, from the definition."""
    scales = states.bit_length() - 1
    vectors = [[1] * states]
    for s in range(1, scales + 1):
        for location in range(1, 2 ** (scales - s) + 1):
            start = 2**s * (location - 1)
            plus = range(start + 1, start + 2 ** (s - 1) + 1)
            minus = range(start + 2 ** (s - 1) + 1, 2**s * location + 1)
            vectors.append([1 if i in plus else -1 if i in minus else 0 for i in range(1, states + 1)])
    return vectors


def features(states: int) -> Array:
    """Return the identity and every h ⊗ e_j as matrices, in this order."""
    columns = np.eye(states)
    products = [np.outer(h, columns[j]) for h in haar_vectors(states) for j in range(states)]
    return np.array([np.eye(states), *products])


def owner_of(actions: int, order: list[int]) -> list[int]:
    """Return the action of each augmented index; the first actions in the order own two each."""
    states = 1
    while states < actions:
        states *= 2
    return [action for at, action in enumerate(order) for _ in range(2 if at < states - actions else 1)]


def potential(scale: Array, time: Array, total: Array) -> Array:
    z = total / np.sqrt(2 * time)
    value: Array = scale * np.sqrt(time) * np.exp(z**2) * (2 * z * dawsn(z) - 1)
    return value


@njit(cache=True)
def reachability(phi):  # type: ignore[no-untyped-def]
    """Return which states are reachable from which (Warshall's algorithm)."""
    n = len(phi)
    reach = np.zeros((n, n), dtype=np.bool_)
    for i in range(n):
        for j in range(n):
            reach[i, j] = phi[i, j] > 0 or i == j
    for k in range(n):
        for i in range(n):
            for j in range(n):
                reach[i, j] |= reach[i, k] and reach[k, j]
    return reach


@njit(cache=True)
def absorb(phi, flow, closed):  # type: ignore[no-untyped-def]
    """Move the mass of transient states to the closed classes, by eliminating them one by one."""
    chain = phi.copy()
    n = len(flow)
    for k in range(n):
        if closed[k]:
            continue
        out = 0.0
        for j in range(n):
            out += chain[k, j] if j != k else 0.0
        for i in range(n):
            through = chain[i, k] / out
            if i != k and not closed[i]:
                for j in range(n):
                    chain[i, j] += through * chain[k, j] if j != k else 0.0
                chain[i, k] = 0.0
        for j in range(n):
            flow[j] += flow[k] / out * chain[k, j] if j != k else 0.0
            chain[k, j] = 0.0
        flow[k] = 0.0


@njit(cache=True)
def invariant(local):  # type: ignore[no-untyped-def]
    """Return the fixed point of an irreducible chain, up to a factor, by state reduction; overwrites the chain."""
    m = len(local)
    for k in range(m - 1, 0, -1):
        out = 0.0
        for j in range(k):
            out += local[k, j]
        for i in range(k):
            local[i, k] /= out
            for j in range(k):
                local[i, j] += local[i, k] * local[k, j]
    weight = np.zeros(m)
    weight[0] = 1.0
    for k in range(1, m):
        for i in range(k):
            weight[k] += weight[i] * local[i, k]
    return weight


@njit(cache=True)
def damped_limit(phi, default):  # type: ignore[no-untyped-def]
    """Return the limit of the damped chain's fixed point: find the closed classes, then solve each one."""
    n = len(default)
    reach = reachability(phi)
    closed = np.ones(n, dtype=np.bool_)
    for i in range(n):
        for j in range(n):
            closed[i] &= reach[j, i] or not reach[i, j]
    flow = default.copy()
    absorb(phi, flow, closed)
    p = np.zeros(n)
    members = np.zeros(n, dtype=np.int64)
    for first in range(n):
        if not closed[first] or p[first] > 0:
            continue
        size, mass = 0, 0.0
        for i in range(n):
            if reach[first, i]:
                members[size] = i
                size += 1
                mass += flow[i]
        local = np.zeros((size, size))
        for a in range(size):
            for b in range(size):
                local[a, b] = phi[members[a], members[b]]
        weight = invariant(local)
        total = 0.0
        for a in range(size):
            total += weight[a]
        for a in range(size):
            p[members[a]] = mass * weight[a] / total
    return p


@njit(cache=True)
def damped_limits(phi, default):  # type: ignore[no-untyped-def]
    p = np.zeros(default.shape)
    for run in range(len(default)):
        limit = damped_limit(phi[run], default[run])
        for i in range(len(limit)):
            p[run, i] = limit[i]
    return p


class AlgorithmOne:
    """Run the algorithm; `orders` contains the order of the actions for each run."""

    def __init__(self, actions: int, orders: list[list[int]], clock: str, guard: float = 0.1) -> None:
        self.clock, self.guard = clock, guard
        self.owner = np.array([owner_of(actions, order) for order in orders])
        self.runs, self.states = self.owner.shape
        self.owned = self.owner[:, :, np.newaxis] == np.arange(actions)
        self.features = features(self.states).reshape(-1, self.states**2)
        shares = np.array([[list(run).count(action) for action in run] for run in self.owner], dtype=float)
        self.default = 1 / (actions * shares)
        self.scale = np.empty((self.runs, 1 + self.states**2))
        self.scale[:, 0] = 1
        self.scale[:, 1:] = np.tile(1 / (actions**2 * shares), self.states)
        self.scale[:, 1 : 1 + self.states] *= self.states
        self.x, self.c, self.a, self.n, self.S = (np.zeros_like(self.scale) for _ in range(5))
        self.plain, self.E, self.shift = (np.zeros_like(self.scale) for _ in range(3))
        self.costs, self.follow = np.zeros(self.runs), np.ones(self.runs, dtype=bool)
        self.W, self.g_sum = np.zeros(self.runs), np.zeros((self.runs, self.states, self.states))

    def play(self) -> Array:
        shape = (self.runs, self.states, self.states)
        self.improper = (self.x @ self.features).reshape(shape)
        self.improper[np.abs(self.improper) <= 1e-14] = 0
        positive = np.maximum(self.improper, 0)
        total = positive.sum(axis=2, keepdims=True)
        self.phi = np.where(total > 0, positive / np.where(total > 0, total, 1), self.default[:, np.newaxis, :])
        self.p_bar = damped_limits(self.phi, self.default)
        p: Array = (self.p_bar[:, :, np.newaxis] * self.owned).sum(axis=1)
        return p

    def observe(self, loss: Array) -> None:
        l_bar = np.take_along_axis(loss, self.owner, axis=1)
        centred = l_bar[:, np.newaxis, :] - np.einsum("rij,rj->ri", self.phi, l_bar)[:, :, np.newaxis]
        centred[np.abs(centred) <= 1e-13] = 0
        g = self.p_bar[:, :, np.newaxis] * centred
        self.g_improper = np.where(self.improper < 0, np.minimum(g, 0), g)
        self.gradients = self.g_improper.reshape(self.runs, -1) @ self.features.T
        self.W += (self.gradients * self.x).sum(axis=1)
        self.g_sum += self.g_improper
        if self.clock == "blocks":
            self.c += self.gradients
            self.a += np.abs(self.gradients)
            full = self.a >= G * (1 - 1e-9)
            self.S -= np.where(full, self.c / (2 * G), 0)
            self.n += full
            self.c[full] = self.a[full] = 0
        elif self.clock == "continuous":
            full = np.ones_like(self.a, dtype=bool)
            self.n += np.abs(self.gradients) / G
            self.S -= self.gradients / G
        else:
            self.observe_with_hints(self.gradients / G)
            return
        scale, later, total = self.scale[full], self.n[full] + 1, self.S[full]
        self.x[full] = (potential(scale, later, total + 1) - potential(scale, later, total - 1)) / 2

    def observe_with_hints(self, c: Array) -> None:
        self.E += c * (self.x - self.plain)
        self.n += np.abs(c)
        self.S -= c
        later = self.n + 1
        self.plain = (potential(self.scale, later, self.S + 1) - potential(self.scale, later, self.S - 1)) / 2
        s = self.S - c
        hinted = (potential(self.scale, later, s + 1) - potential(self.scale, later, s - 1)) / 2
        self.room = np.maximum(self.guard * self.scale * np.sqrt(later) - self.E, 0)
        self.follow = self.costs <= self.guard  # up to the round before
        self.costs += (c * self.shift).sum(axis=1)
        self.shift = np.clip(hinted - self.plain, -self.room, self.room)
        self.x = self.plain + self.follow[:, np.newaxis] * self.shift
