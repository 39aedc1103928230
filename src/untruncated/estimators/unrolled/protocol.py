"""Gradient estimators of unrolled systems, and the unroll that they share.

An estimator returns one gradient per call, which a caller uses at once, and carries the state of
the inner problem on to the next call. Inner problems start anew by themselves, in the middle of an
unroll too.
"""

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

if TYPE_CHECKING:
    from untruncated.problems.protocol import Problem, State, Theta

NEVER = jnp.iinfo(jnp.int32).max
# Where the clock of a problem that never ends stands still, so that it does not overflow.
LATEST = 2**30


class UnrollEstimator(Protocol):
    """A frozen record of static choices with two pure functions; its state is a pytree."""

    def init(self, problem: "Problem", theta: "Theta", key: PRNGKeyArray) -> Any:
        """The state before the first call, with an inner problem about to start.

        Raises:
            ValueError: The estimator needs something that the problem lacks, or θ holds other
                numbers than floats.
        """

    def step(
        self, problem: "Problem", theta: "Theta", state: Any, key: PRNGKeyArray
    ) -> tuple["Theta", Any]:
        """An estimate of the gradient of the inner problem's loss, shaped like θ; the next state.

        With θ held fixed, the estimates of the calls that make up an inner problem add up to one
        of its whole gradient.
        """

    def inner_steps(self, problem: "Problem") -> int:
        """Steps that a call takes the inner problem ahead."""


def split_state(state: "State") -> tuple["State", "State"]:
    """The numbers of a state, which are its floating-point leaves, and its data: all others.

    Data, such as the place in a recording, carries no derivative. Either part has None in the other
    one's places.
    """

    def is_number(leaf: Array) -> bool:
        return jnp.issubdtype(leaf.dtype, jnp.floating)

    numbers = jax.tree.map(lambda leaf: leaf if is_number(leaf) else None, state)
    return numbers, jax.tree.map(lambda leaf: None if is_number(leaf) else leaf, state)


def join_state(numbers: "State", data: "State") -> "State":
    """The state that `split_state` took apart."""
    return jax.tree.map(
        lambda number, leaf: leaf if number is None else number,
        numbers,
        data,
        is_leaf=lambda leaf: leaf is None,
    )


class Clock(NamedTuple):
    """Steps done of the present inner problem, and the number of steps at which it ends."""

    t: Int[Array, ""]
    end: Int[Array, ""]


class Parts(NamedTuple):
    """The loss of an unroll up to where the inner problem ended in it, and that of the next one.

    The second is zero unless a new inner problem started before the unroll's last step. Neither is
    telescoped yet.
    """

    before: Float[Array, "*particles"]
    after: Float[Array, "*particles"]


class Keys(NamedTuple):
    """Independent keys of one call: of perturbations, of the unrolled steps, of a new start."""

    noise: PRNGKeyArray
    data: PRNGKeyArray
    start: PRNGKeyArray


def split_key(key: PRNGKeyArray) -> Keys:
    """The keys of a call, which all particles share: common random numbers."""
    return Keys(*jax.random.split(key, 3))


def start_clock(problem: "Problem") -> Clock:
    """The clock of an inner problem before its step 0."""
    end = NEVER if problem.horizon is None else problem.horizon
    return Clock(jnp.zeros((), jnp.int32), jnp.asarray(end, jnp.int32))


def ends(clock: Clock, steps: int) -> tuple[Bool[Array, ""], Bool[Array, ""]]:
    """Whether the inner problem ends within the next `steps` steps; and whether before the last.

    Only one can end: an unroll is never longer than an inner problem.
    """
    left = clock.end - clock.t
    return left <= steps, left < steps


def in_whole_unrolls(problem: "Problem", steps: int) -> bool:
    """Whether inner problems end only where an unroll of `steps` steps does, or never."""
    return problem.horizon is None or problem.horizon % steps == 0


def advance(problem: "Problem", clock: Clock, steps: int) -> Clock:
    """The clock `steps` steps later; it stops after 2³⁰ steps of a problem that never ends."""
    if problem.horizon is None:
        return clock._replace(t=jnp.minimum(clock.t + steps, LATEST))
    ended, _ = ends(clock, steps)
    t = jnp.where(ended, steps - (clock.end - clock.t), clock.t + steps)
    return Clock(t, jnp.where(ended, start_clock(problem).end, clock.end))


def unroll(
    problem: "Problem",
    theta: "Theta",
    state: "State",
    clock: Clock,
    fresh: "State",
    key: PRNGKeyArray,
    steps: int,
) -> tuple["State", Parts]:
    """Unrolls `steps` steps; where the inner problem ends, the state `fresh` starts the next one.

    Args:
        problem: What is unrolled.
        theta: Parameters of all steps.
        state: The state at `clock`.
        clock: Where the inner problem stands. Particles that share a clock share all masks. If
            `steps` divides the horizon, a whole number of unrolls before the end.
        fresh: The state that the next inner problem starts from.
        key: One for all steps, which get one each.
        steps: At most as many as an inner problem has.
    """
    index = jnp.arange(steps, dtype=jnp.int32)
    keys = jax.random.split(key, steps)
    accumulate = (lambda total, loss: total + loss) if problem.unroll_loss == "sum" else _latest
    left, zero = clock.end - clock.t, jnp.zeros(())

    def whole_step(carry: tuple, xs: tuple) -> tuple[tuple, None]:
        state, total = carry
        state, loss = problem.unroll_step(theta, state, *xs)
        return (state, accumulate(total, loss)), None

    def step(carry: tuple, xs: tuple) -> tuple[tuple, None]:
        state, parts = carry
        index, t, key = xs
        state, loss = problem.unroll_step(theta, state, t, key)
        restarted, last = index >= left, index == left - 1
        before = jnp.where(restarted, parts.before, accumulate(parts.before, loss))
        after = jnp.where(restarted, accumulate(parts.after, loss), parts.after)
        return (start_anew(last, fresh, state), Parts(before, after)), None

    if in_whole_unrolls(problem, steps):
        # without masks: they double the time of cheap steps whose kernels are started one by one
        (state, before), _ = jax.lax.scan(whole_step, (state, zero), (clock.t + index, keys))
        if problem.horizon is not None:
            state = start_anew(left == steps, fresh, state)
        return state, Parts(before, zero)
    times = jnp.where(index < left, clock.t + index, index - left)
    (state, parts), _ = jax.lax.scan(step, (state, Parts(zero, zero)), (index, times, keys))
    return state, parts


def start_anew(ended: Bool[Array, ""], fresh: "State", state: "State") -> "State":
    """The state after a step: a fresh one where the inner problem has ended."""
    return jax.tree.map(lambda new, old: jnp.where(ended, new, old), fresh, state)


def _latest(total: Array, loss: Array) -> Array:
    return loss.astype(total.dtype)


def full_unroll_loss(
    problem: "Problem", theta: "Theta", key: PRNGKeyArray, steps: int | None = None
) -> Float[Array, ""]:
    """The loss of one inner problem from its start: the sum of its steps' losses or the last one.

    Args:
        problem: What is unrolled.
        theta: Parameters of all steps.
        key: Of the initial state and of all steps.
        steps: How many; by default the problem's horizon.

    Raises:
        ValueError: The problem never ends and `steps` is not given, or exceeds the horizon.
    """
    steps = problem.horizon if steps is None else steps
    if steps is None:
        raise ValueError(f"{problem} never ends: say how many steps are to be unrolled")
    if problem.horizon is not None and steps > problem.horizon:
        raise ValueError(f"cannot unroll {steps} steps of an inner problem of {problem.horizon}")
    _, data, start = split_key(key)
    state = problem.initial_state(start)
    _, parts = unroll(problem, theta, state, start_clock(problem), state, data, steps)
    return parts.before


def check_truncation(problem: "Problem", truncation: int, fidelity: str) -> None:
    """Raises a ValueError unless unrolls of `truncation` steps fit the inner problem."""
    if problem.horizon is None:
        return
    if truncation > problem.horizon:
        raise ValueError(
            f"truncation {truncation} is longer than the inner problem of {problem.horizon} steps"
        )
    if fidelity == "reference" and problem.horizon % truncation:
        raise ValueError(
            f"fidelity 'reference' needs a truncation that divides the inner problem's "
            f"{problem.horizon} steps; {truncation} does not"
        )


def check_theta(theta: "Theta", estimator: object) -> None:
    """Raises a ValueError unless every number of θ is a float.

    A perturbation would be rounded off a whole number, and a whole number has no derivative.
    """
    dtypes = {jnp.result_type(leaf) for leaf in jax.tree.leaves(theta)}
    others = sorted(str(dtype) for dtype in dtypes if not jnp.issubdtype(dtype, jnp.floating))
    if others:
        raise ValueError(
            f"{type(estimator).__name__} estimates a gradient with respect to every number of θ, "
            f"which must be floats, but θ holds {', '.join(others)}: make them floats, or leave "
            "out of θ what is not learned"
        )


def check_differentiable(problem: "Problem", estimator: object) -> None:
    """Raises a ValueError unless the problem's steps can be differentiated."""
    if not problem.differentiable:
        raise ValueError(
            f"{type(estimator).__name__} needs derivatives, which {problem} does not have; "
            "use an evolution strategy"
        )


def check_ends(problem: "Problem", estimator: object) -> None:
    """Raises a ValueError unless the inner problem has a last step."""
    if problem.horizon is None:
        raise ValueError(
            f"{type(estimator).__name__} unrolls whole inner problems, and {problem} never ends; "
            "use a truncated estimator"
        )
