"""Each wrapper on a stream whose statistics are known, alone and as copies side by side."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import checkify

from untruncated.environments import wrappers
from untruncated.environments.popgym.registry import make
from untruncated.environments.protocol import TimeStep, first_time_step
from untruncated.environments.wrappers import (
    AutoReset,
    CheckActions,
    EpisodeStatistics,
    LastActionAndReward,
    NormaliseObservations,
    ScaleRewards,
    Vectorised,
    VectorisedAutoReset,
)

quick = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


class State(NamedTuple):
    start: jax.Array
    t: jax.Array


@dataclass(frozen=True)
class Counter:
    """Shows (start + t, 100 · t); pays start · t; the start is one of 0 .. 999.

    Terminates after three steps if the start is even; if it is odd, is truncated after four.
    """

    observation_size = 2
    actions = 3

    def reset(self, key):
        start = jax.random.key_data(key)[1] % 1000
        state = State(start.astype(jnp.float32), jnp.int32(0))
        return state, first_time_step(self.shown(state))

    def shown(self, state):
        return jnp.stack([state.start + state.t, 100.0 * state.t])

    def step(self, state, action):
        state = State(state.start, state.t + 1)
        even = state.start % 2 == 0
        return state, TimeStep(
            self.shown(state), state.start * state.t, even & (state.t == 3), ~even & (state.t == 4)
        )


@partial(quick, static_argnums=(0, 2))
def rollout(environment, key, steps):
    """The reset's time step, then all others, and the states before and after each step."""
    state, first = environment.reset(key)
    copies = first.reward.shape

    def step(state, t):
        action = jnp.broadcast_to(t % 3, copies).astype(jnp.int32)
        after, shown = environment.step(state, action)
        return after, (shown, after)

    _, (shown, states) = jax.lax.scan(step, state, jnp.arange(steps))
    return first, shown, states


def numpy_rollout(environment, seed=0, steps=40):
    def leaf(array):
        is_key = jnp.issubdtype(array.dtype, jax.dtypes.prng_key)
        return array if is_key else np.asarray(array)

    return jax.tree.map(leaf, rollout(environment, jax.random.key(seed), steps))


def test_last_action_and_reward():
    environment = LastActionAndReward(Counter())
    first, shown, _ = numpy_rollout(environment, steps=3)
    assert environment.observation_size == first.observation.size == 6
    np.testing.assert_array_equal(first.observation[2:], 0)
    np.testing.assert_array_equal(shown.observation[:, 2:5], np.eye(3))
    np.testing.assert_array_equal(shown.observation[:, 5], shown.reward)
    plain_first, plain, _ = numpy_rollout(Counter(), steps=3)
    np.testing.assert_array_equal(first.observation[:2], plain_first.observation)
    np.testing.assert_array_equal(shown.observation[:, :2], plain.observation)
    np.testing.assert_array_equal(shown.reward, plain.reward)
    only_action, _, _ = numpy_rollout(LastActionAndReward(Counter(), reward=False), steps=3)
    assert only_action.observation.shape == (5,)


def test_a_real_action_is_appended_as_it_is():
    environment = LastActionAndReward(make("PositionOnlyPendulumEasy"))
    state, first = environment.reset(jax.random.key(0))
    _, shown = environment.step(state, jnp.array([0.7]))
    assert environment.observation_size == first.observation.size == 4
    assert shown.observation[2] == jnp.float32(0.7)
    assert shown.observation[3] == shown.reward


def test_inside_an_auto_reset_no_action_of_the_last_episode_is_shown():
    _, shown, _ = numpy_rollout(AutoReset(LastActionAndReward(Counter())))
    ended = shown.terminated | shown.truncated
    np.testing.assert_array_equal(shown.observation[ended, 2:], 0)
    np.testing.assert_array_equal(shown.observation[~ended, 2:5].sum(axis=1), 1)


@pytest.mark.parametrize("copies", [None, 3])
def test_observations_are_normalised_by_all_that_was_seen(copies):
    plain = AutoReset(Counter()) if copies is None else Vectorised(AutoReset(Counter()), copies)
    first, shown, _ = numpy_rollout(plain)
    scaled_first, scaled, states = numpy_rollout(NormaliseObservations(plain))
    seen = np.concatenate([first.observation[None], shown.observation])
    normalised = np.concatenate([scaled_first.observation[None], scaled.observation])
    for t in range(len(seen)):
        past = seen[: t + 1].reshape(-1, 2).astype(np.float64)
        expected = (seen[t] - past.mean(axis=0)) / np.sqrt(past.var(axis=0) + 1e-8)
        np.testing.assert_allclose(normalised[t], expected, atol=2e-4)
    # Statistics have the shape of one observation, whatever the number of copies.
    assert states.moments.mean.shape == states.moments.variance.shape == (40, 2)
    last = jax.tree.map(lambda leaf: leaf[-1], states.moments)
    np.testing.assert_allclose(last.variance, seen.reshape(-1, 2).var(axis=0), rtol=1e-4)
    np.testing.assert_array_equal(scaled.reward, shown.reward)


def test_the_reference_shares_one_mean_and_variance_among_features():
    plain = AutoReset(Counter())
    first, shown, _ = numpy_rollout(plain)
    _, scaled, states = numpy_rollout(NormaliseObservations(plain, fidelity="reference"))
    everything = np.concatenate([first.observation[None], shown.observation])
    assert states.moments.mean.shape == (40,)
    np.testing.assert_allclose(states.moments.mean[-1], everything.mean(), rtol=1e-4)
    np.testing.assert_allclose(states.moments.variance[-1], everything.var(), rtol=1e-4)
    expected = (everything[-1] - everything.mean()) / everything.std()
    np.testing.assert_allclose(scaled.observation[-1], expected, rtol=1e-4)


@pytest.mark.parametrize("copies", [None, 3])
def test_rewards_are_scaled_by_the_spread_of_discounted_returns(copies):
    plain = AutoReset(Counter()) if copies is None else Vectorised(AutoReset(Counter()), copies)
    _, shown, _ = numpy_rollout(plain)
    _, scaled, _ = numpy_rollout(ScaleRewards(plain, discount=0.9))
    discounted, history = 0.0, []
    for t, reward in enumerate(shown.reward):
        discounted = 0.9 * discounted + reward.astype(np.float64)
        history.append(discounted)
        expected = np.clip(reward / np.sqrt(np.var(history) + 1e-8), -10, 10)
        np.testing.assert_allclose(scaled.reward[t], expected, rtol=2e-4)
        discounted = np.where(shown.terminated[t] | shown.truncated[t], 0.0, discounted)
    np.testing.assert_array_equal(scaled.observation, shown.observation)


@pytest.mark.parametrize("copies", [None, 3])
def test_statistics_of_finished_episodes(copies):
    plain = AutoReset(Counter()) if copies is None else Vectorised(AutoReset(Counter()), copies)
    _, shown, states = numpy_rollout(EpisodeStatistics(plain))
    rewards = shown.reward.reshape(40, -1)
    ended = (shown.terminated | shown.truncated).reshape(40, -1)
    for copy in range(rewards.shape[1]):
        total, length, last = 0.0, 0, (0.0, 0, 0)
        for t in range(40):
            total, length = total + rewards[t, copy], length + 1
            if ended[t, copy]:
                last, total, length = (total, length, last[2] + 1), 0.0, 0
            found = [
                np.reshape(field, (40, -1))[t, copy]
                for field in (states.last_return, states.last_length, states.finished)
            ]
            np.testing.assert_allclose(found, last, rtol=1e-6)
    assert states.finished.max() > 8


def test_every_episode_starts_by_a_reset_of_its_own():
    first, shown, _ = numpy_rollout(AutoReset(Counter()), steps=400)
    ended = shown.terminated | shown.truncated
    starts = np.append(first.observation[0], shown.observation[ended, 0])
    assert ended.sum() > 100
    # Of 1000 possible starts: nearly all differ, where a cached reset would repeat one.
    assert len(np.unique(starts)) > 0.85 * len(starts)
    np.testing.assert_array_equal(shown.observation[ended, 1], 0)
    # Three steps if the start is even, four and a truncation if it is odd.
    begins = np.append(0, np.flatnonzero(ended)[:-1] + 1)
    lengths = np.flatnonzero(ended) - begins + 1
    np.testing.assert_array_equal(lengths, np.where(starts[:-1] % 2 == 0, 3, 4))
    np.testing.assert_array_equal(shown.truncated[ended], starts[:-1] % 2 == 1)
    # What the episode showed last is kept for bootstrapping.
    np.testing.assert_array_equal(shown.final_observation[ended, 1], 100 * lengths)
    np.testing.assert_array_equal(shown.final_observation[~ended], shown.observation[~ended])
    np.testing.assert_array_equal(shown.reward[ended], starts[:-1] * lengths)


def test_a_copy_shows_what_it_shows_alone():
    key = jax.random.key(3)
    first, shown, _ = rollout(Vectorised(AutoReset(Counter()), 3), key, 40)
    for copy, copy_key in enumerate(jax.random.split(key, 3)):
        alone_first, alone, _ = rollout(AutoReset(Counter()), copy_key, 40)
        both = zip(
            jax.tree.leaves((first, shown)), jax.tree.leaves((alone_first, alone)), strict=True
        )
        for together, single in both:
            axis = together.ndim - single.ndim
            assert axis == 1
            taken = jnp.take(together, copy, axis=0 if together.shape[0] == 3 else 1)
            np.testing.assert_array_equal(taken, single)


def test_resets_drawn_in_advance_are_used_once_and_in_time():
    environment = VectorisedAutoReset(Counter(), copies=16, pool_per_copy=2)
    first, shown, states = numpy_rollout(environment, steps=200)
    ended = shown.terminated | shown.truncated
    assert ended.sum() > 800 and states.pools[-1] > 25
    np.testing.assert_array_equal(shown.observation[ended, 1], 0)
    for copy in range(16):
        stop = ended[:, copy]
        starts = np.append(first.observation[copy, 0], shown.observation[stop, copy, 0])
        lengths = np.diff(np.append(-1, np.flatnonzero(stop)))
        np.testing.assert_array_equal(lengths, np.where(starts[:-1] % 2 == 0, 3, 4))
        np.testing.assert_array_equal(shown.final_observation[stop, copy, 1], 100 * lengths)
    # Starts are uniform: none is handed out more often than chance has it.
    starts = np.append(first.observation[:, 0], shown.observation[ended, 0])
    counts = np.bincount(starts.astype(int), minlength=1000)
    expected = len(starts) / 1000
    statistic = ((counts - expected) ** 2 / expected).sum()
    assert 800 < statistic < 1200


def test_seeds_in_a_further_batch_show_what_they_show_alone():
    environment = VectorisedAutoReset(Counter(), copies=4, pool_per_copy=2)
    keys = jax.random.split(jax.random.key(5), 3)
    batch = jax.vmap(lambda key: rollout(environment, key, 40))(keys)
    for seed in range(3):
        alone = rollout(environment, keys[seed], 40)
        np.testing.assert_array_equal(batch[1].observation[seed], alone[1].observation)


@pytest.mark.parametrize("action", [-1, 3, 200])
def test_an_illegal_action_is_an_error(action):
    environment = CheckActions(Counter())
    state, _ = environment.reset(jax.random.key(0))
    step = jax.jit(checkify.checkify(environment.step))
    error, _ = step(state, jnp.int32(action))
    with pytest.raises(checkify.JaxRuntimeError, match=rf"illegal action {action}: .* 0 to 2"):
        error.throw()
    for legal in range(3):
        error, (_, shown) = step(state, jnp.int32(legal))
        error.throw()
        np.testing.assert_array_equal(
            shown.observation, Counter().step(state, legal)[1].observation
        )


@pytest.mark.parametrize("torque", [2.01, -3.0, jnp.inf, jnp.nan])
def test_a_torque_beyond_its_bound_is_an_error(torque):
    environment = CheckActions(make("PositionOnlyPendulumEasy"))
    state, _ = environment.reset(jax.random.key(0))
    step = jax.jit(checkify.checkify(environment.step))
    step(state, jnp.array([-2.0]))[0].throw()
    with pytest.raises(checkify.JaxRuntimeError, match=r"not within ±2\.0"):
        step(state, jnp.array([torque]))[0].throw()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Vectorised(Counter(), 0), "copies must be at least 1: got 0"),
        (lambda: VectorisedAutoReset(Counter(), 2, 1), "pool_per_copy must be at least 2: got 1"),
        (lambda: ScaleRewards(Counter(), 1.5), r"discount must be in \[0, 1\]: got 1.5"),
        (lambda: NormaliseObservations(Counter(), "exakt"), "'exact' or 'reference', not 'exakt'"),
        (
            lambda: NormaliseObservations(Counter(), clip=0.0),
            "clip must be above 0, or None: got 0",
        ),
        (lambda: ScaleRewards(Counter(), clip=float("nan")), "clip must be above 0, or None: got"),
    ],
)
def test_bad_constants_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: AutoReset(NormaliseObservations(Counter())), "place NormaliseObservations, "),
        (
            lambda: AutoReset(CheckActions(ScaleRewards(Counter()))),
            "AutoReset would start the stat",
        ),
        (
            lambda: VectorisedAutoReset(EpisodeStatistics(Counter()), 2),
            "^VectorisedAutoReset would",
        ),
        (lambda: LastActionAndReward(AutoReset(Counter())), "inside of AutoReset"),
        (lambda: LastActionAndReward(VectorisedAutoReset(Counter(), 2)), "inside of AutoReset"),
        (lambda: EpisodeStatistics(ScaleRewards(Counter())), "inside of ScaleRewards"),
    ],
)
def test_an_order_that_gives_wrong_numbers_is_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_the_order_that_the_package_advises_is_taken():
    inner = AutoReset(LastActionAndReward(Counter()))
    outer = NormaliseObservations(ScaleRewards(EpisodeStatistics(inner)))
    _, shown, _ = numpy_rollout(outer)
    assert shown.observation.shape == (40, 6)
    inner = VectorisedAutoReset(LastActionAndReward(Counter()), 2)
    _, shown, _ = numpy_rollout(NormaliseObservations(ScaleRewards(EpisodeStatistics(inner))))
    assert shown.observation.shape == (40, 2, 6)


def test_what_is_normalised_is_clipped():
    plain = AutoReset(Counter())
    _, free, _ = numpy_rollout(NormaliseObservations(plain, clip=None))
    _, clipped, _ = numpy_rollout(NormaliseObservations(plain, clip=0.5))
    assert np.abs(free.observation).max() > 1
    np.testing.assert_array_equal(clipped.observation, np.clip(free.observation, -0.5, 0.5))
    assert NormaliseObservations(plain).clip == ScaleRewards(plain).clip == 10
    _, free, _ = numpy_rollout(ScaleRewards(plain, clip=None))
    # The first reward of all, over a deviation of 1e-4.
    _, shown, _ = numpy_rollout(plain)
    np.testing.assert_allclose(free.reward[0], 1e4 * shown.reward[0], rtol=1e-5)


@dataclass(frozen=True)
class Fragile(Counter):
    """Shows and pays NaN from its second step on, and does not end, from one start in 25."""

    def step(self, state, action):
        state, shown = super().step(state, action)
        broken = (state.start % 25 == 1) & (state.t > 1)
        lost = jnp.where(broken, jnp.nan, 1.0)
        return state, TimeStep(
            shown.observation * lost,
            shown.reward * lost,
            shown.terminated & ~broken,
            shown.truncated & ~broken,
        )


def test_a_copy_that_breaks_down_leaves_the_statistics_of_the_others_alone():
    plain = Vectorised(AutoReset(Fragile()), 8)
    _, raw, _ = numpy_rollout(plain)
    broken = np.isnan(raw.reward[-1])
    assert 0 < broken.sum() < 8
    _, shown, states = numpy_rollout(NormaliseObservations(ScaleRewards(plain)))
    np.testing.assert_array_equal(np.isnan(shown.reward), np.isnan(raw.reward))
    np.testing.assert_array_equal(np.isnan(shown.observation), np.isnan(raw.observation))
    first, _, _ = numpy_rollout(plain)
    seen = np.concatenate([first.observation[None], raw.observation]).reshape(-1, 2)
    finite = seen[np.isfinite(seen).all(axis=1)]
    np.testing.assert_allclose(states.moments.variance[-1], finite.var(axis=0), rtol=1e-4)
    np.testing.assert_array_equal(states.moments.count[-1], len(finite))


@dataclass(frozen=True)
class Cue:
    """Noise, and a cue, also normal, that is shown first and hidden for two more steps."""

    observation_size = 2
    actions = 1
    hidden_after_first: tuple[int, ...] = (1,)

    def reset(self, key):
        state = (key, jax.random.normal(key), jnp.int32(0))
        return state, first_time_step(self.shown(state))

    def shown(self, state):
        key, cue, t = state
        noise = jax.random.normal(jax.random.fold_in(key, t))
        return jnp.stack([noise, jnp.where(t == 0, cue, 0.0)])

    def step(self, state, action):
        state = (*state[:2], state[2] + 1)
        no = jnp.zeros((), bool)
        return state, TimeStep(self.shown(state), jnp.zeros(()), state[2] == 3, no)


RUNS, STEPS = 400, 29


def explained(environment, when):
    """How well a regression on one observation tells the cue: R² on runs that it was not fitted to.

    `when` chooses the steps.
    """
    keys = jax.random.split(jax.random.key(2), RUNS)
    first, shown, states = jax.vmap(lambda key: rollout(environment, key, STEPS))(keys)
    seen = np.concatenate([first.observation[:, None], shown.observation], axis=1)[:, when]
    inner = states.inner
    while not isinstance(inner, tuple) or hasattr(inner, "_fields"):
        inner = inner.inner
    cues = np.asarray(inner[1])[:, np.maximum(when - 1, 0)]
    half = RUNS // 2
    inputs = [
        np.column_stack([part.reshape(-1, 2), np.ones(half * len(when))])
        for part in np.split(seen, [half])
    ]
    wanted = [part.reshape(-1) for part in np.split(cues, [half])]
    weights, *_ = np.linalg.lstsq(inputs[0], wanted[0], rcond=1e-6)
    return 1 - np.mean((inputs[1] @ weights - wanted[1]) ** 2) / wanted[1].var()


def test_a_normalised_observation_does_not_tell_what_is_hidden():
    times = np.arange(1, STEPS + 1)
    hidden, shown = times[times % 3 != 0], times[(times % 3 == 0) & (times > 10)]
    normalised = NormaliseObservations(AutoReset(Cue()))
    assert explained(normalised, hidden) < 0.01
    assert explained(normalised, shown) > 0.7
    # An environment that does not say what it hides is given away.
    assert explained(NormaliseObservations(AutoReset(Cue(()))), hidden[:6]) > 0.4


@pytest.mark.parametrize(
    "restarting",
    [AutoReset, lambda game: Vectorised(AutoReset(game), 3), lambda g: VectorisedAutoReset(g, 4)],
    ids=["one", "three", "drawn in advance"],
)
def test_what_is_hidden_stays_0_with_whatever_is_inside(restarting):
    environment = restarting(LastActionAndReward(Cue()))
    first, shown, states = numpy_rollout(NormaliseObservations(environment), steps=STEPS)
    seen = np.concatenate([first.observation[None], shown.observation])[..., 1]
    at_start = np.arange(STEPS + 1) % 3 == 0
    np.testing.assert_array_equal(seen[~at_start], 0)
    assert (seen[at_start][1:] != 0).all() and np.abs(seen).max() < 4
    np.testing.assert_array_equal(
        states.moments.count[-1][:2], np.array([30, 10]) * np.size(first.reward)
    )


@pytest.mark.parametrize("copies", [None, 3])
def test_the_final_observation_is_normalised_as_that_step_would_have_shown_it(copies):
    def stack(restarts):
        return NormaliseObservations(ScaleRewards(EpisodeStatistics(restarts)))

    inside = AutoReset(LastActionAndReward(Counter()))
    plain = inside if copies is None else Vectorised(inside, copies)
    first, shown, states = numpy_rollout(stack(plain))
    _, unscaled, _ = numpy_rollout(plain)
    np.testing.assert_array_equal(first.final_observation, first.observation)
    ended = shown.terminated | shown.truncated
    assert ended.sum() > 8
    moments = states.moments
    mean, spread = moments.mean, np.sqrt(moments.variance + 1e-8)
    if copies is not None:
        mean, spread = mean[:, None], spread[:, None]
    expected = np.clip((unscaled.final_observation - mean) / spread, -10, 10)
    np.testing.assert_allclose(shown.final_observation, expected, rtol=1e-5, atol=1e-5)
    same = np.all(shown.final_observation == shown.observation, axis=-1)
    np.testing.assert_array_equal(same, ~ended)
    # 100 t: three steps after an even start, four and a truncation after an odd one
    lengths = unscaled.final_observation[ended][:, 1] / 100
    np.testing.assert_array_equal(lengths, np.where(shown.truncated[ended], 4, 3))


@pytest.mark.parametrize("restarts", [AutoReset, lambda game: VectorisedAutoReset(game, 4)])
def test_a_final_observation_does_not_show_what_is_hidden(restarts):
    _, shown, _ = numpy_rollout(NormaliseObservations(restarts(Cue())), steps=STEPS)
    np.testing.assert_array_equal(shown.final_observation[..., 1], 0)
    ended = shown.terminated
    assert (shown.observation[ended][:, 1] != 0).all() and ended.sum() >= 9


def test_without_restarts_only_the_reset_shows_what_is_hidden():
    _, shown, states = numpy_rollout(NormaliseObservations(Cue()), steps=6)
    np.testing.assert_array_equal(shown.observation[:, 1], 0)
    np.testing.assert_array_equal(states.moments.count[-1], [7, 1])


def test_every_wrapper_is_exported_and_passes_on_the_sizes():
    for name in wrappers.__all__:
        wrapper = getattr(wrappers, name)(Counter())
        assert wrapper.actions == 3
        assert wrapper.observation_size == (6 if name == "LastActionAndReward" else 2)
