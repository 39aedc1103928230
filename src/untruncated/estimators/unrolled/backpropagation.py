"""Backpropagation through time for unrolled systems, whole or truncated."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.catalogue.estimators import UnrolledTruncatedBPTTFields
from untruncated.catalogue.fidelity import Fidelity
from untruncated.estimators.unrolled.evolution_strategies import SharedState, start_shared
from untruncated.estimators.unrolled.protocol import (
    advance,
    check_differentiable,
    check_ends,
    check_theta,
    check_truncation,
    full_unroll_loss,
    split_key,
    unroll,
)

if TYPE_CHECKING:
    from untruncated.problems.protocol import Problem, State, Theta


@dataclass(frozen=True)
class UnrolledBPTT:
    """The exact gradient of one inner problem per call, which stores all its T states."""

    def init(self, problem: "Problem", theta: "Theta", key: PRNGKeyArray) -> tuple:
        del key  # nothing is carried from one call to the next
        check_theta(theta, self)
        check_differentiable(problem, self)
        check_ends(problem, self)
        return ()

    def step(
        self, problem: "Problem", theta: "Theta", state: tuple, key: PRNGKeyArray
    ) -> tuple["Theta", tuple]:
        return jax.grad(lambda theta: full_unroll_loss(problem, theta, key))(theta), state

    def inner_steps(self, problem: "Problem") -> int:
        return problem.horizon


@dataclass(frozen=True)
class UnrolledTruncatedBPTT(UnrolledTruncatedBPTTFields):
    """Backpropagation through the next `truncation` steps, K, from a state taken as constant.

    The state goes on with the same θ that the gradient is taken at. A telescoped loss has the
    gradient of the last one, because the loss before the unroll is constant.
    """

    fidelity: Fidelity = "exact"

    def init(self, problem: "Problem", theta: "Theta", key: PRNGKeyArray) -> SharedState:
        check_theta(theta, self)
        check_differentiable(problem, self)
        check_truncation(problem, self.truncation, self.fidelity)
        return start_shared(problem, key)

    def step(
        self, problem: "Problem", theta: "Theta", state: SharedState, key: PRNGKeyArray
    ) -> tuple["Theta", SharedState]:
        keys = split_key(key)
        fresh = problem.initial_state(keys.start)

        def loss(theta: "Theta") -> tuple[Float[Array, ""], "State"]:
            end, parts = unroll(
                problem, theta, state.state, state.clock, fresh, keys.data, self.truncation
            )
            return parts.before + parts.after, end

        gradient, end = jax.grad(loss, has_aux=True)(theta)
        return gradient, SharedState(advance(problem, state.clock, self.truncation), end)

    def inner_steps(self, problem: "Problem") -> int:
        del problem
        return self.truncation
