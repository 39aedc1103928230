"""TD(λ) with Adam against the same algorithm written with numpy, one step at a time."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.agents.adam import bias_corrections
from untruncated.agents.td_predictor import TDPredictor
from untruncated.cells.linear_rtu import LinearRTU
from untruncated.estimators.online.dense_rtrl import DenseRTRL
from untruncated.estimators.online.traces import RTRL

STEPS, INPUTS, WIDTH, DISCOUNT, STEP_SIZE = 50, 3, 2, 0.9, 0.01


@dataclass(frozen=True)
class Leaky:
    """h' = h / 2 + x W, features h; entries of W stay within ± `limit`."""

    inputs: int = INPUTS
    width: int = WIDTH
    limit: float = 10.0

    @property
    def feature_sizes(self):
        return (self.width,)

    def init(self, key):
        return self.constrain(0.5 * jax.random.normal(key, (self.inputs, self.width)))

    def initial_state(self):
        return jnp.zeros(self.width)

    def derive(self, params):
        return ()

    def drive(self, params, derived, x):
        return x @ params

    def step(self, params, derived, state, drive):
        return 0.5 * state + drive

    def features(self, params, state, x):
        return (state,)

    def constrain(self, params):
        return jnp.clip(params, -self.limit, self.limit)


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def _stream():
    rng = np.random.default_rng(0)
    return rng.normal(size=(STEPS, INPUTS)), rng.normal(size=STEPS) + 1.0


def _learn(predictor, observations, cumulants, step_size=STEP_SIZE):
    """Parameters after, and prediction at, every step."""
    corrections = bias_corrections(jnp.maximum(jnp.arange(len(observations)), 1))

    def step(state, xs):
        state, value = predictor.step(state, xs[0], xs[1], step_size, xs[2])
        return state, (state, value)

    start = predictor.init(jax.random.key(0))
    run = jax.jit(lambda: jax.lax.scan(step, start, (observations, cumulants, corrections))[1])
    return start, *run()


class NumpyLearner:
    """The flat parameters (W, w, b) of a `Leaky` cell with a linear unit on top."""

    def __init__(self, params, trace_decay, limit=10.0):
        self.psi = np.concatenate(
            [np.ravel(params.cell), np.ravel(params.head.weights[0]), [float(params.head.bias)]]
        )
        self.decay, self.limit = DISCOUNT * trace_decay, limit
        self.m = self.v = self.e = np.zeros_like(self.psi)
        self.h, self.trace, self.value = np.zeros(WIDTH), np.zeros(INPUTS), 0.0

    def step(self, t, x, cumulant):
        kernel = self.psi[: INPUTS * WIDTH].reshape(INPUTS, WIDTH)
        w, bias = self.psi[INPUTS * WIDTH : -1], self.psi[-1]
        self.h, self.trace = self.h / 2 + x @ kernel, self.trace / 2 + x
        value = w @ self.h + bias
        gradient = np.concatenate([np.outer(self.trace, w).ravel(), self.h, [1.0]])
        if t > 0:
            delta = cumulant + DISCOUNT * value - self.value
            self._adam(t, -delta * self.e)
        self.e = self.decay * self.e + gradient
        self.value = value
        return value

    def _adam(self, count, gradient):
        self.m = 0.9 * self.m + 0.1 * gradient
        self.v = 0.999 * self.v + 0.001 * gradient**2
        m, v = self.m / (1 - 0.9**count), self.v / (1 - 0.999**count)
        self.psi = self.psi - STEP_SIZE * m / (np.sqrt(v) + 1e-8)
        self.psi[: INPUTS * WIDTH] = np.clip(self.psi[: INPUTS * WIDTH], -self.limit, self.limit)


@pytest.mark.parametrize("trace_decay", [0.0, 0.9, 1.0])
@pytest.mark.parametrize("limit", [10.0, 0.3])
def test_equals_numpy_step_by_step(trace_decay, limit):
    cell = Leaky(limit=limit)
    predictor = TDPredictor(cell, DenseRTRL(cell), DISCOUNT, trace_decay)
    observations, cumulants = _stream()
    start, states, values = _learn(predictor, observations, cumulants)
    learner = NumpyLearner(start.params, trace_decay, limit)
    for t in range(STEPS):
        expected = learner.step(t, observations[t], cumulants[t])
        np.testing.assert_allclose(values[t], expected, rtol=1e-10)
        params = jax.tree.map(lambda leaf, t=t: leaf[t], states.params)
        flat = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(params)])
        np.testing.assert_allclose(flat, learner.psi, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(states.value[t], values[t], rtol=0)
    at_limit = np.isclose(np.abs(states.params.cell[-1]), limit).any()
    assert at_limit == (limit < 1)


def test_without_decay_it_is_td_zero():
    """Today's error moves along the gradient of the last prediction alone."""
    cell = Leaky()
    predictor = TDPredictor(cell, DenseRTRL(cell), DISCOUNT, trace_decay=0.0)
    observations, cumulants = _stream()
    _, states, values = _learn(predictor, observations, cumulants)
    # Adam's first moment tells the direction of every update: m_t - 0.9 m_{t-1} = 0.1 (-δ ∇v).
    weight_moment = np.asarray(states.moments.first.head.weights[0])
    direction = (weight_moment[1:] - 0.9 * weight_moment[:-1]) / 0.1
    delta = cumulants[1:] + DISCOUNT * np.asarray(values[1:]) - np.asarray(values[:-1])
    features = np.asarray(states.carry.state)[:-1]
    np.testing.assert_allclose(direction, -delta[:, None] * features, rtol=1e-8, atol=1e-12)


def test_first_step_changes_no_parameter():
    cell = Leaky()
    predictor = TDPredictor(cell, DenseRTRL(cell), DISCOUNT)
    observations, cumulants = _stream()
    start, states, _ = _learn(predictor, observations, 1e6 * cumulants, step_size=10.0)
    for first, leaf in zip(
        jax.tree.leaves(start.params), jax.tree.leaves(states.params), strict=True
    ):
        np.testing.assert_array_equal(first, leaf[0])
        assert np.all(first != leaf[1])


def test_prediction_is_made_before_the_update():
    cell = Leaky()
    predictor = TDPredictor(cell, DenseRTRL(cell), DISCOUNT)
    observations, cumulants = _stream()
    _, _, values = _learn(predictor, observations, cumulants)
    changed = cumulants.copy()
    changed[20] += 5.0
    _, _, other = _learn(predictor, observations, changed)
    np.testing.assert_array_equal(values[:21], other[:21])
    assert np.all(values[21:] != other[21:])


@pytest.mark.parametrize(("parameterisation", "low", "high"), [("direct", 1e-8, 1), ("exp", 0, 9)])
def test_derived_values_are_those_of_the_constrained_parameters(parameterisation, low, high):
    cell = LinearRTU(INPUTS, 4, parameterisation=parameterisation)
    predictor = TDPredictor(cell, RTRL(cell), DISCOUNT)
    _, states, values = _learn(predictor, *_stream(), step_size=0.3)
    nu = np.asarray(states.params.cell.nu)
    edge = low if parameterisation == "exp" else high
    assert np.any(nu == edge), "the step size is meant to reach the edge"
    assert low <= nu.min() and nu.max() <= high
    assert np.isfinite(values).all()
    last = jax.tree.map(lambda leaf: leaf[-1], states)
    for name, carried, fresh in zip(
        last.derived._fields, last.derived, cell.derive(last.params.cell), strict=True
    ):
        np.testing.assert_allclose(carried, fresh, rtol=1e-13, err_msg=name)


def test_its_inputs_are_what_a_step_shows_and_updates_are_counted_from_step_1():
    cell = Leaky()
    predictor = TDPredictor(cell, DenseRTRL(cell), DISCOUNT)
    observations, cumulants = _stream()
    past, inputs = predictor.inputs(
        predictor.first_past(), observations, cumulants, jnp.arange(STEPS)
    )
    assert past == ()
    for given, own in zip((observations, cumulants), inputs.own, strict=True):
        np.testing.assert_array_equal(own, given)
    expected = bias_corrections(jnp.asarray([1, 1, 2, *range(3, STEPS)]))
    np.testing.assert_allclose(inputs.shared[0].scale, expected.scale, rtol=1e-14)
