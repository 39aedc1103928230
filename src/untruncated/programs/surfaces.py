"""A loss at every point of a grid in a plane: of outer parameters, or of an inner problem's state.

The outer surface is the loss of whole inner problems as a function of θ; the inner surface that of
one state, which the inner problem descends. PES paper, Figures 6 and 10.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from untruncated.estimators.unrolled.protocol import full_unroll_loss
from untruncated.programs.building import build_parts
from untruncated.results.metric import Metric

PointLoss = Callable[[Float[Array, "2"]], Float[Array, ""]]


class Carry(NamedTuple):
    """Rows done, and the loss at every point."""

    row: Int[Array, ""]
    loss: Float[Array, "rows columns"]


@dataclass(frozen=True, eq=False)
class Surface:
    """A `programs.protocol.Program`; one step is a row of the grid.

    `rows` are the values of the second coordinate and `columns` those of the first; `names` are
    the two axes' names, rows first.
    """

    loss: PointLoss
    names: tuple[str, str]
    rows: list[float]
    columns: list[float]
    choices: dict[str, Any] = field(default_factory=dict)
    unit: str = "rows"
    chunk_steps: int = 1

    @property
    def total_steps(self) -> int:
        return len(self.rows)

    @property
    def members(self) -> int:
        return len(self.columns)

    @property
    def axes(self) -> dict[str, list]:
        return dict(zip(self.names, (self.rows, self.columns), strict=True))

    def init(self) -> Carry:
        return Carry(jnp.zeros((), jnp.int32), jnp.zeros((len(self.rows), len(self.columns))))

    def advance(self, carry: Carry) -> Carry:
        return _advance(self, carry)

    def metrics(self, carry: Carry) -> dict[str, Metric]:
        # A picture needs no more digits, and a result file must stay small.
        return {"loss": Metric(self.names, np.asarray(carry.loss, np.float32))}

    def diverged(self, carry: Carry) -> list[dict[str, Any]]:
        return []


@partial(jax.jit, static_argnums=0, donate_argnums=1)
def _advance(program: Surface, carry: Carry) -> Carry:
    second = jnp.asarray(program.rows, float)[carry.row]

    def loss(first: Float[Array, ""]) -> Float[Array, ""]:
        return program.loss(jnp.stack([first, second]))

    row = jax.vmap(loss)(jnp.asarray(program.columns, float))
    return Carry(carry.row + 1, carry.loss.at[carry.row].set(row))


def build_outer(fields: Mapping[str, Any], step_sizes: list[float], choices: dict[str, Any]) -> Any:
    """The program of a resolved spec; there is nothing to tune."""
    (problem,) = build_parts(fields, ("problem",))
    key = jax.random.key(fields["seeds"][0])
    ticks = np.linspace(fields["low"], fields["high"], fields["steps"]).tolist()
    return Surface(
        # every θ meets the same inner problem
        lambda theta: full_unroll_loss(problem, theta, jax.random.clone(key)),
        ("theta_1", "theta_0"),
        ticks,
        ticks,
    )


def build_inner(fields: Mapping[str, Any], step_sizes: list[float], choices: dict[str, Any]) -> Any:
    """The program of a resolved spec; there is nothing to tune.

    Raises:
        ValueError: A logarithmic axis does not lie above 0.
    """
    (problem,) = build_parts(fields, ("problem",))
    if fields["scale_1"] == "log" and not min(fields["low_1"], fields["high_1"]) > 0:
        raise ValueError(
            f"a logarithmic axis goes over numbers above 0: got low_1 {fields['low_1']} and high_1 "
            f"{fields['high_1']}"
        )
    space = np.geomspace if fields["scale_1"] == "log" else np.linspace
    columns = np.linspace(fields["low_0"], fields["high_0"], fields["steps"])
    rows = space(fields["low_1"], fields["high_1"], fields["steps"])
    return Surface(problem.state_loss, ("state_1", "state_0"), rows.tolist(), columns.tolist())
