"""Observations less their running mean, over their running standard deviation."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, PRNGKeyArray

from untruncated.environments.protocol import TimeStep
from untruncated.environments.wrappers.running_moments import Moments, no_moments, with_samples
from untruncated.environments.wrappers.wrapper import Wrapper, check_clip

EPSILON = 1e-8


class State(NamedTuple):
    """The state inside, and the moments of all observations since the reset."""

    inner: Any
    moments: Moments


@dataclass(frozen=True)
class NormaliseObservations(Wrapper):
    """Each feature by its own statistics, the present observation included.

    Copies side by side share their statistics. It has to be outside `AutoReset`, so that the
    statistics go on from episode to episode.

    What the environment hides after an episode's first observation (`hidden_after_first`) stays 0,
    and enters the statistics only where it is shown. Normalised like a number that was seen, the 0
    would become -mean / deviation and so tell of the target: the mean is one of targets shown.

    An episode's final observation is normalised by the moments of its step, and is no sample: what
    is learned from it is a value, once in an episode.

    Attributes:
        fidelity: "exact", or "reference" for the RTU paper's public code, which shares one mean
            and one variance, of all that is observed, among all features.
        clip: how many standard deviations from 0 a normalised feature may be at most; None for
            any number.

    Raises:
        ValueError: if `fidelity` is neither, or `clip` is not above 0.
    """

    fidelity: str = "exact"
    clip: float | None = 10.0

    outlives_episodes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.fidelity not in ("exact", "reference"):
            raise ValueError(f"fidelity must be 'exact' or 'reference', not {self.fidelity!r}")
        check_clip(self.clip)

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        inner, shown = self.environment.reset(key)
        shape = shown.observation.shape[-1:] if self.fidelity == "exact" else ()
        moments = no_moments(shape, shown.observation.dtype)
        return self._normalised(inner, shown, moments, jnp.ones_like(shown.terminated))

    def step(self, state: State, action: Array) -> tuple[State, TimeStep]:
        inner, shown = self.environment.step(state.inner, action)
        # With AutoReset inside, the step that ends an episode shows the next one's first.
        first = (shown.terminated | shown.truncated) & self.restarts
        return self._normalised(inner, shown, state.moments, first)

    def _normalised(
        self, inner: Any, shown: TimeStep, moments: Moments, first: Bool[Array, "*copies"]
    ) -> tuple[State, TimeStep]:
        observation = shown.observation
        hidden = np.isin(np.arange(observation.shape[-1]), self.hidden_after_first)
        seen = first[..., None] | ~hidden
        samples = observation.reshape(-1, *moments.mean.shape)
        counted = seen.reshape(samples.shape) if self.fidelity == "exact" else True
        moments = with_samples(moments, samples, counted)
        final = shown.final_observation
        if final is not None:  # of an episode that has begun before, unless there was none
            began = first & ~(shown.terminated | shown.truncated)
            final = jnp.where(began[..., None] | ~hidden, self._scaled(final, moments), 0)
        observation = jnp.where(seen, self._scaled(observation, moments), 0)
        shown = shown._replace(observation=observation, final_observation=final)
        return State(inner, moments), shown

    def _scaled(self, observation: Array, moments: Moments) -> Array:
        scaled = (observation - moments.mean) / jnp.sqrt(moments.variance + EPSILON)
        return scaled if self.clip is None else jnp.clip(scaled, -self.clip, self.clip)
