"""How far gradient estimates lie from the gradient: one inner problem per seed, θ held fixed.

PES paper, Section 4.1 and Figure 3. The problem's randomness, if any, is averaged over with that
of the estimator, so what is measured is a variance only where inner problems are all the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from untruncated.estimators.unrolled.backpropagation import UnrolledBPTT
from untruncated.estimators.unrolled.evolution_strategies import FullES
from untruncated.estimators.unrolled.pairs import lost_pairs
from untruncated.estimators.unrolled.protocol import UnrollEstimator
from untruncated.problems.protocol import Problem
from untruncated.programs.building import build_parts, costs
from untruncated.programs.compiling import QUICK_COMPILE
from untruncated.programs.curves import Timeline, work_of
from untruncated.programs.divergence import lost_metric
from untruncated.programs.meta_optimisation import PARTICLE_STEPS
from untruncated.results.metric import Metric


class Carry(NamedTuple):
    """θ and its true gradient; every seed's estimator and the sum of its estimates so far."""

    step: Int[Array, ""]
    keys: PRNGKeyArray
    theta: Any
    truth: Float[Array, " parameters"]
    estimators: Any
    sums: Float[Array, "seeds parameters"]


@dataclass(frozen=True, eq=False)
class EstimatorVariance:
    """A `programs.protocol.Program` whose steps are the estimator's calls, T/K of them."""

    problem: Problem
    estimator: UnrollEstimator
    truth: UnrollEstimator
    particles: int
    operations: float
    theta_seed: int
    seeds: list[int]
    choices: dict[str, Any] = field(default_factory=dict)
    unit: str = "unrolls"

    @property
    def members(self) -> int:
        return len(self.seeds)

    @property
    def total_steps(self) -> int:
        return self.problem.horizon // self.estimator.inner_steps(self.problem)

    @cached_property
    def chunk_steps(self) -> int:
        steps = self.particles * self.estimator.inner_steps(self.problem)
        work = max(-(-steps // PARTICLE_STEPS), work_of(self.operations))
        return Timeline(self.total_steps, self.members, work=work).chunk_steps

    @property
    def axes(self) -> dict[str, list]:
        return {"seed": self.seeds}

    def init(self) -> Carry:
        return self._init(jnp.asarray(self.seeds), jnp.asarray(self.theta_seed))

    @partial(jax.jit, static_argnums=0, compiler_options=QUICK_COMPILE)
    def _init(self, seeds: Int[Array, " seeds"], theta_seed: Int[Array, ""]) -> Carry:
        problem, theta_key = self.problem, jax.random.key(theta_seed)
        theta = problem.initial_theta(theta_key)
        key = jax.random.fold_in(theta_key, 1)
        truth, _ = self.truth.step(problem, theta, self.truth.init(problem, theta, key), key)
        truth = ravel_pytree(truth)[0]
        keys = jax.vmap(jax.random.key)(seeds)
        start_keys = jax.vmap(partial(jax.random.fold_in, data=0))(keys)
        return Carry(
            step=jnp.zeros((), jnp.int32),
            keys=jax.vmap(partial(jax.random.fold_in, data=1))(keys),
            theta=theta,
            truth=truth,
            estimators=jax.vmap(lambda key: self.estimator.init(problem, theta, key))(start_keys),
            sums=jnp.zeros((len(self.seeds), truth.size), truth.dtype),
        )

    def advance(self, carry: Carry) -> Carry:
        return _advance(self, carry)

    def metrics(self, carry: Carry) -> dict[str, Metric]:
        truth = np.asarray(carry.truth, np.float64)
        square = np.sum(truth**2)
        errors = ((np.asarray(carry.sums, np.float64) - truth) ** 2).sum(axis=1) / square
        return {
            "relative_squared_error": Metric(("seed",), errors.astype(carry.truth.dtype)),
            "gradient_norm": Metric((), np.asarray(np.sqrt(square), carry.truth.dtype)),
            "unrolls": Metric((), np.asarray(self.total_steps)),
            **lost_metric(("seed",), lost_pairs(carry.estimators, members=1), self._broken(carry)),
        }

    def _broken(self, carry: Carry) -> Bool[np.ndarray, " seeds"]:
        return ~np.isfinite(np.asarray(carry.sums)).all(axis=1)

    def diverged(self, carry: Carry) -> list[dict[str, Any]]:
        reason = "the estimated gradient is not finite"
        return [
            {"seed": seed, "step": int(carry.step), "reason": reason}
            for seed, lost in zip(self.seeds, self._broken(carry), strict=True)
            if lost
        ]


@partial(jax.jit, static_argnums=0, donate_argnums=1)
def _advance(program: EstimatorVariance, carry: Carry) -> Carry:
    """One chunk, one seed after the other on a CPU, where a seed's particles fill the cache."""
    calls = carry.step + jnp.arange(program.chunk_steps, dtype=jnp.int32)

    def one(member: tuple) -> tuple[Any, Array]:
        key, state, total = member

        def call(member: tuple, index: Array) -> tuple[tuple, None]:
            state, total = member
            gradient, state = program.estimator.step(
                program.problem, carry.theta, state, jax.random.fold_in(key, index)
            )
            return (state, total + ravel_pytree(gradient)[0]), None

        return jax.lax.scan(call, (state, total), calls)[0]

    batch_size = 1 if jax.default_backend() == "cpu" else program.members
    members = (carry.keys, carry.estimators, carry.sums)
    estimators, sums = jax.lax.map(one, members, batch_size=batch_size)
    return carry._replace(step=carry.step + program.chunk_steps, estimators=estimators, sums=sums)


def build(fields: Mapping[str, Any], step_sizes: list[float], choices: dict[str, Any]) -> Any:
    """The program of a resolved spec; there is nothing to tune."""
    del step_sizes, choices
    problem, estimator = build_parts(fields, ("problem", "estimator"))
    exact, particles = fields["truth"] == "bptt", fields["estimator"].get("particles", 1)
    return EstimatorVariance(
        problem=problem,
        estimator=estimator,
        truth=UnrolledBPTT() if exact else FullES(fields["truth_particles"], fields["truth_sigma"]),
        particles=particles,
        operations=costs(fields["estimator"], problem, estimator, particles)["operations"],
        theta_seed=fields["theta_seed"],
        seeds=fields["seeds"],
    )
