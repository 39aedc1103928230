"""Return prediction: the recorded stream, the loss, and exact traces as an unroll's estimator."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from untruncated.environments.trace_conditioning import TraceConditioning
from untruncated.estimators.cell_traces import CellTraces
from untruncated.estimators.unrolled import full_unroll_loss
from untruncated.estimators.unrolled_backpropagation import UnrolledBPTT
from untruncated.estimators.unrolled_rtrl import UnrolledRTRL
from untruncated.problems.return_prediction import ReturnPrediction

KEY = jax.random.key(3)


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def test_the_recording_is_the_stream_with_its_discounted_returns():
    problem = ReturnPrediction(distractors=2, horizon=300, stream_seed=5)
    environment = TraceConditioning(10, 2)
    state, observations, rewards = environment.start(jax.random.key(5)), [], []
    step = jax.jit(environment.step)
    for _ in range(600):
        state, shown = step(state)
        observations.append(np.asarray(shown.observation))
        rewards.append(float(shown.reward))
    np.testing.assert_array_equal(problem.recording.observations, observations[:300])
    powers = 0.9 ** np.arange(299)
    returns = [powers @ rewards[t + 1 : t + 300] for t in range(300)]
    np.testing.assert_allclose(problem.recording.returns, returns, atol=1e-6)


def test_the_loss_is_the_squared_error_of_a_linear_prediction():
    problem = ReturnPrediction(width=3, distractors=1, horizon=40)
    theta, cell = problem.initial_theta(KEY), problem.recurrent_cell
    state, total = cell.initial_state(), 0.0
    for t in range(40):
        x, derived = problem.inputs(t), cell.derive(theta.cell)
        state = cell.step(theta.cell, derived, state, cell.drive(theta.cell, derived, x))
        features = np.concatenate([np.asarray(f) for f in cell.features(theta.cell, state, x)])
        value = features @ np.asarray(theta.weights) + float(theta.bias)
        total += (value - problem.recording.returns[t]) ** 2
    np.testing.assert_allclose(full_unroll_loss(problem, theta, KEY), total, rtol=1e-10)


@pytest.mark.parametrize("cell", ["linear_rtu", "nonlinear_rtu", "lru"])
def test_exact_traces_are_dense_rtrl_and_add_up_to_backpropagation(cell):
    problem = ReturnPrediction(cell=cell, width=3, distractors=1, horizon=30)
    theta = problem.initial_theta(KEY)
    totals = []
    for estimator in (CellTraces(), UnrolledRTRL()):

        def call(state, key, estimator=estimator):
            gradient, state = estimator.step(problem, theta, state, key)
            return state, ravel_pytree(gradient)[0]

        keys = jax.random.split(KEY, 45)  # into the second pass
        start = estimator.init(problem, theta, KEY)
        totals.append(jax.jit(lambda s, k, call=call: jax.lax.scan(call, s, k)[1])(start, keys))
    np.testing.assert_allclose(totals[0], totals[1], rtol=1e-9, atol=1e-11)
    bptt = UnrolledBPTT()
    whole, _ = bptt.step(problem, theta, bptt.init(problem, theta, KEY), KEY)
    scale = jnp.abs(ravel_pytree(whole)[0]).max()
    np.testing.assert_allclose(
        totals[0][:30].sum(axis=0), ravel_pytree(whole)[0], rtol=1e-8, atol=1e-11 * scale
    )


def test_what_traces_cannot_do_is_told():
    theta = None
    with pytest.raises(ValueError, match="a cell with traces"):
        CellTraces().init(ReturnPrediction(cell="gru", horizon=10), theta, KEY)
    with pytest.raises(ValueError, match="telescoped"):
        CellTraces().init(ReturnPrediction(horizon=10, unroll_loss="telescoped"), theta, KEY)
    with pytest.raises(ValueError, match="recorded"):
        ReturnPrediction(horizon=None)
