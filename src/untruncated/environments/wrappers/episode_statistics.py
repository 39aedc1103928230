"""Returns and lengths of finished episodes."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, Int32, PRNGKeyArray

from untruncated.environments.protocol import TimeStep
from untruncated.environments.wrappers.wrapper import Wrapper


class State(NamedTuple):
    """The state inside, and sums of the present and the last finished episode.

    Attributes:
        inner: the state inside.
        running_return: undiscounted sum of rewards of the present episode, 0 once it has ended.
        running_length: its steps.
        last_return: undiscounted return of the last finished episode, 0 before there is one.
        last_length: its steps.
        finished: number of finished episodes.
    """

    inner: Any
    running_return: Float[Array, "*copies"]
    running_length: Int32[Array, "*copies"]
    last_return: Float[Array, "*copies"]
    last_length: Int32[Array, "*copies"]
    finished: Int32[Array, "*copies"]


@dataclass(frozen=True)
class EpisodeStatistics(Wrapper):
    """Keeps statistics in its state and changes nothing of what is shown.

    It has to be outside `AutoReset`, and inside of `ScaleRewards`.

    Raises:
        ValueError: if the rewards are scaled already.
    """

    outlives_episodes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.scales_rewards:
            raise ValueError(
                "returns would be those of scaled rewards: place EpisodeStatistics inside of "
                "ScaleRewards"
            )

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        inner, shown = self.environment.reset(key)
        zero, none = jnp.zeros_like(shown.reward), jnp.zeros(shown.reward.shape, jnp.int32)
        return State(inner, zero, none, zero, none, none), shown

    def step(self, state: State, action: Array) -> tuple[State, TimeStep]:
        inner, shown = self.environment.step(state.inner, action)
        ended = shown.terminated | shown.truncated
        total, length = state.running_return + shown.reward, state.running_length + 1
        return State(
            inner,
            jnp.where(ended, 0, total),
            jnp.where(ended, 0, length),
            jnp.where(ended, total, state.last_return),
            jnp.where(ended, length, state.last_length),
            state.finished + ended,
        ), shown
