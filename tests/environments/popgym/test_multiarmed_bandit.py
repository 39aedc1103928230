"""The bandit draws in every step: the package's draws are put into ours, and laws are compared."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import popgym.envs
import pytest
from scipy import stats

from untruncated.environments.popgym.multiarmed_bandit import LEVELS, MultiarmedBandit, State

EPISODES = 20
quick = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


class Scripted(MultiarmedBandit):
    """The bandit with the uniform numbers of a list, one a step, in the place of its key."""

    def _uniform(self, state):
        return state.key[state.t]


class Recorder:
    """A generator that keeps what it has drawn."""

    def __init__(self, generator):
        self.generator, self.drawn = generator, []

    def random(self):
        self.drawn.append(self.generator.random())
        return self.drawn[-1]


def package_episodes(level, policy):
    """Arms, actions, uniform numbers, observations, rewards and truncations of each episode."""
    rng = np.random.default_rng(0)
    for seed in range(EPISODES):
        package = getattr(popgym.envs, f"MultiarmedBandit{level}")()
        package.reset(seed=seed)
        package._np_random = recorder = Recorder(package.np_random)
        arms, steps, truncated = package.bandits.copy(), [], False
        while not truncated:
            action = int(rng.integers(len(arms)) if policy == "random" else arms.argmax())
            seen, reward, terminated, truncated, _ = package.step(action)
            assert not terminated
            steps.append((action, seen, reward, truncated))
        yield arms, recorder.drawn, *map(np.array, zip(*steps, strict=True))


def ours(level, arms, uniforms, actions):
    game = Scripted(LEVELS[level].arms, LEVELS[level].longest)
    no = jnp.zeros((), bool)
    state = State(jnp.array(uniforms, jnp.float32), arms, jnp.int32(0), no)
    return jax.lax.scan(game.step, state, actions)[1]


@pytest.mark.parametrize("policy", ["random", "optimal"])
@pytest.mark.parametrize("level", LEVELS)
def test_episodes_with_the_packages_draws_equal_the_packages(level, policy):
    arms, uniforms, actions, seen, reward, truncated = map(
        np.array, zip(*package_episodes(level, policy), strict=True)
    )
    play = quick(jax.vmap(lambda *episode: ours(level, *episode)))
    shown = play(arms, uniforms, actions)
    np.testing.assert_array_equal(shown.observation, np.eye(2)[seen])
    np.testing.assert_allclose(shown.reward, reward, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(shown.truncated, truncated)
    assert not shown.terminated.any()
    broken = play(arms + 0.02, uniforms, actions)
    assert (np.asarray(broken.observation) != np.eye(2)[seen]).any()


def test_arms_and_payouts_follow_their_law():
    game = LEVELS["Easy"]
    states, _ = quick(jax.vmap(game.reset))(jax.random.split(jax.random.key(0), 2000))
    arms = np.asarray(states.probabilities)
    assert stats.kstest(arms.ravel(), "uniform").pvalue > 1e-3
    assert len(np.unique(arms, axis=0)) == 2000

    def pull(state):
        return jax.lax.scan(lambda s, _: game.step(s, jnp.int32(3)), state, None, 200)[1]

    shown = quick(jax.vmap(pull))(states)
    paid = np.asarray(shown.observation)[..., 1]
    spread = np.sqrt(arms[:, 3] * (1 - arms[:, 3]) / 200)
    z = (paid.mean(axis=1) - arms[:, 3]) / np.maximum(spread, 1e-3)
    assert abs(z.mean()) < 4 / np.sqrt(2000) and abs(z.std() - 1) < 0.1
    # Payouts of successive steps are independent.
    centred = (paid - arms[:, 3:4]) / np.maximum(spread[:, None], 1e-3)
    assert abs((centred[:, 1:] * centred[:, :-1]).mean()) < 4 * 200 / np.sqrt(2000 * 199)


@pytest.mark.parametrize(
    ("level", "best"), [("Easy", 9 / 11), ("Medium", 19 / 21), ("Hard", 29 / 31)]
)
def test_the_best_arm_earns_the_largest_of_its_probabilities(level, best):
    game = LEVELS[level]
    keys = jax.random.split(jax.random.key(2), 4000)
    states, _ = quick(jax.vmap(game.reset))(keys)
    chosen = jax.vmap(game.optimal_action)(states)
    probability = np.asarray(states.probabilities)[np.arange(4000), chosen]
    error = probability.std() / np.sqrt(4000)
    assert abs((2 * probability - 1).mean() - best) < 4 * 2 * error
