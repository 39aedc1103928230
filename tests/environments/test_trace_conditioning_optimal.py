"""The optimal predictor against known values, brute force and simulated streams."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.environments.returns import discounted_returns, tail_steps
from untruncated.environments.trace_conditioning import TraceConditioning
from untruncated.environments.trace_conditioning_optimal import (
    constant_msre,
    initial_tracker,
    mean_return,
    memoryless_msre,
    optimal_msre,
    optimal_prediction,
    optimal_predictions,
    optimal_values,
)

# interval, discount, and the MSRE of the optimal, best memoryless and best constant prediction
CASES = [
    (10, 0.9, 0.012468, 0.12777, 0.14877),
    (20, 0.95, 0.015350, 0.21546, 0.22399),
    (30, 0.966, 0.019524, 0.25562, 0.25927),
]


@pytest.mark.parametrize(("interval", "discount", "optimal", "memoryless", "constant"), CASES)
def test_exact_errors(interval, discount, optimal, memoryless, constant):
    environment = TraceConditioning(interval)
    assert optimal_msre(environment, discount) == pytest.approx(optimal, abs=1e-6)
    assert constant_msre(environment, discount) == pytest.approx(constant, abs=1e-5)
    assert memoryless_msre(environment, discount) == pytest.approx(memoryless, abs=1e-5)
    mean = 2 / (interval + 100) / (1 - discount)
    assert mean_return(environment, discount) == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize(
    ("environment", "discount"),
    [
        (TraceConditioning(10), 0.9),
        # Short trials with a long US, so that the next trial matters.
        (TraceConditioning(6, cs_steps=2, us_steps=3, iti_low=3, iti_high=7), 0.8),
        (TraceConditioning(6, cs_steps=2, us_steps=1, iti_low=1, iti_high=1), 0.8),
    ],
)
def test_tables_equal_conditional_means(environment, discount):
    """Returns of independent streams, summed step by step from their cumulants."""
    streams, rng = 20_000, np.random.default_rng(0)
    length = environment.isi_high + environment.iti_high + tail_steps(discount, 1e-9)
    cumulants = np.zeros((streams, length + environment.us_steps))
    rows, start = np.arange(streams), np.zeros(streams, int)
    first = None
    while start.min() < length:
        isi = rng.integers(environment.isi_low, environment.isi_high, streams, endpoint=True)
        iti = rng.integers(environment.iti_low, environment.iti_high, streams, endpoint=True)
        first = (isi, iti) if first is None else first
        for k in range(environment.us_steps):
            cumulants[rows, np.minimum(start + isi, length) + k] = 1
        start = start + isi + iti
    returns = np.zeros((streams, length))
    for t in reversed(range(length - 1)):
        returns[:, t] = cumulants[:, t + 1] + discount * returns[:, t + 1]

    values = optimal_values(environment, discount)
    isi, iti = first
    assert values.before_us.shape == (isi.max(),) and values.after_us.shape == (iti.max(),)
    for table, onset, ends in ((values.before_us, 0 * isi, isi), (values.after_us, isi, iti)):
        for elapsed, value in enumerate(table):
            sample = returns[rows, onset + elapsed][ends > elapsed]
            error = sample.std() / np.sqrt(len(sample))
            assert abs(sample.mean() - value) < 4.5 * error + 1e-8


@pytest.mark.parametrize(("interval", "discount"), [case[:2] for case in CASES])
def test_simulated_error(interval, discount):
    """A stream of 400,000 steps; standard error of a ratio, from blocks of twenty trials."""
    environment, steps = TraceConditioning(interval), 400_000
    values = optimal_values(environment, discount)

    @jax.jit
    def run(key):
        state, _ = environment.reset(key)
        _, stream = environment.unroll(state, steps + tail_steps(discount))
        returns = discounted_returns(stream.reward, discount, steps)
        # The stream began with the reset, whose CS is still on at its first step here.
        _, predictions = optimal_predictions(values, stream.observation[:steps])
        return stream.observation[:steps, 0], stream.observation[:steps, 1], predictions, returns

    us, cs, predictions, returns = map(np.asarray, run(jax.random.key(0)))
    starts = np.flatnonzero(np.diff(cs) > 0) + 1
    blocks = starts[::20]
    lengths = np.diff(blocks)

    def check(squared_error, expected):
        sums = np.add.reduceat(squared_error.astype(np.float64), blocks)[:-1]
        estimate = sums.sum() / lengths.sum()
        spread = np.std(sums - estimate * lengths) / lengths.mean() / np.sqrt(len(lengths))
        assert abs(estimate - expected) < 4 * spread
        assert spread < 0.02 * expected

    check((predictions - returns) ** 2, optimal_msre(environment, discount))
    mean = mean_return(environment, discount)
    check((mean - returns) ** 2, constant_msre(environment, discount))
    features = np.stack([np.ones_like(us), us, cs], axis=1).astype(np.float64)
    memoryless = features @ np.linalg.lstsq(features, returns, rcond=None)[0]
    check((memoryless - returns) ** 2, memoryless_msre(environment, discount))


@pytest.fixture(scope="module")
def stream():
    """An E = 10 stream from step 0 with the hidden counters of every step."""
    environment = TraceConditioning(10)
    state, first = jax.jit(environment.reset)(jax.random.key(2))

    def step(state, _):
        state, shown = environment.step(state)
        return state, (shown.observation, state.counters)

    run = jax.jit(lambda state: jax.lax.scan(step, state, length=3000))
    _, (observations, counters) = run(state)
    observations = jnp.concatenate([first.observation[None], observations])
    return environment, observations, jnp.concatenate([state.counters[None], counters])


def test_prediction_from_the_stream_equals_prediction_from_the_state(stream):
    environment, observations, counters = stream
    values = optimal_values(environment, 0.9)
    _, predictions = optimal_predictions(values, observations)
    expected = [
        values.before_us[clock] if clock < isi else values.after_us[clock - isi]
        for clock, isi in np.asarray(counters)[:, :2]
    ]
    np.testing.assert_array_equal(predictions, np.array(expected, np.float32))
    # Distractors carry nothing.
    _, bare = optimal_predictions(values, observations[:, :2])
    np.testing.assert_array_equal(bare, predictions)


def test_chunks_and_single_steps_equal_one_scan(stream):
    environment, observations, _ = stream
    values = optimal_values(environment, 0.9)
    _, whole = optimal_predictions(values, observations)
    tracker, first = optimal_predictions(values, observations[:777])
    _, second = optimal_predictions(values, observations[777:], tracker)
    np.testing.assert_array_equal(np.concatenate([first, second]), whole)
    tracker = initial_tracker()
    for t in range(20):
        tracker, prediction = optimal_prediction(values, tracker, observations[t])
        assert prediction == whole[t]


def test_double_precision_predictions(stream):
    environment, observations, _ = stream
    values = optimal_values(environment, 0.9)
    with jax.enable_x64(True):
        _, predictions = optimal_predictions(values, observations)
    assert predictions.dtype == np.float64
    assert np.asarray(predictions)[0] == values.before_us[0]


def test_no_prediction_without_an_onset_or_for_another_environment(stream):
    environment, observations, _ = stream
    values = optimal_values(environment, 0.9)
    silence = jnp.zeros((3, 12))
    _, predictions = optimal_predictions(values, jnp.concatenate([silence, observations[:50]]))
    assert np.isnan(predictions[:3]).all() and np.isfinite(predictions[3:]).all()
    shorter = optimal_values(TraceConditioning(7, iti_high=90), 0.9)
    assert np.isnan(optimal_predictions(shorter, observations)[1]).any()


@pytest.mark.parametrize("discount", [-0.1, 1.0, float("nan")])
def test_discount_out_of_range(discount):
    for function in (optimal_values, optimal_msre, mean_return, constant_msre):
        with pytest.raises(ValueError, match="discount must be in"):
            function(TraceConditioning(), discount)


def test_discount_zero():
    """Only the step before a US and the first step of a US of two are worth anything."""
    values = optimal_values(TraceConditioning(10), 0.0)
    hazard = 1 / np.arange(7, 0, -1)
    np.testing.assert_allclose(values.before_us, [0] * 6 + list(hazard), atol=1e-15)
    np.testing.assert_allclose(values.after_us, [1] + [0] * 119, atol=1e-15)
