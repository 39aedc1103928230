"""Exact RTRL traces of h' = f(λ h + scale ⊙ (w x)), f on real and imaginary part separately.

Shared by the nonlinear RTU and the nonlinear LRU. f does not commute with multiplication by i, so
W1 and W2 have a trace each, twice what `complex_traces` needs. The scale still needs none: while
parameters change, its gradient is that of today's weights.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from untruncated.cells.activations import ACTIVATIONS
from untruncated.cells.complex_traces import ComplexGradient, ComplexState, rotate

Pair = tuple[Float[Array, "..."], Float[Array, "..."]]


class NonlinearTraces(NamedTuple):
    """∂(h1, h2)/∂ of g and φ, arrays of shape (units,), and of W1 and W2, (inputs, units)."""

    g: Pair
    phi: Pair
    w_real: Pair
    w_imag: Pair


def zero_traces(inputs: int, units: int) -> NonlinearTraces:
    """The traces of a state that does not depend on the parameters."""
    vector, matrix = jnp.zeros(units), jnp.zeros((inputs, units))
    return NonlinearTraces((vector, vector), (vector, vector), (matrix, matrix), (matrix, matrix))


def step(
    activation: str,
    g: Float[Array, " units"],
    phi: Float[Array, " units"],
    state: ComplexState,
    drive: ComplexState,
) -> ComplexState:
    """f(λ h + drive), where f is the activation of that name."""
    function = ACTIVATIONS[activation].function
    real, imag = rotate(g, phi, state.real, state.imag)
    return ComplexState(function(real + drive.real), function(imag + drive.imag))


def advance(
    activation: str,
    g: Float[Array, " units"],
    phi: Float[Array, " units"],
    scale: Float[Array, " units"],
    traces: NonlinearTraces,
    before: ComplexState,
    after: ComplexState,
    x: Float[Array, " inputs"],
) -> NonlinearTraces:
    """The traces of `after`, the state that follows `before` on the input x.

    RTU paper, Eqs. 33 (with the γ term it lacks, left to `contract`), 34 and 36.
    """
    slope_from_output = ACTIVATIONS[activation].slope_from_output
    slope_real, slope_imag = slope_from_output(after.real), slope_from_output(after.imag)

    def carried(pair: Pair, real: Array | float, imag: Array | float) -> Pair:
        rotated_real, rotated_imag = rotate(g, phi, *pair)
        return slope_real * (rotated_real + real), slope_imag * (rotated_imag + imag)

    scaled = scale * x[:, None]
    return NonlinearTraces(
        g=carried(traces.g, before.real, before.imag),
        phi=carried(traces.phi, -before.imag, before.real),
        w_real=carried(traces.w_real, scaled, 0.0),
        w_imag=carried(traces.w_imag, 0.0, scaled),
    )


def contract(
    traces: NonlinearTraces,
    w_real: Float[Array, "inputs units"],
    w_imag: Float[Array, "inputs units"],
    cotangent: ComplexState,
) -> ComplexGradient:
    """The gradient of a loss from (∂L/∂h1, ∂L/∂h2), the traces of the same step, and W1, W2."""
    dh1, dh2 = cotangent
    dg, dphi, dw_real, dw_imag = (dh1 * real + dh2 * imag for real, imag in traces)
    # h depends on the scale and on a unit's weights through their product alone.
    dlog_scale = jnp.sum(w_real * dw_real + w_imag * dw_imag, axis=0)
    return ComplexGradient(dg, dphi, dlog_scale, dw_real, dw_imag)
