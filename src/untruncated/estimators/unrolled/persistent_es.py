"""Persistent evolution strategies: truncated unrolls without truncation bias.

PES paper, Section 4, Algorithms 2 and 4; ES-Single after Vicol (2023) and noise-reuse ES after Li
et al. (2023). Particles keep their own states for a whole inner problem.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from untruncated.estimators.unrolled.evolution_strategies import (
    Lost,
    check_particles,
    differences,
    finite_pairs,
    mirrored,
    none_lost,
    particle_thetas,
    perturbations,
    unroll_particles,
    weighted,
    with_lost,
)
from untruncated.estimators.unrolled.protocol import (
    Clock,
    Keys,
    Parts,
    advance,
    check_differentiable,
    check_theta,
    check_truncation,
    ends,
    split_key,
    start_clock,
    unroll,
)

if TYPE_CHECKING:
    from untruncated.problems.protocol import Problem, Theta

FORMS = ("A", "B")


class Particles(NamedTuple):
    """The particles' own states; a pair's mirrored accumulators are kept as one.

    `accumulators` are ξ, the sums of the perturbations in this inner problem so far. `previous`
    has each pair's difference of losses in the last unroll, where the loss is telescoped. A pair
    whose losses stop being finite is left out of the estimates, and counted as `lost` in each of
    them, until the next inner problem starts.
    """

    clock: Clock
    states: Any
    accumulators: Float[Array, "pairs parameters"]
    previous: Float[Array, " pairs"]
    lost: Lost


class Unrolled(NamedTuple):
    """What the particles found out: their perturbations ε, and the pairs' differences of losses.

    `kept` are the pairs whose differences, with that of the last unroll, are finite.
    """

    noise: Float[Array, "pairs parameters"]
    differences: Parts
    kept: Bool[Array, " pairs"]


def start_particles(
    problem: "Problem", theta: "Theta", key: PRNGKeyArray, particles: int
) -> Particles:
    """All particles at the start of the same inner problem."""
    flat, _ = ravel_pytree(theta)
    state = problem.initial_state(split_key(key).start)
    return Particles(
        start_clock(problem),
        jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (particles, *leaf.shape)), state),
        jnp.zeros((particles // 2, flat.size), flat.dtype),
        jnp.zeros(particles // 2),
        none_lost(),
    )


def advance_particles(
    problem: "Problem",
    theta: "Theta",
    particles: Particles,
    keys: Keys,
    sigma: float,
    truncation: int,
) -> tuple[Unrolled, Particles]:
    """Unrolls every particle from its own state with fresh perturbations, and adds those up."""
    clock = particles.clock
    pairs = particles.previous.size
    noise = perturbations(keys.noise, pairs, ravel_pytree(theta)[0], sigma)
    fresh = problem.initial_state(keys.start)
    thetas = particle_thetas(theta, noise)
    states, losses = unroll_particles(
        problem, thetas, particles.states, clock, fresh, keys.data, truncation
    )
    found = Parts(differences(losses.before), differences(losses.after))
    ended, ended_inside = ends(clock, truncation)
    # an inner problem that started inside this unroll has met its perturbation alone
    accumulators = jnp.where(ended, 0.0, particles.accumulators) + jnp.where(
        ended & ~ended_inside, 0.0, noise
    )
    previous = particles.previous
    if problem.unroll_loss == "telescoped":
        previous = jnp.where(ended, found.after, found.before)
    kept = finite_pairs(*found, particles.previous)
    lost, clock = with_lost(particles.lost, kept), advance(problem, clock, truncation)
    after = Particles(clock, states, accumulators, previous, lost)
    return Unrolled(noise, found, kept), after


@dataclass(frozen=True)
class PES:
    """ĝ = 1/(N σ²) Σ ξ (L⁺ - L⁻) with ξ the sum of all perturbations of the inner problem so far.

    PES paper, Algorithm 2. Unbiased for the loss smoothed by independent perturbations of every
    unroll. The part of an unroll after the end of an inner problem is weighted with this unroll's
    perturbation alone. A telescoped loss is weighted as ξ_t L_t - ξ_{t-1} L_{t-1}, so that the
    estimates of an inner problem add up to exactly ξ_U L_U. Never reset, ξ grows without bound,
    and with it the variance.

    `particles` is N, both halves of the pairs counted; `sigma` a standard deviation; `truncation`
    K steps per unroll.
    """

    particles: int
    sigma: float
    truncation: int
    fidelity: str = "exact"

    def __post_init__(self) -> None:
        check_particles(self.particles, self.sigma)

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

    def inner_steps(self, problem: "Problem") -> int:
        del problem
        return self.truncation


class ParticlesAndMean(NamedTuple):
    """The particles, and the state that the unperturbed parameters lead to."""

    particles: Particles
    mean: Any


@dataclass(frozen=True)
class PESAnalytic:
    """PES whose newest unroll is differentiated; PES paper, Section 4.2 and Algorithm 4.

    With p = ∂L_t/∂θ_t by backpropagation through the unroll from the state of the unperturbed
    parameters, and ε_t the newest perturbation, Δ = L⁺ - L⁻ - 2 ε_t·p of a pair:

    * form A, ĝ = p + 1/(N σ²) Σ ξ_{t-1} Δ: the gradient of the newest unroll is not smoothed.
      Exact for quadratic losses, and much less noisy.
    * form B, ĝ = p + 1/(N σ²) Σ ξ_t Δ: p only reduces the variance.
    """

    particles: int
    sigma: float
    truncation: int
    form: str = "A"
    fidelity: str = "exact"

    def __post_init__(self) -> None:
        check_particles(self.particles, self.sigma)
        if self.form not in FORMS:
            raise ValueError(f"form must be one of {FORMS}, not {self.form!r}")

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

    def inner_steps(self, problem: "Problem") -> int:
        del problem
        return self.truncation


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
class ESSingle:
    """PES with one perturbation per particle and inner problem, also called noise-reuse ES.

    ĝ = 1/(N σ²) Σ ε (L⁺ - L⁻), with new ε when an inner problem starts: unbiased for the same
    smoothed loss as ES over whole inner problems. The state's `accumulators` are the ε.
    """

    particles: int
    sigma: float
    truncation: int
    fidelity: str = "exact"

    def __post_init__(self) -> None:
        check_particles(self.particles, self.sigma)

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

    def inner_steps(self, problem: "Problem") -> int:
        del problem
        return self.truncation

    def _noise(self, theta: "Theta", keys: Keys) -> Float[Array, "pairs parameters"]:
        return perturbations(keys.noise, self.particles // 2, ravel_pytree(theta)[0], self.sigma)
