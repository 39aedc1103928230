"""Persistent evolution strategies: truncated unrolls without truncation bias.

PES paper, Section 4 and Algorithm 2.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jax.flatten_util import ravel_pytree
from jaxtyping import PRNGKeyArray

from untruncated.catalogue.fidelity import Fidelity
from untruncated.estimators.unrolled.pairs import (
    TruncatedStrategy,
    weighted,
)
from untruncated.estimators.unrolled.particles import (
    Particles,
    advance_particles,
    start_particles,
)
from untruncated.estimators.unrolled.protocol import (
    check_theta,
    check_truncation,
    split_key,
)

if TYPE_CHECKING:
    from untruncated.problems.protocol import Problem, Theta


@dataclass(frozen=True)
class PES(TruncatedStrategy):
    """ĝ = 1/(N σ²) Σ ξ (L⁺ - L⁻) with ξ the sum of all perturbations of the inner problem so far.

    PES paper, Algorithm 2. Unbiased for the loss smoothed by independent perturbations of every
    unroll. The part of an unroll after the end of an inner problem is weighted with this unroll's
    perturbation alone. A telescoped loss is weighted as ξ_t L_t - ξ_{t-1} L_{t-1}, so that the
    estimates of an inner problem add up to exactly ξ_U L_U. Never reset, ξ grows without bound,
    and with it the variance.
    """

    fidelity: Fidelity = "exact"

    def init(self, problem: "Problem", theta: "Theta", key: PRNGKeyArray) -> Particles:
        check_theta(theta, self)
        check_truncation(problem, self.truncation, self.fidelity)
        return start_particles(problem, theta, key, self.particles)

    def step(
        self, problem: "Problem", theta: "Theta", state: Particles, key: PRNGKeyArray
    ) -> tuple["Theta", Particles]:
        (noise, found, kept), after = advance_particles(
            problem, theta, state, split_key(key), self.sigma, self.truncation
        )
        # (ξ_{t-1} + ε) L of the part before the inner problem ended, ε L of the part after
        gradient = weighted(state.accumulators, found.before, self.sigma, kept)
        gradient += weighted(noise, found.before + found.after, self.sigma, kept)
        if problem.unroll_loss == "telescoped":
            gradient -= weighted(state.accumulators, state.previous, self.sigma, kept)
        return ravel_pytree(theta)[1](gradient), after
