"""The plain recurrent network against numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.catalogue.cells import CELLS
from untruncated.cells.vanilla_rnn import (
    RECURRENT_INITS,
    VanillaRNN,
    VanillaRNNParameters,
)
from untruncated.estimators.online.bptt import sequence_features

INPUTS, WIDTH, STEPS = 4, 5, 50
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_forward_equals_numpy(activation, bias):
    function = {"tanh": np.tanh, "relu": lambda y: np.maximum(y, 0)}[activation]
    cell, rng = VanillaRNN(INPUTS, WIDTH, activation, bias=bias), np.random.default_rng(0)
    w, u = rng.normal(size=(INPUTS, WIDTH)), 0.3 * rng.normal(size=(WIDTH, WIDTH))
    b = rng.normal(size=WIDTH) * bias
    inputs, state, expected = rng.normal(size=(STEPS, INPUTS)), np.zeros(WIDTH), []
    for x in inputs:
        state = function(u.T @ state + w.T @ x + b)
        expected.append(state)
    with jax.enable_x64(True):
        params = VanillaRNNParameters(
            jnp.asarray(w), jnp.asarray(u), jnp.asarray(b) if bias else None
        )
        (features,) = sequence_features(cell, params, inputs, np.zeros(STEPS, bool))
    assert np.ptp(expected, axis=0).min() > 0.1
    np.testing.assert_allclose(features, expected, rtol=1e-11, atol=1e-13)


def test_starts_with_an_orthogonal_recurrence():
    w, u, b = jax.jit(VanillaRNN(64, 48).init)(jax.random.key(1))
    np.testing.assert_allclose(w.std(), 64**-0.5, rtol=0.05)
    np.testing.assert_allclose(u.T @ u, np.eye(48), atol=1e-5)
    assert b is None


@pytest.mark.parametrize(
    ("recurrent_init", "std", "largest"),
    # lecun_normal is a normal distribution cut at two of its deviations, then stretched
    [("lecun_normal", 400**-0.5, 2.3 * 400**-0.5), ("uniform", 1200**-0.5, 400**-0.5)],
)
def test_other_starts_of_the_recurrence_have_their_law_and_leave_the_rest(
    recurrent_init, std, largest
):
    key = jax.random.key(1)
    params = VanillaRNN(64, 400, recurrent_init=recurrent_init, bias=True).init(key)
    np.testing.assert_allclose(params.u.std(), std, rtol=0.01)
    assert abs(params.u.mean()) < 4 * std / 400
    assert 0.97 * largest < np.abs(params.u).max() <= largest
    np.testing.assert_array_equal(params.b, np.zeros(400))
    np.testing.assert_array_equal(params.w, VanillaRNN(64, 400).init(key).w)


def test_every_start_of_the_catalogue_is_one_of_the_cells_and_no_other():
    field = CELLS["vanilla_rnn"].fields["recurrent_init"]
    assert set(field.choices) == set(RECURRENT_INITS)
    assert field.default == VanillaRNN(1, 1).recurrent_init
