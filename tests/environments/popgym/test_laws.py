"""What resets draw follows the package's law: decks, ships, mines."""

from functools import partial

import jax
import numpy as np
import popgym.envs
import pytest
from scipy import stats

from untruncated.environments.popgym.battleship import LEVELS as BATTLESHIPS
from untruncated.environments.popgym.cards import shuffled, shuffled_deck
from untruncated.environments.popgym.minesweeper import LEVELS as MINES

DRAWS = 3000
quick = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


def keys(seed, count=DRAWS):
    return jax.random.split(jax.random.key(seed), count)


@pytest.mark.parametrize("size", [52, 104])
def test_every_card_is_equally_likely_at_every_place(size):
    orders = np.asarray(quick(jax.vmap(lambda key: shuffled(key, size)))(keys(0)))
    np.testing.assert_array_equal(np.sort(orders, axis=1), np.tile(np.arange(size), (DRAWS, 1)))
    counts = np.stack([np.bincount(place, minlength=size) for place in orders.T])
    # Rows and columns of the table have fixed sums.
    expected = DRAWS / size
    statistic = ((counts - expected) ** 2 / expected).sum()
    assert 1e-3 < stats.chi2.sf(statistic, (size - 1) ** 2) < 1 - 1e-3
    # Neighbours in the deck are no more alike than any two cards.
    successor = (orders[:, 1:] - orders[:, :-1]) % size
    assert stats.chisquare(np.bincount(successor.ravel(), minlength=size)[1:]).pvalue > 1e-3


@pytest.mark.parametrize(("decks", "kinds"), [(1, 2), (16, 4), (4, 13)])
def test_a_deck_has_every_kind_equally_often(decks, kinds):
    dealt = np.asarray(quick(jax.vmap(lambda key: shuffled_deck(key, decks, kinds)))(keys(1, 20)))
    assert dealt.dtype == np.int8
    for deck in dealt:
        np.testing.assert_array_equal(np.bincount(deck), [52 * decks // kinds] * kinds)


def boards(level):
    """Boards of the package, and ours."""
    package, theirs = getattr(popgym.envs, f"Battleship{level}")(), []
    for seed in range(DRAWS // 4):
        package.reset(seed=seed)
        theirs.append(package.board.astype(bool))
    state, _ = quick(jax.vmap(BATTLESHIPS[level].reset))(keys(2))
    return np.array(theirs), np.asarray(state.ships).reshape(-1, *theirs[0].shape)


def largest_z(a, b):
    """Of the differences between two samples of boards: ship cells as far from the border."""
    size = a.shape[1]
    line = np.minimum(np.arange(size), np.arange(size)[::-1])
    depth = np.minimum.outer(line, line)
    rings = np.stack([depth == d for d in range(size // 2)]).reshape(size // 2, -1)
    p, q = (boards.reshape(len(boards), -1) @ rings.T.astype(float) for boards in (a, b))
    error = np.sqrt(p.var(axis=0) / len(p) + q.var(axis=0) / len(q))
    return (np.abs(p.mean(axis=0) - q.mean(axis=0)) / error).max()


@pytest.mark.parametrize("level", BATTLESHIPS)
def test_ships_lie_where_the_packages_do(level):
    theirs, mine = boards(level)
    assert (mine.sum(axis=(1, 2)) == 12).all()
    assert largest_z(theirs, mine) < 4
    pairs = [
        ((b[:, 1:] & b[:, :-1]).sum(axis=(1, 2)), (b[..., 1:] & b[..., :-1]).sum(axis=(1, 2)))
        for b in (theirs, mine)
    ]
    for a, b in zip(*pairs, strict=True):
        assert stats.ks_2samp(a, b).pvalue > 1e-3
    # Boards whose border columns lie in the middle are noticed: ships are rarer at the border.
    assert largest_z(theirs, np.roll(mine, mine.shape[2] // 2, axis=2)) > 5


@pytest.mark.parametrize("level", MINES)
def test_mines_are_equally_likely_everywhere(level):
    game = MINES[level]
    state, _ = quick(jax.vmap(game.reset))(keys(3))
    mines = np.asarray(state.mines)
    assert (mines.sum(axis=1) == game.mines).all()
    # Without replacement, so the chi-square statistic shrinks by the fraction of clear cells.
    counts = mines.sum(axis=0)
    expected = DRAWS * game.mines / game.actions
    statistic = ((counts - expected) ** 2 / expected).sum() / (
        1 - (game.mines - 1) / (game.actions - 1)
    )
    assert 1e-3 < stats.chi2.sf(statistic, game.actions - 1) < 1 - 1e-3
