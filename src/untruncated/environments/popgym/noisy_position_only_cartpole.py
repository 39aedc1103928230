"""NoisyPositionOnlyCartPole: balance a pole of which only noisy positions are seen."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from untruncated.environments.popgym.cartpole import FARTHEST, POSITIONS, STEEPEST, CartPole, State


@dataclass(frozen=True)
class NoisyPositionOnlyCartPole(CartPole):
    """Shows position and angle with Gaussian noise, clipped to twice the limits of an episode.

    Attributes:
        noise: standard deviation, in m and in rad.
    """

    noise: float = 0.1

    def raw_observation(self, state: State) -> Float[Array, "2"]:
        positions = state.physics[POSITIONS]
        draw = jax.random.normal(jax.random.fold_in(state.key, state.t), (2,), positions.dtype)
        bounds = 2 * jnp.array([FARTHEST, STEEPEST], positions.dtype)
        return jnp.clip(positions + self.noise * draw, -bounds, bounds)


LEVELS = {
    "Easy": NoisyPositionOnlyCartPole(200, 0.1),
    "Medium": NoisyPositionOnlyCartPole(200, 0.2),
    "Hard": NoisyPositionOnlyCartPole(200, 0.3),
}
