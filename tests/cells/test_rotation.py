"""The five parameterisations: slopes against autodiff, γ next to r = 1, the law of the start."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from untruncated.cells.rotation import (
    PARAMETERISATIONS,
    chain_rule,
    constrain,
    init_rotation,
    rotation,
    scale_slope,
)

UNITS = 20_000


@pytest.fixture(params=PARAMETERISATIONS)
def name(request):
    return request.param


def _radius(name, nu):
    """r, straight from the paper's Appendix E.1."""
    return {
        "exp_exp": lambda: jnp.exp(-jnp.exp(nu)),
        "exp_exp_nu": lambda: jnp.exp(-jnp.exp(nu)),
        "exp": lambda: jnp.exp(-nu),
        "sigmoid": lambda: 1 / (1 + jnp.exp(-nu)),
        "direct": lambda: nu,
    }[name]()


def _inverse(name, radius, angle):
    """The parameters that give r and θ."""
    nu = {
        "exp_exp": lambda: np.log(-np.log(radius)),
        "exp_exp_nu": lambda: np.log(-np.log(radius)),
        "exp": lambda: -np.log(radius),
        "sigmoid": lambda: np.log(radius / (1 - radius)),
        "direct": lambda: radius,
    }[name]()
    return nu, np.log(angle) if name == "exp_exp" else angle


def test_values_and_slopes_equal_autodiff_of_the_definitions(name):
    radius = np.array([0.02, 0.3, 0.7, 0.95, 0.99])
    angle = np.array([6.2, 3.0, 0.01, 1.0, 4.5])
    nu, theta = _inverse(name, radius, angle)

    def lambda_and_log_gamma(nu, theta):
        r, t = _radius(name, nu), jnp.exp(theta) if name == "exp_exp" else theta
        return r * jnp.cos(t), r * jnp.sin(t), 0.5 * jnp.log(1 - r * r)

    with jax.enable_x64(True):
        derived = rotation(name, jnp.asarray(nu), jnp.asarray(theta))
        g, phi, log_gamma = lambda_and_log_gamma(nu, theta)
        by_nu, by_theta = (
            [jnp.diagonal(row) for row in jax.jacfwd(lambda_and_log_gamma, i)(nu, theta)]
            for i in (0, 1)
        )
        log_gamma_slope = scale_slope(name, derived)
    assert derived.g.dtype == np.float64
    close = {"rtol": 1e-12, "atol": 1e-14}
    np.testing.assert_allclose(derived.g, radius * np.cos(angle), **close)
    np.testing.assert_allclose(derived.phi, radius * np.sin(angle), **close)
    np.testing.assert_allclose(derived.g, g, **close)
    np.testing.assert_allclose(derived.phi, phi, **close)
    np.testing.assert_allclose(derived.gamma, np.exp(log_gamma), **close)
    # ∂λ/∂ν = radius_slope · λ, ∂λ/∂θ = i · angle_slope · λ.
    np.testing.assert_allclose(derived.radius_slope * derived.g, by_nu[0], **close)
    np.testing.assert_allclose(derived.radius_slope * derived.phi, by_nu[1], **close)
    np.testing.assert_allclose(log_gamma_slope, by_nu[2], **close)
    np.testing.assert_allclose(-derived.angle_slope * derived.phi, by_theta[0], **close)
    np.testing.assert_allclose(derived.angle_slope * derived.g, by_theta[1], **close)


def test_chain_rule_is_the_pullback_of_any_function_of_lambda_and_log_gamma(name):
    rng = np.random.default_rng(0)
    nu, theta = _inverse(name, rng.uniform(0.1, 0.98, 6), rng.uniform(0.1, 6.2, 6))
    dg, dphi, dlog_gamma = rng.normal(size=(3, 6))

    def loss(nu, theta):
        r, t = _radius(name, nu), jnp.exp(theta) if name == "exp_exp" else theta
        log_gamma = 0.5 * jnp.log(1 - r * r)
        return jnp.sum(dg * r * jnp.cos(t) + dphi * r * jnp.sin(t) + dlog_gamma * log_gamma)

    with jax.enable_x64(True):
        expected = jax.grad(loss, (0, 1))(nu, theta)
        derived = rotation(name, nu, theta)
        dnu, dtheta = chain_rule(derived, dg, dphi)
        made = dnu + scale_slope(name, derived) * dlog_gamma, dtheta
    np.testing.assert_allclose(made, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("name", "nus"),
    [
        ("exp_exp", [-17.0, -16.0, -10.0, -3.0, 0.0, 2.0]),
        ("exp_exp_nu", [-17.0, -16.0, -10.0, -3.0, 0.0, 2.0]),
        ("exp", [3e-8, 1e-6, 1e-3, 0.5, 5.0]),
        ("sigmoid", [17.0, 16.0, 8.0, 0.0, -5.0]),
        ("direct", [1 - 2.0**-24, 1 - 2.0**-20, 0.999, 0.5, 0.01]),
    ],
)
def test_gamma_in_float32_is_exact_next_to_radius_one(name, nus):
    nu = np.asarray(nus, np.float32)
    narrow = rotation(name, jnp.asarray(nu), jnp.ones(len(nu)))
    with jax.enable_x64(True):
        radius = _radius(name, jnp.asarray(nu, jnp.float64))
        wide = rotation(name, jnp.asarray(nu, jnp.float64), jnp.ones(len(nu)))
        np.testing.assert_allclose(wide.gamma, jnp.sqrt(1 - radius**2), rtol=1e-8)
        expected_slope = scale_slope(name, wide)
    assert narrow.gamma.dtype == np.float32
    np.testing.assert_allclose(narrow.gamma, wide.gamma, rtol=1e-6)
    np.testing.assert_allclose(scale_slope(name, narrow), expected_slope, rtol=1e-6)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_start_is_uniform_on_the_disc(name, precision):
    with jax.enable_x64(precision == np.float64):
        nu, theta = init_rotation(name, jax.random.key(5), UNITS)
    assert nu.dtype == theta.dtype == precision
    assert np.isfinite(nu).all() and np.isfinite(theta).all()
    with jax.enable_x64(True):
        derived = rotation(name, jnp.asarray(nu, float), jnp.asarray(theta, float))
    area = np.asarray(derived.g) ** 2 + np.asarray(derived.phi) ** 2
    angle = np.arctan2(derived.phi, derived.g) % (2 * np.pi)
    assert stats.kstest(area, "uniform").pvalue > 0.01
    assert stats.kstest(angle, stats.uniform(0, 6.28).cdf).pvalue > 0.01
    assert angle.max() < 6.2801
    assert abs(stats.spearmanr(area, angle).statistic) < 3 / np.sqrt(UNITS)


def test_every_parameterisation_starts_at_the_same_eigenvalues(name):
    with jax.enable_x64(True):
        key = jax.random.key(11)
        reference = rotation("exp_exp", *init_rotation("exp_exp", key, 1_000))
        derived = rotation(name, *init_rotation(name, key, 1_000))
    np.testing.assert_allclose(derived.g, reference.g, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(derived.phi, reference.phi, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(derived.gamma, reference.gamma, rtol=1e-9)


def test_start_on_a_ring(name):
    with jax.enable_x64(True):
        nu, theta = init_rotation(name, jax.random.key(6), UNITS, r_min=0.6, r_max=0.9)
        derived = rotation(name, nu, theta)
    area = np.asarray(derived.g) ** 2 + np.asarray(derived.phi) ** 2
    assert stats.kstest(area, stats.uniform(0.36, 0.81 - 0.36).cdf).pvalue > 0.01


@pytest.mark.parametrize(
    ("clipped", "nu", "expected"),
    [
        ("exp", [-0.5, 0.0, 2.0], [0.0, 0.0, 2.0]),
        ("direct", [-0.5, 0.0, 0.4, 1.0, 1.5], [1e-8, 1e-8, 0.4, 1.0, 1.0]),
        ("exp_exp", [-30.0, 30.0], [-30.0, 30.0]),
        ("exp_exp_nu", [-30.0, 30.0], [-30.0, 30.0]),
        ("sigmoid", [-30.0, 30.0], [-30.0, 30.0]),
    ],
)
def test_constrain_clips_only_what_could_leave_the_disc(clipped, nu, expected):
    np.testing.assert_allclose(constrain(clipped, jnp.asarray(nu)), expected, rtol=1e-7, atol=0)


def test_unknown_parameterisation_names_the_known_ones():
    for call in (
        lambda: rotation("polar", jnp.zeros(1), jnp.zeros(1)),
        lambda: init_rotation("polar", jax.random.key(0), 1),
    ):
        with pytest.raises(ValueError, match=r"'polar'.*exp_exp"):
            call()
