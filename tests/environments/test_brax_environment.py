"""Whole episodes beside Brax's own wrappers; starts and ends; numbers that are not finite."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from brax import envs
from brax.envs.wrappers.training import AutoResetWrapper, EpisodeWrapper
from jax.experimental import checkify
from scipy import stats

from untruncated.environments.brax_environment import physics_is_finite, simulator
from untruncated.environments.brax_pomdp import UNSEEN, BraxPOMDP
from untruncated.environments.reacher_pomdp import ReacherPOMDP
from untruncated.environments.wrappers import AutoReset, CheckActions, VectorisedAutoReset

ROBOTS = [*UNSEEN, "reacher"]


def ours(robot, **fields):
    return ReacherPOMDP(**fields) if robot == "reacher" else BraxPOMDP(name=robot, **fields)


class Theirs:
    """Brax's environment with its own compiled functions, for Brax's own wrappers."""

    def __init__(self, programs):
        self.programs = programs

    def reset(self, key):
        return self.programs.reset(key)

    def step(self, state, action):
        zero = jnp.float32(0)
        before = envs.State(state.pipeline_state, state.obs, zero, zero)
        after = self.programs.step(before, action)
        return state.replace(
            pipeline_state=after.pipeline_state, obs=after.obs, reward=after.reward, done=after.done
        )


def actions_of(environment, steps, seed=0):
    shape = (steps, environment.action_size)
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def compare(environment, programs, key, actions):
    """Plays on through ends of episodes, beside Brax's episodes and cached resets.

    Returns how often an episode was terminated and truncated.
    """
    wrapped = AutoResetWrapper(EpisodeWrapper(Theirs(programs), environment.episode_length, 1))
    game = AutoReset(environment)
    state, _ = game.reset(key)
    # The key that `AutoReset` hands on.
    theirs = wrapped.reset(jax.random.fold_in(key, 0))
    np.testing.assert_array_equal(state.inner.full_observation, theirs.obs)
    ends = np.zeros(2, int)
    for action in actions:
        state, shown = game.step(state, action)
        theirs = wrapped.step(theirs, action)
        np.testing.assert_array_equal(shown.reward, theirs.reward)
        assert (shown.terminated | shown.truncated) == theirs.done
        assert shown.truncated == theirs.info["truncation"]
        np.testing.assert_array_equal(state.inner.full_observation, theirs.obs)
        np.testing.assert_array_equal(state.inner.physics.q, theirs.pipeline_state.q)
        np.testing.assert_array_equal(state.inner.physics.qd, theirs.pipeline_state.qd)
        ends += shown.terminated, shown.truncated
    return ends


@pytest.mark.parametrize("robot", ROBOTS)
def test_whole_episodes_are_bit_for_bit_brax(brax_programs, robot):
    # The cached start is Brax's; a start of its own is compared with Brax's reset further down.
    environment = ours(robot, fidelity="reference", episode_length=35)
    # Pushed backwards a robot falls; pushed gently it reaches the time limit.
    gentle = 0.3 * actions_of(environment, 40)
    actions = np.concatenate([np.full_like(gentle[:33], -1), gentle])
    programs = brax_programs(robot)
    terminated, truncated = compare(environment, programs, jax.random.key(3), actions)
    assert truncated >= 1
    assert (terminated > 0) == (robot in ("ant", "hopper", "walker2d"))


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_simulator_is_brax_with_its_own_settings(robot):
    made = simulator(robot).environment
    plain = envs.create(robot, backend="positional").unwrapped
    assert (type(made), made.backend, made.dt) == (type(plain), "positional", plain.dt)
    for mine, brax in zip(jax.tree.leaves(made.sys), jax.tree.leaves(plain.sys), strict=True):
        np.testing.assert_array_equal(mine, brax)


@pytest.mark.parametrize("robot", UNSEEN)
def test_the_observation_is_positions_then_velocities(brax_programs, robot):
    environment = BraxPOMDP(name=robot)
    state, _ = environment.reset(jax.random.key(3))
    # Fast enough for the clip that hopper and walker2d have.
    physics = state.physics
    faster = physics.xd_i.replace(ang=physics.xd_i.ang * 0 + jnp.array([0.0, 25.0, 0.0]))
    state = state._replace(physics=physics.replace(xd_i=faster))
    fastest = 0
    for action in actions_of(environment, 10):
        state, _ = environment.step(state, action)
        q, qd = np.array(state.physics.q), np.array(state.physics.qd)
        fastest = max(fastest, np.abs(qd).max())
        if robot in ("hopper", "walker2d"):
            q[1] = state.physics.x.pos[0, 2]
            qd = np.clip(qd, -10, 10)
        expected = np.concatenate([q[UNSEEN[robot] :], qd])
        np.testing.assert_array_equal(state.full_observation, expected)
    assert fastest > 10


@dataclass(frozen=True)
class OneEntryOff(BraxPOMDP):
    """Shows the neighbours of what it should."""

    def observation(self, state):
        return np.roll(state.full_observation, 1)[self.seen]


@dataclass(frozen=True)
class Stale(AutoReset):
    """Keeps the next episode's first observation in the place of the last one's end."""

    def step(self, state, action):
        state, shown = super().step(state, action)
        return state, shown._replace(final_observation=shown.observation)


def check_ends(game, programs):
    """Seven steps to the limit, ends as Brax shows them, and starts that are Brax's resets."""
    wrapped = EpisodeWrapper(Theirs(programs), 7, 1)
    key = jax.random.key(4)
    state, shown = game.reset(key)
    theirs = wrapped.reset(jax.random.fold_in(key, 0))
    episodes = 0
    for action in actions_of(game, 30):
        state, shown = game.step(state, action)
        theirs = wrapped.step(theirs, action)
        np.testing.assert_array_equal(shown.final_observation, theirs.obs[:5])
        assert (shown.terminated | shown.truncated) == theirs.done
        if theirs.done:
            episodes += 1
            theirs = wrapped.reset(jax.random.fold_in(key, episodes))
        np.testing.assert_array_equal(shown.observation, theirs.obs[:5])
    assert episodes == state.episodes == 4


def test_the_last_observation_is_kept_and_every_start_is_a_reset(brax_programs):
    check_ends(AutoReset(BraxPOMDP(name="hopper", episode_length=7)), brax_programs("hopper"))


@pytest.mark.parametrize(
    "broken",
    [
        AutoReset(OneEntryOff(name="hopper", episode_length=7)),
        Stale(BraxPOMDP(name="hopper", episode_length=7)),
        AutoReset(BraxPOMDP(name="hopper", episode_length=8)),
        AutoReset(BraxPOMDP(name="hopper", episode_length=7, fidelity="reference")),
    ],
    ids=["mask", "last observation", "time limit", "cached start"],
)
def test_a_slightly_wrong_copy_is_noticed(brax_programs, broken):
    with pytest.raises(AssertionError):
        check_ends(broken, brax_programs("hopper"))


def starts(environment, episodes):
    """Full observations at the starts of episodes of one step each."""
    game = AutoReset(environment)
    state, _ = game.reset(jax.random.key(6))
    found = [state.inner.full_observation]
    for action in actions_of(environment, episodes):
        state, shown = game.step(state, action)
        assert shown.truncated
        found.append(state.inner.full_observation)
    return np.asarray(found, np.float64)


def test_starts_are_independent_draws_of_brax_law(brax_programs):
    found = starts(BraxPOMDP(name="hopper", part="V", episode_length=1), 150)
    # Velocities are uniform within 0.005, whatever came before.
    noise = found[:, 5:] / 0.005
    assert stats.kstest(noise.ravel(), stats.uniform(-1, 2).cdf).pvalue > 0.01
    for feature in noise.T:
        assert abs(np.corrcoef(feature[:-1], feature[1:])[0, 1]) < 4 / np.sqrt(150)
    assert len(np.unique(found, axis=0)) == len(found)


def test_the_reference_starts_every_episode_as_the_first(brax_programs):
    found = starts(BraxPOMDP(name="hopper", episode_length=1, fidelity="reference"), 5)
    np.testing.assert_array_equal(found, np.broadcast_to(found[0], found.shape))
    with pytest.raises(ValueError, match="repeats its first one: take Vectorised"):
        VectorisedAutoReset(CheckActions(BraxPOMDP(fidelity="reference")), 2)


def infected(physics, number, where):
    """The physics with one number replaced."""
    leaf = getattr(physics, where[0])
    if len(where) == 2:
        return physics.replace(**{where[0]: infected(leaf, number, where[1:])})
    return physics.replace(**{where[0]: jnp.asarray(leaf).at[0].set(number)})


@pytest.mark.parametrize("number", [jnp.nan, jnp.inf])
@pytest.mark.parametrize("where", [("x_i", "pos"), ("xd_i", "vel"), ("xd_i", "ang")], ids=str)
@pytest.mark.parametrize("robot", ["hopper", "reacher"])
def test_physics_that_is_not_finite_is_never_hidden(brax_programs, robot, where, number):
    environment = ours(robot, episode_length=3)
    game = AutoReset(environment)
    state, _ = game.reset(jax.random.key(0))
    actions = actions_of(environment, 6)
    state, shown = game.step(state, actions[0])
    assert physics_is_finite(state.inner) and np.isfinite(shown.reward)
    physics = infected(state.inner.physics, number, where)
    state = state._replace(inner=state.inner._replace(physics=physics))
    for action in actions[1:]:
        state, shown = game.step(state, action)
        assert np.isnan(shown.reward)
        # Brax takes NaN for a fall and resets; here it stays, over the time limit too.
        assert not (shown.terminated or shown.truncated)
        assert not physics_is_finite(state.inner)
    assert state.episodes == 0


def test_finiteness_of_copies(brax_programs):
    state, _ = BraxPOMDP(name="hopper").reset(jax.random.key(0))
    copies = jax.tree.map(lambda leaf: jnp.stack([leaf] * 3), state)
    qd = copies.physics.qd.at[1, 2].set(jnp.nan)
    copies = copies._replace(physics=copies.physics.replace(qd=qd))
    assert physics_is_finite(copies).tolist() == [True, False, True]


class Still(BraxPOMDP):
    """Does not move."""

    def step(self, state, action):
        return state, state


@pytest.mark.parametrize("torque", [1.0001, -1.5, jnp.inf, jnp.nan])
def test_a_torque_beyond_one_is_an_error_in_debugging(torque):
    step = jax.jit(checkify.checkify(CheckActions(Still()).step))
    step(0, jnp.full(8, -1.0))[0].throw()
    with pytest.raises(checkify.JaxRuntimeError, match=r"not within ±1\.0"):
        step(0, jnp.ones(8).at[3].set(torque))[0].throw()


@pytest.mark.parametrize("shape", [(), (1,), (7,), (8, 1)])
def test_an_action_of_the_wrong_shape_is_an_error(brax_programs, shape):
    with pytest.raises(ValueError, match=r"an action of ant has shape \(8,\), not \("):
        BraxPOMDP(name="ant").step(None, jnp.zeros(shape))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ReacherPOMDP("exakt"), "fidelity: unknown value 'exakt' .*'exact'"),
        (lambda: ReacherPOMDP(episode_length=0), "episode_length: must be at least 1, not 0"),
        (lambda: BraxPOMDP(name="Ant"), "one of ant, halfcheetah, hopper, walker2d: got 'Ant'"),
        (lambda: BraxPOMDP(part="p"), "'P', 'V' or 'PV', not 'p'"),
    ],
)
def test_bad_constants_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()
