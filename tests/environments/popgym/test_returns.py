"""What known policies earn, and that a best action is always among the actions."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.environments.popgym.registry import make, names

quick = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 1})


@partial(quick, static_argnums=(0, 1, 3))
def returns(game, policy, key, episodes):
    """Undiscounted returns; the policy has a memory of its own, that starts as zeros."""

    def episode(key):
        state, _ = game.reset(key)
        memory = jnp.zeros(state.deck.shape, bool)

        def step(carry, t):
            state, memory, ended = carry
            action, memory = policy(game, state, memory, jax.random.fold_in(key, t))
            state, shown = game.step(state, action)
            reward = jnp.where(ended, 0, shown.reward)
            return (state, memory, ended | shown.terminated | shown.truncated), reward

        carry = state, memory, jnp.zeros((), bool)
        return jnp.sum(jax.lax.scan(step, carry, jnp.arange(game.longest))[1])

    return jax.vmap(episode)(jax.random.split(key, episodes))


def best(game, state, memory, key):
    return game.optimal_action(state), memory


def without_memory(game, state, memory, key):
    """Higher up to the middle rank, and the middle one itself."""
    return (state.deck[state.t] > 6).astype(jnp.int32), memory


def remembers(game, state, memory, key):
    return game.remembering_action(state, memory)


def check_mean(found, expected, known_to):
    assert abs(found.mean() - expected) < 4 * found.std() / np.sqrt(len(found)) + known_to


@pytest.mark.parametrize(
    ("level", "expected"), [("Easy", 0.5279), ("Medium", 0.5158), ("Hard", 0.5116)]
)
def test_counting_cards_in_higher_lower(level, expected):
    found = np.asarray(returns(make(f"HigherLower{level}"), best, jax.random.key(0), 4000))
    check_mean(found, expected, 0.0005)


def test_higher_lower_without_memory():
    game = make("HigherLowerEasy")
    blind = np.asarray(returns(game, without_memory, jax.random.key(0), 4000))
    check_mean(blind, 0.497, 0.001)
    counting = np.asarray(returns(game, best, jax.random.key(0), 4000))
    # The same decks, so the difference is known well: memory is worth 0.03.
    assert 0.02 < (counting - blind).mean() < 0.04


@pytest.mark.parametrize(
    ("level", "expected", "known_to"),
    [("Easy", 0.824, 0.005), ("Medium", 0.819, 0.004), ("Hard", 0.698, 0.003)],
)
def test_concentration_with_perfect_memory(level, expected, known_to):
    game = make(f"Concentration{level}")
    found = np.asarray(returns(game, remembers, jax.random.key(1), 500))
    check_mean(found, expected, known_to)
    # Knowing the deck is another matter.
    known = np.asarray(returns(game, best, jax.random.key(1), 20))
    np.testing.assert_allclose(known, 1, atol=1e-5)


@pytest.mark.parametrize("name", names())
def test_the_constants_agree_with_what_is_shown(name):
    game = make(name)
    state, shown = jax.eval_shape(game.reset, jax.random.key(0))
    assert shown.observation.shape == (game.observation_size,)
    if game.actions is None:
        action = jax.ShapeDtypeStruct((1,), jnp.float32)
    else:
        action = jax.eval_shape(game.optimal_action, state)
        assert action.shape == () and jnp.issubdtype(action.dtype, jnp.integer)
    after, shown_after = jax.eval_shape(game.step, state, action)
    # A scan over steps, and a choice between a step and a reset, need equal types.
    assert jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), (state, shown)) == jax.tree.map(
        lambda leaf: (leaf.shape, leaf.dtype), (after, shown_after)
    )
