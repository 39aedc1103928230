"""The heads against the same formulas in numpy, and whole predictors against autodiff."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.agents.adam import bias_corrections
from untruncated.agents.delayed_return_predictor import DelayedReturnPredictor
from untruncated.agents.heads import LinearHead, MLPHead, make_head
from untruncated.agents.td_predictor import TDPredictor
from untruncated.cells.linear_rtu import LinearRTU
from untruncated.estimators.online.bptt import sequence_features
from untruncated.estimators.online.traces import RTRL

SIZES, HIDDEN, INPUTS, STEPS = (4, 3), 5, 2, 30
CELL = LinearRTU(INPUTS, 3, "tanh")
# Compiles in half the time.
quick_jit = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def _drawn(tree, seed):
    """Numbers in the place of all leaves, so that no bias is zero."""
    rng = np.random.default_rng(seed)
    return jax.tree.map(lambda leaf: jnp.asarray(rng.normal(size=leaf.shape)), tree)


def _features():
    rng = np.random.default_rng(0)
    return tuple(jnp.asarray(rng.normal(size=size)) for size in SIZES)


def _by_hand(head, params, features):
    f = np.concatenate(features)
    if isinstance(head, LinearHead):
        return np.concatenate(params.weights) @ f + params.bias
    hidden = np.tanh(np.concatenate(params.kernels).T @ f + params.hidden_bias)
    return params.weights @ hidden + params.bias


@pytest.mark.parametrize("head", [LinearHead(SIZES, SIZES), MLPHead(SIZES, SIZES, HIDDEN)], ids=str)
def test_predicts_and_differentiates_as_the_formula_says(head):
    params = _drawn(jax.eval_shape(head.init, jax.random.key(0)), 1)
    arguments = params, _features()
    value = _by_hand(head, *arguments)
    np.testing.assert_allclose(head.predict(*arguments), value, rtol=1e-13)
    gradient = head.gradient(*arguments)
    assert jax.tree.structure(gradient) == jax.tree.structure(arguments)
    direction, step = _drawn(arguments, 2), 1e-6
    ahead, behind = (
        _by_hand(head, *jax.tree.map(lambda leaf, d, s=s: leaf + s * d, arguments, direction))
        for s in (step, -step)
    )
    slope = sum(map(jnp.vdot, jax.tree.leaves(gradient), jax.tree.leaves(direction)))
    np.testing.assert_allclose(slope, (ahead - behind) / (2 * step), rtol=1e-8)


def test_starts_lecun_normal_with_biases_of_zero():
    sizes, hidden = (300, 100), 500
    linear = quick_jit(LinearHead(sizes, sizes).init)(jax.random.key(0))
    mlp = quick_jit(MLPHead(sizes, sizes, hidden).init)(jax.random.key(1))
    assert [leaf.shape for leaf in linear.weights] == [(300,), (100,)]
    assert [leaf.shape for leaf in mlp.kernels] == [(300, 500), (100, 500)]
    np.testing.assert_allclose(np.concatenate(linear.weights).std(), 400**-0.5, rtol=0.15)
    np.testing.assert_allclose(np.concatenate(mlp.kernels).std(), 400**-0.5, rtol=0.01)
    np.testing.assert_allclose(mlp.weights.std(), 500**-0.5, rtol=0.15)
    assert linear.bias == mlp.bias == 0 and not mlp.hidden_bias.any()


def test_no_hidden_units_make_a_linear_head():
    assert make_head(CELL, 0) == LinearHead((3, 3), (3, 3))
    assert make_head(CELL, 64) == MLPHead((3, 3), (3, 3), 64)


def _start(predictor):
    """The first state, all zeros but for the parameters: nothing to compile."""
    state = jax.tree.map(
        lambda leaf: jnp.zeros(leaf.shape, leaf.dtype),
        jax.eval_shape(predictor.init, jax.random.key(0)),
    )
    params = _drawn(state.params, 4)
    return state._replace(params=params, derived=CELL.derive(params.cell))


def _last_prediction(predictor, params, inputs):
    """The last prediction and its gradient through all steps, by autodiff."""

    def value(params):
        features = sequence_features(CELL, params.cell, inputs, np.zeros(len(inputs), bool))
        return predictor.head.predict(params.head, tuple(f[-1] for f in features))

    return quick_jit(jax.value_and_grad(value))(params)


def _assert_leaves_agree(ours, reference):
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(reference), strict=True):
        assert np.abs(b).max() > 0
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12 * np.abs(b).max())


def test_eligibility_under_an_mlp_head_is_the_gradient_through_the_whole_past():
    predictor = TDPredictor(CELL, RTRL(CELL), discount=0.9, trace_decay=0.0, hidden=HIDDEN)
    inputs = np.random.default_rng(3).normal(size=(STEPS, INPUTS))

    def step(state, x):
        return predictor.step(state, x, jnp.ones(()), 0.0, bias_corrections(jnp.array(1)))

    start = _start(predictor)
    state, values = quick_jit(lambda: jax.lax.scan(step, start, inputs))()
    value, gradient = _last_prediction(predictor, start.params, inputs)
    np.testing.assert_allclose(values[-1], value, rtol=1e-11)
    _assert_leaves_agree(state.eligibility, gradient)


def test_regression_under_an_mlp_head_descends_along_the_error_times_the_gradient():
    predictor = DelayedReturnPredictor(CELL, RTRL(CELL), discount=0.9, delay=3, hidden=HIDDEN)
    inputs, target = np.random.default_rng(6).normal(size=(STEPS, INPUTS)), 0.7

    def step(state, x):
        before = state.moments.first
        corrections = bias_corrections(jnp.array(1))
        state, _ = predictor.step(state, x, x, target, 0.0, True, corrections)
        after = state.moments.first
        return state, jax.tree.map(lambda a, b: (a - 0.9 * b) / 0.1, after, before)

    start = _start(predictor)
    _, descents = quick_jit(lambda: jax.lax.scan(step, start, inputs))()
    value, gradient = _last_prediction(predictor, start.params, inputs)
    expected = jax.tree.map(lambda leaf: (value - target) * leaf, gradient)
    _assert_leaves_agree(jax.tree.map(lambda leaf: leaf[-1], descents), expected)
