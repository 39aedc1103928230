"""Full backpropagation through time over a given sequence."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from untruncated.cells.protocol import Cell, Features, Parameters

SequenceLoss = Callable[[Features], Float[Array, ""]]


def sequence_features(
    cell: Cell,
    params: Parameters,
    inputs: Float[Array, "steps inputs"],
    resets: Bool[Array, " steps"],
) -> Features:
    """The features at every step, each with a leading axis; the state is zeroed before a reset."""
    derived = cell.derive(params)
    start = cell.initial_state()

    def step(state: object, xs: tuple) -> tuple[object, Features]:
        x, reset = xs
        state = jax.tree.map(lambda fresh, old: jnp.where(reset, fresh, old), start, state)
        state = cell.step(params, derived, state, cell.drive(params, derived, x))
        return state, cell.features(params, state, x)

    return jax.lax.scan(step, start, (inputs, resets))[1]


def bptt_gradient(
    cell: Cell,
    params: Parameters,
    inputs: Float[Array, "steps inputs"],
    resets: Bool[Array, " steps"],
    loss: SequenceLoss,
) -> Parameters:
    """The gradient of `loss` of all features, through all steps back to the last reset."""
    return jax.grad(lambda params: loss(sequence_features(cell, params, inputs, resets)))(params)
