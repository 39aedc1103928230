"""Autoencode: watch a deck being dealt, then name the suits of its cards from last to first."""

from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Int, Int32, PRNGKeyArray

from untruncated.environments.popgym.cards import (
    CARDS,
    SUITS,
    SYMBOLS,
    one_hot,
    shuffled_deck,
    win_or_lose,
)
from untruncated.environments.popgym.repeat_first import State
from untruncated.environments.protocol import TimeStep, first_time_step

PLAY, WATCH = 0, 1


@dataclass(frozen=True)
class Autoencode:
    """No reward while watching, then ±1/n for each of the n cards.

    The last card comes with mode 0, play. From then on the observation is mode 0 and suit 0,
    whatever is played. `t` of the state is the number of steps made.
    """

    decks: int = 1

    actions = SUITS
    observation_size = 2 + SUITS

    @property
    def cards(self) -> int:
        """Number of cards, n."""
        return self.decks * CARDS

    @property
    def longest(self) -> int:
        return 2 * self.cards - 1

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        state = State(shuffled_deck(key, self.decks, SUITS), jnp.int32(0))
        return state, first_time_step(self._observation(state))

    def step(self, state: State, action: Int[Array, ""]) -> tuple[State, TimeStep]:
        plays = state.t >= self.cards - 1
        outcome = win_or_lose(action == self.optimal_action(state), 1 / self.cards)
        state = State(state.deck, state.t + 1)
        terminated = state.t == self.longest
        return state, TimeStep(
            self._observation(state),
            jnp.where(plays, outcome, 0),
            terminated,
            jnp.zeros_like(terminated),
        )

    def raw_observation(self, state: State) -> tuple[Int32[Array, ""], Int32[Array, ""]]:
        """Mode (1 watch, 0 play) and suit."""
        mode = jnp.where(state.t < self.cards - 1, WATCH, PLAY)
        shown = state.deck[jnp.minimum(state.t, self.cards - 1)]
        return mode, jnp.where(state.t < self.cards, shown, 0)

    def optimal_action(self, state: State) -> Int[Array, ""]:
        # While watching, any action will do; the index is then clamped to the last card.
        return state.deck[jnp.minimum(2 * self.cards - 2 - state.t, self.cards - 1)]

    def render(self, state: State) -> str:
        suits, t = SYMBOLS[SUITS], int(state.t)
        mode, suit = self.raw_observation(state)
        sees = f"sees {('play', 'watch')[int(mode)]} {suits[int(suit)]}"
        if t < self.cards - 1:
            return f"{sees}   truth: card {t + 1} of {self.cards}, no answer yet"
        if t == self.longest:
            return f"{sees}   truth: all cards are named"
        return f"{sees}   truth: the answer is {suits[self.optimal_action(state)]}"

    def _observation(self, state: State) -> Array:
        mode, suit = self.raw_observation(state)
        return one_hot((mode, 2), (suit, SUITS))


LEVELS = {"Easy": Autoencode(1), "Medium": Autoencode(2), "Hard": Autoencode(3)}
