"""LabyrinthEscape: find the way out of a maze."""

from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32

from untruncated.environments.popgym.labyrinth import STEP_COST, Labyrinth, State
from untruncated.environments.popgym.maze import GOAL, WALL, distances, neighbours


@dataclass(frozen=True)
class LabyrinthEscape(Labyrinth):
    """Moves: left, right, up, down. Reward -1/1024 a step, and 1 more at the goal, the end."""

    has_goal = True

    def _outcome(self, before: State, after: State) -> tuple[Float32[Array, ""], Bool[Array, ""]]:
        found = after.grid[tuple(after.position)] == GOAL
        return found.astype(jnp.float32) - jnp.float32(STEP_COST), found

    def optimal_action(self, state: State) -> Int32[Array, ""]:
        """A step on a shortest way to the goal."""
        goal = jnp.stack(jnp.unravel_index(jnp.argmax(state.grid), state.grid.shape))
        to_go = distances(state.grid != WALL, goal)
        row, column = state.position
        return jnp.argmin(neighbours(to_go, state.grid.size)[:, row, column]).astype(jnp.int32)


LEVELS = {"Easy": LabyrinthEscape(5), "Medium": LabyrinthEscape(7), "Hard": LabyrinthEscape(9)}
