"""One linear unit with bias on a recurrent layer's features: a scalar prediction."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.nn.initializers import lecun_normal
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.cells.protocol import Cell, Features, Parameters


class PredictorParameters(NamedTuple):
    """The cell's parameters; one weight per feature, in the features' own arrays; the bias."""

    cell: Parameters
    weights: Features
    bias: Float[Array, ""]


def init_predictor(cell: Cell, key: PRNGKeyArray) -> PredictorParameters:
    """The cell's own initialisation; weights LeCun normal over all features, bias zero."""
    cell_key, head_key = jax.random.split(key)
    sizes = cell.feature_sizes
    weights = lecun_normal()(head_key, (sum(sizes), 1))[:, 0]
    splits = [sum(sizes[: index + 1]) for index in range(len(sizes) - 1)]
    return PredictorParameters(
        cell.init(cell_key), tuple(jnp.split(weights, splits)), jnp.zeros(())
    )


def predict(params: PredictorParameters, features: Features) -> Float[Array, ""]:
    """Weights · features + bias."""
    products = [jnp.sum(w * f) for w, f in zip(params.weights, features, strict=True)]
    return sum(products, params.bias)


def prediction_gradient(
    features: Features, cell_gradient: Parameters, bias: Float[Array, ""]
) -> PredictorParameters:
    """The gradient of the prediction, where `cell_gradient` is the pullback of the weights."""
    return PredictorParameters(cell_gradient, features, jnp.ones_like(bias))
