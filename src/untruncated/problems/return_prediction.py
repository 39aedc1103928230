"""A recurrent cell that predicts returns on a recorded stream, as an unrolled system.

The outer parameters θ are those of the cell and of a linear unit on its features; an inner problem
is a window of the recorded stream. It lets estimators of unrolled systems meet the cells and the
task of online prediction.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, PRNGKeyArray

from untruncated.catalogue.problems import ReturnPredictionFields
from untruncated.cells.gru import GRU
from untruncated.cells.linear_rtu import LinearRTU
from untruncated.cells.lru import LRU
from untruncated.cells.nonlinear_rtu import NonlinearRTU
from untruncated.cells.protocol import Cell, Features, Parameters, State
from untruncated.environments.returns import discounted_returns, tail_steps
from untruncated.environments.trace_conditioning import TraceConditioning

CELLS = {"linear_rtu": LinearRTU, "nonlinear_rtu": NonlinearRTU, "lru": LRU, "gru": GRU}


class Predictor(NamedTuple):
    """θ: the cell's parameters; weights of its features, one after the other, and a bias."""

    cell: Parameters
    weights: Float[Array, " features"]
    bias: Float[Array, ""]


class Window(NamedTuple):
    """The state: the cell's, empty at first, and the step of the recording that is step 0."""

    cell: State
    start: Int[Array, ""]


class Recording(NamedTuple):
    """A stream's observations, and the discounted return after each step."""

    observations: Float[np.ndarray, "steps inputs"]
    returns: Float[np.ndarray, " steps"]


@dataclass(frozen=True)
class ReturnPrediction(ReturnPredictionFields):
    """Loss of step t: (v_t - G_t)², with v_t = weights · features + bias after observation t.

    The stream is trace conditioning with mean interval `interval` and `distractors`, drawn by
    `stream_seed`; G is discounted by `discount`. Of its first `recorded` steps an inner problem
    passes over `horizon` that follow one another, which begin at a step drawn for it. By default
    it passes over all that is recorded. `cell` is a name in `CELLS`; its fields other than `width`
    have their defaults.
    """

    differentiable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.steps < self.horizon:
            raise ValueError(
                f"recorded must be at least the {self.horizon} steps of an inner problem, "
                f"not {self.recorded}"
            )
        _ = self.recording  # outside of any compiled function

    @property
    def steps(self) -> int:
        """Steps of the recording."""
        return self.horizon if self.recorded is None else self.recorded

    @cached_property
    def recurrent_cell(self) -> Cell:
        """The cell."""
        return CELLS[self.cell](inputs=2 + self.distractors, width=self.width)

    @cached_property
    def recording(self) -> Recording:
        """The stream, run past its end far enough for the last returns."""
        environment = TraceConditioning(self.interval, self.distractors)
        start = environment.start(jax.random.key(self.stream_seed))
        _, steps = environment.unroll(start, self.steps, tail_steps(self.discount))
        returns = discounted_returns(steps.reward.astype(float), self.discount, self.steps)
        observations = np.asarray(steps.observation[: self.steps], bool)
        return Recording(observations, np.asarray(returns))

    def initial_theta(self, key: PRNGKeyArray) -> Predictor:
        """The cell's own initialisation; weights normal with variance 1/features, bias zero."""
        cell_key, weights_key = jax.random.split(key)
        features = sum(self.recurrent_cell.feature_sizes)
        weights = jax.random.normal(weights_key, (features,)) / features**0.5
        return Predictor(self.recurrent_cell.init(cell_key), weights, jnp.zeros(()))

    def initial_state(self, key: PRNGKeyArray) -> Window:
        """An empty cell before a window that may lie anywhere in the recording."""
        start = jax.random.randint(key, (), 0, self.steps - self.horizon + 1, jnp.int32)
        return Window(self.recurrent_cell.initial_state(), start)

    def inputs(self, state: Window, t: Int[Array, ""]) -> Float[Array, " inputs"]:
        """What the cell sees at step t of the window."""
        return jnp.asarray(self.recording.observations)[state.start + t].astype(float)

    def feature_loss(
        self, theta: Predictor, features: Features, state: Window, t: Int[Array, ""]
    ) -> Float[Array, ""]:
        """The loss of the window's step t, given the cell's features after its observation."""
        value = theta.weights @ ravel_pytree(features)[0] + theta.bias
        return (value - jnp.asarray(self.recording.returns, float)[state.start + t]) ** 2

    def unroll_step(
        self, theta: Predictor, state: Window, t: Int[Array, ""], key: PRNGKeyArray
    ) -> tuple[Window, Float[Array, ""]]:
        del key  # a recorded stream
        cell, x = self.recurrent_cell, self.inputs(state, t)
        derived = cell.derive(theta.cell)
        after = cell.step(theta.cell, derived, state.cell, cell.drive(theta.cell, derived, x))
        features = cell.features(theta.cell, after, x)
        return state._replace(cell=after), self.feature_loss(theta, features, state, t)
