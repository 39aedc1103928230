"""The cart with a pole that three environments show parts of: gymnasium's CartPole-v1."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Int32, PRNGKeyArray

from untruncated.environments.protocol import TimeStep, first_time_step

GRAVITY = 9.8  # m/s²
CART, POLE = 1.0, 0.1  # kg
HALF_LENGTH = 0.5  # m, half the pole's
FORCE = 10.0  # N
SECONDS = 0.02  # per step
FARTHEST = 2.4  # m
STEEPEST = math.radians(12)
POSITIONS, VELOCITIES = jnp.s_[::2], jnp.s_[1::2]


class State(NamedTuple):
    """The cart after `t` steps; `key`, which never changes, is for observations with noise.

    `physics` is position in m, velocity in m/s, angle in rad (0 upright), angular velocity in
    rad/s.
    """

    key: PRNGKeyArray
    physics: Float[Array, "4"]
    t: Int32[Array, ""]


@dataclass(frozen=True)
class CartPole:
    """Reward 1/longest a step, also for the step on which the pole falls.

    A subclass adds `raw_observation`. Floats have JAX's default precision.
    """

    longest: int = 200

    actions = 2
    observation_size = 2

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        key, physics_key = jax.random.split(key)
        physics = jax.random.uniform(physics_key, (4,), float, -0.05, 0.05)
        state = State(key, physics, jnp.int32(0))
        return state, first_time_step(self.raw_observation(state))

    def step(self, state: State, action: Int[Array, ""]) -> tuple[State, TimeStep]:
        state = State(state.key, moved(state.physics, action), state.t + 1)
        fell = (jnp.abs(state.physics[0]) > FARTHEST) | (jnp.abs(state.physics[2]) > STEEPEST)
        observation = self.raw_observation(state)
        reward = jnp.full((), 1 / self.longest, observation.dtype)
        return state, TimeStep(observation, reward, fell, state.t >= self.longest)

    def raw_observation(self, state: State) -> Float[Array, "2"]:
        raise NotImplementedError

    def optimal_action(self, state: State) -> Int32[Array, ""]:
        """Keeps the pole up for all 600 steps from any start: a linear rule of the true state."""
        rule = jnp.array([0.1, 0.3, 1.0, 0.5], state.physics.dtype)
        return (state.physics @ rule > 0).astype(jnp.int32)

    def render(self, state: State) -> str:
        x, x_dot, angle, angle_dot = state.physics
        seen = " ".join(f"{value:+.3f}" for value in self.raw_observation(state))
        return (
            f"sees {seen}   truth: position {x:+.3f} m, {x_dot:+.3f} m/s, "
            f"angle {angle:+.3f} rad, {angle_dot:+.3f} rad/s"
        )


def moved(physics: Float[Array, "4"], action: Int[Array, ""]) -> Float[Array, "4"]:
    """One Euler step of cart and pole, pushed left (0) or right (1)."""
    _, x_dot, angle, angle_dot = physics
    total = CART + POLE
    sine, cosine = jnp.sin(angle), jnp.cos(angle)
    push = jnp.where(action == 1, FORCE, -FORCE)
    pull = (push + POLE * HALF_LENGTH * angle_dot**2 * sine) / total
    angle_acceleration = (GRAVITY * sine - cosine * pull) / (
        HALF_LENGTH * (4 / 3 - POLE * cosine**2 / total)
    )
    acceleration = pull - POLE * HALF_LENGTH * angle_acceleration * cosine / total
    return physics + SECONDS * jnp.stack([x_dot, acceleration, angle_dot, angle_acceleration])
