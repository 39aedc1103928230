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
    def hidden_after_first(self) -> tuple[int, ...]:
        """Features that are shown in an episode's first observation only, and are 0 afterwards."""
        return getattr(self.environment, "hidden_after_first", ())

    @property
    def restarts(self) -> bool:
        """Whether the step that ends an episode shows the first observation of the next."""
        return getattr(self.environment, "restarts", False)

    @property
    def outlives_episodes(self) -> bool:
        """Whether there are statistics that go on from episode to episode."""
        return getattr(self.environment, "outlives_episodes", False)

    @property
    def scales_rewards(self) -> bool:
        """Whether rewards are others than the environment's own."""
        return getattr(self.environment, "scales_rewards", False)

    @property
    def repeats_first_start(self) -> bool:
        """Whether all episodes of a run start as the first one did."""
        return getattr(self.environment, "repeats_first_start", False)


def check_restartable(wrapper: Wrapper) -> None:
    """Raises a ValueError if statistics inside would start anew with every episode."""
    if getattr(wrapper.environment, "outlives_episodes", False):
        name = type(wrapper).__name__
        raise ValueError(
            f"{name} would start the statistics inside anew with every episode: place "
            "NormaliseObservations, ScaleRewards and EpisodeStatistics outside of it"
        )


def check_clip(clip: float | None) -> None:
    """Raises a ValueError unless there is no limit or one above 0."""
    if clip is not None and not clip > 0:
        raise ValueError(f"clip must be above 0, or None: got {clip}")
