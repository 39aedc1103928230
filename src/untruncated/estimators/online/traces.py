"""Exact real-time recurrent learning (RTRL) for cells whose units do not mix.

The state's derivative with respect to every recurrent parameter is carried forward with the state,
so a gradient through the whole past costs one contraction. RTU paper, Section 3.3 and Appendix E.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from untruncated.cells.protocol import Derived, Features, Parameters, State, TraceCell, Traces
from untruncated.estimators.online.protocol import OnlineStep


class TraceCarry(NamedTuple):
    """The cell's state and the traces of that state."""

    state: State
    traces: Traces


def initial_carry(cell: TraceCell) -> TraceCarry:
    """State and traces before the first input; also what an episode's end resets them to."""
    return TraceCarry(cell.initial_state(), cell.initial_traces())


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def traced_step(
    cell: TraceCell,
    params: Parameters,
    derived: Derived,
    carry: TraceCarry,
    x: Float[Array, " inputs"],
) -> TraceCarry:
    """One step of the cell and of its traces; `derived` must be `cell.derive(params)`.

    Differentiating the new state gives the RTRL gradient: with respect to `params` through the
    whole past, with respect to `x` through this step alone, and nothing for `carry`, whose past
    the traces already hold. RTU paper, Appendix E.6.
    """
    state = cell.step(params, derived, carry.state, cell.drive(params, derived, x))
    return TraceCarry(state, cell.advance(params, derived, carry.traces, carry.state, state, x))


def _forward(
    cell: TraceCell,
    params: Parameters,
    derived: Derived,
    carry: TraceCarry,
    x: Float[Array, " inputs"],
) -> tuple[TraceCarry, tuple]:
    after = traced_step(cell, params, derived, carry, x)
    return after, (params, derived, carry, after, x)


def _backward(cell: TraceCell, residuals: tuple, cotangent: TraceCarry) -> tuple:
    params, derived, before, after, x = residuals
    gradient = cell.contract(params, derived, after.traces, after.state, cotangent.state)
    # State and traces may be of a wider type than the parameters.
    gradient = jax.tree.map(lambda g, p: g.astype(p.dtype), gradient, params)
    _, to_input = jax.vjp(
        lambda x: cell.step(params, derived, before.state, cell.drive(params, derived, x)), x
    )
    nothing = jax.tree.map(jnp.zeros_like, (derived, before))
    return gradient, *nothing, *to_input(cotangent.state)


traced_step.defvjp(_forward, _backward)


@dataclass(frozen=True)
class RTRL:
    """The gradient of a loss at step t with respect to parameters used at all steps up to t.

    Exact while parameters do not change. Under online updates the traces keep the eigenvalues of
    the steps at which they were made and the chain rule down to (ν, θ) uses today's parameters.
    """

    cell: TraceCell

    def init(self) -> TraceCarry:
        return initial_carry(self.cell)

    def step(
        self, params: Parameters, derived: Derived, carry: TraceCarry, x: Float[Array, " inputs"]
    ) -> OnlineStep:
        def forward(params: Parameters) -> tuple[Features, TraceCarry]:
            after = traced_step(self.cell, params, derived, carry, x)
            return self.cell.features(params, after.state, x), after

        features, pullback, after = jax.vjp(forward, params, has_aux=True)
        return OnlineStep(after, features, lambda cotangents: pullback(cotangents)[0])
