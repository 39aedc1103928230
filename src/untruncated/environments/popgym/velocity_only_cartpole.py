"""VelocityOnlyCartPole: balance a pole without seeing where anything is."""

from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Float

from untruncated.environments.popgym.cartpole import POSITIONS, VELOCITIES, CartPole, State


@dataclass(frozen=True)
class VelocityOnlyCartPole(CartPole):
    """Shows the velocities in m/s and rad/s; a reset, as in the package, the position and angle."""

    def raw_observation(self, state: State) -> Float[Array, "2"]:
        return jnp.where(state.t == 0, state.physics[POSITIONS], state.physics[VELOCITIES])


LEVELS = {
    "Easy": VelocityOnlyCartPole(200),
    "Medium": VelocityOnlyCartPole(400),
    "Hard": VelocityOnlyCartPole(600),
}
