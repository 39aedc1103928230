"""A layer without recurrence: what can be had without memory."""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
from jax.nn.initializers import lecun_normal
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.catalogue.cells import FeedforwardFields
from untruncated.cells.activations import ACTIVATIONS


class FeedforwardParameters(NamedTuple):
    """W transposed, as Flax's kernels, (inputs, units), and b (units,)."""

    w: Float[Array, "inputs units"]
    b: Float[Array, " units"]


@dataclass(frozen=True)
class Feedforward(FeedforwardFields):
    """h' = f(W x + b), features h: the state does not depend on the one before."""

    @property
    def feature_sizes(self) -> tuple[int, ...]:
        return (self.width,)

    def init(self, key: PRNGKeyArray) -> FeedforwardParameters:
        """W LeCun normal, b zero."""
        kernel = lecun_normal()(key, (self.inputs, self.width))
        return FeedforwardParameters(kernel, jnp.zeros(self.width))

    def initial_state(self) -> Float[Array, " units"]:
        return jnp.zeros(self.width)

    def derive(self, params: FeedforwardParameters) -> tuple[()]:
        return ()

    def drive(
        self, params: FeedforwardParameters, derived: tuple[()], x: Float[Array, "*time inputs"]
    ) -> Float[Array, "*time units"]:
        return x @ params.w + params.b

    def step(
        self,
        params: FeedforwardParameters,
        derived: tuple[()],
        state: Float[Array, " units"],
        drive: Float[Array, " units"],
    ) -> Float[Array, " units"]:
        return ACTIVATIONS[self.activation].function(drive)

    def features(
        self,
        params: FeedforwardParameters,
        state: Float[Array, " units"],
        x: Float[Array, " inputs"],
    ) -> tuple[Float[Array, " units"]]:
        return (state,)

    def constrain(self, params: FeedforwardParameters) -> FeedforwardParameters:
        return params
