"""ES-Single after Vicol (2023), noise-reuse ES after Li et al. (2023)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, PRNGKeyArray

from untruncated.catalogue.fidelity import Fidelity
from untruncated.estimators.unrolled.pairs import (
    TruncatedStrategy,
    differences,
    finite_pairs,
    mirrored,
    perturbations,
    unroll_particles,
    weighted,
    with_lost,
)
from untruncated.estimators.unrolled.particles import (
    Particles,
    start_particles,
)
from untruncated.estimators.unrolled.protocol import (
    Keys,
    Parts,
    advance,
    check_theta,
    check_truncation,
    ends,
    split_key,
)

if TYPE_CHECKING:
    from untruncated.problems.protocol import Problem, Theta


class Perturbed(NamedTuple):
    """A particle's state, and the perturbation that it keeps for the whole inner problem."""

    state: Any
    noise: Float[Array, " parameters"]


@dataclass(frozen=True)
class _PerturbedByState:
    """The problem in which every particle adds the perturbation that it carries to θ."""

    problem: Any
    differentiable: ClassVar[bool] = False

    @property
    def horizon(self) -> int | None:
        return self.problem.horizon

    @property
    def unroll_loss(self) -> str:
        return self.problem.unroll_loss

    def unroll_step(
        self, theta: "Theta", state: Perturbed, t: Int[Array, ""], key: PRNGKeyArray
    ) -> tuple[Perturbed, Float[Array, ""]]:
        flat, unflatten = ravel_pytree(theta)
        inner, loss = self.problem.unroll_step(unflatten(flat + state.noise), state.state, t, key)
        return Perturbed(inner, state.noise), loss


@dataclass(frozen=True)
class ESSingle(TruncatedStrategy):
    """PES with one perturbation per particle and inner problem, also called noise-reuse ES.

    ĝ = 1/(N σ²) Σ ε (L⁺ - L⁻), with new ε when an inner problem starts: unbiased for the same
    smoothed loss as ES over whole inner problems. The state's `accumulators` are the ε.
    """

    fidelity: Fidelity = "exact"

    def init(self, problem: "Problem", theta: "Theta", key: PRNGKeyArray) -> Particles:
        check_theta(theta, self)
        check_truncation(problem, self.truncation, self.fidelity)
        noise = self._noise(theta, split_key(jax.random.clone(key)))
        particles = start_particles(problem, theta, key, self.particles)
        return particles._replace(accumulators=noise)

    def step(
        self, problem: "Problem", theta: "Theta", state: Particles, key: PRNGKeyArray
    ) -> tuple["Theta", Particles]:
        keys, old = split_key(key), state.accumulators
        new = self._noise(theta, keys)
        fresh = problem.initial_state(keys.start)
        states, losses = unroll_particles(
            _PerturbedByState(problem),
            theta,
            Perturbed(state.states, mirrored(old)),
            state.clock,
            Perturbed(fresh, mirrored(new)),
            keys.data,
            self.truncation,
            axes=(None, 0, Perturbed(None, 0)),
        )
        found = Parts(differences(losses.before), differences(losses.after))
        kept = finite_pairs(*found, state.previous)
        gradient = weighted(old, found.before, self.sigma, kept)
        gradient += weighted(new, found.after, self.sigma, kept)
        ended, _ = ends(state.clock, self.truncation)
        previous = state.previous
        if problem.unroll_loss == "telescoped":
            gradient -= weighted(old, state.previous, self.sigma, kept)
            previous = jnp.where(ended, found.after, found.before)
        clock = advance(problem, state.clock, self.truncation)
        accumulators, lost = jnp.where(ended, new, old), with_lost(state.lost, kept)
        after = Particles(clock, states.state, accumulators, previous, lost)
        return ravel_pytree(theta)[1](gradient), after

    def _noise(self, theta: "Theta", keys: Keys) -> Float[Array, "pairs parameters"]:
        return perturbations(keys.noise, self.particles // 2, ravel_pytree(theta)[0], self.sigma)
