"""Truncated BPTT against full BPTT while nothing is cut, and against an unroll written by hand."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.cells.gru import GRU
from untruncated.cells.linear_rtu import LinearRTU
from untruncated.cells.lru import LRU
from untruncated.cells.nonlinear_rtu import NonlinearRTU
from untruncated.cells.vanilla_rnn import VanillaRNN
from untruncated.estimators.online.bptt import bptt_gradient, sequence_features
from untruncated.estimators.online.truncated_bptt import TruncatedBPTT, unroll_window

INPUTS, WIDTH, STEPS, TRUNCATION = 2, 3, 14, 5
CELLS = [
    GRU(INPUTS, WIDTH),
    LRU(INPUTS, WIDTH, outputs=2, skip=True),
    LinearRTU(INPUTS, WIDTH),
    NonlinearRTU(INPUTS, WIDTH, "tanh"),
    VanillaRNN(INPUTS, WIDTH, bias=True),
]


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def _stream(cell):
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(STEPS, cell.inputs))
    weights = tuple(rng.normal(size=(STEPS, size)) for size in cell.feature_sizes)
    return inputs, weights


@partial(jax.jit, static_argnums=0, compiler_options={"xla_backend_optimization_level": 0})
def _step(estimator, params, carry, x, weight):
    made = estimator.step(params, estimator.cell.derive(params), carry, x)
    return made.carry, made.features, made.pullback(weight)


@partial(jax.jit, static_argnums=0, compiler_options={"xla_backend_optimization_level": 0})
def _unroll(cell, params, start, inputs, weight):
    """State, features, and gradient of weight · features after a plain loop from `start`."""

    def loss(params):
        derived, state = cell.derive(params), start
        for x in inputs:
            state = cell.step(params, derived, state, cell.drive(params, derived, x))
        features = cell.features(params, state, inputs[-1])
        value = sum(jnp.sum(w * f) for w, f in zip(weight, features, strict=True))
        return value, (state, features)

    gradient, (state, features) = jax.grad(loss, has_aux=True)(params)
    return state, features, gradient


@partial(jax.jit, static_argnums=0, compiler_options={"xla_backend_optimization_level": 0})
def _full_bptt(cell, params, inputs, weights):
    """All features, and for each step the gradient of that step's weight · features."""
    resets = np.zeros(STEPS, bool)

    def at(t):
        def loss(features):
            return sum(jnp.sum(w[t] * f[t]) for w, f in zip(weights, features, strict=True))

        return bptt_gradient(cell, params, inputs, resets, loss)

    return sequence_features(cell, params, inputs, resets), jax.vmap(at)(jnp.arange(STEPS))


def _assert_agree(left, right, tolerance=1e-12):
    for (path, a), b in zip(
        jax.tree_util.tree_leaves_with_path(left), jax.tree.leaves(right), strict=True
    ):
        np.testing.assert_allclose(
            a, b, rtol=tolerance, atol=tolerance, err_msg=jax.tree_util.keystr(path)
        )


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_is_full_bptt_exactly_while_the_window_holds_every_input(cell):
    estimator, params = TruncatedBPTT(cell, TRUNCATION), cell.init(jax.random.key(1))
    inputs, weights = _stream(cell)
    full_features, full_gradients = _full_bptt(cell, params, inputs, weights)
    carry = estimator.init()
    for t in range(STEPS):
        weight = tuple(w[t] for w in weights)
        full = jax.tree.map(lambda leaf, t=t: leaf[t], full_gradients)
        carry, features, gradient = _step(estimator, params, carry, inputs[t], weight)
        _assert_agree(features, tuple(f[t] for f in full_features))
        if t < TRUNCATION:
            _assert_agree(gradient, full)
    # Parameters stay, so the state is the same for ever; the gradient of the last step is not.
    recurrent = "u" if isinstance(cell, GRU | VanillaRNN) else "nu"
    cut, full = getattr(gradient, recurrent), getattr(full, recurrent)
    assert np.abs(cut - full).max() > 1e-4 * np.abs(full).max() > 0


@pytest.mark.parametrize(
    ("cell", "truncation"), [*((cell, TRUNCATION) for cell in CELLS), (CELLS[0], 1)], ids=str
)
def test_equals_an_unroll_from_stored_states_while_parameters_change(cell, truncation):
    estimator, rng = TruncatedBPTT(cell, truncation), np.random.default_rng(2)
    inputs, weights = _stream(cell)
    params, carry = cell.init(jax.random.key(1)), estimator.init()
    states = [cell.initial_state()]  # states[t] is the state that input t meets
    for t in range(STEPS):
        weight = tuple(w[t] for w in weights)
        begin = max(0, t + 1 - truncation)
        state, features, gradient = _unroll(
            cell, params, states[begin], inputs[begin : t + 1], weight
        )
        states.append(state)
        carry, online_features, online = _step(estimator, params, carry, inputs[t], weight)
        _assert_agree(online_features, features)
        _assert_agree(online, gradient)
        _assert_agree(jax.tree.map(lambda leaf: leaf[-1], carry.states), state)
        assert carry.seen == min(t + 1, truncation)
        params = jax.tree.map(lambda leaf: leaf + 0.1 * rng.normal(size=leaf.shape), params)


def test_inputs_before_the_first_are_masked_not_zero_inputs():
    # A zero input moves a GRU with biases; an absent one does not.
    cell = GRU(INPUTS, WIDTH)
    params = cell.init(jax.random.key(1))._replace(
        bias=jnp.full(3 * WIDTH, 0.7), candidate_bias=jnp.full(WIDTH, -0.4)
    )
    inputs, _ = _stream(cell)
    weight = (np.ones(WIDTH),)
    estimator = TruncatedBPTT(cell, TRUNCATION)
    _, features, gradient = _step(estimator, params, estimator.init(), inputs[0], weight)
    _, expected, expected_gradient = _unroll(cell, params, cell.initial_state(), inputs[:1], weight)
    _assert_agree(features, expected)
    _assert_agree(gradient, expected_gradient)
    # The recurrent weights see a state of zeros.
    np.testing.assert_array_equal(gradient.u, np.zeros((WIDTH, 3 * WIDTH)))


def test_the_stored_state_is_a_constant():
    cell = GRU(INPUTS, WIDTH)
    params, (inputs, _) = cell.init(jax.random.key(1)), _stream(cell)

    def total(start, present):
        return jnp.sum(unroll_window(cell, params, start, inputs[:2], present))

    start, present = jnp.full(WIDTH, 0.3), np.array([False, True])
    assert not jax.jit(jax.grad(total))(start, present).any()
    assert total(start, present) != total(2 * start, present)
