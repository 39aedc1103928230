"""Exact traces of a recurrent cell as a gradient estimator for unrolled systems."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from untruncated.cells.protocol import Traces
from untruncated.estimators.online.traces import RTRL, TraceCarry
from untruncated.estimators.unrolled.protocol import (
    Clock,
    advance,
    check_theta,
    ends,
    split_key,
    start_anew,
    start_clock,
)

if TYPE_CHECKING:
    from untruncated.problems.protocol import Problem, Theta


class Traced(NamedTuple):
    """Where the inner problem stands; its state, and the traces of the cell's."""

    clock: Clock
    state: Any
    traces: Traces


@dataclass(frozen=True)
class CellTraces:
    """The gradient of `UnrolledRTRL` at the price of a forward pass; RTU paper, Section 3.3.

    For problems that are a cell whose units do not mix, with a loss of its features: they have a
    `recurrent_cell`, `inputs(state, t)` and `feature_loss(theta, features, state, t)`; θ has the
    cell's parameters as `cell`, and the state has the cell's as `cell` beside data that a step
    leaves as it is. Exact while θ does not change.
    """

    def init(self, problem: "Problem", theta: "Theta", key: PRNGKeyArray) -> Traced:
        check_theta(theta, self)
        cell = getattr(problem, "recurrent_cell", None)
        if not hasattr(cell, "initial_traces"):
            raise ValueError(
                f"CellTraces needs a problem that is a cell with traces, which {problem} is not; "
                "use another estimator"
            )
        if problem.unroll_loss == "telescoped":
            raise ValueError("CellTraces has no telescoped losses; use another estimator")
        state = problem.initial_state(split_key(key).start)
        return Traced(start_clock(problem), state, cell.initial_traces())

    def step(
        self, problem: "Problem", theta: "Theta", state: Traced, key: PRNGKeyArray
    ) -> tuple["Theta", Traced]:
        cell, (clock, now, traces) = problem.recurrent_cell, state
        carry, x = TraceCarry(now.cell, traces), problem.inputs(now, clock.t)
        step = RTRL(cell).step(theta.cell, cell.derive(theta.cell), carry, x)
        gradient, cotangents = jax.grad(problem.feature_loss, (0, 1))(
            theta, step.features, now, clock.t
        )
        through_cell = step.pullback(cotangents)
        gradient = gradient._replace(cell=jax.tree.map(jnp.add, gradient.cell, through_cell))
        ended, _ = ends(clock, 1)
        fresh = problem.initial_state(split_key(key).start), cell.initial_traces()
        after = now._replace(cell=step.carry.state), step.carry.traces
        after = start_anew(ended, fresh, after)
        return gradient, Traced(advance(problem, clock, 1), *after)

    def inner_steps(self, problem: "Problem") -> int:
        del problem
        return 1
