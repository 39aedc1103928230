"""The nonlinear recurrent trace unit (RTU): the activation inside the recurrence."""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from untruncated.cells.activations import ACTIVATIONS
from untruncated.cells.complex_traces import ComplexState, rotate
from untruncated.cells.rotation import Rotation, chain_rule
from untruncated.cells.rtu import RTU, RTUParameters

Pair = tuple[Float[Array, "..."], Float[Array, "..."]]


class NonlinearTraces(NamedTuple):
    """∂(h1, h2)/∂ of g and φ, arrays of shape (units,), and of W1 and W2, (inputs, units)."""

    g: Pair
    phi: Pair
    w_real: Pair
    w_imag: Pair


@dataclass(frozen=True)
class NonlinearRTU(RTU):
    """h' = f(λ h + γ W x) on real and imaginary part, features [h1; h2]. RTU paper, Eqs. 4, 32.

    f does not commute with multiplication by i, so the traces of W1 and W2 are both carried.
    """

    def step(
        self, params: RTUParameters, derived: Rotation, state: ComplexState, drive: ComplexState
    ) -> ComplexState:
        function = ACTIVATIONS[self.activation].function
        real, imag = rotate(derived.g, derived.phi, state.real, state.imag)
        return ComplexState(function(real + drive.real), function(imag + drive.imag))

    def features(
        self, params: RTUParameters, state: ComplexState, x: Float[Array, " inputs"]
    ) -> tuple[Float[Array, " units"], Float[Array, " units"]]:
        return state.real, state.imag

    def initial_traces(self) -> NonlinearTraces:
        vector, matrix = jnp.zeros(self.width), jnp.zeros((self.inputs, self.width))
        return NonlinearTraces(
            (vector, vector), (vector, vector), (matrix, matrix), (matrix, matrix)
        )

    def advance(
        self,
        params: RTUParameters,
        derived: Rotation,
        traces: NonlinearTraces,
        before: ComplexState,
        after: ComplexState,
        x: Float[Array, " inputs"],
    ) -> NonlinearTraces:
        """RTU paper, Eqs. 33 (with the γ term it lacks, left to `contract`), 34 and 36."""
        slope_from_output = ACTIVATIONS[self.activation].slope_from_output
        slope_real, slope_imag = slope_from_output(after.real), slope_from_output(after.imag)

        def carried(pair: Pair, real: Array | float, imag: Array | float) -> Pair:
            rotated_real, rotated_imag = rotate(derived.g, derived.phi, *pair)
            return slope_real * (rotated_real + real), slope_imag * (rotated_imag + imag)

        scaled = derived.gamma * x[:, None]
        return NonlinearTraces(
            g=carried(traces.g, before.real, before.imag),
            phi=carried(traces.phi, -before.imag, before.real),
            w_real=carried(traces.w_real, scaled, 0.0),
            w_imag=carried(traces.w_imag, 0.0, scaled),
        )

    def contract(
        self,
        params: RTUParameters,
        derived: Rotation,
        traces: NonlinearTraces,
        state: ComplexState,
        cotangent: ComplexState,
    ) -> RTUParameters:
        dh1, dh2 = cotangent
        dg, dphi, dw_real, dw_imag = (dh1 * real + dh2 * imag for real, imag in traces)
        # h depends on γ and on a unit's weights through their product alone.
        dlog_gamma = jnp.sum(params.w_real * dw_real + params.w_imag * dw_imag, axis=0)
        dnu, dtheta = chain_rule(derived, dg, dphi, dlog_gamma)
        return RTUParameters(dnu, dtheta, dw_real, dw_imag)
