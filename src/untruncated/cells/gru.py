"""The gated recurrent unit (GRU), in the form and with the initialisation of Flax's `GRUCell`."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.nn.initializers import lecun_normal, orthogonal
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.catalogue.cells import GRUFields


class GRUParameters(NamedTuple):
    """Gates are laid side by side in the order reset, update, candidate.

    `w`: (inputs, 3 units), `u`: (units, 3 units), `bias`: (3 units,); `candidate_bias`, shape
    (units,), is added to the candidate's recurrent part, inside the reset gate.
    """

    w: Float[Array, "inputs gates"]
    u: Float[Array, "units gates"]
    bias: Float[Array, " gates"]
    candidate_bias: Float[Array, " units"]


@dataclass(frozen=True)
class GRU(GRUFields):
    """h' = (1 - z) tanh(W_n x + b_n + r (U_n h + c_n)) + z h, features h."""

    @property
    def feature_sizes(self) -> tuple[int, ...]:
        return (self.width,)

    def init(self, key: PRNGKeyArray) -> GRUParameters:
        keys = jax.random.split(key, 6)
        inner, recurrent = lecun_normal(), orthogonal()
        shape, square = (self.inputs, self.width), (self.width, self.width)
        return GRUParameters(
            w=jnp.concatenate([inner(k, shape) for k in keys[:3]], axis=1),
            u=jnp.concatenate([recurrent(k, square) for k in keys[3:]], axis=1),
            bias=jnp.zeros(3 * self.width),
            candidate_bias=jnp.zeros(self.width),
        )

    def initial_state(self) -> Float[Array, " units"]:
        return jnp.zeros(self.width)

    def derive(self, params: GRUParameters) -> tuple[()]:
        return ()

    def drive(
        self, params: GRUParameters, derived: tuple[()], x: Float[Array, "*time inputs"]
    ) -> Float[Array, "*time gates"]:
        return x @ params.w + params.bias

    def step(
        self,
        params: GRUParameters,
        derived: tuple[()],
        state: Float[Array, " units"],
        drive: Float[Array, " gates"],
    ) -> Float[Array, " units"]:
        recurrent = state @ params.u
        n = self.width
        gates = jax.nn.sigmoid(drive[: 2 * n] + recurrent[: 2 * n])
        reset, update = gates[:n], gates[n:]
        candidate = jnp.tanh(drive[2 * n :] + reset * (recurrent[2 * n :] + params.candidate_bias))
        return candidate + update * (state - candidate)

    def features(
        self, params: GRUParameters, state: Float[Array, " units"], x: Float[Array, " inputs"]
    ) -> tuple[Float[Array, " units"]]:
        return (state,)

    def constrain(self, params: GRUParameters) -> GRUParameters:
        return params
