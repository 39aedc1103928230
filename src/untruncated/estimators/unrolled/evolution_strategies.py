"""Antithetic evolution strategies, over whole inner problems and over truncated unrolls.

PES paper, Eqs. 3 and 4 and Algorithm 1. Every estimator here draws mirrored pairs of
perturbations, whose two losses are subtracted before anything is multiplied with them.

A pair one of whose losses is not finite is left out of the mean, as a whole, and counted: the
estimate is that of the pairs that are left. If none is left, it is NaN.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int, Int32, PRNGKeyArray

from untruncated.estimators.unrolled.protocol import (
    Clock,
    Parts,
    advance,
    check_ends,
    check_theta,
    check_truncation,
    full_unroll_loss,
    split_key,
    start_clock,
    unroll,
)

if TYPE_CHECKING:
    from untruncated.problems.protocol import Problem, State, Theta


SMALLEST_SIGMA, LARGEST_SIGMA = 1e-18, 1e18


def check_particles(particles: int, sigma: float) -> None:
    """Raises a ValueError unless the particles make pairs with perturbations of some size."""
    if particles < 2 or particles % 2:
        raise ValueError(
            f"particles must be an even number from 2 on, for antithetic pairs, not {particles}"
        )
    if not sigma > 0:
        raise ValueError(f"sigma must be above 0, not {sigma}")
    if not SMALLEST_SIGMA <= sigma <= LARGEST_SIGMA:
        raise ValueError(
            f"sigma must be from {SMALLEST_SIGMA} to {LARGEST_SIGMA}, so that its square is a "
            f"float32: got {sigma}"
        )


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


class Lost(NamedTuple):
    """How many pairs have been left out of the estimates so far, at most about 2³⁰."""

    pairs: Int32[Array, "*members"]


def none_lost() -> Lost:
    """Before the first estimate."""
    return Lost(jnp.zeros((), jnp.int32))


def with_lost(lost: Lost, kept: Bool[Array, " pairs"]) -> Lost:
    """With the pairs of one more estimate that are not kept."""
    return Lost(jnp.minimum(lost.pairs, 2**30) + jnp.sum(~kept, dtype=jnp.int32))


def lost_pairs(state: Any, members: int = 0) -> Int[Array, "*members"]:
    """How many pairs the estimates that led to a state have left out.

    Args:
        state: An estimator's, with whatever is around it.
        members: Leading axes of the state that are kept; sums run over others, such as groups.
    """
    nodes = jax.tree.leaves(state, is_leaf=lambda node: isinstance(node, Lost))
    counts = [node.pairs for node in nodes if isinstance(node, Lost)]
    return sum(jnp.sum(count, axis=tuple(range(members, count.ndim))) for count in counts)


def finite_pairs(*differences: Float[Array, " pairs"]) -> Bool[Array, " pairs"]:
    """Whether all the given differences of a pair's losses are finite."""
    return jnp.isfinite(jnp.stack(differences)).all(axis=0)


def weighted(
    weights: Float[Array, "pairs parameters"],
    differences: Float[Array, " pairs"],
    sigma: float,
    kept: Bool[Array, " pairs"],
) -> Float[Array, " parameters"]:
    """1/(N σ²) Σ w (L⁺ - L⁻) over the N/2 pairs, of those kept; NaN if none is."""
    # a matrix product would draw the perturbations again, out of order
    total = (weights * jnp.where(kept, differences, 0)[:, None]).sum(axis=0)
    pairs = weights.shape[0]
    return total / (2 * pairs * sigma**2) * (pairs / kept.sum(dtype=total.dtype))


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

    def init(self, problem: "Problem", theta: "Theta", key: PRNGKeyArray) -> Lost:
        del key  # nothing else is carried from one call to the next
        check_theta(theta, self)
        check_ends(problem, self)
        return none_lost()

    def step(
        self, problem: "Problem", theta: "Theta", state: Lost, key: PRNGKeyArray
    ) -> tuple["Theta", Lost]:
        flat, unflatten = ravel_pytree(theta)
        same = jax.random.clone(key)  # of which the perturbations take one part, losses the others
        noise = perturbations(split_key(key).noise, self.particles // 2, flat, self.sigma)
        thetas = particle_thetas(theta, noise)
        losses = jax.vmap(lambda theta: full_unroll_loss(problem, theta, same))(thetas)
        found = differences(losses)
        kept = finite_pairs(found)
        return unflatten(weighted(noise, found, self.sigma, kept)), with_lost(state, kept)

    def inner_steps(self, problem: "Problem") -> int:
        return problem.horizon


class SharedState(NamedTuple):
    """One state for all particles, which goes on with the unperturbed parameters.

    `lost` is for estimators with particles.
    """

    clock: Clock
    state: Any
    lost: Lost | tuple[()] = ()


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
        check_theta(theta, self)
        check_truncation(problem, self.truncation, self.fidelity)
        return start_shared(problem, key)._replace(lost=none_lost())

    def step(
        self, problem: "Problem", theta: "Theta", state: SharedState, key: PRNGKeyArray
    ) -> tuple["Theta", SharedState]:
        keys = split_key(key)
        flat, unflatten = ravel_pytree(theta)
        noise = perturbations(keys.noise, self.particles // 2, flat, self.sigma)
        fresh, same = problem.initial_state(keys.start), jax.random.clone(keys.data)
        ahead, again = ((state.clock, fresh, data, self.truncation) for data in (keys.data, same))
        _, parts = unroll_particles(
            problem, particle_thetas(theta, noise), state.state, *ahead, axes=(0, None, None)
        )
        found = differences(parts.before + parts.after)
        kept = finite_pairs(found)
        gradient = weighted(noise, found, self.sigma, kept)
        # the unperturbed parameters meet the same data
        end, _ = unroll(problem, theta, state.state, *again)
        clock = advance(problem, state.clock, self.truncation)
        return unflatten(gradient), SharedState(clock, end, with_lost(state.lost, kept))

    def inner_steps(self, problem: "Problem") -> int:
        del problem
        return self.truncation
