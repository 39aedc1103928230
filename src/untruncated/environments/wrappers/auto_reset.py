"""One episode after the other, each started by a reset of its own."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32, PRNGKeyArray

from untruncated.environments.protocol import TimeStep
from untruncated.environments.wrappers.only_if import only_if
from untruncated.environments.wrappers.wrapper import Wrapper, check_restartable


class State(NamedTuple):
    """The state inside, and what starts it anew.

    Attributes:
        key: the base key; it never changes.
        inner: the state inside, after a reset if the last step ended an episode.
        episodes: number of finished episodes.
        first: the first state and observation, where every episode starts from them.
    """

    key: PRNGKeyArray
    inner: Any
    episodes: Int32[Array, ""]
    first: tuple[Any, Float[Array, " features"]] | None = None


@dataclass(frozen=True)
class AutoReset(Wrapper):
    """Resets in the step that ends an episode; every episode has a new key.

    An environment that says `repeats_first_start` is put back to its first start instead.

    That step shows the reward and the flags of the end together with the first observation of the
    next episode, and as `final_observation` what the episode showed last. Under `jax.vmap` every
    copy draws a reset where one copy needs it; `VectorisedAutoReset` draws as many as are needed.

    Raises:
        ValueError: if statistics inside would start anew with every episode.
    """

    restarts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_restartable(self)

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        inner, shown = self.environment.reset(jax.random.fold_in(key, 0))
        first = (inner, shown.observation) if self.repeats_first_start else None
        shown = shown._replace(final_observation=shown.observation)
        return State(key, inner, jnp.int32(0), first), shown

    def step(self, state: State, action: Array) -> tuple[State, TimeStep]:
        inner, shown = self.environment.step(state.inner, action)
        ended = shown.terminated | shown.truncated
        episodes = state.episodes + ended

        def restarted(_: Any) -> tuple[Any, Array]:
            if state.first is not None:
                return state.first
            start, first = self.environment.reset(jax.random.fold_in(state.key, episodes))
            return start, first.observation

        start, observation = only_if(ended, restarted, (inner, shown.observation))
        shown = shown._replace(observation=observation, final_observation=shown.observation)
        return State(state.key, start, episodes, state.first), shown
