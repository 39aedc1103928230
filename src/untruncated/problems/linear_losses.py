"""Losses that are linear in every unroll's copy of θ, with gradients of a chosen pattern."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from untruncated.catalogue.problems import LinearLossesFields


class Copies(NamedTuple):
    """The gradients g[m, t] = ∂L_t/∂θ_m, and the copies θ_m made so far, zero where not yet."""

    gradients: Float[Array, "steps steps parameters"]
    thetas: Float[Array, "steps parameters"]


@dataclass(frozen=True)
class LinearLosses(LinearLossesFields):
    """L_t = Σ_m g[m, t] · θ_m, where θ_m is θ as it was in step m; PES paper, Section 4.1.

    `structure` says which g are not zero: "diagonal", those with m = t; or "upper_triangular",
    those with m ≤ t. `entries`: all the same vector of ones ("identical"), or drawn standard normal
    for every inner problem ("independent"). `horizon` is T, `parameters` P.
    """

    differentiable: ClassVar[bool] = True

    def initial_theta(self, key: PRNGKeyArray) -> Float[Array, " parameters"]:
        del key
        return jnp.zeros(self.parameters)

    def initial_state(self, key: PRNGKeyArray) -> Copies:
        steps = self.horizon
        shape = (steps, steps, self.parameters)
        entries = jnp.ones(shape) if self.entries == "identical" else jax.random.normal(key, shape)
        pattern = jnp.eye(steps) if self.structure == "diagonal" else jnp.triu(jnp.ones(shape[:2]))
        return Copies(pattern[:, :, None] * entries, jnp.zeros(shape[1:]))

    def unroll_step(
        self,
        theta: Float[Array, " parameters"],
        state: Copies,
        t: Int[Array, ""],
        key: PRNGKeyArray,
    ) -> tuple[Copies, Float[Array, ""]]:
        del key
        thetas = state.thetas.at[t].set(theta)
        return state._replace(thetas=thetas), jnp.sum(state.gradients[:, t] * thetas)
