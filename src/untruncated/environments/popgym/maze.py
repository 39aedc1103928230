"""Mazes by hunt-and-kill, as mazelib 0.9.16 makes them for the labyrinths."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int8, Int32, PRNGKeyArray

FREE, WALL, START, GOAL = 0, 1, 2, 3
# Rows and columns of the neighbours: left, right, up, down, in the order of the actions.
NEIGHBOURS = np.array([(0, -1), (0, 1), (-1, 0), (1, 0)], np.int32)


class _Walk(NamedTuple):
    key: PRNGKeyArray
    grid: Int8[Array, "size size"]
    cell: Int32[Array, "2"]
    hunts: Int32[Array, ""]


def hunt_and_kill(key: PRNGKeyArray, rooms: int) -> Int8[Array, "size size"]:
    """Walls and free cells of a maze of rooms × rooms rooms on a grid of size 2 · rooms + 1.

    Walk at random from room to unvisited neighbouring room, breaking the walls between. Where
    there is none left, pick any room; if it was visited, walk on from there. The package ends
    after size² picks. Here it also ends once every room was visited, since nothing changes then.
    """
    size = 2 * rooms + 1
    key, start_key = jax.random.split(key)
    cell = _random_room(start_key, rooms)
    grid = jnp.full((size, size), WALL, jnp.int8).at[tuple(cell)].set(FREE)

    def unfinished(walk: _Walk) -> Bool[Array, ""]:
        return (walk.hunts <= size**2) & jnp.any(walk.grid[1::2, 1::2] == WALL)

    def advance(walk: _Walk) -> _Walk:
        key, turn_key, room_key = jax.random.split(walk.key, 3)
        targets = walk.cell + 2 * NEIGHBOURS
        inside = jnp.all((targets > 0) & (targets < size), axis=1)
        targets = jnp.clip(targets, 0, size - 1)
        new = inside & (walk.grid[targets[:, 0], targets[:, 1]] == WALL)
        walks = jnp.any(new) & (walk.grid[tuple(walk.cell)] == FREE)
        # A random one of the new neighbours: the largest of four random numbers.
        turn = jnp.argmax(jnp.where(new, jax.random.uniform(turn_key, (4,)), -1.0))
        target = jnp.where(walks, targets[turn], walk.cell)
        opened = jnp.where(walks, jnp.int8(FREE), walk.grid[tuple(walk.cell)])
        between = (target + walk.cell) // 2
        grid = walk.grid.at[tuple(target)].set(opened).at[tuple(between)].set(opened)
        cell = jnp.where(walks, target, _random_room(room_key, rooms))
        return _Walk(key, grid, cell, walk.hunts + ~walks)

    return jax.lax.while_loop(unfinished, advance, _Walk(key, grid, cell, jnp.int32(0))).grid


def random_entrances(key: PRNGKeyArray, rooms: int) -> tuple[Int32[Array, "2"], Int32[Array, "2"]]:
    """Start and goal in opposite outer walls, each beside a random room."""
    side_key, places_key = jax.random.split(key)
    side = jax.random.randint(side_key, (), 0, 4)
    first, second = 1 + 2 * jax.random.randint(places_key, (2,), 0, rooms)
    near, far = jnp.int32(0), jnp.int32(2 * rooms)
    starts_far = side % 2 == 1
    outer = jnp.where(starts_far, far, near), jnp.where(starts_far, near, far)
    start, goal = jnp.stack([outer[0], first]), jnp.stack([outer[1], second])
    flips = side >= 2
    return jnp.where(flips, start[::-1], start), jnp.where(flips, goal[::-1], goal)


def distances(
    open_cells: Bool[Array, "size size"], source: Int32[Array, "2"]
) -> Int32[Array, "size size"]:
    """Steps from `source` to each open cell; the number of cells where it cannot be reached."""
    far = open_cells.size
    start = jnp.full(open_cells.shape, far, jnp.int32).at[tuple(source)].set(0)

    def relax(pair: tuple[Array, Array]) -> tuple[Array, Array]:
        now, _ = pair
        near = jnp.min(neighbours(now, far), axis=0) + 1
        return jnp.where(open_cells, jnp.minimum(now, near), far), now

    return jax.lax.while_loop(lambda p: jnp.any(p[0] != p[1]), relax, (start, start - 1))[0]


def neighbours(values: Array, outside: int) -> Array:
    """The value left of, right of, above and below each cell, along a new first axis."""
    rows, columns = values.shape
    padded = jnp.pad(values, 1, constant_values=outside)
    return jnp.stack([padded[1 + i : 1 + i + rows, 1 + j : 1 + j + columns] for i, j in NEIGHBOURS])


def _random_room(key: PRNGKeyArray, rooms: int) -> Int32[Array, "2"]:
    return 1 + 2 * jax.random.randint(key, (2,), 0, rooms)
