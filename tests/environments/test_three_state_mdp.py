"""The three-state process: its transition law, and that state 3 leads back where it came from."""

import jax
import numpy as np
import pytest

from untruncated.environments.three_state_mdp import MEMORY_STATE, ThreeStateMDP

STEPS = 20_000


@pytest.fixture(scope="module")
def states():
    environment = ThreeStateMDP()

    @jax.jit
    def run(key):
        state, first = environment.reset(key)
        _, steps = jax.lax.scan(lambda s, _: environment.step(s), state, length=STEPS)
        return first.observation, steps.observation

    first, observations = run(jax.random.key(3))
    observations = np.concatenate([np.asarray(first)[None], np.asarray(observations)])
    assert (observations.sum(axis=1) == 1).all()
    return observations.argmax(axis=1)


def test_states_1_and_2_lead_anywhere_with_equal_probability(states):
    for state in (0, 1):
        following = states[1:][states[:-1] == state]
        counts = np.bincount(following, minlength=3)
        expected = len(following) / 3
        # chi-squared with 2 degrees of freedom: above 18.4 once in 10,000 times
        assert ((counts - expected) ** 2 / expected).sum() < 18.4


def test_what_follows_depends_on_the_present_state_alone_elsewhere(states):
    """From state 1, whatever came before, the three follow equally often."""
    before, present, following = states[:-2], states[1:-1], states[2:]
    for previous in (0, 1, 2):
        counts = np.bincount(following[(present == 0) & (before == previous)], minlength=3)
        expected = counts.sum() / 3
        assert ((counts - expected) ** 2 / expected).sum() < 18.4


def test_state_3_always_leads_back_to_where_it_was_entered_from(states):
    remembering = states[1:-1] == MEMORY_STATE
    assert remembering.sum() > STEPS / 10
    np.testing.assert_array_equal(states[2:][remembering], states[:-2][remembering])


def test_a_stream_starts_in_state_1_or_2():
    keys = jax.random.split(jax.random.key(0), 200)
    state, _ = jax.vmap(ThreeStateMDP().reset)(keys)
    assert set(np.asarray(state.present)) == {0, 1}
