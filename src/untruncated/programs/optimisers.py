"""Optimisers of outer parameters: optax transformations into a direction of unit step size."""

import optax


def adam(b1: float, b2: float, epsilon: float, clip: float | None) -> optax.GradientTransformation:
    """Adam's direction; Kingma and Ba (2015)."""
    return _clipped(clip, optax.scale_by_adam(b1, b2, epsilon))


def sgd(momentum: float, clip: float | None) -> optax.GradientTransformation:
    """The gradient, or its undampened running sum b' = momentum b + g."""
    return _clipped(clip, optax.trace(momentum) if momentum else optax.identity())


def _clipped(
    clip: float | None, direction: optax.GradientTransformation
) -> optax.GradientTransformation:
    """Every coordinate of the gradient within ± `clip` before anything else is done."""
    return direction if clip is None else optax.chain(optax.clip(clip), direction)
