"""Antithetic evolution strategies, over whole inner problems and over truncated unrolls.

PES paper, Eqs. 3 and 4 and Algorithm 1.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
from jax.flatten_util import ravel_pytree
from jaxtyping import PRNGKeyArray

from untruncated.catalogue.estimators import FullESFields
from untruncated.catalogue.fidelity import Fidelity
from untruncated.estimators.unrolled.pairs import (
    Lost,
    TruncatedStrategy,
    differences,
    finite_pairs,
    none_lost,
    particle_thetas,
    perturbations,
    unroll_particles,
    weighted,
    with_lost,
)
from untruncated.estimators.unrolled.protocol import (
    Clock,
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
    from untruncated.problems.protocol import Problem, Theta


@dataclass(frozen=True)
class FullES(FullESFields):
    """ES over whole inner problems: unbiased for the gradient of the smoothed loss.

    `particles` is N, both halves of the pairs counted; `sigma` a standard deviation.
    """

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
class TruncatedES(TruncatedStrategy):
    """ES over unrolls of `truncation` steps, K, from one shared state; PES paper, Algorithm 1.

    Biased: how the state depends on θ is left out. A telescoped loss needs no other treatment than
    the last one, because the loss before the unroll is the same for all particles.
    """

    fidelity: Fidelity = "exact"

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
