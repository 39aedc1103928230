"""Dense real-time recurrent learning: the whole Jacobian of the state, for any cell.

Costs (state size)² × (parameters) per step: meant for small systems and as a reference.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from untruncated.cells.protocol import Cell, Derived, Features, Parameters, State
from untruncated.estimators.online.protocol import OnlineStep


class DenseCarry(NamedTuple):
    """The state, and the derivative of the flat state with respect to the flat parameters."""

    state: State
    jacobian: Float[Array, "state parameters"]


@dataclass(frozen=True)
class DenseRTRL:
    """J' = (∂h'/∂h) J + ∂h'/∂ψ. RTU paper, Eq. 1 and Section 2; Williams and Zipser (1989)."""

    cell: Cell

    def init(self) -> DenseCarry:
        state = self.cell.initial_state()
        params = jax.eval_shape(self.cell.init, jax.random.key(0))
        sizes = [sum(leaf.size for leaf in jax.tree.leaves(tree)) for tree in (state, params)]
        return DenseCarry(state, jnp.zeros(tuple(sizes)))

    def step(
        self, params: Parameters, derived: Derived, carry: DenseCarry, x: Float[Array, " inputs"]
    ) -> OnlineStep:
        flat_params, unflatten_params = ravel_pytree(params)
        flat_state, unflatten_state = ravel_pytree(carry.state)

        def transition(flat_params: Array, flat_state: Array) -> Array:
            params = unflatten_params(flat_params)
            derived = self.cell.derive(params)
            drive = self.cell.drive(params, derived, x)
            state = self.cell.step(params, derived, unflatten_state(flat_state), drive)
            return ravel_pytree(state)[0]

        # Reverse mode: a state has far fewer entries than the parameters.
        immediate, propagation = jax.jacrev(transition, argnums=(0, 1))(flat_params, flat_state)
        jacobian = propagation @ carry.jacobian + immediate
        state = unflatten_state(transition(flat_params, flat_state))

        features, read_out = jax.vjp(
            lambda params, state: self.cell.features(params, state, x), params, state
        )

        def pullback(cotangents: Features) -> Parameters:
            direct, cotangent = read_out(cotangents)
            through_state = ravel_pytree(cotangent)[0] @ jacobian
            # The Jacobian may be of a wider type than the parameters.
            through_state = unflatten_params(through_state.astype(flat_params.dtype))
            return jax.tree.map(jnp.add, direct, through_state)

        return OnlineStep(DenseCarry(state, jacobian), features, pullback)
