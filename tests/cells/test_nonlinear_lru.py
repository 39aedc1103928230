"""The nonlinear LRU against complex arithmetic, and against the LRU where f is the identity."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.cells.complex_traces import ComplexState
from untruncated.cells.lru import LRU
from untruncated.cells.nonlinear_lru import NonlinearLRU
from untruncated.estimators.online.bptt import sequence_features
from untruncated.estimators.online.traces import RTRL

INPUTS, WIDTH, OUTPUTS, STEPS = 3, 5, 2, 60


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def _drawn(cell):
    rng = np.random.default_rng(0)
    params = cell.init(jax.random.key(0))
    return params._replace(gamma_log=params.gamma_log + rng.normal(size=WIDTH))


@pytest.mark.parametrize(("activation", "skip"), [("relu", False), ("tanh", True)])
def test_forward_equals_complex_arithmetic(activation, skip):
    cell = NonlinearLRU(INPUTS, WIDTH, OUTPUTS, skip, activation)
    params, inputs = _drawn(cell), np.random.default_rng(1).normal(size=(STEPS, INPUTS))
    (features,) = sequence_features(cell, params, inputs, np.zeros(STEPS, bool))
    function = {"relu": lambda y: np.maximum(y, 0), "tanh": np.tanh}[activation]
    eigenvalues = np.exp(-np.exp(params.nu) + 1j * np.exp(params.theta))
    b, c = params.b_real + 1j * params.b_imag, params.c_real + 1j * params.c_imag
    state, expected = np.zeros(WIDTH, complex), []
    for x in inputs:
        inside = eigenvalues * state + np.exp(params.gamma_log) * (x @ b)
        state = function(inside.real) + 1j * function(inside.imag)
        expected.append((state @ c).real + (x @ params.d if skip else 0))
    assert np.ptp(expected, axis=0).min() > 0.1
    np.testing.assert_allclose(features, expected, rtol=1e-11, atol=1e-13)


def test_activation_is_relu_unless_said_otherwise():
    assert NonlinearLRU(INPUTS, WIDTH).activation == "relu"
    assert LRU(INPUTS, WIDTH).activation == "identity"


def test_with_identity_its_traces_give_the_gradient_of_the_lru():
    cells = [cell(INPUTS, WIDTH, OUTPUTS, activation="identity") for cell in (LRU, NonlinearLRU)]
    params, rng = _drawn(cells[0]), np.random.default_rng(2)
    xs = jnp.asarray(rng.normal(size=(STEPS, INPUTS))), rng.normal(size=(STEPS, 2, WIDTH))

    def run(cell):
        estimator, derived = RTRL(cell), cell.derive(params)

        def step(carry, xs):
            x, cotangent = xs
            after = estimator.step(params, derived, carry, x).carry
            gradient = cell.contract(
                params, derived, after.traces, after.state, ComplexState(*cotangent)
            )
            return after, (after.state, gradient)

        return jax.jit(lambda: jax.lax.scan(step, estimator.init(), xs)[1])()

    (state, gradient), (other_state, other) = map(run, cells)
    np.testing.assert_allclose(state, other_state, rtol=1e-12, atol=1e-14)
    for name, a, b in zip(gradient._fields[:5], gradient, other, strict=False):
        assert np.abs(a).max() > 0.1, name
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12, err_msg=name)
