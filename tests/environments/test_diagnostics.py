"""Values and best returns of the diagnostic environments, by Monte Carlo over whole episodes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.environments.diagnostics import (
    DIAGNOSTICS,
    ConstantReward,
    CueRecall,
    DelayedReward,
    ObservedReward,
    TwoArms,
)

DISCOUNT, EPISODES = 0.9, 1000
CASES = [
    ConstantReward(1),
    ConstantReward(3),
    ObservedReward(),
    DelayedReward(2),
    DelayedReward(5),
    CueRecall(1),
    CueRecall(6),
    TwoArms(1),
    TwoArms(5),
]


def play(environment, policy):
    """Values before each step, observations, and time steps, for many episodes."""

    def episode(key):
        state, first = environment.reset(key)

        def step(state, t):
            value = environment.value(state, DISCOUNT)
            action = policy(environment, state, jax.random.fold_in(key, t))
            after, shown = environment.step(state, action)
            return after, (value, shown)

        end, (values, shown) = jax.lax.scan(step, state, jnp.arange(environment.steps))
        return values, first, shown, environment.value(end, DISCOUNT)

    run = jax.jit(jax.vmap(episode), compiler_options={"xla_backend_optimization_level": 0})
    return jax.tree.map(np.asarray, run(jax.random.split(jax.random.key(0), EPISODES)))


def best(environment, state, key):
    return environment.optimal_action(state)


def at_random(environment, state, key):
    return jax.random.randint(key, (), 0, environment.actions)


@pytest.mark.parametrize("environment", CASES, ids=str)
def test_values_and_best_returns(environment):
    values, first, shown, after = play(environment, best)
    assert first.observation.shape == (EPISODES, environment.observation_size)
    assert shown.observation.shape == (EPISODES, environment.steps, environment.observation_size)
    steps = environment.steps
    powers = DISCOUNT ** np.arange(steps)
    for t in range(steps):
        returns = (shown.reward[:, t:] * powers[: steps - t]).sum(axis=1)
        error = (returns - values[:, t]).std() / np.sqrt(EPISODES)
        assert abs((returns - values[:, t]).mean()) < 4 * error + 1e-6
        # Past the first pull of two arms, and everywhere else, nothing is left to chance.
        if not (isinstance(environment, TwoArms) and t == 0):
            np.testing.assert_allclose(returns, values[:, t], atol=1e-5)
    total = shown.reward.sum(axis=1)
    assert (
        abs(total.mean() - environment.optimal_return) < 4 * total.std() / np.sqrt(EPISODES) + 1e-6
    )
    assert shown.terminated[:, -1].all() and not shown.terminated[:, :-1].any()
    assert not shown.truncated.any()
    np.testing.assert_array_equal(after, 0)


def test_values_by_hand():
    state, _ = ConstantReward(3).reset(jax.random.key(0))
    assert ConstantReward(3).value(state, 0.5) == 1.75
    assert DelayedReward(3).value(state, 0.5) == 0.25
    assert CueRecall(3).value(state, 0.5) == 0.25
    assert TwoArms(3).value(state, 0.5) == 0.75
    assert TwoArms(3).value(state._replace(t=jnp.int32(1)), 0.5) == 1.5


@pytest.mark.parametrize("environment", [CueRecall(6), TwoArms(5)], ids=str)
def test_chance_earns_nothing_where_memory_counts(environment):
    _, _, shown, _ = play(environment, at_random)
    total = shown.reward.sum(axis=1)
    assert abs(total.mean()) < 4 * total.std() / np.sqrt(EPISODES)


@pytest.mark.parametrize("steps", [4, 5])
def test_two_arms_pay_half_the_steps_without_memory(steps):
    def earned(choices, sign):
        environment = TwoArms(steps)
        state, shown = environment.reset(jax.random.key(0))
        state, total = state._replace(sign=jnp.float32(sign)), 0.0
        for _ in range(steps):
            state, shown = environment.step(state, jnp.int32(choices[int(state.last_reward)]))
            total += float(shown.reward)
        return total

    policies = [
        {0: first, 1: gained, -1: lost} for first in (0, 1) for gained in (0, 1) for lost in (0, 1)
    ]
    means = [(earned(policy, 1) + earned(policy, -1)) / 2 for policy in policies]
    assert max(means) == steps // 2


def test_the_cue_is_shown_once_and_both_cues_occur():
    _, first, shown, _ = play(CueRecall(6), best)
    assert set(first.observation[:, 0]) == {-1, 1}
    assert abs(first.observation[:, 0].mean()) < 4 / np.sqrt(EPISODES)
    assert (shown.observation[..., 0] == 0).all()
    np.testing.assert_array_equal(shown.observation[0, :, 1], [0, 0, 0, 0, 1, 0])


def test_an_episode_has_a_step():
    with pytest.raises(ValueError, match="steps must be at least 1: got 0"):
        CueRecall(0)
    assert set(DIAGNOSTICS) == {
        "constant_reward",
        "observed_reward",
        "delayed_reward",
        "cue_recall",
        "two_arms",
    }
