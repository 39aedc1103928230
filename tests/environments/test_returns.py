"""Returns against their definition."""

import jax
import numpy as np
import pytest

from untruncated.environments.returns import discounted_returns, tail_steps


@pytest.mark.parametrize("discount", [0.0, 0.5, 0.9, 0.966])
def test_returns_equal_the_double_sum(discount):
    cumulants = np.random.default_rng(0).normal(size=120)
    expected = [
        sum(discount**k * cumulants[t + k + 1] for k in range(len(cumulants) - t - 1))
        for t in range(100)
    ]
    with jax.enable_x64(True):
        returns = discounted_returns(jax.numpy.asarray(cumulants), discount, 100)
    assert returns.dtype == np.float64
    np.testing.assert_allclose(returns, expected, rtol=1e-13, atol=1e-13)


def test_return_by_hand():
    # After step 0: 0 + 1/2 * 1 + 1/4 * 0 + 1/8 * 4; the cumulant of step 0 itself is left out.
    cumulants = jax.numpy.array([7.0, 0.0, 1.0, 0.0, 4.0])
    np.testing.assert_array_equal(discounted_returns(cumulants, 0.5, 4), [1.0, 2.0, 2.0, 4.0])


def test_batched_streams():
    cumulants = jax.random.uniform(jax.random.key(0), (3, 80))
    batch = jax.vmap(lambda row: discounted_returns(row, 0.9, 50))(cumulants)
    for row, returns in zip(cumulants, batch, strict=True):
        np.testing.assert_allclose(returns, discounted_returns(row, 0.9, 50), rtol=1e-6)


@pytest.mark.parametrize("steps", [-1, 5, 6])
def test_stream_must_go_past_the_end(steps):
    with pytest.raises(ValueError, match="steps must be"):
        discounted_returns(jax.numpy.ones(5), 0.9, steps)


@pytest.mark.parametrize(
    ("discount", "expected"),
    [(0.0, 1), (1e-9, 1), (0.5, 24), (0.9, 153), (0.95, 315), (0.966, 466)],
)
def test_tail_steps(discount, expected):
    assert tail_steps(discount) == expected


def test_tail_steps_is_the_smallest_that_serves():
    for discount in [*np.linspace(0.01, 0.99, 99), 0.999, 0.9999]:
        for tolerance in (0.5, 1e-4, 1e-7, 1e-12):
            n = tail_steps(discount, tolerance)
            assert discount**n < tolerance
            assert n == 1 or discount ** (n - 1) >= tolerance
    # Exact powers, where the quotient of logarithms is a whole number.
    assert tail_steps(0.5, 0.25) == 3
    assert tail_steps(0.5, 2.0) == 1


def test_a_tail_of_that_length_is_enough():
    discount, steps = 0.966, 50
    with jax.enable_x64(True):
        cumulants = jax.numpy.ones(steps + 2000)
        cut = cumulants[: steps + tail_steps(discount)]
        enough = discounted_returns(cut, discount, steps)
        error = np.asarray(discounted_returns(cumulants, discount, steps) - enough)
    assert 0 < error.max() <= 1.0001e-7 / (1 - discount)


@pytest.mark.parametrize("discount", [-0.1, 1.0, 1.5, float("nan")])
def test_discount_out_of_range(discount):
    with pytest.raises(ValueError, match="discount must be in"):
        tail_steps(discount)
    with pytest.raises(ValueError, match="discount must be in"):
        discounted_returns(jax.numpy.ones(5), discount, 3)


@pytest.mark.parametrize("tolerance", [0.0, -1e-7, float("nan")])
def test_tolerance_out_of_range(tolerance):
    with pytest.raises(ValueError, match="tolerance must be positive"):
        tail_steps(0.9, tolerance)
