"""Time and memory of one gradient from each of several estimators, measured side by side.

The measured counterpart of the PES paper's Table 1. Memory is what XLA's analysis of the compiled
program says: arguments, results and everything in between. Every loop is compiled in the same way,
whatever its size.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array

from untruncated.estimators.unrolled.protocol import UnrollEstimator
from untruncated.problems.protocol import Problem
from untruncated.programs.building import build_parts, costs
from untruncated.programs.rounds import InRounds, Rounds, Turn
from untruncated.results.metric import Metric


class Case(NamedTuple):
    """An estimator on a problem, and what its catalogue entry says that it costs."""

    problem: Problem
    estimator: UnrollEstimator
    predicted: dict[str, float]


class Compiled(NamedTuple):
    """A call that makes the gradients of a turn, and the bytes that it needs."""

    turn: Turn
    bytes: int


@dataclass(frozen=True, eq=False)
class EstimatorCosts(InRounds):
    """A `programs.protocol.Program`: one step is a round, in which every case has its turn."""

    cases: list[Case]
    calls: int
    total_steps: int
    seeds: list[int]
    choices: dict[str, Any] = field(default_factory=dict)

    @property
    def members(self) -> int:
        return len(self.cases)

    @cached_property
    def _compiled(self) -> list[Compiled]:
        """One compiled call for each case, made once before any is measured."""
        compiled = [_compile(case, self.calls, self.seeds[0]) for case in self.cases]
        for case in compiled:
            case.turn()
        return compiled

    @property
    def turns(self) -> list[Turn]:
        return [case.turn for case in self._compiled]

    def metrics(self, carry: Rounds) -> dict[str, Metric]:
        seconds = np.asarray(carry.seconds, np.float64) / self.calls
        predicted = {
            name: [case.predicted[name] for case in self.cases]
            for name in ("operations", "numbers")
        }
        return {
            "seconds": Metric(("agent", "repeat"), seconds.astype(np.float32)),
            "bytes": Metric(("agent",), np.array([case.bytes for case in self._compiled])),
            **{
                f"predicted_{name}": Metric(("agent",), np.array(values, float))
                for name, values in predicted.items()
            },
        }


def _compile(case: Case, calls: int, seed: int) -> Compiled:
    problem, estimator, _ = case
    key, clone = (
        jax.random.key(seed),
        jax.random.clone,
    )  # what is drawn makes no difference to costs
    theta = problem.initial_theta(clone(key))
    state = estimator.init(problem, theta, clone(key))
    keys = jax.random.split(key, calls)

    @jax.jit
    def run(theta: Any, state: Any, keys: Array) -> Any:
        def call(carry: tuple, key: Array) -> tuple[tuple, None]:
            state, total = carry
            gradient, state = estimator.step(problem, theta, state, key)
            return (state, total + ravel_pytree(gradient)[0]), None

        # the sum makes every gradient count
        return jax.lax.scan(call, (state, jnp.zeros_like(ravel_pytree(theta)[0])), keys)[0]

    program = run.lower(theta, state, keys).compile()
    memory = program.memory_analysis()
    held = memory.argument_size_in_bytes + memory.output_size_in_bytes + memory.temp_size_in_bytes

    def turn() -> object:
        return jax.block_until_ready(program(theta, state, keys))

    return Compiled(turn, held - memory.alias_size_in_bytes)


def build(fields: Mapping[str, Any], step_sizes: list[float], choices: dict[str, Any]) -> Any:
    """The program of a resolved spec; there is nothing to tune."""
    cases = []
    for case in fields["cases"]:
        problem, estimator = build_parts({**fields, **case}, ("problem", "estimator"))
        particles = case["estimator"].get("particles", 1)
        predicted = costs(case["estimator"], problem, estimator, particles)
        cases.append(Case(problem, estimator, predicted))
    return EstimatorCosts(cases, fields["steps"], fields["repeats"], fields["seeds"])
