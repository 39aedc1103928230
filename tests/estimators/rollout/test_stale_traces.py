"""Stored traces, reverse accumulation and RTRL itself give one gradient."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.cells import LRU, BlockDiagonal, LinearRTU, NonlinearRTU
from untruncated.cells.nonlinear_lru import NonlinearLRU
from untruncated.estimators.online.traces import initial_carry, traced_step
from untruncated.estimators.rollout.stale_traces import (
    RecomputedTraces,
    StoredTraces,
    stale_step,
)

CELLS = {
    "linear_rtu": LinearRTU(3, 4),
    "linear_rtu, sigmoid": LinearRTU(3, 4, parameterisation="sigmoid"),
    "linear_rtu, reference": LinearRTU(3, 4, fidelity="reference"),
    "nonlinear_rtu": NonlinearRTU(3, 4),
    "nonlinear_rtu, tanh": NonlinearRTU(3, 4, activation="tanh"),
    "nonlinear_rtu, reference": NonlinearRTU(3, 4, fidelity="reference"),
    "lru": LRU(3, 4, outputs=2, skip=True, activation="relu"),
    "lru, reference": LRU(3, 4, fidelity="reference"),
    "nonlinear_lru": NonlinearLRU(3, 4),
    "block_diagonal": BlockDiagonal(3, 4, r_max=0.9),
}
STEPS = 40


def rollout(cell, params, carry, x, fresh):
    """What a rollout keeps, by carrying the traces forward."""
    derived = cell.derive(params)

    def step(carry, inputs):
        x, fresh = inputs
        entering = jax.tree.map(partial(jnp.where, fresh), initial_carry(cell), carry)
        after = traced_step(cell, params, derived, entering, x)
        return after, (entering, after.state)

    last, (entering, after) = jax.lax.scan(step, carry, (x, fresh))
    stored = StoredTraces(entering.state, entering.traces)
    recomputed = RecomputedTraces(entering.state, after, x, fresh, params, derived, carry.traces)
    return last, stored, recomputed


def moved(params, key, size=0.05):
    """The parameters after some updates."""
    leaves, tree = jax.tree.flatten(params)
    keys = jax.random.split(key, len(leaves))
    return jax.tree.unflatten(
        tree, [p + size * jax.random.normal(k, p.shape) for p, k in zip(leaves, keys, strict=True)]
    )


def scene(cell, dtype):
    """Two rollouts, the second after an update: its traces start from those of the first."""
    keys = jax.random.split(jax.random.key(3), 6)
    first = jax.tree.map(lambda p: p.astype(dtype), cell.init(keys[0]))
    x = jax.random.normal(keys[1], (2 * STEPS, 3), dtype)
    fresh = jnp.zeros(2 * STEPS, bool).at[jnp.array([0, 7, 8, STEPS + 13, STEPS + 14])].set(True)
    zero = jax.tree.map(lambda leaf: leaf.astype(dtype), initial_carry(cell))
    carry, *_ = rollout(cell, first, zero, x[:STEPS], fresh[:STEPS])
    second = moved(first, keys[2])
    _, stored, recomputed = rollout(cell, second, carry, x[STEPS:], fresh[STEPS:])
    index = jax.random.permutation(keys[3], STEPS)[:12]
    index = index.at[:3].set(jnp.array([0, 13, STEPS - 1]))
    weights = jax.random.normal(keys[4], (12, sum(cell.feature_sizes)), dtype)
    return moved(second, keys[5]), stored, recomputed, index, x[STEPS:], weights


def gradient(cell, params, past, index, x, weights):
    def loss(params, x):
        states = stale_step(cell, params, cell.derive(params), past, index, x[index])
        features = jax.vmap(partial(cell.features, params))(states, x[index])
        return jnp.sum(weights * jnp.concatenate(features, axis=-1))

    return jax.grad(loss, argnums=(0, 1))(params, x)


def by_rtrl(cell, params, stored, index, x, weights):
    """The same, one sample after the other, by the step with traces of the online estimator."""

    def loss(params, x):
        total = 0.0
        for position, t in enumerate(index):
            carry = type(initial_carry(cell))(
                *(jax.tree.map(lambda leaf: leaf[t], part) for part in stored)  # noqa: B023
            )
            state = traced_step(cell, params, cell.derive(params), carry, x[t]).state
            features = jnp.concatenate(cell.features(params, state, x[t]))
            total += jnp.sum(weights[position] * features)
        return total

    return jax.grad(loss, argnums=(0, 1))(params, x)


def apart(left, right):
    """The largest difference of any leaf, over the leaf's largest number."""
    worst = 0.0
    for a, b in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        scale = np.abs(b).max()
        worst = max(worst, float(np.abs(a - b).max() / scale) if scale else float(np.abs(a).max()))
    return worst


@pytest.mark.parametrize("name", CELLS)
def test_stored_traces_recomputed_ones_and_rtrl_agree_in_float64(name):
    cell = CELLS[name]
    with jax.enable_x64(True):
        params, stored, recomputed, *rest = scene(cell, jnp.float64)
        exact = by_rtrl(cell, params, stored, *rest)
        assert apart(gradient(cell, params, stored, *rest), exact) < 1e-12
        assert apart(gradient(cell, params, recomputed, *rest), exact) < 1e-10


@pytest.mark.parametrize("name", CELLS)
def test_stored_and_recomputed_traces_agree_in_float32(name):
    cell = CELLS[name]
    params, stored, recomputed, *rest = scene(cell, jnp.float32)
    left, right = (gradient(cell, params, past, *rest) for past in (stored, recomputed))
    assert apart(left, right) < 2e-6


@pytest.mark.parametrize("name", ["linear_rtu", "nonlinear_rtu", "lru", "block_diagonal"])
def test_with_the_parameters_of_the_rollout_it_is_the_gradient_through_all_of_it(name):
    cell = CELLS[name]
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(5), 3)
        params = jax.tree.map(lambda p: p.astype(jnp.float64), cell.init(keys[0]))
        x = jax.random.normal(keys[1], (STEPS, 3), jnp.float64)
        fresh = jnp.zeros(STEPS, bool).at[jnp.array([0, 9, 10])].set(True)
        zero = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), initial_carry(cell))
        _, stored, recomputed = rollout(cell, params, zero, x, fresh)
        weights = jax.random.normal(keys[2], (STEPS, sum(cell.feature_sizes)), jnp.float64)

        def loss(params):
            derived = cell.derive(params)

            def step(state, inputs):
                x, fresh = inputs
                state = jax.tree.map(partial(jnp.where, fresh), zero.state, state)
                state = cell.step(params, derived, state, cell.drive(params, derived, x))
                return state, jnp.concatenate(cell.features(params, state, x))

            return jnp.sum(weights * jax.lax.scan(step, zero.state, (x, fresh))[1])

        exact = jax.grad(loss)(params)
        for past in (stored, recomputed):
            found = gradient(cell, params, past, jnp.arange(STEPS), x, weights)[0]
            assert apart(found, exact) < 1e-11


def test_the_traces_at_the_start_of_the_rollout_matter():
    cell = CELLS["linear_rtu"]
    params, _, recomputed, *rest = scene(cell, jnp.float32)
    without = recomputed._replace(start=jax.tree.map(jnp.zeros_like, recomputed.start))
    assert (
        apart(gradient(cell, params, without, *rest), gradient(cell, params, recomputed, *rest))
        > 0.01
    )


def test_halved_traces_of_blocks_are_refused():
    cell = BlockDiagonal(3, 4, halved=True)
    params = cell.init(jax.random.key(0))
    zero = initial_carry(cell)
    x, fresh = jnp.ones((5, 3)), jnp.zeros(5, bool)
    _, stored, _ = rollout(cell, params, zero, x, fresh)
    with pytest.raises(ValueError, match="halved traces"):
        gradient(cell, params, stored, jnp.arange(2), x, jnp.ones((2, 8)))
