"""RepeatFirst: cards are shown one after the other; name the suit of the first, at every step."""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Int, Int8, Int32, PRNGKeyArray

from untruncated.environments.popgym.cards import (
    CARDS,
    SUITS,
    SYMBOLS,
    one_hot,
    shuffled_deck,
    win_or_lose,
)
from untruncated.environments.protocol import TimeStep, first_time_step


class State(NamedTuple):
    """Suits in the order of dealing; `t` is the index of the card on show."""

    deck: Int8[Array, " cards"]
    t: Int32[Array, ""]


@dataclass(frozen=True)
class RepeatFirst:
    """Reward ±1/(n - 1) for each of the n - 1 answers, where n is the number of cards."""

    decks: int = 1

    actions = SUITS
    observation_size = SUITS

    @property
    def longest(self) -> int:
        return self.decks * CARDS - 1

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        state = State(shuffled_deck(key, self.decks, SUITS), jnp.int32(0))
        return state, first_time_step(self._observation(state))

    def step(self, state: State, action: Int[Array, ""]) -> tuple[State, TimeStep]:
        reward = win_or_lose(action == state.deck[0], 1 / self.longest)
        state = State(state.deck, state.t + 1)
        terminated = state.t == self.longest
        return state, TimeStep(
            self._observation(state), reward, terminated, jnp.zeros_like(terminated)
        )

    def raw_observation(self, state: State) -> Int8[Array, ""]:
        """The suit on show: 0 to 3 for spades, diamonds, clubs, hearts."""
        return state.deck[state.t]

    def optimal_action(self, state: State) -> Int8[Array, ""]:
        return state.deck[0]

    def render(self, state: State) -> str:
        suits = SYMBOLS[SUITS]
        return (
            f"sees {suits[state.deck[state.t]]}   truth: the first card is {suits[state.deck[0]]}"
        )

    def _observation(self, state: State) -> Array:
        return one_hot((self.raw_observation(state), SUITS))


LEVELS = {"Easy": RepeatFirst(1), "Medium": RepeatFirst(8), "Hard": RepeatFirst(16)}
