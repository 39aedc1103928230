"""The plain recurrent network of Elman (1990), one layer."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.nn.initializers import lecun_normal, orthogonal
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.cells.activations import ACTIVATIONS


class VanillaRNNParameters(NamedTuple):
    """W_x and W_h, transposed as Flax's kernels: (inputs, units) and (units, units)."""

    w: Float[Array, "inputs units"]
    u: Float[Array, "units units"]


@dataclass(frozen=True)
class VanillaRNN:
    """h' = f(W_h h + W_x x), features h. RTU paper, Appendix B.2. There is no bias."""

    inputs: int
    width: int
    activation: str = "tanh"

    @property
    def feature_sizes(self) -> tuple[int, ...]:
        return (self.width,)

    def init(self, key: PRNGKeyArray) -> VanillaRNNParameters:
        """W_x LeCun normal, W_h orthogonal, as Flax's `SimpleCell`."""
        input_key, recurrent_key = jax.random.split(key)
        return VanillaRNNParameters(
            lecun_normal()(input_key, (self.inputs, self.width)),
            orthogonal()(recurrent_key, (self.width, self.width)),
        )

    def initial_state(self) -> Float[Array, " units"]:
        return jnp.zeros(self.width)

    def derive(self, params: VanillaRNNParameters) -> tuple[()]:
        return ()

    def drive(
        self, params: VanillaRNNParameters, derived: tuple[()], x: Float[Array, "*time inputs"]
    ) -> Float[Array, "*time units"]:
        return x @ params.w

    def step(
        self,
        params: VanillaRNNParameters,
        derived: tuple[()],
        state: Float[Array, " units"],
        drive: Float[Array, " units"],
    ) -> Float[Array, " units"]:
        return ACTIVATIONS[self.activation].function(drive + state @ params.u)

    def features(
        self,
        params: VanillaRNNParameters,
        state: Float[Array, " units"],
        x: Float[Array, " inputs"],
    ) -> tuple[Float[Array, " units"]]:
        return (state,)

    def constrain(self, params: VanillaRNNParameters) -> VanillaRNNParameters:
        return params
