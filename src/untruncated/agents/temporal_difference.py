"""Temporal differences: errors, eligibility traces and generalised advantages; pure functions."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


def td_error(
    reward: Float[Array, "*batch"],
    discount: float,
    next_value: Float[Array, "*batch"],
    value: Float[Array, "*batch"],
) -> Float[Array, "*batch"]:
    """δ = r + γ v' - v. RTU paper, Section 4.2."""
    return reward + discount * next_value - value


def accumulate_trace(eligibility: Any, gradient: Any, decay: float) -> Any:
    """e ← (γ λ) e + ∇v on every leaf, where `decay` is γ λ. RTU paper, Section 4.2."""
    return jax.tree.map(lambda e, g: decay * e + g, eligibility, gradient)


def gae(
    rewards: Float[Array, "steps *batch"],
    values: Float[Array, "steps *batch"],
    next_values: Float[Array, "steps *batch"],
    terminated: Bool[Array, "steps *batch"],
    truncated: Bool[Array, "steps *batch"],
    discount: float,
    trace_decay: float,
) -> Float[Array, "steps *batch"]:
    """Generalised advantage estimates of a rollout (Schulman et al., 2016).

    A_t = δ_t + γ λ A_{t+1}, where the sum stops at the end of an episode, for either reason. The
    return goes on past a time limit, so δ has the value of what would have followed; past a
    termination it has none.

    Args:
        rewards: What the actions of the steps earned.
        values: Of the observations in which the actions were chosen.
        next_values: Of what each step showed in the end: where an episode ended, the value of its
            final observation, not of the next episode's first.
        terminated: The episode ended with the step, by the rules of the environment.
        truncated: The episode ended with the step, by a time limit.
        discount: γ.
        trace_decay: λ.
    """
    errors = td_error(rewards, discount, jnp.where(terminated, 0, next_values), values)
    goes_on = ~(terminated | truncated)

    def back(later: Array, step: tuple[Array, Array]) -> tuple[Array, Array]:
        error, same_episode = step
        advantage = error + discount * trace_decay * jnp.where(same_episode, later, 0)
        return advantage, advantage

    return jax.lax.scan(back, jnp.zeros_like(errors[0]), (errors, goes_on), reverse=True)[1]
