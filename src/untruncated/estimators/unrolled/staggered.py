"""Several copies of an estimator, whose inner problems end at different times."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from untruncated.estimators.unrolled.protocol import Clock, UnrollEstimator, in_whole_unrolls

if TYPE_CHECKING:
    from untruncated.problems.protocol import Problem, Theta


@dataclass(frozen=True)
class Staggered:
    """The mean of `groups` independent estimates, which do not all start anew at the same call.

    The first inner problem of group i = 0, 1, … is cut off after (i + 1) ⌊T / groups⌋ steps, all
    later ones last T; where unrolls divide T, it is cut off at the next end of one. Particles in
    lockstep give gradients whose size rises and falls with T.
    """

    estimator: UnrollEstimator
    groups: int

    def __post_init__(self) -> None:
        if self.groups < 1:
            raise ValueError(f"groups must be at least 1, not {self.groups}")

    def init(self, problem: "Problem", theta: "Theta", key: PRNGKeyArray) -> Any:
        if problem.horizon is None:
            raise ValueError(f"{problem} never ends, so there is nothing to stagger")
        if self.groups > problem.horizon:
            raise ValueError(
                f"{self.groups} groups cannot be staggered over {problem.horizon} steps"
            )
        keys = jax.random.split(key, self.groups)
        state = jax.vmap(lambda key: self.estimator.init(problem, theta, key))(keys)
        if not any(map(_is_clock, jax.tree.leaves(state, is_leaf=_is_clock))):
            raise ValueError(
                f"{self.estimator} unrolls whole inner problems, so there is nothing to stagger"
            )
        groups = jnp.arange(1, self.groups + 1, dtype=jnp.int32)
        first_ends = groups * (problem.horizon // self.groups)
        steps = self.estimator.inner_steps(problem)
        if in_whole_unrolls(problem, steps):
            if self.groups * steps > problem.horizon:
                raise ValueError(
                    f"{self.groups} groups cannot be staggered over an inner problem of "
                    f"{problem.horizon // steps} unrolls"
                )
            first_ends = -(-first_ends // steps) * steps

        def cut_short(node: Any) -> Any:
            return node._replace(end=first_ends) if _is_clock(node) else node

        return jax.tree.map(cut_short, state, is_leaf=_is_clock)

    def step(
        self, problem: "Problem", theta: "Theta", state: Any, key: PRNGKeyArray
    ) -> tuple["Theta", Any]:
        keys = jax.random.split(key, self.groups)
        gradients, state = jax.vmap(
            lambda state, key: self.estimator.step(problem, theta, state, key)
        )(state, keys)
        return jax.tree.map(lambda leaf: leaf.mean(axis=0), gradients), state

    def inner_steps(self, problem: "Problem") -> int:
        return self.estimator.inner_steps(problem)


def _is_clock(node: Any) -> bool:
    return isinstance(node, Clock)
