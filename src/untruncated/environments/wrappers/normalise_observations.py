"""Observations less their running mean, over their running standard deviation."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from untruncated.environments.protocol import TimeStep
from untruncated.environments.wrappers.running_moments import Moments, no_moments, with_samples
from untruncated.environments.wrappers.wrapper import Wrapper

EPSILON = 1e-8


class State(NamedTuple):
    """The state inside, and the moments of all observations since the reset."""

    inner: Any
    moments: Moments


@dataclass(frozen=True)
class NormaliseObservations(Wrapper):
    """Each feature by its own statistics, the present observation included.

    Copies side by side share their statistics. Place it outside `AutoReset`, so that the
    statistics go on from episode to episode.

    Attributes:
        fidelity: "exact", or "reference" for the RTU paper's public code, which shares one mean
            and one variance among all features.

    Raises:
        ValueError: if `fidelity` is neither.
    """

    fidelity: str = "exact"

    def __post_init__(self) -> None:
        if self.fidelity not in ("exact", "reference"):
            raise ValueError(f"fidelity must be 'exact' or 'reference', not {self.fidelity!r}")

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        inner, shown = self.environment.reset(key)
        shape = shown.observation.shape[-1:] if self.fidelity == "exact" else ()
        return self._normalised(inner, shown, no_moments(shape, shown.observation.dtype))

    def step(self, state: State, action: Array) -> tuple[State, TimeStep]:
        inner, shown = self.environment.step(state.inner, action)
        return self._normalised(inner, shown, state.moments)

    def _normalised(self, inner: Any, shown: TimeStep, moments: Moments) -> tuple[State, TimeStep]:
        observation = shown.observation
        moments = with_samples(moments, observation.reshape(-1, *moments.mean.shape))
        scaled = (observation - moments.mean) / jnp.sqrt(moments.variance + EPSILON)
        return State(inner, moments), shown._replace(observation=scaled)
