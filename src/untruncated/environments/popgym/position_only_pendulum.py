"""PositionOnlyPendulum: swing a pendulum up without seeing how fast it turns (Pendulum-v1)."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32, PRNGKeyArray

from untruncated.environments.protocol import TimeStep, first_time_step

GRAVITY = 10.0  # m/s²; the pendulum has 1 kg and 1 m
SECONDS = 0.05  # per step
MOST_TORQUE = 2.0  # N m
FASTEST = 8.0  # rad/s
HALF_WORST_COST = 16.2736044 / 2


class State(NamedTuple):
    """The pendulum after `t` steps; `key`, which never changes, is for observations with noise.

    `physics` is the angle in rad (0 upright) and the angular velocity in rad/s.
    """

    key: PRNGKeyArray
    physics: Float[Array, "2"]
    t: Int32[Array, ""]


@dataclass(frozen=True)
class PositionOnlyPendulum:
    """Shows cosine and sine of the angle. Reward (1 - cost / 8.1368022) / longest.

    The cost is angle² + 0.1 velocity² + 0.001 torque², before the step. The action is a torque in
    N m, clipped to ±2. Floats have JAX's default precision.
    """

    longest: int = 200

    actions = None
    action_size = 1
    action_bound = MOST_TORQUE
    observation_size = 2

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        key, physics_key = jax.random.split(key)
        high = jnp.array([jnp.pi, 1.0])
        physics = high * jax.random.uniform(physics_key, (2,), float, -1, 1)
        state = State(key, physics, jnp.int32(0))
        return state, first_time_step(self.raw_observation(state))

    def step(self, state: State, action: Float[Array, "1"]) -> tuple[State, TimeStep]:
        angle, velocity = state.physics
        torque = jnp.clip(action[0], -MOST_TORQUE, MOST_TORQUE)
        upright = (angle + jnp.pi) % (2 * jnp.pi) - jnp.pi
        cost = upright**2 + 0.1 * velocity**2 + 0.001 * torque**2
        velocity = velocity + (1.5 * GRAVITY * jnp.sin(angle) + 3 * torque) * SECONDS
        velocity = jnp.clip(velocity, -FASTEST, FASTEST)
        physics = jnp.stack([angle + velocity * SECONDS, velocity])
        state = State(state.key, physics, state.t + 1)
        reward = (1 - cost / HALF_WORST_COST) / self.longest
        never = jnp.zeros((), bool)
        return state, TimeStep(self.raw_observation(state), reward, never, state.t >= self.longest)

    def raw_observation(self, state: State) -> Float[Array, "2"]:
        """Cosine and sine of the angle."""
        return jnp.stack([jnp.cos(state.physics[0]), jnp.sin(state.physics[0])])

    def render(self, state: State) -> str:
        angle, velocity = state.physics
        seen = " ".join(f"{value:+.3f}" for value in self.raw_observation(state))
        return f"sees {seen}   truth: angle {angle:+.3f} rad, {velocity:+.3f} rad/s"


LEVELS = {
    "Easy": PositionOnlyPendulum(200),
    "Medium": PositionOnlyPendulum(150),
    "Hard": PositionOnlyPendulum(100),
}
