"""Mirrored pairs of perturbations, which every evolution strategy draws.

The two losses of a pair are subtracted before anything is multiplied with them. A pair one of whose
losses is not finite is left out of the mean, as a whole, and counted: the estimate is that of the
pairs that are left. If none is left, it is NaN.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int, Int32, PRNGKeyArray

from untruncated.catalogue.estimators import TruncatedESFields
from untruncated.estimators.unrolled.protocol import (
    Clock,
    Parts,
    unroll,
)

if TYPE_CHECKING:
    from untruncated.problems.protocol import Problem, State, Theta


@dataclass(frozen=True)
class TruncatedStrategy(TruncatedESFields):
    """What evolution strategies over truncated unrolls have in common.

    `particles` is N, both halves of the pairs counted; `sigma` a standard deviation; `truncation`
    K steps per unroll.
    """

    def inner_steps(self, problem: "Problem") -> int:
        """Steps of the inner problem that a call takes."""
        del problem
        return self.truncation


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
