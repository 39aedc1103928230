"""A process of three states, one of which leads back to where it was entered from.

States 1 and 2 lead to any of the three with equal probability. State 3 leads back to the state it
was entered from, so that whoever predicts the next state must remember the last but one. There are
no actions and no episodes. RTU paper, Appendix B.2 and Figure 7.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from untruncated.environments.protocol import TimeStep

STATES = 3  # numbered from 0 in what follows
MEMORY_STATE = 2


class State(NamedTuple):
    """The present state, the one it was entered from, and the key of what follows."""

    key: PRNGKeyArray
    present: Int[Array, ""]
    entered_from: Int[Array, ""]


@dataclass(frozen=True)
class ThreeStateMDP:
    """Observations are the present state, one-hot; there is no reward."""

    @property
    def observation_size(self) -> int:
        """Number of states."""
        return STATES

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        """The first of an endless sequence of states: 1 or 2, by chance."""
        key, first = jax.random.split(key)
        present = jax.random.randint(first, (), 0, MEMORY_STATE, jnp.int32)
        state = State(key, present, present)
        return state, _show(state)

    def step(self, state: State) -> tuple[State, TimeStep]:
        """Moves on once."""
        key, chance = jax.random.split(state.key)
        anywhere = jax.random.randint(chance, (), 0, STATES, jnp.int32)
        remembers = state.present == MEMORY_STATE
        following = jnp.where(remembers, state.entered_from, anywhere)
        state = State(key, following, state.present)
        return state, _show(state)


def _show(state: State) -> TimeStep:
    observation: Float[Array, " states"] = jax.nn.one_hot(state.present, STATES)
    never = jnp.zeros((), bool)
    return TimeStep(observation, jnp.zeros(()), never, never)
