"""Rewards over the running standard deviation of the discounted return."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.environments.protocol import TimeStep
from untruncated.environments.wrappers.running_moments import Moments, no_moments, with_samples
from untruncated.environments.wrappers.wrapper import Wrapper, check_clip

EPSILON = 1e-8


class State(NamedTuple):
    """The state inside; the present episode's discounted sum of rewards so far; its moments."""

    inner: Any
    discounted: Float[Array, "*copies"]
    moments: Moments


@dataclass(frozen=True)
class ScaleRewards(Wrapper):
    """Divides by the standard deviation of `G_t = discount · G_{t-1} + r_t`, over all steps.

    `G` starts at 0 in every episode. The mean is not taken off, which would change what is best.
    Copies side by side share their statistics. It has to be outside `AutoReset`.

    Attributes:
        discount: factor per step, in [0, 1].
        clip: how far from 0 a scaled reward may be at most; None for any number. The first reward
            of all is divided by a deviation of 0, or 1e-4.

    Raises:
        ValueError: if `discount` is outside [0, 1], or `clip` is not above 0.
    """

    discount: float = 0.99
    clip: float | None = 10.0

    outlives_episodes: ClassVar[bool] = True
    scales_rewards: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_clip(self.clip)
        if not 0 <= self.discount <= 1:
            raise ValueError(f"discount must be in [0, 1]: got {self.discount}")

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        inner, shown = self.environment.reset(key)
        return State(inner, jnp.zeros_like(shown.reward), no_moments((), shown.reward.dtype)), shown

    def step(self, state: State, action: Array) -> tuple[State, TimeStep]:
        inner, shown = self.environment.step(state.inner, action)
        discounted = self.discount * state.discounted + shown.reward
        moments = with_samples(state.moments, discounted.reshape(-1))
        reward = shown.reward / jnp.sqrt(moments.variance + EPSILON)
        if self.clip is not None:
            reward = jnp.clip(reward, -self.clip, self.clip)
        ended = shown.terminated | shown.truncated
        discounted = jnp.where(ended, 0, discounted)
        return State(inner, discounted, moments), shown._replace(reward=reward)
