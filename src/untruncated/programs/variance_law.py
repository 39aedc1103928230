"""The variance of PES on linear losses, by Monte Carlo and by its formula; PES paper, Table 2."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from untruncated.catalogue.variance_laws import relative_pes_variance
from untruncated.estimators.unrolled.pes import PES
from untruncated.estimators.unrolled.protocol import split_key
from untruncated.problems.linear_losses import LinearLosses
from untruncated.programs.building import build_parts
from untruncated.programs.compiling import QUICK_COMPILE
from untruncated.results.metric import Metric

CHUNKS = 10
# σ cancels, but for rounding.
SIGMA = 0.1


class Carry(NamedTuple):
    """Estimates made, and sums over them of squared errors and of squared gradients, per seed."""

    step: Int[Array, ""]
    keys: PRNGKeyArray
    errors: Float[Array, " seeds"]
    squares: Float[Array, " seeds"]


@dataclass(frozen=True, eq=False)
class VarianceLaw:
    """A `programs.protocol.Program`; a step is the estimate of one antithetic pair.

    Every estimate is that of an inner problem of its own, in unrolls of one step.
    """

    problem: LinearLosses
    total_steps: int
    seeds: list[int]
    choices: dict[str, Any] = field(default_factory=dict)
    unit: str = "estimates"

    @property
    def members(self) -> int:
        return len(self.seeds)

    @property
    def chunk_steps(self) -> int:
        return self.total_steps // CHUNKS

    @property
    def axes(self) -> dict[str, list]:
        return {"seed": self.seeds}

    def init(self) -> Carry:
        keys = jax.vmap(jax.random.key)(jnp.asarray(self.seeds))
        return Carry(
            step=jnp.zeros((), jnp.int32),
            keys=keys,
            errors=jnp.zeros(len(self.seeds)),
            squares=jnp.zeros(len(self.seeds)),
        )

    def advance(self, carry: Carry) -> Carry:
        return _advance(self, carry)

    def metrics(self, carry: Carry) -> dict[str, Metric]:
        problem = self.problem
        formula = relative_pes_variance(
            problem.structure, problem.entries, problem.horizon, problem.parameters
        )
        return {
            "relative_variance": Metric(("seed",), np.asarray(carry.errors / carry.squares)),
            "predicted_variance": Metric((), np.asarray(formula)),
        }

    def diverged(self, carry: Carry) -> list[dict[str, Any]]:
        return []


@partial(jax.jit, static_argnums=0, donate_argnums=1, compiler_options=QUICK_COMPILE)
def _advance(program: VarianceLaw, carry: Carry) -> Carry:
    problem, estimator = program.problem, PES(particles=2, sigma=SIGMA, truncation=1)
    theta = problem.initial_theta(carry.keys[0])

    def estimate(key: PRNGKeyArray) -> tuple[Array, Array]:
        start_key, noise_key = jax.random.split(key)
        # as the estimator starts
        gradients = problem.initial_state(split_key(jax.random.clone(start_key)).start).gradients
        truth = gradients.sum(axis=(0, 1))

        def call(state: Any, key: PRNGKeyArray) -> tuple[Any, Array]:
            gradient, state = estimator.step(problem, theta, state, key)
            return state, gradient

        start = estimator.init(problem, theta, start_key)
        _, parts = jax.lax.scan(call, start, jax.random.split(noise_key, problem.horizon))
        return jnp.sum((parts.sum(axis=0) - truth) ** 2), jnp.sum(truth**2)

    def sums(key: PRNGKeyArray) -> tuple[Array, Array]:
        numbers = carry.step + jnp.arange(program.chunk_steps, dtype=jnp.int32)
        keys = jax.vmap(partial(jax.random.fold_in, key))(numbers)
        errors, squares = jax.vmap(estimate)(keys)
        return errors.sum(), squares.sum()

    errors, squares = jax.lax.map(sums, carry.keys)
    return carry._replace(
        step=carry.step + program.chunk_steps,
        errors=carry.errors + errors,
        squares=carry.squares + squares,
    )


def build(fields: Mapping[str, Any], step_sizes: list[float], choices: dict[str, Any]) -> Any:
    """The program of a resolved spec; there is nothing to tune."""
    (problem,) = build_parts(fields, ("problem",))
    return VarianceLaw(problem, fields["steps"], fields["seeds"])
