"""The plain recurrent network against numpy, and how it starts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.cells.vanilla_rnn import VanillaRNN, VanillaRNNParameters
from untruncated.estimators.bptt import sequence_features

INPUTS, WIDTH, STEPS = 4, 5, 50


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_forward_equals_numpy(activation):
    function = {"tanh": np.tanh, "relu": lambda y: np.maximum(y, 0)}[activation]
    cell, rng = VanillaRNN(INPUTS, WIDTH, activation), np.random.default_rng(0)
    w, u = rng.normal(size=(INPUTS, WIDTH)), 0.3 * rng.normal(size=(WIDTH, WIDTH))
    inputs, state, expected = rng.normal(size=(STEPS, INPUTS)), np.zeros(WIDTH), []
    for x in inputs:
        state = function(u.T @ state + w.T @ x)
        expected.append(state)
    with jax.enable_x64(True):
        params = VanillaRNNParameters(jnp.asarray(w), jnp.asarray(u))
        (features,) = sequence_features(cell, params, inputs, np.zeros(STEPS, bool))
    assert np.ptp(expected, axis=0).min() > 0.1
    np.testing.assert_allclose(features, expected, rtol=1e-11, atol=1e-13)


def test_starts_with_an_orthogonal_recurrence():
    w, u = jax.jit(VanillaRNN(64, 48).init)(jax.random.key(1))
    np.testing.assert_allclose(w.std(), 64**-0.5, rtol=0.05)
    np.testing.assert_allclose(u.T @ u, np.eye(48), atol=1e-5)
