"""What the two labyrinths share: moving through a maze and seeing the cells around."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int, Int8, Int32, PRNGKeyArray

from untruncated.environments.popgym.cards import one_hot
from untruncated.environments.popgym.maze import (
    GOAL,
    NEIGHBOURS,
    START,
    WALL,
    hunt_and_kill,
    random_entrances,
)
from untruncated.environments.popgym.rendering import side_by_side
from untruncated.environments.protocol import TimeStep, first_time_step

CELLS = 5  # values that a cell of the view may have; the last never appears
NO_ACTION = 4
STEP_COST = 1 / 1024
ARROWS = "←→↑↓·"


class State(NamedTuple):
    """The maze after a step.

    Attributes:
        grid: 0 free, 1 wall, 2 start, 3 goal.
        position: row and column of the agent.
        explored: cells in which the agent has been.
        last_action: 4 after a reset.
        t: steps made.
    """

    grid: Int8[Array, "size size"]
    position: Int32[Array, "2"]
    explored: Bool[Array, "size size"]
    last_action: Int32[Array, ""]
    t: Int32[Array, ""]


@dataclass(frozen=True)
class Labyrinth:
    """A maze of rooms × rooms rooms; the actions are left, right, up, down.

    A subclass says what is rewarded, what ends an episode, and whether there is a goal.
    """

    rooms: int = 5

    actions = 4
    observation_size = 9 * CELLS + NO_ACTION + 1
    longest = 1023
    has_goal = False

    @property
    def size(self) -> int:
        """Rows, and columns, of the grid."""
        return 2 * self.rooms + 1

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        maze_key, entrances_key = jax.random.split(key)
        start, goal = random_entrances(entrances_key, self.rooms)
        grid = hunt_and_kill(maze_key, self.rooms).at[tuple(start)].set(START)
        if self.has_goal:
            grid = grid.at[tuple(goal)].set(GOAL)
        explored = jnp.zeros(grid.shape, bool).at[tuple(start)].set(True)
        state = State(grid, start, explored, jnp.int32(NO_ACTION), jnp.int32(0))
        return state, first_time_step(self._observation(state))

    def step(self, state: State, action: Int[Array, ""]) -> tuple[State, TimeStep]:
        action = action.astype(jnp.int32)
        target = jnp.clip(state.position + jnp.asarray(NEIGHBOURS)[action], 0, self.size - 1)
        blocked = state.grid[tuple(target)] == WALL
        position = jnp.where(blocked, state.position, target)
        explored = state.explored.at[tuple(position)].set(True)
        after = State(state.grid, position, explored, action, state.t + 1)
        reward, terminated = self._outcome(state, after)
        truncated = after.t == self.longest
        return after, TimeStep(self._observation(after), reward, terminated, truncated)

    def _outcome(self, before: State, after: State) -> tuple[Float32[Array, ""], Bool[Array, ""]]:
        """Reward of a step, and whether it ends the episode."""
        raise NotImplementedError

    def raw_observation(self, state: State) -> Int32[Array, "10"]:
        """The 3 × 3 cells around the agent, row by row, then the last action.

        Beyond the border is wall. At the first row (or column) the view starts with the agent's
        own and ends with wall, as in the package: there the agent does not stand in the middle.
        """
        first = jnp.maximum(state.position - 1, 0)
        lines = first[:, None] + jnp.arange(3)
        known = (lines <= state.position[:, None] + 1) & (lines < self.size)
        rows, columns = jnp.minimum(lines, self.size - 1)
        view = state.grid[rows[:, None], columns]
        view = jnp.where(known[0][:, None] & known[1], view, WALL)
        return jnp.append(view.reshape(-1).astype(jnp.int32), state.last_action)

    def render(self, state: State) -> str:
        raw = self.raw_observation(state)
        symbols = (" ", "█", "S", "G")
        view = ["".join(symbols[cell] for cell in row) for row in raw[:9].reshape(3, 3)]
        truth = [
            "".join(
                "·" if seen and cell == 0 else symbols[cell]
                for cell, seen in zip(row, seen_row, strict=True)
            )
            for row, seen_row in zip(state.grid, state.explored, strict=True)
        ]
        row, column = map(int, state.position)
        truth[row] = truth[row][:column] + "@" + truth[row][column + 1 :]
        return side_by_side([*view, f"last action {ARROWS[int(raw[9])]}"], truth)

    def _observation(self, state: State) -> Array:
        raw = self.raw_observation(state)
        return one_hot((raw[:9], CELLS), (raw[9], NO_ACTION + 1))
