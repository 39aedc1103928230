"""HigherLower: will the next card's rank be higher or lower than that of the card on show?"""

from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Int, Int8, Int32, PRNGKeyArray

from untruncated.environments.popgym.cards import CARDS, RANKS, SYMBOLS, one_hot, shuffled_deck
from untruncated.environments.popgym.repeat_first import State
from untruncated.environments.protocol import TimeStep, first_time_step

HIGHER, LOWER = 0, 1


@dataclass(frozen=True)
class HigherLower:
    """Reward ±1/n a guess and 0 for a tie: there are n cards, but only n - 1 guesses."""

    decks: int = 1

    actions = 2
    observation_size = RANKS

    @property
    def longest(self) -> int:
        return self.decks * CARDS - 1

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        state = State(shuffled_deck(key, self.decks, RANKS), jnp.int32(0))
        return state, first_time_step(self._observation(state))

    def step(self, state: State, action: Int[Array, ""]) -> tuple[State, TimeStep]:
        change = jnp.sign(state.deck[state.t + 1] - state.deck[state.t])
        guess = jnp.where(action == HIGHER, 1, -1)
        reward = (guess * change).astype(jnp.float32) * jnp.float32(1 / (self.decks * CARDS))
        state = State(state.deck, state.t + 1)
        terminated = state.t == self.longest
        return state, TimeStep(
            self._observation(state), reward, terminated, jnp.zeros_like(terminated)
        )

    def raw_observation(self, state: State) -> Int8[Array, ""]:
        """The rank on show: 0 (ace) to 12 (king)."""
        return state.deck[state.t]

    def optimal_action(self, state: State) -> Int32[Array, ""]:
        """The side with more cards left, which a player who counts the cards seen also knows."""
        higher, lower = self._left(state)
        return jnp.where(higher >= lower, HIGHER, LOWER)

    def render(self, state: State) -> str:
        higher, lower = self._left(state)
        sees = f"sees {SYMBOLS[RANKS][state.deck[state.t]]}"
        if state.t == self.longest:
            return f"{sees}   truth: no card is left"
        follows = SYMBOLS[RANKS][state.deck[state.t + 1]]
        return (
            f"{sees}   truth: {higher} higher and {lower} lower cards are left, {follows} is next"
        )

    def _left(self, state: State) -> tuple[Int32[Array, ""], Int32[Array, ""]]:
        """How many of the cards still to come are higher, and how many lower."""
        left = jnp.arange(state.deck.shape[0]) > state.t
        shown = state.deck[state.t]
        return jnp.sum(left & (state.deck > shown)), jnp.sum(left & (state.deck < shown))

    def _observation(self, state: State) -> Array:
        return one_hot((self.raw_observation(state), RANKS))


LEVELS = {"Easy": HigherLower(1), "Medium": HigherLower(2), "Hard": HigherLower(3)}
