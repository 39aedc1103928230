"""Mean and variance of everything seen so far, right in float32 after any number of samples."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

# From here on every new sample has the weight of this one, and older ones fade: a count can't
# overflow.
MOST_SAMPLES = 2**30
# A sample farther from the mean is left out: its square, summed, could be infinite.
FARTHEST = 1e15


class Moments(NamedTuple):
    """Number of samples, their mean, and their mean squared distance from it; 0 before the first.

    After 2²⁴ samples what one more changes is less than the rounding error of a float32. So mean
    and variance each come with a `rest`, the part of their sum that rounding has left out.
    """

    count: Int32[Array, "*shape"]
    mean: Float[Array, "*shape"]
    variance: Float[Array, "*shape"]
    mean_rest: Float[Array, "*shape"]
    variance_rest: Float[Array, "*shape"]


def no_moments(shape: tuple[int, ...], dtype: jnp.dtype = jnp.float32) -> Moments:
    """Before the first sample."""
    zeros = jnp.zeros(shape, dtype)
    return Moments(jnp.zeros(shape, jnp.int32), zeros, zeros, zeros, zeros)


def with_samples(
    moments: Moments,
    samples: Float[Array, "samples *shape"],
    counted: Bool[Array, "samples *shape"] | bool = True,
) -> Moments:
    """The moments with more samples, by the formula of Chan, Golub and LeVeque for the means.

    Samples that are not `counted` make no difference; neither do those that are not finite or more
    than 1e15 from the mean.
    """
    apart = samples - moments.mean - moments.mean_rest
    counted = counted & (jnp.abs(apart) < FARTHEST)
    more = jnp.sum(counted, axis=0, dtype=jnp.int32)
    count = jnp.minimum(moments.count, MOST_SAMPLES) + more

    def mean_of(values: Array) -> Array:
        return jnp.where(counted, values, 0).sum(axis=0) / jnp.maximum(more, 1).astype(apart.dtype)

    share = more.astype(apart.dtype) / jnp.maximum(count, 1).astype(apart.dtype)
    shift = mean_of(apart)
    spread = mean_of((apart - shift) ** 2)
    change = spread - moments.variance + (1 - share) * shift**2
    mean, mean_rest = _plus(moments.mean, moments.mean_rest, share * shift)
    variance, variance_rest = _plus(moments.variance, moments.variance_rest, share * change)
    return Moments(count, mean, jnp.maximum(variance, 0), mean_rest, variance_rest)


def _plus(total: Array, rest: Array, term: Array) -> tuple[Array, Array]:
    """The rounded sum of all three and the error of the rounding; Knuth (1969), TwoSum."""
    term = term + rest
    rounded = total + term
    of_term = rounded - total
    return rounded, (total - (rounded - of_term)) + (term - of_term)
