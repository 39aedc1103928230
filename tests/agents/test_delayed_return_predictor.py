"""What the delayed learner learns from, and that it uses nothing of the future."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from untruncated.agents.adam import bias_corrections
from untruncated.agents.delayed_return_predictor import DelayedReturnPredictor
from untruncated.agents.heads import LinearParameters
from untruncated.agents.protocol import Inputs
from untruncated.cells.linear_rtu import LinearRTU
from untruncated.estimators.online.traces import RTRL

SEEDS, STEPS, INPUTS, DELAY, DISCOUNT, STEP_SIZE = 2, 60, 3, 7, 0.8, 0.02
CELL = LinearRTU(INPUTS, 2, "tanh")
PREDICTOR = DelayedReturnPredictor(CELL, RTRL(CELL), DISCOUNT, DELAY)


_jitted_inputs = jax.jit(
    jax.vmap(PREDICTOR.inputs, (0, 0, 0, None), out_axes=(0, Inputs(own=1, shared=None)))
)


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def _stream():
    rng = np.random.default_rng(0)
    return rng.normal(size=(SEEDS, STEPS, INPUTS)), rng.normal(size=(SEEDS, STEPS)) + 0.5


def _inputs(observations, cumulants, cuts):
    """The inputs of every step, made in chunks that end at `cuts`, one after another."""
    past = jax.tree.map(lambda leaf: jnp.stack([leaf] * SEEDS), PREDICTOR.first_past())
    chunks = []
    for begin, end in zip([0, *cuts], [*cuts, STEPS], strict=True):
        past, inputs = _jitted_inputs(
            past,
            jnp.asarray(observations[:, begin:end]),
            jnp.asarray(cumulants[:, begin:end]),
            jnp.arange(begin, end),
        )
        chunks.append((*inputs.own, *inputs.shared))
    return jax.tree.map(lambda *parts: np.concatenate(parts), *chunks)


@partial(jax.jit, static_argnums=1)
def _learn(inputs, seed):
    xs = *(array[:, seed] for array in inputs[:3]), *inputs[3:]

    def step(state, xs):
        state, value = PREDICTOR.step(state, *xs[:3], STEP_SIZE, *xs[3:])
        return state, (state, value)

    return jax.lax.scan(step, PREDICTOR.init(jax.random.key(seed)), xs)[1]


@pytest.mark.parametrize("cuts", [[], [30], [4, 30]])
def test_learns_from_the_delayed_observation_and_its_cut_return(cuts):
    observations, cumulants = _stream()
    now, past, returns, waited, _ = _inputs(observations, cumulants, cuts)
    np.testing.assert_array_equal(now, observations.swapaxes(0, 1))
    np.testing.assert_array_equal(waited, np.arange(STEPS) >= DELAY)
    for t in range(DELAY, STEPS):
        np.testing.assert_array_equal(past[t], observations[:, t - DELAY])
        expected = sum(DISCOUNT**k * cumulants[:, t - DELAY + k + 1] for k in range(DELAY))
        np.testing.assert_allclose(returns[t], expected, rtol=1e-12, atol=1e-13)


def test_updates_are_counted_from_the_first_one_made():
    *_, corrections = _inputs(*_stream(), [30])
    expected = bias_corrections(jnp.arange(1, STEPS - DELAY + 1))
    np.testing.assert_allclose(corrections.scale[DELAY:], expected.scale, rtol=1e-14)
    np.testing.assert_allclose(corrections.epsilon[DELAY:], expected.epsilon, rtol=1e-14)


def _value(params, features):
    w, f = (jnp.concatenate(parts) for parts in (params.head.weights, features))
    return w @ f + params.head.bias


def test_equals_regression_written_out():
    """Each update by hand: Adam along (v - G) ∇v of the delayed stream."""
    observations, cumulants = _stream()
    states, values = _learn(_inputs(observations, cumulants, []), 0)
    params = jax.jit(PREDICTOR.init)(jax.random.key(0)).params
    flat, unflatten = ravel_pytree(params)
    estimator = RTRL(CELL)
    learner = flat, np.zeros_like(flat), np.zeros_like(flat), estimator.init()

    @jax.jit
    def predict(flat, live, x):
        params = unflatten(flat)
        derived = CELL.derive(params.cell)
        live = CELL.step(params.cell, derived, live, CELL.drive(params.cell, derived, x))
        return live, _value(params, CELL.features(params.cell, live, x))

    @jax.jit
    def update(learner, x, target, count):
        flat, first, second, carry = learner
        params = unflatten(flat)
        made = estimator.step(params.cell, CELL.derive(params.cell), carry, x)
        slope = params._replace(
            cell=made.pullback(params.head.weights),
            head=LinearParameters(made.features, jnp.ones(())),
        )
        gradient = (_value(params, made.features) - target) * ravel_pytree(slope)[0]
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        root = jnp.sqrt(second / (1 - 0.999**count)) + 1e-8
        flat = flat - STEP_SIZE * first / (1 - 0.9**count) / root
        return flat, first, second, made.carry

    live = CELL.initial_state()
    for t in range(STEPS):
        live, value = predict(learner[0], live, observations[0, t])
        np.testing.assert_allclose(values[t], value, rtol=1e-9, atol=1e-12)
        if t >= DELAY:
            target = sum(DISCOUNT**k * cumulants[0, t - DELAY + k + 1] for k in range(DELAY))
            learner = update(learner, observations[0, t - DELAY], target, t - DELAY + 1.0)
        at_t = np.concatenate([np.ravel(leaf[t]) for leaf in jax.tree.leaves(states.params)])
        np.testing.assert_allclose(at_t, learner[0], rtol=1e-9, atol=1e-12)
    assert np.abs(states.params.head.bias[-1]) > STEP_SIZE


@pytest.mark.parametrize("change", ["observations", "cumulants"])
def test_predictions_do_not_depend_on_the_future(change):
    observations, cumulants = _stream()
    _, values = _learn(_inputs(observations, cumulants, [30]), 1)
    begin = 31
    changed = {"observations": observations.copy(), "cumulants": cumulants.copy()}
    changed[change][:, begin:] += 3.0
    _, other = _learn(_inputs(changed["observations"], changed["cumulants"], [30]), 1)
    # A cumulant is learnt from after the prediction of its own step.
    same = begin + (change == "cumulants")
    # A cut return is the difference of two longer ones, so its last digit may differ.
    np.testing.assert_allclose(values[:same], other[:same], rtol=1e-12, atol=1e-14)
    assert np.all(np.abs(values[same:] - other[same:]) > 1e-6)


def test_predicts_with_untouched_parameters_until_the_first_return_has_been_seen():
    states, _ = _learn(_inputs(*_stream(), []), 0)
    start = jax.jit(PREDICTOR.init)(jax.random.key(0)).params
    for first, leaf in zip(jax.tree.leaves(start), jax.tree.leaves(states.params), strict=True):
        np.testing.assert_array_equal(leaf[:DELAY], np.broadcast_to(first, leaf[:DELAY].shape))
        # θ needs a second input: the first one meets a state of zeros.
        assert np.all(leaf[DELAY + 1] != first)
    assert states.params.head.bias[DELAY] != start.head.bias
