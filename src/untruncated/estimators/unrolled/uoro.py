"""Unbiased online recurrent optimisation (UORO): RTRL's Jacobian as a random product of vectors.

Tallec and Ollivier, "Unbiased Online Recurrent Optimization" (2018); PES paper, Section 3.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.catalogue.fidelity import Fidelity
from untruncated.catalogue.record import Record
from untruncated.estimators.unrolled.protocol import (
    Clock,
    advance,
    check_theta,
    ends,
    split_key,
    start_anew,
    start_clock,
)
from untruncated.estimators.unrolled.rtrl import check_flat, flat_state, flat_step

if TYPE_CHECKING:
    from untruncated.problems.protocol import Problem, Theta

EPSILON = 1e-7


class RankOne(NamedTuple):
    """The state, and vectors whose product's expectation is G = ds/dθ.

    `previous` is the estimated gradient of the last loss, where losses are telescoped.
    """

    clock: Clock
    state: Any
    left: Float[Array, " state"]
    right: Float[Array, " parameters"]
    previous: Float[Array, " parameters"]


@dataclass(frozen=True)
class UORO(Record):
    """G ≈ s̃ θ̃ᵀ with s̃' = ρ₀ H s̃ + ρ₁ ν and θ̃' = θ̃/ρ₀ + Fᵀν/ρ₁, ν random signs, for every step.

    The signs are those of the state's numbers; its data has no part in this.
    The gradient uses the vectors before the update. With `fidelity` "exact", H s̃ is a
    forward-mode derivative. With "reference", it is the finite difference with a step of 1e-7 of
    the paper's public code, whose rounding errors in float32 are as large as the result.
    """

    fidelity: Fidelity = "exact"

    def init(self, problem: "Problem", theta: "Theta", key: PRNGKeyArray) -> RankOne:
        check_theta(theta, self)
        state = problem.initial_state(split_key(key).start)
        check_flat(problem, state, self)
        right = jnp.zeros_like(ravel_pytree(theta)[0])
        left = jnp.zeros_like(flat_state(state))
        return RankOne(start_clock(problem), state, left, right, right)

    def step(
        self, problem: "Problem", theta: "Theta", state: RankOne, key: PRNGKeyArray
    ) -> tuple["Theta", RankOne]:
        keys = split_key(key)
        transition, flat_theta, flat, whole = flat_step(
            problem, theta, state.state, state.clock, keys.data
        )
        (after, loss), pullback, data = jax.vjp(transition, flat_theta, flat, has_aux=True)
        loss_theta, loss_state = pullback((jnp.zeros_like(after), jnp.ones_like(loss)))
        gradient = (loss_state @ state.left) * state.right + loss_theta

        signs = jax.random.rademacher(keys.noise, after.shape, after.dtype)
        immediate, _ = pullback((signs, jnp.zeros_like(loss)))

        def next_state(flat: Array) -> Array:
            return transition(flat_theta, flat)[0][0]

        if self.fidelity == "reference":
            propagated = (next_state(flat + EPSILON * state.left) - after) / EPSILON
        else:
            _, propagated = jax.jvp(next_state, (flat,), (state.left,))
        rho_0 = _ratio(state.right, propagated)
        rho_1 = _ratio(immediate, signs)

        ended, _ = ends(state.clock, 1)
        fresh = problem.initial_state(keys.start)
        carried = RankOne(
            advance(problem, state.clock, 1),
            start_anew(ended, fresh, whole(after, data)),
            jnp.where(ended, 0.0, rho_0 * propagated + rho_1 * signs),
            jnp.where(ended, 0.0, state.right / rho_0 + immediate / rho_1),
            jnp.where(ended, 0.0, gradient),
        )
        if problem.unroll_loss == "telescoped":
            gradient -= state.previous
        return ravel_pytree(theta)[1](gradient), carried

    def inner_steps(self, problem: "Problem") -> int:
        del problem
        return 1


def _ratio(numerator: Array, denominator: Array) -> Float[Array, ""]:
    """The factor that makes two vectors about equally long, which keeps the variance small."""
    norm = jnp.linalg.norm
    return jnp.sqrt((norm(numerator) + EPSILON) / (norm(denominator) + EPSILON))
