"""Plays our games and the package's side by side, from the same state and with the same actions."""

import functools
import warnings
from typing import NamedTuple

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import popgym.envs
import pytest

from untruncated.environments.popgym.registry import make

EPISODES = 20
FLAT: dict[type, dict[bytes, np.ndarray]] = {}


class Play(NamedTuple):
    """Episodes along axis 0, steps along axis 1; observations have one step more, the reset's."""

    raw: np.ndarray
    observation: np.ndarray
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray


def package_environment(name, seed):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Maze environments have been shown")
        environment = getattr(popgym.envs, name)()
    first, _ = environment.reset(seed=seed)
    return environment, first


def play(game, states, actions, optimal):
    """Our game: all episodes in one scan; `optimal` says whose actions are taken."""

    def step(carry, given):
        states, ended = carry
        # Ways through a maze are costly: none is looked for once every episode has ended.
        actions = jax.lax.cond(
            optimal & ~jnp.all(ended),
            lambda: jax.vmap(game.optimal_action)(states).astype(given.dtype),
            lambda: given,
        )
        states, shown = jax.vmap(game.step)(states, actions)
        return (states, ended | shown.terminated | shown.truncated), (states, shown, actions)

    states = jax.tree.map(jnp.asarray, states)
    ended = jnp.zeros(actions.shape[0], bool)
    _, (later, shown, taken) = jax.lax.scan(step, (states, ended), actions.T)
    raw = jax.vmap(jax.vmap(raw_features(game)))
    raw = jnp.concatenate([jax.vmap(raw_features(game))(states)[None], raw(later)])
    return jax.tree.map(lambda leaf: jnp.swapaxes(leaf, 0, 1), (raw, shown, taken))


def raw_features(game):
    def features(state):
        leaves = jax.tree.leaves(game.raw_observation(state))
        return jnp.concatenate([jnp.ravel(leaf).astype(float) for leaf in leaves])

    return features


# Most games take longer to compile than to run; looking for ways through mazes does not.
play_compiled_quickly, play_compiled_well = (
    jax.jit(play, static_argnums=0, compiler_options={"xla_backend_optimization_level": level})
    for level in (0, 1)
)


class Parity:
    """One environment in both versions, reset by the package's own code with several seeds."""

    def __init__(self, name, import_state):
        self.game = make(name)
        self.name = name
        seeds = range(EPISODES)
        self.starts = [import_state(package_environment(name, seed)[0]) for seed in seeds]

    def ours(self, starts, actions, optimal=False):
        """Our play from the given states, and the actions taken."""
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *starts)
        run = play_compiled_well if "Labyrinth" in self.name else play_compiled_quickly
        raw, shown, taken = run(self.game, stacked, actions, optimal)
        # Observations after a step; the reset's is checked by its raw observation.
        parts = (raw, shown.observation, shown.reward, shown.terminated, shown.truncated)
        return Play(*map(np.asarray, parts)), np.asarray(taken)

    def packages(self, actions):
        """The package's play of the same episodes."""
        return [
            package_episode(*package_environment(self.name, seed), episode)
            for seed, episode in enumerate(actions)
        ]

    @functools.cached_property
    def random(self):
        """Random actions, and the package's play of them."""
        rng = np.random.default_rng(0)
        shape = (EPISODES, self.game.longest)
        actions = rng.integers(self.game.actions, size=shape, dtype=np.int32)
        return actions, self.packages(actions)

    @functools.cached_property
    def optimal(self):
        """Our game's optimal actions, and the package's play of them."""
        _, taken = self.ours(self.starts, np.zeros((EPISODES, self.game.longest), np.int32), True)
        return taken, self.packages(taken)

    def check(self, policy):
        """Requires equal play by "random" or "optimal"; returns the package's returns."""
        actions, packages = getattr(self, policy)
        require_equal(self.ours(self.starts, actions)[0], packages)
        return np.array([episode.reward.sum() for episode in packages])

    def check_that_it_notices(self, broken):
        """Starting states that are off by a little must not pass for the package's."""
        starts = [broken(jax.tree.map(np.array, start)) for start in self.starts]
        with pytest.raises(AssertionError):
            for actions, packages in (self.random, self.optimal):
                require_equal(self.ours(starts, actions)[0], packages)


def package_episode(environment, first, actions):
    """Plays until the episode ends."""
    raw, flat, rewards, ends = [features(first)], [], [], []
    for action in actions:
        seen, reward, terminated, truncated, _ = environment.step(
            packages_action(environment, action)
        )
        raw.append(features(seen))
        flat.append(flattened(environment, seen))
        rewards.append(reward)
        ends.append((terminated, truncated))
        if terminated or truncated:
            break
    terminated, truncated = np.array(ends).T
    return Play(np.array(raw), np.array(flat), np.array(rewards), terminated, truncated)


def flattened(environment, seen):
    """Gymnasium's flattening, once per observation that occurs."""
    known, key = FLAT.setdefault(type(environment), {}), features(seen).tobytes()
    if key not in known:
        known[key] = gymnasium.spaces.utils.flatten(environment.observation_space, seen)
    return known[key]


def packages_action(environment, action):
    space = environment.action_space
    if isinstance(space, gymnasium.spaces.MultiDiscrete):
        return np.unravel_index(action, space.nvec)
    return int(action)


def features(raw):
    return np.hstack([np.ravel(part) for part in raw]) if isinstance(raw, tuple) else np.ravel(raw)


def require_equal(ours, packages):
    for number, theirs in enumerate(packages):
        steps = len(theirs.reward)
        mine = Play(*(part[number] for part in ours))
        assert theirs.terminated[-1] or theirs.truncated[-1], "no whole episode"
        for field in ("terminated", "truncated"):
            np.testing.assert_array_equal(
                getattr(mine, field)[:steps], getattr(theirs, field), f"{field}, episode {number}"
            )
        np.testing.assert_allclose(
            mine.reward[:steps], theirs.reward, rtol=0, atol=1e-5 * np.abs(theirs.reward).max()
        )
        np.testing.assert_allclose(mine.raw[: steps + 1], theirs.raw, rtol=0, atol=1e-5)
        np.testing.assert_allclose(mine.observation[:steps], theirs.observation, rtol=0, atol=1e-5)


@pytest.fixture(scope="session")
def parity():
    return functools.cache(Parity)
