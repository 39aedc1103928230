"""What the variants of the RTU paper's public code allow: they cannot be solved."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from untruncated.environments.popgym.cards import CARDS
from untruncated.environments.popgym.registry import make

EPISODES = 1000
LEVELS = ["Easy", "Medium", "Hard"]


@partial(jax.jit, static_argnums=(0, 1), compiler_options={"xla_backend_optimization_level": 0})
def played(game, policy, key):
    """Time steps of many episodes; the policy sees the state, and a key of its own."""

    def episode(key):
        state, first = game.reset(key)

        def step(state, t):
            action = policy(state, jax.random.fold_in(key, t))
            return game.step(state, action)

        _, shown = jax.lax.scan(step, state, jnp.arange(game.longest))
        return first, shown

    return jax.vmap(episode)(jax.random.split(key, EPISODES))


def ceiling(cards, kinds):
    """Mean return of perfect memory where only 0 and 1 can be named: hypergeometric counts."""
    t = np.arange(cards)
    nameable = stats.hypergeom.cdf(1, cards, cards // kinds, t)
    return 2 * nameable.mean() - 1


@pytest.mark.parametrize(
    ("level", "kinds", "decks", "best"),
    [("Easy", 2, 1, -0.8490), ("Medium", 4, 2, -0.8504), ("Hard", 13, 4, -0.7636)],
)
def test_count_recall_with_two_actions_cannot_be_won(level, kinds, decks, best):
    game = make(f"CountRecall{level}", fidelity="reference")
    assert ceiling(decks * CARDS, kinds) == pytest.approx(best, abs=5e-5)
    assert (game.actions, game.longest) == (2, decks * CARDS)
    first, shown = played(game, lambda state, _: game.optimal_action(state), jax.random.key(0))
    returns = np.asarray(shown.reward).sum(axis=1)
    assert abs(returns.mean() - best) < 4 * returns.std() / np.sqrt(EPISODES)
    np.testing.assert_allclose(np.abs(shown.reward), 1 / (decks * CARDS), rtol=1e-6)
    assert (shown.terminated.sum(axis=1) == 1).all() and shown.terminated[:, -1].all()
    assert first.observation.shape == (EPISODES, 2 * kinds)


def test_count_recall_counts_a_card_after_its_own_query():
    game = make("CountRecallEasy", fidelity="reference")
    _, shown = played(game, lambda state, _: jnp.int32(0), jax.random.key(1))
    # The first answer is 0 for certain; the second in about half of the episodes.
    right = np.asarray(shown.reward) > 0
    assert right[:, 0].all()
    assert 0.4 < right[:, 1].mean() < 0.6


@pytest.mark.parametrize("level", LEVELS)
def test_autoencode_shows_nothing_of_what_is_to_be_recalled(level):
    game = make(f"Autoencode{level}", fidelity="reference")
    n = game.cards
    first, shown = played(game, lambda state, _: state.deck[-1], jax.random.key(2))
    seen = np.concatenate([first.observation[:, None], shown.observation], axis=1)
    assert seen.shape == (EPISODES, 2 * n + 2, 4)
    assert (seen[:, :n] == 0).all()
    assert (seen[:, n:] == seen[:, n : n + 1]).all() and (seen[:, n].sum(axis=1) == 1).all()
    reward = np.asarray(shown.reward)
    assert (reward[:, :n] == 0).all()
    np.testing.assert_allclose(np.abs(reward[:, n:]), 1 / n, rtol=1e-6)
    # The first answer is the card that is shown with it.
    assert (reward[:, n] > 0).all()
    assert shown.terminated[:, -1].all() and not shown.terminated[:, :-1].any()


@pytest.mark.parametrize(
    ("level", "blind", "best"),
    [("Easy", -0.5096, -0.4710), ("Medium", -0.5048, -0.4855), ("Hard", -0.5032, -0.4904)],
)
def test_what_autoencode_earns_without_rewards(level, blind, best):
    game = make(f"Autoencode{level}", fidelity="reference")
    n = game.cards

    def at_random(state, key):
        return jax.random.randint(key, (), 0, 4)

    def another_suit(state, key):
        return (state.deck[-1] + (state.t > n)) % 4

    assert -(n + 1) / (2 * n) == pytest.approx(blind, abs=5e-5)
    assert (1 + n * (2 * (n / 4) / (n - 1) - 1)) / n == pytest.approx(best, abs=5e-5)
    for policy, expected in ((at_random, blind), (another_suit, best)):
        _, shown = played(game, policy, jax.random.key(3))
        returns = np.asarray(shown.reward).sum(axis=1)
        assert abs(returns.mean() - expected) < 4 * returns.std() / np.sqrt(EPISODES)


def test_who_knows_the_deck_wins_autoencode():
    game = make("AutoencodeEasy", fidelity="reference")
    _, shown = played(game, lambda state, _: game.optimal_action(state), jax.random.key(4))
    np.testing.assert_allclose(np.asarray(shown.reward).sum(axis=1), 53 / 52, rtol=1e-5)
