"""Cart-pole and pendulum against the package, in float64.

An upright pole multiplies rounding errors by 1.08 a step, so the package's physics is put into our
state before every step; whole episodes from one start are compared up to 200 steps.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import popgym.envs
import pytest
from scipy import stats

from untruncated.environments.popgym import cartpole, position_only_pendulum
from untruncated.environments.popgym.registry import make

EPISODES, LEVELS = 20, ["Easy", "Medium", "Hard"]
CARTS = ["PositionOnlyCartPole", "VelocityOnlyCartPole", "NoisyPositionOnlyCartPole"]
PENDULUMS = ["PositionOnlyPendulum", "NoisyPositionOnlyPendulum"]
FAMILIES = CARTS + PENDULUMS
QUICK = {"xla_backend_optimization_level": 0}


class Episode(NamedTuple):
    """One of the package's: physics before every step and after the last; what was shown."""

    physics: np.ndarray
    actions: np.ndarray
    shown: np.ndarray
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray


def stabilise(package, _):
    return int(package.state @ [0.1, 0.3, 1.0, 0.5] > 0)


def swing_up(package, _):
    """Pump energy, then hold."""
    angle, velocity = package.state
    upright = (angle + np.pi) % (2 * np.pi) - np.pi
    pump = 2.0 * np.sign(velocity)
    near = abs(upright) < 0.4
    return np.array([np.clip(-12 * upright - 3 * velocity, -2, 2) if near else pump], np.float32)


def at_random(package, rng):
    if package.action_space.shape:
        return rng.uniform(-2.5, 2.5, 1).astype(np.float32)
    return int(rng.integers(2))


@functools.cache
def episodes(name, policy):
    rng = np.random.default_rng(0)
    made = []
    for seed in range(EPISODES):
        package = getattr(popgym.envs, name)()
        first, _ = package.reset(seed=seed)
        physics, actions, shown, outcomes = [np.array(package.state)], [], [first], []
        while not outcomes or not any(outcomes[-1][1:]):
            actions.append(policy(package, rng))
            seen, *outcome, _ = package.step(actions[-1])
            physics.append(np.array(package.state))
            shown.append(seen)
            outcomes.append(outcome)
        made.append(
            Episode(
                *map(np.array, (physics, actions, shown)),
                *map(np.array, zip(*outcomes, strict=True)),
            )
        )
    return made


def policies(name):
    return [at_random, stabilise if "CartPole" in name else swing_up]


def starts(name, physics, t):
    module = cartpole if "CartPole" in name else position_only_pendulum
    keys = jax.random.split(jax.random.key(0), len(physics))
    return module.State(keys, jnp.asarray(physics), jnp.asarray(t, jnp.int32))


@functools.partial(jax.jit, static_argnums=0, compiler_options=QUICK)
def every_step(game, states, actions):
    after, shown = jax.vmap(game.step)(states, actions)
    return after.physics, shown


@functools.partial(jax.jit, static_argnums=0, compiler_options=QUICK)
def open_loop(game, states, actions):
    _, (physics, shown) = jax.lax.scan(
        lambda state, action: (lambda after, shown: (after, (after.physics, shown)))(
            *jax.vmap(game.step)(state, action)
        ),
        states,
        actions,
    )
    return physics, shown


def check_every_step(name, played, perturbed=0.0):
    """Each step from the package's physics; noisy observations are left to another test."""
    before = np.concatenate([episode.physics[:-1] for episode in played])
    after = np.concatenate([episode.physics[1:] for episode in played])
    actions = np.concatenate([episode.actions for episode in played])
    t = np.concatenate([np.arange(len(episode.reward)) for episode in played])
    with jax.enable_x64(True):
        physics, shown = every_step(make(name), starts(name, before + perturbed, t), actions)
        assert physics.dtype == shown.observation.dtype == shown.reward.dtype == jnp.float64
    np.testing.assert_allclose(physics, after, rtol=0, atol=1e-12)
    for field in ("reward", "terminated", "truncated"):
        theirs = np.concatenate([getattr(episode, field) for episode in played])
        np.testing.assert_allclose(getattr(shown, field), theirs, rtol=0, atol=1e-12)
    if "Noisy" not in name:
        theirs = np.concatenate([episode.shown[1:] for episode in played])
        np.testing.assert_allclose(shown.observation, theirs, rtol=0, atol=1e-5)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_step_of_whole_episodes_equals_the_packages(family, level):
    name = family + level
    for policy in policies(name):
        check_every_step(name, episodes(name, policy))
    played = episodes(name, policies(name)[1])
    assert all(len(episode.reward) == make(name).longest for episode in played)
    if family in CARTS:
        np.testing.assert_allclose([episode.reward.sum() for episode in played], 1, atol=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_physics_that_is_slightly_off_is_noticed(family):
    played = episodes(f"{family}Easy", policies(family)[0])
    with pytest.raises(AssertionError):
        check_every_step(f"{family}Easy", played, perturbed=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_200_steps_from_the_same_start_equal_the_packages(family):
    name = f"{family}Easy"
    played = episodes(name, policies(name)[1])
    actions = np.stack([episode.actions for episode in played], axis=1)
    first = np.stack([episode.physics[0] for episode in played])
    with jax.enable_x64(True):
        physics, shown = open_loop(make(name), starts(name, first, np.zeros(EPISODES)), actions)
    theirs = np.stack([episode.physics[1:] for episode in played], axis=1)
    np.testing.assert_allclose(physics, theirs, rtol=0, atol=1e-5)
    assert len(physics) == 200
    assert shown.truncated[-1].all() and not shown.truncated[:-1].any()


@pytest.mark.parametrize("family", ["PositionOnlyCartPole", "VelocityOnlyCartPole"])
def test_a_reset_shows_the_positions(family):
    for episode in episodes(f"{family}Easy", at_random):
        state = starts(family, episode.physics[:1], [0])
        shown = make(f"{family}Easy").raw_observation(jax.tree.map(lambda leaf: leaf[0], state))
        np.testing.assert_allclose(shown, episode.shown[0], rtol=0, atol=1e-6)
        np.testing.assert_allclose(shown, episode.physics[0, ::2], rtol=0, atol=1e-6)


@functools.partial(jax.jit, static_argnums=0, compiler_options=QUICK)
def resets(game, keys):
    state, shown = jax.vmap(game.reset)(keys)
    return state.physics, shown.observation


@pytest.mark.parametrize("family", ["PositionOnlyCartPole", "PositionOnlyPendulum"])
def test_starts_follow_the_packages_law(family):
    package = getattr(popgym.envs, f"{family}Easy")()
    theirs = []
    for seed in range(2000):
        package.reset(seed=seed)
        theirs.append(np.array(package.state))
    keys = jax.random.split(jax.random.key(1), 2000)
    physics, _ = resets(make(f"{family}Easy"), keys)
    for mine, other in zip(np.asarray(physics).T, np.array(theirs).T, strict=True):
        assert stats.ks_2samp(mine, other).pvalue > 1e-3


def noise_samples(name, scale=1.0):
    """Observations of one state where the noise is often clipped: the package's, then ours."""
    package, size = getattr(popgym.envs, name)(), 2000
    package.reset(seed=0)
    game = make(name)
    if "CartPole" in name:
        physics, clean = np.array([0.2, 0.0, 0.15, 0.0]), np.array([0.2, 0.15])
    else:
        physics, clean = np.array([0.3, 0.0]), np.array([np.cos(0.3), np.sin(0.3)])
    theirs = np.array([package.add_noise_to_obs(clean) for _ in range(size)])
    game = type(game)(game.longest, game.noise * scale)
    states = starts(name, np.tile(physics, (size, 1)), np.ones(size))
    return theirs, np.asarray(jax.vmap(game.raw_observation)(states))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("family", ["NoisyPositionOnlyCartPole", "NoisyPositionOnlyPendulum"])
def test_noise_follows_the_packages_law(family, level):
    theirs, mine = noise_samples(family + level)
    for column in range(2):
        assert stats.ks_2samp(mine[:, column], theirs[:, column]).pvalue > 1e-3
    np.testing.assert_allclose(abs(mine).max(axis=0), abs(theirs).max(axis=0), rtol=0.3)
    _, broken = noise_samples(family + level, scale=1.3)
    assert min(stats.ks_2samp(broken[:, i], theirs[:, i]).pvalue for i in range(2)) < 1e-3


def test_noise_is_new_at_every_step_and_in_every_episode():
    game = make("NoisyPositionOnlyCartPoleEasy")
    states = starts("CartPole", np.zeros((100, 4)), np.zeros(100))
    noise = [jax.vmap(game.raw_observation)(states._replace(t=states.t + t)) for t in (0, 1)]
    assert len(np.unique(noise)) == 400
    assert abs(np.corrcoef(*map(np.ravel, noise))[0, 1]) < 0.3
