"""A distribution from its moments: of all that have them, the one of the greatest entropy.

paper Moment-Based Quantile Sketches (Gan et al., 2018)

The density is exp(θ·b(u)) on u in [-1, 1], with b a few functions whose means are known:
polynomials of the values and, if all values are positive, of their logarithms, in which u is then
linear. θ minimises the convex ∫ exp(θ·b) du - θ·means, and Newton's method finds it.

Two precautions make it robust. The functions are made orthonormal one after another, and one that
the others all but determine is left out: its mean would be noise. And where Newton's method finds
no density, or one of tall spikes (few values, or few distinct ones, have moments that no smooth
density has), the functions of the highest orders are given up, down to none: the values then
count as evenly spread.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

NODES = 256
STEPS = 60
CONVERGED = 1e-7
INDEPENDENT = 0.01
"""The part of a function that must be left beside those before it."""
DISTINCT_LOGS = 1e-6
"""By how much values must differ, of their size, for their logarithms to be worth a look."""
CALM = 500.0
"""The largest θ of a density without spikes: those seen to err by 1 % have 7,000 and more."""


class Density:
    """How n values between lo and hi are spread, as far as their moments tell.

    `powers[k]` is the mean of the (k+1)-th power of (value - origin), `logs[k]` that of the
    (k+1)-th power of its logarithm.
    """

    def __init__(
        self, lo: float, hi: float, powers: Array, logs: Array | None, origin: float = 0.0
    ) -> None:
        if hi < lo * (1 + DISTINCT_LOGS):
            logs = None
        self.logarithmic = logs is not None
        self.lo, self.hi = lo, hi
        nodes, weights = grid()
        ends = (math.log(lo), math.log(hi)) if self.logarithmic else (lo, hi)
        self.centre, self.reach = halfway(*ends)
        sets = [(nodes, chebyshev_means(powers, lo - origin, hi - origin))]
        if logs is not None:
            middle, half = halfway(lo, hi)
            values = np.exp(self.centre + self.reach * nodes)
            sets = [
                (nodes, chebyshev_means(logs, *ends)),
                (np.clip((values - middle) / half, -1.0, 1.0), sets[0][1]),
            ]
        basis, means = orthonormal(sets)
        self.theta = fitted(basis, means)
        mass = weights * np.exp(basis[:, : len(self.theta)] @ self.theta)
        # A node stands for the interval as long as its weight.
        self.edges = np.concatenate(([-1.0], np.cumsum(weights) - 1.0))
        self.shares = np.concatenate(([0.0], np.cumsum(mass))) / mass.sum()

    def quantile(self, share: float) -> float:
        """The value below which this share of the values lies."""
        if share <= 0 or share >= 1:
            return self.lo if share <= 0 else self.hi
        at = self.centre + self.reach * float(np.interp(share, self.shares, self.edges))
        return min(max(math.exp(at) if self.logarithmic else at, self.lo), self.hi)


def halfway(lo: float, hi: float) -> tuple[float, float]:
    """The middle of an interval, and the distance from there to its ends; neither overflows."""
    return lo / 2 + hi / 2, hi / 2 - lo / 2


@cache
def grid() -> tuple[Array, Array]:
    """Gauss and Legendre's nodes and weights on [-1, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return nodes, weights


@cache
def chebyshev_coefficients(order: int) -> Array:
    """Row k: the coefficients of the k-th Chebyshev polynomial."""
    rows = np.zeros((order + 1, order + 1))
    rows[0, 0] = 1.0
    if order:
        rows[1, 1] = 1.0
    for k in range(2, order + 1):
        rows[k, 1:] = 2 * rows[k - 1, :-1]
        rows[k] -= rows[k - 2]
    return rows


def chebyshev_means(powers: Array, lo: float, hi: float) -> Array:
    """The means of the Chebyshev polynomials of the values, once these are scaled to [-1, 1].

    As many as are more than rounding errors: to move the powers of values far from 0 to their
    middle takes differences of large numbers (the paper's bound on the order).
    """
    middle, half = halfway(lo, hi)
    if not half:  # of two neighbours there is nothing in between
        return np.zeros(0)
    away = middle / half
    order = min(len(powers), int(13.06 / (0.78 + math.log10(abs(away) + 1))))
    scaled = np.empty(order + 1)
    with np.errstate(all="ignore"):
        plain = np.concatenate(([1.0], powers[:order] / half ** np.arange(1.0, order + 1)))
        for k in range(order + 1):
            terms = [math.comb(k, j) * plain[j] * (-away) ** (k - j) for j in range(k + 1)]
            scaled[k] = sum(terms)
        means = chebyshev_coefficients(order) @ scaled
    possible = np.abs(means) <= 1.0 + 1e-6  # false for NaN
    known = order + 1 if possible.all() else int(np.argmin(possible))
    return np.clip(means[1:known], -1.0, 1.0)


def orthonormal(sets: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Functions on the grid, orthonormal under its weights, with the means that follow.

    Each set is an argument for Chebyshev polynomials and the means of those of order 1, 2, …;
    they are taken in turn, the lowest orders first. The first function is a constant.
    """
    _, weights = grid()
    longest = max(len(means) for _, means in sets)
    polynomials = [
        np.polynomial.chebyshev.chebvander(argument, max(len(means), 1)) for argument, means in sets
    ]
    basis = np.empty((NODES, 1 + sum(len(means) for _, means in sets)))
    found = np.empty(basis.shape[1])
    basis[:, 0], found[0] = math.sqrt(0.5), math.sqrt(0.5)
    size = 1
    for k in range(longest):
        for (_, means), values in zip(sets, polynomials, strict=True):
            if k >= len(means):
                continue
            function, mean = values[:, k + 1], means[k]
            whole = math.sqrt(weights @ (function * function))
            for _ in range(2):  # twice is enough
                along = (weights * function) @ basis[:, :size]
                function = function - basis[:, :size] @ along
                mean = mean - found[:size] @ along
            length = math.sqrt(weights @ (function * function))
            if length > INDEPENDENT * whole:
                basis[:, size], found[size] = function / length, mean / length
                size += 1
    return basis[:, :size], found[:size]


def fitted(basis: Array, means: Array) -> Array:
    """θ for as many of the functions as a calm density is found for, or else any."""
    for limit in (CALM, math.inf):
        for size in range(len(means), 2 if limit < math.inf else 1, -1):
            theta = newton(basis[:, :size], means[:size], limit)
            if theta is not None:
                return theta
    return np.zeros(1)


def newton(basis: Array, means: Array, limit: float) -> Array | None:
    """The θ that minimises ∫ exp(θ·b) - θ·means, or None if it is not found within the limit."""
    _, weights = grid()
    theta = np.zeros(len(means))
    theta[0] = -math.log(2.0) * math.sqrt(2.0)
    with np.errstate(over="ignore"):
        mass = weights * np.exp(basis @ theta)
        potential = mass.sum() - theta @ means
        for _ in range(STEPS):
            gradient = mass @ basis - means
            if np.abs(gradient).max() < CONVERGED:
                return theta
            hessian = basis.T @ (mass[:, None] * basis)
            try:
                step = np.linalg.solve(hessian, gradient)
            except np.linalg.LinAlgError:
                return None
            decrease = gradient @ step
            if not decrease > 0:
                return None
            length = 1.0
            while True:
                tried = theta - length * step
                mass = weights * np.exp(basis @ tried)
                reached = mass.sum() - tried @ means
                if reached <= potential - 0.1 * length * decrease:
                    break
                length /= 2
                if length < 1e-6:
                    return None
            theta, potential = tried, reached
            if np.abs(theta).max() > limit:
                return None
    return None
