"""Independent copies of an environment, side by side."""

from dataclasses import dataclass
from typing import Any

import jax
from jaxtyping import Array, PRNGKeyArray

from untruncated.environments.protocol import TimeStep
from untruncated.environments.wrappers.wrapper import Wrapper


@dataclass(frozen=True)
class Vectorised(Wrapper):
    """Adds a leading axis of length `copies` to states, actions and time steps.

    Raises:
        ValueError: if there is not at least one copy.
    """

    copies: int = 1

    def __post_init__(self) -> None:
        if self.copies < 1:
            raise ValueError(f"copies must be at least 1: got {self.copies}")

    def reset(self, key: PRNGKeyArray) -> tuple[Any, TimeStep]:
        return jax.vmap(self.environment.reset)(jax.random.split(key, self.copies))

    def step(self, state: Any, action: Array) -> tuple[Any, TimeStep]:
        return jax.vmap(self.environment.step)(state, action)
