"""The optimisers of all that learns: optax transformations whose step size is an argument.

`update(gradient, state, params, step_size=α, …)` gives what `optax.apply_updates` adds to the
parameters. The step size is an array, so that members with different ones share a program, and that
a schedule is a function of the step whose value is passed in. What else an optimiser takes, such as
`agents.adam`'s corrections, the others leave alone, and so does whatever is chained before it.
"""

from typing import Any

import jax
import optax
from jaxtyping import Array, Float

from untruncated.agents.adam import adam_with_corrections
from untruncated.catalogue.estimators import AdamFields, SGDFields


def descent() -> optax.GradientTransformationExtraArgs:
    """-α times what comes in: the last link of a chain."""

    def update(
        direction: Any,
        state: optax.EmptyState,
        params: Any = None,
        *,
        step_size: Float[Array, ""],
        **others: Any,
    ) -> tuple[Any, optax.EmptyState]:
        return jax.tree.map(lambda d: -step_size * d, direction), state

    return optax.GradientTransformationExtraArgs(lambda params: optax.EmptyState(), update)


def adam(
    b1: float = AdamFields.b1,
    b2: float = AdamFields.b2,
    epsilon: float = AdamFields.epsilon,
    clip: float | None = AdamFields.clip,
) -> optax.GradientTransformationExtraArgs:
    """Adam (Kingma and Ba, 2015), which counts its updates."""
    return _chain(clip, optax.scale_by_adam(b1, b2, epsilon))


def sgd(
    momentum: float = SGDFields.momentum, clip: float | None = SGDFields.clip
) -> optax.GradientTransformationExtraArgs:
    """Along the gradient, or along its undampened running sum b' = momentum b + g."""
    return _chain(clip, optax.trace(momentum) if momentum else optax.identity())


def _chain(
    clip: float | None, direction: optax.GradientTransformation
) -> optax.GradientTransformationExtraArgs:
    """Every coordinate of the gradient within ± `clip` before anything else is done."""
    first = () if clip is None else (optax.clip(clip),)
    return optax.with_extra_args_support(optax.chain(*first, direction, descent()))


# For agents that make a step at every input, by name; their updates get `corrections` as well.
OPTIMISERS = {"adam": adam_with_corrections, "sgd": sgd}
