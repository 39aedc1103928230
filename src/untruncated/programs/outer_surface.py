"""The loss of whole inner problems on a square grid of two outer parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from untruncated.catalogue.metric import Metric
from untruncated.estimators.unrolled import full_unroll_loss
from untruncated.problems.protocol import Problem
from untruncated.programs.meta_optimisation import build_parts


class Carry(NamedTuple):
    """Rows done, and the loss at every point; rows are θ₁, columns θ₀."""

    row: Int[Array, ""]
    loss: Float[Array, "cells cells"]


@dataclass(frozen=True, eq=False)
class OuterSurface:
    """A `programs.protocol.Program`; one step is a row of the grid."""

    problem: Problem
    low: float
    high: float
    total_steps: int
    seeds: list[int]
    choices: dict[str, Any] = field(default_factory=dict)
    unit: str = "rows"
    chunk_steps: int = 1

    @property
    def members(self) -> int:
        return self.total_steps

    @property
    def ticks(self) -> list[float]:
        """The grid's values of either parameter, both ends included."""
        return np.linspace(self.low, self.high, self.total_steps).tolist()

    @property
    def axes(self) -> dict[str, list]:
        return {"theta_1": self.ticks, "theta_0": self.ticks}

    def init(self) -> Carry:
        shape = (self.total_steps, self.total_steps)
        return Carry(jnp.zeros((), jnp.int32), jnp.zeros(shape))

    def advance(self, carry: Carry) -> Carry:
        return _advance(self, carry)

    def metrics(self, carry: Carry) -> dict[str, Metric]:
        # A picture needs no more digits, and a result file must stay small.
        return {"loss": Metric(("theta_1", "theta_0"), np.asarray(carry.loss, np.float32))}

    def diverged(self, carry: Carry) -> list[dict[str, Any]]:
        return []


@partial(jax.jit, static_argnums=0, donate_argnums=1)
def _advance(program: OuterSurface, carry: Carry) -> Carry:
    ticks = jnp.asarray(program.ticks, float)
    key = jax.random.key(program.seeds[0])

    def loss(first: Float[Array, ""]) -> Float[Array, ""]:
        theta = jnp.stack([first, ticks[carry.row]])
        return full_unroll_loss(program.problem, theta, key)

    return Carry(carry.row + 1, carry.loss.at[carry.row].set(jax.vmap(loss)(ticks)))


def build(fields: Mapping[str, Any], step_sizes: list[float], choices: dict[str, Any]) -> Any:
    """The program of a resolved spec; there is nothing to tune."""
    (problem,) = build_parts(fields, ("problem",))
    return OuterSurface(problem, fields["low"], fields["high"], fields["steps"], fields["seeds"])
