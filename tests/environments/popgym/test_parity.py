"""Games without chance in their steps equal the package's, episode by episode.

Every episode starts in a state that the package's own reset has made.
"""

import numpy as np
import pytest

from untruncated.environments.popgym import (
    battleship,
    concentration,
    count_recall,
    labyrinth,
    minesweeper,
    repeat_first,
)

LEVELS = ["Easy", "Medium", "Hard"]
START = np.int32(0)


def dealt(deck, kinds):
    """The package deals from the end of its deck."""
    return kinds[deck.idx[::-1]].astype(np.int8)


def suits(package):
    return repeat_first.State(dealt(package.deck, package.deck.suits_idx), START)


def ranks(package):
    return repeat_first.State(dealt(package.deck, package.deck.ranks_idx), START)


def values_and_queries(package):
    values, queries = (
        dealt(deck, package.deck_idx_type) for deck in (package.value_deck, package.query_deck)
    )
    return count_recall.State(values, queries, package.counts.astype(np.int32), START)


def table(package):
    down = np.zeros(len(package.deck), bool)
    deck = package.deck_idx_type[package.deck.idx].astype(np.int8)
    return concentration.State(deck, down, down, np.int32(-1), START)


def ships(package):
    board = package.board.ravel().astype(bool)
    return battleship.State(board, np.zeros_like(board), START, np.bool(False), START)


def mines(package):
    cells = package.hidden_grid.ravel() == 1
    around = package.neighbor_grid.ravel().astype(np.int8)
    return minesweeper.State(cells, around, np.zeros_like(cells), np.int8(0), START)


def maze(package):
    explored = package.explored.astype(bool)
    grid, position = package.maze.grid.astype(np.int8), np.array(package.position, np.int32)
    return labyrinth.State(grid, position, explored, np.int32(4), START)


def card_off(index, kinds):
    """A state whose deck has another card at one place."""

    def broken(state):
        state.deck[index] = (state.deck[index] + 1) % kinds
        return state

    return broken


def value_off(state):
    state.values[-1] ^= 1
    return state


def query_off(state):
    state.queries[10] ^= 1
    return state


def count_off(state):
    state.counts[0] += 1
    return state


def ship_cell_off(state):
    """A ship's first cell is elsewhere."""
    state.ships[[state.ships.argmax(), state.ships.argmin()]] ^= True
    return state


def mine_off(state):
    """The first mine is elsewhere; the numbers around tell of the old place."""
    state.mines[[state.mines.argmax(), state.mines.argmin()]] ^= True
    return state


def number_off(state):
    state.around[5] ^= 1
    return state


def wall_off(state):
    """A free cell near the start is a wall."""
    row, column = np.clip(state.position, 1, state.grid.shape[0] - 2)
    around = state.grid[row - 1 : row + 2, column - 1 : column + 2]
    around.flat[around.argmin()] = 1
    return state


# Per family: how its state is read from the package's, and how it can be off by a little.
GAMES = {
    "RepeatFirst": (suits, [card_off(0, 4), card_off(-1, 4)]),
    "RepeatPrevious": (suits, [card_off(0, 4), card_off(30, 4)]),
    "Autoencode": (suits, [card_off(0, 4), card_off(-1, 4)]),
    "CountRecall": (values_and_queries, [value_off, query_off, count_off]),
    "HigherLower": (ranks, [card_off(0, 13), card_off(-1, 13)]),
    "Concentration": (table, [card_off(0, 2), card_off(-1, 2)]),
    "Battleship": (ships, [ship_cell_off]),
    "MineSweeper": (mines, [mine_off, number_off]),
    "LabyrinthEscape": (maze, [wall_off]),
    "LabyrinthExplore": (maze, [wall_off]),
}
BROKEN = [(family, broken) for family, (_, all_broken) in GAMES.items() for broken in all_broken]


def steps_from_start(state):
    """Breadth first, cell by cell: how far each open cell is from the start."""
    found, edge = {tuple(state.position): 0}, [tuple(state.position)]
    for row, column in edge:
        for there in ((row, column - 1), (row, column + 1), (row - 1, column), (row + 1, column)):
            inside = all(0 <= line < len(state.grid) for line in there)
            if inside and state.grid[there] != 1 and there not in found:
                found[there] = found[row, column] + 1
                edge.append(there)
    return found


def best_return(family, state):
    """Of one episode, with what is hidden known."""
    if family == "LabyrinthEscape":
        goal = tuple(np.argwhere(state.grid == 3)[0])
        return 1 - steps_from_start(state)[goal] / 1024
    if family == "LabyrinthExplore":
        # In a tree every passage is walked twice but those on the way to the last cell.
        steps = steps_from_start(state)
        return 1 - (len(steps) - 1 - max(steps.values())) / 1024
    return 1


@pytest.fixture
def game(parity):
    return lambda family, level: parity(family + level, GAMES[family][0])


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("family", GAMES)
def test_random_episodes_equal_the_packages(game, family, level):
    game(family, level).check("random")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("family", GAMES)
def test_optimal_episodes_equal_the_packages_and_earn_the_best_return(game, family, level):
    returns = game(family, level).check("optimal")
    if family != "HigherLower":
        best = [best_return(family, start) for start in game(family, level).starts]
        np.testing.assert_allclose(returns, best, atol=1e-9)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("family", "broken"), BROKEN)
def test_a_state_that_is_slightly_off_is_noticed(game, family, broken, level):
    game(family, level).check_that_it_notices(broken)
