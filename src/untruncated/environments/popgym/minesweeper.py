"""MineSweeper: open every cell without a mine; the only news is the number of mines around."""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Int8, Int32, PRNGKeyArray

from untruncated.environments.popgym.cards import one_hot, shuffled
from untruncated.environments.popgym.rendering import board, side_by_side
from untruncated.environments.protocol import TimeStep, first_time_step


class State(NamedTuple):
    """The board after a step; cells are numbered row by row.

    Attributes:
        mines: cells with a mine.
        around: number of mines in the block of nine cells around each cell.
        opened: cells without a mine that were opened.
        news: the number that the last click showed; 0 before the first.
        t: steps made.
    """

    mines: Bool[Array, " cells"]
    around: Int8[Array, " cells"]
    opened: Bool[Array, " cells"]
    news: Int8[Array, ""]
    t: Int32[Array, ""]


@dataclass(frozen=True)
class MineSweeper:
    """Reward with c clear cells: 1/c for a new one, -0.5/(c - 2) for an old one, then a mine's.

    A mine costs 0.5 + 1/c and ends the episode, as do all clear cells opened, and c steps. One
    click opens one cell. The package's action is a pair (row, column); here it is one number,
    row · size + column.
    """

    size: int = 4
    mines: int = 2

    @property
    def actions(self) -> int:
        return self.size**2

    @property
    def observation_size(self) -> int:
        return min(self.mines + 1, 10)

    @property
    def longest(self) -> int:
        return self.size**2 - self.mines

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        mines = shuffled(key, self.actions) < self.mines
        opened = jnp.zeros(self.actions, bool)
        state = State(mines, self._around(mines), opened, jnp.int8(0), jnp.int32(0))
        return state, first_time_step(self._observation(state))

    def _around(self, mines: Bool[Array, " cells"]) -> Int8[Array, " cells"]:
        size = self.size
        padded = jnp.pad(mines.reshape(size, size).astype(jnp.int8), 1)
        shifts = [padded[i : i + size, j : j + size] for i, j in np.ndindex(3, 3)]
        return jnp.sum(jnp.stack(shifts), axis=0, dtype=jnp.int8).reshape(-1)

    def step(self, state: State, action: Int[Array, ""]) -> tuple[State, TimeStep]:
        clear = self.longest
        target = jnp.arange(self.actions, dtype=jnp.int32) == action
        mine, old = state.mines[action], state.opened[action]
        opened = state.opened | (target & ~state.mines)
        state = State(state.mines, state.around, opened, state.around[action], state.t + 1)
        again = jnp.where(old, jnp.float32(-0.5 / (clear - 2)), jnp.float32(1 / clear))
        reward = jnp.where(mine, jnp.float32(-0.5 - 1 / clear), again)
        terminated = mine | jnp.all(state.mines | opened)
        truncated = (state.t == self.longest) & ~terminated
        return state, TimeStep(self._observation(state), reward, terminated, truncated)

    def raw_observation(self, state: State) -> Int8[Array, ""]:
        """Mines in the block of nine cells around the last click; 0 before the first."""
        return state.news

    def optimal_action(self, state: State) -> Int32[Array, ""]:
        return jnp.argmax(~(state.mines | state.opened)).astype(jnp.int32)

    def render(self, state: State) -> str:
        truth = [
            "*" if mine else str(around) if opened else "·"
            for mine, around, opened in zip(state.mines, state.around, state.opened, strict=True)
        ]
        return side_by_side([f"{state.news} around"], board(truth, self.size))

    def _observation(self, state: State) -> Array:
        return one_hot((state.news, self.observation_size))


LEVELS = {"Easy": MineSweeper(4, 2), "Medium": MineSweeper(6, 6), "Hard": MineSweeper(8, 10)}
