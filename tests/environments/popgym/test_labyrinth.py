"""Mazes follow mazelib's law; the ways through them are shortest."""

import random
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mazelib import Maze
from mazelib.generate.BacktrackingGenerator import BacktrackingGenerator
from mazelib.generate.HuntAndKill import HuntAndKill
from scipy import stats

from untruncated.environments.popgym.maze import (
    distances,
    hunt_and_kill,
    neighbours,
    random_entrances,
)

MAZES = 1000
quick = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 1})


@quick
@jax.vmap
def statistics(grid, start, goal):
    """Dead ends, straight corridor rooms, steps from start to goal, cells that are reached."""
    is_open = (grid == 0).at[tuple(start)].set(True).at[tuple(goal)].set(True)
    left, right, up, down = neighbours((grid == 0).astype(jnp.int32), 0)[:, 1::2, 1::2]
    passages = left + right + up + down
    straight = (passages == 2) & ((left + right == 2) | (up + down == 2))
    steps = distances(is_open, start)
    reached = jnp.sum((steps < grid.size) & is_open)
    return jnp.sum(passages == 1), jnp.sum(straight), steps[tuple(goal)], reached


def mazelibs(rooms, mazes, algorithm=HuntAndKill):
    """Grids, starts and goals as the package's reset asks mazelib for them."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - mazelib draws from this generator, too
    made = []
    for _ in range(mazes):
        maze = Maze()
        maze.generator = algorithm(rooms, rooms)
        maze.generate()
        maze.generate_entrances(start_outer=True)
        made.append((maze.grid, maze.start, maze.end))
    return [np.array(part) for part in zip(*made, strict=True)]


@partial(quick, static_argnums=1)
def ours(keys, rooms):
    grids = jax.vmap(lambda key: hunt_and_kill(key, rooms))(keys)
    return grids, *jax.vmap(lambda key: random_entrances(key, rooms))(keys)


@pytest.mark.parametrize(("rooms", "mazes"), [(5, 1000), (9, 500)])
def test_mazes_follow_mazelibs_law(rooms, mazes):
    made = ours(jax.random.split(jax.random.key(0), mazes), rooms)
    mine = list(map(np.asarray, statistics(*made)))
    theirs = list(map(np.asarray, statistics(*mazelibs(rooms, mazes // 2))))
    # All rooms, the walls between them on a tree, start and goal. Hunting at random may give up
    # before it has found the last room, but hardly ever does.
    for reached in (mine[3], theirs[3]):
        assert (reached == 2 * rooms**2 + 1).mean() > 0.98
    assert len(np.unique(made[0], axis=0)) > 0.99 * mazes
    for a, b in zip(mine[:3], theirs[:3], strict=True):
        assert stats.ks_2samp(a, b).pvalue > 1e-3
        assert abs(a.mean() - b.mean()) < 4 * np.sqrt(a.var() / len(a) + b.var() / len(b))
    # Another way to make mazes, just as random, is noticed.
    other = list(map(np.asarray, statistics(*mazelibs(rooms, mazes // 2, BacktrackingGenerator))))
    assert min(stats.ks_2samp(a, b).pvalue for a, b in zip(mine[:3], other[:3], strict=True)) < 1e-3


def test_entrances_are_opposite_and_uniform():
    _, starts, goals = map(np.asarray, ours(jax.random.split(jax.random.key(1), MAZES), 5))
    outer = (starts % 10 == 0) | (starts == 10)
    assert (outer.sum(axis=1) == 1).all()
    axis = outer.argmax(axis=1)
    rows = np.arange(MAZES)
    assert (starts[rows, axis] + goals[rows, axis] == 10).all()
    sides = 2 * axis + starts[rows, axis] // 10
    assert stats.chisquare(np.bincount(sides, minlength=4)).pvalue > 1e-3
    for places in (starts[rows, 1 - axis], goals[rows, 1 - axis]):
        values, counts = np.unique(places, return_counts=True)
        np.testing.assert_array_equal(values, [1, 3, 5, 7, 9])
        assert stats.chisquare(counts).pvalue > 1e-3


def test_distances_by_hand():
    is_open = jnp.array([[1, 1, 0], [0, 1, 0], [0, 1, 1], [1, 0, 0]], bool)
    found = distances(is_open, jnp.array([0, 0]))
    np.testing.assert_array_equal(found, [[0, 1, 12], [12, 2, 12], [12, 3, 4], [12, 12, 12]])
