"""Mean and variance of everything seen so far."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, Float32


class Moments(NamedTuple):
    """Number of samples, their mean, and the sum of their squared distances from it."""

    count: Float32[Array, ""]
    mean: Float[Array, "*shape"]
    squares: Float[Array, "*shape"]

    @property
    def variance(self) -> Float[Array, "*shape"]:
        """The mean squared distance from the mean; 0 before the first sample."""
        return self.squares / jnp.maximum(self.count, 1)


def no_moments(shape: tuple[int, ...], dtype: jnp.dtype = jnp.float32) -> Moments:
    """Before the first sample."""
    zeros = jnp.zeros(shape, dtype)
    return Moments(jnp.float32(0), zeros, zeros)


def with_samples(moments: Moments, samples: Float[Array, "samples *shape"]) -> Moments:
    """The moments with more samples, at least one, by the formula of Chan, Golub and LeVeque."""
    more = samples.shape[0]
    count = moments.count + more
    mean = samples.mean(axis=0)
    apart = mean - moments.mean
    squares = jnp.sum((samples - mean) ** 2, axis=0)
    return Moments(
        count,
        moments.mean + apart * (more / count),
        moments.squares + squares + apart**2 * (moments.count * more / count),
    )
