"""What stands on a recurrent layer's features and makes a scalar prediction of them."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jax.nn.initializers import lecun_normal
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.cells.padding import drawn_sizes, with_zeros
from untruncated.cells.protocol import Cell, Features, Parameters

HeadParameters = Any


class Head(Protocol):
    """A prediction from features, and the way back; pure functions of pytrees."""

    def init(self, key: PRNGKeyArray) -> HeadParameters:
        """Draws initial parameters."""

    def predict(self, params: HeadParameters, features: Features) -> Float[Array, ""]:
        """The prediction."""

    def gradient(
        self, params: HeadParameters, features: Features
    ) -> tuple[HeadParameters, Features]:
        """The prediction's derivatives with respect to the parameters and to the features."""


class LinearParameters(NamedTuple):
    """One weight per feature, in the features' own arrays; the bias."""

    weights: Features
    bias: Float[Array, ""]


@dataclass(frozen=True)
class LinearHead:
    """Weights · features + bias. Weights start LeCun normal over all features, the bias at zero.

    Of features that are padding, `cells.padding`, weights are and stay zero: those after the first
    `drawn` of each array.
    """

    feature_sizes: tuple[int, ...]
    drawn: tuple[int, ...]

    def init(self, key: PRNGKeyArray) -> LinearParameters:
        weights = lecun_normal()(key, (sum(self.drawn), 1))[:, 0]
        return LinearParameters(_split(weights, self.drawn, self.feature_sizes), jnp.zeros(()))

    def predict(self, params: LinearParameters, features: Features) -> Float[Array, ""]:
        products = [jnp.sum(w * f) for w, f in zip(params.weights, features, strict=True)]
        return sum(products, params.bias)

    def gradient(
        self, params: LinearParameters, features: Features
    ) -> tuple[LinearParameters, Features]:
        return LinearParameters(features, jnp.ones_like(params.bias)), params.weights


class MLPParameters(NamedTuple):
    """Kernels of shape (features, hidden), one per array of features; a bias and weight per unit.

    `bias` is that of the prediction.
    """

    kernels: tuple[Float[Array, "features hidden"], ...]
    hidden_bias: Float[Array, " hidden"]
    weights: Float[Array, " hidden"]
    bias: Float[Array, ""]


@dataclass(frozen=True)
class MLPHead:
    """Weights · tanh(kernelᵀ features + hidden bias) + bias, with `hidden` tanh units.

    Kernel and weights start LeCun normal, biases at zero. RTU paper, Section 4.1. For `drawn` see
    `LinearHead`.
    """

    feature_sizes: tuple[int, ...]
    drawn: tuple[int, ...]
    hidden: int

    def init(self, key: PRNGKeyArray) -> MLPParameters:
        kernel_key, weights_key = jax.random.split(key)
        kernel = lecun_normal()(kernel_key, (sum(self.drawn), self.hidden))
        return MLPParameters(
            kernels=_split(kernel, self.drawn, self.feature_sizes),
            hidden_bias=jnp.zeros(self.hidden),
            weights=lecun_normal()(weights_key, (self.hidden, 1))[:, 0],
            bias=jnp.zeros(()),
        )

    def predict(self, params: MLPParameters, features: Features) -> Float[Array, ""]:
        products = [f @ kernel for f, kernel in zip(features, params.kernels, strict=True)]
        return jnp.tanh(sum(products, params.hidden_bias)) @ params.weights + params.bias

    def gradient(self, params: MLPParameters, features: Features) -> tuple[MLPParameters, Features]:
        return jax.grad(self.predict, argnums=(0, 1))(params, features)


def make_head(cell: Cell, hidden: int) -> LinearHead | MLPHead:
    """The head of `hidden` tanh units on a cell's features; of none, a linear unit."""
    sizes = cell.feature_sizes, drawn_sizes(cell)
    return MLPHead(*sizes, hidden) if hidden else LinearHead(*sizes)


class PredictorParameters(NamedTuple):
    """The parameters of the recurrent cell and of the head on its features."""

    cell: Parameters
    head: HeadParameters


def init_predictor(cell: Cell, head: Head, key: PRNGKeyArray) -> PredictorParameters:
    """Each part's own initialisation."""
    cell_key, head_key = jax.random.split(key)
    return PredictorParameters(cell.init(cell_key), head.init(head_key))


def _split(
    rows: Float[Array, "features ..."], drawn: tuple[int, ...], sizes: tuple[int, ...]
) -> tuple[Array, ...]:
    """The rows that belong to each array of features, which may be longer than what was drawn."""
    ends = [sum(drawn[: index + 1]) for index in range(len(drawn) - 1)]
    return tuple(map(with_zeros, jnp.split(rows, ends), sizes))
