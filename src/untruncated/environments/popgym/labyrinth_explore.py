"""LabyrinthExplore: visit every cell of a maze."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32

from untruncated.environments.popgym.labyrinth import STEP_COST, Labyrinth, State
from untruncated.environments.popgym.maze import FREE, START, WALL, distances, neighbours


@dataclass(frozen=True)
class LabyrinthExplore(Labyrinth):
    """Moves: left, right, up, down. Reward 1/F for each new one of F free cells, else -1/1024."""

    def _outcome(self, before: State, after: State) -> tuple[Float32[Array, ""], Bool[Array, ""]]:
        new = ~before.explored[tuple(after.position)]
        free = jnp.sum(after.grid == FREE)
        reward = jnp.where(new, 1 / free.astype(jnp.float32), jnp.float32(-STEP_COST))
        return reward, jnp.all((after.grid != WALL) == after.explored)

    def optimal_action(self, state: State) -> Int32[Array, ""]:
        """Into the unexplored branch of least depth, or back where there is none.

        A maze is a tree. Whoever explores it walks every passage twice, except for the passages
        from the start to the last cell; so the deepest branch is best left for the end.
        """
        is_open = state.grid != WALL
        start = jnp.stack(jnp.unravel_index(jnp.argmax(state.grid == START), state.grid.shape))
        far = state.grid.size
        depth = distances(is_open, start)
        depth = jnp.where(depth == far, -far, depth)
        deepest = _deepest_below(depth)
        row, column = state.position
        around = neighbours(depth, -far)[:, row, column]
        unexplored = ~neighbours(state.explored, 1)[:, row, column]
        below = jnp.where(
            (around > depth[row, column]) & unexplored,
            neighbours(deepest, far)[:, row, column],
            far,
        )
        back = around == depth[row, column] - 1
        return jnp.where(jnp.any(below < far), jnp.argmin(below), jnp.argmax(back)).astype(
            jnp.int32
        )


def _deepest_below(depth: Int32[Array, "size size"]) -> Int32[Array, "size size"]:
    """The greatest depth in the branch that begins at each cell."""
    outside = int(-depth.size)

    def raised(pair: tuple[Array, Array]) -> tuple[Array, Array]:
        now, _ = pair
        is_child = neighbours(depth, outside) == depth + 1
        below = jnp.where(is_child, neighbours(now, outside), outside)
        return jnp.maximum(now, jnp.max(below, axis=0)), now

    return jax.lax.while_loop(lambda p: jnp.any(p[0] != p[1]), raised, (depth, depth - 1))[0]


LEVELS = {"Easy": LabyrinthExplore(5), "Medium": LabyrinthExplore(7), "Hard": LabyrinthExplore(9)}
