"""Dense real-time recurrent learning for unrolled systems: one gradient per step."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.estimators.unrolled import (
    Clock,
    advance,
    check_differentiable,
    ends,
    split_key,
    start_clock,
)

if TYPE_CHECKING:
    from untruncated.problems.protocol import Problem, State, Theta


class FlatStep(NamedTuple):
    """A step from flat parameters and state to flat state and loss, and where it starts from."""

    transition: Callable[[Array, Array], tuple[Array, Array]]
    theta: Float[Array, " parameters"]
    state: Float[Array, " state"]


def check_flat(problem: "Problem", state: "State", estimator: object) -> None:
    """Raises a ValueError unless the problem has derivatives, with respect to its whole state."""
    check_differentiable(problem, estimator)
    others = {
        str(leaf.dtype)
        for leaf in jax.tree.leaves(state)
        if not jnp.issubdtype(leaf.dtype, jnp.floating)
    }
    if others:
        raise ValueError(
            f"{type(estimator).__name__} differentiates the whole state, and that of {problem} "
            f"holds {', '.join(sorted(others))}; use another estimator"
        )


def flat_step(
    problem: "Problem", theta: "Theta", state: "State", clock: Clock, key: PRNGKeyArray
) -> FlatStep:
    """The step that an unroll of one step with the same data key makes."""
    flat_theta, unflatten_theta = ravel_pytree(theta)
    flat_state, unflatten_state = ravel_pytree(state)
    key = jax.random.split(key, 1)[0]

    def transition(flat_theta: Array, flat_state: Array) -> tuple[Array, Array]:
        state, loss = problem.unroll_step(
            unflatten_theta(flat_theta), unflatten_state(flat_state), clock.t, key
        )
        return ravel_pytree(state)[0], loss

    return FlatStep(transition, flat_theta, flat_state)


class Sensitivity(NamedTuple):
    """The state, G = ds/dθ, and the gradient of the last loss where losses are telescoped."""

    clock: Clock
    state: Any
    jacobian: Float[Array, "state parameters"]
    previous: Float[Array, " parameters"]


@dataclass(frozen=True)
class UnrolledRTRL:
    """G' = H G + F and dL/dθ = ∂L/∂s G + ∂L/∂θ; PES paper, Section 3; Williams and Zipser (1989).

    H and F are the derivatives of the next state with respect to the state and to θ, and L is the
    loss after the step as a function of the state before it. Exact while θ does not change. With S
    numbers of state and P parameters a step costs S² P, and S or P steps there and back, whichever
    are fewer.
    """

    def init(self, problem: "Problem", theta: "Theta", key: PRNGKeyArray) -> Sensitivity:
        state = problem.initial_state(split_key(key).start)
        check_flat(problem, state, self)
        flat_theta, flat_state = ravel_pytree(theta)[0], ravel_pytree(state)[0]
        jacobian = jnp.zeros((flat_state.size, flat_theta.size), flat_theta.dtype)
        return Sensitivity(start_clock(problem), state, jacobian, jnp.zeros_like(flat_theta))

    def step(
        self, problem: "Problem", theta: "Theta", state: Sensitivity, key: PRNGKeyArray
    ) -> tuple["Theta", Sensitivity]:
        keys = split_key(key)
        transition, flat_theta, flat_state = flat_step(
            problem, theta, state.state, state.clock, keys.data
        )

        def both(flat_theta: Array, flat_state: Array) -> tuple[tuple, Array]:
            after = transition(flat_theta, flat_state)
            return after, after[0]

        # Reverse mode differentiates every number of the state once, forward mode every parameter.
        jacobian = jax.jacrev if flat_theta.size > flat_state.size else jax.jacfwd
        ((f, h), (loss_theta, loss_state)), after = jacobian(both, (0, 1), has_aux=True)(
            flat_theta, flat_state
        )
        gradient = loss_state @ state.jacobian + loss_theta
        ended, _ = ends(state.clock, 1)
        fresh = problem.initial_state(keys.start)
        carried = Sensitivity(
            advance(problem, state.clock, 1),
            jax.tree.map(
                lambda new, old: jnp.where(ended, new, old),
                fresh,
                ravel_pytree(state.state)[1](after),
            ),
            jnp.where(ended, 0.0, h @ state.jacobian + f),
            jnp.where(ended, 0.0, gradient),
        )
        if problem.unroll_loss == "telescoped":
            gradient -= state.previous
        return ravel_pytree(theta)[1](gradient), carried

    def inner_steps(self, problem: "Problem") -> int:
        del problem
        return 1
