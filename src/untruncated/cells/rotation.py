"""Eigenvalues of diagonal recurrences: five ways to write λ = r exp(iθ), and their chain rules.

Traces are carried for λ itself. Each parameterisation is a layer on top of it, given by the
derivatives of λ and of log γ, with γ = sqrt(1 - r²), with respect to its two parameters (ν, θ).
RTU paper, Section 3.2 and Appendix E.1.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.cells.cos_sin import cos_sin

PARAMETERISATIONS = ("exp_exp", "exp_exp_nu", "exp", "sigmoid", "direct")
_LARGEST_ANGLE = 6.28
# `exp` and `direct` can reach r = 1, where γ = 0 and its slope is infinite. The others cannot.
_SMALLEST_SQUARED_SCALE = 1e-8
_SMALLEST_RADIUS = 1e-8


class Rotation(NamedTuple):
    """λ = g + iφ of every unit, the input scale γ, and the slopes that lead to (ν, θ).

    All arrays have shape (units,). `radius_slope` is σ in ∂λ/∂ν = σλ, `angle_slope` τ in
    ∂λ/∂θ = iτλ. With γ² = 1 - r², log γ has the derivative -σ r²/γ² with respect to ν.
    """

    g: Float[Array, " units"]
    phi: Float[Array, " units"]
    gamma: Float[Array, " units"]
    radius_slope: Float[Array, " units"]
    angle_slope: Float[Array, " units"]


def rotation(name: str, nu: Float[Array, " units"], theta: Float[Array, " units"]) -> Rotation:
    """Eigenvalues and slopes from the two parameters of parameterisation `name`."""
    angle = jnp.exp(theta) if name == "exp_exp" else theta
    cos, sin = cos_sin(angle)
    radius, squared_scale, radius_slope = _radius(name, nu)
    return Rotation(
        g=radius * cos,
        phi=radius * sin,
        gamma=jnp.sqrt(squared_scale),
        radius_slope=radius_slope,
        angle_slope=angle if name == "exp_exp" else jnp.ones_like(theta),
    )


def _radius(name: str, nu: Float[Array, " units"]) -> tuple[Float[Array, " units"], ...]:
    """r, 1 - r² and dlog r/dν. 1 - r² never subtracts two numbers that are nearly equal."""
    if name in ("exp_exp", "exp_exp_nu"):
        decay = jnp.exp(nu)
        return jnp.exp(-decay), -jnp.expm1(-2 * decay), -decay
    if name == "exp":
        squared_scale = jnp.maximum(-jnp.expm1(-2 * nu), _SMALLEST_SQUARED_SCALE)
        return jnp.exp(-nu), squared_scale, -jnp.ones_like(nu)
    if name == "sigmoid":
        radius, complement = jax.nn.sigmoid(nu), jax.nn.sigmoid(-nu)
        return radius, complement * (1 + radius), complement
    if name == "direct":
        squared_scale = jnp.maximum((1 - nu) * (1 + nu), _SMALLEST_SQUARED_SCALE)
        return nu, squared_scale, 1 / nu
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
    g, phi, gamma, radius_slope, angle_slope = derived
    odds = (g * g + phi * phi) / (gamma * gamma)
    dnu = radius_slope * (dg * g + dphi * phi - dlog_gamma * odds)
    dtheta = angle_slope * (dphi * g - dg * phi)
    return dnu, dtheta
