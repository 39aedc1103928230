"""Copies side by side, each restarted when its episode ends, from resets drawn in advance."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32, PRNGKeyArray

from untruncated.environments.protocol import TimeStep
from untruncated.environments.wrappers.only_if import only_if
from untruncated.environments.wrappers.vectorised import Vectorised
from untruncated.environments.wrappers.wrapper import check_restartable


class State(NamedTuple):
    """The copies, and resets for them.

    Attributes:
        key: the base key; it never changes.
        inner: states of the copies, after a reset where the last step ended an episode.
        pool: states and first observations of resets that were drawn in advance.
        used: how many of them, from the first on, have been used.
        pools: number of pools drawn so far.
    """

    key: PRNGKeyArray
    inner: Any
    pool: tuple[Any, Float[Array, "pool features"]]
    used: Int32[Array, ""]
    pools: Int32[Array, ""]


@dataclass(frozen=True)
class VectorisedAutoReset(Vectorised):
    """Like as many copies of `AutoReset`, for the cost of the resets that are needed.

    Each reset in the pool is used at most once and drawn independently of the actions, so starts
    are exactly independent. When fewer are left than there are copies, a new pool is drawn.

    Attributes:
        copies: number of copies.
        pool_per_copy: resets drawn at once, as a multiple of `copies`; at least 2.

    Raises:
        ValueError: if `pool_per_copy` is too small, if the environment repeats its first start, or
            if statistics inside would start anew with every episode.
    """

    pool_per_copy: int = 4

    restarts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_restartable(self)
        if self.pool_per_copy < 2:
            raise ValueError(f"pool_per_copy must be at least 2: got {self.pool_per_copy}")
        if self.repeats_first_start:
            raise ValueError(
                "VectorisedAutoReset draws new starts, but this environment repeats its first "
                "one: take Vectorised(AutoReset(environment), copies)"
            )

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        pools_key, copies_key = jax.random.split(key)
        inner, shown = super().reset(copies_key)
        none = jnp.int32(0)
        pool = self._drawn(pools_key, none)
        shown = shown._replace(final_observation=shown.observation)
        return State(pools_key, inner, pool, none, none + 1), shown

    def _drawn(self, key: PRNGKeyArray, number: Int32[Array, ""]) -> tuple[Any, Array]:
        keys = jax.random.split(jax.random.fold_in(key, number), self.pool_per_copy * self.copies)
        states, shown = jax.vmap(self.environment.reset)(keys)
        return states, shown.observation

    def step(self, state: State, action: Array) -> tuple[State, TimeStep]:
        inner, shown = super().step(state.inner, action)
        ended = shown.terminated | shown.truncated

        def restart(carry: Any) -> Any:
            now, pool, used, pools = carry
            now = _replaced(now, pool, used, ended)
            used = used + jnp.sum(ended, dtype=jnp.int32)
            low = used > (self.pool_per_copy - 1) * self.copies
            pool = only_if(low, lambda _: self._drawn(state.key, pools), pool)
            return now, pool, jnp.where(low, 0, used), pools + low

        carry = ((inner, shown.observation), state.pool, state.used, state.pools)
        (start, observation), *rest = only_if(jnp.any(ended), restart, carry)
        shown = shown._replace(observation=observation, final_observation=shown.observation)
        return State(state.key, start, *rest), shown


def _replaced(now: Any, pool: Any, used: Int32[Array, ""], ended: Bool[Array, " copies"]) -> Any:
    """The copies that have ended, replaced by the next resets of the pool."""
    index = jnp.maximum(used + jnp.cumsum(ended) - 1, 0)

    def leaf(old: Array, new: Array) -> Array:
        mask = ended.reshape(-1, *[1] * (old.ndim - 1))
        return jnp.where(mask, new[index], old)

    return jax.tree.map(leaf, now, pool)
