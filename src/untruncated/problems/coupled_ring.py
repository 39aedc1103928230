"""A ring of units of any size with any number of parameters, for measuring what estimators cost."""

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from untruncated.catalogue.problems import CoupledRingFields


@dataclass(frozen=True)
class CoupledRing(CoupledRingFields):
    """s'_i = ½ s_{i-1} + ½ mean_j tanh(θ_ji + s_i), the mean over the parameters at place i.

    θ is laid round the ring: again and again if there are fewer parameters than units, several to
    a place if there are more. A step costs in proportion to units + parameters; its loss is the
    mean of s'². The state starts as a wave of random height, so that no two inner problems are the
    same.
    """

    differentiable: ClassVar[bool] = True

    def initial_theta(self, key: PRNGKeyArray) -> Float[Array, " parameters"]:
        return jax.random.normal(key, (self.parameters,))

    def initial_state(self, key: PRNGKeyArray) -> Float[Array, " units"]:
        return jax.random.normal(key) * jnp.cos(jnp.arange(self.units))

    def unroll_step(
        self,
        theta: Float[Array, " parameters"],
        state: Float[Array, " units"],
        t: Int[Array, ""],
        key: PRNGKeyArray,
    ) -> tuple[Float[Array, " units"], Float[Array, ""]]:
        del t, key
        drive = jnp.tanh(self._laid_out(theta) + state).mean(axis=0)
        state = 0.5 * (jnp.roll(state, 1) + drive)
        return state, jnp.mean(state**2)

    def _laid_out(self, theta: Float[Array, " parameters"]) -> Float[Array, "layers units"]:
        if self.parameters <= self.units:
            return jnp.tile(theta, -(-self.units // self.parameters))[None, : self.units]
        layers = -(-self.parameters // self.units)
        return jnp.pad(theta, (0, layers * self.units - self.parameters)).reshape(
            layers, self.units
        )
