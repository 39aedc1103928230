"""RTRL from a rollout: one step with today's parameters, the past by the traces of the rollout.

An agent that makes several epochs over a rollout has other parameters than those that made the
rollout. The gradient then uses the state and the traces that entered each step in the rollout,
which are stale, and today's parameters for the step itself. RTU paper, Section 5 and Algorithm 1.

The traces are stored, or never made: the sum over a minibatch of cotangents times traces is as well
one pass back through the rollout with the parameters that made it. Both give the same gradient.
"""

from functools import partial
from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from untruncated.cells.protocol import Derived, Parameters, State, Traces
from untruncated.cells.rollout_gradients import RolloutCell, TraceGradient


class Past(Protocol):
    """What the rollout has kept of the past of each of its steps."""

    before: State
    """The states that entered the steps, zero after an episode's end; shape (steps, units)."""

    def gradient(
        self, cell: RolloutCell, index: Int[Array, " batch"], cotangents: State
    ) -> TraceGradient:
        """Σ_b of the cotangent on the state that entered step `index[b]`, times its traces."""


class StoredTraces(NamedTuple):
    """The traces that entered each step, with a leading axis of steps."""

    before: State
    traces: Traces

    def gradient(
        self, cell: RolloutCell, index: Int[Array, " batch"], cotangents: State
    ) -> TraceGradient:
        # A loop: gathered side by side, the traces of a minibatch would not fit the cache.
        def add(position: Int[Array, ""], total: TraceGradient) -> TraceGradient:
            traces = jax.tree.map(lambda leaf: leaf[index[position]], self.traces)
            cotangent = jax.tree.map(lambda leaf: leaf[position], cotangents)
            return jax.tree.map(jnp.add, total, cell.trace_gradient(traces, cotangent))

        first = jax.eval_shape(
            cell.trace_gradient,
            jax.tree.map(lambda leaf: leaf[0], self.traces),
            jax.tree.map(lambda leaf: leaf[0], cotangents),
        )
        nothing = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), first)
        return jax.lax.fori_loop(0, index.shape[0], add, nothing)


class RecomputedTraces(NamedTuple):
    """All that the traces of a rollout follow from, with a leading axis of steps where not said.

    `params` and `derived` are those that made the rollout, `start` the traces before its first
    step. `fresh` says which steps start from state zero.
    """

    before: State
    after: State
    x: Float[Array, "steps inputs"]
    fresh: Bool[Array, " steps"]
    params: Parameters
    derived: Derived
    start: Traces

    def gradient(
        self, cell: RolloutCell, index: Int[Array, " batch"], cotangents: State
    ) -> TraceGradient:
        injected = jax.tree.map(
            lambda leaf, old: jnp.zeros_like(old).at[index].add(leaf), cotangents, self.before
        )

        def back(on_after: State, step: tuple) -> tuple[State, State]:
            new, after, fresh = step
            pulled = cell.pull_back(self.derived, after, on_after)
            on_before = jax.tree.map(lambda a, b: jnp.where(fresh, 0, a + b), new, pulled)
            return on_before, on_after

        last = jax.tree.map(lambda leaf: jnp.zeros_like(leaf[0]), self.before)
        on_start, on_after = jax.lax.scan(
            back, last, (injected, self.after, self.fresh), reverse=True
        )
        added = cell.immediate_gradient(
            self.params, self.derived, self.before, self.after, self.x, on_after
        )
        return jax.tree.map(jnp.add, added, cell.trace_gradient(self.start, on_start))


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def stale_step(
    cell: RolloutCell,
    params: Parameters,
    derived: Derived,
    past: Past,
    index: Int[Array, " batch"],
    x: Float[Array, "batch inputs"],
) -> State:
    """The states after the steps `index` of a rollout, made with today's parameters and inputs.

    Differentiating them gives the RTRL gradient: with respect to `params` through the whole past
    with the traces of the rollout, with respect to `x` through this step alone, and nothing for
    `past`. `derived` must be `cell.derive(params)`.
    """
    before = jax.tree.map(lambda leaf: leaf[index], past.before)
    return _steps(cell, params, derived, before, x)


def _steps(
    cell: RolloutCell, params: Parameters, derived: Derived, before: State, x: Array
) -> State:
    drive = cell.drive(params, derived, x)
    return jax.vmap(partial(cell.step, params, derived))(before, drive)


def _forward(
    cell: RolloutCell,
    params: Parameters,
    derived: Derived,
    past: Past,
    index: Int[Array, " batch"],
    x: Float[Array, "batch inputs"],
) -> tuple[State, tuple]:
    after = stale_step(cell, params, derived, past, index, x)
    return after, (params, derived, past, index, x, after)


def _backward(cell: RolloutCell, residuals: tuple, cotangents: State) -> tuple:
    params, derived, past, index, x, after = residuals
    before = jax.tree.map(lambda leaf: leaf[index], past.before)
    on_before = jax.vmap(partial(cell.pull_back, derived))(after, cotangents)
    gradient = jax.tree.map(
        jnp.add,
        cell.immediate_gradient(params, derived, before, after, x, cotangents),
        past.gradient(cell, index, on_before),
    )
    gradient = cell.parameter_gradient(params, derived, gradient, after, cotangents)
    gradient = jax.tree.map(lambda g, p: g.astype(p.dtype), gradient, params)
    _, to_inputs = jax.vjp(lambda x: _steps(cell, params, derived, before, x), x)
    nothing = jax.tree.map(jnp.zeros_like, derived)
    return gradient, nothing, None, None, *to_inputs(cotangents)


stale_step.defvjp(_forward, _backward)
