"""Eigenvalues of diagonal recurrences: five ways to write λ = r exp(iθ), and their chain rules.

Traces are carried for λ itself. Each parameterisation is a layer on top of it, given by the
derivatives of λ and of log γ, with γ = sqrt(1 - r²), with respect to its two parameters (ν, θ).
RTU paper, Section 3.2 and Appendix E.1.
"""

import math
from functools import partial
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
    ∂λ/∂θ = iτλ, and `scale_slope` is ∂log γ/∂ν = -σ r²/γ², which has a limit where γ has none.
    """

    g: Float[Array, " units"]
    phi: Float[Array, " units"]
    gamma: Float[Array, " units"]
    radius_slope: Float[Array, " units"]
    scale_slope: Float[Array, " units"]
    angle_slope: Float[Array, " units"]


def rotation(name: str, nu: Float[Array, " units"], theta: Float[Array, " units"]) -> Rotation:
    """Eigenvalues and slopes from the two parameters of parameterisation `name`.

    Whatever differentiates g, φ and γ gets these very slopes, also where the formulas of the
    parameters overflow or underflow. Where `exp` and `direct` hold γ constant, next to r = 1, its
    slope is 0; so is that of the angle where `exp_exp` does, beyond 1/ε radians, ε the precision:
    neighbouring numbers are a radian apart there, and the angle means nothing any more.
    """
    angle, angle_slope = theta, jnp.ones_like(theta)
    if name == "exp_exp":
        angle, angle_slope = _exp_angle(theta), _exp_angle_and_slope(theta)[1]
    cos, sin = cos_sin(angle)
    radius, gamma = _radius_and_scale(name, nu)
    _, _, radius_slope, scale_slope = _radius_scale_and_slopes(name, nu)
    return Rotation(radius * cos, radius * sin, gamma, radius_slope, scale_slope, angle_slope)


def _radius_scale_and_slopes(
    name: str, nu: Float[Array, " units"]
) -> tuple[Float[Array, " units"], ...]:
    """r, γ, dlog r/dν and dlog γ/dν; γ² = 1 - r² without subtracting nearly equal numbers."""
    if name in ("exp_exp", "exp_exp_nu"):
        # Further out e^ν is 0 or infinite, and r, γ and their slopes are at their limits already.
        bound = math.floor(-math.log(jnp.finfo(nu.dtype).tiny))
        decay = jnp.exp(jnp.clip(nu, -bound, bound))
        radius, squared_scale = jnp.exp(-decay), -jnp.expm1(-2 * decay)
        scale_slope = decay * radius * radius / squared_scale
        return radius, jnp.sqrt(squared_scale), -decay, scale_slope
    if name == "exp":
        radius, squared_scale = jnp.exp(-nu), -jnp.expm1(-2 * nu)
        return radius, *_held_scale(radius, squared_scale, -jnp.ones_like(nu))
    if name == "sigmoid":
        radius, complement = jax.nn.sigmoid(nu), jax.nn.sigmoid(-nu)
        gamma = jnp.sqrt(complement * (1 + radius))
        return radius, gamma, complement, -radius * radius / (1 + radius)
    if name == "direct":
        return nu, *_held_scale(nu, (1 - nu) * (1 + nu), 1 / nu)
    raise ValueError(f"unknown parameterisation {name!r}: choose from {PARAMETERISATIONS}")


def _held_scale(
    radius: Float[Array, " units"],
    squared_scale: Float[Array, " units"],
    radius_slope: Float[Array, " units"],
) -> tuple[Float[Array, " units"], ...]:
    """γ, held constant next to r = 1, and both slopes."""
    held = jnp.maximum(squared_scale, _SMALLEST_SQUARED_SCALE)
    slope = -radius_slope * radius * radius / held
    free = squared_scale > _SMALLEST_SQUARED_SCALE
    return jnp.sqrt(held), radius_slope, jnp.where(free, slope, 0)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _radius_and_scale(
    name: str, nu: Float[Array, " units"]
) -> tuple[Float[Array, " units"], Float[Array, " units"]]:
    return _radius_scale_and_slopes(name, nu)[:2]


@_radius_and_scale.defjvp
def _radius_and_scale_jvp(name: str, primals: tuple, tangents: tuple) -> tuple[tuple, tuple]:
    radius, gamma, radius_slope, scale_slope = _radius_scale_and_slopes(name, *primals)
    (tangent,) = tangents
    return (radius, gamma), (radius * radius_slope * tangent, gamma * scale_slope * tangent)


def _exp_angle_and_slope(theta: Float[Array, " units"]) -> tuple[Float[Array, " units"], ...]:
    """exp(θ) up to 1/ε radians, constant beyond, and its derivative."""
    bound = -math.log(jnp.finfo(theta.dtype).eps)
    angle = jnp.exp(jnp.minimum(theta, bound))
    return angle, jnp.where(theta < bound, angle, 0)


@jax.custom_jvp
def _exp_angle(theta: Float[Array, " units"]) -> Float[Array, " units"]:
    return _exp_angle_and_slope(theta)[0]


@_exp_angle.defjvp
def _exp_angle_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    angle, slope = _exp_angle_and_slope(*primals)
    return angle, slope * tangents[0]


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
    # r = 0, r = 1 and an angle of 0 are excluded, to which rounding may come: they make infinite
    # parameters, which no step of gradient descent can mend.
    limits = jnp.finfo(jnp.result_type(float))
    area = jax.random.uniform(radius_key, (units,), minval=limits.tiny)
    angle = _LARGEST_ANGLE * jax.random.uniform(angle_key, (units,), minval=limits.tiny)
    squared_radius = area * (r_max**2 - r_min**2) + r_min**2
    log_radius = 0.5 * jnp.log(jnp.clip(squared_radius, limits.tiny, 1 - limits.epsneg))
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
    dlog_gamma: Float[Array, " units"] | None = None,
) -> tuple[Float[Array, " units"], Float[Array, " units"]]:
    """Gradients with respect to (ν, θ), from those with respect to g, φ and, if used, log γ."""
    g, phi = derived.g, derived.phi
    dnu = derived.radius_slope * (dg * g + dphi * phi)
    if dlog_gamma is not None:
        dnu = dnu + derived.scale_slope * dlog_gamma
    return dnu, derived.angle_slope * (dphi * g - dg * phi)
