"""The five parameterisations far outside the range in which their formulas neither over- nor
underflow: values, slopes, and gradients that agree however they are made."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.cells.linear_rtu import LinearRTU
from untruncated.cells.lru import LRU
from untruncated.cells.nonlinear_lru import NonlinearLRU
from untruncated.cells.nonlinear_rtu import NonlinearRTU
from untruncated.cells.rotation import (
    PARAMETERISATIONS,
    chain_rule,
    constrain,
    init_rotation,
    rotation,
    scale_slope,
)
from untruncated.estimators.online.bptt import bptt_gradient
from untruncated.estimators.online.traces import RTRL
from untruncated.estimators.online.truncated_bptt import TruncatedBPTT

# Around where float32 and its exponential end, and far beyond.
REALS = [-200.0, -150.0, -104.0, -88.5, -87.5, -86.0, -40.0, -17.0, -3.0, -0.1]
REALS = [*REALS, 0.0, *(-x for x in reversed(REALS))]
NUS = dict.fromkeys(("exp_exp", "exp_exp_nu", "sigmoid"), REALS)
NUS["exp"] = [0.0, 1e-10, 4e-9, 6e-9, 1e-7, *(x for x in REALS if x > 0)]
NUS["direct"] = [1e-8, 1e-4, 0.5, 0.999, 1 - 2.0**-20, 1 - 2.0**-24, 1.0]
STEPS, INPUTS = 40, 2

name = pytest.mark.parametrize("name", PARAMETERISATIONS)
precisions = pytest.mark.parametrize("precision", [np.float32, np.float64])


def _grid(name, precision):
    nus, thetas = np.meshgrid(np.asarray(NUS[name]), np.asarray(REALS))
    return nus.ravel().astype(precision), thetas.ravel().astype(precision)


def _exact(name, nu):
    """r, ∂r/∂ν, γ and ∂log γ/∂ν in float64, whose range is wide enough for every number here."""
    nu = nu.astype(float)
    with np.errstate(over="ignore"):
        if name in ("exp_exp", "exp_exp_nu"):
            decay = np.exp(nu)
            radius, squared_scale = np.exp(-decay), -np.expm1(-2 * decay)
            slope, scale_slope = -decay * radius, decay / np.expm1(2 * decay)
        elif name == "exp":
            radius, squared_scale = np.exp(-nu), -np.expm1(-2 * nu)
            slope, scale_slope = -radius, 1 / np.expm1(2 * np.maximum(nu, 1e-12))
        elif name == "sigmoid":
            radius, complement = 1 / (1 + np.exp(-nu)), 1 / (1 + np.exp(nu))
            squared_scale = complement * (1 + radius)
            slope, scale_slope = complement * radius, -(radius**2) / (1 + radius)
        else:
            radius, squared_scale = nu, (1 - nu) * (1 + nu)
            slope, scale_slope = np.ones_like(nu), -nu / np.maximum(squared_scale, 1e-12)
    if name in ("exp", "direct"):
        scale_slope = np.where(squared_scale > 1e-8, scale_slope, 0)
        squared_scale = np.maximum(squared_scale, 1e-8)
    return radius, slope, np.sqrt(squared_scale), scale_slope


@name
@precisions
def test_values_and_slopes_reach_their_limits(name, precision):
    nu, theta = _grid(name, precision)
    radius, slope, gamma, expected_scale_slope = _exact(name, nu)
    with jax.enable_x64(precision == np.float64):
        made = jax.jit(rotation, static_argnums=0)(name, nu, theta)
        made_scale_slope = np.asarray(scale_slope(name, made))
        made = jax.tree.map(np.asarray, made)
    for part in (*made, made_scale_slope):
        assert part.dtype == precision and np.isfinite(part).all()
    # e^ν up to 90 in an exponent costs two of the digits, and what is smaller than any number is 0.
    close = {"rtol": 200 * np.finfo(precision).eps, "atol": 10 * np.finfo(precision).tiny ** 0.5}
    np.testing.assert_allclose(np.hypot(made.g, made.phi), radius, **close)
    np.testing.assert_allclose(made.radius_slope * np.hypot(made.g, made.phi), slope, **close)
    np.testing.assert_allclose(made.gamma, gamma, **close)
    np.testing.assert_allclose(made_scale_slope, expected_scale_slope, **close)


@precisions
def test_angles_follow_their_exponential_until_they_are_none(precision):
    theta = np.asarray(REALS, precision)
    with jax.enable_x64(precision == np.float64):
        made = rotation("exp_exp", jnp.zeros_like(theta), theta)
        direct = rotation("exp_exp_nu", jnp.zeros_like(theta), theta)
    angle = np.exp(theta.astype(float))
    within = angle < 1 / np.finfo(precision).eps
    assert {*within} == {True, False}
    np.testing.assert_allclose(
        made.angle_slope,
        np.where(within, angle, 0),
        rtol=4 * np.finfo(precision).eps,
        atol=np.finfo(precision).tiny,
    )
    few = angle < 100
    np.testing.assert_allclose(made.g[few], np.exp(-1) * np.cos(angle[few]), atol=1e-5)
    np.testing.assert_allclose(made.phi[few], np.exp(-1) * np.sin(angle[few]), atol=1e-5)
    np.testing.assert_allclose(direct.phi, np.exp(-1) * np.sin(theta.astype(float)), atol=2e-7)
    np.testing.assert_array_equal(direct.angle_slope, 1)


@name
@precisions
def test_autodiff_is_the_chain_rule(name, precision):
    nu, theta = _grid(name, precision)
    dg, dphi, dgamma = np.random.default_rng(0).normal(size=(3, len(nu))).astype(precision)

    def loss(nu, theta):
        derived = rotation(name, nu, theta)
        return jnp.sum(dg * derived.g + dphi * derived.phi + dgamma * derived.gamma)

    with jax.enable_x64(precision == np.float64):
        derived = rotation(name, jnp.asarray(nu), jnp.asarray(theta))
        dnu, dtheta = chain_rule(derived, dg, dphi)
        dnu = dnu + scale_slope(name, derived) * dgamma * derived.gamma
        ruled = np.asarray(dnu), np.asarray(dtheta)
        reverse = jax.jit(jax.grad(loss, (0, 1)))(nu, theta)
        forward = jax.jvp(loss, (nu, theta), (nu, theta))[1]
    for made, expected in zip(reverse, ruled, strict=True):
        assert made.dtype == expected.dtype == precision
        assert np.isfinite(expected).all()
        np.testing.assert_allclose(made, expected, rtol=2e-5, atol=1e-6)
    total = np.sum(np.asarray(ruled, float) * [nu, theta])
    size = np.abs(np.asarray(ruled, float) * [nu, theta]).sum()
    np.testing.assert_allclose(forward, total, atol=4e-6 * size)


# Compiling takes nearly all the time.
@partial(jax.jit, static_argnums=0, compiler_options={"xla_backend_optimization_level": 0})
def _gradients(cell, params, inputs, weights):
    """That of weights · features at the last step: by RTRL, online T-BPTT, and autodiff."""
    derived = cell.derive(params)

    def online(estimator):
        carry = estimator.init()
        before, _ = jax.lax.scan(
            lambda carry, x: (estimator.step(params, derived, carry, x).carry, None),
            carry,
            inputs[:-1],
        )
        return estimator.step(params, derived, before, inputs[-1]).pullback(weights)

    def loss(features):
        return sum(w @ f[-1] for w, f in zip(weights, features, strict=True))

    whole = bptt_gradient(cell, params, inputs, np.zeros(STEPS, bool), loss)
    return online(RTRL(cell)), online(TruncatedBPTT(cell, STEPS)), whole


def _at_the_edges(make, name, precision):
    """The gradients of a cell with a unit at every ν, and θ in turn; their parts by name."""
    nu, theta = np.asarray(NUS[name]), np.asarray(REALS)
    theta = np.resize(theta[np.exp(theta) < 1000] if name == "exp_exp" else theta, len(nu))
    cell = make(INPUTS, len(nu), parameterisation=name)
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(STEPS, INPUTS)).astype(precision)
    weights = tuple(rng.normal(size=size).astype(precision) for size in cell.feature_sizes)
    with jax.enable_x64(precision == np.float64):
        params = cell.init(jax.random.key(1))
        # the same numbers in both precisions
        params = jax.tree.map(
            lambda leaf: jnp.asarray(0.5 * rng.normal(size=leaf.shape), precision), params
        )
        params = params._replace(nu=jnp.asarray(nu, precision), theta=jnp.asarray(theta, precision))
        np.testing.assert_array_equal(constrain(name, params.nu), params.nu)
        made = jax.tree.map(np.asarray, _gradients(cell, params, inputs, weights))
    return [gradient._asdict() for gradient in made]


@pytest.mark.parametrize(
    ("make", "name"),
    [
        *((LinearRTU, name) for name in PARAMETERISATIONS),
        (NonlinearRTU, "exp"),
        *((LRU, name) for name in ("exp_exp", "direct")),
        (NonlinearLRU, "exp_exp_nu"),
    ],
)
def test_rtrl_is_truncated_bptt_is_autodiff_is_the_limit(make, name):
    narrow, wide = (_at_the_edges(make, name, precision) for precision in (np.float32, np.float64))
    limit = wide[0]
    for gradients, tolerance in ((wide, 1e-12), (narrow, 2e-4)):
        for gradient in gradients:
            for part, expected in limit.items():
                if expected is None:
                    continue
                made = np.asarray(gradient[part], float)
                assert np.isfinite(made).all(), part
                # Each unit against its own size: those at the edge are smaller than the others.
                error = np.abs(made - expected)
                scale = np.abs(expected) + 1e-3 * np.abs(expected).max()
                assert (error <= tolerance * scale).all(), (part, (error / scale).max())


@pytest.mark.parametrize("name", ["exp_exp", "exp_exp_nu"])
@precisions
def test_gradients_of_angles_that_are_none(name, precision):
    cell = LinearRTU(INPUTS, 2, parameterisation=name)
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(STEPS, INPUTS)).astype(precision)
    weights = tuple(rng.normal(size=size).astype(precision) for size in cell.feature_sizes)
    with jax.enable_x64(precision == np.float64):
        params = cell.init(jax.random.key(1))
        params = params._replace(theta=jnp.asarray([90.0, 200.0]))
        made = jax.tree.map(np.asarray, _gradients(cell, params, inputs, weights))
    by_rtrl, by_tbptt, by_autodiff = made
    for left in (by_rtrl, by_tbptt):
        for a, b in zip(left, by_autodiff, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-4 * np.abs(b).max())
    assert (by_rtrl.theta == 0).all() == (name == "exp_exp")


@name
@precisions
@pytest.mark.parametrize("ring", [(0.0, 1.0), (1.0, 1.0), (0.0, 0.0), (0.9999, 1.0), (0.0, 1e-19)])
def test_no_ring_starts_at_an_infinite_parameter(name, precision, ring):
    with jax.enable_x64(precision == np.float64):
        nu, theta = init_rotation(name, jax.random.key(0), 20_000, *ring)
        derived = rotation(name, constrain(name, nu), theta)
    assert np.isfinite(nu).all() and np.isfinite(theta).all()
    assert np.isfinite(np.log(derived.gamma)).all()
    radius = np.hypot(derived.g, derived.phi)
    assert radius.min() >= ring[0] - 1e-6 and radius.max() <= ring[1] + 1e-6
