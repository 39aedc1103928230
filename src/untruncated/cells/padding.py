"""Cells with units added that do nothing, so that their arrays fill the processor's vectors.

A loop over 53 units takes longer than one over 56, because the last five are done one at a time.
The units added have no input, and no weight in a head. What a unit makes of nothing is nothing, so
they stay zero and so do their gradients: what is learned differs in the order of sums alone.
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from untruncated.cells.protocol import Cell, Parameters, TraceCell

LANES = 8


def padded_width(width: int) -> int:
    """The least multiple of a vector's length; what one vector holds is left as it is."""
    return width if width <= LANES else -(-width // LANES) * LANES


@dataclass(frozen=True)
class Padded:
    """The cell `own`, computed as the first units of `wide`, the same cell with more units.

    The units must not mix, and each must have a state and features of its own, which stay zero if
    it has no input.
    """

    own: TraceCell
    wide: TraceCell

    def init(self, key: PRNGKeyArray) -> Parameters:
        """The parameters that `own` draws, among those of units that do nothing."""
        like = jax.eval_shape(self.wide.init, key)
        return jax.tree.map(_with_dead_units, self.own.init(key), like)

    def __getattr__(self, name: str) -> Any:
        """All else is that of the wide cell."""
        return getattr(self.wide, name)


def drawn_sizes(cell: Cell) -> tuple[int, ...]:
    """How many of each array's features a head has weights for; the others are padding."""
    return cell.own.feature_sizes if isinstance(cell, Padded) else cell.feature_sizes


def with_zeros(leaf: Array, size: int) -> Array:
    """The array with zeros at the end of its first axis, up to a size."""
    if leaf.shape[0] == size:
        return leaf
    return jnp.pad(leaf, [(0, size - leaf.shape[0]), *[(0, 0)] * (leaf.ndim - 1)])


def _with_dead_units(leaf: Array, like: jax.ShapeDtypeStruct) -> Array:
    """The leaf up to the other's shape: no input weights, but a λ as that of the last unit."""
    if leaf.shape == like.shape:
        return leaf
    more = [(0, b - a) for a, b in zip(leaf.shape, like.shape, strict=True)]
    return jnp.pad(leaf, more, mode="edge" if leaf.ndim == 1 else "constant")
