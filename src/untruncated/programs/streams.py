"""A continuing stream as the prediction programs take it: in chunks, with its returns."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from untruncated.environments.protocol import TimeStep
from untruncated.environments.returns import discounted_returns, tail_steps


@dataclass(frozen=True)
class Stepwise:
    """The continuing stream of an environment that has `reset` and `step` alone.

    Its state is the environment's and what that shows at the next step.
    """

    environment: Any

    @property
    def observation_size(self) -> int:
        """The environment's."""
        return self.environment.observation_size

    def reset(self, key: PRNGKeyArray) -> tuple[Any, TimeStep]:
        return self.environment.reset(key)

    def step(self, state: Any) -> tuple[Any, TimeStep]:
        return self.environment.step(state)

    def start(self, key: PRNGKeyArray) -> tuple[Any, TimeStep]:
        """Before step 0, which shows what a reset does."""
        return self.environment.reset(key)

    def unroll(
        self, state: tuple[Any, TimeStep], steps: int, ahead: int = 0
    ) -> tuple[tuple[Any, TimeStep], TimeStep]:
        """The state after `steps` steps; their time steps, then those of the next `ahead` steps."""

        def step(state: tuple, _: None) -> tuple[tuple, TimeStep]:
            inside, shown = state
            return self.environment.step(inside), shown

        after, shown = jax.lax.scan(step, state, length=steps)
        _, coming = jax.lax.scan(step, after, length=ahead)
        return after, jax.tree.map(lambda *parts: jnp.concatenate(parts), shown, coming)


def keys_for(use: int, seeds: Int[Array, " seeds"]) -> PRNGKeyArray:
    """Each seed's key for one use of several, which are numbered from 0."""
    return jax.vmap(partial(jax.random.fold_in, data=use))(jax.vmap(jax.random.key)(seeds))


def start_streams(environment: Any, seeds: Int[Array, " seeds"]) -> Any:
    """Each seed's stream before step 0. A stream depends on its own seed alone."""
    return jax.vmap(environment.start)(keys_for(0, seeds))


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
