"""RepeatPrevious: cards are shown one after the other; name the suit shown k - 1 steps ago."""

from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Int, Int8, PRNGKeyArray

from untruncated.environments.popgym.cards import CARDS, SUITS, SYMBOLS, one_hot, shuffled_deck
from untruncated.environments.popgym.repeat_first import State
from untruncated.environments.protocol import TimeStep, first_time_step


@dataclass(frozen=True)
class RepeatPrevious:
    """No reward until k cards have been shown, then ±1/(n - k) an answer, for n cards.

    The card on show counts as the first of the k, so that k = 1 would ask for what is seen.
    """

    decks: int = 1
    k: int = 4

    actions = SUITS
    observation_size = SUITS

    @property
    def longest(self) -> int:
        return self.decks * CARDS - 1

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        state = State(shuffled_deck(key, self.decks, SUITS), jnp.int32(0))
        return state, first_time_step(self._observation(state))

    def step(self, state: State, action: Int[Array, ""]) -> tuple[State, TimeStep]:
        asked = state.t + 1 >= self.k
        right = action == self.optimal_action(state)
        scale = jnp.float32(1 / (self.decks * CARDS - self.k))
        reward = jnp.where(asked, jnp.where(right, scale, -scale), 0)
        state = State(state.deck, state.t + 1)
        terminated = state.t == self.longest
        return state, TimeStep(
            self._observation(state), reward, terminated, jnp.zeros_like(terminated)
        )

    def raw_observation(self, state: State) -> Int8[Array, ""]:
        """The suit on show: 0 to 3 for spades, diamonds, clubs, hearts."""
        return state.deck[state.t]

    def optimal_action(self, state: State) -> Int8[Array, ""]:
        return state.deck[jnp.maximum(state.t - self.k + 1, 0)]

    def render(self, state: State) -> str:
        suits, t = SYMBOLS[SUITS], int(state.t)
        asked = suits[state.deck[t - self.k + 1]] if t + 1 >= self.k else "nothing yet"
        return f"sees {suits[state.deck[t]]}   truth: the answer is {asked}"

    def _observation(self, state: State) -> Array:
        return one_hot((self.raw_observation(state), SUITS))


LEVELS = {
    "Easy": RepeatPrevious(1, 4),
    "Medium": RepeatPrevious(2, 32),
    "Hard": RepeatPrevious(3, 64),
}
