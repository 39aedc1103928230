"""PES whose newest unroll is differentiated; PES paper, Section 4.2 and Algorithm 4."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, PRNGKeyArray

from untruncated.catalogue.estimators import PESAnalyticFields
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
    Parts,
    check_differentiable,
    check_theta,
    check_truncation,
    split_key,
    unroll,
)

if TYPE_CHECKING:
    from untruncated.problems.protocol import Problem, Theta


class ParticlesAndMean(NamedTuple):
    """The particles, and the state that the unperturbed parameters lead to."""

    particles: Particles
    mean: Any


@dataclass(frozen=True)
class PESAnalytic(PESAnalyticFields, TruncatedStrategy):
    """PES whose newest unroll is differentiated; PES paper, Section 4.2 and Algorithm 4.

    With p = ∂L_t/∂θ_t by backpropagation through the unroll from the state of the unperturbed
    parameters, and ε_t the newest perturbation, Δ = L⁺ - L⁻ - 2 ε_t·p of a pair:

    * form A, ĝ = p + 1/(N σ²) Σ ξ_{t-1} Δ: the gradient of the newest unroll is not smoothed.
      Exact for quadratic losses, and much less noisy.
    * form B, ĝ = p + 1/(N σ²) Σ ξ_t Δ: p only reduces the variance.
    """

    fidelity: Fidelity = "exact"

    def init(self, problem: "Problem", theta: "Theta", key: PRNGKeyArray) -> ParticlesAndMean:
        check_theta(theta, self)
        check_truncation(problem, self.truncation, self.fidelity)
        check_differentiable(problem, self)
        mean = problem.initial_state(split_key(jax.random.clone(key)).start)
        return ParticlesAndMean(start_particles(problem, theta, key, self.particles), mean)

    def step(
        self, problem: "Problem", theta: "Theta", state: ParticlesAndMean, key: PRNGKeyArray
    ) -> tuple["Theta", ParticlesAndMean]:
        # what is unperturbed meets the same data and the same start as the particles
        (keys, same), (before, mean) = (split_key(key), split_key(jax.random.clone(key))), state
        (noise, found, kept), particles = advance_particles(
            problem, theta, before, keys, self.sigma, self.truncation
        )
        flat, unflatten = ravel_pytree(theta)
        fresh = problem.initial_state(same.start)

        def mean_losses(flat: Array) -> tuple[Parts, Any]:
            end, parts = unroll(
                problem, unflatten(flat), mean, before.clock, fresh, same.data, self.truncation
            )
            return parts, end

        parts, pullback, mean = jax.vjp(mean_losses, flat, has_aux=True)
        one, zero = jnp.ones_like(parts.before), jnp.zeros_like(parts.before)
        (p,), (p_after,) = pullback(Parts(one, zero)), pullback(Parts(zero, one))

        unexplained = Parts(found.before - 2 * noise @ p, found.after - 2 * noise @ p_after)
        gradient = p + p_after
        gradient += weighted(before.accumulators, unexplained.before, self.sigma, kept)
        if self.form == "B":
            both = unexplained.before + unexplained.after
            gradient += weighted(noise, both, self.sigma, kept)
        if problem.unroll_loss == "telescoped":
            gradient -= weighted(before.accumulators, before.previous, self.sigma, kept)
        return unflatten(gradient), ParticlesAndMean(particles, mean)
