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

from untruncated.catalogue.cells import PARAMETERISATIONS
from untruncated.cells.cos_sin import cos_sin

_LARGEST_ANGLE = 6.28
# `exp` and `direct` can reach r = 1, where γ = 0 and its slope is infinite: γ is held from here on.
_SMALLEST_SCALE = 1e-4
_SMALLEST_RADIUS = 1e-8


class Rotation(NamedTuple):
    """λ = g + iφ of every unit, the input scale γ, and the slopes that lead to (ν, θ).

    All arrays have shape (units,). `radius_slope` is σ in ∂λ/∂ν = σλ, `angle_slope` τ in
    ∂λ/∂θ = iτλ. The slope of γ² = 1 - r² follows from them: see `scale_slope`.
    """

    g: Float[Array, " units"]
    phi: Float[Array, " units"]
    gamma: Float[Array, " units"]
    radius_slope: Float[Array, " units"]
    angle_slope: Float[Array, " units"]


def rotation(name: str, nu: Float[Array, " units"], theta: Float[Array, " units"]) -> Rotation:
    """Eigenvalues and slopes from the two parameters of parameterisation `name`.

    Whatever differentiates g, φ and γ gets these very slopes, also where e^ν or e^θ overflows or
    underflows. An angle e^θ stays at 1/ε radians, ε the precision, and its slope at 0 beyond: there
    neighbouring numbers are a radian apart, and the angle means nothing any more.
    """
    angle, angle_slope = theta, jnp.ones_like(theta)
    if name == "exp_exp":
        angle, angle_slope = _exp_angle(theta), _exp_angle_and_slope(theta)[1]
    cos, sin = cos_sin(angle)
    radius, gamma = _radius_and_scale(name, nu)
    radius_slope = _radius_scale_and_slope(name, nu)[2]
    return Rotation(radius * cos, radius * sin, gamma, radius_slope, angle_slope)


def _radius_scale_and_slope(
    name: str, nu: Float[Array, " units"]
) -> tuple[Float[Array, " units"], ...]:
    """r, γ and dlog r/dν; γ² = 1 - r² without subtracting nearly equal numbers."""
    # Beyond, e^ν is 0 or infinite, while r, γ and their slopes are at their limits already.
    bound = math.floor(-math.log(jnp.finfo(nu.dtype).tiny))
    if name in ("exp_exp", "exp_exp_nu"):
        decay = jnp.exp(jnp.clip(nu, -bound, bound))
        return jnp.exp(-decay), jnp.sqrt(-jnp.expm1(-2 * decay)), -decay
    if name == "exp":
        return jnp.exp(-nu), _held_scale(-jnp.expm1(-2 * nu)), -jnp.ones_like(nu)
    if name == "sigmoid":
        radius, complement = jax.nn.sigmoid(nu), jax.nn.sigmoid(-jnp.minimum(nu, bound))
        return radius, jnp.sqrt(complement * (1 + radius)), complement
    if name == "direct":
        return nu, _held_scale((1 - nu) * (1 + nu)), 1 / nu
    raise ValueError(f"unknown parameterisation {name!r}: choose from {PARAMETERISATIONS}")


def _held_scale(squared_scale: Float[Array, " units"]) -> Float[Array, " units"]:
    return jnp.maximum(jnp.sqrt(jnp.maximum(squared_scale, 0)), _SMALLEST_SCALE)


def _scale_slope(
    name: str,
    squared_radius: Float[Array, " units"],
    gamma: Float[Array, " units"],
    radius_slope: Float[Array, " units"],
) -> Float[Array, " units"]:
    # This order of operations neither over- nor underflows before the result does.
    slope = -radius_slope * (squared_radius / (gamma * gamma))
    if name in ("exp", "direct"):
        return jnp.where(gamma > _SMALLEST_SCALE, slope, 0)
    return slope


def scale_slope(name: str, derived: Rotation) -> Float[Array, " units"]:
    """∂log γ/∂ν = -σ r²/γ², in (0, ½] for the default; 0 where `exp` and `direct` hold γ."""
    squared_radius = derived.g * derived.g + derived.phi * derived.phi
    return _scale_slope(name, squared_radius, derived.gamma, derived.radius_slope)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _radius_and_scale(
    name: str, nu: Float[Array, " units"]
) -> tuple[Float[Array, " units"], Float[Array, " units"]]:
    return _radius_scale_and_slope(name, nu)[:2]


@_radius_and_scale.defjvp
def _radius_and_scale_jvp(name: str, primals: tuple, tangents: tuple) -> tuple[tuple, tuple]:
    radius, gamma, radius_slope = _radius_scale_and_slope(name, *primals)
    slope = _scale_slope(name, radius * radius, gamma, radius_slope)
    (tangent,) = tangents
    return (radius, gamma), (radius * radius_slope * tangent, gamma * slope * tangent)


def _exp_angle_and_slope(theta: Float[Array, " units"]) -> tuple[Float[Array, " units"], ...]:
    """e^θ up to 1/ε, constant beyond, and its derivative."""
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
    derived: Rotation, dg: Float[Array, " units"], dphi: Float[Array, " units"]
) -> tuple[Float[Array, " units"], Float[Array, " units"]]:
    """Gradients with respect to (ν, θ) through λ, from those with respect to g and φ.

    Where γ is made of ν, that of ν has another term: `scale_slope` times the one of log γ.
    """
    g, phi = derived.g, derived.phi
    dnu = derived.radius_slope * (dg * g + dphi * phi)
    return dnu, derived.angle_slope * (dphi * g - dg * phi)
