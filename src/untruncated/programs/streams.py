"""A continuing stream as the prediction programs take it: in chunks, with its returns."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from untruncated.environments.returns import discounted_returns, tail_steps


def start_streams(environment: Any, seeds: Int[Array, " seeds"]) -> Any:
    """Each seed's stream before step 0. A stream depends on its own seed alone."""
    keys = jax.vmap(jax.random.key)(seeds)
    return jax.vmap(environment.start)(jax.vmap(partial(jax.random.fold_in, data=0))(keys))


def stream_with_returns(
    environment: Any, discount: float, state: Any, steps: int
) -> tuple[
    Any,
    Float[Array, "steps features"],
    Float[Array, " steps"],
    Float[Array, " steps"],
]:
    """The stream's state after `steps` steps, and their observations, cumulants and returns.

    Returns look past the chunk's end, at what the stream will bring next, so far that where the
    chunk ends makes no difference to them.
    """
    ahead = tail_steps(discount, tolerance=1e-12)
    state, time_steps = environment.unroll(state, steps, ahead)
    float_type = jnp.result_type(float)
    cumulants = time_steps.reward.astype(float_type)
    returns = discounted_returns(cumulants, discount, steps)
    return state, time_steps.observation[:steps].astype(float_type), cumulants[:steps], returns
