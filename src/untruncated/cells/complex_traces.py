"""Exact RTRL traces of the complex diagonal recurrence z' = λ z + scale ⊙ (w x).

Shared by the linear RTU and the LRU. Per unit one trace for λ and one per input: half the paper's
four per weight, because ∂z/∂W2 = i ∂z/∂W1, and none for the scale, because ∂z/∂log(scale) = z.
Complex numbers are written as pairs of real arrays: XLA vectorises those.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float


class ComplexState(NamedTuple):
    """z = real + i imag, both of shape (units,)."""

    real: Float[Array, " units"]
    imag: Float[Array, " units"]


class ComplexTraces(NamedTuple):
    """∂z/∂λ, shape (units,), and ∂z/∂W1, shape (inputs, units), as real and imaginary parts."""

    eigenvalue_real: Float[Array, " units"]
    eigenvalue_imag: Float[Array, " units"]
    input_real: Float[Array, "inputs units"]
    input_imag: Float[Array, "inputs units"]


class ComplexGradient(NamedTuple):
    """Gradients with respect to g, φ, log(scale) (units,) and to W1, W2 (inputs, units)."""

    g: Float[Array, " units"]
    phi: Float[Array, " units"]
    log_scale: Float[Array, " units"]
    w_real: Float[Array, "inputs units"]
    w_imag: Float[Array, "inputs units"]


def zero_state(units: int) -> ComplexState:
    """z = 0."""
    return ComplexState(jnp.zeros(units), jnp.zeros(units))


def zero_traces(inputs: int, units: int) -> ComplexTraces:
    """The traces of a state that does not depend on the parameters."""
    vector, matrix = jnp.zeros(units), jnp.zeros((inputs, units))
    return ComplexTraces(vector, vector, matrix, matrix)


def rotate(
    g: Float[Array, " units"],
    phi: Float[Array, " units"],
    real: Float[Array, "... units"],
    imag: Float[Array, "... units"],
) -> tuple[Float[Array, "... units"], Float[Array, "... units"]]:
    """(g + iφ)(real + i imag)."""
    return g * real - phi * imag, phi * real + g * imag


def advance(
    g: Float[Array, " units"],
    phi: Float[Array, " units"],
    scale: Float[Array, " units"],
    traces: ComplexTraces,
    before: ComplexState,
    x: Float[Array, " inputs"],
) -> ComplexTraces:
    """s' = λ s + z and E' = λ E + scale xᵀ, where `before` is the state z that x met.

    RTU paper, Eqs. 27–31, halved.
    """
    s_real, s_imag = rotate(g, phi, traces.eigenvalue_real, traces.eigenvalue_imag)
    e_real, e_imag = rotate(g, phi, traces.input_real, traces.input_imag)
    return ComplexTraces(
        s_real + before.real, s_imag + before.imag, e_real + scale * x[:, None], e_imag
    )


def contract(
    traces: ComplexTraces, state: ComplexState, cotangent: ComplexState
) -> ComplexGradient:
    """The gradient of a loss from (∂L/∂h1, ∂L/∂h2) and the traces of the same step."""
    dh1, dh2 = cotangent
    s_real, s_imag, e_real, e_imag = traces
    return ComplexGradient(
        g=dh1 * s_real + dh2 * s_imag,
        phi=dh2 * s_real - dh1 * s_imag,
        log_scale=dh1 * state.real + dh2 * state.imag,
        w_real=dh1 * e_real + dh2 * e_imag,
        w_imag=dh2 * e_real - dh1 * e_imag,
    )
