"""Autoencode as in the RTU paper's public code, which shows nothing of what is to be recalled."""

from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Int, Int8

from untruncated.environments.popgym.autoencode import Autoencode
from untruncated.environments.popgym.cards import SUITS, SYMBOLS, one_hot, win_or_lose
from untruncated.environments.popgym.repeat_first import State
from untruncated.environments.protocol import TimeStep


@dataclass(frozen=True)
class AutoencodeReference(Autoencode):
    """Zeros while watching n cards; the last card at every step of the play. No mode is shown.

    The reward is ±1/n for each of n + 1 answers: the last answer, the first card, is asked for
    twice. Guessing earns -0.510 on Easy, and -0.471 for who names the last card first and then
    another suit. Memory of the observations cannot do better; counting rewards can, a little.
    """

    observation_size = SUITS

    @property
    def longest(self) -> int:
        return 2 * self.cards + 1

    def step(self, state: State, action: Int[Array, ""]) -> tuple[State, TimeStep]:
        plays = state.t >= self.cards
        outcome = win_or_lose(action == self.optimal_action(state), 1 / self.cards)
        state = State(state.deck, state.t + 1)
        terminated = state.t == self.longest
        return state, TimeStep(
            self._observation(state),
            jnp.where(plays, outcome, 0),
            terminated,
            jnp.zeros_like(terminated),
        )

    def raw_observation(self, state: State) -> Int8[Array, ""]:
        """The suit of the last card, -1 while watching."""
        return jnp.where(state.t < self.cards, jnp.int8(-1), state.deck[-1])

    def optimal_action(self, state: State) -> Int8[Array, ""]:
        """What only who knows the hidden deck can play."""
        return state.deck[jnp.clip(2 * self.cards - 1 - state.t, 0, self.cards - 1)]

    def render(self, state: State) -> str:
        suits, seen = SYMBOLS[SUITS], int(self.raw_observation(state))
        sees = "sees nothing" if seen < 0 else f"sees {suits[seen]}"
        asked = state.t >= self.cards
        answer = f"the answer is {suits[self.optimal_action(state)]}" if asked else "no answer yet"
        return f"{sees}   truth: {answer}"

    def _observation(self, state: State) -> Array:
        return one_hot((self.raw_observation(state), SUITS))


LEVELS = {
    "Easy": AutoencodeReference(1),
    "Medium": AutoencodeReference(2),
    "Hard": AutoencodeReference(3),
}
