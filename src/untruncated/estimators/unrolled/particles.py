"""Particles that keep their own states for a whole inner problem; PES paper, Section 4."""

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from untruncated.estimators.unrolled.pairs import (
    Lost,
    differences,
    finite_pairs,
    none_lost,
    particle_thetas,
    perturbations,
    unroll_particles,
    with_lost,
)
from untruncated.estimators.unrolled.protocol import (
    Clock,
    Keys,
    Parts,
    advance,
    ends,
    split_key,
    start_clock,
)

if TYPE_CHECKING:
    from untruncated.problems.protocol import Problem, Theta


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
