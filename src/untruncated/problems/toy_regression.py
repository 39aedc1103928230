"""Gradient descent on a function of two variables, whose step sizes are to be learned.

The objective as a function of the two log step sizes is smooth on a large scale and ragged on a
small one. PES paper, Section 5.2 and Figure 6.
"""

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from untruncated.catalogue.problems import ToyRegressionFields


def inner_function(x: Float[Array, "2"]) -> Float[Array, ""]:
    """f(x) = √(x₀² + 5) - √5 + sin²(x₁) exp(-5 x₀²) + ¼ |x₁ - 100|."""
    first, second = x
    bowl = jnp.sqrt(first**2 + 5.0) - 5.0**0.5
    return bowl + jnp.sin(second) ** 2 * jnp.exp(-5.0 * first**2) + 0.25 * jnp.abs(second - 100.0)


@dataclass(frozen=True)
class ToyRegression(ToyRegressionFields):
    """x' = x - α_t ∇f(x) from x = (1, 1), loss f(x'); α_t = (1 - t/T) exp(θ₀) + t/T exp(θ₁).

    θ starts at (`start_first`, `start_last`): the logarithms of the first step's size, and of the
    size that the schedule would reach at step T.
    """

    differentiable: ClassVar[bool] = True

    def initial_theta(self, key: PRNGKeyArray) -> Float[Array, "2"]:
        del key  # it always starts at the same place
        return jnp.array([self.start_first, self.start_last], float)

    def initial_state(self, key: PRNGKeyArray) -> Float[Array, "2"]:
        del key
        return jnp.ones(2)

    def unroll_step(
        self,
        theta: Float[Array, "2"],
        state: Float[Array, "2"],
        t: Int[Array, ""],
        key: PRNGKeyArray,
    ) -> tuple[Float[Array, "2"], Float[Array, ""]]:
        del key  # a deterministic problem
        # An int32 divided by a number is a float32, under float64 too.
        progress = jnp.asarray(t, float) / self.horizon
        step_size = (1.0 - progress) * jnp.exp(theta[0]) + progress * jnp.exp(theta[1])
        state = state - step_size * jax.grad(self.state_loss)(state)
        return state, self.state_loss(state)

    def state_loss(self, state: Float[Array, "2"]) -> Float[Array, ""]:
        """The loss of a state, which inner steps descend."""
        return inner_function(state)
