"""Gradients of many steps at once, for agents that learn from a rollout.

A loss on some states of a rollout reaches the recurrent parameters by every step before. With a_t
its cotangent on the state after step t, the gradient in the coordinates of the traces (eigenvalues
and input weights) is Σ_t a_t · ∂⁺z_t plus what the traces at the rollout's start make of the
cotangent there: a few products of matrices over time, where traces would be carried forward and
stored. RTU paper, Section 3.3; the sums are those of reverse accumulation.

All arrays of states have shape (steps, units), inputs (steps, inputs).
"""

from typing import Any, Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from untruncated.cells.activations import ACTIVATIONS
from untruncated.cells.block_traces import Block, BlockState, multiply
from untruncated.cells.complex_traces import ComplexGradient, ComplexState, ComplexTraces, rotate
from untruncated.cells.complex_traces import contract as contract_complex
from untruncated.cells.nonlinear_traces import NonlinearTraces
from untruncated.cells.protocol import Derived, Parameters, State, TraceCell, Traces

TraceGradient = Any


class RolloutCell(TraceCell, Protocol):
    """A cell with traces that can also go back through the steps of a rollout."""

    def pull_back(self, derived: Derived, after: State, cotangent: State) -> State:
        """Jᵀ a: the cotangent on the state before a step, from that on the state after it."""

    def immediate_gradient(
        self,
        params: Parameters,
        derived: Derived,
        before: State,
        after: State,
        x: Float[Array, "steps inputs"],
        cotangents: State,
    ) -> TraceGradient:
        """Σ_t a_t · ∂⁺z_t: what the steps themselves add, in the coordinates of the traces."""

    def trace_gradient(self, traces: Traces, cotangent: State) -> TraceGradient:
        """a · e, for one state and its traces."""

    def parameter_gradient(
        self,
        params: Parameters,
        derived: Derived,
        gradient: TraceGradient,
        states: State,
        cotangents: State,
    ) -> Parameters:
        """From the coordinates of the traces to the parameters, as they are today.

        `states` are those that the loss looks at, with its `cotangents`: where a state is linear in
        the input scale, they are all that the scale's gradient needs.
        """


def linear_pull_back(g: Array, phi: Array, cotangent: ComplexState) -> ComplexState:
    """conj(λ) a."""
    return ComplexState(*rotate(g, -phi, *cotangent))


def linear_immediate_gradient(
    scale: Float[Array, " units"], before: ComplexState, x: Array, cotangents: ComplexState
) -> ComplexGradient:
    """Of z' = λ z + scale ⊙ (w x); nothing for the scale, see `scale_gradient`."""
    real, imag = cotangents
    return ComplexGradient(
        g=jnp.sum(real * before.real + imag * before.imag, axis=0),
        phi=jnp.sum(imag * before.real - real * before.imag, axis=0),
        log_scale=jnp.zeros_like(scale),
        w_real=scale * (x.T @ real),
        w_imag=scale * (x.T @ imag),
    )


def linear_trace_gradient(traces: ComplexTraces, cotangent: ComplexState) -> ComplexGradient:
    """As `complex_traces.contract`, but for the scale."""
    nothing = ComplexState(*map(jnp.zeros_like, cotangent))
    return contract_complex(traces, nothing, cotangent)


def scale_gradient(states: ComplexState, cotangents: ComplexState) -> Float[Array, " units"]:
    """∂L/∂log(scale) of a linear recurrence: ∂z/∂log(scale) = z."""
    return jnp.sum(cotangents.real * states.real + cotangents.imag * states.imag, axis=0)


def slopes(activation: str, after: ComplexState, cotangents: ComplexState) -> ComplexState:
    """f' ⊙ a on both components, f' from the output."""
    slope = ACTIVATIONS[activation].slope_from_output
    return ComplexState(slope(after.real) * cotangents.real, slope(after.imag) * cotangents.imag)


def nonlinear_trace_gradient(traces: NonlinearTraces, cotangent: ComplexState) -> ComplexGradient:
    """As `nonlinear_traces.contract`, but for the scale."""
    g, phi, w_real, w_imag = (
        cotangent.real * real + cotangent.imag * imag for real, imag in traces
    )
    return ComplexGradient(g, phi, jnp.zeros_like(g), w_real, w_imag)


def scale_from_weights(
    gradient: ComplexGradient, w_real: Array, w_imag: Array
) -> Float[Array, " units"]:
    """∂L/∂log(scale) of a nonlinear recurrence, which knows scale and weights by their product."""
    return jnp.sum(w_real * gradient.w_real + w_imag * gradient.w_imag, axis=0)


def block_pull_back(block: Block, cotangent: BlockState) -> BlockState:
    """Mᵀ a."""
    return BlockState(*multiply(Block(block.a, block.c, block.b, block.d), *cotangent))


def block_immediate_gradient(before: BlockState, x: Array, cotangents: BlockState) -> tuple:
    """Of h' = M h + [W1 x; W2 x]: a, b, c, d, W1, W2."""
    blocks = [jnp.sum(to * h, axis=0) for to in cotangents for h in before]
    return (*blocks, x.T @ cotangents.first, x.T @ cotangents.second)


def summed(gradients: TraceGradient) -> TraceGradient:
    """The sum over a leading axis."""
    return jax.tree.map(lambda leaf: jnp.sum(leaf, axis=0), gradients)
