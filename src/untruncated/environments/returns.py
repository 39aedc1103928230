"""Discounted returns of a realised stream: what a prediction is compared with."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def discounted_returns(
    cumulants: Float[Array, " total"], discount: float, steps: int
) -> Float[Array, " steps"]:
    """The return after each of the first `steps` steps (RTU paper, Eq. 45).

    `G_t = sum_k discount^k c_{t+k+1}`: the return after step `t` leaves out the cumulant of step
    `t` itself. The sum ends where `cumulants` ends, so the stream has to be run past the last step
    of interest, by `tail_steps(discount)` steps.

    Args:
        cumulants: the cumulants of steps `0 .. total - 1`, in the units of the return.
        discount: factor per step, in [0, 1).
        steps: how many returns to give; fewer than `total`.

    Raises:
        ValueError: if `discount` is outside [0, 1), or if there is no step past the end.
    """
    _check_discount(discount)
    total = cumulants.shape[0]
    if not 0 <= steps < total:
        raise ValueError(f"steps must be at least 0 and below the stream's {total}: got {steps}")

    def backward(
        following: Float[Array, ""], cumulant: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        return cumulant + discount * following, following

    # At step t the carry is the sum from t + 1 on, which is the return after t.
    end = jnp.zeros((), cumulants.dtype)
    _, returns = jax.lax.scan(backward, end, cumulants, reverse=True)
    return returns[:steps]


def tail_steps(discount: float, tolerance: float = 1e-7) -> int:
    """How far to run a stream past its end so that a cumulant beyond it weighs next to nothing.

    Returns:
        The smallest number of steps `n >= 1` with `discount**n < tolerance`. A return cut there
        is short by less than `tolerance / (1 - discount)` times the largest cumulant.

    Raises:
        ValueError: if `discount` is outside [0, 1) or `tolerance` is not positive.
    """
    _check_discount(discount)
    if not tolerance > 0:
        raise ValueError(f"tolerance must be positive: got {tolerance}")
    if discount == 0:
        return 1
    # The quotient of logarithms may be off by one either way through rounding.
    n = max(1, math.floor(math.log(tolerance) / math.log(discount)) - 1)
    while discount**n >= tolerance:
        n += 1
    return n


def _check_discount(discount: float) -> None:
    if not 0 <= discount < 1:
        raise ValueError(f"discount must be in [0, 1): got {discount}")
