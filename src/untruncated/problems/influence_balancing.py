"""Influence balancing: a linear system whose parameter helps at first and harms in the long run.

θ pushes some units up and others down, and what the later units receive arrives at the first one
only after a while. Short truncations therefore see a gradient of the wrong sign. PES paper,
Section 5.1; Tallec and Ollivier, "Unbiased Online Recurrent Optimization" (2018).
"""

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from untruncated.catalogue.problems import InfluenceBalancingFields


@dataclass(frozen=True)
class InfluenceBalancing(InfluenceBalancingFields):
    """s' = A s + θ v with A = ½ on the diagonal and above it, loss ½ (s₁ - 1)² after each step.

    The state starts at ones. With p = `positive` of n = `units` entries of v at +1 and the others
    at -1, the first unit tends to 2 (2 p - n) θ.
    """

    differentiable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.positive > self.units:
            raise ValueError(f"positive must be from 0 to units: got {self}")

    def initial_theta(self, key: PRNGKeyArray) -> Float[Array, ""]:
        del key  # it always starts at the same place
        return jnp.asarray(self.start, float)

    def initial_state(self, key: PRNGKeyArray) -> Float[Array, " units"]:
        del key
        return jnp.ones(self.units)

    def unroll_step(
        self,
        theta: Float[Array, ""],
        state: Float[Array, " units"],
        t: Int[Array, ""],
        key: PRNGKeyArray,
    ) -> tuple[Float[Array, " units"], Float[Array, ""]]:
        del t, key  # the same at all times
        push = jnp.where(jnp.arange(self.units) < self.positive, 1.0, -1.0)
        following = jnp.concatenate([state[1:], jnp.zeros(1)])
        state = 0.5 * (state + following) + theta * push
        return state, 0.5 * (state[0] - 1.0) ** 2
