"""Online prediction of the next observation, one of a few classes, by cross-entropy."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax.nn.initializers import lecun_normal
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.agents.adam import AdamCorrections
from untruncated.agents.optimisers import OPTIMISERS
from untruncated.cells.protocol import Cell, Derived, Parameters
from untruncated.estimators.online.protocol import OnlineGradient


class ClassifierParameters(NamedTuple):
    """The cell's parameters; a linear layer with bias from all features to the classes."""

    cell: Parameters
    kernel: Float[Array, "features classes"]
    bias: Float[Array, " classes"]


class ClassifierState(NamedTuple):
    """Parameters and what `cell.derive` makes of them, moments, and the estimator's carry.

    `moments` is what the optimiser keeps: Adam's moments, nothing for SGD.
    """

    params: ClassifierParameters
    derived: Derived
    moments: Any
    carry: Any


@dataclass(frozen=True)
class NextObservationPredictor:
    """Softmax over `classes` of a linear layer on the cell's features; one update per input.

    `optimiser` is one of `agents.optimisers.OPTIMISERS`.
    """

    cell: Cell
    gradient: OnlineGradient
    classes: int
    optimiser: str = "adam"

    def init(self, key: PRNGKeyArray) -> ClassifierState:
        """The learner before the first observation; weights LeCun normal, bias zero."""
        cell_key, head_key = jax.random.split(key)
        shape = (sum(self.cell.feature_sizes), self.classes)
        params = ClassifierParameters(
            self.cell.init(cell_key), lecun_normal()(head_key, shape), jnp.zeros(self.classes)
        )
        moments = OPTIMISERS[self.optimiser]().init(params)
        return ClassifierState(params, self.cell.derive(params.cell), moments, self.gradient.init())

    def step(
        self,
        state: ClassifierState,
        x: Float[Array, " inputs"],
        following: Float[Array, " classes"],
        step_size: Float[Array, ""],
        corrections: AdamCorrections,
    ) -> tuple[ClassifierState, Float[Array, " classes"]]:
        """Observes x_t, predicts, then learns from the observation that follows, one-hot.

        Returns:
            The new state, and the log-probabilities as predicted before the update.
        """
        params = state.params
        step = self.gradient.step(params.cell, state.derived, state.carry, x)

        def loss(head: tuple, features: tuple) -> tuple[Float[Array, ""], Array]:
            kernel, bias = head
            log_probabilities = jax.nn.log_softmax(jnp.concatenate(features) @ kernel + bias)
            return -jnp.sum(following * log_probabilities), log_probabilities

        head = params.kernel, params.bias
        (dhead, dfeatures), log_probabilities = jax.grad(loss, argnums=(0, 1), has_aux=True)(
            head, step.features
        )
        gradient = ClassifierParameters(step.pullback(dfeatures), *dhead)
        updates, moments = OPTIMISERS[self.optimiser]().update(
            gradient, state.moments, params, step_size=step_size, corrections=corrections
        )
        params = optax.apply_updates(params, updates)
        params = params._replace(cell=self.cell.constrain(params.cell))
        derived = self.cell.derive(params.cell)
        return ClassifierState(params, derived, moments, step.carry), log_probabilities
