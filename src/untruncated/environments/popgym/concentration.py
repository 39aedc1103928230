"""Concentration: cards lie face down; turn two over, and if they match they stay up."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int, Int8, Int32, PRNGKeyArray

from untruncated.environments.popgym.cards import (
    CARDS,
    COLOURS,
    RANKS,
    SYMBOLS,
    one_hot,
    shuffled_deck,
)
from untruncated.environments.popgym.rendering import board, side_by_side
from untruncated.environments.protocol import TimeStep, first_time_step

NONE = -1


class State(NamedTuple):
    """The table after a step.

    Attributes:
        deck: the kind of the card at each place.
        up: cards that stay face up, because they were matched.
        visible: cards that the present observation shows: those up and those just turned.
        first: the place of a card that was turned over and waits for a second, or -1.
        t: steps made.
    """

    deck: Int8[Array, " cards"]
    up: Bool[Array, " cards"]
    visible: Bool[Array, " cards"]
    first: Int32[Array, ""]
    t: Int32[Array, ""]


@dataclass(frozen=True)
class Concentration:
    """Reward for n cards and at most L = 2n steps: 2/n for a pair, -2/L for a turn without one.

    Turning over a card that is already up ends the turn: -1/L as its first card, -2/L as its
    second. The observation after a second card still shows both cards.

    Attributes:
        decks: number of decks of 52 cards.
        kinds: 2 or 13: whether cards match by colour or by rank.
    """

    decks: int = 1
    kinds: int = COLOURS

    @property
    def actions(self) -> int:
        return self.decks * CARDS

    @property
    def observation_size(self) -> int:
        return self.actions * (self.kinds + 1)

    @property
    def longest(self) -> int:
        return 2 * self.actions

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        down = jnp.zeros(self.actions, bool)
        deck = shuffled_deck(key, self.decks, self.kinds)
        state = State(deck, down, down, jnp.int32(NONE), jnp.int32(0))
        return state, first_time_step(self._observation(state))

    def step(self, state: State, action: Int[Array, ""]) -> tuple[State, TimeStep]:
        action = action.astype(jnp.int32)
        places = jnp.arange(self.actions, dtype=jnp.int32)
        is_second = state.first != NONE
        visible = state.up | (places == action) | (places == state.first)
        already_up = state.up[action]
        matches = (
            is_second
            & ~already_up
            & (action != state.first)
            & (state.deck[action] == state.deck[state.first])
        )
        up = jnp.where(matches, visible, state.up)
        waits = ~is_second & ~already_up
        state = State(
            state.deck, up, visible, jnp.where(waits, action, jnp.int32(NONE)), state.t + 1
        )
        reward = self._reward(matches, is_second, waits)
        return state, TimeStep(
            self._observation(state), reward, jnp.all(up), state.t >= self.longest
        )

    def _reward(
        self, matches: Bool[Array, ""], is_second: Bool[Array, ""], waits: Bool[Array, ""]
    ) -> Float32[Array, ""]:
        lost = jnp.float32(-1 / self.longest)
        without_pair = jnp.where(waits, 0, jnp.where(is_second, 2 * lost, lost))
        return jnp.where(matches, jnp.float32(2 / self.actions), without_pair)

    def raw_observation(self, state: State) -> Int8[Array, " cards"]:
        """The kind of each visible card; for the others, a number past the last kind."""
        return jnp.where(state.visible, state.deck, jnp.int8(self.kinds))

    def optimal_action(self, state: State) -> Int32[Array, ""]:
        """For who knows all cards: the lowest one that is down, then the lowest that matches it."""
        down = ~state.up
        mate = down & (state.deck == state.deck[state.first])
        mate &= jnp.arange(self.actions) != state.first
        return jnp.argmax(jnp.where(state.first == NONE, down, mate)).astype(jnp.int32)

    def remembering_action(
        self, state: State, seen: Bool[Array, " cards"]
    ) -> tuple[Int32[Array, ""], Bool[Array, " cards"]]:
        """For who starts blind and forgets nothing: a known pair if there is one, else a new card.

        A new card's mate, if known, is turned next; else another new card. This plain strategy is
        not proven to be the best for two kinds.

        Args:
            state: of which only what the observation shows is used, and the cards in `seen`.
            seen: cards seen so far, none at the start of an episode.

        Returns:
            The action, and the cards seen now.
        """
        seen = seen | state.visible
        down = seen & ~state.up
        kinds = jax.nn.one_hot(state.deck, self.kinds, dtype=jnp.int32)
        known = jnp.sum(kinds * down[:, None], axis=0)
        paired = down & (known[state.deck] >= 2)
        mate = down & (state.deck == state.deck[state.first])
        mate &= jnp.arange(self.actions) != state.first
        wanted = jnp.where(state.first == NONE, paired, mate)
        choice = jnp.where(jnp.any(wanted), wanted, ~seen)
        return jnp.argmax(choice).astype(jnp.int32), seen

    def render(self, state: State) -> str:
        names = [name[0] for name in SYMBOLS[self.kinds]] if self.kinds == COLOURS else SYMBOLS[13]
        truth = [names[kind].replace("10", "T") for kind in state.deck]
        seen = [name if shown else "·" for name, shown in zip(truth, state.visible, strict=True)]
        return side_by_side(board(seen, 13), board(truth, 13))

    def _observation(self, state: State) -> Array:
        return one_hot((self.raw_observation(state), self.kinds + 1))


LEVELS = {
    "Easy": Concentration(1, COLOURS),
    "Medium": Concentration(2, COLOURS),
    "Hard": Concentration(1, RANKS),
}
