"""What every environment looks like to the code that uses it."""

from typing import Any, NamedTuple, Protocol

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray, PyTree


class TimeStep(NamedTuple):
    """What one step of an environment shows.

    Leading axes (steps, then seeds) may be added to every field by `jax.lax.scan` and `jax.vmap`.

    Attributes:
        observation: what the learner sees at this step.
        reward: the reward that arrives together with the observation; in a prediction problem,
            the cumulant.
        terminated: the episode ended here by the rules of the environment, so the value of what
            follows is zero.
        truncated: the episode ended here by a time limit only, so the value of what would have
            followed still counts.
        final_observation: what the step showed before a restart; the value after a truncation is
            the value of that. It is the observation, or None, where nothing restarts.
    """

    observation: Float[Array, "*batch features"]
    reward: Float[Array, "*batch"]
    terminated: Bool[Array, "*batch"]
    truncated: Bool[Array, "*batch"]
    final_observation: Float[Array, "*batch features"] | None = None


def first_time_step(observation: Float[Array, " features"]) -> TimeStep:
    """What a reset shows: an observation, no reward yet, nothing ended."""
    no = jnp.zeros((), bool)
    return TimeStep(observation, jnp.zeros((), observation.dtype), no, no)


class Environment(Protocol):
    """Pure functions over an explicit state, which also carries the random key if steps draw.

    An implementation holds its constants in a frozen dataclass, so that it is hashable and can be
    closed over by compiled functions. A prediction problem without actions has the same two
    methods with `step(state)`.

    Attributes:
        observation_size: number of features of an observation.
        actions: number of discrete actions; None if the action is a real vector.
        action_size: how many numbers a real action has; 0 if actions are discrete.
        action_bound: how far from 0 the numbers of a real action may be.
    """

    observation_size: int
    actions: int | None
    action_size: int
    action_bound: float

    def reset(self, key: PRNGKeyArray) -> tuple[PyTree, TimeStep]:
        """Start from `key`; return the state and the first time step."""
        ...

    def step(self, state: PyTree, action: Any) -> tuple[PyTree, TimeStep]:
        """Act once; return the next state and what it shows."""
        ...
