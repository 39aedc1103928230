"""The stream against its definition: hand-written trials, distributions, bit-equal randomness."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from untruncated.environments.trace_conditioning import TraceConditioning, _uniform_integer

INTERVALS = {10: (7, 13), 20: (14, 26), 30: (20, 40)}
SEEDS, STEPS = 5, 200_000

# Compiled once per environment and length.
reset = jax.jit(TraceConditioning.reset, static_argnums=0)
step = jax.jit(TraceConditioning.step, static_argnums=0)
unroll = jax.jit(TraceConditioning.unroll, static_argnums=(0, 2))


@functools.cache
def _stream(interval):
    """Observations of `SEEDS` streams of `STEPS` steps."""
    environment = TraceConditioning(interval)

    streams = []
    for seed in range(SEEDS):
        state, first = reset(environment, jax.random.key(seed))
        _, rest = unroll(environment, state, STEPS - 1)
        streams.append(np.vstack([first.observation, rest.observation]))
    return np.stack(streams)


def _onsets(signal):
    """Steps at which a 0/1 signal of shape (steps,) turns on."""
    return np.flatnonzero(np.diff(signal, prepend=0) > 0)


def _assert_identical(left, right):
    for a, b in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True):
        if jnp.issubdtype(a.dtype, jax.dtypes.prng_key):
            a, b = jax.random.key_data(a), jax.random.key_data(b)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


# Uniforms (ISI, ITI, distractor) of a stream written by hand. The intervals count only at steps 0
# and 8, where trials start. ISI is on 5..9, so 0 gives 5 and 0.3 gives 6; ITI is on 3..5, so 0
# gives 3 and 0.99 gives 5. The distractor turns on below 0.1.
SCRIPT = [
    # isi, iti, distractor      observed: US, CS, distractor
    ((0.0, 0.0, 0.5), (0, 1, 0)),  # 0: the first trial starts
    ((0.9, 0.9, 0.5), (0, 1, 0)),
    ((0.9, 0.9, 0.09), (0, 1, 1)),  # 2: the distractor turns on
    ((0.9, 0.9, 0.0), (0, 1, 1)),  # 3: a draw that would succeed changes nothing while on
    ((0.9, 0.9, 0.0), (0, 0, 1)),
    ((0.9, 0.9, 0.0), (1, 0, 1)),  # 5: US, 5 steps after the CS
    ((0.9, 0.9, 0.0), (1, 0, 0)),  # 6: the distractor's dead step
    ((0.9, 0.9, 0.0), (0, 0, 1)),  # 7: draws again, and turns on
    ((0.3, 0.99, 0.5), (0, 1, 1)),  # 8: the second trial starts, 3 steps after the US onset
    ((0.0, 0.0, 0.5), (0, 1, 1)),
    ((0.0, 0.0, 0.5), (0, 1, 1)),
    ((0.0, 0.0, 0.0), (0, 1, 0)),  # 11: dead again
    ((0.0, 0.0, 0.1), (0, 0, 0)),  # 12: exactly 0.1 is not below 0.1
    ((0.0, 0.0, 0.5), (0, 0, 0)),
    ((0.0, 0.0, 0.5), (1, 0, 0)),  # 14: US, 6 steps after the CS
    ((0.0, 0.0, 0.5), (1, 0, 0)),
    ((0.0, 0.0, 0.5), (0, 0, 0)),
    ((0.0, 0.0, 0.5), (0, 0, 0)),
    ((0.0, 0.0, 0.5), (0, 0, 0)),
    ((0.0, 0.0, 0.5), (0, 1, 0)),  # 19: the third trial, 5 steps after the US onset
]


class Scripted(TraceConditioning):
    """The stream with the uniforms of `SCRIPT` in place of random ones."""

    def _uniforms(self, key, times):
        return jnp.array([row for row, _ in SCRIPT], jnp.float32)[times]


SCRIPTED = Scripted(interval=7, distractors=1, iti_low=3, iti_high=5)


def test_hand_written_trials():
    state, first = reset(SCRIPTED, jax.random.key(0))
    state, rest = unroll(SCRIPTED, state, len(SCRIPT) - 1)
    expected = np.array([row for _, row in SCRIPT], np.float32)
    np.testing.assert_array_equal(np.vstack([first.observation, rest.observation]), expected)
    np.testing.assert_array_equal(rest.reward, expected[1:, 0])
    assert not (rest.terminated.any() or rest.truncated.any())
    assert state.t == len(SCRIPT)
    np.testing.assert_array_equal(state.counters, [0, 5, 3, 0])


def test_step_from_a_known_state():
    environment = TraceConditioning(interval=20, distractors=3)
    # One step before the US of a trial with ISI 15 and ITI 100; distractor 1 shows its last step.
    counters = jnp.array([14, 15, 100, 1, 4, 2], jnp.int32)
    state, _ = reset(environment, jax.random.key(0))
    state, shown = step(environment, state._replace(counters=counters))
    np.testing.assert_array_equal(shown.observation, [1, 0, 0, 1, 1])
    assert shown.observation.dtype == shown.reward.dtype == jnp.float32
    np.testing.assert_array_equal(state.counters, [15, 15, 100, 0, 3, 1])


def test_first_trial_starts_at_step_zero():
    for interval, (low, high) in INTERVALS.items():
        environment = TraceConditioning(interval)
        assert (environment.isi_low, environment.isi_high) == (low, high)
        assert environment.observation_size == 12
        observations = _stream(interval)
        np.testing.assert_array_equal(observations[:, :4, 1], 1)
        np.testing.assert_array_equal(observations[:, 4:low, :2], 0)
        for stream in observations:
            assert low <= _onsets(stream[:, 0])[0] <= high


@pytest.mark.parametrize("interval", INTERVALS)
def test_marginals(interval):
    """Duty cycles within four standard errors; the fraction of time on is a renewal process's."""
    duty = _stream(interval).mean(axis=(0, 1), dtype=np.float64)
    low, high = INTERVALS[interval]
    trial = interval + 100
    trial_variance = ((high - low + 1) ** 2 - 1 + 41**2 - 1) / 12
    p = 1 / (10 * np.arange(1, 11))
    cycle = np.concatenate([[trial, trial], 4 + 1 / p])
    variance = np.concatenate([[trial_variance, trial_variance], (1 - p) / p**2])
    expected = np.array([2, *[4] * 11]) / cycle
    error = np.sqrt(expected**2 * variance / cycle / (SEEDS * STEPS))
    # A stream starts with a CS, which shifts its mean by less than one appearance.
    assert np.all(np.abs(duty - expected) < 4 * error + 4 / STEPS)


@pytest.mark.parametrize("interval", INTERVALS)
def test_intervals_are_uniform_on_their_ranges(interval):
    isi, iti = [], []
    for stream in _stream(interval):
        us, cs = _onsets(stream[:, 0]), _onsets(stream[:, 1])
        trials = min(len(us), len(cs) - 1)
        isi.append(us[:trials] - cs[:trials])
        iti.append(cs[1 : trials + 1] - us[:trials])
        assert np.all(stream[:, 0] * stream[:, 1] == 0)
    for found, (low, high) in ((isi, INTERVALS[interval]), (iti, (80, 120))):
        values, counts = np.unique(np.concatenate(found), return_counts=True)
        np.testing.assert_array_equal(values, np.arange(low, high + 1))
        assert stats.chisquare(counts).pvalue > 1e-3


def test_distractors_stay_on_four_steps_and_off_a_geometric_time():
    for number in (1, 10):
        runs, gaps = [], []
        for stream in _stream(30):
            edges = np.flatnonzero(np.diff(stream[:, 1 + number], prepend=0, append=0))
            runs.append((edges[1::2] - edges[::2])[:-1])
            gaps.append(edges[2::2] - edges[1:-1:2])
        np.testing.assert_array_equal(np.concatenate(runs), 4)
        # The dead step, then as many steps as there were failed draws.
        gaps = np.concatenate(gaps)
        assert gaps.min() == 1
        p = 1 / (10 * number)
        edges = np.arange(1, 3 / p + 1)
        counts, _ = np.histogram(gaps, [*edges, np.inf])
        probabilities = [*stats.geom.pmf(edges[:-1], p), stats.geom.sf(edges[-1] - 1, p)]
        assert stats.chisquare(counts, len(gaps) * np.array(probabilities)).pvalue > 1e-3


def test_uniforms_are_uniform_and_independent():
    draw = jax.jit(TraceConditioning()._uniforms)
    uniforms = np.asarray(draw(jax.random.key(1), jnp.arange(100_000)))
    assert uniforms.dtype == np.float32
    assert uniforms.min() >= 0 and uniforms.max() < 1
    np.testing.assert_array_equal(uniforms * 2**24 % 1, 0)
    for column in uniforms.T:
        counts, _ = np.histogram(column, 100, (0, 1))
        assert stats.chisquare(counts).pvalue > 1e-4
    joined = np.hstack([uniforms[1:], uniforms[:-1]])
    correlations = np.corrcoef(joined.T)[np.triu_indices(joined.shape[1], 1)]
    assert np.abs(correlations).max() < 4.5 / np.sqrt(len(joined))


def test_uniform_integer_never_passes_its_end():
    ends = np.array([0, 1 - 2**-24], np.float32)
    for high in range(1, 200):
        np.testing.assert_array_equal(_uniform_integer(ends, 0, high), [0, high])


@pytest.mark.parametrize("distractors", [3, 10])
def test_step_by_step_equals_unroll(distractors):
    environment = TraceConditioning(distractors=distractors)
    state, _ = start = reset(environment, jax.random.key(3))
    end, stretch = unroll(environment, state, 300)
    for t in range(300):
        state, shown = step(environment, state)
        _assert_identical(shown, jax.tree.map(lambda leaf, t=t: leaf[t], stretch))
    _assert_identical(state, end)
    assert start[0].t == 1 and end.t == 301


def test_two_chunks_equal_one():
    environment = TraceConditioning()
    start, _ = reset(environment, jax.random.key(4))
    state, first = unroll(environment, start, 120)
    state, second = unroll(environment, state, 180)
    joined = jax.tree.map(lambda *parts: np.concatenate(parts), first, second)
    _assert_identical((state, joined), unroll(environment, start, 300))


def test_start_is_the_state_before_step_zero():
    environment, key = TraceConditioning(), jax.random.key(4)
    start, first = reset(environment, key)
    end, rest = unroll(environment, start, 299)
    joined = jax.tree.map(lambda one, more: np.concatenate([one[None], more]), first, rest)
    _assert_identical((end, joined), unroll(environment, environment.start(key), 300))


def test_seeds_in_a_batch_equal_seeds_alone():
    environment, keys = TraceConditioning(), jax.vmap(jax.random.key)(jnp.arange(5))
    starts, _ = batch_start = jax.jit(jax.vmap(environment.reset))(keys)
    batch = jax.jit(jax.vmap(lambda state: environment.unroll(state, 300)))(starts)
    for seed in range(5):
        start, _ = alone_start = reset(environment, keys[seed])
        alone = unroll(environment, start, 300)
        expected = jax.tree.map(lambda leaf, i=seed: leaf[i], (batch_start, batch))
        _assert_identical((alone_start, alone), expected)
    assert len(np.unique(batch[1].observation, axis=0)) == 5


def test_stream_does_not_depend_on_precision():
    environment = TraceConditioning()
    start, _ = reset(environment, jax.random.key(5))
    single = unroll(environment, start, 300)
    with jax.enable_x64(True):
        start, _ = reset(environment, jax.random.key(5))
        _assert_identical(unroll(environment, start, 300), single)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"interval": 6}, "interval must be large enough .* exceed cs_steps"),
        ({"interval": -30}, "interval must be large enough"),
        ({"cs_steps": 20}, "exceed cs_steps"),
        ({"cs_steps": 0}, "cs_steps must be at least 1"),
        ({"us_steps": 0}, "us_steps must be at least 1"),
        ({"us_steps": 81}, "iti_low must be at least us_steps"),
        ({"distractors": -1}, "distractors must be at least 0"),
        ({"distractor_steps": 0}, "distractor_steps must be at least 1"),
        ({"iti_low": 1}, "iti_low must be at least us_steps"),
        ({"iti_low": 121}, "iti_high must be at least iti_low"),
    ],
)
def test_invalid_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        TraceConditioning(**parameters)


def test_smallest_valid_parameters():
    environment = TraceConditioning(interval=7, distractors=0, iti_low=2, iti_high=2)
    assert environment.observation_size == 2
    state, _ = reset(environment, jax.random.key(0))
    _, shown = unroll(environment, state, 50)
    assert shown.observation.shape == (50, 2)
    assert (environment.isi_low, environment.isi_high) == (5, 9)
