"""Online prediction of the next observation of the three-state process: step sizes × seeds."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from untruncated.agents.adam import bias_corrections
from untruncated.agents.next_observation_predictor import NextObservationPredictor
from untruncated.environments.three_state_mdp import MEMORY_STATE, STATES
from untruncated.programs.building import build_cell, build_environment
from untruncated.programs.compiling import ONLINE_LEARNING, QUICK_COMPILE
from untruncated.programs.curves import CURVE_POINTS, Timeline
from untruncated.programs.divergence import (
    NEVER,
    divergence_records,
    first_divergence,
    lost_bins,
)
from untruncated.programs.eigenvalues import complex_eigenvalues
from untruncated.results.metric import Metric

STEPS_PER_BIN = 100
QUANTITIES = ("cross_entropy", "correct_in_memory_state", "memory_state", "complex_eigenvalues")


class Carry(NamedTuple):
    """Streams with the observation that each stands at, learners, and sums in the curve's bins."""

    step: Int[Array, ""]
    step_sizes: Float[Array, " step_sizes"]
    streams: Any
    observations: Float[Array, "seeds states"]
    learners: Any
    sums: dict[str, Float[Array, "step_sizes seeds bins"]]
    diverged_at: Int[Array, "step_sizes seeds"]


@dataclass(frozen=True, eq=False)
class NextObservation:
    """A `programs.protocol.Program`: every step size meets the same stream of each seed."""

    environment: Any
    predictor: NextObservationPredictor
    step_sizes: list[float]
    seeds: list[int]
    total_steps: int
    choices: dict[str, Any]
    unit: str = "steps"

    @property
    def members(self) -> int:
        return len(self.step_sizes) * len(self.seeds)

    @property
    def timeline(self) -> Timeline:
        """Bins and chunks; a bin is long enough to meet the state that remembers."""
        most_bins = min(CURVE_POINTS, max(10, self.total_steps // STEPS_PER_BIN))
        return Timeline(self.total_steps, self.members, most_bins, splits_bins=True)

    @property
    def chunk_steps(self) -> int:
        return self.timeline.chunk_steps

    @property
    def axes(self) -> dict[str, list]:
        return {
            "step_size": self.step_sizes,
            "seed": self.seeds,
            "curve_step": self.timeline.bin_ends,
        }

    def init(self) -> Carry:
        # Seeds and step sizes are arguments, so that other seeds need no other compilation.
        return self._init(jnp.asarray(self.seeds), jnp.asarray(self.step_sizes, float))

    @partial(jax.jit, static_argnums=0, compiler_options=QUICK_COMPILE)
    def _init(self, seeds: Int[Array, " seeds"], step_sizes: Float[Array, " sizes"]) -> Carry:
        keys = jax.vmap(jax.random.key)(seeds)
        stream_keys, learner_keys = (
            jax.vmap(partial(jax.random.fold_in, data=data))(keys) for data in (0, 1)
        )
        streams, first = jax.vmap(self.environment.reset)(stream_keys)
        learners = jax.vmap(self.predictor.init)(learner_keys)
        shape = (len(self.step_sizes), len(self.seeds))
        zeros = jnp.zeros((*shape, self.timeline.bins))
        return Carry(
            step=jnp.zeros((), jnp.int32),
            step_sizes=step_sizes,
            streams=streams,
            observations=first.observation,
            learners=jax.tree.map(
                lambda leaf: jnp.broadcast_to(leaf, (shape[0], *leaf.shape)), learners
            ),
            sums={name: zeros for name in QUANTITIES},
            diverged_at=jnp.full(shape, NEVER, jnp.int32),
        )

    def advance(self, carry: Carry) -> Carry:
        return _advance(self, carry)

    def metrics(self, carry: Carry) -> dict[str, Metric]:
        sums = {name: np.asarray(value, np.float64) for name, value in carry.sums.items()}
        lost = lost_bins(np.asarray(carry.diverged_at), self.timeline.bin_ends)
        sums = {name: np.where(lost, np.nan, value) for name, value in sums.items()}
        steps, axes = self.timeline.bin_steps, ("step_size", "seed")
        last = max(1, self.timeline.bins // 10)
        loss, eigenvalues = sums["cross_entropy"] / steps, sums["complex_eigenvalues"] / steps
        correct, visits = sums["correct_in_memory_state"], sums["memory_state"]
        late = correct[..., -last:].sum(-1), visits[..., -last:].sum(-1)
        whole_run = {
            "cross_entropy": loss.mean(-1),
            "accuracy_last_tenth": _share(*late),
            "complex_eigenvalues_last_tenth": eigenvalues[..., -last:].mean(-1),
        }
        curves = {
            "accuracy_curve": _share(correct, visits),
            "complex_eigenvalues_curve": eigenvalues,
        }
        return {
            name: Metric((*axes, "curve_step")[: values.ndim], values.astype(np.float32))
            for name, values in (whole_run | curves).items()
        }

    def diverged(self, carry: Carry) -> list[dict[str, Any]]:
        reason = "the cross-entropy is not finite"
        return divergence_records(
            np.asarray(carry.diverged_at), self.step_sizes, self.seeds, reason
        )


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole, NaN where there is nothing to share."""
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)


@partial(jax.jit, static_argnums=0, donate_argnums=1, compiler_options=ONLINE_LEARNING)
def _advance(program: NextObservation, carry: Carry) -> Carry:
    steps, predictor = program.chunk_steps, program.predictor
    over_seeds = jax.vmap(predictor.step, in_axes=(0, 0, 0, None, None))
    over_both = jax.vmap(over_seeds, in_axes=(0, None, None, 0, None))
    count = jax.vmap(jax.vmap(complex_eigenvalues))

    def step(state: tuple, time: Int[Array, ""]) -> tuple[tuple, dict[str, Array]]:
        streams, observations, learners = state
        streams, shown = jax.vmap(program.environment.step)(streams)
        following = shown.observation
        learners, log_probabilities = over_both(
            learners, observations, following, carry.step_sizes, bias_corrections(time + 1)
        )
        remembering = observations[:, MEMORY_STATE] > 0
        correct = jnp.argmax(log_probabilities, axis=-1) == jnp.argmax(following, axis=-1)
        measured = {
            "cross_entropy": -jnp.sum(following * log_probabilities, axis=-1),
            "correct_in_memory_state": (correct & remembering).astype(float),
            "memory_state": jnp.broadcast_to(remembering, correct.shape).astype(float),
            "complex_eigenvalues": count(learners.params.cell.u).astype(float),
        }
        return (streams, following, learners), measured

    times = carry.step + jnp.arange(steps)
    start = carry.streams, carry.observations, carry.learners
    (streams, observations, learners), measured = jax.lax.scan(step, start, times)
    return Carry(
        step=carry.step + steps,
        step_sizes=carry.step_sizes,
        streams=streams,
        observations=observations,
        learners=learners,
        sums={
            name: program.timeline.record(carry.sums[name], measured[name], carry.step)
            for name in QUANTITIES
        },
        diverged_at=first_divergence(carry.diverged_at, measured["cross_entropy"], times),
    )


def build(fields: Mapping[str, Any], step_sizes: list[float], choices: dict[str, Any]) -> Any:
    """The program of a resolved spec, at the given step sizes."""
    environment = build_environment(fields)
    cell, gradient = build_cell(fields, environment)
    predictor = NextObservationPredictor(cell, gradient, STATES, fields["optimiser"])
    return NextObservation(
        environment, predictor, step_sizes, fields["seeds"], fields["steps"], choices
    )
