"""Return prediction: the recorded stream, its windows, the loss, and estimators on them."""

import copy
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from untruncated.environments.trace_conditioning import TraceConditioning
from untruncated.estimators.unrolled.backpropagation import UnrolledBPTT, UnrolledTruncatedBPTT
from untruncated.estimators.unrolled.cell_traces import CellTraces
from untruncated.estimators.unrolled.es_single import ESSingle
from untruncated.estimators.unrolled.evolution_strategies import FullES, TruncatedES
from untruncated.estimators.unrolled.pes import PES
from untruncated.estimators.unrolled.pes_analytic import PESAnalytic
from untruncated.estimators.unrolled.protocol import full_unroll_loss, split_key
from untruncated.estimators.unrolled.rtrl import UnrolledRTRL
from untruncated.estimators.unrolled.uoro import UORO
from untruncated.problems.return_prediction import ReturnPrediction
from untruncated.programs.building import sizes

KEY = jax.random.key(3)
ESTIMATORS = [
    CellTraces(),
    UnrolledRTRL(),
    UORO(),
    UnrolledBPTT(),
    UnrolledTruncatedBPTT(4),
    FullES(4, 0.1),
    TruncatedES(4, 0.1, 4),
    PES(4, 0.1, 4),
    PESAnalytic(4, 0.1, 4),
    ESSingle(4, 0.1, 4),
]


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
        x, derived = problem.recording.observations[t].astype(float), cell.derive(theta.cell)
        state = cell.step(theta.cell, derived, state, cell.drive(theta.cell, derived, x))
        features = np.concatenate([np.asarray(f) for f in cell.features(theta.cell, state, x)])
        value = features @ np.asarray(theta.weights) + float(theta.bias)
        total += (value - problem.recording.returns[t]) ** 2
    np.testing.assert_allclose(full_unroll_loss(problem, theta, KEY), total, rtol=1e-10)


def _starts(problem, keys):
    return np.asarray(jax.jit(jax.vmap(problem.initial_state))(keys).start)


def test_windows_begin_anywhere_in_the_recording():
    problem = ReturnPrediction(horizon=20, recorded=30)
    starts = _starts(problem, jax.random.split(KEY, 4400))
    counts = np.bincount(starts, minlength=11)
    assert counts.size == 11  # 0 to 10, both included
    assert np.abs(counts - 400).max() < 4.5 * np.sqrt(400)
    assert not _starts(ReturnPrediction(horizon=20), jax.random.split(KEY, 50)).any()


def test_a_windows_loss_is_that_of_its_part_of_the_recording():
    problem = ReturnPrediction(width=3, distractors=1, horizon=40, recorded=400)
    theta = problem.initial_theta(KEY)
    start = int(problem.initial_state(split_key(KEY).start).start)
    assert start > 0
    part = ReturnPrediction(width=3, distractors=1, horizon=40)
    rows = slice(start, start + 40)
    # a cached property lives in the record's dictionary
    part.__dict__["recording"] = type(part.recording)(*(a[rows] for a in problem.recording))
    np.testing.assert_allclose(
        full_unroll_loss(problem, theta, KEY), full_unroll_loss(part, theta, KEY), rtol=1e-12
    )


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_estimators_see_the_windows_that_their_keys_draw_and_nothing_else(estimator):
    problem, steps = ReturnPrediction(width=2, distractors=1, horizon=12, recorded=300), 12
    theta, calls = problem.initial_theta(KEY), 2 * steps // estimator.inner_steps(problem)
    keys = jax.random.split(jax.random.key(8), calls)
    # a window is drawn when its inner problem starts: at the end of the one before
    whole = estimator.inner_steps(problem) == steps
    drawn_by = keys if whole else [KEY, keys[calls // 2 - 1]]
    first, second = (int(problem.initial_state(split_key(key).start).start) for key in drawn_by)
    assert abs(first - second) > steps
    run = _gradients_of_recording(problem, estimator, theta, keys)
    returns = np.asarray(problem.recording.returns)
    inside = np.zeros(300, bool)
    inside[first : first + steps] = inside[second : second + steps] = True
    gradients = run(returns)
    assert np.isfinite(gradients).all() and (gradients != 0).any(axis=1).all()
    np.testing.assert_array_equal(run(np.where(inside, returns, np.nan)), gradients)
    inside[second : second + steps] = False
    without_second = run(np.where(inside, returns, np.nan))
    np.testing.assert_array_equal(without_second[: calls // 2], gradients[: calls // 2])
    assert np.isnan(without_second[calls // 2 :]).any(axis=1).all()


def _gradients_of_recording(problem, estimator, theta, keys):
    """All calls' gradients as a function of the returns that were recorded, compiled once."""

    def run(returns):
        other = copy.copy(problem)
        # a cached property lives in the record's dictionary
        other.__dict__["recording"] = problem.recording._replace(returns=returns)
        return _gradients(other, estimator, theta, KEY, keys)

    return jax.jit(run, compiler_options={"xla_backend_optimization_level": 0})


def test_where_the_window_begins_is_no_number_of_the_state():
    problem = ReturnPrediction(width=3, horizon=12, recorded=300)
    size = sizes(problem, UnrolledRTRL(), 1)
    assert (size.state, size.parameters) == (6, 3 * 2 * 13 + 6 + 1)
    theta = problem.initial_theta(KEY)
    assert UnrolledRTRL().init(problem, theta, KEY).jacobian.shape == (6, 85)
    assert UORO().init(problem, theta, KEY).left.shape == (6,)


def _gradients(problem, estimator, theta, start_key, keys):
    def call(state, key):
        gradient, state = estimator.step(problem, theta, state, key)
        return state, ravel_pytree(gradient)[0]

    start = estimator.init(problem, theta, start_key)
    return jax.lax.scan(call, start, keys)[1]


@pytest.mark.parametrize("cell", ["linear_rtu", "nonlinear_rtu", "lru"])
def test_exact_traces_are_dense_rtrl_and_add_up_to_backpropagation(cell):
    problem = ReturnPrediction(cell=cell, width=3, distractors=1, horizon=30, recorded=90)
    theta = problem.initial_theta(KEY)
    keys = jax.random.split(KEY, 45)  # into the second window
    totals = [
        np.asarray(jax.jit(partial(_gradients, problem, estimator))(theta, KEY, keys))
        for estimator in (CellTraces(), UnrolledRTRL())
    ]
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
    with pytest.raises(ValueError, match="recorded must be at least the 10 steps"):
        ReturnPrediction(horizon=10, recorded=9)
    with pytest.raises(ValueError, match="horizon: must be a whole number, not None"):
        ReturnPrediction(horizon=None)
