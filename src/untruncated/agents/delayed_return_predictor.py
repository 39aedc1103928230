"""Online prediction of a return by regression on returns that have been waited for."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from untruncated.agents.adam import AdamCorrections, AdamMoments, adam_update, init_moments
from untruncated.agents.linear_head import (
    PredictorParameters,
    init_predictor,
    predict,
    prediction_gradient,
)
from untruncated.cells.protocol import Cell, Derived, State
from untruncated.estimators.online import OnlineGradient


class DelayedReturnState(NamedTuple):
    """Parameters and moments; the estimator's carry on the delayed stream; the state on the live.

    `derived` is `cell.derive` of the parameters.
    """

    params: PredictorParameters
    derived: Derived
    moments: AdamMoments
    carry: Any
    live: State


@dataclass(frozen=True)
class DelayedReturnPredictor:
    """Descends along the gradient of ½ (v - G)² on the stream as it was `delay` steps ago.

    By then the return G, cut after `delay` steps, has been seen, so nothing of the future is used.
    Predictions are made by a second state that runs on the present stream with the same weights.
    """

    cell: Cell
    gradient: OnlineGradient
    discount: float = 0.966
    delay: int = 300

    def init(self, key: PRNGKeyArray) -> DelayedReturnState:
        """The learner before the first observation."""
        params = init_predictor(self.cell, key)
        return DelayedReturnState(
            params=params,
            derived=self.cell.derive(params.cell),
            moments=init_moments(params),
            carry=self.gradient.init(),
            live=self.cell.initial_state(),
        )

    def step(
        self,
        state: DelayedReturnState,
        x: Float[Array, " inputs"],
        past_x: Float[Array, " inputs"],
        past_return: Float[Array, ""],
        waited: Bool[Array, ""],
        step_size: Float[Array, ""],
        corrections: AdamCorrections,
    ) -> tuple[DelayedReturnState, Float[Array, ""]]:
        """Observes x_t, predicts v_t, then learns from the delayed pair, once there is one.

        Returns:
            The new state, and v_t as made before this step's update.
        """
        params, derived = state.params, state.derived
        drive = self.cell.drive(params.cell, derived, x)
        live = self.cell.step(params.cell, derived, state.live, drive)
        value = predict(params, self.cell.features(params.cell, live, x))

        def learn(state: DelayedReturnState) -> DelayedReturnState:
            step = self.gradient.step(params.cell, derived, state.carry, past_x)
            error = predict(params, step.features) - past_return
            cell_gradient = step.pullback(params.weights)
            gradient = prediction_gradient(step.features, cell_gradient, params.bias)
            descent = jax.tree.map(lambda g: error * g, gradient)
            new, moments = adam_update(params, state.moments, descent, step_size, corrections)
            new = new._replace(cell=self.cell.constrain(new.cell))
            return DelayedReturnState(
                new, self.cell.derive(new.cell), moments, step.carry, state.live
            )

        state = jax.lax.cond(waited, learn, lambda state: state, state)
        return state._replace(live=live), value
