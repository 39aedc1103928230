"""Eigenvalues of diagonal recurrences: five ways to write λ = r exp(iθ), and their chain rules.

Traces are carried for λ itself. Each parameterisation is a layer on top of it, given by the
derivatives of λ and of log γ, with γ = sqrt(1 - r²), with respect to its two parameters (ν, θ).
RTU paper, Section 3.2 and Appendix E.1.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

PARAMETERISATIONS = ("exp_exp", "exp_exp_nu", "exp", "sigmoid", "direct")
_LARGEST_ANGLE = 6.28
# `exp` and `direct` can reach r = 1, where γ = 0 and its slope is infinite. The others cannot.
_SMALLEST_SQUARED_SCALE = 1e-12
_SMALLEST_SLOPE_DENOMINATOR = 1e-8
_SMALLEST_RADIUS = 1e-8


class Rotation(NamedTuple):
    """λ = g + iφ of every unit, the input scale γ, and the slopes that lead to (ν, θ).

    All arrays have shape (units,). `angle_slope` is τ in ∂λ/∂θ = iτλ.
    """

    g: Float[Array, " units"]
    phi: Float[Array, " units"]
    gamma: Float[Array, " units"]
    dg_dnu: Float[Array, " units"]
    dphi_dnu: Float[Array, " units"]
    angle_slope: Float[Array, " units"]
    dlog_gamma_dnu: Float[Array, " units"]


def rotation(name: str, nu: Float[Array, " units"], theta: Float[Array, " units"]) -> Rotation:
    """Eigenvalues and slopes from the two parameters of parameterisation `name`."""
    angle = jnp.exp(theta) if name == "exp_exp" else theta
    angle_slope = angle if name == "exp_exp" else jnp.ones_like(theta)
    radius, squared_scale, radius_slope, dlog_gamma_dnu = _radius(name, nu)
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    return Rotation(
        g=radius * cos,
        phi=radius * sin,
        gamma=jnp.sqrt(squared_scale),
        dg_dnu=radius_slope * cos,
        dphi_dnu=radius_slope * sin,
        angle_slope=angle_slope,
        dlog_gamma_dnu=dlog_gamma_dnu,
    )


def _radius(name: str, nu: Float[Array, " units"]) -> tuple[Float[Array, " units"], ...]:
    """r, 1 - r², dr/dν and dlog γ/dν. 1 - r² never subtracts two numbers that are nearly equal."""
    if name in ("exp_exp", "exp_exp_nu"):
        decay = jnp.exp(nu)
        radius = jnp.exp(-decay)
        return radius, -jnp.expm1(-2 * decay), -decay * radius, decay / jnp.expm1(2 * decay)
    if name == "exp":
        radius = jnp.exp(-nu)
        squared_scale = jnp.maximum(-jnp.expm1(-2 * nu), _SMALLEST_SQUARED_SCALE)
        slope = 1 / jnp.maximum(jnp.expm1(2 * nu), _SMALLEST_SLOPE_DENOMINATOR)
        return radius, squared_scale, -radius, slope
    if name == "sigmoid":
        radius = jax.nn.sigmoid(nu)
        complement = jax.nn.sigmoid(-nu)
        slope = -(radius**2) / (1 + radius)
        return radius, complement * (1 + radius), complement * radius, slope
    if name == "direct":
        squared_scale = (1 - nu) * (1 + nu)
        slope = -nu / jnp.maximum(squared_scale, _SMALLEST_SLOPE_DENOMINATOR)
        guarded = jnp.maximum(squared_scale, _SMALLEST_SQUARED_SCALE)
        return nu, guarded, jnp.ones_like(nu), slope
    raise ValueError(f"unknown parameterisation {name!r}: choose from {PARAMETERISATIONS}")


def constrain(name: str, nu: Float[Array, " units"]) -> Float[Array, " units"]:
    """Clips ν so that 0 < r ≤ 1, for the two parameterisations that do not ensure it."""
    if name == "exp":
        return jnp.maximum(nu, 0)
    if name == "direct":
        return jnp.clip(nu, _SMALLEST_RADIUS, 1)
    return nu


def init_rotation(
    name: str, key: PRNGKeyArray, units: int, r_min: float = 0.0, r_max: float = 1.0
) -> tuple[Float[Array, " units"], Float[Array, " units"]]:
    """Draws (ν, θ) with λ uniform on the ring r_min ≤ |λ| ≤ r_max, θ in (0, 6.28).

    The law of λ is the same for every parameterisation.
    """
    radius_key, angle_key = jax.random.split(key)
    # 0 is excluded: its logarithm is not a number that a step of gradient descent can mend.
    tiny = jnp.finfo(jnp.result_type(float)).tiny
    area = jax.random.uniform(radius_key, (units,), minval=tiny)
    angle = _LARGEST_ANGLE * jax.random.uniform(angle_key, (units,), minval=tiny)
    log_radius = 0.5 * jnp.log(area * (r_max**2 - r_min**2) + r_min**2)
    if name in ("exp_exp", "exp_exp_nu"):
        nu = jnp.log(-log_radius)
    elif name == "exp":
        nu = -log_radius
    elif name == "sigmoid":
        nu = log_radius - jnp.log(-jnp.expm1(log_radius))
    elif name == "direct":
        nu = jnp.exp(log_radius)
    else:
        raise ValueError(f"unknown parameterisation {name!r}: choose from {PARAMETERISATIONS}")
    return nu, jnp.log(angle) if name == "exp_exp" else angle


def chain_rule(
    derived: Rotation,
    dg: Float[Array, " units"],
    dphi: Float[Array, " units"],
    dlog_gamma: Float[Array, " units"],
) -> tuple[Float[Array, " units"], Float[Array, " units"]]:
    """Gradients with respect to (ν, θ), from those with respect to g, φ and log γ."""
    dnu = dg * derived.dg_dnu + dphi * derived.dphi_dnu + dlog_gamma * derived.dlog_gamma_dnu
    dtheta = derived.angle_slope * (dphi * derived.g - dg * derived.phi)
    return dnu, dtheta
