"""Every truncated estimator against Python loops over particles and steps, one after the other.

Inner problems of 7 steps, unrolls of 3: they end inside an unroll, at its end, and are cut off
early; of 6, they end with an unroll always. The loops know nothing of masks, pairs or clocks.
"""

import functools
import itertools
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from untruncated.estimators.unrolled.backpropagation import UnrolledTruncatedBPTT
from untruncated.estimators.unrolled.es_single import ESSingle
from untruncated.estimators.unrolled.evolution_strategies import TruncatedES
from untruncated.estimators.unrolled.pes import PES
from untruncated.estimators.unrolled.pes_analytic import PESAnalytic
from untruncated.estimators.unrolled.protocol import split_key
from untruncated.estimators.unrolled.staggered import Staggered

HORIZON, WHOLE_UNROLLS, K, PARTICLES, SIGMA, CALLS = 7, 6, 3, 4, 0.2, 8
EVOLUTION = {
    "truncated_es": TruncatedES(PARTICLES, SIGMA, K),
    "pes": PES(PARTICLES, SIGMA, K),
    "es_single": ESSingle(PARTICLES, SIGMA, K),
    "pes_analytic_a": PESAnalytic(PARTICLES, SIGMA, K),
    "pes_analytic_b": PESAnalytic(PARTICLES, SIGMA, K, form="B"),
}


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


@functools.cache
def _compiled(kind_of_problem):
    """A step from flat θ and state, and the derivatives of its next state and loss."""
    _, unflatten = ravel_pytree(kind_of_problem.initial_theta(jax.random.key(0)))

    def step(flat, state, t, key):
        return kind_of_problem.unroll_step(unflatten(flat), state, t, key)

    return jax.jit(step), jax.jit(jax.jacfwd(step, argnums=(0, 1)))


class Loops:
    """The reference: what is particular to an estimator stands in `gradient`."""

    def __init__(self, problem, name, theta, start_key, first_end=None):
        self.problem, self.name, self.end = problem, name, first_end or problem.horizon
        self.flat = np.asarray(ravel_pytree(theta)[0])
        kind = replace(problem, horizon=None, unroll_loss="sum")
        self.step, self.derivatives = _compiled(kind)
        start = problem.initial_state(split_key(start_key).start)
        # one more than the particles: the last goes on with θ itself
        self.states, self.t = [start] * (PARTICLES + 1), 0
        self.sums = np.zeros((PARTICLES, self.flat.size))
        self.last_loss = np.zeros(PARTICLES)
        self.kept = self.noise(split_key(start_key).noise)

    def noise(self, key):
        drawn = SIGMA * jax.random.normal(key, (PARTICLES // 2, self.flat.size))
        return np.concatenate([drawn, -drawn])

    def call(self, key):
        keys = split_key(key)
        data = jax.random.split(keys.data, K)
        new = self.noise(keys.noise)
        gradient, at = np.zeros(self.flat.size), 0
        while at < K:  # one part per inner problem
            length = min(K - at, self.end - self.t)
            epsilon = self.kept if self.name == "es_single" else new
            gradient += self.part(epsilon, data[at : at + length])
            at, self.t = at + length, self.t + length
            if self.t == self.end:
                self.states = [self.problem.initial_state(keys.start)] * (PARTICLES + 1)
                self.t, self.end, self.kept = 0, self.problem.horizon, new
                self.sums[:], self.last_loss = 0, np.zeros(PARTICLES)
        return gradient

    def unroll(self, flat, state, keys):
        losses = []
        for offset, key in enumerate(keys):
            state, loss = self.step(flat, state, self.t + offset, key)
            losses.append(float(loss))
        return (sum(losses) if self.problem.unroll_loss == "sum" else losses[-1]), state

    def differentiate(self, state, keys):
        """The gradient of `unroll` at θ, by the chain rule forwards in time."""
        influence, gradients = np.zeros((3, self.flat.size)), []
        for offset, key in enumerate(keys):
            at = (self.flat, state, self.t + offset, key)
            (state_theta, state_state), (loss_theta, loss_state) = self.derivatives(*at)
            gradients.append(loss_state @ influence + loss_theta)
            influence = state_state @ influence + state_theta
            state, _ = self.step(*at)
        return sum(gradients) if self.problem.unroll_loss == "sum" else gradients[-1]

    def part(self, epsilon, keys):
        losses = np.zeros(PARTICLES)
        start = self.states[-1]
        for i in range(PARTICLES):
            own = start if self.name == "truncated_es" else self.states[i]
            losses[i], self.states[i] = self.unroll(self.flat + epsilon[i], own, keys)
        p = self.differentiate(start, keys)
        mean_loss, self.states[-1] = self.unroll(self.flat, start, keys)
        telescoped = self.problem.unroll_loss == "telescoped"
        before = self.last_loss if telescoped else np.zeros(PARTICLES)
        # what a particle of truncated ES starts from has the loss of θ itself
        self.last_loss = np.full(PARTICLES, mean_loss) if self.name == "truncated_es" else losses
        old_sums = self.sums.copy()
        self.sums += epsilon
        scale = 1 / (PARTICLES * SIGMA**2)
        if self.name in ("truncated_es", "es_single"):
            return scale * epsilon.T @ (losses - before)
        if self.name == "pes":
            return scale * (self.sums.T @ losses - old_sums.T @ before)
        explained = losses - epsilon @ p
        weights = old_sums if self.name == "pes_analytic_a" else self.sums
        return p + scale * (weights.T @ explained - old_sums.T @ before)


@pytest.mark.parametrize("horizon", [HORIZON, WHOLE_UNROLLS])
@pytest.mark.parametrize(
    ("name", "unroll_loss"),
    [*itertools.product(EVOLUTION, ["sum", "telescoped"]), ("pes", "last")],
)
def test_inner_problems_that_end_inside_unrolls_and_with_them(
    noisy_system, run_estimator, name, unroll_loss, horizon
):
    problem = noisy_system(horizon, unroll_loss)
    theta = problem.initial_theta(jax.random.key(1))
    start, keys = jax.random.key(2), jax.random.split(jax.random.key(3), CALLS)
    gradients, _ = run_estimator(problem, EVOLUTION[name], theta, start, keys)
    loops = Loops(problem, name, theta, start)
    np.testing.assert_allclose(gradients, [loops.call(key) for key in keys], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(("horizon", "first_ends"), [(HORIZON, (2, 4, 6)), (12, (6, 9, 12))])
@pytest.mark.parametrize("name", ["pes", "es_single"])
def test_staggered_groups_are_the_mean_of_independent_copies(
    noisy_system, run_estimator, name, horizon, first_ends
):
    groups, problem = 3, noisy_system(horizon, "telescoped")
    theta = problem.initial_theta(jax.random.key(1))
    start, keys = jax.random.key(2), jax.random.split(jax.random.key(3), CALLS)
    staggered = Staggered(EVOLUTION[name], groups)
    gradients, _ = run_estimator(problem, staggered, theta, start, keys)
    copies = [
        Loops(problem, name, theta, key, first_end=first_end)
        for key, first_end in zip(jax.random.split(start, groups), first_ends, strict=True)
    ]
    expected = [
        np.mean([c.call(k) for c, k in zip(copies, jax.random.split(key, groups), strict=True)], 0)
        for key in keys
    ]
    np.testing.assert_allclose(gradients, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("unroll_loss", ["sum", "telescoped"])
def test_truncated_bptt_differentiates_each_part_of_an_unroll(
    noisy_system, run_estimator, unroll_loss
):
    problem = noisy_system(HORIZON, unroll_loss)
    theta = problem.initial_theta(jax.random.key(1))
    start, keys = jax.random.key(2), jax.random.split(jax.random.key(3), CALLS)
    gradients, _ = run_estimator(problem, UnrolledTruncatedBPTT(K), theta, start, keys)
    loops = Loops(problem, "truncated_es", theta, start)
    # without perturbations the loops' backpropagated part is all that is left
    loops.name, loops.noise = "pes_analytic_a", lambda key: np.zeros((PARTICLES, 2))
    np.testing.assert_allclose(gradients, [loops.call(key) for key in keys], rtol=1e-9, atol=1e-10)


def test_a_problem_that_never_ends_is_one_that_has_not_ended_yet(noisy_system, run_estimator):
    theta = noisy_system().initial_theta(jax.random.key(1))
    start, keys = jax.random.key(2), jax.random.split(jax.random.key(3), CALLS)
    endless, long = (
        run_estimator(noisy_system(horizon), EVOLUTION["pes"], theta, start, keys)
        for horizon in (None, CALLS * K + 1)
    )
    np.testing.assert_allclose(endless[0], long[0], rtol=1e-12)
    np.testing.assert_allclose(endless[1].accumulators, long[1].accumulators, rtol=1e-12)
    assert jnp.all(endless[1].clock.t == CALLS * K)
