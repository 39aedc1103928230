"""Cells widened by units that do nothing, so that all of them fill the processor's vectors.

A loop over 53 units takes longer than one over 56, because the last five are done one at a time.
The units added have no input and no weight in the head. What a unit makes of nothing is nothing, so
they stay zero and so do their gradients: what is learned differs in the order of sums alone.
"""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from untruncated.catalogue import lookup
from untruncated.programs.building import build_predictor

LANES = 8


def build_filled(
    fields: Mapping[str, Any], environment: Any
) -> tuple[Any, Callable[[PRNGKeyArray], Any]]:
    """A resolved spec's learner, its units a multiple of the vectors', and the start of its state.

    The parameters drawn from a key are those that the spec's own cell draws. Cells whose units mix,
    or which no more than one vector holds, are left as they are.
    """
    narrow = build_predictor(fields, environment)
    cell = fields["cell"]
    width = -(-cell["width"] // LANES) * LANES
    separate = lookup("cell", cell["name"], "cell").separate_units
    if fields["credit"]["name"] != "rtrl" or not separate or width in (cell["width"], LANES):
        return narrow, narrow.init
    wide = build_predictor({**fields, "cell": {**cell, "width": width}}, environment)

    def init(key: PRNGKeyArray) -> Any:
        state, own = wide.init(key), narrow.init(key).params
        params = state.params._replace(
            cell=jax.tree.map(_widened_cell, own.cell, state.params.cell),
            head=jax.tree.map(_widened, own.head, state.params.head),
        )
        return state._replace(params=params, derived=wide.cell.derive(params.cell))

    return wide, init


def _widened(leaf: Array, like: Array) -> Array:
    """The leaf with zeros at the ends of its axes, up to the other's shape."""
    if leaf.shape == like.shape:
        return leaf
    return jnp.pad(leaf, [(0, b - a) for a, b in zip(leaf.shape, like.shape, strict=True)])


def _widened_cell(leaf: Array, like: Array) -> Array:
    """As `_widened`; but numbers of a unit alone, such as its λ, are those of the last unit."""
    if leaf.ndim == 1:
        return jnp.pad(leaf, (0, like.size - leaf.size), mode="edge")
    return _widened(leaf, like)
