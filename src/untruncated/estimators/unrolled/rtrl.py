"""Dense real-time recurrent learning for unrolled systems: one gradient per step."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.estimators.unrolled.protocol import (
    Clock,
    advance,
    check_differentiable,
    check_theta,
    ends,
    join_state,
    split_key,
    split_state,
    start_anew,
    start_clock,
)

if TYPE_CHECKING:
    from untruncated.problems.protocol import Problem, State, Theta


class FlatStep(NamedTuple):
    """A step from flat parameters and state to flat state and loss, and where it starts from.

    The state is flat without its data, which a step returns besides; `whole` puts them together.
    """

    transition: Callable[[Array, Array], tuple[tuple[Array, Array], Any]]
    theta: Float[Array, " parameters"]
    state: Float[Array, " state"]
    whole: Callable[[Array, Any], "State"]


def check_flat(problem: "Problem", state: "State", estimator: object) -> None:
    """Raises a ValueError unless the problem has derivatives, with respect to a real state."""
    check_differentiable(problem, estimator)
    others = {
        str(leaf.dtype)
        for leaf in jax.tree.leaves(state)
        if jnp.issubdtype(leaf.dtype, jnp.complexfloating)
    }
    if others:
        raise ValueError(
            f"{type(estimator).__name__} differentiates a state of real numbers, and that of "
            f"{problem} holds {', '.join(sorted(others))}; use another estimator"
        )


def flat_state(state: "State") -> Float[Array, " state"]:
    """The numbers of the state, one after the other."""
    return ravel_pytree(split_state(state)[0])[0]


def flat_step(
    problem: "Problem", theta: "Theta", state: "State", clock: Clock, key: PRNGKeyArray
) -> FlatStep:
    """The step that an unroll of one step with the same data key makes."""
    flat_theta, unflatten_theta = ravel_pytree(theta)
    numbers, data = split_state(state)
    flat, unflatten_state = ravel_pytree(numbers)
    key = jax.random.split(key, 1)[0]

    def whole(flat: Array, data: Any) -> "State":
        return join_state(unflatten_state(flat), data)

    def transition(flat_theta: Array, flat: Array) -> tuple[tuple[Array, Array], Any]:
        state, loss = problem.unroll_step(
            unflatten_theta(flat_theta), whole(flat, data), clock.t, key
        )
        return (flat_state(state), loss), split_state(state)[1]

    return FlatStep(transition, flat_theta, flat, whole)


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
    are fewer. S is without the state's data.
    """

    def init(self, problem: "Problem", theta: "Theta", key: PRNGKeyArray) -> Sensitivity:
        check_theta(theta, self)
        state = problem.initial_state(split_key(key).start)
        check_flat(problem, state, self)
        flat_theta = ravel_pytree(theta)[0]
        jacobian = jnp.zeros((flat_state(state).size, flat_theta.size), flat_theta.dtype)
        return Sensitivity(start_clock(problem), state, jacobian, jnp.zeros_like(flat_theta))

    def step(
        self, problem: "Problem", theta: "Theta", state: Sensitivity, key: PRNGKeyArray
    ) -> tuple["Theta", Sensitivity]:
        keys = split_key(key)
        transition, flat_theta, flat, whole = flat_step(
            problem, theta, state.state, state.clock, keys.data
        )

        def both(flat_theta: Array, flat: Array) -> tuple[tuple, tuple]:
            (after, loss), data = transition(flat_theta, flat)
            return (after, loss), (after, data)

        # Reverse mode differentiates every number of the state once, forward mode every parameter.
        jacobian = jax.jacrev if flat_theta.size > flat.size else jax.jacfwd
        ((f, h), (loss_theta, loss_state)), after = jacobian(both, (0, 1), has_aux=True)(
            flat_theta, flat
        )
        gradient = loss_state @ state.jacobian + loss_theta
        ended, _ = ends(state.clock, 1)
        fresh = problem.initial_state(keys.start)
        carried = Sensitivity(
            advance(problem, state.clock, 1),
            start_anew(ended, fresh, whole(*after)),
            jnp.where(ended, 0.0, h @ state.jacobian + f),
            jnp.where(ended, 0.0, gradient),
        )
        if problem.unroll_loss == "telescoped":
            gradient -= state.previous
        return ravel_pytree(theta)[1](gradient), carried

    def inner_steps(self, problem: "Problem") -> int:
        del problem
        return 1
