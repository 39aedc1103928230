"""What every wrapper passes on of the environment inside."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Wrapper:
    """An environment around `environment`, with its sizes."""

    environment: Any

    @property
    def observation_size(self) -> int:
        """Number of features of the observation."""
        return self.environment.observation_size

    @property
    def actions(self) -> int | None:
        """Number of discrete actions; None if the action is a real vector."""
        return self.environment.actions
