"""Online prediction of a return by regression on returns that have been waited for."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from untruncated.agents.adam import (
    AdamCorrections,
    AdamMoments,
    adam_with_corrections,
    bias_corrections,
)
from untruncated.agents.heads import Head, PredictorParameters, init_predictor, make_head
from untruncated.agents.protocol import Inputs
from untruncated.catalogue.components import DelayedReturnFields
from untruncated.cells.protocol import Cell, Derived, State
from untruncated.environments.returns import discounted_returns
from untruncated.estimators.online.protocol import OnlineGradient


class Past(NamedTuple):
    """The last `delay` observations and cumulants of a stream, the latest at the end."""

    observations: Float[Array, "delay inputs"]
    cumulants: Float[Array, " delay"]


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
class DelayedReturnPredictor(DelayedReturnFields):
    """Descends along the gradient of ½ (v - G)² on the stream as it was `delay` steps ago.

    By then the return G, cut after `delay` steps, has been seen, so nothing of the future is used.
    Predictions are made by a second state that runs on the present stream with the same weights.
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

    def init(self, key: PRNGKeyArray) -> DelayedReturnState:
        """The learner before the first observation."""
        params = init_predictor(self.cell, self.head, key)
        return DelayedReturnState(
            params=params,
            derived=self.cell.derive(params.cell),
            moments=self.optimiser.init(params),
            carry=self.gradient.init(),
            live=self.cell.initial_state(),
        )

    def first_past(self) -> Past:
        """Zeros, which nothing is learned from."""
        return Past(jnp.zeros((self.delay, self.cell.inputs)), jnp.zeros(self.delay))

    def inputs(
        self,
        past: Past,
        observations: Float[Array, "steps inputs"],
        cumulants: Float[Array, " steps"],
        times: Int[Array, " steps"],
    ) -> tuple[Past, Inputs]:
        """Of each step the observation, that of `delay` steps ago and the return after that one.

        Shared are whether there is one, and the corrections, which count the updates made.
        """
        steps, delay = times.shape[0], self.delay
        seen = Past(
            jnp.concatenate([past.observations, observations]),
            jnp.concatenate([past.cumulants, cumulants]),
        )
        # The return after each past step, of which the part after `delay` steps is taken away.
        whole = discounted_returns(seen.cumulants, self.discount, steps + delay - 1)
        whole = jnp.pad(whole, (0, 1))
        returns = whole[:steps] - self.discount**delay * whole[delay:]
        corrections = bias_corrections(jnp.maximum(times - delay + 1, 1))
        own = observations, seen.observations[:steps], returns
        past = Past(seen.observations[steps:], seen.cumulants[steps:])
        return past, Inputs(own, (times >= delay, corrections))

    def step(
        self,
        state: DelayedReturnState,
        x: Float[Array, " inputs"],
        past_x: Float[Array, " inputs"],
        past_return: Float[Array, ""],
        step_size: Float[Array, ""],
        waited: Bool[Array, ""],
        corrections: AdamCorrections,
    ) -> tuple[DelayedReturnState, Float[Array, ""]]:
        """Observes x_t, predicts v_t, then learns from the delayed pair, once there is one.

        Returns:
            The new state, and v_t as made before this step's update.
        """
        params, derived, head = state.params, state.derived, self.head
        drive = self.cell.drive(params.cell, derived, x)
        live = self.cell.step(params.cell, derived, state.live, drive)
        value = head.predict(params.head, self.cell.features(params.cell, live, x))

        def learn(state: DelayedReturnState) -> DelayedReturnState:
            step = self.gradient.step(params.cell, derived, state.carry, past_x)
            error = head.predict(params.head, step.features) - past_return
            head_gradient, cotangents = head.gradient(params.head, step.features)
            gradient = PredictorParameters(step.pullback(cotangents), head_gradient)
            descent = jax.tree.map(lambda g: error * g, gradient)
            updates, moments = self.optimiser.update(
                descent, state.moments, params, step_size=step_size, corrections=corrections
            )
            new = optax.apply_updates(params, updates)
            new = new._replace(cell=self.cell.constrain(new.cell))
            return DelayedReturnState(
                new, self.cell.derive(new.cell), moments, step.carry, state.live
            )

        state = jax.lax.cond(waited, learn, lambda state: state, state)
        return state._replace(live=live), value
