"""Temporal differences against their definitions, by sums that are written out."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.agents.temporal_difference import accumulate_trace, gae, td_error

STEPS, DISCOUNT, DECAY = 12, 0.9, 0.7
RNG = np.random.default_rng(0)
REWARDS, VALUES, NEXT = RNG.normal(size=(3, STEPS))
# Ends on consecutive steps, of both kinds, and at the rollout's end.
TERMINATED, TRUNCATED = np.zeros((2, STEPS), bool)
TERMINATED[[3, 8]] = True
TRUNCATED[[4, 11]] = True


def by_definition(t, terminated, truncated):
    """Σ (γ λ)ᵏ δ_{t+k} over the rest of the episode, in the rollout."""
    total, weight = 0.0, 1.0
    for k in range(t, STEPS):
        after = 0.0 if terminated[k] else NEXT[k]
        total += weight * (REWARDS[k] + DISCOUNT * after - VALUES[k])
        if terminated[k] or truncated[k]:
            break
        weight *= DISCOUNT * DECAY
    return total


@pytest.mark.parametrize("both_at_once", [False, True])
def test_advantages_are_sums_over_the_rest_of_the_episode(both_at_once):
    truncated = TRUNCATED | (TERMINATED & both_at_once)
    with jax.enable_x64(True):
        found = gae(REWARDS, VALUES, NEXT, TERMINATED, truncated, DISCOUNT, DECAY)
    expected = [by_definition(t, TERMINATED, truncated) for t in range(STEPS)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_with_all_of_the_trace_they_are_returns_less_values():
    values = np.append(VALUES, 0.4)
    no = np.zeros(STEPS, bool)
    with jax.enable_x64(True):
        found = gae(REWARDS, values[:-1], values[1:], no, no, DISCOUNT, 1.0)
    returns = [
        sum(DISCOUNT ** (k - t) * REWARDS[k] for k in range(t, STEPS))
        + DISCOUNT ** (STEPS - t) * 0.4
        for t in range(STEPS)
    ]
    np.testing.assert_allclose(found, np.array(returns) - values[:-1], rtol=1e-12)


def test_copies_side_by_side_have_episodes_of_their_own():
    def twice(array):
        return np.stack([array, array[::-1]], axis=1)

    arguments = [twice(a) for a in (REWARDS, VALUES, NEXT, TERMINATED, TRUNCATED)]
    together = gae(*arguments, DISCOUNT, DECAY)
    for copy in range(2):
        alone = gae(*(a[:, copy] for a in arguments), DISCOUNT, DECAY)
        np.testing.assert_allclose(together[:, copy], alone, rtol=1e-6)


def test_errors_and_traces_are_what_they_are_called():
    assert td_error(1.0, 0.5, 4.0, 2.5) == 0.5
    trace = {"w": jnp.array([2.0, -1.0]), "b": jnp.array(4.0)}
    after = accumulate_trace(trace, {"w": jnp.ones(2), "b": jnp.array(0.0)}, 0.5)
    np.testing.assert_array_equal(after["w"], [2.0, 0.5])
    assert after["b"] == 2.0
