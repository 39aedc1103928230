"""Online prediction of a return by semi-gradient TD(λ) with accumulating eligibility traces."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from untruncated.agents.adam import (
    AdamCorrections,
    AdamMoments,
    adam_with_corrections,
    bias_corrections,
)
from untruncated.agents.heads import Head, PredictorParameters, init_predictor, make_head
from untruncated.agents.protocol import Inputs
from untruncated.agents.temporal_difference import accumulate_trace, td_error
from untruncated.catalogue.components import TDFields
from untruncated.cells.protocol import Cell, Derived
from untruncated.estimators.online.protocol import OnlineGradient


class TDState(NamedTuple):
    """Everything that one stream's learner carries from step to step.

    `derived` is `cell.derive` of the parameters; `eligibility` is a pytree like the parameters;
    `carry` belongs to the gradient estimator; `value` is the last prediction.
    """

    params: PredictorParameters
    derived: Derived
    moments: AdamMoments
    eligibility: PredictorParameters
    carry: Any
    value: Float[Array, ""]


@dataclass(frozen=True)
class TDPredictor(TDFields):
    """v_t predicts Σ_k discountᵏ c_{t+k+1}, the return of the cumulant c after step t.

    δ_t = c_{t+1} + discount v_{t+1} - v_t, e_t = discount trace_decay e_{t-1} + ∇v_t, and Adam
    descends along -δ_t e_t. δ_t is known one step late: v_{t+1} is made with the parameters from
    before the update. Sutton and Barto (2018), Section 12.2.

    `hidden` is the number of tanh units between the features and the prediction: see `make_head`.
    """

    cell: Cell
    gradient: OnlineGradient

    @property
    def head(self) -> Head:
        """What makes a prediction of the cell's features."""
        return make_head(self.cell, self.hidden)

    @property
    def optimiser(self) -> optax.GradientTransformationExtraArgs:
        """Adam, to which the corrections are passed."""
        return adam_with_corrections()

    def init(self, key: PRNGKeyArray) -> TDState:
        """The learner before the first observation. No update is made at the first step."""
        params = init_predictor(self.cell, self.head, key)
        return TDState(
            params=params,
            derived=self.cell.derive(params.cell),
            moments=self.optimiser.init(params),
            eligibility=jax.tree.map(jnp.zeros_like, params),
            carry=self.gradient.init(),
            value=jnp.zeros(()),
        )

    def first_past(self) -> tuple[()]:
        """Nothing: a step takes what it sees."""
        return ()

    def inputs(
        self,
        past: tuple[()],
        observations: Float[Array, "steps inputs"],
        cumulants: Float[Array, " steps"],
        times: Int[Array, " steps"],
    ) -> tuple[tuple[()], Inputs]:
        """Of each step the observation and the cumulant; the corrections of its update."""
        # The first update is made at step 1; at step 0 the gradient is zero.
        corrections = bias_corrections(jnp.maximum(times, 1))
        return past, Inputs((observations, cumulants), (corrections,))

    def step(
        self,
        state: TDState,
        x: Float[Array, " inputs"],
        cumulant: Float[Array, ""],
        step_size: Float[Array, ""],
        corrections: AdamCorrections,
    ) -> tuple[TDState, Float[Array, ""]]:
        """Observes x_t and c_t, predicts v_t, then learns from δ_{t-1}.

        Returns:
            The new state, and v_t as made before this step's update.
        """
        params, head = state.params, self.head
        step = self.gradient.step(params.cell, state.derived, state.carry, x)
        value = head.predict(params.head, step.features)
        head_gradient, cotangents = head.gradient(params.head, step.features)
        gradient = PredictorParameters(step.pullback(cotangents), head_gradient)

        error = td_error(cumulant, self.discount, value, state.value)
        descent = jax.tree.map(lambda e: -error * e, state.eligibility)
        updates, moments = self.optimiser.update(
            descent, state.moments, params, step_size=step_size, corrections=corrections
        )
        params = optax.apply_updates(params, updates)
        params = params._replace(cell=self.cell.constrain(params.cell))
        decay = self.discount * self.trace_decay
        eligibility = accumulate_trace(state.eligibility, gradient, decay)
        derived = self.cell.derive(params.cell)
        return TDState(params, derived, moments, eligibility, step.carry, value), value
