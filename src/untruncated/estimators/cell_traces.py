"""Exact traces of a recurrent cell as a gradient estimator for unrolled systems."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from untruncated.estimators.traces import RTRL
from untruncated.estimators.unrolled import Clock, advance, ends, start_clock

if TYPE_CHECKING:
    from untruncated.problems.protocol import Problem, Theta


class Traced(NamedTuple):
    """Where the inner problem stands; the cell's state and its traces."""

    clock: Clock
    carry: Any


@dataclass(frozen=True)
class CellTraces:
    """The gradient of `UnrolledRTRL` at the price of a forward pass; RTU paper, Section 3.3.

    For problems that are a cell whose units do not mix, with a loss of its features: they have a
    `recurrent_cell`, `inputs(t)` and `feature_loss(theta, features, t)`, and θ has the cell's
    parameters as `cell`. Exact while θ does not change.
    """

    def init(self, problem: "Problem", theta: "Theta", key: PRNGKeyArray) -> Traced:
        del theta, key
        cell = getattr(problem, "recurrent_cell", None)
        if not hasattr(cell, "initial_traces"):
            raise ValueError(
                f"CellTraces needs a problem that is a cell with traces, which {problem} is not; "
                "use another estimator"
            )
        if problem.unroll_loss == "telescoped":
            raise ValueError("CellTraces has no telescoped losses; use another estimator")
        return Traced(start_clock(problem), RTRL(cell).init())

    def step(
        self, problem: "Problem", theta: "Theta", state: Traced, key: PRNGKeyArray
    ) -> tuple["Theta", Traced]:
        del key  # nothing is drawn
        cell, t = problem.recurrent_cell, state.clock.t
        online = RTRL(cell)
        step = online.step(theta.cell, cell.derive(theta.cell), state.carry, problem.inputs(t))
        gradient, cotangents = jax.grad(problem.feature_loss, (0, 1))(theta, step.features, t)
        through_cell = step.pullback(cotangents)
        gradient = gradient._replace(cell=jax.tree.map(jnp.add, gradient.cell, through_cell))
        ended, _ = ends(state.clock, 1)
        carry = jax.tree.map(lambda new, old: jnp.where(ended, new, old), online.init(), step.carry)
        return gradient, Traced(advance(problem, state.clock, 1), carry)

    def inner_steps(self, problem: "Problem") -> int:
        del problem
        return 1
