"""CountRecall: at every step a card is shown and another asked for: how often was it shown?"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, Int8, Int32, PRNGKeyArray

from untruncated.environments.popgym.cards import (
    CARDS,
    COLOURS,
    RANKS,
    SUITS,
    SYMBOLS,
    one_hot,
    shuffled_deck,
    win_or_lose,
)
from untruncated.environments.protocol import TimeStep, first_time_step


class State(NamedTuple):
    """Cards shown and cards asked for, in the order of dealing, and how often each was shown.

    `t` is the index of the card on show, which `counts` already holds.
    """

    values: Int8[Array, " cards"]
    queries: Int8[Array, " cards"]
    counts: Int32[Array, " kinds"]
    t: Int32[Array, ""]


@dataclass(frozen=True)
class CountRecall:
    """The action is the number, the present card included; ±1/(n - 1) an answer, for n cards.

    Attributes:
        decks: number of decks of 52 cards, from 1.
        kinds: 2, 4 or 13: whether cards are told apart by colour, suit or rank.
    """

    decks: int = 1
    kinds: int = COLOURS

    @property
    def actions(self) -> int:
        return self.decks * CARDS // self.kinds + 1

    @property
    def observation_size(self) -> int:
        return 2 * self.kinds

    @property
    def longest(self) -> int:
        return self.decks * CARDS - 1

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        value_key, query_key = jax.random.split(key)
        values = shuffled_deck(value_key, self.decks, self.kinds)
        queries = shuffled_deck(query_key, self.decks, self.kinds)
        state = State(values, queries, self._counted(values[0]), jnp.int32(0))
        return state, first_time_step(self._observation(state))

    def step(self, state: State, action: Int[Array, ""]) -> tuple[State, TimeStep]:
        reward = win_or_lose(action == self._count(state), 1 / self.longest)
        t = state.t + 1
        counts = state.counts + self._counted(state.values[t])
        state = State(state.values, state.queries, counts, t)
        terminated = t == self.longest
        return state, TimeStep(
            self._observation(state), reward, terminated, jnp.zeros_like(terminated)
        )

    def raw_observation(self, state: State) -> Int8[Array, "2"]:
        """The card on show, and the card asked for."""
        return jnp.stack(self._on_show(state))

    def optimal_action(self, state: State) -> Int32[Array, ""]:
        return self._count(state)

    def render(self, state: State) -> str:
        value, query = (SYMBOLS[self.kinds][int(kind)] for kind in self._on_show(state))
        return f"sees {value}, asked for {query}   truth: {query} was shown " + _times(
            int(self._count(state))
        )

    def _count(self, state: State) -> Int32[Array, ""]:
        """How often the card asked for was shown."""
        # A sum over a one-hot vector is faster than an index.
        return jnp.sum(state.counts * self._counted(self._on_show(state)[1]))

    def _on_show(self, state: State) -> tuple[Int8[Array, ""], Int8[Array, ""]]:
        # The reference variant makes one step more than there are cards.
        t = jnp.minimum(state.t, self.decks * CARDS - 1)
        return state.values[t], state.queries[t]

    def _counted(self, value: Int[Array, ""]) -> Int32[Array, " kinds"]:
        return jax.nn.one_hot(value, self.kinds, dtype=jnp.int32)

    def _observation(self, state: State) -> Array:
        value, query = self.raw_observation(state)
        return one_hot((value, self.kinds), (query, self.kinds))


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


LEVELS = {
    "Easy": CountRecall(1, COLOURS),
    "Medium": CountRecall(2, SUITS),
    "Hard": CountRecall(4, RANKS),
}
