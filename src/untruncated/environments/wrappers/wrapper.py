"""What every wrapper passes on of the environment inside."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Wrapper:
    """An environment around `environment`, with its sizes and peculiarities."""

    environment: Any

    @property
    def observation_size(self) -> int:
        """Number of features of the observation."""
        return self.environment.observation_size

    @property
    def actions(self) -> int | None:
        """Number of discrete actions; None if the action is a real vector."""
        return self.environment.actions

    @property
    def action_size(self) -> int:
        """How many numbers a real action has; an environment with discrete actions has none."""
        return self.environment.action_size

    @property
    def action_bound(self) -> float:
        """How far from 0 the numbers of a real action may be."""
        return self.environment.action_bound

    @property
    def reward_tells_hidden(self) -> bool:
        """Whether the reward would give away what the observation hides."""
        return getattr(self.environment, "reward_tells_hidden", False)

    @property
    def repeats_first_start(self) -> bool:
        """Whether all episodes of a run start as the first one did."""
        return getattr(self.environment, "repeats_first_start", False)
