"""Moments in float32 against NumPy's in float64, up to 10⁹ samples."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.environments.wrappers.running_moments import (
    MOST_SAMPLES,
    Moments,
    no_moments,
    with_samples,
)


@partial(jax.jit, static_argnums=2)
def one_by_one(moments, table, rounds):
    """The moments with the rows of a table, singly, again and again."""

    def one(moments, row):
        return with_samples(moments, row[None]), None

    def whole(moments, _):
        return jax.lax.scan(one, moments, table)[0], None

    return jax.lax.scan(whole, moments, None, rounds)[0]


def merged(first, second):
    """Count, mean and variance of two lots of samples, each given by these three."""
    (n, mean, variance), (m, other, spread) = first, second
    total = n + m
    weight = m / total
    shift = other - mean
    return (
        total,
        mean + weight * shift,
        (1 - weight) * (variance + weight * shift**2) + weight * spread,
    )


def of(table, times=1):
    wide = np.asarray(table, np.float64)
    return times * len(wide), wide.mean(axis=0), wide.var(axis=0)


def assert_moments(moments, expected, rtol):
    count, mean, variance = expected
    np.testing.assert_array_equal(moments.count, count)
    np.testing.assert_allclose(moments.mean, mean, rtol=rtol)
    np.testing.assert_allclose(moments.variance, variance, rtol=rtol)
    assert {leaf.dtype for leaf in moments[1:]} == {jnp.dtype("float32")}


def samples(mean, deviation, shape, seed=0):
    draw = np.random.default_rng(seed).normal(mean, deviation, shape)
    return draw.astype(np.float32)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_single_samples_and_batches_are_alike(shape):
    table = samples(3, 2, (600, *shape))
    singly = one_by_one(no_moments(shape), table, 1)
    batches = no_moments(shape)
    for batch in np.split(table, [1, 2, 250, 599]):
        batches = with_samples(batches, batch)
    for moments in (singly, batches):
        assert_moments(moments, of(table), 1e-6)


def test_nothing_is_known_before_the_first_sample():
    moments = no_moments((2,))
    np.testing.assert_array_equal(jnp.stack([moments.mean, moments.variance]), 0)
    moments = with_samples(moments, jnp.array([[5.0, -1e4]]))
    np.testing.assert_array_equal(moments.mean, [5.0, -1e4])
    np.testing.assert_array_equal(moments.variance, 0)


@pytest.mark.parametrize("count", [2**24, 50_000_000, 900_000_000])
def test_single_samples_past_the_last_whole_number_of_a_float32(count):
    """A tenth more samples, of other moments, one after the other in tens of equal weight."""
    before = (count, 3.0, 4.0)
    start = no_moments(())._replace(
        count=jnp.int32(count), mean=jnp.float32(3), variance=jnp.float32(4)
    )
    table = samples(30, 2, 1000)
    moments = one_by_one(start, table, 300)
    # What 300,000 samples change is told to a thousandth of itself.
    count, mean, variance = merged(before, of(table, 300))
    assert moments.count == count
    found = np.float64(moments.mean) + np.float64(moments.mean_rest) - 3
    np.testing.assert_allclose(found, mean - 3, rtol=1e-3)
    found = np.float64(moments.variance) + np.float64(moments.variance_rest) - 4
    np.testing.assert_allclose(found, variance - 4, rtol=1e-3)


def test_a_thousand_million_samples_in_batches():
    table, times = samples(1000, 0.5, 100_000), 10_000
    start = with_samples(no_moments(()), samples(0, 10, 1000, 1))

    @jax.jit
    def all_of_them(moments, table):
        def more(_, moments):
            return with_samples(moments, table)

        return jax.lax.fori_loop(0, times, more, moments)

    expected = merged(of(samples(0, 10, 1000, 1)), of(table, times))
    assert expected[0] > 10**9
    assert_moments(all_of_them(start, table), expected, 1e-4)


def test_from_the_largest_count_on_older_samples_fade():
    start = Moments(jnp.int32(MOST_SAMPLES), *map(jnp.float32, (3, 4, 0, 0)))
    shares = []
    for _ in range(3):
        moments = with_samples(start, jnp.full(1000, 5.0))
        shares.append((np.float64(moments.mean) + np.float64(moments.mean_rest) - 3) / 2)
        start = start._replace(count=moments.count)
    np.testing.assert_allclose(shares, 1000 / (MOST_SAMPLES + 1000), rtol=1e-5)
    assert start.count == MOST_SAMPLES + 1000


def test_samples_that_are_not_counted_make_no_difference():
    table = samples(3, 2, (50, 2))
    counted = np.random.default_rng(1).random((50, 2)) < 0.3
    moments = with_samples(no_moments((2,)), table[:20], counted[:20])
    moments = with_samples(moments, table[20:], counted[20:])
    for column in range(2):
        kept = table[counted[:, column], column]
        found = jax.tree.map(lambda leaf, column=column: leaf[column], moments)
        assert_moments(found, of(kept), 1e-5)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e20, -3e38])
def test_samples_that_cannot_be_squared_are_left_out(bad):
    table = samples(3, 2, 10)
    moments = with_samples(no_moments(()), np.append(table, np.float32(bad)))
    moments = with_samples(moments, np.float32([bad]))
    assert_moments(moments, of(table), 1e-6)
