"""Antithetic evolution strategies, over whole inner problems and over truncated unrolls.

PES paper, Eqs. 3 and 4 and Algorithm 1. Every estimator here draws mirrored pairs of
perturbations, whose two losses are subtracted before anything is multiplied with them.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.estimators.unrolled import (
    Clock,
    Parts,
    advance,
    check_ends,
    check_truncation,
    full_unroll_loss,
    split_key,
    start_clock,
    unroll,
)

if TYPE_CHECKING:
    from untruncated.problems.protocol import Problem, State, Theta


def check_particles(particles: int, sigma: float) -> None:
    """Raises a ValueError unless the particles make pairs with perturbations of some size."""
    if particles < 2 or particles % 2:
        raise ValueError(
            f"particles must be an even number from 2 on, for antithetic pairs, not {particles}"
        )
    if not sigma > 0:
        raise ValueError(f"sigma must be above 0, not {sigma}")


def perturbations(
    key: PRNGKeyArray, pairs: int, like: Float[Array, " parameters"], sigma: float
) -> Float[Array, "pairs parameters"]:
    """Independent normal perturbations with standard deviation `sigma`, one per pair."""
    return sigma * jax.random.normal(key, (pairs, like.size), like.dtype)


def mirrored(array: Float[Array, "pairs *rest"]) -> Float[Array, "particles *rest"]:
    """The perturbations of all particles: those of the pairs, then their negatives."""
    return jnp.concatenate([array, -array])


def differences(losses: Float[Array, " particles"]) -> Float[Array, " pairs"]:
    """Every pair's first loss less its second."""
    first, second = jnp.split(losses, 2)
    return first - second


def weighted(
    weights: Float[Array, "pairs parameters"], differences: Float[Array, " pairs"], sigma: float
) -> Float[Array, " parameters"]:
    """1/(N σ²) Σ w (L⁺ - L⁻) over the N/2 pairs."""
    # a matrix product would draw the perturbations again, out of order
    total = (weights * differences[:, None]).sum(axis=0)
    return total / (2 * weights.shape[0] * sigma**2)


def particle_thetas(theta: "Theta", noise: Float[Array, "pairs parameters"]) -> "Theta":
    """θ + ε and θ - ε for every pair, as a pytree with a leading axis of particles."""
    flat, unflatten = ravel_pytree(theta)
    return jax.vmap(unflatten)(flat + mirrored(noise))


def unroll_particles(
    problem: "Problem",
    thetas: "Theta",
    states: "State",
    clock: Clock,
    fresh: "State",
    key: PRNGKeyArray,
    steps: int,
    *,
    axes: tuple[int | None, int | None, int | None] = (0, 0, None),
) -> tuple["State", Parts]:
    """`unroll` of all particles, with the same clock and keys.

    `axes` says which of `thetas`, `states` and `fresh` have a leading axis of particles.
    """

    def one(theta: "Theta", state: "State", fresh: "State") -> tuple["State", Parts]:
        return unroll(problem, theta, state, clock, fresh, key, steps)

    return jax.vmap(one, axes)(thetas, states, fresh)


@dataclass(frozen=True)
class FullES:
    """ES over whole inner problems: unbiased for the gradient of the smoothed loss.

    `particles` is N, both halves of the pairs counted; `sigma` a standard deviation.
    """

    particles: int
    sigma: float

    def __post_init__(self) -> None:
        check_particles(self.particles, self.sigma)

    def init(self, problem: "Problem", theta: "Theta", key: PRNGKeyArray) -> tuple:
        del theta, key  # nothing is carried from one call to the next
        check_ends(problem, self)
        return ()

    def step(
        self, problem: "Problem", theta: "Theta", state: tuple, key: PRNGKeyArray
    ) -> tuple["Theta", tuple]:
        flat, unflatten = ravel_pytree(theta)
        noise = perturbations(split_key(key).noise, self.particles // 2, flat, self.sigma)
        thetas = particle_thetas(theta, noise)
        losses = jax.vmap(lambda theta: full_unroll_loss(problem, theta, key))(thetas)
        return unflatten(weighted(noise, differences(losses), self.sigma)), state

    def inner_steps(self, problem: "Problem") -> int:
        return problem.horizon


class SharedState(NamedTuple):
    """One state for all particles, which goes on with the unperturbed parameters."""

    clock: Clock
    state: Any


def start_shared(problem: "Problem", key: PRNGKeyArray) -> SharedState:
    """The shared state of an inner problem about to start."""
    return SharedState(start_clock(problem), problem.initial_state(split_key(key).start))


@dataclass(frozen=True)
class TruncatedES:
    """ES over unrolls of `truncation` steps, K, from one shared state; PES paper, Algorithm 1.

    Biased: how the state depends on θ is left out. A telescoped loss needs no other treatment than
    the last one, because the loss before the unroll is the same for all particles.
    """

    particles: int
    sigma: float
    truncation: int
    fidelity: str = "exact"

    def __post_init__(self) -> None:
        check_particles(self.particles, self.sigma)

    def init(self, problem: "Problem", theta: "Theta", key: PRNGKeyArray) -> SharedState:
        del theta  # the initial state does not depend on it
        check_truncation(problem, self.truncation, self.fidelity)
        return start_shared(problem, key)

    def step(
        self, problem: "Problem", theta: "Theta", state: SharedState, key: PRNGKeyArray
    ) -> tuple["Theta", SharedState]:
        keys = split_key(key)
        flat, unflatten = ravel_pytree(theta)
        noise = perturbations(keys.noise, self.particles // 2, flat, self.sigma)
        ahead = (state.clock, problem.initial_state(keys.start), keys.data, self.truncation)
        _, parts = unroll_particles(
            problem, particle_thetas(theta, noise), state.state, *ahead, axes=(0, None, None)
        )
        gradient = weighted(noise, differences(parts.before + parts.after), self.sigma)
        end, _ = unroll(problem, theta, state.state, *ahead)
        clock = advance(problem, state.clock, self.truncation)
        return unflatten(gradient), SharedState(clock, end)

    def inner_steps(self, problem: "Problem") -> int:
        del problem
        return self.truncation
