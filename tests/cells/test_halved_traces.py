"""Halved traces against the paper's own four per weight, and what γ needs no trace for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.cells.complex_traces import ComplexState
from untruncated.cells.linear_rtu import LinearRTU
from untruncated.cells.lru import LRU
from untruncated.cells.nonlinear_rtu import NonlinearRTU
from untruncated.cells.rotation import PARAMETERISATIONS
from untruncated.estimators.online.traces import RTRL

INPUTS, WIDTH, STEPS = 3, 4, 60
jitted_step = jax.jit(
    lambda estimator, params, carry, x: (
        estimator.step(params, estimator.cell.derive(params), carry, x).carry
    ),
    static_argnums=0,
)


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def _run(cell, params_of_step, seed=0):
    """RTRL's carry, and the gradient of a random linear function of the state, at every step."""
    rng, estimator = np.random.default_rng(seed), RTRL(cell)
    contract = jax.jit(
        lambda params, carry, cotangent: cell.contract(
            params, cell.derive(params), carry.traces, carry.state, cotangent
        )
    )
    carry = estimator.init()
    for params in params_of_step:
        x, cotangent = rng.normal(size=INPUTS), ComplexState(*rng.normal(size=(2, WIDTH)))
        carry = jitted_step(estimator, params, carry, x)
        yield x, cotangent, carry, contract(params, carry, cotangent)


def _jumping(params):
    """Parameters that are drawn anew around `params` at every step."""
    rng = np.random.default_rng(7)
    for _ in range(STEPS):
        yield jax.tree.map(lambda leaf: leaf + 0.3 * rng.normal(size=leaf.shape), params)


def _g_phi(params):
    """g and φ of the default parameterisation, in numpy."""
    radius, angle = np.exp(-np.exp(params.nu)), np.exp(params.theta)
    return radius * np.cos(angle), radius * np.sin(angle), radius


class FourTraces:
    """The paper's recursions for W1 and W2, Eqs. 30 and 31: each row as printed."""

    def __init__(self):
        # h1_w2 is the derivative of h1 with respect to W2, and so on; weights are (inputs, units).
        self.h1_w1 = self.h2_w1 = self.h1_w2 = self.h2_w2 = np.zeros((INPUTS, WIDTH))
        self.h1 = self.h2 = np.zeros(WIDTH)

    def step(self, g, phi, scale, w1, w2, x):
        drive = scale * x[:, None]
        self.h1_w1, self.h2_w1, self.h1_w2, self.h2_w2 = (
            g * self.h1_w1 - phi * self.h2_w1 + drive,
            g * self.h2_w1 + phi * self.h1_w1,
            g * self.h1_w2 - phi * self.h2_w2,
            g * self.h2_w2 + phi * self.h1_w2 + drive,
        )
        self.h1, self.h2 = (
            g * self.h1 - phi * self.h2 + scale * (x @ w1),
            g * self.h2 + phi * self.h1 + scale * (x @ w2),
        )

    def gradient(self, dh1, dh2):
        return dh1 * self.h1_w1 + dh2 * self.h2_w1, dh1 * self.h1_w2 + dh2 * self.h2_w2


@pytest.mark.parametrize("changing", [False, True])
def test_linear_rtu_equals_four_traces_per_weight(changing):
    cell, four = LinearRTU(INPUTS, WIDTH), FourTraces()
    first = cell.init(jax.random.key(0))
    parameters = list(_jumping(first)) if changing else [first] * STEPS
    for params, (x, (dh1, dh2), carry, gradient) in zip(
        parameters, _run(cell, parameters), strict=True
    ):
        g, phi, radius = _g_phi(params)
        w1, w2 = np.asarray(params.w_real), np.asarray(params.w_imag)
        four.step(g, phi, np.sqrt(1 - radius**2), w1, w2, x)
        np.testing.assert_allclose(carry.state, [four.h1, four.h2], rtol=1e-12, atol=1e-13)
        dw1, dw2 = four.gradient(dh1, dh2)
        np.testing.assert_allclose(gradient.w_real, dw1, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(gradient.w_imag, dw2, rtol=1e-12, atol=1e-13)


def test_lru_equals_four_traces_per_weight_while_parameters_change():
    cell, four = LRU(INPUTS, WIDTH), FourTraces()
    parameters = list(_jumping(cell.init(jax.random.key(0))))
    for params, (x, (dh1, dh2), _, gradient) in zip(
        parameters, _run(cell, parameters), strict=True
    ):
        g, phi, _ = _g_phi(params)
        b1, b2 = np.asarray(params.b_real), np.asarray(params.b_imag)
        four.step(g, phi, np.exp(params.gamma_log), b1, b2, x)
        db1, db2 = four.gradient(dh1, dh2)
        np.testing.assert_allclose(gradient.b_real, db1, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(gradient.b_imag, db2, rtol=1e-12, atol=1e-13)


def test_linear_rtu_equals_the_traces_of_nu_log_and_theta_log():
    """Eqs. 27 to 29 as printed, with fixed parameters."""
    cell = LinearRTU(INPUTS, WIDTH)
    params = cell.init(jax.random.key(0))
    g, phi, radius = _g_phi(params)
    gamma, decay, angle = np.sqrt(1 - radius**2), np.exp(params.nu), np.exp(params.theta)
    dg_nu, dphi_nu, dgamma_nu = -g * decay, -phi * decay, decay * radius**2 / gamma
    dg_theta, dphi_theta = -phi * angle, g * angle
    h1 = h2 = h1_nu = h2_nu = h1_theta = h2_theta = np.zeros(WIDTH)
    for x, (dh1, dh2), _, gradient in _run(cell, [params] * STEPS):
        w1x, w2x = x @ params.w_real, x @ params.w_imag
        h1_nu, h2_nu = (
            dg_nu * h1 + g * h1_nu - dphi_nu * h2 - phi * h2_nu + dgamma_nu * w1x,
            dg_nu * h2 + g * h2_nu + dphi_nu * h1 + phi * h1_nu + dgamma_nu * w2x,
        )
        h1_theta, h2_theta = (
            dg_theta * h1 + g * h1_theta - dphi_theta * h2 - phi * h2_theta,
            dg_theta * h2 + g * h2_theta + dphi_theta * h1 + phi * h1_theta,
        )
        h1, h2 = g * h1 - phi * h2 + gamma * w1x, g * h2 + phi * h1 + gamma * w2x
        dnu, dtheta = dh1 * h1_nu + dh2 * h2_nu, dh1 * h1_theta + dh2 * h2_theta
        np.testing.assert_allclose(gradient.nu, dnu, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(gradient.theta, dtheta, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("parameterisation", PARAMETERISATIONS)
def test_nonlinear_rtu_with_identity_is_the_linear_one(parameterisation):
    linear = LinearRTU(INPUTS, WIDTH, "identity", parameterisation)
    nonlinear = NonlinearRTU(INPUTS, WIDTH, "identity", parameterisation)
    params = linear.init(jax.random.key(4))
    runs = (_run(cell, [params] * STEPS) for cell in (linear, nonlinear))
    for (*_, left_carry, left), (*_, right_carry, right) in zip(*runs, strict=True):
        np.testing.assert_allclose(left_carry.state, right_carry.state, rtol=1e-12, atol=1e-14)
        for name, a, b in zip(left._fields, left, right, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("cell", [LinearRTU(INPUTS, WIDTH), LRU(INPUTS, WIDTH)], ids=str)
def test_gradient_of_log_gamma_is_the_weights_times_their_gradient(cell):
    params = cell.init(jax.random.key(9))
    for _, cotangent, carry, gradient in _run(cell, [params] * STEPS):
        log_gamma = cotangent.real * carry.state.real + cotangent.imag * carry.state.imag
        weights, slopes = params[-2:], gradient[-2:]
        if isinstance(cell, LRU):
            weights = params.b_real, params.b_imag
            slopes = gradient.b_real, gradient.b_imag
            np.testing.assert_allclose(gradient.gamma_log, log_gamma, rtol=1e-12, atol=1e-14)
        by_weights = sum(jnp.sum(w * s, axis=0) for w, s in zip(weights, slopes, strict=True))
        np.testing.assert_allclose(by_weights, log_gamma, rtol=1e-11, atol=1e-13)


def test_one_complex_trace_per_weight_is_all_that_is_carried():
    traces = LinearRTU(INPUTS, WIDTH).initial_traces()
    assert sum(leaf.size for leaf in traces) == 2 * INPUTS * WIDTH + 2 * WIDTH
    assert not any(leaf.any() for leaf in traces)
    traces = jax.tree.leaves(NonlinearRTU(INPUTS, WIDTH).initial_traces())
    assert sum(leaf.size for leaf in traces) == 4 * INPUTS * WIDTH + 4 * WIDTH
