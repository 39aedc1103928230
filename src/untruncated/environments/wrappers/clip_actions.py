"""Real actions, clipped before the environment gets them."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from untruncated.environments.protocol import TimeStep
from untruncated.environments.wrappers.wrapper import Wrapper


@dataclass(frozen=True)
class ClipActions(Wrapper):
    """Each number of an action within ± `bound`; discrete actions stay.

    Attributes:
        bound: None for the environment's own. The RTU paper's public code has 2 where Brax has 1:
            Brax clips what goes to the motors, but charges for all of it.
    """

    bound: float | None = None

    def reset(self, key: PRNGKeyArray) -> tuple[Any, TimeStep]:
        return self.environment.reset(key)

    def step(self, state: Any, action: Array) -> tuple[Any, TimeStep]:
        if self.actions is None:
            bound = self.action_bound if self.bound is None else self.bound
            action = jnp.clip(action, -bound, bound)
        return self.environment.step(state, action)
