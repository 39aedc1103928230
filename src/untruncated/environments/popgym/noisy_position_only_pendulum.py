"""NoisyPositionOnlyPendulum: swing up a pendulum of which only a noisy position is seen."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from untruncated.environments.popgym.position_only_pendulum import PositionOnlyPendulum, State


@dataclass(frozen=True)
class NoisyPositionOnlyPendulum(PositionOnlyPendulum):
    """Shows cosine and sine of the angle with Gaussian noise, clipped to ±1.

    Attributes:
        noise: standard deviation.
    """

    noise: float = 0.1

    def raw_observation(self, state: State) -> Float[Array, "2"]:
        clean = super().raw_observation(state)
        draw = jax.random.normal(jax.random.fold_in(state.key, state.t), (2,), clean.dtype)
        return jnp.clip(clean + self.noise * draw, -1, 1)


LEVELS = {
    "Easy": NoisyPositionOnlyPendulum(200, 0.1),
    "Medium": NoisyPositionOnlyPendulum(200, 0.2),
    "Hard": NoisyPositionOnlyPendulum(200, 0.3),
}
