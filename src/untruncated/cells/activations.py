"""Activation functions, with derivatives that need only the output."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Elementwise = Callable[[Float[Array, "..."]], Float[Array, "..."]]


class Activation(NamedTuple):
    """A function f and its derivative written in terms of f's own value."""

    function: Elementwise
    slope_from_output: Elementwise


ACTIVATIONS: dict[str, Activation] = {
    "identity": Activation(lambda x: x, jnp.ones_like),
    "relu": Activation(jax.nn.relu, lambda y: (y > 0).astype(y.dtype)),
    "tanh": Activation(jnp.tanh, lambda y: 1 - y * y),
}
