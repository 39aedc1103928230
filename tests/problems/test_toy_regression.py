"""The toy regression's objective at the values that are known of it."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.estimators.unrolled.protocol import full_unroll_loss
from untruncated.problems.toy_regression import ToyRegression

PROBLEM, KEY = ToyRegression(), jax.random.key(0)


@jax.jit
def _objective(thetas):
    return jax.vmap(partial(full_unroll_loss, PROBLEM, key=KEY))(thetas)


def _plain_objective(theta, horizon=100):
    """Gradient descent with the derivative worked out by hand."""
    (a, b), total = (1.0, 1.0), 0.0
    for t in range(horizon):
        rate = (1 - t / horizon) * np.exp(theta[0]) + t / horizon * np.exp(theta[1])
        bump = np.exp(-5 * a * a)
        slope_a = a / np.sqrt(a * a + 5) - 10 * a * np.sin(b) ** 2 * bump
        slope_b = np.sin(2 * b) * bump + 0.25 * np.sign(b - 100)
        a, b = a - rate * slope_a, b - rate * slope_b
        total += np.sqrt(a * a + 5) - np.sqrt(5) + np.sin(b) ** 2 * np.exp(-5 * a * a)
        total += 0.25 * abs(b - 100)
    return total


def test_the_objective_equals_gradient_descent_by_hand():
    thetas = [(-4.0, -4.0), (0.15, -1.0), (0.5, -3.0), (-1.0, 0.5)]
    with jax.enable_x64(True):
        values = _objective(jnp.array(thetas))
    np.testing.assert_allclose(values, list(map(_plain_objective, thetas)), rtol=1e-7)


def test_the_start_the_plateau_and_the_worst_corner():
    start = PROBLEM.initial_theta(KEY)
    assert start.tolist() == [-4.0, -4.0]
    values = _objective(jnp.array([start, [0.15, -1.0], [5.0, 5.0]]))
    np.testing.assert_allclose(values, [2487.8, 2423.2, 7671], atol=0.5)


def test_the_lowest_value_of_the_fine_grid_is_where_it_is_known_to_be():
    grid = jnp.linspace(-5.0, 5.0, 1000)
    first, last = grid[760:801], grid[70:111]  # around (2.80, -4.10)
    thetas = jnp.stack(jnp.meshgrid(first, last, indexing="ij"), axis=-1).reshape(-1, 2)
    values = _objective(thetas)
    np.testing.assert_allclose(values.min(), 552.0, atol=0.2)
    np.testing.assert_allclose(thetas[values.argmin()], [2.80, -4.10], atol=0.02)
    coarse = jnp.stack(jnp.meshgrid(grid[::10], grid[::10]), axis=-1).reshape(-1, 2)
    everywhere = _objective(coarse)
    assert everywhere.min() >= values.min()
    plateau = jnp.mean((everywhere > 2400) & (everywhere < 2500))
    np.testing.assert_allclose(plateau, 1 / 3, atol=0.08)


def test_a_schedule_needs_an_end():
    with pytest.raises(ValueError, match="horizon: must be a whole number, not None"):
        ToyRegression(horizon=None)
