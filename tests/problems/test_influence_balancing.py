"""Influence balancing against linear algebra: what θ does at once and in the long run."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.estimators.unrolled.protocol import full_unroll_loss
from untruncated.problems.influence_balancing import InfluenceBalancing

PROBLEM, KEY = InfluenceBalancing(), jax.random.key(0)
MATRIX = 0.5 * (np.eye(23) + np.eye(23, k=1))
PUSH = np.array([1.0] * 10 + [-1.0] * 13)


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def _first_unit(theta):
    """s₁ after each of 500 steps from the start."""

    def step(state, t):
        state, _ = PROBLEM.unroll_step(theta, state, t, KEY)
        return state, state[0]

    return jax.lax.scan(step, PROBLEM.initial_state(KEY), jnp.arange(500))[1]


def test_a_step_is_the_affine_map_with_its_loss():
    state = np.random.default_rng(0).normal(size=23)
    after, loss = PROBLEM.unroll_step(0.3, jnp.asarray(state), 7, KEY)
    expected = MATRIX @ state + 0.3 * PUSH
    np.testing.assert_allclose(after, expected, rtol=1e-13)
    np.testing.assert_allclose(loss, 0.5 * (expected[0] - 1) ** 2, rtol=1e-13)


def test_influence_of_theta_on_the_first_unit():
    influence = jax.jit(jax.jacfwd(_first_unit))(0.5)
    steps = np.array([1, 10, 23, 40, 50, 60, 100, 500])
    expected = [1, 10, 15.487, 0.566, -4.753, -5.897, -6, -6]
    np.testing.assert_allclose(influence[steps - 1], expected, atol=6e-4)


def test_long_run_loss_and_its_optimum():
    start = PROBLEM.initial_theta(KEY)
    assert start == 0.5
    np.testing.assert_allclose(_first_unit(start)[-1], -6 * 0.5, rtol=1e-12)
    evaluate = jax.jit(lambda theta: full_unroll_loss(PROBLEM, theta, KEY, 500))
    np.testing.assert_allclose(evaluate(start), 8.0, rtol=1e-12)
    np.testing.assert_allclose(evaluate(-1 / 6), 0.0, atol=1e-24)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"positive": 24}, "positive must be from 0 to units"),
        ({"horizon": 0}, "horizon: must be at least 1, not 0"),
        ({"horizon": 2**31}, "horizon: must be at most 1073741824, not 2147483648"),
        (
            {"unroll_loss": "mean"},
            "unroll_loss: unknown value 'mean'.* Allowed: sum, last, telescoped",
        ),
    ],
)
def test_bad_fields_are_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        InfluenceBalancing(**fields)
