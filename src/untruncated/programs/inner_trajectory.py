"""One inner problem, unrolled from its start with its initial θ: where it goes, and its loss."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, PRNGKeyArray

from untruncated.estimators.unrolled.protocol import split_key, split_state
from untruncated.problems.protocol import Problem
from untruncated.programs.building import build_parts
from untruncated.programs.curves import Timeline
from untruncated.results.metric import Metric

# Numbers of a state and of θ that are recorded, so that a result file stays small.
RECORDED = 32


class Carry(NamedTuple):
    """The state, the sum of the losses so far, and the recorded states; row 0 is the start."""

    step: Int[Array, ""]
    keys: tuple[PRNGKeyArray, PRNGKeyArray]
    theta: Any
    state: Any
    loss: Float[Array, ""]
    states: Float[Array, "points numbers"]


@dataclass(frozen=True, eq=False)
class InnerTrajectory:
    """A `programs.protocol.Program` whose steps are those of the inner problem."""

    problem: Problem
    total_steps: int
    seeds: list[int]
    choices: dict[str, Any] = field(default_factory=dict)
    unit: str = "steps"
    members: int = 1

    @cached_property
    def timeline(self) -> Timeline:
        """When the state is recorded; one chunk lies between two of those times."""
        return Timeline(self.total_steps)

    @property
    def chunk_steps(self) -> int:
        return self.timeline.bin_steps

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """How many numbers of θ and of the state are recorded: the first ones."""
        key = jax.random.key(0)
        shapes = jax.eval_shape(
            lambda: (
                self.problem.initial_theta(key),
                split_state(self.problem.initial_state(key))[0],
            )
        )
        theta, state = (sum(leaf.size for leaf in jax.tree.leaves(part)) for part in shapes)
        return min(theta, RECORDED), min(state, RECORDED)

    @property
    def axes(self) -> dict[str, list]:
        parameters, coordinates = self.sizes
        return {
            "inner_step": [0, *self.timeline.bin_ends],
            "parameter": list(range(parameters)),
            "coordinate": list(range(coordinates)),
        }

    def init(self) -> Carry:
        key = jax.random.key(self.seeds[0])
        keys = split_key(key)
        state = self.problem.initial_state(keys.start)
        states = jnp.zeros((self.timeline.bins + 1, self.sizes[1]))
        return Carry(
            step=jnp.zeros((), jnp.int32),
            keys=(keys.data, key),
            theta=self.problem.initial_theta(key),
            state=state,
            loss=jnp.zeros(()),
            states=states.at[0].set(_numbers(state)[: self.sizes[1]]),
        )

    def advance(self, carry: Carry) -> Carry:
        return _advance(self, carry)

    def metrics(self, carry: Carry) -> dict[str, Metric]:
        theta = ravel_pytree(carry.theta)[0][: self.sizes[0]]
        return {
            "theta": Metric(("parameter",), np.asarray(theta)),
            "state": Metric(("inner_step", "coordinate"), np.asarray(carry.states)),
            "loss": Metric((), np.asarray(carry.loss)),
        }

    def diverged(self, carry: Carry) -> list[dict[str, Any]]:
        if np.isfinite(np.asarray(carry.states)).all():
            return []
        reason = "the state is not finite"
        return [{"seed": self.seeds[0], "step": int(carry.step), "reason": reason}]


def _numbers(state: Any) -> Float[Array, " numbers"]:
    """The state's numbers, one after the other; its data is not recorded."""
    return ravel_pytree(split_state(state)[0])[0]


@partial(jax.jit, static_argnums=0, donate_argnums=1)
def _advance(program: InnerTrajectory, carry: Carry) -> Carry:
    def step(member: tuple, t: Array) -> tuple[tuple, None]:
        state, total = member
        key = jax.random.fold_in(carry.keys[0], t)
        state, loss = program.problem.unroll_step(carry.theta, state, t, key)
        return (state, total + loss), None

    times = carry.step + jnp.arange(program.chunk_steps, dtype=jnp.int32)
    (state, loss), _ = jax.lax.scan(step, (carry.state, carry.loss), times)
    row = carry.step // program.chunk_steps + 1
    numbers = _numbers(state)[: program.sizes[1]]
    return carry._replace(
        step=carry.step + program.chunk_steps,
        state=state,
        loss=loss,
        states=carry.states.at[row].set(numbers),
    )


def build(fields: Mapping[str, Any], step_sizes: list[float], choices: dict[str, Any]) -> Any:
    """The program of a resolved spec; there is nothing to tune."""
    (problem,) = build_parts(fields, ("problem",))
    return InnerTrajectory(problem, problem.horizon, fields["seeds"])
