"""The optimisers of learners that make a step at every input, by name."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
from jaxtyping import Array, Float

from untruncated.agents.adam import AdamCorrections, adam_update, init_moments


class OnlineOptimiser(NamedTuple):
    """What an optimiser keeps before the first step, and one descent step on every leaf.

    `init(params)` gives the moments. `update(params, moments, gradient, step_size, corrections)`
    gives new parameters and moments; the corrections are those of `agents.adam`.
    """

    init: Callable[[Any], Any]
    update: Callable[[Any, Any, Any, Float[Array, ""], AdamCorrections], tuple[Any, Any]]


def sgd_update(
    params: Any,
    moments: tuple[()],
    gradient: Any,
    step_size: Float[Array, ""],
    corrections: AdamCorrections,
) -> tuple[Any, tuple[()]]:
    """θ - α g. It keeps no moments and needs no corrections."""
    del corrections
    return jax.tree.map(lambda p, g: p - step_size * g, params, gradient), moments


OPTIMISERS = {
    "adam": OnlineOptimiser(init_moments, adam_update),
    "sgd": OnlineOptimiser(lambda params: (), sgd_update),
}
