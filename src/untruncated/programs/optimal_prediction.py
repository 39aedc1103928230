"""The Bayes-optimal prediction of the return on the streams that learners meet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from untruncated.environments.trace_conditioning_optimal import (
    OptimalValues,
    initial_tracker,
    memoryless_msre,
    optimal_msre,
    optimal_predictions,
    optimal_values,
)
from untruncated.programs.building import build_environment
from untruncated.programs.curves import Timeline, curve_metrics
from untruncated.programs.streams import start_streams, stream_with_returns
from untruncated.results.metric import Metric


class Carry(NamedTuple):
    """Streams, what the predictor has observed, and the squared error summed in bins."""

    step: Int[Array, ""]
    streams: Any
    trackers: Any
    squared_error: Float[Array, "seeds bins"]


@dataclass(frozen=True, eq=False)
class OptimalPrediction:
    """A `programs.protocol.Program` without parameters: what no learner can beat."""

    environment: Any
    discount: float
    seeds: list[int]
    total_steps: int
    choices: dict[str, Any] = field(default_factory=dict)
    unit: str = "steps"

    @property
    def members(self) -> int:
        return len(self.seeds)

    @property
    def timeline(self) -> Timeline:
        """Bins and chunks."""
        return Timeline(self.total_steps, self.members, splits_bins=True)

    @property
    def chunk_steps(self) -> int:
        return self.timeline.chunk_steps

    @property
    def axes(self) -> dict[str, list]:
        return {"seed": self.seeds, "curve_step": self.timeline.bin_ends}

    @cached_property
    def values(self) -> OptimalValues:
        """The optimal values by time since the last stimulus."""
        return optimal_values(self.environment, self.discount)

    def init(self) -> Carry:
        trackers = initial_tracker()
        seeds, bins = len(self.seeds), self.timeline.bins
        return Carry(
            step=jnp.zeros((), jnp.int32),
            streams=start_streams(self.environment, jnp.asarray(self.seeds)),
            trackers=jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (seeds,)), trackers),
            squared_error=jnp.zeros((seeds, bins)),
        )

    def advance(self, carry: Carry) -> Carry:
        return _advance(self, carry)

    def diverged(self, carry: Carry) -> list[dict[str, Any]]:
        return []

    def metrics(self, carry: Carry) -> dict[str, Metric]:
        curve = np.asarray(carry.squared_error) / self.timeline.bin_steps
        exact = {"msre_exact": optimal_msre, "msre_memoryless": memoryless_msre}
        return curve_metrics("msre", curve, ("seed",)) | {
            name: Metric((), np.asarray(error(self.environment, self.discount)))
            for name, error in exact.items()
        }


@partial(jax.jit, static_argnums=0, donate_argnums=1)
def _advance(program: OptimalPrediction, carry: Carry) -> Carry:
    def seed(stream: Any, tracker: Any) -> tuple:
        stream, observations, _, returns = stream_with_returns(
            program.environment, program.discount, stream, program.chunk_steps
        )
        tracker, values = optimal_predictions(program.values, observations, tracker)
        return stream, tracker, (values - returns) ** 2

    streams, trackers, errors = jax.vmap(seed)(carry.streams, carry.trackers)
    return Carry(
        step=carry.step + program.chunk_steps,
        streams=streams,
        trackers=trackers,
        squared_error=program.timeline.record(carry.squared_error, errors.T, carry.step),
    )


def build(fields: Mapping[str, Any], step_sizes: list[float], choices: dict[str, Any]) -> Any:
    """The program of a resolved spec; there is nothing to tune."""
    environment = build_environment(fields)
    return OptimalPrediction(environment, fields["discount"], fields["seeds"], fields["steps"])
