"""The last action and the last reward as features of the observation."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from untruncated.environments.protocol import TimeStep
from untruncated.environments.wrappers.wrapper import Wrapper


@dataclass(frozen=True)
class LastActionAndReward(Wrapper):
    """Appends the action, one-hot if it is discrete, then the reward; all zeros after a reset.

    It has to be inside `AutoReset`, or a first observation would show how the last episode ended.

    Attributes:
        reward: whether to append the reward as well.

    Raises:
        ValueError: if the reward is to be appended but would give away what is hidden, or if
            `AutoReset` is inside.
    """

    reward: bool = True

    def __post_init__(self) -> None:
        if self.restarts:
            raise ValueError(
                "a first observation would show how the last episode ended: place "
                "LastActionAndReward inside of AutoReset"
            )
        if self.reward and self.reward_tells_hidden:
            raise ValueError(
                "this environment's reward tells what its observation hides: append the action "
                "alone, LastActionAndReward(environment, reward=False)"
            )

    @property
    def observation_size(self) -> int:
        action_size = self.action_size if self.actions is None else self.actions
        return self.environment.observation_size + action_size + self.reward

    def reset(self, key: PRNGKeyArray) -> tuple[Any, TimeStep]:
        state, shown = self.environment.reset(key)
        appended = self.observation_size - self.environment.observation_size
        nothing = jnp.zeros((*shown.observation.shape[:-1], appended), shown.observation.dtype)
        return state, self._appended(shown, nothing)

    def step(self, state: Any, action: Array) -> tuple[Any, TimeStep]:
        state, shown = self.environment.step(state, action)
        dtype = shown.observation.dtype
        if self.actions is None:
            features = action.astype(dtype)
        else:
            features = jax.nn.one_hot(action, self.actions, dtype=dtype)
        if self.reward:
            features = jnp.concatenate([features, shown.reward[..., None].astype(dtype)], axis=-1)
        return state, self._appended(shown, features)

    def _appended(self, shown: TimeStep, features: Array) -> TimeStep:
        observation = jnp.concatenate([shown.observation, features], axis=-1)
        return shown._replace(observation=observation)
