"""Online truncated backpropagation through time: at every step, the last T inputs once more."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from untruncated.catalogue.components import TruncatedBPTTFields
from untruncated.cells.protocol import Cell, Derived, Features, Parameters, State
from untruncated.estimators.online.protocol import OnlineStep


class Window(NamedTuple):
    """The last T inputs, oldest first, the states that each of them met; how many have come."""

    inputs: Float[Array, "truncation inputs"]
    states: State
    seen: Int[Array, ""]


def unroll_window(
    cell: Cell,
    params: Parameters,
    start: State,
    inputs: Float[Array, "truncation inputs"],
    present: Bool[Array, " truncation"],
) -> State:
    """The state after all `inputs` that are present, from the state `start`, which is constant."""
    derived = cell.derive(params)
    drives = cell.drive(params, derived, inputs)

    def step(state: State, xs: tuple) -> tuple[State, None]:
        drive, is_present = xs
        after = cell.step(params, derived, state, drive)
        return jax.tree.map(lambda new, old: jnp.where(is_present, new, old), after, state), None

    end, _ = jax.lax.scan(step, jax.lax.stop_gradient(start), (drives, present))
    return end


@dataclass(frozen=True)
class TruncatedBPTT(TruncatedBPTTFields):
    """Unrolls the last `truncation` inputs from the stored state with today's parameters.

    The state at t is the end of that unroll. Before step T the missing inputs are masked, so with
    T at least the number of steps so far this is full backpropagation through time. Memory and
    time per step grow linearly with T.
    """

    cell: Cell

    def init(self) -> Window:
        start = self.cell.initial_state()
        length = self.truncation
        return Window(
            inputs=jnp.zeros((length, self.cell.inputs)),
            states=jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (length, *leaf.shape)), start),
            seen=jnp.zeros((), jnp.int32),
        )

    def step(
        self, params: Parameters, derived: Derived, carry: Window, x: Float[Array, " inputs"]
    ) -> OnlineStep:
        inputs = jnp.concatenate([carry.inputs[1:], x[None]])
        start = jax.tree.map(lambda leaf: leaf[0], carry.states)
        present = jnp.arange(self.truncation) >= self.truncation - 1 - carry.seen

        def forward(params: Parameters) -> tuple[Features, State]:
            state = unroll_window(self.cell, params, start, inputs, present)
            return self.cell.features(params, state, x), state

        features, pullback, state = jax.vjp(forward, params, has_aux=True)
        states = jax.tree.map(
            lambda past, new: jnp.concatenate([past[1:], new[None]]), carry.states, state
        )
        # Not a count of all steps, which would overflow one day.
        window = Window(inputs, states, jnp.minimum(carry.seen + 1, self.truncation))
        return OnlineStep(window, features, lambda cotangents: pullback(cotangents)[0])
